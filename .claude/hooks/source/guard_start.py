"""Start the judging part of the guard: import the modules that the hook file carries as text, and print the verdict."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

LIMIT = 32 * 1024 * 1024


class Carried:
    """Imports the modules that the hook file carries."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def find_spec(self, name: str, *_: object) -> object:
        """Return the spec of a carried module, or None for any other."""
        return type(sys.__spec__)(name, self) if name in self.texts else None  # type: ignore[arg-type]

    def create_module(self, _: object) -> None:
        """Leave it to the interpreter to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Compile and run the module's text."""
        name = module.__name__
        exec(compile(self.texts[name], f"<{name}>", "exec"), module.__dict__)  # noqa: S102 - part of the hook file


def looks_plain(data: bytes) -> bool:
    """Return whether the call is a plain command that changes nothing; in doubt and trouble it is not."""
    if len(data) > LIMIT or (b">" in data and b".scratch" in data):
        return False
    try:
        from guard_json import parse_json
        from guard_plain import is_plain

        return is_plain(parse_json(data.decode("utf-8-sig")))
    except Exception:  # noqa: BLE001 - the full judgement knows what to make of it
        return False


def harness_of(arguments: list[str]) -> str:
    """Return the harness that the arguments name; it only picks the form of the answer."""
    return arguments[1] if arguments[:1] == ["--harness"] and len(arguments) > 1 else "claude"


def run(data: bytes, arguments: list[str], texts: dict[str, str]) -> int:
    """Judge the call, write the denial if there is one, and return the exit code."""
    sys.meta_path.insert(0, Carried(texts))  # type: ignore[arg-type]
    if looks_plain(data):
        return 0
    import guard_payload

    if len(data) > LIMIT:
        data = b"[" + data  # beyond the limit a call is not readable
    line = guard_payload.answer(data, harness_of(arguments))
    try:
        sys.stdout.buffer.write(line.encode("ascii"))
        sys.stdout.buffer.flush()
    except (OSError, ValueError, AttributeError):
        sys.stdout = None  # nothing is left to be flushed, which would change the exit code
        sys.stderr.write("handoff: this call would change the hand-off ledger\n")
        return 2
    return 0
