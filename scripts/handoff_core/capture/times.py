"""Reads the times that harnesses write, and writes UTC (capture.md 5.3). Imports nothing of ours."""

from __future__ import annotations

import re

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:([Zz])|([+-])(\d\d):?(\d\d))", re.ASCII
)
_NUMBER = re.compile(r"(\d{10})(?:\.(\d+))?|(\d{13})|(\d{16})", re.ASCII)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_EPOCH_DAY = 719_162
"""Days from 0001-01-01 to 1970-01-01."""

LATEST = 253_402_300_799_999
"""The last millisecond of the year 9999."""


def utc_of(text: str) -> str:
    """Return a time as `YYYY-MM-DDTHH:MM:SS.mmmZ`, empty if it cannot be read or has no zone."""
    match = _ISO.fullmatch(text)
    if match is not None:
        return _of_iso(match)
    match = _NUMBER.fullmatch(text)
    return _of_number(match) if match is not None else ""


def _of_iso(match: re.Match[str]) -> str:
    year, month, day, hour, minute = map(int, match.group(1, 2, 3, 4, 5))
    second = int(match.group(6) or 0)
    millisecond = int(((match.group(7) or "") + "000")[:3])
    if not (year and 1 <= month <= 12 and 1 <= day <= _days_in(year, month) and hour < 24 and minute < 60):
        return ""
    if second > 59:
        return ""
    offset = 0
    if match.group(9):
        hours, minutes = int(match.group(10)), int(match.group(11))
        if hours > 23 or minutes > 59:
            return ""
        offset = (hours * 60 + minutes) * (-1 if match.group(9) == "-" else 1)
    if not offset:
        year_, month_, day_, hour_, minute_ = match.group(1, 2, 3, 4, 5)
        return f"{year_}-{month_}-{day_}T{hour_}:{minute_}:{second:02}.{millisecond:03}Z"
    seconds = ((_day_number(year, month, day) * 24 + hour) * 60 + minute - offset) * 60 + second
    return of_milliseconds(seconds * 1000 + millisecond)


def _of_number(match: re.Match[str]) -> str:
    """Return the time of seconds, milliseconds or microseconds since 1970."""
    seconds, fraction, milliseconds, microseconds = match.groups()
    if seconds:
        return of_milliseconds(int(seconds) * 1000 + int(((fraction or "") + "000")[:3]))
    return of_milliseconds(int(milliseconds) if milliseconds else int(microseconds) // 1000)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year: int, month: int) -> int:
    return 29 if month == 2 and _is_leap(year) else _DAYS[month - 1]


def _day_number(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a date."""
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400
    return days + sum(_days_in(year, earlier) for earlier in range(1, month)) + day - 1 - _EPOCH_DAY


def of_milliseconds(total: int) -> str:
    """Return milliseconds since 1970 as UTC text, empty beyond the years 1 to 9999."""
    if not -_EPOCH_DAY * 86_400_000 <= total <= LATEST:
        return ""
    days, rest = divmod(total, 86_400_000)
    from datetime import date

    seconds, millisecond = divmod(rest, 1000)
    day = date.fromordinal(days + _EPOCH_DAY + 1).isoformat()
    return f"{day}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{millisecond:03}Z"


def clock_text(seconds: int) -> str:
    """Return seconds since 1970 as `YYYY-MM-DDTHH:MM:SSZ`, the form of a fileset's own times."""
    return of_milliseconds(seconds * 1000)[:19] + "Z"
