"""Makes cleaned text safe for a page: escaped for text and double-quoted attributes alike.

Follows view.md 11.3. Imports nothing of ours.
"""

from __future__ import annotations

LONGEST = 4000
"""Characters of one text on a page; more are counted, not shown."""

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def escape(text: str) -> str:
    """Return `text` so that HTML shows it as typed, in an element or in a double-quoted attribute."""
    return text.translate(_ESCAPES)


def shorten(text: str, limit: int = LONGEST) -> str:
    """Return `text`, cut after `limit` characters with a note of how long it is."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def paragraph(text: str, limit: int = LONGEST) -> str:
    """Return text with line breaks, shortened and escaped; each line feed becomes a `<br>`."""
    return escape(shorten(text, limit)).replace("\n", "<br>")


def slug(text: str) -> str:
    """Return `text` as part of an element's id: ASCII letters, digits and `-` stay, all else becomes `_`."""
    return "".join(c if c.isascii() and (c.isalnum() or c == "-") else "_" for c in text)
