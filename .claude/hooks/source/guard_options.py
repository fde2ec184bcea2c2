"""Read the options of a command: clusters, values, shortened long flags. Imports nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Options = list[tuple[str, str]]


FLAG_PREFIX = 4  # a long flag may be shortened to that many characters


def split_options(words: list[str], valued: str = "", longs: str = "", glued: str = "") -> tuple[Options, list[str]]:
    """Return the options, each with its value, and the operands.

    `valued`: letters that take the rest of the word or the next word; `glued`: letters that take only the rest of it.
    `longs`: long flags whose value may be the next word. Clusters are taken apart.
    """
    options: Options = []
    operands: list[str] = []
    names = longs.split()
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            return options, operands + words[at:]
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            if not equals and any(long.startswith(name) for long in names) and at < len(words):
                value, at = words[at], at + 1
            options.append((name, value))
        elif word[:1] == "-" and len(word) > 1:
            rest = cluster(word[1:], valued, glued, options)
            if rest and at < len(words):
                options.append((rest, words[at]))
                at += 1
        else:
            operands.append(word)
    return options, operands


def cluster(letters: str, valued: str, glued: str, options: Options) -> str:
    """Add the flags of one cluster; return the flag whose value is the next word, if there is one."""
    for at, letter in enumerate(letters):
        rest = letters[at + 1 :]
        if letter in valued and not rest:
            return "-" + letter
        options.append(("-" + letter, rest if letter in valued or letter in glued else ""))
        if letter in valued or letter in glued:
            return ""
    return ""


def has(options: Options, *names: str) -> bool:
    """Return whether one of the flags is given, long ones also shortened."""
    return any(is_flag(given, name) for given, _ in options for name in names)


def is_flag(given: str, name: str) -> bool:
    """Return whether the given flag is the named one, perhaps shortened."""
    return given == name or (given[:2] == "--" and len(given) >= FLAG_PREFIX and name.startswith(given))


def values(options: Options, *names: str) -> list[str]:
    """Return the values of the named flags."""
    return [value for given, value in options if any(is_flag(given, name) for name in names)]


def first_operand(words: list[str], valued: str, longs: str) -> int:
    """Return where the first operand stands, options in front of it passed over."""
    names = longs.split()
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return at + 1
        if word[:1] not in "-+" or len(word) < 2:
            return at
        at += 1
        if word[:2] == "--":
            at += "=" not in word and any(long.startswith(word) for long in names)
        elif word[-1] in valued and not any(letter in valued for letter in word[1:-1]):
            at += 1
    return at
