"""Databases, store folders and compressed files: OpenCode, Goose, the desktop client (formats.md 6, 11, capture.md 2.1)."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import unittest
from typing import Any

from handoff_core.capture import database, zstd
from handoff_core.errors import HandoffError

from tests.capture.sessions import ReaderCase, lines, said


def has_zstd() -> bool:
    try:
        return subprocess.run(["zstd", "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


class DatabaseCase(ReaderCase):
    def make(self, name: str, *statements: str) -> str:
        """Make a database of the project from statements and return its path."""
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        connection = sqlite3.connect(path)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()
        return path


SESSION = (
    "create table session (id text primary key, parent_id text, directory text, time_created int, time_updated int)"
)
MESSAGE = "create table message (id text primary key, session_id text, time_created int, data text)"
PART = "create table part (id text primary key, message_id text, data text)"


def row(table: str, *values: Any) -> str:
    shown = (
        "null" if v is None else str(v) if isinstance(v, int) else "'" + str(v).replace("'", "''") + "'" for v in values
    )
    return f"insert into {table} values ({', '.join(shown)})"


class OpenCode(DatabaseCase):
    tables = (SESSION, MESSAGE, PART)

    def test_messages_by_their_time_then_id_and_parts_by_id(self) -> None:
        self.make(
            "o.db",
            *self.tables,
            row("session", "ses_a", None, "/work/shop", 1, 2),
            row("message", "m3", "ses_a", 0, '{"role":"user","time":{"created":1780308001000}}'),
            row("message", "m1", "ses_a", 0, '{"role":"assistant","time":{"created":1780308002000}}'),
            row("message", "m2", "ses_a", 0, '{"role":"assistant","time":{"created":1780308002000}}'),
            row("message", "m4", "ses_a", 0, '{"role":"user","time":{"created":1780308009000}}'),
            row("part", "p9", "m1", '{"type":"text","text":"c"}'),
            row("part", "p1", "m1", '{"type":"text","text":"b"}'),
            row("part", "p2", "m3", '{"type":"text","text":"a"}'),
            row("part", "p0", "m2", '{"type":"text","text":"d"}'),
            row("part", "px", "other", '{"type":"text","text":"no"}'),
        )
        turns = self.build("o.db")
        self.assertEqual([turn["text"] for turn in turns], ["a", "b", "c", "d"])
        self.assertEqual([turn["at"] for turn in turns[:2]], ["part:p2", "part:p1"])
        self.assertEqual(self.fates(), (4, 0, 1, 0))

    def two_sessions(self) -> None:
        self.make(
            "o.db",
            *self.tables,
            row("session", "ses_a", None, "/work/shop", 1, 2),
            row("session", "ses_b", None, "/work/shop", 2, 2),
            row("session", "ses_child", "ses_a", "/work/shop", 3, 2),
            row("session", "ses_deep", "ses_child", "/work/shop", 4, 2),
            *(row("message", f"m_{name}", f"ses_{name}", 0, '{"role":"user"}') for name in ("a", "b", "child", "deep")),
            *(
                row("part", f"p_{name}", f"m_{name}", json.dumps({"type": "text", "text": f"in {name}"}))
                for name in ("a", "b", "child", "deep")
            ),
        )

    def test_several_sessions_need_one_named(self) -> None:
        self.two_sessions()
        result = self.run_here("build", "o.db")
        self.assertEqual(result.code, 3)
        self.assertIn("ses_a, ses_b", result.err)
        self.assertNotIn("ses_child", result.err)
        self.assertEqual(self.run_here("build", "o.db", "--session", "ses_x").code, 4)
        self.assertEqual(self.run_here("build", "o.db", "--session", "ses_").code, 3)

    def test_a_session_is_picked_by_its_id_or_the_start_of_it(self) -> None:
        self.two_sessions()
        self.assertEqual([turn["text"] for turn in self.build("o.db", None, "--session", "ses_b")], ["in b"])
        self.assertEqual([turn["text"] for turn in self.build("o.db", None, "--session", "ses_ch")], ["in child"])
        self.assertEqual(self.manifest["session"], "ses_child")

    def test_sessions_below_come_with_subagents(self) -> None:
        self.two_sessions()
        turns = self.build("o.db", None, "--session", "ses_a", "--subagents")
        self.assertEqual(
            [(turn["text"], turn.get("agent")) for turn in turns],
            [("in a", None), ("in child", "ses_child"), ("in deep", "ses_deep")],
        )
        result = self.run_here("build", "o.db", "--session", "ses_a", "--out", "other")
        self.assertIn("2 subagent transcripts were not captured", result.err)

    def test_broken_columns_are_damaged_records(self) -> None:
        self.make(
            "o.db",
            *self.tables,
            row("session", "ses_a", None, "/work/shop", 1, 2),
            row("message", "m1", "ses_a", 0, "{broken"),
            row("part", "p1", "m1", '{"type":"text","text":"orphan"}'),
            row("part", "p2", "m1", "nothing"),
        )
        self.assertEqual(self.build("o.db", code=5), [])
        turns = self.build("o.db", None, "--allow-bad-lines")
        self.assertEqual(said(turns), [("OTHER", "system", "orphan")])
        self.assertEqual(self.fates(), (1, 0, 0, 2))

    def test_newer_tables_count_only_with_rows_and_are_refused_then(self) -> None:
        self.two_sessions()
        path = os.path.join(self.root, "o.db")
        with sqlite3.connect(path) as connection:
            connection.execute("create table session_message (id text)")
        connection.close()
        self.build("o.db", None, "--session", "ses_b")
        with sqlite3.connect(path) as connection:
            connection.execute("insert into session_message values ('x')")
        connection.close()
        result = self.run_here("build", "o.db", "--session", "ses_b")
        self.assertEqual(result.code, 1)
        self.assertIn("session_message", result.err)

    def test_a_store_folder_and_the_folder_above_it(self) -> None:
        files = {
            "session/p/ses_1.json": {"id": "ses_1", "directory": "/work/shop", "time": {"created": 1}},
            "session/p/ses_2.json": {"id": "ses_2", "parentID": "ses_1", "time": {"created": 2}},
            "message/ses_1/b.json": {"id": "m1", "role": "user", "time": {"created": 1}},
            "message/ses_1/a.json": {"id": "m2", "role": "assistant", "time": {"created": 2}},
            "message/ses_2/c.json": {"id": "m3", "role": "user", "time": {"created": 3}},
            "part/m1/1.json": {"id": "p1", "type": "text", "text": "hello"},
            "part/m2/1.json": {"id": "p3", "type": "text", "text": "third"},
            "part/p2.json": {"id": "p2", "messageID": "m2", "type": "text", "text": "second"},
            "part/m3/1.json": {"id": "p4", "type": "text", "text": "child"},
        }
        for name, value in files.items():
            self.write(f"opencode/storage/{name}", json.dumps(value))
        for folder in ("opencode", "opencode/storage"):
            turns = self.build(folder, None, "--session", "ses_1")
            self.assertEqual([turn["text"] for turn in turns], ["hello", "second", "third"])
        turns = self.build("opencode", None, "--subagents")
        self.assertEqual([turn.get("agent") for turn in turns], [None, None, None, "ses_2"])
        self.write("opencode/storage/part/m1/2.json", "{")
        self.assertEqual(self.build("opencode", code=5), [])


class Goose(DatabaseCase):
    def test_a_session_is_read_by_row_numbers(self) -> None:
        self.make(
            "sessions.db",
            "create table sessions (id text primary key, working_dir text, updated_at timestamp)",
            "create table messages (id integer primary key, session_id text, role text, content_json text, "
            "created_timestamp int, metadata_json text)",
            row("sessions", "s1", "/work/shop", "2026-06-01 10:00:00"),
            row("sessions", "s2", "/work/shop", None),
            row("messages", 2, "s1", "assistant", '[{"type":"text","text":"two"}]', 1780308002, "{broken"),
            row("messages", 1, "s1", "user", '[{"type":"text","text":"one"}]', 1780308001, None),
            row("messages", 3, "s1", "user", "[broken", 1780308003, None),
            row("messages", 4, "s2", "user", '[{"type":"text","text":"other"}]', 1, None),
        )
        self.assertEqual(self.run_here("build", "sessions.db").code, 3)
        turns = self.build("sessions.db", None, "--session", "s1", "--allow-bad-lines")
        self.assertEqual([(turn["text"], turn["at"]) for turn in turns], [("one", "messages:1"), ("two", "messages:2")])
        self.assertEqual(self.fates(), (2, 0, 0, 1))
        self.assertEqual(self.row["bad_lines"], [{"line": "messages:3", "why": "not JSON"}])


class Desktop(DatabaseCase):
    def test_parts_with_the_fields_that_are_there(self) -> None:
        parts = [
            {"kind": "reasoning", "text": "hm"},
            {"kind": "text", "text": "Done."},
            {"kind": "tool", "toolCallId": "c1", "toolName": "read", "input": {"p": 1}, "output": "x"},
            {"kind": "tool", "callId": "c2", "tool": "run", "args": "ls", "error": "denied"},
            {"kind": "tool", "id": "c3", "name": "wait", "arguments": {}},
            {"kind": "changes", "diff": "-a\n+b"},
            {"kind": "ad", "text": "buy"},
        ]
        self.make(
            "desktop-v2.db",
            "create table threads (id text primary key, cwd text)",
            "create table messages (id text, thread_id text, seq int, role text, ts int, parts_json text)",
            row("threads", "t1", "/work/shop"),
            row("threads", "t2", "/work/shop"),
            row("messages", "b", "t1", 7, "assistant", 1780308002000, json.dumps(parts)),
            row("messages", "a", "t1", 3, "user", 1780308001000, '[{"kind":"text","text":"Go."}]'),
            row("messages", "c", "t2", 4, "user", 1780308001000, '[{"kind":"text","text":"other"}]'),
            row("messages", "d", "t1", 9, "system", 1780308003000, '[{"kind":"text","text":"rules"}]'),
            row("messages", "e", "t1", 10, "user", 1780308003000, '[{"kind":"ad"}]'),
        )
        turns = self.build("desktop-v2.db", None, "--session", "t1")
        self.assertEqual(
            said(turns),
            [
                ("USER", "text", "Go."),
                ("THOUGHT", "thinking", "hm"),
                ("AGENT", "text", "Done."),
                ("TOOL", "tool_call", '{"p":1}'),
                ("TOOL", "tool_result", "x"),
                ("TOOL", "tool_call", "ls"),
                ("TOOL", "tool_result", "denied"),
                ("TOOL", "tool_call", "{}"),
                ("OTHER", "notice", "-a\n+b"),
                ("OTHER", "system", "rules"),
            ],
        )
        self.assertEqual([turn.get("error") for turn in turns[4:7]], [None, None, True])
        self.assertEqual(turns[0]["utc"], "2026-06-01T10:00:01.000Z")
        self.assertEqual(self.fates(), (3, 0, 1, 0))
        self.assertEqual((self.manifest["session"], self.manifest["project"]), ("t1", "shop"))


WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("pragma journal_mode = wal")
connection.execute("create table t (a text)")
connection.execute("insert into t values ('in the log')")
connection.commit()
print("ready", flush=True)
sys.stdin.read()
"""


class Opening(DatabaseCase):
    def snapshot(self) -> dict[str, bytes]:
        found = {}
        for name in sorted(os.listdir(self.root)):
            path = os.path.join(self.root, name)
            if os.path.isfile(path):
                with open(path, "rb") as opened:
                    found[name] = opened.read()
        return found

    def rows(self, path: str) -> list[Any]:
        opened = database.connect(path)
        try:
            return [value for (value,) in opened.rows("select a from t")]
        finally:
            opened.close()

    def test_rows_of_the_log_count_and_no_byte_changes_be_it_in_use_or_left_behind(self) -> None:
        path = os.path.join(self.root, "a.db")
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            for state in ("in use", "left behind", "without its index"):
                if state == "left behind":
                    writer.kill()
                    writer.wait()
                if state == "without its index":
                    os.unlink(path + "-shm")
                before = self.snapshot()
                with self.subTest(state):
                    self.assertEqual(self.rows(path), ["in the log"])
                    self.assertEqual(self.snapshot(), before)

    def test_a_database_of_write_ahead_mode_without_a_log_gets_none(self) -> None:
        path = self.make("a.db", "pragma journal_mode = wal", "create table t (a text)", "insert into t values ('x')")
        before = self.snapshot()
        self.assertEqual(list(before), ["a.db"])
        self.assertEqual(self.rows(path), ["x"])
        self.assertEqual(self.snapshot(), before)

    def test_nothing_can_be_written_through_the_connection(self) -> None:
        opened = database.connect(self.make("a.db", "create table t (a text)"))
        self.addCleanup(opened.close)
        with self.assertRaises(HandoffError):
            list(opened.rows("insert into t values ('x')"))

    def test_bytes_that_are_no_utf8_are_replaced(self) -> None:
        path = self.make("a.db", "create table t (a text)", "insert into t values (cast(x'61ff62' as text))")
        self.assertEqual(self.rows(path), ["a\ufffdb"])

    def test_a_damaged_database_is_one_line(self) -> None:
        self.write("a.db", b"SQLite format 3\x00" + bytes(2000))
        result = self.run_here("build", "a.db")
        self.assertEqual(result.code, 1)
        self.assertIn("a.db", result.err)
        self.assertEqual(result.err.count("\n"), 1)

    def test_an_unknown_database_is_refused_with_its_tables(self) -> None:
        self.make("a.db", "create table birds (a text)")
        result = self.run_here("build", "a.db")
        self.assertEqual(result.code, 1)
        self.assertIn("birds", result.err)


@unittest.skipUnless(has_zstd(), "the program zstd is not here to make packed files with")
class Packed(ReaderCase):
    def packed(self, data: bytes) -> bytes:
        return subprocess.run(["zstd", "-qc"], input=data, capture_output=True, check=True).stdout

    def test_frames_one_after_the_other_are_one_text(self) -> None:
        first = lines({"type": "session", "id": "s", "createdAt": 1})
        second = lines({"type": "user/message", "seq": 1, "data": {"content": "Hi.", "source": {"kind": "user"}}})
        turns = self.build("session.jsonl.zstd", self.packed(first.encode()) + self.packed(second.encode()))
        self.assertEqual([turn["text"] for turn in turns], ["Hi."])
        self.assertEqual(self.row["reader"], "dsh")

    def test_a_torn_last_frame_gives_what_it_holds(self) -> None:
        records = lines(*({"role": "user", "text": f"turn {n} " + os.urandom(40).hex()} for n in range(8000)))
        whole = self.packed(records.encode())
        path = self.write("log.jsonl.zst", whole[: len(whole) * 3 // 4])
        target = os.path.join(self.root, "unpacked")
        with open(target, "wb") as file:
            zstd.unpack(path, file)
        with open(target, "rb") as file:
            data = file.read()
        self.assertGreater(len(data), len(records) // 4)
        self.assertEqual(data, records.encode()[: len(data)])
        self.assertTrue(self.build("log.jsonl.zst"))

    def test_a_damaged_file_is_refused(self) -> None:
        whole = bytearray(self.packed(os.urandom(100_000)))
        whole[5:60] = bytes(55)
        self.write("log.jsonl.zst", bytes(whole))
        result = self.run_here("build", "log.jsonl.zst")
        self.assertEqual(result.code, 1)
        self.assertIn("cannot unpack log.jsonl.zst", result.err)

    def test_without_any_decoder_the_message_says_how_to_unpack(self) -> None:
        try:
            import compression.zstd  # type: ignore[import-not-found,unused-ignore] # noqa: F401

            self.skipTest("this Python unpacks zstd itself")
        except ImportError:
            pass
        self.write("log.jsonl.zst", self.packed(b'{"role": "user", "text": "x"}\n'))
        before = os.environ["PATH"]
        os.environ["PATH"] = self.root
        self.addCleanup(os.environ.__setitem__, "PATH", before)
        result = self.run_here("build", "log.jsonl.zst")
        self.assertEqual(result.code, 1)
        self.assertIn("zstd -d log.jsonl.zst", result.err)

    def test_the_beginning_is_had_without_the_rest(self) -> None:
        path = self.write("big.zst", self.packed(b"0123456789" * 2_000_000))
        self.assertEqual(zstd.beginning(path, 25), b"0123456789012345678901234")
