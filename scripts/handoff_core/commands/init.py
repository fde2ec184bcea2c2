"""`init`: install handoff into a repository, upgrade it, or take it out again (hooks.md 8)."""

from __future__ import annotations

import json as json_module
import re
from typing import TYPE_CHECKING, Any

from handoff_core import __version__
from handoff_core.errors import DONE, REFUSED, HandoffError, UsageError
from handoff_core.jsonl import JsonError, decode
from handoff_core.layout import find_root
from handoff_core.setup import files, harnesses, merge, plan, record

if TYPE_CHECKING:
    from handoff_core.setup.files import Tree
    from handoff_core.setup.harnesses import Options
    from handoff_core.setup.plan import Action, Plan
    from handoff_core.setup.record import Record
    from handoff_core.text import Streams

_PYTHON = re.compile(r"[A-Za-z0-9_./:@%+,=~-]+( [A-Za-z0-9_./:@%+,=~-]+)*")


def init(
    streams: Streams,
    *,
    harness: str | None,
    dry_run: bool,
    diff: bool,
    uninstall: bool,
    force: bool,
    shell_form: bool,
    deny_rule: bool,
    python: str | None,
    track_ledger: bool,
    no_program: bool,
    no_skills: bool,
    json: bool,
    root: str | None,
) -> int:
    """Make the installation stand, or take it out; print one line a path, then what only a person can do.

    Exit 1 where something was kept, unreadable or could not be written. Raises HandoffError where the record of an
    earlier run cannot be used, UsageError for a harness or a Python command that is none.
    """
    tree = files.Tree(find_root(root))
    previous = read_record(tree)
    planner = plan.Planner(tree, previous, __version__, force=force)
    if uninstall:
        if previous is None:
            streams.note(f"nothing is recorded in {record.PATH}: there is nothing to take out")
        whole = planner.uninstall()
    else:
        asked = {
            "shell_form": shell_form,
            "deny_rule": deny_rule,
            "track_ledger": track_ledger,
            "program": no_program,
            "skills": no_skills,
        }
        options = _options(previous, python, asked)
        chosen = chosen_harnesses(tree, previous, harness)
        _check_deny_rule(tree, chosen, options)
        whole = _install_plan(planner, chosen, options)
    if not dry_run:
        whole = whole._replace(actions=_apply(tree, whole))
    _report(streams, whole, diff=diff or dry_run, as_json=json)
    return REFUSED if any(action.action == plan.KEEP for action in whole.actions) else DONE


def read_record(tree: Tree) -> Record | None:
    """Return the record of an earlier run, None where there is none; raise HandoffError if it cannot be used."""
    try:
        data = tree.read(record.PATH)
    except files.Problem as problem:
        raise HandoffError(f"{record.PATH} {problem}") from None
    return None if data is None else record.read(data, __version__)


def chosen_harnesses(tree: Tree, previous: Record | None, harness: str | None) -> tuple[str, ...]:
    """Return the harnesses that a flag, the record, or what lies in the root names, in the order of the table."""
    if harness is None and previous is not None:
        return previous.harnesses
    asked = "auto" if harness is None else harness
    if asked == "none":
        return ()
    if asked == "all":
        return harnesses.NAMES
    if asked == "auto":
        return _found(tree) or ("claude",)
    names = [name.strip() for name in asked.split(",")]
    for name in names:
        if name not in harnesses.NAMES:
            known = ", ".join(("auto", "all", "none", *harnesses.NAMES))
            raise UsageError(f"argument --harness: {name or 'an empty name'} is no harness (known: {known})")
    return tuple(name for name in harnesses.NAMES if name in names)


def _found(tree: Tree) -> tuple[str, ...]:
    import os

    return tuple(row.name for row in harnesses.HARNESSES if any(os.path.lexists(tree.full(mark)) for mark in row.marks))


def _options(previous: Record | None, python: str | None, asked: dict[str, bool]) -> Options:
    """Return the options of the record with what was asked for on top; a switch stays until it is uninstalled."""
    options = previous.options if previous else harnesses.Options()
    if python is not None:
        if not _PYTHON.fullmatch(python):
            problem = "letters, digits, blanks and ./:@%+,=~_- alone may stand in it"
            raise UsageError(f"argument --python: {problem} (write paths with /)")
        options = options._replace(python=python)
    switched = {name: name not in ("program", "skills") for name, value in asked.items() if value}
    return harnesses.Options(**{**options._asdict(), **switched})


def _check_deny_rule(tree: Tree, chosen: tuple[str, ...], options: Options) -> None:
    """Raise HandoffError where the deny rule would meet the Bash sandbox, which would stop append itself (6.1)."""
    if not options.deny_rule or "claude" not in chosen:
        return
    for path in (harnesses.CLAUDE_SETTINGS, harnesses.CLAUDE_LOCAL_SETTINGS):
        if sandboxed(tree, path):
            problem = f"--deny-rule does not go with the Bash sandbox that {path} switches on: append would be stopped"
            raise HandoffError(problem, "leave out --deny-rule, or switch the sandbox off")


def sandboxed(tree: Tree, path: str) -> bool:
    """Say whether a settings file switches Claude Code's Bash sandbox on."""
    value = settings(tree, path)
    sandbox = value.get("sandbox") if isinstance(value, dict) else None
    return isinstance(sandbox, dict) and sandbox.get("enabled") is True


def settings(tree: Tree, path: str) -> Any:
    """Return the value of a JSON file, comments allowed; None where it is missing or cannot be read."""
    try:
        data = tree.read(path)
        return None if data is None else merge.read_loosely(decode(data))
    except (files.Problem, JsonError):
        return None


def _install_plan(planner: plan.Planner, chosen: tuple[str, ...], options: Options) -> Plan:
    try:
        return planner.install(chosen, options)
    except FileNotFoundError as error:
        problem = f"{error.filename} is missing from this copy of handoff"
        raise HandoffError(
            problem, "run init from a whole copy, such as an installed one or a fresh checkout"
        ) from None


# Writing


def _apply(tree: Tree, whole: Plan) -> list[Action]:
    """Carry the plan out; return the actions as they went. The record that cannot be written ends the run."""
    done = []
    for action in whole.actions:
        try:
            done.append(_perform(tree, action))
        except files.Problem as problem:
            if action.path == record.PATH:
                raise HandoffError(f"{record.PATH} {problem}; nothing else was written") from None
            done.append(action._replace(action=plan.KEEP, reason=str(problem)))
    for folder in whole.folders:
        tree.remove_folder(folder)
    return done


def _perform(tree: Tree, action: Action) -> Action:
    if action.before == action.after:
        return action
    if action.registers and not _hooks_stand(tree):
        return action._replace(action=plan.KEEP, reason="is not registered: a hook is not in its place")
    after = action.after
    if after is None:
        tree.remove(action.path)
        return action
    if action.aside:
        moved = tree.set_aside(action.path)
        action = action._replace(reason=f"the old one is {moved}")
    tree.write(action.path, after, action.mode)
    return action


def _hooks_stand(tree: Tree) -> bool:
    """Say whether both hooks are regular files now: nothing that is not there is ever registered."""
    try:
        return all(tree.status(f"{harnesses.HOOK_FOLDER}/{hook}") is not None for hook in harnesses.HOOKS)
    except files.Problem:
        return False


# Printing


def _report(streams: Streams, whole: Plan, *, diff: bool, as_json: bool) -> None:
    if as_json:
        streams.out(_as_json(whole))
        return
    for action in whole.actions:
        reason = f" [{action.reason}]" if action.reason else ""
        streams.out(f"{action.action} {action.path}{reason}\n")
        if diff and action.before != action.after:
            streams.out(_diff(action))
    for snippet in whole.snippets:
        streams.out(f"\n# {snippet.path}\n{snippet.text}")


def _as_json(whole: Plan) -> str:
    actions = [{"action": each.action, "path": each.path, "reason": each.reason} for each in whole.actions]
    value = {
        "version": __version__,
        "root": ".",
        "actions": actions,
        "snippets": [snippet._asdict() for snippet in whole.snippets],
        "ok": all(each.action != plan.KEEP for each in whole.actions),
    }
    return json_module.dumps(value) + "\n"


def _diff(action: Action) -> str:
    """Return the unified diff of one change; a line without its end says so."""
    import difflib

    old, new = (_lines(data) for data in (action.before, action.after))
    old_name = "/dev/null" if action.before is None else f"a/{action.path}"
    new_name = "/dev/null" if action.after is None else f"b/{action.path}"
    lines = difflib.unified_diff(old, new, old_name, new_name)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)
