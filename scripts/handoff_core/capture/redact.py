"""Replaces secrets by placeholders (capture.md 9, reliability.md 7). Imports the tables of rules alone.

A text is looked at in two ways. Tokens with a shape stand in long runs of token characters, which two passes over
the bytes find; secrets with a place stand beside a key word, which one pass per word finds. Patterns run only where
such a run or word is, so a text costs time in proportion to its length.
"""

from __future__ import annotations

import re

from handoff_core.capture.redact_places import PLACES
from handoff_core.capture.redact_shapes import RUN_LENGTH, RUN_TABLE, SHAPES_BY_TRIGGER, TRIGGERS
from handoff_core.capture.redact_values import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from handoff_core.capture.redact_values import Span

PLACEHOLDER = re.compile(r"\[REDACTED:([a-z0-9-]{1,64})(?::([0-9]{1,9}))?\]")
"""What stands for a secret: its rule, and its number among the distinct secrets of the fileset."""

SHORTEST = 8
"""Characters of a text below which it holds no finding: the shortest place and value have that many."""

_NAME_LENGTH = 64
_NAMES_KEPT = 4096


class Redactor:
    """Mask the texts of one fileset. Equal secrets get equal placeholders; the secrets themselves are not kept.

    `masked` counts the replacements, `secrets` the distinct secrets, `rules` the replacements of each rule.
    """

    def __init__(self, enabled: bool = True) -> None:
        self.enabled = enabled
        self.masked = 0
        self.rules: dict[str, int] = {}
        self._numbers: dict[bytes, str] = {}
        self._clean: set[str] = set()

    @property
    def mode(self) -> str:
        """Return `on` or `off`, as the manifest writes it."""
        return "on" if self.enabled else "off"

    @property
    def secrets(self) -> int:
        """Return the number of distinct secrets found so far."""
        return len(self._numbers)

    def mask(self, text: str) -> str:
        """Return `text` with every secret replaced by its placeholder; unchanged when masking is off."""
        if not self.enabled or len(text) < SHORTEST or text in self._clean:
            return text
        found = findings(text)
        if found:
            return self._replace(text, found)
        # Names, ids and times come again with every record.
        if len(text) <= _NAME_LENGTH and len(self._clean) < _NAMES_KEPT:
            self._clean.add(text)
        return text

    def mask_value(self, value: object) -> object:
        """Return a JSON value with the secrets masked in every text of it, names included (capture.md 9).

        The very same value comes back when nothing was found. What the name of a member says about its text counts,
        as it does in written JSON.
        """
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, list):
            items = [self.mask_value(item) for item in value]
            return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        if isinstance(value, dict):
            members = {self.mask(name): self._mask_member(name, item) for name, item in value.items()}
            same = len(members) == len(value) and all(members.get(name) is item for name, item in value.items())
            return value if same else members
        return value

    def _mask_member(self, name: str, value: object) -> object:
        if not self.enabled or not isinstance(value, str) or not _KEY_WORDS.search(name):
            return self.mask_value(value)
        found = _merged_findings([*findings(value), *_named_findings(name, value)])
        return self._replace(value, found) if found else value

    def _replace(self, text: str, found: list[Finding]) -> str:
        parts = []
        done = 0
        for finding in found:
            parts += [text[done : finding.start], self._placeholder(finding)]
            done = finding.end
        return "".join([*parts, text[done:]])

    def _placeholder(self, finding: Finding) -> str:
        from hashlib import blake2b

        # A digest in memory keeps equal secrets together without holding a secret of any length.
        key = blake2b(finding.secret.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        placeholder = self._numbers.get(key)
        if placeholder is None:
            placeholder = self._numbers[key] = f"[REDACTED:{finding.rule}:{len(self._numbers) + 1}]"
        self.masked += 1
        rule = placeholder.split(":")[1]
        self.rules[rule] = self.rules.get(rule, 0) + 1
        return placeholder


_KEY_WORDS = re.compile(r"(?i)pass|pwd|secret|token|credential|key|auth|cookie")


class Finding:
    """A secret in a text: its place in code points, its rule, and the secret as it reads without terminal codes."""

    __slots__ = ("end", "rule", "secret", "start")

    def __init__(self, start: int, end: int, rule: str, secret: str) -> None:
        self.start = start
        self.end = end
        self.rule = rule
        self.secret = secret


def findings(text: str) -> list[Finding]:
    """Return the secrets of `text` in order; they do not overlap, and none touches a placeholder."""
    visible, origins = _visible(text)
    view = Text(visible)
    spans = [*_shaped(view), *_placed(view)]
    if not spans:
        return []
    spans.sort(key=lambda span: (span[0], -span[1]))
    return [_finding(view, span, origins) for span in _without_placeholders(view, _merged(spans))]


def _named_findings(name: str, value: str) -> list[Finding]:
    """Return what is a secret in `value` because it is the value of `name`."""
    lead = f'"{_QUOTING.sub(".", name)}": "'
    found = findings(f'{lead}{_QUOTING.sub(".", value)}"')
    shift = len(lead)
    return [
        Finding(finding.start - shift, end, finding.rule, value[finding.start - shift : end])
        for finding in found
        if finding.start >= shift and (end := min(finding.end - shift, len(value)))
    ]


_QUOTING = re.compile(r'["\\\r\n]')


def _merged_findings(found: list[Finding]) -> list[Finding]:
    """Return findings of one text in order, of those that overlap the longest."""
    found.sort(key=lambda finding: (finding.start - finding.end, finding.start))
    kept: list[Finding] = []
    for finding in found:
        if all(finding.end <= other.start or other.end <= finding.start for other in kept):
            kept.append(finding)
    return sorted(kept, key=lambda finding: finding.start)


def placeholders(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield number, rule and offset of each numbered placeholder in a masked text (capture.md 10.4, `places`)."""
    if "[REDACTED:" in text:
        for found in PLACEHOLDER.finditer(text):
            if found[2]:
                yield int(found[2]), found[1], found.start()


def _shaped(view: Text) -> Iterator[Span]:
    """Yield the tokens that their shape gives away."""
    raw = view.raw
    runs = raw.translate(RUN_TABLE)
    shortest = b"w" * RUN_LENGTH
    begin, done = runs.find(shortest), 0
    while begin >= 0:
        end = runs.find(b" ", begin)
        end = len(raw) if end < 0 else end
        for edge in TRIGGERS.finditer(raw, begin - 1, end):
            # What lies inside a finding is part of it.
            if edge.end() < done:
                continue
            for shape in SHAPES_BY_TRIGGER[edge[edge.lastindex or 0]]:
                span = shape.span(view, edge.end())
                if span is not None:
                    span = _extended(raw, span)
                    done = max(done, span[1])
                    yield span
        begin = runs.find(shortest, end)


def _placed(view: Text) -> Iterator[Span]:
    """Yield the secrets that their place gives away."""
    low = view.low
    for word, places in PLACES:
        at = low.find(word)
        while at >= 0:
            following = at + len(word)
            for place in places:
                for span in place(view, at):
                    extended = _extended(view.raw, span)
                    following = max(following, extended[1])
                    yield extended
            at = low.find(word, following)


def _extended(raw: bytes, span: Span) -> Span:
    """Return a finding up to where its value really ends: patterns are bounded, secrets are not.

    It also takes in the word characters behind it, so that no rest becomes a finding of its own behind a placeholder.
    """
    start, end, rule = span
    rest = (_LONG_REST if end - start > 250 else _WORD_REST).match(raw, end)
    return start, end if rest is None else rest.end(), rule


_WORD_REST = re.compile(rb"\w*+")
_LONG_REST = re.compile(rb"[^\s\"'\\,;&<>{}()\[\]`@]*+")


def _merged(spans: list[Span]) -> Iterator[Span]:
    """Yield sorted spans with those that overlap taken together, named by the first."""
    start, end, rule = spans[0]
    for next_start, next_end, next_rule in spans[1:]:
        if next_start < end:
            end = max(end, next_end)
            continue
        yield start, end, rule
        start, end, rule = next_start, next_end, next_rule
    yield start, end, rule


def _without_placeholders(view: Text, spans: Iterator[Span]) -> Iterator[Span]:
    """Yield the spans that overlap no placeholder."""
    if b"[REDACTED:" not in view.raw:
        yield from spans
        return
    opaque = [(found.start() + 1, found.end() + 1) for found in PLACEHOLDER.finditer(view.text)]
    index = 0
    for span in spans:
        while index < len(opaque) and opaque[index][1] <= span[0]:
            index += 1
        if index == len(opaque) or opaque[index][0] >= span[1]:
            yield span


def _finding(view: Text, span: Span, origins: list[tuple[int, int]] | None) -> Finding:
    start, end = span[0] - 1, span[1] - 1
    secret = view.text[start:end]
    if origins is None:
        return Finding(start, end, span[2], secret)
    return Finding(_origin(origins, start), _origin(origins, end - 1) + 1, span[2], secret)


_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_UNSEEN = re.compile(f"\x1b\\[[0-9;:<=>?]{{0,64}}[A-Za-z]|[{_INVISIBLE}]")


def _visible(text: str) -> tuple[str, list[tuple[int, int]] | None]:
    """Return `text` as a reader sees it and, where something was taken out, pairs of offsets (there, in `text`)."""
    if "\x1b" not in text and (text.isascii() or not any(character in text for character in _INVISIBLE)):
        return text, None
    parts = []
    origins = []
    length = done = 0
    for found in _UNSEEN.finditer(text):
        parts.append(text[done : found.start()])
        origins.append((length, done))
        length += found.start() - done
        done = found.end()
    origins.append((length, done))
    return "".join([*parts, text[done:]]), origins


def _origin(origins: list[tuple[int, int]], offset: int) -> int:
    """Return where the character at `offset` of the visible text stands in the whole one."""
    from bisect import bisect_right

    seen, whole = origins[bisect_right(origins, (offset, len(origins) and 1 << 62)) - 1]
    return whole + offset - seen
