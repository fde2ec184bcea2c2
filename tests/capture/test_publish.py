"""A build is published whole or not at all, whatever ends it (reliability.md P40, P45)."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import unittest
from typing import TYPE_CHECKING, Any
from unittest import mock

from handoff_core.capture import store

from tests.capture.vector_cases import Fileset, World, tree
from tests.faults.faulty import failing, faulty_os

if TYPE_CHECKING:
    from tests.support import Result

HAS_FORK = hasattr(os, "fork")
KILLED = 9
STORE = os.path.join(".scratch", "handoffs")


def line(number: int, role: str, text: str) -> str:
    ts = f"2026-05-01T09:00:{number:02d}Z"
    return json.dumps({"ts": ts, "role": role, "text": text, "session": "s"}) + "\n"


FIRST = line(1, "user", "Please move the invoices to the archive.") + line(2, "assistant", "Moved twelve of them.")
SECOND = FIRST + line(3, "user", "And the rest?") + line(4, "assistant", "All of them are in the archive.")


@unittest.skipUnless(HAS_FORK, "needs forked children")
class Killed(unittest.TestCase):
    """A forked child ends at the k-th call, for k = 1, 2, 3 … until a build gets through."""

    def setUp(self) -> None:
        self.world = World(self, {})
        self.put(FIRST)

    def put(self, text: str) -> None:
        with open(self.world.at("s.jsonl"), "w", encoding="utf-8") as opened:
            opened.write(text)

    @property
    def folder(self) -> str:
        return self.world.at(os.path.join(STORE, "projects", "unsorted", "s"))

    def killed_at(self, call: int) -> bool:
        """Run a build in a child that ends at the given call; say whether it got so far."""
        child = os.fork()
        if child == 0:
            self.run_child(call)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status) == KILLED

    def run_child(self, call: int) -> None:
        """End without any clean-up, as a killed process does."""
        code = 1
        try:
            with faulty_os(call, lambda *_: os._exit(KILLED)):
                code = self.world.build("s.jsonl")[0].code
        finally:
            os._exit(code)

    def whole(self) -> Fileset | None:
        """Return the fileset if there is one; it must be whole."""
        if not os.path.isdir(self.folder):
            return None
        made = Fileset(self.folder)
        self.assertEqual(list(made.problems()), [])
        return made

    def test_a_first_build_leaves_nothing_or_a_fileset_that_verifies(self) -> None:
        for call in range(1, 2000):
            if not self.killed_at(call):
                break
            made = self.whole()
            self.assertIn(len(made.turns) if made else 2, (2,))
        else:
            self.fail("no build got through")
        self.assertGreater(call, 20)
        self.check_end(2)

    def test_a_later_build_leaves_the_old_fileset_or_the_new_one(self) -> None:
        self.assertEqual(self.world.build("s.jsonl")[0].code, 0)
        self.put(SECOND)
        for call in range(1, 2000):
            if not self.killed_at(call):
                break
            made = self.whole()
            if made is None:
                # Killed between the two renames: the old one stands beside its place, and the next build takes it back.
                self.assertTrue([name for name in os.listdir(os.path.dirname(self.folder)) if name.startswith(".old-")])
            else:
                self.assertIn(len(made.turns), (2, 4))
        else:
            self.fail("no build got through")
        self.check_end(4)

    def check_end(self, turns: int) -> None:
        """Hold the last build to be whole, and to have swept what the killed ones left."""
        done, _ = self.world.build("s.jsonl")
        self.assertEqual(done.code, 0, done.err)
        made = self.whole()
        self.assertEqual(len(made.turns) if made else 0, turns)
        self.assertEqual(self.world.run("verify", self.folder).code, 0)
        names = [name for folder, _, names in os.walk(self.world.at(STORE)) for name in (*names, folder)]
        self.assertEqual([name for name in names if ".tmp-" in name or ".old-" in name], [])
        index = json.loads(self.read(os.path.join(STORE, "INDEX.json")))
        self.assertEqual([(entry["session"], entry["turns"]) for entry in index], [("s", turns)])

    def read(self, name: str) -> str:
        with open(self.world.at(name), encoding="utf-8") as opened:
            return opened.read()


class Failing(unittest.TestCase):
    """A call of the system fails: exit 1, one line, and the old fileset stays as it is."""

    def setUp(self) -> None:
        self.world = World(self, {})
        self.put(FIRST)
        self.assertEqual(self.world.build("s.jsonl")[0].code, 0)
        self.put(SECOND)
        self.folder = self.world.at(os.path.join(STORE, "projects", "unsorted", "s"))

    def put(self, text: str) -> None:
        with open(self.world.at("s.jsonl"), "w", encoding="utf-8") as opened:
            opened.write(text)

    def test_no_space_at_any_call_leaves_the_old_fileset_or_a_whole_new_one(self) -> None:
        old = tree(self.folder)
        for call in range(1, 2000):
            with faulty_os(call, failing(errno.ENOSPC)) as fault:
                done, _ = self.world.build("s.jsonl")
            self.assertNotIn("internal error", done.err)
            if not fault.hit:
                break
            if done.code == 0 or tree(self.folder) != old:
                made = Fileset(self.folder)
                self.assertEqual((list(made.problems()), len(made.turns)), ([], 4), fault.names[-1])
                self.rewind()
                old = tree(self.folder)
        self.assertEqual(self.world.build("s.jsonl")[0].code, 0)

    def rewind(self) -> None:
        """Put the first state back."""
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        self.put(FIRST)
        self.assertEqual(self.world.build("s.jsonl")[0].code, 0)
        self.put(SECOND)

    def test_an_interrupted_build_changes_nothing(self) -> None:
        before = tree(self.world.project)
        with mock.patch.object(store.Workspace, "publish", side_effect=KeyboardInterrupt):
            done, _ = self.world.build("s.jsonl")
        self.assertEqual((done.code, done.out), (130, ""))
        self.assertEqual(tree(self.world.project), before)

    @unittest.skipUnless(hasattr(signal, "pthread_sigmask"), "needs POSIX signals")
    def test_a_signal_during_the_swap_waits_until_the_build_is_done(self) -> None:
        real = os.rename
        sent: list[str] = []

        def rename(source: str, target: str) -> None:
            real(source, target)
            if ".old-" in target and not sent:
                sent.append(target)
                os.kill(os.getpid(), signal.SIGINT)

        with mock.patch.object(os, "rename", rename):
            done, report = self.world.build("s.jsonl")
        self.assertTrue(sent)
        self.assertEqual((done.code, report["turns"]), (0, 4))


class Sweeping(unittest.TestCase):
    def setUp(self) -> None:
        self.world = World(self, {})
        with open(self.world.at("s.jsonl"), "w", encoding="utf-8") as opened:
            opened.write(FIRST)
        self.store = self.world.at(STORE)

    def make(self, *parts: str) -> str:
        path = os.path.join(self.store, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as opened:
            opened.write("x")
        return path

    def build(self) -> Result:
        done, _ = self.world.build("s.jsonl")
        self.assertEqual(done.code, 0, done.err)
        return done

    def test_folders_of_killed_builds_go_and_everything_of_a_persons_stays(self) -> None:
        mark = "0123456789abcdef"
        gone = [self.make(f".tmp-build-{mark}", "f"), self.make("projects", "p", f".tmp-s-{mark}", "f")]
        kept = [
            self.make(".tmp-notes", "f"),
            self.make(f".tmp-build-{mark}x", "f"),
            self.make(f".tmp-deep-{mark}", "inner", "f"),
            self.make(f".tmp-file-{mark}"),
            self.make("projects", "p", "tmp-s", "f"),
        ]
        outside = self.make("elsewhere", "f")
        os.symlink(os.path.dirname(outside), os.path.join(self.store, f".tmp-link-{mark}"))
        self.build()
        self.assertEqual([path for path in gone if os.path.exists(path)], [])
        self.assertEqual([path for path in (*kept, outside) if not os.path.exists(path)], [])
        self.assertTrue(os.path.islink(os.path.join(self.store, f".tmp-link-{mark}")))

    def test_an_old_fileset_without_its_place_goes_back_and_one_with_it_goes(self) -> None:
        self.build()
        folder = os.path.join(self.store, "projects", "unsorted", "s")
        aside = os.path.join(os.path.dirname(folder), ".old-s-0123456789abcdef")
        os.rename(folder, aside)
        done, report = self.world.build("s.jsonl")
        self.assertEqual((done.code, report["status"]), (0, "up-to-date"))
        os.mkdir(aside)
        self.build()
        self.assertFalse(os.path.exists(aside))

    def test_without_the_lock_nothing_is_swept_and_that_is_said(self) -> None:
        left = self.make(".tmp-build-0123456789abcdef", "f")
        os.mkdir(os.path.join(self.store, ".lock"))
        self.assertIn("going on without it", self.build().err)
        self.assertTrue(os.path.exists(left))

    @unittest.skipIf(os.name == "nt", "needs POSIX modes")
    def test_files_and_folders_are_the_owners_alone_whatever_the_umask(self) -> None:
        for mask, file_mode, folder_mode in ((0o022, 0o600, 0o700), (0, 0o600, 0o700), (0o777, 0o600, 0o700)):
            with self.subTest(umask=oct(mask)):
                out = self.world.at(f"out-{mask}")
                before = os.umask(mask)
                try:
                    done, _ = self.world.build("s.jsonl", "--out", out)
                finally:
                    os.umask(before)
                self.assertEqual(done.code, 0, done.err)
                self.assertEqual(stat.S_IMODE(os.stat(out).st_mode), folder_mode)
                modes = {stat.S_IMODE(os.stat(os.path.join(out, name)).st_mode) for name in os.listdir(out)}
                self.assertEqual(modes, {file_mode})


class Index(unittest.TestCase):
    def test_a_lost_index_comes_back_and_notes_below_the_line_stay(self) -> None:
        world = World(self, {})
        with open(world.at("s.jsonl"), "w", encoding="utf-8") as opened:
            opened.write(FIRST)
        self.assertEqual(world.build("s.jsonl")[0].code, 0)
        index, page = (
            world.at(os.path.join(STORE, *parts)) for parts in (("INDEX.json",), ("projects", "unsorted", "PROJECT.md"))
        )
        os.unlink(index)
        with open(page, "ab") as opened_page:
            opened_page.write(b"\xff own notes\r\n")
        done, report = world.build("s.jsonl")
        self.assertEqual((done.code, report["status"]), (0, "up-to-date"))
        with open(index, encoding="utf-8") as opened:
            entries: list[dict[str, Any]] = json.load(opened)
        self.assertEqual(
            list(entries[0]),
            ["id", "session", "project", "harness", "turns", "revision", "updated", "path", "manifest_sha256"],
        )
        with open(page, "rb") as opened_page:
            data = opened_page.read()
        self.assertEqual(
            data,
            b"# Project: `unsorted`\n\n"
            b"| session | harness | turns | revision | updated | objective |\n"
            b"| --- | --- | ---: | ---: | --- | --- |\n"
            b"| `s` | unknown | 2 | 1 | 2026-06-01T12:00:00Z | Please move the invoices to the archive. |\n\n"
            b"<!-- notes below this line are kept -->\n\xff own notes\r\n",
        )


if __name__ == "__main__":
    unittest.main()
