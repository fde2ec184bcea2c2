"""What a reader takes and gives: records, turns, the facts of a session; the general table of classes (capture.md 5).

**The interface of a reader.** `readers/<harness>.py` exposes one function, named in `readers/table.py`:

    def read(source: Source, session: Session) -> Iterator[Outcome]: ...

It opens nothing, prints nothing and knows no other reader. `source` hands out the records (`source.py`):

* `source.shape` is `lines`, `document`, `text`, `database` or `folder`, as the sniffer found it;
* `source.records()` yields a `Record` for each JSON value of a line format, one after the other from a file that is
  never held whole. Damaged lines are counted by the source and never arrive. It is called once, to its end;
* `source.peek()` yields the same records for a look ahead (what the whole file holds, or where the last version of a
  message stands); it counts nothing and may stop anywhere;
* `source.value_at_place(record)` gives the value of a record of `peek` again;
* `source.document()` is the value of a JSON document; the reader makes its own `Record(value, "/messages/3")`;
* `source.text_lines()` yields `(number, offset, text)` of a text without its line ends;
* `source.database()` is an open read-only `sqlite3.Connection`; a row is a `Record(value, "table:key")`;
* `source.files(pattern)` and `source.load(name)` find and read the JSON files of a store folder, sorted, hashed;
* `source.sidecar(name)` is the text of a file that belongs to the session, by its path relative to the source's folder;
* `source.damaged(at, why)` counts a record that cannot be read (a broken JSON column, a broken file).

For **every** record the reader yields exactly one outcome `(record, turns, fate)`: the turns that it gave, in order,
and, when there are none, `SKIPPED` (no conversation in it) or `MERGED` (captured already, or replaced later). With
turns the fate is `USED` whatever was said. So `read = used + merged + skipped + bad` holds by itself.

A turn is made by `said`, `thought`, `called` or `answered`; all other fields (`ts`, `model`, `agent`, `rid`) are set
as attributes, or for all turns of a record by `stamp`. The core does the rest: `seq`, `src`, `at`, `byte`, `utc`, pairs
by `call` within one agent in either order, masking, cuts, dropping of blank turns (calls and results stay). A call gets
its arguments as the value found; they are written as compact JSON after masking. Nothing is masked by a reader.

Facts are told to the session as they are met, the first one counts: `session.found_id`, `.found_folder`,
`.found_model`, `.found_harness`, `.found_thread`. Tokens: `session.count_tokens(key, {...})` for numbers that repeat
for one request, `session.count_total({...})` for cumulative ones, told before the outcome whose first turn shall carry
them. `session.warn` and `session.note` take one line each. What must be unpacked or opened is done by two modules that
readers never call: `zstd.unpack(path, file)` writes the unpacked bytes of the file `path` to the open binary `file`,
and `database.connect(path)` returns the connection and `database.tables(path)` the columns of each table, a
`dict[str, set[str]]`; both raise HandoffError. `session.wanted` is the text of `--session`, `session.subagents`
that of `--subagents`; a reader that must choose among sessions raises `Ambiguous` or `Absent`.

Imports `errors` and `text` alone.
"""

from __future__ import annotations

from array import array

from handoff_core.errors import NO_MATCH, NOTHING_TO_BUILD, HandoffError
from handoff_core.text import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    Outcome = tuple["Record", Sequence["Turn"], str]

CLASSES = ("USER", "AGENT", "TOOL", "THOUGHT", "OTHER")
USER, AGENT, TOOL, THOUGHT, OTHER = CLASSES

USED, MERGED, SKIPPED = "used", "merged", "skipped"
"""What became of a record (capture.md 5.6)."""

FEW_IDS = 1 << 16
"""Ids that a plain set holds, a power of two: some four megabytes."""

TOKEN_KINDS = ("input", "output", "cache_read", "cache_write", "reasoning")


class Record:
    """One unit of a source: its value, its place, and the offset of its line where there are lines."""

    __slots__ = ("at", "byte", "kind", "value")

    def __init__(self, value: Any, at: int | str, byte: int | None = None, kind: str | None = None) -> None:
        self.value = value
        self.at = at
        self.byte = byte
        self.kind = kind
        """The raw kind that the manifest counts; None: the value's own `type`."""


class Turn:
    """One utterance, call or result, as a reader makes it; the core adds number, place and pair (capture.md 5.1)."""

    # What most turns lack stands on the class: it costs nothing where it is not set.
    ts = ""
    tool: str | None = None
    call: str | None = None
    error = False
    model: str | None = None
    agent: str | None = None
    rid: str | None = None
    usage: dict[str, int] | None = None
    cut = 0
    masked: tuple[str, ...] = ()
    """Names of the fields in which the core masked something."""

    def __init__(self, class_: str, kind: str, text: Any) -> None:
        self.class_ = class_
        self.kind = kind
        self.text = text
        """The text; of a call its arguments, any JSON value or None."""


def said(class_: str, text: str, kind: str = "text") -> Turn:
    """Return a turn of plain text, such as what a person or an agent said."""
    return Turn(class_, kind, text)


def thought(text: str) -> Turn:
    """Return a turn of what an agent thought."""
    return Turn(THOUGHT, "thinking", text)


def called(tool: object, call: object, arguments: object) -> Turn:
    """Return a tool call; `arguments` is the value found, a text stays as it is, None is no text."""
    turn = Turn(TOOL, "tool_call", arguments)
    turn.tool = name_of(tool)
    turn.call = name_of(call)
    return turn


def answered(call: object, text: str, *, failed: bool = False, tool: object = None) -> Turn:
    """Return a tool result."""
    turn = Turn(TOOL, "tool_result", text)
    turn.tool = name_of(tool)
    turn.call = name_of(call)
    turn.error = failed
    return turn


def name_of(value: object) -> str | None:
    """Return a name or an id as a non-empty text; numbers are spelled out, anything else is None."""
    if type(value) is str:
        return (value if value.isascii() else plain(value)) or None
    if type(value) is int:
        return str(value)
    return None


def time_of(value: object) -> str:
    """Return a time as the source writes it, as text; empty without one."""
    if type(value) is str:
        return value if value.isascii() else plain(value)
    if type(value) in (int, float):
        return repr(value)
    return ""


def stamp(turns: Iterable[Turn], ts: str = "", rid: str | None = None, model: str | None = None) -> None:
    """Put the time, id and model of a record on all of its turns; models only on those that a model made."""
    for turn in turns:
        if ts and not turn.ts:
            turn.ts = ts
        turn.rid = rid
        if model and (turn.class_ in (AGENT, THOUGHT) or turn.kind == "tool_call"):
            turn.model = model


def joined(turns: Iterable[Turn]) -> list[Turn]:
    """Return `turns` with neighbouring texts of one class and kind joined by a line feed; blank ones go."""
    made: list[Turn] = []
    last = None
    for turn in turns:
        if turn.class_ == TOOL:
            last = None
        elif not turn.text or turn.text.isspace():
            continue
        elif last is not None and last.class_ == turn.class_ and last.kind == turn.kind:
            last.text += "\n" + turn.text
            continue
        else:
            last = turn
        made.append(turn)
    return made


def classify(role: str, kind: str, *, has_call: bool = False) -> tuple[str, str]:
    """Return class and kind of a record by the general table (capture.md 5.2), first line that fits."""
    role, kind = role.lower(), kind.lower()
    if "tool" in kind or "function_call" in kind or role == "tool":
        return TOOL, _tool_kind(role, kind, has_call=has_call)
    if "reason" in kind or "think" in kind:
        return THOUGHT, "thinking"
    if role == "user" or kind in ("user", "human"):
        return USER, "text"
    if role == "assistant" or kind in ("assistant", "ai"):
        return AGENT, "text"
    return OTHER, "system"


def _tool_kind(role: str, kind: str, *, has_call: bool) -> str:
    if "result" in kind or "output" in kind or (has_call and role == "tool"):
        return "tool_result"
    return "tool_call" if "use" in kind or "call" in kind else "tool"


class Known:
    """A set of ids that costs about sixteen bytes for each, so that a million records fit (capture.md 6).

    What is kept of an id is its hash. As long as they are few they stand in a set, which is quicker.
    """

    __slots__ = ("_count", "_few", "_mask", "_table")

    def __init__(self) -> None:
        self._few: set[int] | None = set()
        self._mask = 0
        self._table = array("q")
        self._count = 0

    def __contains__(self, item: object) -> bool:
        """Say whether `item` was added."""
        key = hash(item) or 1
        return key in self._few if self._few is not None else self._table[self._slot(key)] != 0

    def add(self, item: object) -> None:
        """Add `item`, anything that can be hashed."""
        key = hash(item) or 1
        if self._few is None:
            self._put(key)
            return
        self._few.add(key)
        if len(self._few) > FEW_IDS:
            few, self._few = self._few, None
            self._resize(FEW_IDS * 4 - 1, few)

    def _put(self, key: int) -> None:
        slot = self._slot(key)
        if self._table[slot]:
            return
        self._table[slot] = key
        self._count += 1
        if self._count * 3 > self._mask * 2:
            self._resize(self._mask * 2 + 1, self._table)

    def _slot(self, key: int) -> int:
        table, mask = self._table, self._mask
        slot = key & mask
        while (found := table[slot]) and found != key:
            slot = (slot + 1) & mask
        return slot

    def _resize(self, mask: int, keys: Iterable[int]) -> None:
        self._mask = mask
        self._table = array("q", [0]) * (mask + 1)
        self._count = 0
        for key in keys:
            if key:
                self._put(key)


class Session:
    """What a source tells about the session, and what the command wants of it."""

    def __init__(self, wanted: str = "", *, subagents: bool = False, agent: str | None = None) -> None:
        self.mask: Callable[[str], str] = str
        """Masks every fact as it is met; the core sets it."""
        self.wanted = wanted
        self.subagents = subagents
        self.agent = agent
        """The subagent whose transcript this source is; the core puts it on every turn."""
        self.ids: list[str] = []
        """Ids met, distinct, in order, at most 100."""
        self.folder = ""
        self.model = ""
        self.harness = ""
        self.thread = ""
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self.missing_subagents = 0
        self.history: list[tuple[object, str]] = []
        self.pending: dict[str, int] = {}
        """Tokens newly counted that wait for the next turn."""
        self.usage: dict[str, int] = {}
        self._requests: dict[object, dict[str, int]] = {}
        self._totals: dict[str, int] = {}

    def found_id(self, value: object) -> None:
        """Take a session id that stands in a record."""
        if type(value) is not str or not value or len(self.ids) >= 100:
            return
        value = self.mask(value)
        if value not in self.ids:
            self.ids.append(value)

    def found_folder(self, value: object) -> None:
        """Take the working folder of the session; the first one counts."""
        if not self.folder and type(value) is str:
            self.folder = self.mask(value)

    def found_model(self, value: object) -> None:
        """Take the model's name; the first one counts."""
        if not self.model and type(value) is str:
            self.model = self.mask(value)

    def found_harness(self, value: object) -> None:
        """Take the name of the harness that a record gives; the first one counts."""
        if not self.harness and type(value) is str:
            self.harness = self.mask(value)

    def found_thread(self, value: object) -> None:
        """Take the thread, which can name a project (capture.md 3); the first one counts."""
        if not self.thread and type(value) is str:
            self.thread = self.mask(value)

    def warn(self, line: str) -> None:
        """Say that something was lost, kept back or replaced; stands in the brief as well."""
        if line not in self.warnings:
            self.warnings.append(line)

    def note(self, line: str) -> None:
        """Say something worth knowing."""
        if line not in self.notes:
            self.notes.append(line)

    def history_elsewhere(self, number: object, thread: str) -> None:
        """Say that the history before record `number` is in another thread (capture.md 5.6)."""
        self.history.append((number, thread))

    def count_tokens(self, key: object, numbers: dict[str, object]) -> None:
        """Count the tokens of one request; numbers that repeat under the same `key` count once, the greatest of each.

        `numbers` maps the kinds of `TOKEN_KINDS` to what the source says; what is no positive integer is left out.
        """
        before = self._requests.pop(key, {}) if key is not None else {}
        after = dict(before)
        for kind, number in numbers.items():
            if type(number) is int and number > before.get(kind, 0):
                after[kind] = number
                self._add(kind, number - before.get(kind, 0))
        if key is None:
            return
        self._requests[key] = after
        if len(self._requests) > 16:
            del self._requests[next(iter(self._requests))]

    def count_total(self, numbers: dict[str, object]) -> None:
        """Count the increase of cumulative totals; a fall starts anew (capture.md 5.5)."""
        if numbers == self._totals:
            return
        for kind, number in numbers.items():
            before = self._totals.get(kind, 0)
            if type(number) is not int or number < 0 or number == before:
                continue
            self._add(kind, number - before if number >= before else number)
            self._totals[kind] = number

    def _add(self, kind: str, number: int) -> None:
        if number > 0:
            self.pending[kind] = self.pending.get(kind, 0) + number
            self.usage[kind] = self.usage.get(kind, 0) + number


class Ambiguous(HandoffError):  # noqa: N818 - it says what was found, the command says that it failed
    """Report that several sessions fit (exit 3); `names` are their ids."""

    def __init__(self, source: str, names: Iterable[str]) -> None:
        super().__init__(f"{source} holds several sessions: {', '.join(names)}", "pick one with --session ID", NO_MATCH)


class Absent(HandoffError):  # noqa: N818 - as above
    """Report that the source holds no such session (exit 4)."""

    def __init__(self, source: str, wanted: str = "") -> None:
        what = f"no session '{wanted}'" if wanted else "no session"
        super().__init__(f"{source} holds {what}", code=NOTHING_TO_BUILD)


def each_once(records: Iterable[Outcome]) -> Iterator[Outcome]:
    """Yield the outcomes of records whose id (`rid` of the turns) gave turns before as merged."""
    known = Known()
    for record, turns, fate in records:
        rid = turns[0].rid if turns else None
        if rid is None:
            yield record, turns, fate
        elif rid in known:
            yield record, (), MERGED
        else:
            known.add(rid)
            yield record, turns, fate
