"""`build` from outside: flags, configuration, permissions, folders, subagents, the ledger (capture.md 1 to 12)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any
from unittest import mock

from tests.support import SCRIPTS, ProjectCase, Result

CLOCK = "1780315200"
SECRET = "ghp_" + "a8Kd93jfLq20ZxWv" + "Rt7YbN5cMs4EgH1uPq9T"
SESSION = "6b0c1f5e-2f0a-4b7e-9d11-0a1b2c3d4e5f"


def lines(*records: dict[str, Any]) -> str:
    """Return records as JSON lines."""
    return "".join(json.dumps(record) + "\n" for record in records)


def claude(role: str, content: Any, second: int, **more: Any) -> dict[str, Any]:
    """Return a record of Claude Code."""
    return {
        "type": role,
        "uuid": f"u{second:03}{more.get('agentId', '')}",
        "sessionId": SESSION,
        "cwd": "/work/shop",
        "timestamp": f"2026-06-01T10:00:{second:02}.000Z",
        "message": {"role": role, "content": content},
        **more,
    }


LOG = lines(
    {"role": "user", "text": "Please rename the option in every place.", "ts": "2026-05-01T09:00:00Z"},
    {"role": "assistant", "text": "Renamed. Next step: the documentation.", "ts": "2026-05-01T09:00:01Z"},
)


class BuildCase(ProjectCase):
    """A project with a home folder of its own and a fixed clock."""

    def setUp(self) -> None:
        super().setUp()
        self.home = os.path.join(self.root, "..", os.path.basename(self.root) + "-home")
        os.mkdir(self.home)
        self.addCleanup(shutil.rmtree, self.home)
        self.home = os.path.realpath(self.home)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("HANDOFF", "CLAUDE", "CODEX", "XDG", "GIT_"))}
        clean = mock.patch.dict(os.environ, {**kept, "HOME": self.home, "SOURCE_DATE_EPOCH": CLOCK}, clear=True)
        clean.start()
        self.addCleanup(clean.stop)

    def build(self, *arguments: str) -> dict[str, Any]:
        """Build, expect success, and return what `--json` says; the fileset must verify."""
        result = self.run_here("build", *arguments, "--json")
        self.assertEqual(result.code, 0, result.err)
        answer: dict[str, Any] = json.loads(result.out)
        answer["stderr"] = result.err
        checked = self.run_here("verify", answer["dir"])
        self.assertEqual(checked.code, 0, checked.err)
        return answer

    def refused(self, code: int, words: str, *arguments: str) -> Result:
        """Build, and expect an exit code and words on stderr."""
        result = self.run_here("build", *arguments)
        self.assertEqual((result.code, result.out), (code, ""), result.err)
        self.assertIn(words, result.err)
        self.assertTrue(all(line.startswith(("handoff.py: ", "usage: ")) for line in result.err.splitlines()))
        return result

    def turns(self, answer: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the turns of a fileset."""
        return [json.loads(line) for line in self.read(os.path.join(answer["dir"], "timeline.jsonl")).splitlines()]

    def manifest(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return the manifest of a fileset."""
        value: dict[str, Any] = json.loads(self.read(os.path.join(answer["dir"], "manifest.json")))
        return value


class Flags(BuildCase):
    """What is asked for."""

    def test_exactly_one_way_to_name_a_session_is_given(self) -> None:
        """None, two, and pairs that contradict each other are usage errors."""
        self.write("log.jsonl", LOG)
        for arguments in (
            (),
            ("log.jsonl", "--latest"),
            ("--latest", "--list"),
            ("--latest", "--session", "x"),
            ("log.jsonl", "--project-dir", "."),
            ("log.jsonl", "--from", "nobody"),
            ("log.jsonl", "--out", ""),
            ("log.jsonl", "--allow-bad"),
            ("nowhere.jsonl",),
        ):
            with self.subTest(arguments=arguments):
                self.refused(2, "", *arguments)

    def test_the_result_is_one_line(self) -> None:
        """Built, then up to date; nothing at all with --quiet."""
        self.write("log.jsonl", LOG)
        folder = os.path.join(self.root, ".scratch/handoffs/projects/unsorted/log")
        first = self.run_here("build", "log.jsonl")
        self.assertEqual(first.out, f"built log project=unsorted turns=2 new=2 revision=1 masked=0 -> {folder}\n")
        again = self.run_here("build", "log.jsonl")
        self.assertEqual((again.out, again.err), (f"up-to-date log turns=2 revision=1 -> {folder}\n", ""))
        self.assertEqual(self.run_here("build", "log.jsonl", "--quiet"), (0, "", ""))

    def test_kept_secrets_are_said_everywhere(self) -> None:
        """--no-redact warns, and stands in brief and manifest."""
        self.write("log.jsonl", lines({"role": "user", "text": f"The key is {SECRET}, keep it."}))
        answer = self.build("log.jsonl", "--no-redact")
        self.assertIn("warning: secrets are kept (--no-redact)", answer["stderr"])
        self.assertEqual(self.manifest(answer)["redactions"], {"mode": "off", "masked": 0, "secrets": 0})
        self.assertIn(b"- warning: secrets are kept", self.read(os.path.join(answer["dir"], "HANDOFF.md")))

    def test_an_unfinished_last_line_is_taken_when_it_is_whole(self) -> None:
        """It is neither a record nor damage, and the digest is that of the file as it lies there."""
        self.write("log.jsonl", LOG + '{"role": "user", "te')
        answer = self.build("log.jsonl")
        self.assertIn("log.jsonl: the last line is unfinished; its 20 bytes are not included", answer["stderr"])
        self.assertEqual(self.manifest(answer)["sources"][0]["tail_bytes"], 20)
        self.write("log.jsonl", LOG + '{"role": "user", "text": "Thank you."}')
        answer = self.build("log.jsonl")
        self.assertEqual((answer["turns"], answer["new"], answer["records"][0]["bad"]), (3, 1, 0))

    def test_a_pipe_is_no_source(self) -> None:
        """Nothing waits for a writer."""
        if not hasattr(os, "mkfifo"):
            self.skipTest("no pipes with names here")
        os.mkfifo(os.path.join(self.root, "pipe.jsonl"))
        self.refused(1, "not a regular file", "pipe.jsonl")

    def test_a_session_in_the_way_is_left_alone(self) -> None:
        """--out into another session's fileset is refused."""
        self.write("a.jsonl", LOG)
        self.write("b.jsonl", LOG)
        self.build("a.jsonl", "--out", "here")
        self.refused(1, "another session", "b.jsonl", "--out", "here")
        self.assertEqual(self.build("a.jsonl", "--out", "here")["status"], "up-to-date")


class Configuration(BuildCase):
    """Every accepted key acts."""

    def test_long_results_are_cut_around_a_line(self) -> None:
        """`capture.max_tool_output` keeps the first and the last half, and says how much is missing."""
        self.write("handoff.config.json", json.dumps({"capture": {"max_tool_output": 10}}))
        records = ({"role": "user", "text": "x" * 30}, {"kind": "tool_result", "text": "abcdefghijklmnop"})
        self.write("log.jsonl", lines(*records))
        first, second = self.turns(self.build("log.jsonl"))
        self.assertEqual(len(first["text"]), 30)
        self.assertEqual((second["text"], second["cut"]), ("abcde\n[… 6 characters cut …]\nlmnop", 6))

    def test_the_payload_holds_the_newest_turns_that_fit(self) -> None:
        """`max_brief_tokens` counts four characters a token; the first turn that does not fit ends it."""
        self.write("handoff.config.json", json.dumps({"max_brief_tokens": 1000}))
        texts = ["a" * 10, "b" * 3000, "c" * 600, "d" * 400]
        self.write("log.jsonl", lines(*({"role": "assistant", "text": text} for text in texts)))
        answer = self.build("log.jsonl")
        payload = json.loads(self.read(os.path.join(answer["dir"], "HANDOFF.llm.json")))
        self.assertEqual([turn["seq"] for turn in payload["timeline"]], [2, 3, 4])
        self.assertEqual(payload["timeline_omitted"], 1)

    def test_subagents_and_patterns_come_from_the_configuration(self) -> None:
        """`capture.subagents` is the default of the flag; `capture.exclude` chooses among the files."""
        self.write(f"{SESSION}.jsonl", lines(claude("user", "Look at the retry helper, please.", 1)))
        for agent in ("one", "two"):
            record = claude("assistant", f"I am {agent}.", 2, isSidechain=True, agentId=agent)
            self.write(f"{SESSION}/subagents/agent-{agent}.jsonl", lines(record))
        answer = self.build(f"{SESSION}.jsonl")
        self.assertIn("note: 2 subagent transcripts were not captured; --subagents adds them", answer["stderr"])
        self.write("handoff.config.json", json.dumps({"capture": {"subagents": True, "exclude": ["**/agent-two*"]}}))
        answer = self.build(f"{SESSION}.jsonl")
        self.assertEqual([turn.get("agent") for turn in self.turns(answer)], [None, "one"])
        self.assertEqual(
            self.run_here("verify", answer["dir"], "--against", f"{SESSION}.jsonl").code,
            0,
        )


class Folders(BuildCase):
    """A folder stands for the one session in it."""

    def test_one_session_is_found_and_several_are_named(self) -> None:
        """What is no session does not count; patterns choose."""
        self.write("logs/readme.txt", "nothing here\n")
        self.refused(4, "no reader recognises", "logs")
        self.write("logs/a.jsonl", LOG)
        self.assertEqual(self.build("logs")["session"], "a")
        self.write("logs/deep/b.jsonl", LOG)
        self.refused(3, "a.jsonl, deep/b.jsonl", "logs")
        self.assertEqual(self.build("logs", "--exclude", "*.jsonl")["session"], "b")
        self.assertEqual(self.build("logs", "--include", "*.jsonl")["session"], "a")


class Permissions(BuildCase):
    """The permission policy decides what is read and written (capture.md 12)."""

    def outside(self, name: str) -> str:
        """Write a session outside of the project and return its path."""
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as opened:
            opened.write(LOG)
        return path

    def test_naming_a_path_is_an_authorisation(self) -> None:
        """A path of the home folder may be read when it is named, not when a link leads there."""
        path = self.outside("notes/log.jsonl")
        self.assertEqual(self.build(path)["turns"], 2)
        os.symlink(path, os.path.join(self.root, "link.jsonl"))
        self.refused(1, "PERSONAL_DATA_PATH", "link.jsonl")

    def test_a_denied_root_is_never_read(self) -> None:
        """Not even when it is named; nothing is written."""
        self.refused(1, "DENIED_ROOT", self.outside(".ssh/log.jsonl"))
        self.assertFalse(os.path.exists(os.path.join(self.root, ".scratch", "handoffs")))

    def test_a_session_store_is_read_and_never_written(self) -> None:
        """A store of sessions needs no authorisation to be read."""
        path = self.outside(".claude/projects/-x/log.jsonl")
        os.symlink(path, os.path.join(self.root, "link.jsonl"))
        self.assertEqual(self.build("link.jsonl")["turns"], 2)
        self.refused(1, "SESSION_STORE", path, "--out", os.path.join(self.home, ".claude/projects/-x/out"))

    def test_a_store_behind_a_link_is_not_written(self) -> None:
        """The default store is named by nobody; `HANDOFFS_ROOT` is."""
        self.write("log.jsonl", LOG)
        os.symlink(self.home, os.path.join(self.root, ".scratch", "handoffs"))
        self.refused(1, "PERSONAL_DATA_PATH", "log.jsonl")
        self.assertEqual(os.listdir(self.home), [])
        with mock.patch.dict(os.environ, {"HANDOFFS_ROOT": os.path.join(self.home, "store")}):
            self.assertTrue(self.build("log.jsonl")["dir"].startswith(os.path.join(self.home, "store")))


class Ledger(BuildCase):
    """`--req-id` joins a slice."""

    def test_a_missing_slice_or_log_is_no_match(self) -> None:
        """Exit 3, and nothing is built."""
        self.write("log.jsonl", LOG)
        self.refused(3, "REQ-1", "log.jsonl", "--req-id", "REQ-1")
        self.assertFalse(os.path.exists(os.path.join(self.root, ".scratch", "handoffs", "projects")))


class Bytes(BuildCase):
    """The same input gives the same bytes."""

    def test_environment_and_place_change_no_byte(self) -> None:
        """Another umask, zone, locale, folder and hash seed."""
        records = [claude("user", f"Question {i} about kinds {SECRET}", i, kind=f"k{i}") for i in range(9)]
        found = []
        for number, (zone, seed, locale) in enumerate((("UTC", "1", "C"), ("Asia/Tokyo", "77", "C.UTF-8"))):
            place = f"place{number}"
            self.write(f"{place}/{SESSION}.jsonl", lines(*records, {"type": "odd"}, {"type": "other"}))
            os.mkdir(os.path.join(self.root, place, ".scratch"))
            environment = {**os.environ, "TZ": zone, "PYTHONHASHSEED": seed, "LC_ALL": locale, "PYTHONUTF8": "0"}
            before = os.umask(0o077 if number else 0o022)
            try:
                done = subprocess.run(
                    [sys.executable, os.path.join(SCRIPTS, "handoff.py"), "build", f"{SESSION}.jsonl", "--out", "out"],
                    cwd=os.path.join(self.root, place),
                    env=environment,
                    capture_output=True,
                    check=False,
                )
            finally:
                os.umask(before)
            self.assertEqual(done.returncode, 0, done.stderr)
            folder = os.path.join(self.root, place, "out")
            found.append({name: self.read(os.path.join(folder, name)) for name in sorted(os.listdir(folder))})
        self.assertEqual(found[0], found[1])
