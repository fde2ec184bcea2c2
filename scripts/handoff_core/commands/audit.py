"""`audit-autofix`: whether document fixes that root applied by itself stayed inside their bounds.

Follows ledger.md 8. Reads the log, git and the working tree; writes nothing.
"""

from __future__ import annotations

import os

from handoff_core import autofix, git
from handoff_core.errors import DONE, HandoffError
from handoff_core.layout import find_project
from handoff_core.ledger import clean_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from handoff_core.autofix import Documents
    from handoff_core.ledger import Entry
    from handoff_core.text import Streams

UNREADABLE = "cannot read the git worktree state; the audit fails closed"


def audit_autofix(streams: Streams, **files: Any) -> int:
    """Print that the audit is clean, or raise HandoffError with every failure (ledger.md 8)."""
    project = find_project(**files)
    entries = clean_entries(project, missing_is_empty=True)
    opened = autofix.open_records(entries)
    eligible = [str(record["file"]) for _, record in opened if autofix.eligible_file(record)]
    try:
        documents = autofix.documents(project.root, eligible)
    except git.GitError:
        raise HandoffError([*_record_failures(entries, opened, None, project.root), UNREADABLE]) from None
    failures = _record_failures(entries, opened, documents, project.root)
    failures += map(autofix.uncovered_failure, autofix.uncovered(entries, documents))
    if failures:
        raise HandoffError(failures)
    covered = f"{len(documents.dirty)} dirty design-doc path(s) covered"
    without_commit = "no commit yet — direct-edit detection starts at the first commit"
    answer = covered if documents.has_commit else without_commit
    streams.out(f"autofix audit clean: {len(opened)} record(s) validated, {answer}\n")
    return DONE


def _record_failures(
    entries: Sequence[Entry], opened: Sequence[Entry], documents: Documents | None, root: str
) -> list[str]:
    """Return the failures of the open records; without git's answers the last rule is left out."""
    failures = []
    numbers = {line for line, _ in opened}
    for line, record in opened:
        found = autofix.record_failures((line, record), entries)
        if documents is not None and autofix.needs_content(record, documents.touched.get(str(record.get("file")))):
            content = _file_text(root, str(record["file"]))
            found += filter(None, [autofix.content_failure((line, record), entries, content, numbers)])
        failures += [f"line {line}: {message}" for message in found]
    return failures


def _file_text(root: str, file: str) -> str | None:
    """Return a document's text, None if it is missing or cannot be read."""
    from handoff_core.ledger import read_bytes

    try:
        data = read_bytes(os.path.join(root, *file.split("/")), file)
        return None if data is None else data.decode("utf-8")
    except (HandoffError, UnicodeDecodeError):
        return None
