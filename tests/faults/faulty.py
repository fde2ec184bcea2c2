"""Make the k-th call of the operating system fail, do less than asked, or end the process (reliability.md 3.1)."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CALLS = ("open", "write", "fsync", "ftruncate", "fstat", "replace", "rename", "mkdir", "unlink")


class Fault:
    """Counts calls; at the k-th (and, if sticky, at every later one) `act` is called in the real one's place."""

    def __init__(
        self, call: int, act: Callable[[str, Callable[..., Any], tuple[Any, ...]], Any], *, sticky: bool
    ) -> None:
        self.call = call
        self.act = act
        self.sticky = sticky
        self.count = 0
        self.names: list[str] = []

    @property
    def hit(self) -> bool:
        """Say whether the k-th call was reached."""
        return self.count >= self.call

    def wrap(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """Return `real` with the fault built in."""

        def wrapped(*arguments: Any, **options: Any) -> Any:
            self.count += 1
            self.names.append(name)
            if self.count == self.call or (self.sticky and self.count > self.call):
                return self.act(name, real, arguments)
            return real(*arguments, **options)

        return wrapped


@contextlib.contextmanager
def faulty_os(
    call: int, act: Callable[[str, Callable[..., Any], tuple[Any, ...]], Any], *, sticky: bool = False
) -> Iterator[Fault]:
    """Put a fault into the calls of `os` and `fcntl` for the length of a `with` block."""
    import fcntl

    fault = Fault(call, act, sticky=sticky)
    with contextlib.ExitStack() as stack:
        for name in CALLS:
            stack.enter_context(mock.patch.object(os, name, fault.wrap(name, getattr(os, name))))
        stack.enter_context(mock.patch.object(fcntl, "flock", fault.wrap("flock", fcntl.flock)))
        yield fault


def failing(error: int) -> Callable[[str, Callable[..., Any], tuple[Any, ...]], Any]:
    """Return an act that raises OSError with this error number."""

    def act(_name: str, _real: Callable[..., Any], _arguments: tuple[Any, ...]) -> Any:
        raise OSError(error, os.strerror(error))

    return act


def half_written(name: str, real: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Write half of what was asked; leave every other call as it is."""
    if name != "write":
        return real(*arguments)
    descriptor, data = arguments
    return real(descriptor, data[: len(data) // 2])


def claimed(name: str, real: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Say that a part was written and write nothing; leave every other call as it is."""
    return len(arguments[1]) // 2 if name == "write" else real(*arguments)
