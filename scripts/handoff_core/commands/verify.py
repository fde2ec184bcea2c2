"""`verify`: says whether a fileset is whole and unchanged. Follows capture.md 1 and 13; writes nothing."""

from __future__ import annotations

import os

from handoff_core.capture.entry_names import MANIFEST, shown
from handoff_core.capture.manifest import UnusableManifest, read_manifest
from handoff_core.capture.sealed_folder import SealedFolder, UnfitFile
from handoff_core.capture.verify import Evidence, Report, copy_files
from handoff_core.capture.verify import verify as verify_fileset
from handoff_core.errors import DONE, NO_MATCH, NOTHING_TO_BUILD, REFUSED, USAGE, HandoffError, os_text
from handoff_core.layout import current_folder, find_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from handoff_core.capture.policy import Policy
    from handoff_core.text import Streams


def verify(streams: Streams, *, fileset: str, against: list[str], json: bool, root: str | None) -> int:
    """Check one fileset, given as its folder or its id, and return 0 if everything fits, else 1 (capture.md 13)."""
    root = find_root(root)
    for source in against:
        if not os.path.lexists(source):
            raise HandoffError(f"--against: {source}: no such source", code=USAGE)
    path = _find(fileset, root)
    from handoff_core.capture.redact import findings

    try:
        folder = SealedFolder(path)
    except OSError as error:
        report = Report(path)
        report.add(shown(os.path.basename(path)), f"cannot be opened as a folder: {os_text(error)}")
        return _print(streams, report, as_json=json)
    with folder:
        report = verify_fileset(folder, _evidence(root), findings)
        if against:
            _compare(report, folder, against, _policy(root))
        else:
            report.notes.append("the source was not read again; --against SOURCE compares with it")
    return _print(streams, report, as_json=json)


# Against the sources


def _compare(report: Report, folder: SealedFolder, against: list[str], policy: Policy) -> None:
    """Derive the fileset again from its sources and add what differs; what is compared is a private copy."""
    import tempfile

    from handoff_core.capture.against import compare

    if report.manifest is None:
        return
    for source in against:
        policy.require("R0", source, named=True)
    try:
        with tempfile.TemporaryDirectory(prefix="handoff-verify-", ignore_cleanup_errors=True) as copy:
            copy_files(folder, report.manifest.entries, copy)
            problems, notes = compare(copy, report.manifest.value, against)
    except UnfitFile as unfit:
        problems, notes = [(MANIFEST, f"cannot be derived anew: {unfit.reason}")], []
    except OSError as error:
        raise HandoffError(f"cannot derive the fileset anew: {os_text(error)}") from None
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        what = f"the manifest lacks what a derivation needs ({type(error).__name__})"
        problems, notes = [(MANIFEST, f"cannot be derived anew: {what}")], []
    for name, text in problems:
        report.add(shown(name), text)
    report.notes += notes


def _policy(root: str) -> Policy:
    """Return the permission policy, by which a source may be read (capture.md 12)."""
    from handoff_core import data
    from handoff_core.capture import policy as policies
    from handoff_core.capture.stores import session_stores
    from handoff_core.ledger import read_bytes

    own = read_bytes(os.path.join(root, *policies.NAME.split("/")), policies.NAME)
    home = os.path.expanduser("~")
    home = home if os.path.isabs(home) else ""
    policy = policies.read_policy(own, data.read(policies.NAME), root, home)
    policy.add_store_of_sessions(*session_stores(os.environ, home))
    return policy


# Evidence of a contract


def _evidence(root: str) -> Evidence:
    """Return where the evidence of a contract is looked up: the project's files and its repository."""
    from handoff_core.git_facts import resolve_commit

    def has_file(name: str) -> bool:
        try:
            with SealedFolder(root) as folder:
                os.close(folder.open(name))
        except (OSError, UnfitFile):
            return False
        return True

    def resolves(commit: str) -> bool:
        return resolve_commit(root, commit) is not None

    return Evidence(has_file, resolves)


# Which fileset


def _find(fileset: str, root: str) -> str:
    """Return the folder that DIR or ID names; raise HandoffError 3 for several, 4 for none."""
    if os.path.isdir(fileset):
        return os.path.abspath(fileset)
    store = store_of(root)
    known = list(_filesets(store))
    for fits in (str.__eq__, str.startswith):
        found = sorted({folder for folder, names in known if any(fits(name, fileset) for name in names)})
        if len(found) > 1:
            listed = ", ".join(os.path.relpath(folder, store).replace(os.sep, "/") for folder in found)
            raise HandoffError(f"'{fileset}' fits several filesets: {listed}", "name the folder of one", NO_MATCH)
        if found:
            return found[0]
    if os.path.lexists(fileset):
        return os.path.abspath(fileset)
    raise HandoffError(f"no fileset '{fileset}' in the store", "name a folder or a session id", NOTHING_TO_BUILD)


def store_of(root: str) -> str:
    """Return the folder of the store (capture.md 3): as the environment, else the configuration names it."""
    named = os.environ.get("HANDOFFS_ROOT")
    if named:
        return os.path.abspath(named)
    from handoff_core.capture.config import STORE, read_config

    return read_config(current_folder(), root).handoff_dir or os.path.join(root, *STORE.split("/"))


def _filesets(store: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every fileset of the store with its names: the folder's own, and the session of a readable manifest."""
    from handoff_core.capture.store import PROJECTS, folders_in

    projects = os.path.join(store, PROJECTS)
    for project in folders_in(projects):
        for own in folders_in(os.path.join(projects, project)):
            folder = os.path.join(projects, project, own)
            try:
                with SealedFolder(folder) as opened:
                    session = read_manifest(opened).value.get("session")
            except (OSError, UnusableManifest):
                session = None
            yield folder, (own, session) if isinstance(session, str) else (own,)


# How it is printed


def _print(streams: Streams, report: Report, *, as_json: bool) -> int:
    for problem in report.problems:
        streams.note(f"verify: {problem.name}: {problem.text}")
    for note in report.notes:
        streams.note(f"note: {note}")
    if as_json:
        streams.out(_json_line(report))
    elif report.fits():
        streams.out(_ok_line(report))
    return DONE if report.fits() else REFUSED


def _json_line(report: Report) -> str:
    from handoff_core.jsonl import dump_ascii

    answer = {
        "ok": report.fits(),
        "dir": report.path,
        "problems": [{"name": problem.name, "problem": problem.text} for problem in report.problems],
        "notes": report.notes,
        "contract": report.contract,
        "manifest_sha256": report.digest(),
    }
    return dump_ascii(answer) + "\n"


def _ok_line(report: Report) -> str:
    from handoff_core.text import clean

    manifest = report.manifest.value if report.manifest else {}
    facts = f"turns={manifest.get('turn_count')} files={len(manifest.get('files', ()))} contract={report.contract}"
    return clean(f"OK {manifest.get('session')} {facts} manifest={report.digest()}") + "\n"
