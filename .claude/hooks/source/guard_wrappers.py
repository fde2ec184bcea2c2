"""Commands that run the words behind their own options (hooks.md 4.4, Wrappers)."""

from __future__ import annotations

from guard_commands import rules
from guard_options import first_operand, split_options
from guard_places import inside, is_assignment
from guard_words import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from guard_commands import Rule
    from guard_shell import Call


def wrapper(valued: str = "", longs: str = "", skipped: int = 0) -> Rule:
    """Return the rule of a command that runs the words behind its options and `skipped` operands."""

    def rule(call: Call) -> None:
        words = call.words[1:]
        at = first_operand(words, valued, longs)
        folder = ""
        for flag, value in split_options(words[:at], valued, longs)[0]:
            if flag in ("-o", "--output") and call.name in ("time", "strace", "ltrace"):
                call.write(value, f"`{call.name} -o`")
            if flag in ("-C", "-D", "--chdir") and call.name in ("env", "sudo"):
                folder = value
            if flag in ("-S", "--split-string"):
                words[at:at] = value.split()
        at += skipped
        while at < len(words) and is_assignment(words[at]):
            name, _, value = words[at].partition("=")
            call.reader.assign(name, [plain(value)])
            at += 1
        inside(call, folder, words[at:])

    return rule


def run_wrapper(call: Call) -> None:
    """Judge the command of `uv run …`, `poetry run …` and their kin."""
    words = call.words[1:]
    if "run" in words[:6]:
        words = words[words.index("run") + 1 :]
        longs = (
            "--with --python --project --directory --package --extra --group --env-file --with-editable --env --name"
        )
        call.again(words[first_operand(words, "pn", longs) :] or ["true"])


def command_builtin(call: Call) -> None:
    """Judge the words behind `command`, unless it only looks a name up."""
    words = call.words[1:]
    at = first_operand(words, "", "")
    if at < len(words) and not any(letter in word for word in words[:at] for letter in "vV"):
        call.again(words[at:])


def flock(call: Call) -> None:
    """Judge the command that runs under a lock; locking a file changes nothing in it."""
    words = call.words[1:]
    at = first_operand(words, "wEc", "--timeout --wait --conflict-exit-code") + 1
    words = words[at:]
    if words[:1] and words[0] in ("-c", "--command"):
        call.code(" ".join(words[1:2]))
    elif words:
        call.again(words)


PLAIN = (
    "nohup builtin setsid unbuffer busybox toybox noglob nocorrect fakeroot eatmydata npx bunx uvx proxychains "
    "torsocks firejail valgrind rlwrap unshare setpriv systemd-run dbus-run-session - coproc"
)
TABLE: dict[str, Rule] = {
    **rules(PLAIN, wrapper()),
    "env": wrapper("uCS", "--unset --chdir --split-string"),
    "sudo": wrapper("ugCDhpRrtTU", "--user --group --chdir --host --prompt --chroot --role --type --other-user"),
    "doas": wrapper("uCa"),
    "command": command_builtin,
    "exec": wrapper("a"),
    "time": wrapper("fo", "--format --output"),
    "nice": wrapper("n", "--adjustment"),
    "ionice": wrapper("cn", "--class --classdata"),
    "stdbuf": wrapper("ioe", "--input --output --error"),
    **rules("timeout gtimeout", wrapper("ks", "--kill-after --signal", 1)),
    "chrt": wrapper("TPD", "--sched-runtime --sched-period --sched-deadline", 1),
    **rules("taskset chroot repeat setarch", wrapper("", "", 1)),
    **rules("strace ltrace", wrapper("aebIoOpPsSuXU", "--output --trace")),
    "caffeinate": wrapper("tw"),
    "xvfb-run": wrapper("efnpsw"),
    "flock": flock,
    **rules("uv poetry pdm rye pipenv hatch pipx conda mamba micromamba", run_wrapper),
}
