"""`build`: packs a session into a sealed fileset. Follows capture.md; the engine is `capture.build`."""

from __future__ import annotations

import os
import time

from handoff_core.errors import DONE, NO_MATCH, REFUSED, USAGE, HandoffError, UsageError, os_text
from handoff_core.layout import current_folder, find_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handoff_core.capture.build import Options, Result
    from handoff_core.capture.config import Config
    from handoff_core.capture.joining import Joined
    from handoff_core.capture.policy import Policy
    from handoff_core.capture.redact import Redactor
    from handoff_core.capture.source import Folder, Source
    from handoff_core.layout import Project
    from handoff_core.text import Streams

PROGRESS_AFTER = 1.0
PROGRESS_EVERY = 0.25
ALL_PROJECTS = "*"


def build(streams: Streams, **flags: Any) -> int:
    """Build one fileset, or list the sessions found, and return the exit code (capture.md 1)."""
    import gc

    _refuse_contradictions(flags)
    collecting = gc.isenabled()
    gc.disable()  # nothing of what is read is garbage in cycles, and looking for it takes longer than reading
    try:
        return _build(streams, flags)
    finally:
        if collecting:
            gc.enable()


def _refuse_contradictions(flags: dict[str, Any]) -> None:
    """Raise UsageError unless exactly one of SOURCE, --latest, --list, or a lone --session is given."""
    ways = [bool(flags["sources"]), flags["latest"], flags["list"]]
    if sum(ways) > 1:
        raise UsageError("give exactly one of SOURCE, --latest, --list")
    if not any(ways) and not flags["session"]:
        raise UsageError("give SOURCE, --latest, --list, or --session ID")
    if flags["session"] and (flags["latest"] or flags["list"]):
        raise UsageError("--session does not go with --latest or --list")
    if flags["project_dir"] is not None and flags["sources"]:
        raise UsageError("--project-dir goes with --latest, --list or a lone --session")
    if flags["from_"] != "auto":
        from handoff_core.capture.readers.table import READERS, reader

        if reader(flags["from_"]) is None:
            known = ", ".join(row.name for row in READERS)
            raise UsageError(f"argument --from: no reader '{flags['from_']}' (readers: auto, {known})")
    for name in ("session", "out", "project_dir", "req_id"):
        if flags[name] == "":
            raise UsageError(f"argument --{name.replace('_', '-')}: must not be empty")


def _build(streams: Streams, flags: dict[str, Any]) -> int:
    project = find_project(flags["root"], flags["file"], flags["schemas"], flags["layout"])
    from handoff_core.capture.config import read_config

    config = read_config(current_folder(), project.root)
    if flags["list"]:
        return _list(streams, flags, config, project.root)
    options = _options(flags, config, project.root)
    if not flags["sources"]:
        _take_discovered(options, flags, config, project.root)
    policy = _policy(project.root, options)
    options.sources = [_one_file(path, options) for path in options.sources]
    return _locked_build(streams, flags, project, config, options, policy)


def _options(flags: dict[str, Any], config: Config, root: str) -> Options:
    """Return what flags and configuration ask for together."""
    from handoff_core.capture.build import OVERRIDES, Options

    options = Options()
    for path in flags["sources"]:
        if not os.path.lexists(path):
            raise HandoffError(f"{path}: no such source", code=USAGE)
    options.sources = list(flags["sources"])
    options.from_ = flags["from_"]
    options.session = flags["session"] or ""
    options.out = flags["out"]
    options.subagents = flags["subagents"] or config.subagents
    options.overrides = {key: flags[key] for key in OVERRIDES}
    options.allow_bad_lines = flags["allow_bad_lines"]
    options.redact = not flags["no_redact"]
    options.include = [*config.include, *flags["include"]]
    options.exclude = [*config.exclude, *flags["exclude"]]
    options.max_tool_output = config.max_tool_output
    options.max_brief_tokens = config.max_brief_tokens
    options.project_name = config.project_name
    options.store = _store(config, root)
    options.clock = _clock()
    options.commit = _commit(root)
    return options


def _store(config: Config, root: str) -> str:
    """Return the folder of the store (capture.md 3)."""
    from handoff_core.capture.config import STORE

    named = os.environ.get("HANDOFFS_ROOT")
    if named:
        return os.path.abspath(named)
    return config.handoff_dir or os.path.join(root, *STORE.split("/"))


def _clock() -> str:
    """Return the time of this build: `SOURCE_DATE_EPOCH` if set, else the system's."""
    from handoff_core.capture.times import LATEST, clock_text

    text = os.environ.get("SOURCE_DATE_EPOCH")
    if not text:
        return clock_text(int(time.time()))
    if not (text.isascii() and text.isdigit() and len(text) <= 12 and int(text) * 1000 <= LATEST):
        raise HandoffError("SOURCE_DATE_EPOCH is no number of seconds since 1970", code=USAGE)
    return clock_text(int(text))


def _commit(root: str) -> str | None:
    """Return the full id of HEAD, None where the root is in no work tree that has a commit."""
    from handoff_core import git

    try:
        if git.run(root, "rev-parse", "--is-inside-work-tree").strip() != b"true":
            return None
        return git.run(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip() or None
    except git.GitError:
        return None


def _policy(root: str, options: Options) -> Policy:
    """Return the permission policy, the store and the session stores of this environment known to it."""
    from handoff_core import data
    from handoff_core.capture import policy as policies
    from handoff_core.capture.stores import session_stores
    from handoff_core.ledger import read_bytes

    own = read_bytes(os.path.join(root, *policies.NAME.split("/")), policies.NAME)
    home = os.path.expanduser("~")
    policy = policies.read_policy(own, data.read(policies.NAME), root, home if os.path.isabs(home) else "")
    named = bool(os.environ.get("HANDOFFS_ROOT"))
    if named or policies.is_under(os.path.realpath(options.store), os.path.realpath(root)):
        policy.add_workspace(options.store)
    policy.add_store_of_sessions(*session_stores(os.environ, home if os.path.isabs(home) else ""))
    return policy


def _one_file(path: str, options: Options) -> str:
    """Return the source that a folder stands for, or `path` itself."""
    if not os.path.isdir(path):
        return path
    from handoff_core.capture.folders import session_in

    return session_in(path, options.from_, options.include, options.exclude)


# One build


def _locked_build(
    streams: Streams, flags: dict[str, Any], project: Project, config: Config, options: Options, policy: Policy
) -> int:
    from handoff_core.capture.redact import Redactor

    redactor = Redactor(enabled=options.redact)
    joined = _joined(flags, project, config, options, redactor) if flags["req_id"] else None
    for path in options.sources:
        policy.require("R0", path, named=options.named)
    target = os.path.abspath(options.out) if options.out is not None else options.store
    named = options.out is not None or bool(os.environ.get("HANDOFFS_ROOT"))
    policy.require("R1", target, named=named)
    try:
        with _locked(streams, options.store) as lock:
            _sweep(options, target, held=lock.descriptor is not None)
            result = _run(streams, flags, options, target, policy, redactor, joined)
            if options.out is None:
                _refresh(options.store, result)
    except OSError as error:
        raise HandoffError(
            f"cannot write the fileset: {os_text(error)}", "the one that was there is unchanged"
        ) from None
    return _report(streams, flags, result)


def _sweep(options: Options, target: str, *, held: bool) -> None:
    """Mend what killed builds left; without the lock it could be what a living one is writing."""
    from handoff_core.capture.store import sweep, sweep_store

    if held:
        sweep_store(options.store)
        if options.out is not None:
            sweep(*os.path.split(target))


def _refresh(store: str, result: Result) -> None:
    """Bring INDEX.json and PROJECT.md up to date; raise HandoffError if that fails, since the fileset is in place."""
    from handoff_core.capture.store import refresh_index

    try:
        refresh_index(store, os.path.basename(os.path.dirname(result.folder)))
    except OSError as error:
        raise HandoffError(
            f"the fileset is in {result.folder}, but INDEX.json or PROJECT.md cannot be written: {os_text(error)}",
            "the next build writes them",
        ) from None


def _locked(streams: Streams, store: str) -> Any:
    """Return the store's lock; say so where none can be had."""
    from handoff_core.capture.store import lock_store

    lock, why_none = lock_store(store)
    if why_none:
        streams.note(f"warning: the store's lock cannot be had ({why_none}); going on without it")
    return lock


def _run(
    streams: Streams,
    flags: dict[str, Any],
    options: Options,
    target: str,
    policy: Policy,
    redactor: Redactor,
    joined: Joined | None,
) -> Result:
    """Build in a temporary folder, which is gone at the end whatever happens."""
    from handoff_core.capture.build import Builder, Refused
    from handoff_core.capture.store import Workspace, make_folders

    parent, name = os.path.split(target) if options.out is not None else (target, "build")
    make_folders(parent)
    workspace = Workspace(parent, name)
    progress = _Progress(streams, shown=not flags["quiet"])
    try:
        return Builder(options, workspace, policy, redactor, joined, progress.tick).run()
    except Refused as refused:
        if flags["json"]:
            streams.out(_refused_json(refused))
        raise
    finally:
        progress.remove()
        workspace.discard()


class _Progress:
    """One line on the terminal that is rewritten in place while a build lasts (capture.md 1.1)."""

    def __init__(self, streams: Streams, *, shown: bool) -> None:
        self.streams = streams
        self.shown = shown and streams.is_terminal("stderr")
        self.begun = self.last = time.monotonic()
        self.written = False

    def tick(self, source: Source | Folder) -> None:
        """Say how far the build is, at most four times a second."""
        if not self.shown:
            return
        now = time.monotonic()
        if now - self.begun < PROGRESS_AFTER or now - self.last < PROGRESS_EVERY:
            return
        from handoff_core.text import clean

        self.last = now
        done, size = source.position()
        percent = min(100, 100 * done // size) if size else 100
        speed = done / (now - self.begun) / 1e6
        self.written = True
        self.streams.error_text(f"\r{clean(source.name)[:60]} {percent} % {speed:.0f} MB/s\x1b[K")

    def remove(self) -> None:
        """Take the line away."""
        if self.written:
            self.written = False
            self.streams.error_text("\r\x1b[K")


def _report(streams: Streams, flags: dict[str, Any], result: Result) -> int:
    """Print warnings, notes and the result."""
    for warning in result.warnings:
        streams.note(f"warning: {warning}")
    if not flags["quiet"]:
        for note in result.notes:
            streams.note(f"note: {note}")
    if flags["json"]:
        streams.out(_result_json(result))
    elif not flags["quiet"]:
        streams.out(_result_line(result))
    return DONE


def _result_line(result: Result) -> str:
    from handoff_core.text import clean

    manifest = result.manifest
    session, turns, revision = manifest["session"], manifest["turn_count"], manifest["revision"]
    if result.status == "up-to-date":
        return clean(f"up-to-date {session} turns={turns} revision={revision} -> {result.folder}") + "\n"
    counts = f"turns={turns} new={result.new} revision={revision} masked={manifest['redactions']['masked']}"
    return clean(f"built {session} project={manifest['project']} {counts} -> {result.folder}") + "\n"


def _result_json(result: Result) -> str:
    from handoff_core.jsonl import dump_ascii

    manifest, rows = result.manifest, result.manifest["sources"]
    keys = ("session", "project", "harness", "model")
    answer = {
        "status": result.status,
        "dir": result.folder,
        **{key: manifest[key] for key in keys},
        "turns": manifest["turn_count"],
        "new": result.new,
        **{key: manifest[key] for key in ("revision", "watermark", "counts", "tools", "first_utc", "last_utc")},
        "records": [row["records"] for row in rows],
        "usage": manifest["usage"],
        "spilled": {key: sum(row["spilled"][key] for row in rows) for key in ("found", "missing")},
        "bad_lines": result.bad_lines,
        "masked": manifest["redactions"]["masked"],
        "kept": sum(row["kept"] for row in rows),
        "rewritten": sum(row["rewritten"] for row in rows),
        "warnings": result.warnings,
    }
    return dump_ascii(answer) + "\n"


def _refused_json(refused: Any) -> str:
    from handoff_core.jsonl import dump_ascii

    answer = {
        "status": "refused",
        "exit": refused.code,
        "reason": refused.problems[0],
        "bad_lines": refused.bad_lines,
    }
    return dump_ascii(answer) + "\n"


# Finding sessions


def _list(streams: Streams, flags: dict[str, Any], config: Config, root: str) -> int:
    """Print the sessions found, newest first."""
    from handoff_core.capture import discover
    from handoff_core.jsonl import dump_ascii
    from handoff_core.text import clean

    found = discover.sessions(**_search(flags, config, root))
    rows = [row._asdict() for row in found]
    if flags["json"]:
        streams.out(dump_ascii(rows) + "\n")
        return DONE
    for row in rows:
        line = (
            f"{row['updated']}  {row['harness']}  {row['session']}  {row['bytes']}  {row['project_dir']}  {row['path']}"
        )
        streams.out(clean(line) + "\n")
    return DONE


def _search(flags: dict[str, Any], config: Config, root: str) -> dict[str, Any]:
    wanted = flags["project_dir"] or root
    home = os.path.expanduser("~")
    return {
        "environ": os.environ,
        "home": home if os.path.isabs(home) else "",
        "project_dir": None if wanted == ALL_PROJECTS else os.path.abspath(wanted),
        "root": root,
        "from_": flags["from_"],
        "include": [*config.include, *flags["include"]],
        "exclude": [*config.exclude, *flags["exclude"]],
    }


def _take_discovered(options: Options, flags: dict[str, Any], config: Config, root: str) -> None:
    """Make the session that `--latest` or a lone `--session` finds the source; no person named its path."""
    from handoff_core.capture import discover

    search = _search(flags, config, root)
    if flags["latest"]:
        row = discover.latest(**search)
    else:
        if flags["project_dir"] is None:
            search["project_dir"] = None
        row = discover.by_id(flags["session"], **search)
    options.named = False
    options.sources = [row.path]
    # In a database the whole id picks the session; a file needs none, and the start of an id is no name.
    options.session = row.session if discover.holds_many(row) else ""


# The ledger


def _joined(flags: dict[str, Any], project: Project, config: Config, options: Options, redactor: Redactor) -> Joined:
    """Return the slice of the ledger with its decision and board (capture.md 11)."""
    from handoff_core.capture.joining import Joined
    from handoff_core.ledger import NOT_CLEAN, missing_log, parse_strict, read_log_bytes, shared_lock

    req_id = flags["req_id"]
    with shared_lock(project):
        data = read_log_bytes(project)
    if data is None:
        raise HandoffError(f"{missing_log(project)}: no slice {req_id} to join", code=NO_MATCH)
    entries, problems = parse_strict(data)
    if problems:
        raise HandoffError([problems[0], NOT_CLEAN], code=REFUSED)
    mine = [(line, record) for line, record in entries if record.get("req_id") == req_id]
    if not mine:
        raise HandoffError(f"the ledger has no slice {req_id}", code=NO_MATCH)
    joined = Joined(redactor.mask(req_id), mine, len(data))
    lines = data.split(b"\n")
    joined.take_lines({number: lines[number - 1] for number, _ in mine}, redactor)
    joined.find_title(redactor.mask)
    last = str(len(entries))
    decision = _decision(flags, req_id, last)
    masked: Any = redactor.mask_value(decision)
    joined.decide(masked, _auditors(project), config.implementer_role)
    joined.route = _pretty(joined.decision)
    joined.board = _markdown(redactor.mask(_printed("view", flags, req_id, last, options.clock)))
    return joined


def _auditors(project: Project) -> list[str]:
    """Return the names of the full roster and of the grader."""
    from handoff_core.layout import lookup
    from handoff_core.records import FLOOR, GRADER

    try:
        extra = lookup(project.read_layout(), "harness.extra_reviewers")
    except HandoffError:
        extra = None  # the decision itself says that the layout is broken
    return [*FLOOR, *(name for name in (extra if isinstance(extra, list) else ()) if isinstance(name, str)), GRADER]


def _decision(flags: dict[str, Any], req_id: str, last: str) -> dict[str, Any]:
    import json

    decision: dict[str, Any] = json.loads(_printed("route", flags, req_id, last, ""))
    return decision


def _printed(command: str, flags: dict[str, Any], req_id: str, last: str, clock: str) -> str:
    """Return what a command of the program prints of the slice, up to the last line that was read."""
    import io

    from handoff_core import cli

    argv = [command, "--req-id", req_id, "--at", last]
    if command == "view":
        argv += ["--markdown", "--no-cost", "--now", clock]
    for name in ("root", "file", "schemas", "layout"):
        if flags[name] is not None:
            argv += [f"--{name}", flags[name]]
    out, err = io.BytesIO(), io.BytesIO()
    code = cli.main(argv, None, out, err)
    if code != DONE:
        raise HandoffError([line.removeprefix("handoff.py: ") for line in err.getvalue().decode().splitlines()])
    return out.getvalue().decode()


def _pretty(value: Any) -> str:
    from handoff_core.capture.fileset import json_file

    return json_file(value).decode()


def _markdown(text: str) -> str:
    from handoff_core.text_markdown import visible

    return visible(text)
