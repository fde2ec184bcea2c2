"""The guard's verdict agrees with what a shell does: random commands are run in throw-away projects (hooks.md 14.2).

Commands are put together from ways to spell a path, writers, readers and wrappings. Whatever changed a protected file
must have been denied; what only reads must not be. HANDOFF_FUZZ=N makes N times as many, HANDOFF_SEED another sequence.
"""

from __future__ import annotations

import os
import random
import shlex
import unittest

from tests.hooks.project import is_denied, project
from tests.hooks.sandbox import MISSING, changes

TIMES = int(os.environ.get("HANDOFF_FUZZ", "1"))
SEED = int(os.environ.get("HANDOFF_SEED", "20260"))
COMMANDS = 90

LEDGERS = (".scratch/handoff.jsonl", ".scratch/handoff.jsonl", ".scratch/handoff.seal", ".scratch/handoff.lock")
OTHERS = (
    "docs/a.md",
    "new.jsonl",
    "docs/handoff.jsonl",
    ".scratch/notes.md",
    "handoff.jsonl",
    ".scratch/handoff.jsonl.bak",
    "../other/xy",
)
WRITERS = (
    "echo x > {f}", "echo x >> {f}", "echo x >| {f}", "echo x &> {f}", "echo x >>{f}", "date > {f} 2>&1", "echo x | tee {f}", "tee -a {f} < new.jsonl",
    "cp new.jsonl {f}", "cp -f -- docs/a.md {f}", "mv new.jsonl {f}", "rm {f}", "rm -f {f}", "ln -sf /dev/null {f}", "truncate -s 0 {f}",
    "dd if=docs/a.md of={f} status=none", "sed -i s/R/Q/ {f}", "sed -i -e 1d {f}", "sed -n 'w '{f} new.jsonl", "chmod 640 {f}", "install -m 600 new.jsonl {f}",
    "python3 -c \"open('{p}', 'a').write('x')\"", "perl -pi -e 's/R/Q/' {f}", "find . -path '*{p}' -exec rm {{}} +", "sort -o {f} docs/a.md",
    "echo {f} | xargs rm", "find {f} -delete", "exec 3>> {f}; echo x >&3", "cat new.jsonl | (cat > {f})", "shred -n1 {f}", "awk '{{print > \"{p}\"}}' docs/a.md",
    "printf 'x' 1<> {f}", "ln {f} docs/door", "mv {f} docs/", "uniq new.jsonl {f}", "unlink {f}", "perl -e 'unlink \"{p}\"'", ": > {f}", "{{ echo x; }} >> {f}",
    "while read l; do echo $l; done < docs/a.md >> {f}", "python3 - <<'E'\nimport os\nos.remove('{p}')\nE", "cat > {f} <<E\nx\nE", "X=$(rm {f})", "echo `rm {f}`",
    "rm docs/none {f}", "gzip {f}", "cp --target-directory=.scratch docs/a.md; echo x > {f}", "tar -cf {f} docs", "diff --output={f} docs/a.md docs/a.md; echo x > {f}",
)  # fmt: skip
READERS = (
    "cat {f}", "wc -l < {f}", "grep -c x {f}", "cp {f} docs/copy", "head -1 {f} > docs/h", "sed -n 1p {f}", "awk '{{print $1}}' {f}", "tee docs/t < {f}",
    "sort {f} | uniq -c", "echo {f}", "ls -l {f}", "tail -n 3 {f} | tee docs/t", "python3 -c \"print(open('{p}').read())\"", "echo 'rm {p}'", 'echo "x >> {p}"',
    "test -s {f} && echo yes", "cat <<'E' > docs/x\nrm {p}\nE", "touch {f}", "tar -cf docs/t.tar {f}", "find .scratch -name '*.jsonl' -print", "cksum {f} >> docs/s",
    "for l in $(cat {f}); do :; done", "ln -s ../{p} docs/l", "# rm {p}", ": rm {f}", "grep -n '> {p}' docs/a.md", "[[ a > {p} ]]", "true # > {p}", "dd if={f} of=docs/d status=none",
    "cat {f} | while read l; do echo x >> docs/z; done", "find . -type f ! -name 'handoff.*' -exec cat {{}} +", "xargs echo < {f}", "gzip -c {f} > docs/z.gz",
)  # fmt: skip
WRAPPINGS = (
    "{c}", "{c}", "{c}", "true && {c}", "false || {c}", "true; {c}", "({c})", "( ({c}) )", "{{ {c}\n}}", "if true; then {c}\nfi", "for i in 1; do {c}\ndone",
    "case x in x) {c}\n;; esac", "f() {{ {c}\n}}; f", "function g {{ {c}\n}}\ng", "{c}\ntrue", "ls\n{c}", "sh -c {q}", "bash -lc {q}", "eval {q}", "echo {q} | sh", "printf '%s\\n' {q} | bash",
    "bash <<'HERE'\n{c}\nHERE", "sh <<< {q}", "bash <(echo {q})", "env A=1 sh -c {q}", "nohup sh -c {q}", "timeout 5 sh -c {q}", "! {{ {c}\n}}", "X=1; {c}", "while :; do {c}\nbreak; done",
    "cat <<'END'\nsome text\nEND\n{c}", "echo a # b\n{c}", "trap {q} EXIT", "true | {{ {c}\n}}", "until false; do {c}\nbreak; done", "[[ 1 > 0 ]] && {c}", "(( 2 > 1 )) && {c}",
    "echo \"it's\" 'a\"b'; {c}", "echo $((1<<2)); {c}", "x=$(cat <<'E2'\nit's )\nE2\n); {c}", "command eval {q}", "time {c}", "source <(echo {q})", "A=(1 2); {c}", "coproc {c}; wait",
    "select_() {{ :; }}; {c}", "if false; then :; elif true; then {c}\nelse :; fi", "exec 4>/dev/null; {c}", "(cd docs); {c}", "pushd docs >/dev/null; popd >/dev/null; {c}", "set -- a b; {c}",
    "echo x | xargs -I@ sh -c {q}", "find docs -maxdepth 0 -exec sh -c {q} \\;", "test -e nothing || {c}", "for ((i=0;i<1;i++)); do {c}\ndone", "alias zz=true; {c}", "echo a\\\n b; {c}",
)  # fmt: skip


class Spelling:
    """One way to write a path: text before the command, and the word."""

    def __init__(self, chosen: random.Random, path: str) -> None:
        folder, _, name = path.rpartition("/")
        cut = chosen.randrange(1, len(name))
        ways = (
            ("", path), ("", "./" + path), ("", f'"{path}"'), ("", f"'{path}'"), ("", "{PROJ}/" + path), ("", "$PWD/" + path), ("", '"${PWD}"/' + path),
            ("", f"{folder or '.'}//{name}"), ("", f"docs/../{path}"), ("", f"{folder or '.'}/{name[:cut]}''{name[cut:]}"), ("", f"{folder or '.'}/{name[:cut]}\\{name[cut:]}"),
            ("", f"~/proj/{path}"), ("", f"$HOME/proj/{path}"), (f"D={folder or '.'}; ", f"$D/{name}"), (f"F={path}\n", "$F"), (f"export F='{path}'; ", '"$F"'),
            (f"cd {folder or '.'}; ", name), (f"cd {folder or '.'} && ", "./" + name), ("cd docs; ", "../" + path), (f"pushd {folder or '.'} >/dev/null; ", name),
            ("", f"$(echo {path})"), ("", f"`printf %s {path}`"), ("", f"$'{path[:2]}\\x{ord(path[2]):02x}{path[3:]}'"), (f"for f in docs/none {path}; do :; done; ", "$f"),
            (f"A={name[:cut]} B={name[cut:]}\n", f"{folder or '.'}/$A$B"), (f"cd {folder or '.'}; cd -  >/dev/null; ", path), ("D=docs; D=.; ", f"$D/{path}"),
            (f"f={path}.old; ", "${f%.old}"), (f"n=F; F={path}; ", path), ("", f"{{{path},docs/none}}"), (f"cd . || exit; cd {folder or '.'} || exit; ", name),
            ("cd nowhere 2>/dev/null; ", path), ("cd nowhere 2>/dev/null && cd /tmp; ", path), ("cd docs && cd .. && ", path), (f"F=${{NOT_SET:-{path}}}; ", "$F"),
        )  # fmt: skip
        self.before, self.word = chosen.choice(ways)


def command_of(chosen: random.Random) -> tuple[str, str]:
    """Return a command and whether its core writes or reads."""
    writes = chosen.random() < 0.6
    path = chosen.choice(LEDGERS if chosen.random() < 0.75 else OTHERS)
    spelling = Spelling(chosen, path)
    core = chosen.choice(WRITERS if writes else READERS).format(f=spelling.word, p=path)
    if "{p}" in core or path in core.replace(spelling.word, ""):
        spelling.before = ""
    core = spelling.before + core
    for _ in range(chosen.choice((0, 1, 1, 2))):
        core = chosen.choice(WRAPPINGS).format(c=core, q=shlex.quote(core))
    return core, "write" if writes else "read"


class GuardFuzz(unittest.TestCase):
    def test_what_changes_a_protected_file_is_denied_and_what_only_reads_is_not(self) -> None:
        chosen = random.Random(SEED)
        denied = changed = 0
        for _ in range(COMMANDS * TIMES):
            command, kind = command_of(chosen)
            with project() as root:
                home = os.path.dirname(root)
                verdict = is_denied(command.replace("{PROJ}", root).replace("{HOME}", home), root)
            in_shells = changes(command, shells=("bash", "zsh") if TIMES > 1 else (chosen.choice(("bash", "zsh")),))
            denied += verdict
            changed += bool(in_shells)
            with self.subTest(seed=SEED, command=command, kind=kind):
                if in_shells:
                    self.assertTrue(verdict, f"it changes a protected file in {in_shells} and passes")
                elif kind == "read":
                    self.assertFalse(verdict, "it only reads and is denied")
        self.assertGreater(changed, COMMANDS // 5, "too few commands change anything")
        self.assertGreaterEqual(denied, changed)

    def test_every_shell_is_here(self) -> None:
        if {"bash", "zsh"} & set(MISSING):
            self.skipTest(f"{', '.join(MISSING)} is missing: commands were not run in it")
