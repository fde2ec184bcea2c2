"""The facts of a slice before its review: consultations, silence, builds, designs, requirements (route.md 8, 9).

Imports `records` and `routing.consulting`, `designing`, `facts`, `ladder`, `overrides`, `reading`, `slice`.
"""

from __future__ import annotations

from handoff_core.records import BUILD_FAILURE
from handoff_core.routing import consulting, designing
from handoff_core.routing.facts import fact
from handoff_core.routing.ladder import silent_run
from handoff_core.routing.overrides import scope_errors
from handoff_core.routing.reading import after, cleaned, field, is_usable, line_of
from handoff_core.routing.slice import Slice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]
    Entry = tuple[int, Record]


class BeforeReview(Slice):
    """Consultations, silence, builds, designs, requirements (8, 9)."""

    # Consultations

    @fact
    def request_errors(self) -> list[str]:
        """Return what is wrong with the request (8.1)."""
        return cleaned(consulting.request_errors(self.request, self.gate_of(self.request))) if self.request else []

    @property
    def request_target(self) -> Any:
        """Return the request's target as it is."""
        return field(self.request, "target")

    @property
    def request_author(self) -> Any:
        """Return the request's author as it is."""
        return field(self.request, "author")

    @property
    def requester(self) -> str | None:
        """Return the request's author if usable, else null."""
        return self.request_author if is_usable(self.request_author) else None

    @fact
    def asked(self) -> Entry | None:
        """Return the record of this slice that the response points at (8.2)."""
        return consulting.asked_by_line(self.entries, field(self.response, "in_response_to"))

    @property
    def asked_by(self) -> Any:
        """Return the author of the record asked, as it is."""
        return field(self.asked, "author")

    @fact
    def response_errors(self) -> list[str]:
        """Return what is wrong with the response (8.2)."""
        if self.response is None:
            return []
        return cleaned(consulting.response_errors(self.response, self.asked, self.gate_of(self.response)))

    @property
    def responder(self) -> str | None:
        """Return the target of the record asked if usable, else null."""
        target = field(self.asked, "target")
        return target if is_usable(target) else None

    # Silence and builds

    @fact
    def silent_run(self) -> int:
        """Return how many starts of the implementer end its records after the latest design-block (9.1)."""
        return silent_run(after(self.entries, line_of(self.design)))

    @fact
    def failure_errors(self) -> list[str]:
        """Return what the build-failure's gate says."""
        return self.gate_of(self.failure)

    @property
    def abort_reason(self) -> Any:
        """Return the build-failure's abort_reason as it is."""
        return field(self.failure, "abort_reason")

    @property
    def partial(self) -> bool:
        """Say whether the build-failure's `partial` is true."""
        return field(self.failure, "partial") is True

    @fact
    def failures(self) -> int:
        """Return the number of build-failures after the latest design-block."""
        return len(after(self.of(BUILD_FAILURE), line_of(self.design)))

    # Designs, requirements, intake

    @property
    def design_verdict(self) -> Any:
        """Return the design-block's verdict as it is."""
        return field(self.design, "verdict")

    @fact
    def design_errors(self) -> list[str]:
        """Return what the design-block's gate says (9.5)."""
        if self.design is None:
            return []
        supersedes = self.superseding[-1:] == [self.design]
        return cleaned(designing.gate_errors(self.design, self.gate_of(self.design), supersedes=supersedes))

    @property
    def escalations(self) -> Any:
        """Return the design-block's `escalations` as they are, an empty list if absent."""
        return self.design[1].get("escalations", []) if self.design else []

    @fact
    def missing_escalations(self) -> list[str]:
        """Return the one error of a conflict without escalations, or none."""
        return designing.missing_escalations(self.escalations)

    @property
    def entry_author(self) -> Any:
        """Return the prd-entry's author as it is."""
        return field(self.entry, "author")

    @fact
    def entry_errors(self) -> list[str]:
        """Return what the prd-entry's schema, else the scope lock, says (9.4)."""
        errors = self.gate_of(self.entry)
        if errors or self.entry is None:
            return errors
        lines = {entry[0]: entry for entry in self.entries}
        return cleaned(scope_errors(self.entry, self._scope_delta(), lines, owner_spoke=self._history.owner_spoke))

    @fact
    def intake_errors(self) -> list[str]:
        """Return what the intake-decision's gate says."""
        return self.gate_of(self.intake)
