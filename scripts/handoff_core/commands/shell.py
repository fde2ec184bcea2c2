"""`completion` and `man`: what a shell and a reader of manual pages need, printed from the table of commands.

The table is handed in by `cli`, so that nothing of it is written twice.
"""

from __future__ import annotations

from handoff_core.errors import DONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from handoff_core.cli import Command, Flag
    from handoff_core.text import Streams

FILES = frozenset({"FILE", "DIR", "LOG", "SOURCE", "TARGET", "DIR|ID"})
"""Metavars whose value is a path."""


def completion(streams: Streams, *, shell: str, commands: Sequence[Command]) -> int:
    """Print the completion script of a shell: bash, zsh or fish."""
    streams.out(SHELLS[shell](commands))
    return DONE


def man(streams: Streams, *, commands: Sequence[Command], version: str) -> int:
    """Print the manual page in roff."""
    streams.out(_man_page(commands, version))
    return DONE


def _bash(commands: Sequence[Command]) -> str:
    cases = "\n".join(_bash_case(command) for command in commands)
    names = " ".join(command.name for command in commands)
    return f"""# bash completion for handoff; load it with: eval "$(handoff completion bash)"
_handoff() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} words
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{names} --help --version" -- "$word"))
        return
    fi
    case "$command $before" in
{_bash_values(commands)}
    esac
    case "$command" in
{cases}
        *) words= ;;
    esac
    COMPREPLY=($(compgen -W "$words --help" -- "$word"))
    [[ $word == -* ]] || COMPREPLY+=($(compgen -f -- "$word"))
}}
complete -o filenames -F _handoff handoff handoff.py
"""


def _bash_case(command: Command) -> str:
    return f'        {command.name}) words="{" ".join(_names(command))}" ;;'


def _bash_values(commands: Sequence[Command]) -> str:
    rows = []
    for command in commands:
        for flag in command.flags:
            choices = flag.options.get("choices")
            if choices and not flag.positional:
                reply = f'COMPREPLY=($(compgen -W "{" ".join(choices)}" -- "$word")); return'
                rows.append(f'        "{command.name} {flag.names[0]}") {reply} ;;')
    return "\n".join(rows)


def _zsh(commands: Sequence[Command]) -> str:
    described = "\n".join(f"        {_quoted(command.name + ':' + command.help)}" for command in commands)
    cases = "\n".join(_zsh_case(command) for command in commands)
    return f"""#compdef handoff handoff.py
# zsh completion for handoff; load it with: eval "$(handoff completion zsh)"
_handoff() {{
    local -a commands
    commands=(
{described}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{cases}
    esac
}}
compdef _handoff handoff handoff.py
"""


def _zsh_case(command: Command) -> str:
    specs = " \\\n            ".join(_zsh_spec(flag) for flag in command.flags)
    return f"        {command.name}) _arguments \\\n            {specs} ;;"


def _zsh_spec(flag: Flag) -> str:
    said = str(flag.options.get("help", "")).replace("[", "(").replace("]", ")").replace(":", " -")
    metavar = str(flag.options.get("metavar") or flag.names[0])
    choices = flag.options.get("choices")
    action = f"({' '.join(choices)})" if choices else "_files" if metavar in FILES else ""
    if flag.positional:
        return _quoted(f"{'*' if flag.many else ''}:{metavar}:{action}")
    repeat = "*" if flag.options.get("action") == "append" else ""
    value = "" if flag.options.get("action") == "store_true" else f":{metavar}:{action}"
    return _quoted(f"{repeat}{flag.names[0]}[{said}]{value}")


def _fish(commands: Sequence[Command]) -> str:
    rows = ["# fish completion for handoff; load it with: handoff completion fish | source"]
    for name in ("handoff", "handoff.py"):
        for command in commands:
            start = f"complete -c {name}"
            rows.append(f"{start} -f -n __fish_use_subcommand -a {command.name} -d {_fish_quoted(command.help)}")
            rows += [
                _fish_row(f"{start} -n '__fish_seen_subcommand_from {command.name}'", flag)
                for flag in command.flags
                if not flag.positional
            ]
    return "\n".join(rows) + "\n"


def _fish_row(start: str, flag: Flag) -> str:
    value = "" if flag.options.get("action") == "store_true" else " -r"
    if value and flag.options.get("metavar") not in FILES:
        value = " -x"
    if flag.options.get("choices"):
        value += f" -a {_fish_quoted(' '.join(flag.options['choices']))}"
    short = f" -s {flag.names[1][1:]}" if len(flag.names) > 1 else ""
    return f"{start} -l {flag.names[0][2:]}{short}{value} -d {_fish_quoted(str(flag.options.get('help', '')))}"


SHELLS: dict[str, Callable[[Sequence[Command]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}


def _names(command: Command) -> list[str]:
    return [flag.names[0] for flag in command.flags if not flag.positional]


def _quoted(text: str) -> str:
    """Return `text` as one word of a POSIX shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _man_page(commands: Sequence[Command], version: str) -> str:
    parts = [f'.TH HANDOFF 1 "" "handoff {version}" "User Commands"', ".SH NAME",
        "handoff \\- pass work on between coding agents: a sealed ledger, a computed next step, verified hand\\-overs",
        ".SH SYNOPSIS", ".B handoff", ".I command", "[flags]", ".SH COMMANDS"]  # fmt: skip
    for command in commands:
        parts += [f".SS {_roff(command.name)}", _roff(command.help[0].upper() + command.help[1:] + ".")]
        for flag in command.flags:
            parts += [".TP", _man_flag(flag), _roff(str(flag.options.get("help", "")))]
    parts += [".SH EXIT STATUS"]
    for code, meaning in EXIT_CODES:
        parts += [".TP", f".B {code}", _roff(meaning)]
    parts += [".SH FILES", ".TP", ".I .scratch/handoff.jsonl", "The ledger; its lock and its seal lie beside it.",
        ".TP", ".I scripts/layout.toml", "What a project sets for itself."]  # fmt: skip
    return "\n".join(parts) + "\n"


def _man_flag(flag: Flag) -> str:
    names = ", ".join(f"\\fB{_roff(name)}\\fR" for name in flag.names)
    metavar = flag.options.get("metavar")
    return names + (f" \\fI{_roff(str(metavar))}\\fR" if metavar and not flag.positional else "")


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped[:1] in (".", "'") else escaped


EXIT_CODES = (
    (0, "done, or decided"),
    (1, "refused, invalid, mismatch, input or output failed"),
    (2, "usage"),
    (3, "no match, or several"),
    (4, "nothing to build, no session"),
    (5, "damaged lines in a transcript"),
    (10, "with route --exit-code: escalate"),
    (11, "with route --exit-code: blocked"),
    (75, "another writer holds the lock for ten seconds"),
    (130, "interrupted"),
)
"""Every exit status with its meaning (product.md, Commands)."""
