"""Turns out of content blocks, the form that most harnesses share, and plain text out of nested results (formats.md 3).

Imports `turns` alone.
"""

from __future__ import annotations

import json

from handoff_core.capture.turns import Turn, answered, called, said, thought

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Judge = Callable[[str], Iterable[Turn]]
    """Says which turns a text is; a plain one returns a single turn."""

IMAGE = "[image]"
_CALLS = ("toolCall", "tool-call", "tool_call")
_RESULTS = ("tool-result", "toolResult")
_FILES = ("document", "file", "input_file")
_NAMES = ("title", "filename", "file_name", "fileName", "name", "media_type", "mediaType", "mimeType", "mime_type")
_TEXTS = ("text", "content", "output", "result")


_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)


def _encoding() -> Callable[[Any, int], Iterable[str]]:
    """Return the encoder of the standard library, ready made: making one costs as much as most values."""
    from json import encoder

    make: Any = getattr(encoder, "c_make_encoder", None)
    if make is None:
        return lambda value, _level: _encoder.iterencode(value)
    encode: Callable[[Any, int], Iterable[str]]
    encode = make(None, _encoder.default, encoder.encode_basestring, None, ":", ",", False, False, True)
    return encode


_encode = _encoding()


def compact(value: Any) -> str:
    """Return a value as compact JSON with its own order of keys."""
    return "".join(_encode(value, 0))


def turns_of(content: Any, judge: Judge) -> list[Turn]:
    """Return the turns of a message's content, a text or a list of blocks, in order; neighbours are not joined yet."""
    if type(content) is str:
        return list(judge(content))
    if type(content) is not list:
        return []
    made: list[Turn] = []
    for block in content:
        if type(block) is dict:
            made += _block(block, judge)
        elif type(block) is str:
            made += judge(block)
    return made


def _block(block: dict[str, Any], judge: Judge) -> Iterable[Turn]:
    kind = block.get("type")
    if kind == "text":
        return judge(text_of(block.get("text")))
    if type(kind) is not str:
        return judge(_first_text(block, ("text", "content")))
    if kind in ("thinking", "reasoning"):
        return (thought(_first_text(block, ("thinking", "text"))),)
    if kind == "redacted_thinking":
        return ()
    if kind.endswith("tool_use") or kind in _CALLS:
        return (called(block.get("name"), block.get("id"), arguments_of(block)),)
    if kind.endswith("tool_result") or kind in _RESULTS:
        return (answered(block.get("tool_use_id"), flat(block.get("content")), failed=block.get("is_error") is True),)
    if "image" in kind:
        return judge(IMAGE)
    if kind in _FILES:
        return judge(file_mark(block))
    return judge(_first_text(block, ("text", "content")))


def arguments_of(block: dict[str, Any]) -> Any:
    """Return the arguments of a call as they stand: `input`, else `arguments`, else `args`."""
    for key in ("input", "arguments", "args"):
        if block.get(key) is not None:
            return block[key]
    return None


def text_of(value: Any) -> str:
    """Return a text, empty for anything else."""
    return value if type(value) is str else ""


def _first_text(block: dict[str, Any], keys: Iterable[str]) -> str:
    return next((block[key] for key in keys if type(block.get(key)) is str and block[key]), "")


def file_mark(block: dict[str, Any]) -> str:
    """Return `[file: <name or type>]` for an attachment; its bytes go nowhere."""
    source = block.get("source")
    for holder in (block, source if type(source) is dict else {}):
        name = _first_text(holder, _NAMES)
        if name:
            return f"[file: {name}]"
    return f"[file: {text_of(block.get('type')) or 'file'}]"


def plain(class_: str, kind: str = "text") -> Judge:
    """Return a judge that gives every text the same class and kind."""
    return lambda text: (said(class_, text, kind),)


def flat(content: Any) -> str:
    """Return the text of a result: a text, or a list whose elements stand one per line (formats.md 3)."""
    if type(content) is str:
        return content
    if content is None:
        return ""
    return "\n".join(map(_element, content if type(content) is list else [content]))


def _element(element: Any) -> str:
    if type(element) is str:
        return element
    if type(element) is not dict:
        return compact(element)
    kind = text_of(element.get("type"))
    if "image" in kind:
        return IMAGE
    if kind in _FILES:
        return file_mark(element)
    for key in _TEXTS:
        value = element.get(key)
        if type(value) is str:
            return value
        if type(value) is list and value:
            return flat_once(value)
    return compact(element)


def flat_once(content: list[Any]) -> str:
    """Return the texts of a list inside an element, one per line; what has none is compact JSON."""
    return "\n".join(
        item
        if type(item) is str
        else text_of(item.get("text")) or compact(item)
        if type(item) is dict
        else compact(item)
        for item in content
    )
