"""Set up, run and judge one vector of `tests/data/ledger.jsonl` (ledger.md 14).

A vector runs in this process where that shows the same; one that needs a terminal, a redirection, another locale or
several processes starts the program.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import TYPE_CHECKING, Any
from unittest import mock

from tests.support import REPOSITORY, Result, run, shared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENTRY = os.path.join(REPOSITORY, "scripts", "handoff.py")
LAYOUT = """test_name_pattern = '^[a-z][A-Za-z0-9_]*$'

[gate]
verbs = ["handoff-log", "deps", "format", "lint", "test", "build", "autofix-audit", "contracts-sync"]
"""
OUTSIDE = ("stdin_tty", "stdout_tty", "redirect", "env", "parallel", "follow", "file_size_limit")
"""Keys of vectors that need processes of their own."""

Vector = dict[str, Any]


class VectorCase:
    """One vector in a fresh folder; `test` makes the assertions."""

    def __init__(self, test: unittest.TestCase, vector: Vector, folder: str) -> None:
        self.test = test
        self.vector = vector
        self.folder = folder
        self.log = self.path(vector.get("log_path", ".scratch/handoff.jsonl"))
        self.seal = self.log.removesuffix(".jsonl") + ".seal"

    def path(self, relative: str) -> str:
        return os.path.join(self.folder, relative)

    def go(self) -> None:
        """Set the vector up, run it and judge what it left."""
        self.set_up()
        self.log_before, self.seal_before = read(self.log), read(self.seal)
        with self.lock_held():
            tree = self.snapshot()
            self.started = time.time()
            results = self.results()
        for result in results:
            self.judge_output(self.vector["expect"], result)
        self.judge_files(self.vector["expect"], tree)

    # Set-up

    def set_up(self) -> None:
        vector = self.vector
        for relative in vector.get("directories", []):
            os.makedirs(self.path(relative), exist_ok=True)
        for relative, target in vector.get("symlinks", {}).items():
            os.makedirs(os.path.dirname(self.path(relative)), exist_ok=True)
            os.symlink(target, self.path(relative))
        if not vector.get("bare") and not os.path.lexists(self.path(".scratch")):
            os.mkdir(self.path(".scratch"))
        layout = vector.get("layout", LAYOUT)
        if layout is not None:
            write(self.path("scripts/layout.toml"), layout)
        if "layout_b64" in vector:
            write(self.path("scripts/layout.toml"), base64.b64decode(vector["layout_b64"]))
        self.set_up_schemas(vector.get("schemas"))
        for relative, text in vector.get("files", {}).items():
            write(self.path(relative), text)
        if "git" in vector:
            self.set_up_git(vector["git"])
        data = self.log_bytes()
        if data is not None:
            write(self.log, data)
        if "seal_before" in vector:
            write(self.seal, vector["seal_before"])
        for step in vector.get("prepare", []):
            self.step(step)

    def set_up_schemas(self, schemas: Any) -> None:
        if schemas is None:
            shutil.copytree(os.path.join(REPOSITORY, "schemas"), self.path("schemas"))
        elif schemas != "shipped":
            os.makedirs(self.path("schemas/scratch"))
            for name, content in schemas.items():
                text = content if isinstance(content, str) else json.dumps(content)
                write(self.path("schemas/scratch/" + name), text)

    def set_up_git(self, spec: dict[str, Any]) -> None:
        self.git("init", "-q")
        if spec.get("committed"):
            for relative, text in spec["committed"].items():
                write(self.path(relative), text)
            self.git("add", "-f", "--", *spec["committed"])
            self.git("commit", "-q", "-m", "base", date=spec.get("commit_date", "2026-01-01T00:00:00Z"))
        for relative, text in spec.get("worktree", {}).items():
            write(self.path(relative), text)
        for relative in spec.get("deleted", []):
            os.unlink(self.path(relative))
        if spec.get("staged"):
            self.git("add", "-A")

    def git(self, *arguments: str, date: str = "2026-01-01T00:00:00Z") -> None:
        who = {f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "t"), ("EMAIL", "t@example.invalid"), ("DATE", date))}  # fmt: skip
        fixed = ("-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *fixed, *arguments], cwd=self.folder, check=True, capture_output=True,
            env={**os.environ, **self.environment(), **who})  # fmt: skip

    def log_bytes(self) -> bytes | None:
        vector = self.vector
        if "log_before_raw" in vector:
            return bytes(vector["log_before_raw"].encode())
        if "log_before_b64" in vector:
            return base64.b64decode(vector["log_before_b64"])
        if "log_from" in vector:
            return shared_bytes(vector["log_from"])
        lines = vector.get("log_before", [])
        if lines or vector.get("log_exists"):
            dumped = (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
            return "".join(line + "\n" for line in dumped).encode()
        return None

    def step(self, step: dict[str, Any]) -> None:
        """Take one preparation: a run of the program, or an edit of a file."""
        if "command" in step:
            result = self.run_inside(step["command"], step.get("stdin", "").encode())
            self.test.assertEqual(result.code, step.get("exit", 0), result.err)
            return
        ((kind, arguments),) = step.items()
        if kind == "delete":
            os.unlink(self.path(arguments))
            return
        path = self.path(arguments["path"])
        write(path, EDITS[kind](read(path) or b"", arguments))

    def environment(self) -> dict[str, str]:
        return {"HOME": self.folder, "LC_ALL": "C.UTF-8", "TZ": "America/St_Johns", "PYTHONDONTWRITEBYTECODE": "1",
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": os.path.dirname(self.folder), **self.vector.get("env", {})}  # fmt: skip

    # Running

    def results(self) -> list[Result]:
        vector = self.vector
        data = base64.b64decode(vector["stdin_b64"]) if "stdin_b64" in vector else vector.get("stdin", "").encode()
        if "stdin_fill" in vector:
            data = filled(vector["stdin_fill"])
        if "replay" in vector:
            return self.replay(vector["replay"], vector["expect"]["refused"])
        if not any(key in vector for key in OUTSIDE):
            return [self.run_inside(vector["command"], data)]
        return self.run_outside(vector, data)

    def run_inside(self, command: list[str], data: bytes) -> Result:
        with mock.patch.dict(os.environ, self.environment()):
            return run(*command, stdin=data, cwd=self.path(self.vector.get("cwd", ".")))

    def run_outside(self, vector: Vector, data: bytes) -> list[Result]:
        if os.name != "posix":
            raise unittest.SkipTest("needs terminals and shell redirection")
        if "stdin_tty" in vector:
            return [self.with_terminal("stdin")]
        if "stdout_tty" in vector:
            return [self.with_terminal("stdout")]
        if "follow" in vector:
            return [self.follow(vector["follow"])]
        processes = [self.start(stdin=subprocess.PIPE) for _ in range(vector.get("parallel", 1))]
        for process in processes:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(data)  # type: ignore[union-attr]
                process.stdin.close()  # type: ignore[union-attr]
            process.stdin = None
        return [finished(process) for process in processes]

    def start(self, **streams: Any) -> subprocess.Popen[bytes]:
        command = [sys.executable, ENTRY, *self.vector["command"]]
        if "redirect" in self.vector:
            command = ["sh", "-c", 'exec "$@" ' + self.vector["redirect"], "sh", *command]
        if "file_size_limit" in self.vector:
            blocks = self.vector["file_size_limit"]
            lower = f"import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({blocks}, {blocks})); "
            command = [sys.executable, "-c", lower + "os.execv(sys.argv[1], sys.argv[1:])", *command]
        environment = {"PATH": os.environ.get("PATH", os.defpath), **self.environment()}
        where = self.path(self.vector.get("cwd", "."))
        opened = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        return subprocess.Popen(command, cwd=where, env=environment, **opened)

    def with_terminal(self, name: str) -> Result:
        """Run with a terminal as stdin or stdout; its CR LF is read as LF."""
        import pty

        leader, follower = pty.openpty()
        process = self.start(**{"stdin": subprocess.DEVNULL, name: follower})
        os.close(follower)
        output = b""
        with contextlib.suppress(OSError):
            while name == "stdout" and (block := os.read(leader, 65_536)):
                output += block
        result = finished(process)
        os.close(leader)
        return result._replace(out=output.decode().replace("\r\n", "\n")) if name == "stdout" else result

    def follow(self, plan: dict[str, Any]) -> Result:
        """Start, wait for the first output, take the steps, wait for the last output, interrupt."""
        process = self.start(stdin=subprocess.DEVNULL)
        output: dict[str, bytes] = {"stdout": b"", "stderr": b""}

        def pump(name: str) -> None:
            stream = getattr(process, name)
            while block := os.read(stream.fileno(), 65_536):
                output[name] += block

        threads = [threading.Thread(target=pump, args=(name,)) for name in output]
        for thread in threads:
            thread.start()

        def wait_for(text: str) -> None:
            deadline = time.monotonic() + 10
            while text.encode() not in output["stdout"] + output["stderr"]:
                self.test.assertLess(time.monotonic(), deadline, f"no {text!r} in {output}")
                time.sleep(0.01)

        try:
            wait_for(plan["ready"]) if plan.get("ready") else time.sleep(0.5)
            for step in plan["steps"]:
                wait_for(step["wait"]) if "wait" in step else self.step(step)
            wait_for(plan["until"])
            process.send_signal(signal.SIGINT)
            process.wait(timeout=10)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            for thread in threads:
                thread.join()
            for stream in (process.stdout, process.stderr):
                stream.close()  # type: ignore[union-attr]
        return Result(process.returncode, output["stdout"].decode(), output["stderr"].decode())

    def replay(self, name: str, refused: dict[str, Any]) -> list[Result]:
        """Append a real ledger record by record; a refused record is added raw, so that line numbers stay."""
        for number, line in enumerate(shared_bytes(name).split(b"\n")[:-1], 1):
            record = json.loads(line)
            engine = ["--as-engine"] if record.get("author") == "review-plan-engine" else []
            result = self.run_inside(["append", record["type"], *engine], line)
            if str(number) in refused:
                wanted = {"exit": 1, "stdout_equals": "", "stderr_contains": refused[str(number)]}
                self.judge_output(wanted, result)
                write(self.log, (read(self.log) or b"") + line + b"\n")
            else:
                receipt = f"appended {record['type']} at line {number}\n"
                self.judge_output({"exit": 0, "stdout_equals": receipt}, result)
        return []

    @contextlib.contextmanager
    def lock_held(self) -> Iterator[None]:
        """Hold the lock as another process would, until the run ends or the stated seconds are over."""
        spec = self.vector.get("hold_lock")
        if not spec:
            yield
            return
        fcntl = __import__("fcntl")
        path = self.log.removesuffix(".jsonl") + ".lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(descriptor, fcntl.LOCK_SH if spec["mode"] == "shared" else fcntl.LOCK_EX)
        timer = threading.Timer(spec.get("seconds", 60), fcntl.flock, (descriptor, fcntl.LOCK_UN))
        timer.start()
        clock = contextlib.nullcontext() if "seconds" in spec else mock.patch("handoff_core.ledger.time", FastClock())
        try:
            with clock:
                yield
        finally:
            timer.cancel()
            timer.join()
            os.close(descriptor)

    # Judging

    def judge_output(self, expect: dict[str, Any], result: Result) -> None:
        test = self.test
        test.assertNotIn("Traceback (most recent call last)", result.err)
        test.assertEqual(result.code, expect["exit"], result.err[-300:])
        if result.code != 2:
            strays = [line for line in result.err.split("\n")[:-1] if not line.startswith("handoff.py: ")]
            test.assertEqual(strays, [])
            test.assertTrue(result.err.endswith("\n") or not result.err)
        for name, got in (("stdout", result.out), ("stderr", result.err)):
            if name + "_equals" in expect:
                test.assertEqual(got, expect[name + "_equals"])
            for wanted in listed(expect.get(name + "_contains", [])):
                test.assertIn(wanted, got)
            for unwanted in listed(expect.get(name + "_not_contains", [])):
                test.assertNotIn(unwanted, got)
            for pattern in listed(expect.get(name + "_matches", [])):
                test.assertRegex(got, pattern)
        self.judge_json(expect, result.out)

    def judge_json(self, expect: dict[str, Any], out: str) -> None:
        if "stdout_json" in expect:
            self.agrees(expect["stdout_json"], json.loads(out))
        if "stdout_json_lines" in expect:
            lines = out.split("\n")[:-1]
            self.test.assertEqual(len(lines), len(expect["stdout_json_lines"]))
            for wanted, line in zip(expect["stdout_json_lines"], lines, strict=True):
                self.agrees(wanted, json.loads(line))
        if "stdout_keys" in expect:
            self.test.assertEqual(list(json.loads(out)), expect["stdout_keys"])

    def agrees(self, wanted: Any, got: Any) -> None:
        """Assert that `got` has all that `wanted` has: objects may hold more keys, types are exact."""
        if isinstance(wanted, dict) and isinstance(got, dict):
            for key, value in wanted.items():
                self.test.assertIn(key, got)
                self.agrees(value, got[key])
        elif isinstance(wanted, list) and isinstance(got, list):
            self.test.assertEqual(len(wanted), len(got), got)
            for left, right in zip(wanted, got, strict=True):
                self.agrees(left, right)
        else:
            self.test.assertIs(type(wanted), type(got))
            self.test.assertEqual(wanted, got)

    def judge_files(self, expect: dict[str, Any], tree: dict[str, Any]) -> None:
        test, after = self.test, read(self.log)
        if expect.get("log_unchanged"):
            test.assertEqual(after, self.log_before)
        if expect.get("log_absent"):
            test.assertFalse(os.path.lexists(self.log))
        if "log_equals" in expect:
            test.assertEqual(after, expect["log_equals"].encode())
        if "log_after_lines" in expect:
            test.assertEqual((after or b"").count(b"\n"), expect["log_after_lines"])
        if expect.get("log_prefix_kept"):
            test.assertTrue((after or b"").startswith(self.log_before or b""))
        if any(key.startswith("last_") for key in expect):
            self.judge_last(expect, (after or b"").decode().split("\n")[-2])
        if expect.get("tree_unchanged"):
            test.assertEqual(self.snapshot(), tree)
        for relative, text in expect.get("files_after", {}).items():
            test.assertEqual(read(self.path(relative)), None if text is None else text.encode())
        if "seal" in expect:
            self.judge_seal(expect, after or b"")

    def judge_last(self, expect: dict[str, Any], line: str) -> None:
        record = json.loads(line)
        if "last_record" in expect:
            self.agrees(expect["last_record"], record)
        if "last_keys" in expect:
            self.test.assertEqual(list(record), expect["last_keys"])
        if "last_ts_matches" in expect:
            self.test.assertRegex(record["ts"], expect["last_ts_matches"])
        if expect.get("last_ts_is_now"):
            import datetime

            stamp = datetime.datetime.fromisoformat(record["ts"]).timestamp()
            self.test.assertTrue(self.started - 2 <= stamp <= time.time() + 2)
        if "last_line_contains" in expect:
            self.test.assertIn(expect["last_line_contains"], line)

    def judge_seal(self, expect: dict[str, Any], log: bytes) -> None:
        if expect["seal"] == "absent":
            self.test.assertFalse(os.path.lexists(self.seal))
        elif expect["seal"] == "unchanged":
            self.test.assertEqual(read(self.seal), self.seal_before)
        else:
            lines = log.split(b"\n")[:-1]
            covered = lines[: expect.get("seal_lines", len(lines))]
            self.test.assertEqual(read(self.seal), seal_of(covered, set(expect.get("seal_raw", []))))

    def snapshot(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for base, folders, files in os.walk(self.folder):
            if ".git" in folders:
                folders.remove(".git")
            for name in files + folders:
                full = os.path.join(base, name)
                relative = os.path.relpath(full, self.folder)
                found[relative] = os.readlink(full) if os.path.islink(full) else read(full)
        return found


class FastClock:
    """A clock that sleeping moves on, so that ten seconds of waiting take none."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.001)


def seal_of(lines: list[bytes], raw: set[int]) -> bytes:
    """Return the seal of these log lines, written without the program's own code."""
    chain, end, seal = bytes(32), 0, b""
    for number, line in enumerate(lines, 1):
        chain = hashlib.sha256(chain + line + b"\n").digest()
        end += len(line) + 1
        mark = b',"raw":true' if number in raw else b""
        seal += b'{"line":%d,"end":%d,"chain":"%s"%s}\n' % (number, end, chain.hex().encode(), mark)
    return seal


def filled(spec: dict[str, Any]) -> bytes:
    return bytes((spec["head"] + spec["unit"] * spec["times"] + spec["tail"]).encode())


def _replaced(data: bytes, spec: dict[str, Any]) -> bytes:
    old = spec["old"].encode()
    if data.count(old) != 1:
        raise ValueError(f"{old!r} occurs {data.count(old)} times")
    return data.replace(old, spec["new"].encode())


def _without_line(data: bytes, spec: dict[str, Any]) -> bytes:
    lines = data.split(b"\n")
    del lines[spec["line"] - 1]
    return b"\n".join(lines)


def _swapped(data: bytes, spec: dict[str, Any]) -> bytes:
    lines = data.split(b"\n")
    first, second = (line - 1 for line in spec["lines"])
    lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


def _added(data: bytes, spec: dict[str, Any]) -> bytes:
    text = spec["text"] if "text" in spec else json.dumps(spec["record"], ensure_ascii=False) + "\n"
    return data + bytes(text.encode())


EDITS: dict[str, Callable[[bytes, dict[str, Any]], bytes]] = {
    "write": lambda _data, spec: bytes(spec["text"].encode()),
    "fill": lambda _data, spec: filled(spec),
    "add": _added,
    "replace": _replaced,
    "cut": lambda data, spec: data[: -spec["bytes"]],
    "drop_line": _without_line,
    "swap_lines": _swapped,
}


def finished(process: subprocess.Popen[bytes]) -> Result:
    out, err = process.communicate(timeout=60)
    return Result(process.returncode, (out or b"").decode(), (err or b"").decode())


def read(path: str) -> bytes | None:
    """Return the bytes of a regular file, else None."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as opened:
        return opened.read()


def write(path: str, data: str | bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as opened:
        opened.write(data.encode() if isinstance(data, str) else data)


def shared_bytes(name: str) -> bytes:
    with open(shared(*name.split("/")), "rb") as opened:
        return opened.read()


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def run_vector(test: unittest.TestCase, vector: Vector) -> None:
    """Run one vector in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="handoff-vector-") as folder:
        VectorCase(test, vector, os.path.realpath(folder)).go()
