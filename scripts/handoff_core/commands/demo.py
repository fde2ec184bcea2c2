"""`demo`: one slice, request to feature-complete, in a throw-away folder, through the real commands (hooks.md 13)."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from handoff_core import data
from handoff_core.errors import DONE, REFUSED, HandoffError, os_text
from handoff_core.setup import probe, story
from handoff_core.setup.story import Answer, Ask, Call, Edit, Look
from handoff_core.text import clean, cut, quote

if TYPE_CHECKING:
    from handoff_core.setup.story import Step
    from handoff_core.text import Streams

WIDTH = 112
"""Columns after which a line of the demo is cut."""
HOOKS = ("handoff-allow.py", "handoff-log-guard.py")
TITLE = "handoff demo: one slice, from the owner's request to feature-complete, in a throw-away folder"


def demo(streams: Streams, *, keep: bool, json: bool) -> int:
    """Play the slice and print each command with its answer; exit 1 if an answer is not the expected one.

    Writes only below a temporary folder, which is removed unless `keep` asks for it. Raises HandoffError where that
    folder cannot be made.
    """
    folder = _make_folder()
    stage = _Stage(streams, folder, as_json=json)
    try:
        stage.play(story.STEPS)
        stage.end(keep=keep)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return REFUSED if stage.failed else DONE


def _make_folder() -> str:
    """Return a new folder with the session, the entry file and the hooks in it."""
    try:
        folder = os.path.realpath(tempfile.mkdtemp(prefix="handoff-demo-"))
        os.mkdir(os.path.join(folder, ".scratch"))
        _write(folder, story.SESSION, story.session_lines().encode())
        for name in ("scripts/handoff.py", *(f".claude/hooks/{hook}" for hook in HOOKS)):
            _write(folder, name, data.read(name))
    except OSError as error:
        raise HandoffError(f"the demo needs a temporary folder: {os_text(error)}", "set TMPDIR to a folder") from None
    return folder


def _write(folder: str, name: str, content: bytes) -> None:
    path = os.path.join(folder, *name.split("/"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as opened:
        opened.write(content)


class _Stage:
    """Plays the steps, prints them as they go or gathers them for JSON, and counts the wrong answers."""

    def __init__(self, streams: Streams, folder: str, *, as_json: bool) -> None:
        self._streams = streams
        self._folder = folder
        self._as_json = as_json
        self._played: list[dict[str, Any]] = []
        self.failed = 0

    def play(self, steps: tuple[Step, ...]) -> None:
        """Play every step; a wrong answer is reported and the next call is made."""
        self._say(TITLE)
        for number, (title, acts) in enumerate(steps, 1):
            self._say(f"\n{number}. {title}")
            for act in acts:
                command, answer, held, shown = self._perform(act)
                self._report(number, command, answer, held=held, shown=shown)

    def end(self, *, keep: bool) -> None:
        """Print how to go on, the verdict, and the folder if it is kept."""
        good = not self.failed
        if self._as_json:
            whole: dict[str, Any] = {"version": _version(), "steps": self._played, "ok": good}
            if keep:
                whole["folder"] = self._folder
            self._streams.out(json.dumps(whole) + "\n")
            return
        self._say(f"\n{len(story.STEPS) + 1}. How to go on:")
        for line in story.GO_ON:
            self._say(f"   {line}")
        count = len(self._played)
        verdict = f"all {count} answers as expected" if good else f"{self.failed} of {count} answers not as expected"
        self._say(f"\nhandoff demo: {verdict}")
        if keep:
            self._streams.out(self._folder + "\n")

    def _say(self, line: str) -> None:
        if not self._as_json:
            self._streams.out(line + "\n")

    def _report(self, number: int, command: str, answer: Answer, *, held: bool, shown: bool) -> None:
        self.failed += not held
        lines = [*answer.out.splitlines(), *answer.err.splitlines()]
        step = {"step": number, "command": command, "code": answer.code, "answer": lines, "ok": held}
        self._played.append(step)
        self._say(cut(f"   $ {command}", WIDTH))
        for line in lines if shown or not held else lines[:1]:
            self._say(cut(f"     {clean(_gist(line))}", WIDTH).rstrip())
        if not held:
            self._streams.note(f"demo: step {number}: the answer to `{cut(command, WIDTH)}` is not the expected one")

    # The kinds of acts: each returns the command as shown, its answer, whether that is right, whether to show it all.

    def _perform(self, act: Call | Edit | Ask | Look) -> tuple[str, Answer, bool, bool]:
        if isinstance(act, Call):
            return self._call(act)
        if isinstance(act, Edit):
            return self._edit(act)
        if isinstance(act, Ask):
            return self._ask(act)
        return self._look(act)

    def _call(self, act: Call) -> tuple[str, Answer, bool, bool]:
        from handoff_core import cli

        words = [os.path.join(self._folder, word[2:]) if word.startswith("./") else word for word in act.words]
        stdin = io.BytesIO(b"" if act.record is None else json.dumps(act.record).encode())
        out, err = io.BytesIO(), io.BytesIO()
        code = cli.main([words[0], "--root", self._folder, *words[1:]], stdin, out, err)
        answer = Answer(code, self._local(out.getvalue()), self._local(err.getvalue()))
        command = " ".join(("handoff.py", *(word.removeprefix("./") for word in act.words)))
        if act.record is not None:
            command += f" <<< {_summary(act.record)}"
        return command, answer, _holds(act, answer), act.shown

    def _edit(self, act: Edit) -> tuple[str, Answer, bool, bool]:
        path = os.path.join(self._folder, *story.LOG.split("/"))
        with open(path, "rb") as opened:
            lines = opened.read().splitlines(keepends=True)
        line = lines[act.line - 1]
        lines[act.line - 1] = line[:-6] + bytes([line[-6] ^ 1]) + line[-5:]
        with open(path, "wb") as opened:
            opened.write(b"".join(lines))
        return f"({act.title})", Answer(0, "", ""), True, False

    def _ask(self, act: Ask) -> tuple[str, Answer, bool, bool]:
        hook = os.path.join(self._folder, ".claude", "hooks", act.hook)
        payload = json.dumps(probe.shell_call(act.command, self._folder, self._folder)).encode()
        root = {"CLAUDE_PROJECT_DIR": self._folder}
        reply = probe.start([sys.executable, "-I", "-S", hook], payload, self._folder, root)
        said = reply.failure or probe.decision(reply.out) or "no opinion"
        first = act.command.replace("\n", "⏎")
        return f"{act.hook} is asked: {first}", Answer(reply.code, f"{said}\n", ""), said == act.expect, False

    def _look(self, act: Look) -> tuple[str, Answer, bool, bool]:
        try:
            with open(os.path.join(self._folder, *act.path.split("/")), encoding="utf-8") as opened:
                text = opened.read()
        except OSError as error:
            return f"({act.title})", Answer(1, "", f"cannot read {act.path}: {os_text(error)}\n"), False, True
        held = act.absent not in text and act.present in text
        return f"({act.title})", Answer(0, f"{act.present}\n" if held else "", ""), held, False

    def _local(self, output: bytes) -> str:
        """Return output with the demo's folder taken out of the paths."""
        text = output.decode("utf-8", "replace")
        return text.replace(json.dumps(self._folder)[1:-1] + os.sep, "").replace(self._folder + os.sep, "")


def _holds(act: Call, answer: Answer) -> bool:
    try:
        return act.expect(answer)
    except (ValueError, KeyError, AttributeError):
        return False


def _gist(line: str) -> str:
    """Return a decision of `route` up to its reason, any other line as it is."""
    if not line.startswith('{"decision": '):
        return line
    decision = json.loads(line)
    kept = {name: decision[name] for name in ("decision", "next", "rule") if name in decision}
    return f"{json.dumps(kept)[:-1]}, …}} {decision['reason']}"


def _summary(record: dict[str, Any]) -> str:
    """Return a record without the fields that every record has, cut to what fits behind a command."""
    return quote({name: value for name, value in record.items() if name not in ("type", "req_id")})


def _version() -> str:
    from handoff_core import __version__

    return str(__version__)
