"""Code inside commands: shells, interpreters, awk, PowerShell, patches (hooks.md 4.6).

Shell code goes back to the reader. Other code is not parsed: it is denied if it names a protected file and holds a
construct that writes, or if it starts a command that would.
"""

from __future__ import annotations

import re

from guard_options import has, split_options, values
from guard_shell import Denied, Trouble
from guard_words import TILDE, UNKNOWN, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard_shell import Call

LONGEST = 4096
NAMES = ("handoff.jsonl", "handoff.seal", "handoff.lock")
BOUNDS = frozenset(" \t\n\r'\"`()[]<>|;,=")
VARIABLE = re.compile(r"[{}$%#@&+!]")
LITERAL = re.compile(r"'([^'\n]{0,4096})'|\"([^\"\n]{0,4096})\"|`([^`\n]{0,4096})`")
JOINED = re.compile(r"""(['"])\s{0,40}(?:\+|\.\.?)?\s{0,40}\1""")
BETWEEN = re.compile(r"[\s,\[\]()]*\Z")
FOLDER = re.compile(r"\.scratch\b", re.IGNORECASE)
STREAMS = re.compile(r"(?:stdout|stderr|STDOUT|STDERR|console)(?:\.buffer)?\s*\.\s*write\w*\s*\(|\bwriter\s*\(")
MODE = r"[\"'](?:[rbtU]*[wax+][rwaxbt+U]*)[\"']"
INSIDE = r"(?:[^\n;()]|\([^()\n]{0,200}\)){0,300}?"
WRITING = re.compile(
    rf"""
      write\w*\s*\(                                   # f.write(…), writeFileSync(…), Path.write_text(…)
    | open\w*\s*\({INSIDE},\s*(?:mode\s*=\s*|\{{\s*flags?\s*:\s*)?{MODE}
    | mode\s*=\s*{MODE}
    | \.\s*open\s*\(\s*{MODE}
    | [\"'({{|]\s*(?:\+[<>]|>)                         # perl's modes
    | \bO_(?:WRONLY|RDWR|APPEND|TRUNC|CREAT)\b
    | \b(?:unlink|rename|truncate|ftruncate|rmtree|copyfile|symlink|chmod|chown)\w*\s*\(
    | (?<![.\w])(?:remove|replace|copy\w*|move|link)\s*\(
    | \b(?:os|shutil|fs|File|FileUtils|Deno|Bun)\w*\s*\.\s*
      (?:remove|replace|rename|unlink|truncate|copy|move|rm|cp|delete|link|write)
    | \b(?:appendFile|copyFile|writeFile|createWriteStream|rmSync|rm_rf|rm_f|cpSync|file_put_contents|fputs|fwrite)
    | \b(?:unlink|rename|truncate)\b\s*[\"'(\w$]       # perl and ruby call without parentheses
    | \bfile\s+(?:delete|rename|copy)\b | \bopen\s+\S+\s+[\"'{{]?[wa]\+?   # tcl
    | \binplace\s*=\s*(?:True|1)
    | \b(?:File|IO)\.(?:write|open|new)\b{INSIDE},\s*{MODE}
    | \bFile\.(?:write|delete)\b | \bopen\s*\({INSIDE}\s*\bFile::
    | \bputs?\s*\(?\s*\$?(?!std)\w+\s*,                # puts to a handle
    | \bfopen\s*\({INSIDE},\s*{MODE}
    """,
    re.VERBOSE,
)
TREES = re.compile(
    r"rmtree|rmdir|rm_r|rm_f|rmSync|\brm\s*\(|renam|shutil\.move|(?<![.\w])move\s*\(|\bchmod|\bchown|copytree|cpSync|\.rm\b"
)
STARTS = re.compile(
    r"system|popen|subprocess|spawn|\bexec|child_process|\bqx\b|`|shell_exec|passthru|proc_open|%x|\bos\.exec|Command\s*\(|\brun\s*\("
)
QUOTED_CODE = re.compile(r"(?:\bqx|%x)\s*[{(\[/|!]([^})\]/|!\n]{0,4096})")


def judge_code(call: Call, code: str, language: str) -> None:
    """Deny code that names a protected file and writes, or that starts a command which would."""
    text = JOINED.sub("", code)
    if STARTS.search(text):
        judge_started(call, text)
    if WRITING.search(STREAMS.sub(" ", text)):
        name = named(call, text)
        if name:
            raise Denied(name, f"{language} code that writes")
    if TREES.search(text):
        for literal in literals(text):
            for folder in call.reader.folders:
                name = call.reader.paths.above_protected(literal, folder)
                if name and literal.strip("./"):
                    raise Denied(name, f"{language} code that moves or removes folders")


def judge_started(call: Call, code: str) -> None:
    """Judge the texts in code that starts commands: each as shell code, neighbours as the words of one command."""
    group: list[str] = []
    end = 0
    for found in LITERAL.finditer(code):
        literal = text_of(found)
        if group and not BETWEEN.match(code[end : found.start()]):
            try_words(call, group)
            group = []
        end = found.end()
        group.append(literal)
        try_code(call, literal)
    try_words(call, group)
    for found in QUOTED_CODE.finditer(code):
        try_code(call, found.group(1))


def try_code(call: Call, text: str) -> None:
    """Judge a text as shell code if it can be read as such."""
    try:
        call.code(text)
    except Trouble:
        return


def try_words(call: Call, words: list[str]) -> None:
    """Judge texts as the words of a command."""
    if len(words) > 1:
        for start in range(min(len(words), 4)):
            call.again(words[start:], "")


def literals(code: str) -> Iterator[str]:
    """Yield the quoted texts in code."""
    for found in LITERAL.finditer(code):
        yield text_of(found)


def text_of(found: re.Match[str]) -> str:
    """Return the text between the quotes."""
    return next((group for group in found.groups() if group is not None), "")


def named(call: Call, text: str) -> str:
    """Return the protected file that a text names, quoted or not, or an empty text."""
    paths = call.reader.paths
    folders = call.reader.folders
    for literal in dict.fromkeys(literals(text)):
        for folder in folders:
            name = paths.protected(with_home(literal), folder)
            if name:
                return name
    by_folder = FOLDER.search(text) is not None
    for token in dict.fromkeys(mentions(text)):
        spelled = token if "/" in token or not by_folder else UNKNOWN + "/.scratch/" + token
        for folder in folders:
            name = paths.protected(with_unknown(spelled), folder)
            if name:
                return name
    return ""


def mentions(text: str) -> Iterator[str]:
    """Yield the path-like texts that end in the name of a ledger file."""
    folded = text.casefold()
    if len(folded) != len(text):
        folded = text.lower() if len(text.lower()) == len(text) else text
    for name in NAMES:
        at = folded.find(name)
        while at >= 0:
            end = at + len(name)
            following = folded[end : end + 1]
            if not (
                following.isalnum()
                or following in ("_", "-")
                or (following == "." and folded[end + 1 : end + 2].isalnum())
            ):
                start = at
                while start > 0 and at - start < LONGEST and text[start - 1] not in BOUNDS:
                    start -= 1
                yield text[start:end].replace("\\\\", "/").replace("\\", "/")
            at = folded.find(name, end)


def with_unknown(token: str) -> str:
    """Return a path out of code, with what stands for a variable as an unknown piece."""
    pieces = VARIABLE.split(token)
    if len(pieces) > 1:
        return UNKNOWN + pieces[-1]
    return UNKNOWN + token if token.startswith("/.scratch/") else with_home(token)


def with_home(token: str) -> str:
    """Return a path whose leading tilde is the home folder, as a function may expand it."""
    return TILDE + token[1:] if token[:1] == "~" else token


def judge_mention(call: Call, text: str) -> None:
    """Deny an editor's command that names a protected file."""
    name = named(call, plain(text)) if any(one in text.lower() for one in NAMES) else ""
    if name:
        raise Denied(name, f"`{call.name}`")


# awk

AWK_FILE = re.compile(r">>?\s*\"([^\"\n]{0,4096})\"")
AWK_NAME = re.compile(r"print[^;}\n]{0,400}?>>?\s*\(?\s*([A-Za-z_]\w*)")
AWK_CODE = re.compile(r"(?:system\s*\(\s*|\|\s*)\"([^\"\n]{0,4096})\"")


def awk(call: Call) -> None:
    """Judge awk: files edited in place, output into files, commands that the program starts."""
    options, operands = split_options(call.words[1:], "FvfieE", "--assign --file --include --source --field-separator")
    programs = values(options, "-e", "--source")
    if not programs and not has(options, "-f", "--file"):
        programs, operands = operands[:1], operands[1:]
    if "inplace" in values(options, "-i", "--include"):
        for operand in operands:
            call.write(operand, "`awk -i inplace`")
    for program in map(plain, programs):
        for found in AWK_FILE.finditer(program):
            call.write(found.group(1), "awk's `print >`")
        for found in AWK_NAME.finditer(program):
            for value in awk_values(found.group(1), options, operands):
                call.write(value, "awk's `print >`")
        for found in AWK_CODE.finditer(program):
            try_code(call, found.group(1))


def awk_values(name: str, options: list[tuple[str, str]], operands: list[str]) -> list[str]:
    """Return the possible values of an awk variable that names an output file."""
    if name in ("FILENAME", "ARGV"):
        return operands
    given = [value for value in [*values(options, "-v", "--assign"), *operands] if value.startswith(name + "=")]
    return [value.partition("=")[2] for value in given]


# PowerShell and cmd

HARMLESS = re.compile(r"\d?>&\d|\d?>\s*(?:\$null|/dev/null|nul\b)|[-=]>", re.IGNORECASE)
POWER_VERBS = re.compile(
    r"(?:add-content|set-content|clear-content|out-file|remove-item|copy-item|move-item|rename-item|new-item|tee-object|export-\w+"
    r"|start-transcript|invoke-webrequest|set-acl|\bac|\bsc|\bclc|\bri|\bcpi|\bmi|\brni|\bni|\btee|\bdel|\berase|\brd|\brmdir|\brm"
    r"|\bmv|\bmove|\bcp|\bcopy|\bxcopy|\brobocopy|\bren|\bicacls|\battrib|\bmklink|\bfsutil|\biwr|\bcurl|\bwget)(?![\w-])"
    r"|writealltext|writealllines|writeallbytes|appendall\w+|streamwriter|file\]?::(?:write|append|delete|move|copy|create|open|replace)"
    r"|-outfile|-inplace|\.delete\(|\.moveto\(|\.copyto\(",
    re.IGNORECASE,
)


def judge_power(call: Call, text: str) -> None:
    """Deny a PowerShell or cmd text that names a protected file with its folder and holds `>` or a writing verb."""
    spelled = plain(text).replace("`", "").replace("^", "").replace('"', "").replace("'", "")
    if ">" not in HARMLESS.sub(" ", spelled) and not POWER_VERBS.search(spelled):
        return
    for token in [*mentions(spelled), *tool_mentions(call, spelled)]:
        name = token.rpartition("/")[2].lower()
        absolute = token.startswith("/")
        inside = (".scratch/" + name) in token.lower() and not absolute
        for folder in call.reader.folders:
            found = call.reader.paths.protected(with_unknown(token), folder)
            if found or inside or ("/" not in token and FOLDER.search(spelled)):
                raise Denied(found or ".scratch/" + name, "a PowerShell or cmd text that writes")


def tool_mentions(call: Call, text: str) -> Iterator[str]:
    """Yield the words of a text, which matter where the tools are protected, too."""
    if call.reader.paths.trees:
        yield from (word.replace("\\", "/") for word in re.split(r"[\s;|,()]+", text) if word)


# Patches

PATCH_HEADS = (
    "*** Add File:",
    "*** Update File:",
    "*** Delete File:",
    "*** Move to:",
    "+++ ",
    "--- ",
    "rename to ",
    "rename from ",
    "copy to ",
)


def judge_patch(call: Call, text: str, folder: str = "", strip: int = 0) -> None:
    """Deny a patch one of whose file lines names a protected file, with or without git's prefixes."""
    for line in text.split("\n"):
        name = patched(line)
        if name is None:
            continue
        first, _, rest = name.partition("/")
        for spelled in (
            name,
            rest if first in ("a", "b", "i", "w", "c", "o") else "",
            "/".join(name.split("/")[strip:]),
        ):
            if spelled:
                call.write(f"{folder}/{spelled}" if folder and spelled[:1] != "/" else spelled, "a patch")


def patched(line: str) -> str | None:
    """Return the file that a line of a patch names, or None."""
    line = line.lstrip(" \t") if line.lstrip(" \t").startswith("***") else line
    for head in PATCH_HEADS:
        if line.startswith(head):
            name = line[len(head) :].partition("\t")[0].strip()
            return name.strip('"')
    return None
