"""What the allow hook approves is one start of the script in every shell, and nothing else (hooks.md 3.4).

Approved commands are mutated with what shells interpret, the hook is asked about each, and what it approves is run in
bash, zsh and sh with a recorder in the place of `python3`. HANDOFF_FUZZ=N makes N times as many; the seed is printed.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import unittest

from tests.hooks.project import allow_judge, project
from tests.hooks.sandbox import MISSING, RECORDER, SHELLS, run, snapshot

TIMES = int(os.environ.get("HANDOFF_FUZZ", "1"))
SEED = 20_260
MUTANTS = 30_000
MOST_RUN = 160
SEEDS = (
    "python3 scripts/handoff.py route",
    "python3 scripts/handoff.py route --req-id REQ-7 --all --explain=x",
    "python3 scripts/handoff.py latest --type 'design block' --pretty",
    'python3 scripts/handoff.py latest --type="design-block" --req-id a@b',
    "python3 scripts/handoff.py view --html docs/a.html -v --since 2026-01-01T00:00:00Z",
    "python3 scripts/handoff.py verify .scratch/handoffs/s-1 --json",
    "python3 scripts/handoff.py show --last -1 --json",
    "python3 scripts/handoff.py --version",
    "python3 scripts/handoff.py append t <<'EOF'\n{\"a\": \"$(touch X) `id` \\\\ 'q'\"}\nEOF",
    'python3 scripts/handoff.py append build-pass --dry-run <<"END_1"\n{}\nEND\nEND_1\n',
    "python3 scripts/handoff.py append t <<'EOF'\n\nEOF\n \n\t",
)
PIECES = (
    " ", "\t", "\n", "\r", "\v", "\f", "\0", "\x1b", "\x7f", "\x85", "\u00a0", "\u2028", "\u200b", "\uff1b", "é", ";", "&", "&&", "|", "||",
    "|&", "&!", ">", ">>", ">|", ">&2", "2>&1", "&>x", "<", "<<", "<<<x", "<<-", "<(id)", ">(id)", "=(id)", "(", ")", "{", "}", "{a,b}",
    "{1..3}", "$", "$x", "${x}", "$(id)", "`id`", "$((1))", "$'x'", '$"x"', "'", '"', "''", '""', "\\", "\\\n", "*", "?", "[a-z]", "**",
    "~", "~root", "~+", "!", "!!", "!x", "^a^b", "#", " # x", "%", "%1", "=", "=ls", "+", "@", ":", ",", "-", "--", "-h", "--help",
    "--file x", "--root=..", "EOF", "\nEOF", "EOF\n", "\nEOF\n", " EOF", "'EOF'", '"EOF"', "\\EOF", "$EOF", "END_1", "; touch X", "\ntouch X",
    "& touch X", "| sh", "touch X", "x=1 ", "env ", "sudo ", "time ", "exec ", "command ", "\\", "1>", "3<<'EOF'", "{v}<<'EOF'", "../x", "/",
    "//", "./", "python3", "scripts/handoff.py", "route", "append", "t", "a b", "0", "'a b'", '"a b"', "--type", "--req-id", "--x='y'", "-1",
)  # fmt: skip


def mutant(chosen: random.Random) -> str:
    """Return an approved command with one to four pieces put in, taken out, doubled or moved."""
    text = chosen.choice(SEEDS)
    for _ in range(chosen.choice((1, 1, 1, 2, 2, 3, 4))):
        at = chosen.randrange(len(text) + 1)
        to = min(len(text), at + chosen.randrange(6))
        kind = chosen.randrange(5)
        if kind == 0:
            text = text[:at] + text[to:]
        elif kind == 1:
            text = text[:to] + text[at:]
        elif kind == 2:
            text = text[:at] + chosen.choice(PIECES) + text[to:]
        else:
            text = text[:at] + chosen.choice(PIECES) + text[at:]
    return text


def expected(command: str, words: list[str], has_body: bool, root: str) -> bytes:
    """Return what the recorder must have written after exactly one start with these words and this stdin."""
    body = b""
    if has_body:
        line, _, rest = command.partition("\n")
        tag = line.rstrip(" \t").rstrip("'\"")
        tag = tag[max(tag.rfind("'"), tag.rfind('"')) + 1 :]
        body = (("\n" + rest + "\n").partition("\n" + tag + "\n")[0][1:] + "\n").encode("utf-8", "surrogatepass")
        body = b"" if body == b"\n" and not ("\n" + rest).startswith("\n\n") else body
    record = b"".join(one.encode() + b"\0" for one in [root, "scripts/handoff.py", *words])
    return record + b"stdin\0" + body + b"\0end\0"


class AllowFuzz(unittest.TestCase):
    def approved(self, root: str) -> list[tuple[str, list[str], bool]]:
        """Return the approved ones among the seeds and their mutants, each once, the mutants in random order."""
        chosen = random.Random(SEED)
        found: dict[str, tuple[str, list[str], bool]] = {}
        for count in range(MUTANTS * TIMES + len(SEEDS)):
            command = SEEDS[count] if count < len(SEEDS) else mutant(chosen)
            parsed = allow_judge.parse(command)
            if parsed and allow_judge.is_sanctioned(*parsed, root):
                found[command] = (command, *parsed)
        return list(found.values())

    def test_whatever_is_approved_is_one_start_of_the_script_and_nothing_else(self) -> None:
        holder = tempfile.mkdtemp(prefix="handoff-record-")
        self.addCleanup(shutil.rmtree, holder)
        recorder, record = os.path.join(holder, "python3"), os.path.join(holder, "record")
        with open(recorder, "w", encoding="utf-8") as opened:
            opened.write(RECORDER)
        os.chmod(recorder, 0o755)
        variables = {"PATH": holder + ":/usr/bin:/bin", "RECORD": record}
        with project() as root:
            found = self.approved(root)
            self.assertGreater(len(found), 300, "too few mutants are approved to prove anything")
            before = snapshot(os.path.dirname(root))
            for number, (command, words, has_body) in enumerate(found[: MOST_RUN * TIMES]):
                for shell in SHELLS if TIMES > 1 else (SHELLS[number % len(SHELLS)],):
                    with self.subTest(seed=SEED, shell=shell, command=command):
                        run(shell, command, root, variables)
                        with open(record, "rb") as opened:
                            written = opened.read()
                        os.remove(record)
                        if shell != "sh" or command.isascii():  # dash drops some bytes of quoted heredocs
                            self.assertEqual(written, expected(command, words, has_body, root))
                        self.assertEqual(snapshot(os.path.dirname(root)), before)

    def test_every_shell_is_here(self) -> None:
        if MISSING:
            self.skipTest(f"{', '.join(MISSING)} is missing: approved commands were not run in it")
