"""Stamps and spans of time: read, compared in whole microseconds, and spelled.

Follows view.md 3 and 5.8. Imports nothing: a zone is handed in, no clock is read here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SECOND = 1_000_000
"""Microseconds in a second."""

FUTURE_SECONDS = 120
BACK_SECONDS = 2

ZULU = ("", "Z", "z", "+00:00")
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Moment(int):
    """An instant: microseconds since 1970 in UTC. The JSON form spells it, so it is a type of its own."""

    __slots__ = ()


class Seconds(float):
    """A length of time in seconds; a `Doubtful` one rests on stamps that cannot be trusted."""

    __slots__ = ()


class Doubtful(Seconds):
    """A length of time that is shown with a `?` behind it (view.md 3)."""

    __slots__ = ()


class Stamp:
    """What a record's `ts` says: `moment` (None if it says none), and what is odd about it."""

    __slots__ = ("coarse", "fault", "moment")

    def __init__(self, moment: Moment | None, fault: str | None, *, coarse: bool = False) -> None:
        self.moment = moment
        self.fault = fault
        self.coarse = coarse


def read_stamp(value: object) -> Stamp:
    """Return what a `ts` says; the fault is `missing`, `unparseable`, `no-offset` or None (view.md 5.8)."""
    if not isinstance(value, str) or not value:
        return Stamp(None, "missing")
    parts = _split(value)
    moment = _moment(*parts) if parts else None
    if parts is None or moment is None:
        return Stamp(None, "unparseable")
    return Stamp(moment, None if parts[4] else "no-offset", coarse=not parts[3])


def read_moment(value: object) -> Moment | None:
    """Return the instant of an ISO 8601 date-time, None if it is none."""
    return read_stamp(value).moment


def _split(text: str) -> tuple[str, int, int, str, str] | None:
    """Return date, minutes of the day, seconds, digits of the fraction and zone of a date-time, None if it is none.

    Taken apart by hand: patterns cost milliseconds at every start.
    """
    if not text.isascii() or text[10:11] not in ("T", "t", " ") or text[13:14] != ":":
        return None
    hour, minute, rest = text[11:13], text[14:16], text[16:]
    second, fraction = "00", ""
    if rest[:1] == ":":
        second, rest = rest[1:3], rest[3:]
        if rest[:1] in (".", ","):
            digits = len(rest) - len(rest[1:].lstrip("0123456789")) - 1
            fraction, rest = rest[1 : 1 + digits], rest[1 + digits :]
            if not fraction:
                return None
    numbers = hour + minute + second
    if len(numbers) != 6 or not numbers.isdigit() or hour > "23" or minute > "59" or second > "59":
        return None
    return text[:10], int(hour) * 60 + int(minute), int(second), fraction, rest


def _moment(written: str, minutes: int, second: int, fraction: str, zone: str) -> Moment | None:
    day = _day_number(written)
    offset = _offset(zone)
    if day is None or offset is None:
        return None
    total = (day * 1440 + minutes - offset) * 60 + second
    return Moment(total * SECOND + int((fraction + "000000")[:6]))


_day_numbers: dict[str, int | None] = {}


def _day_number(text: str) -> int | None:
    """Return the days from 1970 to a date as it is written, None if there is no such date; a date is judged once."""
    if text not in _day_numbers:
        _day_numbers[text] = _count_days(text)
    return _day_numbers[text]


def _count_days(text: str) -> int | None:
    numbers = text[:4] + text[5:7] + text[8:]
    if len(numbers) != 8 or not numbers.isdigit() or text[4] + text[7] != "--":
        return None
    year, month, day = int(text[:4]), int(text[5:7]), int(text[8:])
    real = year > 0 and 1 <= month <= 12 and 1 <= day <= month_days(year, month)
    return days(year, month, day) if real else None


def _offset(zone: str) -> int | None:
    """Return the minutes east of UTC that a stamp's zone names, None if it names none that exists."""
    if zone in ZULU:
        return 0
    digits = zone[1:3] + zone[3:].removeprefix(":")
    if zone[0] not in "+-" or not digits.isdigit() or len(digits) not in (2, 4):
        return None
    hours, minutes = int(digits[:2]), int(digits[2:] or 0)
    if hours > 23 or minutes > 59:
        return None
    return (hours * 60 + minutes) * (-1 if zone[0] == "-" else 1)


def month_days(year: int, month: int) -> int:
    """Return how many days a month has."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _MONTH_DAYS[month - 1]


def days(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a date of the Gregorian calendar."""
    shifted = year - (month <= 2)
    era = shifted // 400
    of_era = shifted - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def date(day_number: int) -> tuple[int, int, int]:
    """Return year, month and day of a number of days since 1970-01-01."""
    shifted = day_number + 719_468
    era = shifted // 146_097
    of_era = shifted - era * 146_097
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * of_year + 2) // 153
    month = shifted_month + (3 if shifted_month < 10 else -9)
    return year_of_era + era * 400 + (month <= 2), month, of_year - (153 * shifted_month + 2) // 5 + 1


def iso(moment: Moment) -> str:
    """Return an instant as `YYYY-MM-DDTHH:MM:SSZ`, cut off to the second."""
    seconds = moment // SECOND
    year, month, day = date(seconds // 86_400)
    return f"{year:04d}-{month:02d}-{day:02d}T{_clock(seconds % 86_400)}Z"


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


class Zone:
    """A zone of printed times: the name it was asked for by, the name shown, and seconds east of UTC by instant."""

    __slots__ = ("name", "offset", "shown")

    def __init__(self, name: str = "UTC", shown: str = "UTC", offset: Callable[[int], int] = lambda _: 0) -> None:
        self.name = name
        self.shown = shown
        self.offset = offset

    def local_seconds(self, moment: int) -> int:
        """Return the seconds since 1970 that a wall clock of the zone shows at an instant."""
        seconds = moment // SECOND
        return seconds + self.offset(seconds)

    def clock(self, moment: Moment | None) -> str:
        """Return the time of day as `HH:MM:SS`, empty without an instant."""
        return "" if moment is None else _clock(self.local_seconds(moment) % 86_400)

    def stamp(self, moment: Moment) -> str:
        """Return date and time of day as `YYYY-MM-DD HH:MM:SS`."""
        seconds = self.local_seconds(moment)
        year, month, day = date(seconds // 86_400)
        return f"{year:04d}-{month:02d}-{day:02d} {_clock(seconds % 86_400)}"


def between(start: int, end: int) -> Seconds:
    """Return the seconds from one instant to another."""
    return Seconds((end - start) / SECOND)


def age(clock: int, moment: Moment | None) -> Seconds | None:
    """Return how long ago an instant is, never below 0; None without one."""
    return None if moment is None else between(min(moment, clock), clock)


Interval = tuple[int, int]


def union(intervals: list[Interval]) -> list[Interval]:
    """Return the intervals joined where they touch, in order; empty ones fall away."""
    joined: list[Interval] = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif end > start:
            joined.append((start, end))
    return joined


def total(intervals: list[Interval]) -> int:
    """Return the summed length of intervals in microseconds."""
    return sum(end - start for start, end in intervals)


def without(whole: Interval, taken: list[Interval]) -> list[Interval]:
    """Return what is left of an interval when joined intervals are taken out of it."""
    left, start = [], whole[0]
    for taken_start, taken_end in taken:
        if taken_start > start:
            left.append((start, min(taken_start, whole[1])))
        start = max(start, taken_end)
    if start < whole[1]:
        left.append((start, whole[1]))
    return [(a, b) for a, b in left if b > a]


def overlap(interval: Interval, others: list[Interval]) -> int:
    """Return how many microseconds of an interval lie inside joined intervals."""
    return sum(max(0, min(interval[1], end) - max(interval[0], start)) for start, end in others)
