"""`build --list`, `--latest` and a lone `--session` find sessions in the stores of all harnesses (capture.md 2.3)."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
from hashlib import sha256
from typing import Any
from unittest import mock

from tests.capture.sessions import ReaderCase, lines
from tests.capture.test_readers_databases import has_zstd

DAY = 1_780_300_000


class DiscoverCase(ReaderCase):
    """A home folder with stores; the environment names none of them."""

    def setUp(self) -> None:
        super().setUp()
        self.home = os.path.join(self.root, "home")
        self.project = os.path.join(self.root, "proj")
        for folder in (self.home, os.path.join(self.project, ".scratch")):
            os.makedirs(folder)
        names = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "COPILOT_HOME", "DSH_HOME")
        kept = {k: v for k, v in os.environ.items() if k not in (*names, "GEMINI_CLI_HOME", "HANDOFFS_ROOT")}
        patched = mock.patch.dict(os.environ, {**kept, "HOME": self.home, "USERPROFILE": self.home}, clear=True)
        patched.start()
        self.addCleanup(patched.stop)

    def put(self, path: str, data: bytes | str, changed: int) -> str:
        """Write a file below the home folder with a time of change in hours."""
        full = self.write(os.path.join("home", path), data)
        os.utime(full, (DAY + changed * 3600, DAY + changed * 3600))
        return full

    def claude(self, session: str, changed: int, folder: str | None = None, **more: Any) -> str:
        record = {"type": "user", "sessionId": session, "cwd": folder or self.project, "uuid": "u", **more}
        data = lines({**record, "message": {"role": "user", "content": f"Prompt of {session}."}})
        return self.put(f".claude/projects/-p/{session}.jsonl", data, changed)

    def listed(self, *flags: str) -> list[dict[str, Any]]:
        result = self.build_here("--list", "--json", *flags)
        self.assertEqual(result.code, 0, result.err)
        found = json.loads(result.out)
        assert isinstance(found, list)
        return found

    def ids(self, *flags: str) -> list[str]:
        return [row["session"] for row in self.listed(*flags)]

    def build_here(self, *flags: str) -> Any:
        return self.run_here("build", "--root", self.project, *flags)


class Stores(DiscoverCase):
    def fill(self) -> None:
        """Put one session of every harness into its store, the first named the newest."""
        folder = self.project
        self.claude("claude-1", 20)
        meta = {"type": "session_meta", "payload": {"id": "codex-1", "cwd": folder}}
        self.put(".codex/sessions/2026/06/01/rollout-a.jsonl", lines(meta), 19)
        digest = sha256(folder.encode()).hexdigest()
        self.put(".gemini/tmp/x/chats/session-a.jsonl", lines({"sessionId": "gemini-1", "projectHash": digest}), 18)
        document = {"sessionId": "gemini-2", "projectHash": digest, "messages": []}
        self.put(".gemini/tmp/x/chats/session-b.json", json.dumps(document, indent=1), 17)
        start = {"type": "session.start", "data": {"sessionId": "copilot-1", "context": {"cwd": folder}}, "id": "1"}
        self.put(".copilot/session-state/copilot-1/events.jsonl", lines(start), 16)
        mangled = re.sub("[^A-Za-z0-9]+", "-", folder).strip("-")
        cursor = lines({"role": "user", "message": {"content": "x"}})
        self.put(f".cursor/projects/{mangled}/agent-transcripts/a/cursor-1.jsonl", cursor, 15)
        self.put(f".cursor/projects/{mangled}/agent-transcripts/a/subagents/no.jsonl", cursor, 15)
        cline = {"sessionId": "cline-1", "cwd": folder, "messages": []}
        self.put(".cline/data/sessions/cline-1/cline-1.messages.json", json.dumps(cline), 14)
        goose = lines({"id": "goose-1", "working_dir": folder, "description": "d"})
        self.put(".local/share/goose/sessions/goose-1.jsonl", goose, 13)
        dsh = lines({"type": "session", "id": "dsh-1", "createdAt": 1, "cwd": folder})
        self.put(".dsh/sessions/a/b/session.jsonl", dsh, 12)
        history = self.write("proj/.aider.chat.history.md", "# aider chat started at 2026-06-01 10:00:00\n#### x\n")
        os.utime(history, (DAY + 11 * 3600,) * 2)
        self.opencode(folder, 10)

    def opencode(self, folder: str, changed: int) -> None:
        path = os.path.join(self.home, ".local/share/opencode/opencode.db")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with sqlite3.connect(path) as connection:
            connection.execute("create table session (id text, parent_id text, directory text, time_updated int)")
            connection.execute("create table message (id text, session_id text, data text)")
            connection.execute("create table part (id text, message_id text, data text)")
            rows = [
                ("opencode-1", None, folder),
                ("opencode-2", "opencode-1", folder),
                ("opencode-3", None, "/elsewhere"),
            ]
            for number, (name, parent, where) in enumerate(rows):
                updated = (DAY + changed * 3600 - number) * 1000
                connection.execute("insert into session values (?, ?, ?, ?)", (name, parent, where, updated))
            connection.execute("insert into message values ('m', 'opencode-1', '{\"role\": \"user\"}')")
            connection.execute('insert into part values (\'p\', \'m\', \'{"type": "text", "text": "Hello."}\')')
        connection.close()

    def test_every_store_is_looked_into_and_the_newest_comes_first(self) -> None:
        self.fill()
        expected = [
            "claude-1", "codex-1", "gemini-1", "gemini-2", "copilot-1", "cursor-1", "cline-1", "goose-1", "dsh-1",
            "aider-proj", "opencode-1",
        ]  # fmt: skip
        self.assertEqual(self.ids(), expected)
        self.assertEqual(self.ids("--project-dir", "*"), [*expected, "opencode-3"])

    def test_a_row_says_where_the_session_is(self) -> None:
        path = self.claude("claude-1", 20)
        self.assertEqual(
            self.listed(),
            [
                {
                    "harness": "claude-code",
                    "session": "claude-1",
                    "project_dir": self.project,
                    "updated": "2026-06-02T03:46:40Z",
                    "bytes": os.path.getsize(path),
                    "path": path,
                }
            ],
        )

    def test_the_environment_names_the_stores(self) -> None:
        other = os.path.join(self.root, "elsewhere")
        record = {
            "type": "user",
            "sessionId": "moved",
            "cwd": self.project,
            "message": {"role": "user", "content": "x"},
        }
        self.write("elsewhere/projects/-p/moved.jsonl", lines(record))
        self.claude("left", 1)
        with mock.patch.dict(os.environ, {"CLAUDE_CONFIG_DIR": other}):
            self.assertEqual(self.ids(), ["moved"])

    def test_one_harness_and_patterns_choose(self) -> None:
        self.fill()
        self.assertEqual(self.ids("--from", "codex"), ["codex-1"])
        self.assertEqual(self.ids("--include", "**/rollout-*.jsonl"), ["codex-1"])
        self.assertNotIn("gemini-2", self.ids("--exclude", "**/*.json"))

    def test_a_session_of_a_database_is_built_by_its_id(self) -> None:
        self.fill()
        result = self.build_here("--session", "opencode-1", "--json")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(json.loads(result.out)["session"], "opencode-1")

    def test_packed_rollouts_count_where_the_plain_one_is_missing(self) -> None:
        if not has_zstd():
            self.skipTest("the program zstd is not here to make packed files with")
        for name, packed_too, plain in (("a", True, True), ("b", True, False)):
            data = lines({"type": "session_meta", "payload": {"id": f"codex-{name}", "cwd": self.project}})
            if plain:
                self.put(f".codex/sessions/2026/06/01/rollout-{name}.jsonl", data, 2)
            if packed_too:
                packed = subprocess.run(["zstd", "-qc"], input=data.encode(), capture_output=True, check=True).stdout
                self.put(f".codex/sessions/2026/06/01/rollout-{name}.jsonl.zst", packed, 1)
        self.assertEqual(
            [os.path.basename(row["path"]) for row in self.listed()], ["rollout-a.jsonl", "rollout-b.jsonl.zst"]
        )


class Folders(DiscoverCase):
    def test_a_folder_fits_when_it_is_the_project_or_lies_inside_it(self) -> None:
        self.claude("inside", 3, os.path.join(self.project, "a", "b"))
        self.claude("beside", 2, self.project + "-2")
        link = os.path.join(self.root, "link")
        os.symlink(self.project, link)
        self.claude("linked", 1, link)
        self.assertEqual(self.ids(), ["inside", "linked"])
        self.assertEqual(self.ids("--project-dir", link), ["inside", "linked"])
        self.assertEqual(self.ids("--project-dir", "/nowhere"), [])

    def test_companions_links_and_what_cannot_be_read_are_no_sessions(self) -> None:
        kept = self.claude("kept", 1)
        self.put(".claude/projects/-p/agent-1.jsonl", lines({"sessionId": "kept", "type": "user"}), 2)
        os.symlink(kept, os.path.join(self.home, ".claude/projects/-p/link.jsonl"))
        os.mkfifo(os.path.join(self.home, ".claude/projects/-p/pipe.jsonl"))
        self.put(".local/share/opencode/opencode.db", b"SQLite format 3\x00" + bytes(500), 1)
        self.assertEqual(self.ids(), ["kept"])

    def test_only_the_head_of_a_file_is_read(self) -> None:
        late = lines({"type": "summary", "summary": "x" * 300_000})
        record = {"type": "user", "sessionId": "late", "cwd": self.project, "message": {"role": "user", "content": "x"}}
        self.put(".claude/projects/-p/stem.jsonl", late + lines(record), 1)
        self.assertEqual([row["session"] for row in self.listed("--project-dir", "*")], ["stem"])


class Choosing(DiscoverCase):
    def test_the_latest_session_of_the_project_is_built(self) -> None:
        self.claude("old", 1)
        self.claude("new", 3)
        self.claude("foreign", 5, "/somewhere")
        result = self.build_here("--latest", "--json")
        self.assertEqual(json.loads(result.out)["session"], "new")
        self.assertEqual(self.build_here("--latest", "--project-dir", "/nowhere").code, 4)

    def test_an_exact_id_wins_over_a_beginning(self) -> None:
        for name in ("abc", "abcd", "abce"):
            self.claude(name, 1)
        self.assertEqual(json.loads(self.build_here("--session", "abc", "--json").out)["session"], "abc")
        self.assertEqual(json.loads(self.build_here("--session", "abcd", "--json").out)["session"], "abcd")
        result = self.build_here("--session", "ab")
        self.assertEqual(result.code, 3)
        self.assertIn("abcd", result.err)
        self.assertEqual(self.build_here("--session", "zz").code, 4)

    def test_any_recorded_id_or_the_stem_of_the_file_will_do(self) -> None:
        second = {"type": "user", "sessionId": "id-two", "message": {"role": "user", "content": "y"}}
        data = lines({**second, "sessionId": "id-one", "cwd": self.project}, second)
        self.put(".claude/projects/-p/file-stem.jsonl", data, 1)
        for wanted in ("id-one", "id-two", "file-stem", "id-t"):
            result = self.build_here("--session", wanted, "--json")
            self.assertEqual(json.loads(result.out)["session"], "id-one", wanted)

    def test_nothing_is_written_while_looking(self) -> None:
        self.claude("one", 1)
        before = sorted(os.path.join(base, name) for base, _, names in os.walk(self.root) for name in names)
        self.build_here("--list")
        self.build_here("--latest", "--project-dir", "/nowhere")
        after = sorted(os.path.join(base, name) for base, _, names in os.walk(self.root) for name in names)
        self.assertEqual(after, before)
