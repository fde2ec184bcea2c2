"""Patterns that are not trusted: searched in time proportional to the text, whatever they are.

A pattern out of `layout.toml` may be anything (reliability.md 6.3). One that a backtracking matcher cannot be led
astray by goes to `re`; any other is run as a set of states, or refused where that cannot be done.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

WORK_LIMIT = 600_000
"""States looked at in one text, about half a second's worth; a text that needs more is refused."""

STATE_LIMIT = 1500
"""States of a pattern, counted repeats written out; larger patterns are refused."""


class PatternError(ValueError):
    """Say that a pattern cannot be used: no regular expression, or not one that can be run safely."""


def linear_search(source: str) -> Callable[[str], object]:
    """Return a function that says whether a text matches `source` somewhere; raise PatternError if it is unusable."""
    try:
        compiled = re.compile(source)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(str(error)) from None
    tree = _tree(source)
    if _is_harmless(tree):
        return compiled.search
    return _Machine(tree, compiled.flags).search


def _tree(source: str) -> Any:
    """Return the pattern as the standard library's own parser reads it."""
    try:
        from re import _parser  # type: ignore[attr-defined]

        return _parser.parse(source)
    except (ImportError, AttributeError, RecursionError) as error:
        raise PatternError(f"cannot be analysed: {error}") from None


def _is_harmless(tree: Any) -> bool:
    """Say whether a pattern is anchored at its start and repeats nothing but single characters, once without bound."""
    parts = list(tree)
    if not parts or _name(parts[0][0]) != "AT":
        return False
    unbounded = 0
    for operator, argument in parts:
        name = _name(operator)
        if name in _REPEATS:
            _, most, below = argument
            if len(below) != 1 or _name(below[0][0]) not in _SINGLE:
                return False
            unbounded += most > 1
        elif name not in _SINGLE and name != "AT":
            return False
    return unbounded <= 1


_REPEATS = ("MAX_REPEAT", "MIN_REPEAT")
_FLAGS = re.UNICODE | re.IGNORECASE | re.DOTALL | re.VERBOSE
_SINGLE = ("LITERAL", "NOT_LITERAL", "ANY", "IN")


def _name(operator: object) -> str:
    return str(operator).rpartition(".")[2]


class _Machine:
    """A pattern as numbered states. `_steps[n]` lists what state n does: go on, test a place, or eat a character."""

    def __init__(self, tree: Any, flags: int) -> None:
        if flags & ~_FLAGS:
            raise PatternError("sets a flag that is not supported")
        self._flags = flags
        self._eats: list[Callable[[str], object] | None] = []
        self._places: list[str | None] = []
        self._next: list[list[int]] = []
        self._final = self._state()
        self._start = self._sequence(list(tree), self._final)

    def search(self, text: str) -> bool:
        """Say whether the pattern matches somewhere in `text`; raise PatternError if that takes too long."""
        current: set[int] = set()
        work = 0
        for index in range(len(text) + 1):
            current = self._closure({*current, self._start}, text, index)
            if self._final in current:
                return True
            work += len(current)
            if work > WORK_LIMIT:
                raise PatternError("takes too long")
            if index < len(text):
                character = text[index]
                current = {
                    following
                    for state in current
                    if (eats := self._eats[state]) is not None and eats(character)
                    for following in self._next[state]
                }
        return False

    def _closure(self, states: set[int], text: str, index: int) -> set[int]:
        """Return all states that can be reached from `states` without eating a character."""
        found, waiting = set(states), list(states)
        while waiting:
            state = waiting.pop()
            if self._eats[state] is not None:
                continue
            place = self._places[state]
            if place is not None and not _PLACES[place](text, index):
                continue
            for following in self._next[state]:
                if following not in found:
                    found.add(following)
                    waiting.append(following)
        return found

    def _state(
        self, following: list[int] | None = None, eats: Callable[[str], object] | None = None, place: str | None = None
    ) -> int:
        if len(self._next) >= STATE_LIMIT:
            raise PatternError("too large")
        self._eats.append(eats)
        self._places.append(place)
        self._next.append(following or [])
        return len(self._next) - 1

    def _sequence(self, parts: list[Any], end: int) -> int:
        """Return the state that begins `parts` and goes on to `end`; built from the last part to the first."""
        for operator, argument in reversed(parts):
            build = _BUILDERS.get(_name(operator))
            if build is None:
                raise PatternError(f"holds {_name(operator).lower()}, which cannot be run in linear time")
            end = build(self, operator, argument, end)
        return end

    def single(self, operator: Any, argument: Any, end: int) -> int:
        """Add a state that eats one character which a one-character pattern admits."""
        from re import _compiler, _parser  # type: ignore[attr-defined]

        state = _parser.State()
        state.flags = self._flags
        state.str = ""
        matches = _compiler.compile(_parser.SubPattern(state, [(operator, argument)]), self._flags).match
        return self._state([end], eats=matches)

    def place(self, _operator: Any, argument: Any, end: int) -> int:
        """Add a state that goes on only at a place such as the beginning of the text."""
        place = _name(argument)
        if place not in _PLACES:
            raise PatternError(f"holds {place.lower()}, which is not supported")
        return self._state([end], place=place)

    def branch(self, _operator: Any, argument: Any, end: int) -> int:
        """Add a state that goes on with any of several alternatives."""
        return self._state([self._sequence(list(option), end) for option in argument[1]])

    def group(self, _operator: Any, argument: Any, end: int) -> int:
        """Add what stands in a group; a group that changes flags is refused."""
        _, added, removed, below = argument
        if added or removed:
            raise PatternError("holds a group with flags, which is not supported")
        return self._sequence(list(below), end)

    def repeat(self, _operator: Any, argument: Any, end: int) -> int:
        """Add a part as often as it may occur; greed does not matter, since only a match is asked for."""
        least, most, below = argument
        parts = list(below)
        if str(most) == "MAXREPEAT":
            loop = self._state()
            self._next[loop] = [end, self._sequence(parts, loop)]
            end = loop
        else:
            skip = end
            for _ in range(int(most) - int(least)):
                end = self._state([skip, self._sequence(parts, end)])
        for _ in range(int(least)):
            end = self._sequence(parts, end)
        return end


def _is_word(text: str, index: int) -> bool:
    return 0 <= index < len(text) and (text[index].isalnum() or text[index] == "_")


_PLACES: dict[str, Callable[[str, int], bool]] = {
    "AT_BEGINNING": lambda _text, index: index == 0,
    "AT_BEGINNING_STRING": lambda _text, index: index == 0,
    "AT_END": lambda text, index: index == len(text) or (index == len(text) - 1 and text[index] == "\n"),
    "AT_END_STRING": lambda text, index: index == len(text),
    "AT_BOUNDARY": lambda text, index: _is_word(text, index - 1) != _is_word(text, index),
    "AT_NON_BOUNDARY": lambda text, index: _is_word(text, index - 1) == _is_word(text, index),
}

_BUILDERS: dict[str, Callable[[_Machine, Any, Any, int], int]] = {
    **dict.fromkeys(_SINGLE, _Machine.single),
    **dict.fromkeys(_REPEATS, _Machine.repeat),
    "AT": _Machine.place,
    "BRANCH": _Machine.branch,
    "SUBPATTERN": _Machine.group,
}
