"""Readers of documents: Cline and Roo, Gemini's older form, OpenCode's export (formats.md 5, 6, 9)."""

from __future__ import annotations

import json
import random
import threading
import time
from typing import Any

from tests.capture.sessions import ReaderCase, said


def user(*texts: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts], **more}


class Cline(ReaderCase):
    def cline(self, *messages: Any, **more: Any) -> list[dict[str, Any]]:
        document = {"version": 1, "sessionId": "17_x", "messages": list(messages), **more}
        return self.build("17_x.messages.json", json.dumps(document, indent=1))

    def test_wrappers_are_taken_off_one_after_the_other(self) -> None:
        turns = self.cline(
            user("<task>\nDo it\n</task>\n\n<environment_details>\n# Files\n</environment_details>\n then this"),
            user("<user_input mode='act'>One <b>two</b></user_input>"),
            user("<feedback>no</feedback><user_message>yes</user_message>", "<answer>42</answer>"),
            user("<environment_details>cut off"),
            user("<other>stays</other>"),
        )
        self.assertEqual(
            said(turns),
            [
                ("USER", "text", "Do it"),
                ("OTHER", "notice", "<environment_details>\n# Files\n</environment_details>"),
                ("USER", "text", "then this"),
                ("USER", "text", "One <b>two</b>"),
                ("USER", "text", "no\nyes\n42"),
                ("OTHER", "notice", "<environment_details>cut off"),
                ("USER", "text", "<other>stays</other>"),
            ],
        )
        self.assertEqual(turns[0]["at"], "/messages/0")

    def test_results_under_the_user_role_are_tool_turns(self) -> None:
        turns = self.cline(
            user("Look at the two files, please."),
            user("[read_file for 'src/a b.ts'] Result:\n\nconst a = 1", "<environment_details>e</environment_details>"),
            user("[execute_command for 'ls'] Result:", "a.txt", "and now?"),
            user("[list] is no result"),
        )
        self.assertEqual(
            said(turns),
            [
                ("USER", "text", "Look at the two files, please."),
                ("TOOL", "tool_result", "const a = 1"),
                ("OTHER", "notice", "<environment_details>e</environment_details>"),
                ("TOOL", "tool_result", "a.txt"),
                ("USER", "text", "and now?"),
                ("USER", "text", "[list] is no result"),
            ],
        )
        self.assertEqual([turns[1]["tool"], turns[3]["tool"]], ["read_file", "execute_command"])

    def test_a_result_is_a_list_of_queries(self) -> None:
        parts = [
            {"query": "a", "result": "one", "success": True},
            {"query": "b", "result": "", "error": "denied", "success": False},
            {"type": "text", "text": "tail"},
        ]
        turns = self.cline(
            {"role": "assistant", "content": [{"type": "tool_use", "id": "k", "name": "run", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "k", "content": parts}]},
        )
        self.assertEqual((turns[1]["text"], turns[1]["error"], turns[1]["pair"]), ("one\ndenied\ntail", True, 1))

    def test_facts_tokens_and_errors(self) -> None:
        turns = self.cline(
            user("Go.", id="m1", ts=1780308001000),
            {
                "id": "m2",
                "role": "assistant",
                "ts": 1780308002000,
                "content": "Gone.",
                "modelInfo": {"id": "m-1"},
                "metrics": {"inputTokens": 3, "outputTokens": 1, "cacheReadTokens": 2, "cacheWriteTokens": 4},
            },
            {"role": "assistant", "content": "lost", "metadata": {"displayRole": "status"}},
            {"role": "assistant", "content": [{"type": "image"}, {"type": "thinking", "thinking": ""}]},
            "odd",
            system_prompt="secret words of the house",
        )
        self.assertEqual(
            said(turns),
            [
                ("USER", "text", "Go."),
                ("AGENT", "text", "Gone."),
                ("OTHER", "error", "lost"),
                ("AGENT", "text", "[image]"),
            ],
        )
        self.assertEqual(turns[1]["usage"], {"input": 3, "output": 1, "cache_read": 2, "cache_write": 4})
        self.assertEqual((turns[1]["model"], turns[1]["rid"]), ("m-1", "m2"))
        self.assertEqual((self.manifest["session"], self.manifest["model"]), ("17_x", "m-1"))
        self.assertEqual(self.fates(), (4, 0, 1, 0))

    def test_an_older_list_is_read_and_named_by_its_folder(self) -> None:
        turns = self.build(
            "tasks/1767/api_conversation_history.json",
            json.dumps([user("<task>Say hello</task>"), {"role": "assistant", "content": "<read_file>x</read_file>"}]),
        )
        self.assertEqual(said(turns)[1], ("AGENT", "text", "<read_file>x</read_file>"))
        self.assertEqual((turns[0]["at"], self.manifest["session"]), ("/0", "1767"))

    def test_a_document_that_is_being_written_is_read_once_more(self) -> None:
        whole = json.dumps({"version": 1, "sessionId": "s", "messages": [user("Whole.")]})
        path = self.write("s.messages.json", whole[:40])

        def finish() -> None:
            time.sleep(0.05)
            with open(path, "w", encoding="utf-8") as opened:
                opened.write(whole)

        writer = threading.Thread(target=finish)
        writer.start()
        turns = self.build("s.messages.json", None, "--from", "cline")
        writer.join()
        self.assertEqual([turn["text"] for turn in turns], ["Whole."])

    def test_one_that_stays_broken_is_refused(self) -> None:
        self.write("s.messages.json", '{"messages": [')
        result = self.run_here("build", "s.messages.json", "--from", "cline")
        self.assertEqual(result.code, 1)
        self.assertIn("s.messages.json", result.err)

    def test_values_of_any_type_end_in_no_traceback(self) -> None:
        odd: list[Any] = [None, True, 7, 1.5, "", "x", [], [None], {}, {"type": "text"}, [{"type": 3}], {"a": [1]}]
        names = ("role", "content", "ts", "id", "metrics", "modelInfo", "metadata", "type", "text", "info", "parts")
        dice = random.Random(4)
        for round_ in range(15):
            messages = [{name: dice.choice(odd) for name in dice.sample(names, 5)} for _ in range(4)]
            messages += [{**user("x"), name: dice.choice(odd)} for name in names]
            parts = [{"type": dice.choice(("text", "tool", "file")), "state": dice.choice(odd)} for _ in range(3)]
            messages.append({"info": {"role": "user", "time": dice.choice(odd)}, "parts": parts})
            for name in ("cline", "opencode", "gemini"):
                self.write("d.json", json.dumps({"messages": messages, "info": dice.choice(odd)}))
                result = self.run_here("build", "d.json", "--from", name, "--out", f"o{name}{round_}")
                with self.subTest(name, round=round_):
                    self.assertIn(result.code, (0, 4), result.err + json.dumps(messages))


class GeminiDocument(ReaderCase):
    def test_a_document_is_read_by_the_same_rules(self) -> None:
        messages = [
            {"id": "1", "type": "user", "content": "Hello to you.", "timestamp": "2026-06-01T10:00:00Z"},
            {"id": "2", "type": "gemini", "content": "first"},
            {"id": "2", "type": "gemini", "content": "second", "model": "g"},
        ]
        turns = self.build("s.json", json.dumps({"sessionId": "g-9", "projectHash": "f", "messages": messages}))
        self.assertEqual(
            [(turn["text"], turn["at"]) for turn in turns],
            [("Hello to you.", "/messages/0"), ("second", "/messages/2")],
        )
        self.assertEqual(self.fates(), (2, 1, 0, 0))


class OpenCodeExport(ReaderCase):
    def test_parts_are_records_and_a_message_without_parts_is_skipped(self) -> None:
        state = {
            "status": "completed",
            "input": {"command": "ls"},
            "output": "a",
            "metadata": {"exit": 2},
            "time": {"start": 1780308002000, "end": 1780308003000},
        }
        assistant = {
            "id": "m2",
            "role": "assistant",
            "modelID": "m-1",
            "time": {"created": 1780308001500},
            "path": {"cwd": "/work/shop"},
            "tokens": {"input": 5, "output": 2, "reasoning": 0, "cache": {"read": 1, "write": 3}},
        }
        turns = self.build(
            "export.json",
            json.dumps(
                {
                    "info": {"id": "ses_1", "directory": "/work/other"},
                    "messages": [
                        {
                            "info": {"id": "m1", "role": "user", "time": {"created": 1780308001000}},
                            "parts": [
                                {"id": "p1", "type": "text", "text": "Hello."},
                                {"type": "text", "text": "context", "synthetic": True},
                                {"type": "file", "filename": "a.pdf", "mime": "application/pdf"},
                                {"type": "file", "filename": "a.png", "mime": "image/png"},
                            ],
                        },
                        {
                            "info": assistant,
                            "parts": [
                                {"type": "step-start"},
                                {"type": "reasoning", "text": "hm", "time": {"start": 1780308001600}},
                                {"type": "tool", "tool": "bash", "callID": "c1", "state": state},
                                {
                                    "type": "tool",
                                    "tool": "bash",
                                    "callID": "c2",
                                    "state": {"status": "running", "input": 1},
                                },
                                {"type": "file", "filename": "b.log"},
                            ],
                        },
                        {"info": {"id": "m3", "role": "user"}, "parts": []},
                    ],
                }
            ),
        )
        self.assertEqual(
            said(turns),
            [
                ("USER", "text", "Hello."),
                ("OTHER", "notice", "context"),
                ("USER", "text", "[file: a.pdf]"),
                ("USER", "text", "[image]"),
                ("THOUGHT", "thinking", "hm"),
                ("TOOL", "tool_call", '{"command":"ls"}'),
                ("TOOL", "tool_result", "a"),
                ("TOOL", "tool_call", "1"),
                ("OTHER", "notice", "[file: b.log]"),
            ],
        )
        self.assertEqual([turn["ts"][-4:] for turn in turns[3:8]], ["1000", "1600", "2000", "3000", "1500"])
        self.assertTrue(turns[6]["error"])
        self.assertEqual(turns[4]["usage"], {"input": 5, "output": 2, "cache_read": 1, "cache_write": 3})
        self.assertEqual(turns[5]["at"], "/messages/1/parts/2")
        self.assertEqual((self.manifest["session"], self.manifest["project"]), ("ses_1", "other"))
        self.assertEqual(self.fates(), (8, 0, 2, 0))
