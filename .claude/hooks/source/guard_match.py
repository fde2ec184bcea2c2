"""Say whether a path with patterns or unknown pieces could be a given path (hooks.md 4.4).

A pattern is a list of tokens; the positions in the candidate that are reached so far go along as a set.
"""

from __future__ import annotations

from guard_paths import fold
from guard_words import ANY, SET, STAR, UNKNOWN, WILD, known_pieces, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard_paths import Paths

    Token = tuple[str, str]


def match_file(paths: Paths, text: str, path: str) -> str:
    """Return the name of a protected file that a text with patterns or unknown pieces could name, or an empty text."""
    if UNKNOWN in path:
        tail = fold(path.rpartition(UNKNOWN)[2])
        for name in dict.fromkeys(paths.files.values()):
            if tail.endswith("/" + name):
                return name
        if not could_spell(text):
            return ""
    tokens = tokens_of(fold(path))
    for candidate in paths.every_file():
        if matches(tokens, candidate, paths.dots):
            return paths.listed(candidate) or candidate
    return ""


def match_folder(paths: Paths, text: str, path: str) -> str:
    """Return the name of a protected file below a folder that the text could name, or an empty text."""
    if UNKNOWN in path and not could_spell(text):
        return ""
    tokens = tokens_of(fold(path))
    candidates = paths.near if UNKNOWN in path else paths.above
    return next((paths.above[one] for one in candidates if matches(tokens, one, paths.dots)), "")


def matching_folders(paths: Paths, pattern: str) -> list[str]:
    """Return the folders above protected files that an absolute pattern could match."""
    tokens = tokens_of(fold(pattern))
    return [folder for folder in paths.above if matches(tokens, folder, paths.dots)]


def pattern_fits(pattern: str, name: str) -> bool:
    """Return whether a pattern for one component could match the name."""
    return matches(tokens_of(fold(pattern)), fold(name), False)


def could_spell(text: str) -> bool:
    """Return whether the known pieces of a path with unknown ones are enough to suspect a protected name."""
    pieces = [fold(plain(piece)) for piece in known_pieces(text)]
    return sum(map(len, pieces)) >= 4 and any("scratch" in piece or "handoff" in piece for piece in pieces)


def tokens_of(pattern: str) -> list[Token]:
    """Return the tokens of a folded path with marks."""
    tokens: list[Token] = []
    at, end = 0, len(pattern)
    while at < end:
        char = pattern[at]
        at += 1
        if char == STAR and pattern[at : at + 2] == STAR + "/" and pattern[at - 2 : at - 1] in ("/", ""):
            tokens.append(("folders", ""))
            at += 2
        elif char in (UNKNOWN, WILD):
            tokens.append(("all", ""))
        elif char in (STAR, ANY):
            tokens.append(("star" if char == STAR else "any", ""))
        elif char == SET:
            close = pattern.find("]", at + (2 if pattern[at : at + 1] in ("!", "^") else 1))
            tokens.append(("is", "[") if close < 0 else ("set", pattern[at:close]))
            at = at if close < 0 else close + 1
        else:
            tokens.append(("is", char))
    return tokens


def matches(tokens: list[Token], path: str, dots: bool) -> bool:
    """Return whether the pattern could match the whole path; with `dots` it matches leading dots, too."""
    fixed = blocked(path, dots)
    reached = {0}
    for kind, value in tokens:
        reached = STEPS[kind](reached, path, value, fixed)
        if not reached:
            return False
    return len(path) in reached


def blocked(path: str, dots: bool) -> frozenset[int]:
    """Return the positions that a pattern character can't stand for: slashes, dots at the start of a component."""
    starts = (at for at, char in enumerate(path) if char == "." and path[at - 1 : at] in ("/", "") and not dots)
    return frozenset([*(at for at, char in enumerate(path) if char == "/"), *starts, len(path)])


def step_is(reached: set[int], path: str, value: str, _fixed: frozenset[int]) -> set[int]:
    """Return the positions behind one fixed character."""
    return {at + 1 for at in reached if path[at : at + 1] == value}


def step_any(reached: set[int], _path: str, _value: str, fixed: frozenset[int]) -> set[int]:
    """Return the positions behind one character that a pattern may match."""
    return {at + 1 for at in reached if at not in fixed}


def step_set(reached: set[int], path: str, value: str, fixed: frozenset[int]) -> set[int]:
    """Return the positions behind one character of a bracket."""
    return {at + 1 for at in reached if at not in fixed and in_set(path[at], value)}


def step_star(reached: set[int], _path: str, _value: str, fixed: frozenset[int]) -> set[int]:
    """Return the positions behind any run of characters of one component."""
    found: set[int] = set()
    for start in reached:
        at = start
        while at not in found:
            found.add(at)
            if at in fixed:
                break
            at += 1
    return found


def step_folders(reached: set[int], path: str, _value: str, fixed: frozenset[int]) -> set[int]:
    """Return the positions behind any number of whole folders that don't begin with a dot."""
    found: set[int] = set()
    for start in reached:
        at = start
        while at not in found:
            found.add(at)
            slash = path.find("/", at)
            if slash < 0 or (at in fixed and at != slash):
                break
            at = slash + 1
    return found


def step_all(reached: set[int], path: str, _value: str, _fixed: frozenset[int]) -> set[int]:
    """Return the positions behind any text."""
    return set(range(min(reached), len(path) + 1))


STEPS = {
    "is": step_is,
    "any": step_any,
    "set": step_set,
    "star": step_star,
    "folders": step_folders,
    "all": step_all,
}


def in_set(char: str, inside: str) -> bool:
    """Return whether a bracket holds the character in either letter case; a class in it may hold anything."""
    if "[:" in inside:
        return True
    negated = inside[:1] in ("!", "^")
    body = inside[1:] if negated else inside
    return any(one in "".join(ranges(body)) for one in (char, char.upper())) != negated


def ranges(body: str) -> Iterator[str]:
    """Yield the characters of a bracket, ranges written out."""
    at = 0
    while at < len(body):
        if body[at + 1 : at + 2] == "-" and at + 2 < len(body):
            first, last = ord(body[at]), ord(body[at + 2])
            yield "".join(map(chr, range(first, min(last, first + 256) + 1)))
            at += 3
        else:
            yield body[at]
            at += 1
