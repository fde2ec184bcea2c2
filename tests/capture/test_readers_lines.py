"""Readers of line formats: Cursor, Copilot, Gemini, Goose, dsh, Aider (formats.md 5, 7, 8, 10, 11)."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.capture.sessions import ReaderCase, lines, said

AT = "2026-06-01T10:00:0{}.000Z"


class Cursor(ReaderCase):
    def test_the_prompt_is_taken_out_of_its_wrapper_and_the_rest_is_a_notice_before_it(self) -> None:
        text = "<attached>a.py</attached>\n<user_query>\nFix it\n</user_query>\n<more/>"
        turns = self.build(
            "c.jsonl",
            lines(
                {"role": "user", "message": {"content": [{"type": "text", "text": text}]}},
                {"role": "user", "message": {"content": "and <user_query>again"}},
                {"role": "user", "message": {"content": "plain"}},
                {
                    "role": "assistant",
                    "message": {"content": [{"type": "tool_use", "name": "Read", "input": {"p": 1}}]},
                },
                {"type": "turn_ended"},
                ["no object"],
            ),
        )
        self.assertEqual(
            said(turns),
            [
                ("OTHER", "notice", "<attached>a.py</attached>\n<more/>"),
                ("USER", "text", "Fix it"),
                ("OTHER", "notice", "and"),
                ("USER", "text", "again"),
                ("USER", "text", "plain"),
                ("TOOL", "tool_call", '{"p":1}'),
            ],
        )
        self.assertEqual(self.fates(), (4, 0, 2, 0))


def event(number: int, kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": f"e{number}", "timestamp": AT.format(number)}


class Copilot(ReaderCase):
    def test_calls_count_once_and_results_carry_their_failure(self) -> None:
        request = {"toolCallId": "c1", "name": "bash", "arguments": '{"command": "ls"}'}
        turns = self.build(
            "events.jsonl",
            lines(
                event(0, "session.start", sessionId="s-1", context={"cwd": "/work/shop"}),
                event(1, "session.model_change", newModel="m-2"),
                event(2, "user.message", content="Look.", attachments=[{"displayName": "a.txt"}, {"path": "/x/b"}]),
                event(3, "assistant.message", content="On it.", reasoningText="hm", toolRequests=[request]),
                event(3, "assistant.message", content="On it.", toolRequests=[request]),
                event(4, "tool.execution_start", toolCallId="c1", toolName="bash", arguments={}),
                event(5, "tool.execution_start", toolCallId="c2", toolName="view", arguments={"path": "a"}),
                event(6, "tool.execution_complete", toolCallId="c1", success=False, error={"message": "no shell"}),
                event(
                    7,
                    "tool.execution_complete",
                    toolCallId="c2",
                    success=True,
                    result={"detailedContent": "text"},
                    shellExecution={"exitCode": 3},
                ),
                event(8, "session.compaction_complete", summaryContent="so far"),
                event(9, "session.error", message="lost"),
                {"type": "assistant.message", "data": {"content": "Sub.", "parentToolCallId": "c9"}, "id": "e10"},
                {"type": "hook.start", "data": {}, "id": "e11"},
            ),
        )
        self.assertEqual(
            said(turns),
            [
                ("USER", "text", "Look.\n[file: a.txt]\n[file: /x/b]"),
                ("THOUGHT", "thinking", "hm"),
                ("AGENT", "text", "On it."),
                ("TOOL", "tool_call", '{"command": "ls"}'),
                ("TOOL", "tool_call", '{"path":"a"}'),
                ("TOOL", "tool_result", "no shell"),
                ("TOOL", "tool_result", "text"),
                ("OTHER", "compaction", "so far"),
                ("OTHER", "error", "lost"),
                ("AGENT", "text", "Sub."),
            ],
        )
        self.assertEqual([turn.get("error") for turn in turns[5:7]], [True, True])
        self.assertEqual([turn.get("pair") for turn in turns[5:7]], [4, 5])
        self.assertEqual((turns[2]["model"], turns[9]["agent"]), ("m-2", "c9"))
        self.assertEqual(self.fates(), (8, 2, 3, 0))
        self.assertEqual((self.manifest["session"], self.manifest["project"]), ("s-1", "shop"))

    def test_tokens_stand_on_the_next_turn(self) -> None:
        turns = self.build(
            "events.jsonl",
            lines(
                event(1, "user.message", content="Go on with the work."),
                event(2, "session.usage_record", usage={"inputTokens": 5, "outputTokens": 2, "cacheWriteTokens": 0}),
                event(3, "assistant.message", content="Done."),
            ),
        )
        self.assertEqual(turns[1]["usage"], {"input": 5, "output": 2})


def message(rid: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": rid, "type": kind, "content": content, "timestamp": AT.format(int(rid[1:])), **more}


HEADER = {"sessionId": "g-1", "projectHash": "ff", "startTime": AT.format(0)}


class Gemini(ReaderCase):
    def test_the_final_state_counts(self) -> None:
        turns = self.build(
            "session-1.jsonl",
            lines(
                HEADER,
                message("m1", "user", "First version of it."),
                message("m2", "gemini", "Answer."),
                message("m1", "gemini", "Same id, another type."),
                message("m1", "user", "Last version of it."),
                message("m3", "user", "Dropped."),
                message("m4", "gemini", "Dropped, too."),
                {"$rewindTo": "m3"},
                {"$rewindTo": "unknown"},
                message("m5", "user", "Kept."),
                {"$set": {"lastUpdated": AT.format(9)}},
            ),
        )
        self.assertEqual(
            [turn["text"] for turn in turns],
            ["Last version of it.", "Answer.", "Same id, another type.", "Kept."],
        )
        self.assertEqual([turn["at"] for turn in turns], [5, 3, 4, 10])
        self.assertEqual(self.fates(), (4, 3, 4, 0))

    def test_a_replaced_list_takes_the_place_of_everything_before(self) -> None:
        turns = self.build(
            "session-1.jsonl",
            lines(
                HEADER,
                message("m1", "user", "Old."),
                {"$set": {"messages": [message("m1", "user", "New."), message("m2", "gemini", "Yes."), "odd"]}},
                message("m2", "gemini", "Yes, now."),
            ),
        )
        self.assertEqual([turn["text"] for turn in turns], ["New.", "Yes, now."])
        self.assertEqual(self.fates(), (2, 2, 3, 0))

    def test_messages_that_share_a_line_are_all_there(self) -> None:
        glued = lines(message("m1", "user", "One.")).strip() + lines(message("m2", "user", "Two."))
        turns = self.build("session-1.jsonl", lines(HEADER) + glued + lines(message("m3", "user", "Three.")))
        self.assertEqual([turn["text"] for turn in turns], ["One.", "Two.", "Three."])

    def test_thoughts_text_and_calls_come_in_this_order(self) -> None:
        call = {
            "id": "c1",
            "name": "ls",
            "args": {"d": "."},
            "status": "cancelled",
            "timestamp": AT.format(7),
            "result": [
                {"functionResponse": {"response": {"output": "a"}}},
                {"text": "b"},
                {"inlineData": {"mimeType": "image/png"}},
            ],
        }
        turns = self.build(
            "session-1.jsonl",
            lines(
                HEADER,
                message(
                    "m1",
                    "gemini",
                    [
                        {"text": "left out", "thought": True},
                        {"text": "Here."},
                        {"fileData": {"mimeType": "application/pdf"}},
                        {"functionCall": {"id": "c1", "name": "ls"}},
                        {"functionCall": {"id": "c2", "name": "cat", "args": {"f": 1}}},
                    ],
                    thoughts=[{"subject": "Plan", "description": "look"}, {"subject": "Then"}],
                    toolCalls=[call, {"id": "c3", "name": "open", "args": {}}],
                    tokens={"input": 4, "cached": 1, "thoughts": 2, "output": 0},
                ),
                message("m2", "user", [{"functionResponse": {"id": "c1", "response": {"output": "again"}}}]),
                message("m3", "user", [{"functionResponse": {"id": "c2", "response": {"error": "none"}}}]),
                message("m4", "user", "<session_context>x</session_context>"),
                message("m5", "error", "broke"),
                message("m6", "info", "note"),
            ),
        )
        self.assertEqual(
            said(turns),
            [
                ("THOUGHT", "thinking", "Plan\nlook\nThen"),
                ("AGENT", "text", "Here.\n[file: application/pdf]"),
                ("TOOL", "tool_call", '{"f":1}'),
                ("TOOL", "tool_call", '{"d":"."}'),
                ("TOOL", "tool_result", "a\nb\n[image]"),
                ("TOOL", "tool_call", "{}"),
                ("TOOL", "tool_result", "none"),
                ("OTHER", "notice", "<session_context>x</session_context>"),
                ("OTHER", "error", "broke"),
                ("OTHER", "notice", "note"),
            ],
        )
        self.assertEqual((turns[4]["error"], turns[4]["ts"], turns[2]["ts"]), (True, AT.format(7), AT.format(1)))
        self.assertEqual(turns[0]["usage"], {"input": 4, "cache_read": 1, "reasoning": 2})
        self.assertEqual(self.fates(), (5, 1, 1, 0))

    def test_any_sequence_of_changes_ends_in_the_state_that_a_plain_list_ends_in(self) -> None:
        dice = random.Random(5)
        for round_ in range(12):
            state: list[tuple[str, str, str]] = []
            records: list[Any] = [HEADER]
            for step in range(40):
                choice, rid = dice.random(), f"m{dice.randrange(8)}"
                kind, text = dice.choice(("user", "gemini")), f"text {step}"
                if choice < 0.75:
                    records.append(message(rid, kind, text))
                    put(state, rid, kind, text)
                elif choice < 0.9:
                    records.append({"$rewindTo": rid})
                    first = next((i for i, item in enumerate(state) if item[0] == rid), len(state))
                    del state[first:]
                else:
                    listed = [(f"m{n}", "user", f"set {step} {n}") for n in range(dice.randrange(4))]
                    records.append({"$set": {"messages": [message(*item) for item in listed]}})
                    state = list(listed)
            records.append(message("m9", "user", "last"))
            put(state, "m9", "user", "last")
            with self.subTest(round_):
                turns = self.build("session-1.jsonl", lines(*records))
                self.assertEqual([turn["text"] for turn in turns], [text for _, _, text in state])
                self.assertEqual(self.fates()[0], len(state))


def put(state: list[tuple[str, str, str]], rid: str, kind: str, text: str) -> None:
    place = next((i for i, item in enumerate(state) if item[:2] == (rid, kind)), None)
    if place is None:
        state.append((rid, kind, text))
    else:
        state[place] = (rid, kind, text)


class Goose(ReaderCase):
    def test_every_kind_of_part(self) -> None:
        parts = [
            {"type": "text", "text": "Reading."},
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "redactedThinking", "data": "x"},
            {"type": "image", "data": "x"},
            {
                "type": "toolRequest",
                "id": "r1",
                "toolCall": {"status": "success", "value": {"name": "ls", "arguments": {}}},
            },
            {"type": "toolRequest", "id": "r2", "toolCall": {"status": "error", "error": "bad"}},
            {"type": "conversationCompacted", "msg": "compacted"},
            {"type": "contextLengthExceeded", "msg": "too long"},
            {"type": "unknown", "text": "x"},
        ]
        results = [
            {
                "type": "toolResponse",
                "id": "r1",
                "toolResult": {"status": "success", "value": [{"type": "text", "text": "a"}]},
            },
            {"type": "toolResponse", "id": "r2", "toolResult": {"status": "error", "error": "no such tool"}},
            {
                "type": "toolResponse",
                "id": "r3",
                "toolResult": {"value": {"content": [{"text": "b"}], "isError": True}},
            },
        ]
        turns = self.build(
            "20260601_1.jsonl",
            lines(
                {"id": "20260601_1", "working_dir": "/work/shop", "message_count": 3, "description": "d"},
                {"id": "1", "role": "assistant", "created": 1780308001, "content": parts},
                {"id": "2", "role": "user", "created": 1780308002, "content": results},
                {
                    "role": "user",
                    "created": 1780308003,
                    "content": [{"type": "text", "text": "hidden"}],
                    "metadata": {"userVisible": False},
                },
            ),
        )
        self.assertEqual(
            said(turns),
            [
                ("AGENT", "text", "Reading."),
                ("THOUGHT", "thinking", "hm"),
                ("AGENT", "text", "[image]"),
                ("TOOL", "tool_call", "{}"),
                ("TOOL", "tool_call", ""),
                ("OTHER", "compaction", "compacted"),
                ("OTHER", "notice", "too long"),
                ("TOOL", "tool_result", "a"),
                ("TOOL", "tool_result", "no such tool"),
                ("TOOL", "tool_result", "b"),
                ("OTHER", "notice", "hidden"),
            ],
        )
        self.assertEqual([turn.get("error") for turn in turns[7:10]], [None, True, True])
        self.assertEqual((turns[0]["ts"], turns[0]["utc"]), ("1780308001", "2026-06-01T10:00:01.000Z"))
        self.assertEqual((self.manifest["session"], self.manifest["project"]), ("20260601_1", "shop"))


class DeepSeek(ReaderCase):
    def test_calls_and_results_count_where_their_id_comes_first(self) -> None:
        call = {"type": "tool-call", "id": "c1", "name": "read", "arguments": '{"p":1}'}
        result = {
            "type": "tool-result",
            "toolCallId": "c1",
            "content": [{"type": "text", "text": "x"}],
            "isError": True,
        }
        turns = self.build(
            "session.jsonl",
            lines(
                {"type": "session", "id": "session-7", "createdAt": 1, "cwd": "/work/shop", "seedLength": 1},
                {
                    "type": "user/message",
                    "seq": 0,
                    "time": 1780308001000,
                    "data": {"content": "Go.", "source": {"kind": "user"}},
                },
                {
                    "type": "user/message",
                    "seq": 1,
                    "time": 1780308001000,
                    "data": {"content": "env", "source": {"kind": "plugin"}},
                },
                {"type": "assistant/chunk", "seq": 2, "data": {"chunk": {"text": "x"}}},
                {
                    "type": "assistant/message",
                    "seq": 3,
                    "data": {"message": {"content": [{"type": "reasoning", "text": "hm"}, call]}},
                },
                {"type": "tool/call", "seq": 4, "data": {"callId": "c1", "name": "read", "arguments": '{"p":1}'}},
                {"type": "tool/call", "seq": 5, "data": {"callId": "c2", "name": "ls", "arguments": {}}},
                {"type": "tool/result", "seq": 6, "time": 1780308002000, "data": {"message": {"content": [result]}}},
                {"type": "tool/result", "seq": 7, "data": {"message": {"content": [result]}}},
                {"type": "surfaceOp", "seq": 8, "data": {}},
            ),
        )
        self.assertEqual(
            said(turns),
            [
                ("USER", "text", "Go."),
                ("OTHER", "notice", "env"),
                ("THOUGHT", "thinking", "hm"),
                ("TOOL", "tool_call", '{"p":1}'),
                ("TOOL", "tool_call", "{}"),
                ("TOOL", "tool_result", "x"),
            ],
        )
        self.assertTrue(turns[5]["error"])
        self.assertEqual(self.fates(), (5, 2, 3, 0))


class Aider(ReaderCase):
    def test_runs_prompts_console_and_answers(self) -> None:
        history = (
            "before\n# aider chat started at 2026-06-01 10:00:00\n> Aider v1  \n\n>\n> again\n"
            "#### one  \n####   two\n####\n\nanswer\n\n> edited\n\n"
            "# aider chat started at 2026-06-01 11:00:00\n#### "
        ).replace("\n", "\r\n")
        turns = self.build("shop/.aider.chat.history.md", history)
        self.assertEqual(
            said(turns),
            [
                ("OTHER", "system", "before"),
                ("OTHER", "notice", "Aider v1"),
                ("OTHER", "notice", "again"),
                ("USER", "text", "one\n  two"),
                ("AGENT", "text", "answer"),
                ("OTHER", "notice", "edited"),
            ],
        )
        self.assertEqual([turn["ts"] for turn in turns], ["", *["2026-06-01 10:00:00"] * 5])
        self.assertNotIn("utc", turns[1])
        self.assertEqual(self.fates(), (6, 0, 3, 0))
        self.assertEqual((self.manifest["session"], self.manifest["project"]), ("aider-shop", "shop"))
        with open(f"{self.root}/shop/.aider.chat.history.md", "rb") as opened:
            data = opened.read()
        self.assertTrue(all(data[turn["byte"] :].startswith((b"b", b">", b"#", b"a")) for turn in turns))

    def test_marks_inside_a_fence_of_the_answer_are_the_answer(self) -> None:
        history = "# aider chat started at 2026-06-01 10:00:00\n#### ```\nsee\n~~~\n#### no\n> no\n~~~\n#### yes\n"
        turns = self.build("shop/.aider.chat.history.md", history)
        self.assertEqual(
            said(turns),
            [("USER", "text", "```"), ("AGENT", "text", "see\n~~~\n#### no\n> no\n~~~"), ("USER", "text", "yes")],
        )


class Hostile(ReaderCase):
    def test_values_of_any_type_in_any_place_end_in_no_traceback(self) -> None:
        odd: list[Any] = [
            None,
            True,
            7,
            1.5,
            "",
            "x",
            [],
            [None],
            [[]],
            {},
            {"type": "text"},
            [{"type": 3}],
            {"a": [1]},
        ]
        dice = random.Random(3)
        templates: list[tuple[str, list[dict[str, Any]]]] = [
            ("cursor", [{"role": "user", "message": {"content": 0}}]),
            ("copilot", [event(1, kind) for kind in COPILOT_KINDS]),
            (
                "gemini",
                [HEADER, message("m1", "gemini", 0, thoughts=0, toolCalls=0, tokens=0), {"$set": 0}, {"$rewindTo": 0}],
            ),
            ("goose", [{"role": "user", "created": 1, "content": 0, "metadata": 0}]),
            ("dsh", [{"type": kind, "seq": 1, "data": 0} for kind in DSH_KINDS]),
        ]
        for name, records in templates:
            for round_ in range(15):
                spoiled = [spoil(record, odd, dice) for record in records for _ in range(3)]
                data = lines(*spoiled, {"role": "user", "text": "end"})
                self.write(f"{name}{round_}.jsonl", data)
                result = self.run_here("build", f"{name}{round_}.jsonl", "--from", name, "--out", f"o{name}{round_}")
                with self.subTest(name, round=round_):
                    self.assertIn(result.code, (0, 4), result.err + json.dumps(spoiled))


COPILOT_KINDS = (
    "session.start", "user.message", "assistant.message", "assistant.reasoning", "tool.execution_start",
    "tool.execution_complete", "session.usage_record", "system.message", "session.error", "abort",
)  # fmt: skip
DSH_KINDS = ("session", "user/message", "assistant/message", "tool/call", "tool/result")
INNER = (
    "content", "attachments", "toolRequests", "result", "error", "usage", "context", "message", "source", "callId",
    "toolCallId", "arguments", "name", "text", "id", "type", "reasoningText", "success", "shellExecution",
)  # fmt: skip


def spoil(record: dict[str, Any], odd: list[Any], dice: random.Random) -> dict[str, Any]:
    """Return a record with odd values in some of its places."""
    spoiled = {key: dice.choice(odd) if dice.random() < 0.3 else value for key, value in record.items()}
    for key in ("data", "message", "content"):
        if key in spoiled and dice.random() < 0.8:
            inner = {name: dice.choice(odd) for name in dice.sample(INNER, 6)}
            spoiled[key] = [inner, {"type": dice.choice(PART_KINDS), **inner}] if key == "content" else inner
    return spoiled


PART_KINDS = (
    "text",
    "toolRequest",
    "toolResponse",
    "tool_use",
    "tool_result",
    "tool-call",
    "tool-result",
    "image",
    "file",
)
