"""What a fact of a situation is: a value that is computed when it is first asked for. Imports nothing of ours."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from functools import cached_property
    from typing import Any

    fact = cached_property
else:

    class fact:  # noqa: N801 - used as a decorator, like property
        """Compute an attribute once; `functools` has the same, at the price of an import at every start."""

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self.compute = compute
            self.name = compute.__name__
            self.__doc__ = compute.__doc__

        def __get__(self, owner: Any, kind: type | None = None) -> Any:
            """Return the value and keep it as the owner's own attribute, which is found first from then on."""
            if owner is None:
                return self
            value = owner.__dict__[self.name] = self.compute(owner)
            return value


class _Absent:
    """The type of ABSENT."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()
"""A fact that does not apply: a context key with this value is left out (route.md 15.1)."""
