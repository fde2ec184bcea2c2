"""The checks of `doctor`, one row each in CHECKS: a function from the site to the lines it has to say.

Follows hooks.md 9. A check reads, starts what `probe` starts, and writes nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import sys
from typing import TYPE_CHECKING

from handoff_core import git, layout
from handoff_core.errors import HandoffError
from handoff_core.jsonl import JsonError, decode
from handoff_core.setup import harnesses, plan, probe, shipped, skills
from handoff_core.setup.files import Problem
from handoff_core.setup.site import FAIL, OK, SKIP, WARN, Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handoff_core.setup.site import Site

BARE_LIMIT = 0.050
"""Seconds that a bare start of Python may take before it is worth a warning."""
HOOK_PYTHON = (3, 9)
PROGRAM_PYTHON = (3, 11)
TYPES = 14

_INSTALL = "run `init`"
_NETWORK = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "fuse.sshfs", "fuse.glusterfs", "lustre")


# python, program, shadow


def python(site: Site) -> Iterator[Result]:
    """Check the Python that hooks are started with, and the `python3` that the sanctioned command names."""
    for command, needed in dict.fromkeys([(site.options.python, HOOK_PYTHON), ("python3", PROGRAM_PYTHON)]):
        yield from _interpreter(site, command, PROGRAM_PYTHON if command == "python3" else needed)
        if command == "python3":
            return


def _interpreter(site: Site, command: str, needed: tuple[int, int]) -> Iterator[Result]:
    words = site.python(command)
    if words is None:
        yield Result("python", FAIL, f"{command} is not on PATH", "install it, or name another with `init --python`")
        return
    ask = [*words, "-I", "-S", "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"]
    reply = probe.start(ask, b"", site.tree.root, {})
    version = reply.out.decode("ascii", "replace").strip()
    if reply.failure or not re.fullmatch(r"\d+\.\d+\.\d+", version):
        yield Result("python", FAIL, f"{command} does not run", "install it, or name another with `init --python`")
        return
    bare = site.bare_start(words)
    text = f"{version} at {words[0]}, bare start {_milliseconds(bare)}"
    if tuple(int(part) for part in version.split(".")[:2]) < needed:
        yield Result("python", FAIL, f"{text}; {needed[0]}.{needed[1]} or later is needed", "install a later Python")
    elif _is_shim(words[0]):
        yield Result("python", WARN, f"{text}; it is a shim", "put the real interpreter first on PATH")
    elif bare > BARE_LIMIT:
        yield Result("python", WARN, f"{text}; hooks run on every shell call", "look for a slow disk or a wrapper")
    else:
        yield Result("python", OK, text)


def _is_shim(path: str) -> bool:
    try:
        with open(path, "rb") as opened:
            script = opened.read(2) == b"#!"
    except OSError:
        script = False
    return script or "WindowsApps" in path or "/shims/" in path.replace("\\", "/")


def program(site: Site) -> Iterator[Result]:
    """Check that `scripts/handoff.py` is there, is no link, answers, and is what was installed."""
    try:
        status = site.tree.status(shipped.ENTRY)
    except Problem as problem:
        yield Result("program", FAIL, f"{shipped.ENTRY} {problem}", f"move it away and {_INSTALL}")
        return
    if status is None:
        text = f"{shipped.ENTRY} is missing: hooks approve nothing else"
        yield Result("program", FAIL, text, _INSTALL)
        return
    version = _version_of(site, [*(site.python("python3") or [sys.executable]), site.tree.full(shipped.ENTRY)])
    if version is None:
        yield Result("program", FAIL, f"{shipped.ENTRY} does not answer --version", f"{_INSTALL} to renew it")
        return
    changed = _changed(site, ("scripts/", "schemas/"))
    other = site.program("handoff")
    elsewhere = _version_of(site, [other]) if other else None
    if changed:
        fix = "`init` shows each, `init --force` renews it"
        yield Result("program", WARN, f"{version}, changed since it was installed: {_list(changed)}", fix)
    elif elsewhere not in (None, version):
        text = f"{version}, but handoff on PATH is {elsewhere}"
        yield Result("program", WARN, text, "upgrade the older one; `handoff init` renews this copy")
    else:
        vendored = site.record is not None and shipped.ENTRY in site.record.files
        state = "vendored copy unmodified" if vendored else "the project's own"
        yield Result("program", OK, f"{version}, {state}")


def _version_of(site: Site, command: list[str]) -> str | None:
    reply = probe.start([*command, "--version"], b"", site.tree.root, {"PYTHONDONTWRITEBYTECODE": "1"})
    found = re.fullmatch(r"handoff (\S+) \(.*\)\s*", reply.out.decode("utf-8", "replace"))
    return found[1] if found and reply.code == 0 else None


def _changed(site: Site, places: tuple[str, ...]) -> list[str]:
    """Return the recorded files in these places whose bytes are not those that were installed."""
    recorded = site.record.files if site.record else {}
    return [
        path
        for path, (digest, _) in recorded.items()
        if path.startswith(places) and hashlib.sha256(site.read(path) or b"").hexdigest() != digest
    ]


def shadow(site: Site) -> Iterator[Result]:
    """Warn of modules beside the entry file that have the name of a standard module."""
    try:
        names = sorted(os.listdir(site.tree.full("scripts")))
    except OSError:
        names = []
    found = [name for name in names if name.removesuffix(".py") in sys.stdlib_module_names]
    if found:
        text = f"scripts/{found[0]} has the name of a standard module; handoff does not import it, other scripts may"
        yield Result("shadow", WARN, text, "give it another name")
    else:
        yield Result("shadow", OK, "no module in scripts/ hides a standard one")


# root, ledger, lock, tracked


def root(site: Site) -> Iterator[Result]:
    """Check that the root and `.scratch` can be used."""
    folder = site.tree.full(".scratch")
    marks = [mark for mark in (".scratch", shipped.ENTRY, ".git") if os.path.lexists(site.tree.full(mark))]
    if os.path.islink(folder):
        yield Result("root", FAIL, ".scratch is a symbolic link: append refuses it", "make it a folder")
    elif os.path.lexists(folder) and not os.path.isdir(folder):
        yield Result("root", FAIL, ".scratch is no folder", "move it away")
    elif not os.access(folder if os.path.isdir(folder) else site.tree.root, os.W_OK | os.X_OK):
        yield Result("root", FAIL, "the folder of the ledger cannot be written to", "mend its permissions")
    elif marks in ([], [".git"]):
        found = "by .git only" if marks else "by nothing: it is the current folder"
        yield Result("root", WARN, f"the root was found {found}", f"{_INSTALL}, or name it with --root")
    else:
        yield Result("root", OK, f"found by {' and '.join(marks)}")


def ledger(site: Site) -> Iterator[Result]:
    """Check the ledger and its seal as `validate` does."""
    path = site.tree.full(layout.LOG_NAME)
    if not os.path.lexists(path):
        yield Result("ledger", OK, "none yet")
        return
    answer = site.validate()
    if answer is None or not answer["valid"]:
        errors = [finding for finding in (answer or {}).get("findings", []) if finding["level"] == "error"]
        first = errors[0] if errors else {"message": "validate gave no answer"}
        where = f"line {first['line']}: " if "line" in first else ""
        more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
        yield Result("ledger", FAIL, f"{where}{first['message']}{more}", "run `validate`")
        return
    codes = {finding["code"] for finding in answer["findings"]}
    text = f"{_count(answer['records'], 'line')}, clean"
    if os.stat(path).st_nlink > 1:
        yield Result("ledger", WARN, f"{text}, but the file has a second hard link", "remove the other name")
    elif "seal-missing" in codes:
        yield Result("ledger", WARN, f"{text}, no seal: edits cannot be seen", "the next append seals it")
    elif "raw-line" in codes or "seal-torn" in codes:
        yield Result("ledger", WARN, f"{text}, some lines were written without append", "run `validate`")
    else:
        yield Result("ledger", OK, f"{text}, sealed to line {answer['sealed']}")


def lock(site: Site) -> Iterator[Result]:
    """Check the lock file, and that the ledger lies where locks work."""
    path = site.tree.full(".scratch/handoff.lock")
    kind = _network(site.tree.root)
    try:
        regular = stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        regular = None
    if regular is False:
        yield Result("lock", FAIL, ".scratch/handoff.lock is no regular file", "remove it")
    elif kind:
        text = f"the project lies on a network file system ({kind}): locks may not hold"
        yield Result("lock", WARN, text, "keep the project on a local disk")
    elif regular and _is_held(path):
        yield Result("lock", WARN, "held by a writer now", "if that lasts, look for a stopped append")
    else:
        yield Result("lock", OK, "free")


def _is_held(path: str) -> bool:
    """Say whether another process holds the lock; where that cannot be asked without writing, it counts as free."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _network(folder: str) -> str:
    """Return the kind of network file system that a folder lies on, empty for a local one or where it is unknown."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as opened:
            mounts = [line.split(" ")[1:3] for line in opened]
    except OSError:
        return ""
    real = os.path.realpath(folder)
    best, kind = "", ""
    for escaped, name in mounts:
        point = escaped.replace("\\040", " ")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, name
    return kind if kind in _NETWORK else ""


def tracked(site: Site) -> Iterator[Result]:
    """Check that the ledger is ignored, or tracked with the attributes that keep its lines in place."""
    name = layout.LOG_NAME
    try:
        listed = git.run(site.tree.root, "ls-files", "-z", "--", name)
        merges = git.run(site.tree.root, "check-attr", "-z", "merge", "--", name).split(b"\0")
    except git.GitError:
        yield Result("tracked", SKIP, "no git repository, or git cannot be asked")
        return
    ready = len(merges) > 2 and merges[2] == b"unset"
    if listed and not ready:
        text = f"{name} is in git without -merge: a merge would re-point line numbers"
        yield Result("tracked", WARN, text, "`init --track-ledger`")
    elif listed or ready:
        yield Result("tracked", OK, "in git, never merged by lines" if listed else "ready to be tracked")
    elif _is_ignored(site, name):
        yield Result("tracked", OK, "ignored")
    else:
        yield Result("tracked", WARN, f"{name} is neither tracked nor ignored", f"{_INSTALL}: it adds .scratch/")


IGNORING = (".scratch", ".scratch/", "/.scratch", "/.scratch/", ".scratch/*", ".scratch/**", ".scratch/handoff.jsonl")
"""The usual lines of a `.gitignore` that leave the ledger out."""


def _is_ignored(site: Site, name: str) -> bool:
    """Say whether git leaves the ledger out; before there is one, whether `.gitignore` says so."""
    if os.path.lexists(site.tree.full(name)):
        asked = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", name)
        return bool(git.run(site.tree.root, *asked))
    lines = (site.read(plan.IGNORE) or b"").decode("utf-8", "replace").splitlines()
    return any(line.strip() in IGNORING for line in lines)


# schemas, layout


def schemas(site: Site) -> Iterator[Result]:
    """Check that every schema can be read and that no type is missing."""
    from handoff_core.schema import SchemaError, SchemaSet

    project = layout.Project(site.tree.root, None, None, None)
    known = SchemaSet(project.schemas, project.schemas_shown, {})
    names = known.known()
    for name in names:
        try:
            known.get(name)
        except SchemaError as error:
            yield Result("schemas", FAIL, str(error), "restore the file from version control, or run `init`")
            return
    if len(names) < TYPES:
        yield Result("schemas", WARN, f"{len(names)} of {TYPES} types", f"{_INSTALL}: it adds the missing ones")
    else:
        yield Result("schemas", OK, _count(len(names), "type"))


def layout_file(site: Site) -> Iterator[Result]:
    """Check that the layout can be read."""
    project = layout.Project(site.tree.root, None, None, None)
    if not os.path.lexists(project.layout):
        yield Result("layout", OK, "absent: defaults")
        return
    try:
        table = project.read_layout()
    except HandoffError as error:
        yield Result("layout", FAIL, error.problems[0], "mend the file")
        return
    value = layout.lookup(table, "harness.protect_tools")
    if value is not None and not isinstance(value, bool):
        text = f"{layout.LAYOUT_NAME}: harness.protect_tools is no boolean and counts as true"
        yield Result("layout", WARN, text, "write true or false")
    else:
        yield Result("layout", OK, layout.LAYOUT_NAME)


# hooks, skills, ci


def hooks(site: Site) -> Iterator[Result]:
    """Check that both hooks are there, can be compiled, and are what was installed."""
    changed = []
    for name in harnesses.HOOKS:
        path = f"{harnesses.HOOK_FOLDER}/{name}"
        try:
            data = site.tree.read(path)
        except Problem as problem:
            yield Result("hooks", FAIL, f"{path} {problem}", f"move it away and {_INSTALL}")
            return
        if data is None:
            yield Result("hooks", FAIL, f"{path} is missing", _INSTALL)
            return
        try:
            compile(data, path, "exec")
        except (SyntaxError, ValueError) as error:
            yield Result("hooks", FAIL, f"{path} cannot be compiled: {error}", "`init --force` renews it")
            return
        if not _is_as_shipped(site, path, data):
            changed.append(path)
    if changed:
        yield Result("hooks", WARN, f"changed since installed: {_list(changed)}", "`init --force` renews them")
    else:
        yield Result("hooks", OK, "both present, unmodified")


def _is_as_shipped(site: Site, path: str, data: bytes) -> bool:
    if site.record and path in site.record.files:
        return hashlib.sha256(data).hexdigest() == site.record.files[path][0]
    try:
        return shipped.hooks((path.rpartition("/")[2],))[path] == data
    except OSError:
        return True


def skill_files(site: Site) -> Iterator[Result]:
    """Check that the skills are there, keep the rules, and are what was installed."""
    if not site.options.skills:
        yield Result("skills", SKIP, "left out with --no-skills")
        return
    missing, broken = [], []
    for name in skills.NAMES:
        path = f"{shipped.SKILLS}/{name}/SKILL.md"
        data = site.read(path)
        if data is None:
            missing.append(path)
            continue
        try:
            broken += [f"{path} {problem}" for problem in skills.problems(name, decode(data))]
        except JsonError as error:
            broken.append(f"{path} is {error.reason}")
    changed = _changed(site, (shipped.SKILLS, shipped.OTHER_SKILLS))
    if broken:
        yield Result("skills", FAIL, _list(broken), "mend it, or `init --force`")
    elif missing:
        yield Result("skills", WARN, f"missing: {_list(missing)}", _INSTALL)
    elif changed:
        yield Result("skills", WARN, f"changed since installed: {_list(changed)}", "`init --force` renews them")
    else:
        yield Result("skills", OK, str(len(skills.NAMES)))


def ci(site: Site) -> Iterator[Result]:
    """Warn where neither a workflow nor the pre-commit configuration checks the ledger."""
    places = [".pre-commit-config.yaml", ".gitlab-ci.yml"]
    with contextlib.suppress(OSError):
        places += [f".github/workflows/{name}" for name in sorted(os.listdir(site.tree.full(".github/workflows")))]
    called = re.compile(rb"handoff(\.py)?['\"]? validate|handoff-validate|handoff/\.github/actions/validate")
    found = [path for path in places[:200] if called.search(site.read(path) or b"")]
    if found:
        yield Result("ci", OK, f"{found[0]} runs validate")
    else:
        fix = "add one: `validate --format github`, the action, or the pre-commit hook"
        yield Result("ci", WARN, "no step runs `handoff.py validate`", fix)


def _list(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"
