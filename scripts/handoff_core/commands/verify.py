"""`verify`: says whether a fileset is whole and unchanged. Follows capture.md 1 and 13; writes nothing."""

from __future__ import annotations

import os

from handoff_core.capture.entry_names import shown
from handoff_core.capture.manifest import UnusableManifest, read_manifest
from handoff_core.capture.sealed_folder import SealedFolder, UnfitFile
from handoff_core.capture.verify import Evidence, Report
from handoff_core.capture.verify import verify as verify_fileset
from handoff_core.errors import DONE, NO_MATCH, NOTHING_TO_BUILD, REFUSED, HandoffError, os_text
from handoff_core.layout import current_folder, find_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from handoff_core.text import Streams


def verify(streams: Streams, *, fileset: str, against: list[str], json: bool, root: str | None) -> int:
    """Check one fileset, given as its folder or its id, and return 0 if everything fits, else 1 (capture.md 13)."""
    root = find_root(root)
    path = _find(fileset, root)
    from handoff_core.capture.redact import findings

    try:
        with SealedFolder(path) as folder:
            report = verify_fileset(folder, _evidence(root), findings)
            _compare(report, against)
    except OSError as error:
        report = Report(path)
        report.add(shown(os.path.basename(path)), f"cannot be opened as a folder: {os_text(error)}")
    return _print(streams, report, as_json=json)


def _compare(report: Report, against: list[str]) -> None:
    if not against:
        report.notes.append("the source was not read again; --against SOURCE compares with it")


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
