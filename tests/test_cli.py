"""The command line: plain calls and argparse agree, usage errors are exact, help is there for every command."""

from __future__ import annotations

import io
import random
import unittest

from handoff_core import cli
from handoff_core.arguments import command_help, judged_options, usage_line
from handoff_core.errors import UsageError
from handoff_core.text import Streams

from tests.support import REPOSITORY, run

WORDS = ("x", "-", "--", "-5", "-05:00", "a=b", "", "json", "text", "you", "--json", "--req-id", "--at=3", "--explain", "--nonsense",
    "--root", "-v", "-h", "--typ", "--last=0", "--record", "build-pass", "a.md")  # fmt: skip


class PlainCalls(unittest.TestCase):
    def test_a_plain_call_gives_what_argparse_gives_and_argparse_judges_the_rest(self) -> None:
        chance = random.Random(20261201)
        plain = 0
        for _ in range(6_000):
            command = chance.choice(cli.COMMANDS)
            names = [flag.names[0] for flag in command.flags]
            call = [chance.choice((*WORDS, *names, *names)) for _ in range(chance.randrange(6))]
            options = cli.plain_options(command, call)
            if options is None:
                continue
            plain += 1
            streams = Streams(None, io.BytesIO(), io.BytesIO())
            with self.subTest(command=command.name, call=call):
                self.assertEqual(options, judged_options(command, call, streams))
        self.assertGreater(plain, 500)

    def test_the_calls_of_every_day_are_plain(self) -> None:
        calls = (["append", "build-pass"], ["route"], ["route", "--req-id", "R", "--explain"], ["latest", "--type=x"],
            ["validate", "a.jsonl", "b.md", "--strict"], ["show", "--last", "0"], ["view", "--watch"])  # fmt: skip
        for name, *rest in calls:
            command = next(row for row in cli.COMMANDS if row.name == name)
            with self.subTest(name):
                self.assertIsNotNone(cli.plain_options(command, rest))

    def test_an_offset_behind_utc_is_a_value(self) -> None:
        command = next(row for row in cli.COMMANDS if row.name == "view")
        for call in (["--tz", "-05:00"], ["--tz=-05:00"], ["-v", "--tz", "-05:00"]):
            options = cli.plain_options(command, call) or judged_options(command, call, Streams(None, None, None))
            self.assertEqual((options or {})["tz"], "-05:00")


class Usage(unittest.TestCase):
    def test_a_usage_error_is_the_usage_a_line_and_exit_2(self) -> None:
        for argv in ([], ["nonsense"], ["append"], ["append", "a", "b"], ["route", "--req"], ["latest"],
            ["show", "--last", "x"], ["route", "--explain=yes"], ["validate", "--format", "xml"]):  # fmt: skip
            result = run(*argv)
            with self.subTest(argv=argv):
                self.assertEqual((result.code, result.out), (2, ""))
                usage, problem, *rest = result.err.split("\n")
                self.assertTrue(usage.startswith("usage: handoff.py"))
                self.assertTrue(problem.startswith("handoff.py: "))
                self.assertEqual(rest, [""])

    def test_a_shortened_flag_is_refused(self) -> None:
        command = next(row for row in cli.COMMANDS if row.name == "validate")
        with self.assertRaises(UsageError):
            judged_options(command, ["--require-s"], Streams(None, None, None))

    def test_every_command_has_help_and_a_row_in_the_readme(self) -> None:
        with open(f"{REPOSITORY}/README.md", encoding="utf-8") as opened:
            readme = opened.read()
        for command in cli.COMMANDS:
            with self.subTest(command.name):
                result = run(command.name, "--help")
                self.assertEqual((result.code, result.err), (0, ""))
                self.assertEqual(result.out, command_help(command))
                self.assertIn(command.name, usage_line(command))
                self.assertIn(f"`{command.name}", readme)

    def test_the_version_names_the_schemas(self) -> None:
        self.assertRegex(run("--version").out, r"\Ahandoff \d+\.\d+\.\d+ \(schemas \d+\)\n\Z")

    def test_an_unforeseen_error_is_one_line(self) -> None:
        from unittest import mock

        with mock.patch("handoff_core.commands.query.latest", side_effect=ZeroDivisionError("odd\nthing")):
            result = run("latest", "--type", "x")
        self.assertEqual(result.code, 1)
        expected = "internal error: ZeroDivisionError: odd thing (set HANDOFF_DEBUG=1 for a traceback)"
        self.assertEqual(result.err, f"handoff.py: {expected}\n")


if __name__ == "__main__":
    unittest.main()
