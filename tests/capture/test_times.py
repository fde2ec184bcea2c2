"""Tests of the times of transcripts (capture.md 5.3)."""

from __future__ import annotations

import unittest

from handoff_core.capture.times import clock_text, utc_of


class Times(unittest.TestCase):
    def test_thirteen_digits_are_milliseconds_ten_are_seconds_sixteen_are_microseconds(self) -> None:
        cases = {
            "1780315200123": "2026-06-01T12:00:00.123Z",
            "1780315200": "2026-06-01T12:00:00.000Z",
            "1780315200.9999": "2026-06-01T12:00:00.999Z",
            "1780315200.5": "2026-06-01T12:00:00.500Z",
            "1780315200123456": "2026-06-01T12:00:00.123Z",
        }
        for text, utc in cases.items():
            with self.subTest(text):
                self.assertEqual(utc_of(text), utc)

    def test_iso_times_need_a_zone_and_keep_milliseconds(self) -> None:
        cases = {
            "2026-05-01T09:00:00.123Z": "2026-05-01T09:00:00.123Z",
            "2026-05-01T09:00:00Z": "2026-05-01T09:00:00.000Z",
            "2026-05-01 09:00:00+02:00": "2026-05-01T07:00:00.000Z",
            "2026-05-01T09:00:00.1239999+0200": "2026-05-01T07:00:00.123Z",
            "2026-01-01T00:30:00+05:30": "2025-12-31T19:00:00.000Z",
            "2024-02-29T23:59:59.9-00:30": "2024-03-01T00:29:59.900Z",
            "2000-02-29T00:00:00Z": "2000-02-29T00:00:00.000Z",
        }
        for text, utc in cases.items():
            with self.subTest(text):
                self.assertEqual(utc_of(text), utc)

    def test_anything_else_has_no_utc(self) -> None:
        for text in (
            "",
            "2026-05-01T09:00:00",
            "2026-05-01",
            "2026-02-29T09:00:00Z",
            "1900-02-29T09:00:00Z",
            "2026-13-01T09:00:00Z",
            "2026-00-01T09:00:00Z",
            "2026-04-31T09:00:00Z",
            "2026-05-01T24:00:00Z",
            "2026-05-01T09:60:00Z",
            "2026-05-01T09:00:60Z",
            "2026-05-01T09:00:00+24:00",
            "2026-05-01T09:00:00 +0200",
            "0000-01-01T00:00:00Z",
            "0001-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59-01:00",
            "٢٠٢٦-05-01T09:00:00Z",
            "178031520",
            "17803152001",
            "1780315200123.5",
            "-1780315200",
            "1e9",
            "yesterday",
            "2026-05-01T09:00:00Z\n",
        ):
            with self.subTest(text):
                self.assertEqual(utc_of(text), "")

    def test_the_filesets_own_clock_has_whole_seconds(self) -> None:
        self.assertEqual(clock_text(1780315200), "2026-06-01T12:00:00Z")
        self.assertEqual(clock_text(0), "1970-01-01T00:00:00Z")


if __name__ == "__main__":
    unittest.main()
