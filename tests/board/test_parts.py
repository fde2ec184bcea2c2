"""The small rules the board is made of: stamps, numbers, cleaning, labels, locations, the drawing."""

from __future__ import annotations

import unittest

from handoff_core.board import forms
from handoff_core.board.clock import (
    Doubtful,
    Moment,
    Seconds,
    Zone,
    iso,
    overlap,
    read_moment,
    read_stamp,
    union,
    without,
)
from handoff_core.board.markdown import code, escape, fence
from handoff_core.board.model import first_sentence
from handoff_core.board.paint import Paint, line
from handoff_core.board.terminal import fit_location
from handoff_core.board.timeline import Axis, short_stage
from handoff_core.board.words import label, sentence
from handoff_core.text_html import escape as escape_html
from handoff_core.text_html import paragraph, slug
from handoff_core.text_view import clean, columns, cut_columns, lines, wrap


class Stamps(unittest.TestCase):
    def test_a_stamp_is_read_to_the_microsecond_in_any_zone(self) -> None:
        for text in ("2026-11-20T10:00:00.25Z", "2026-11-20T12:00:00.250000+02:00", "2026-11-20t04:30:00.25-0530"):
            self.assertEqual(read_moment(text), 1_795_168_800_250_000, text)

    def test_a_stamp_without_a_zone_reads_as_utc_and_is_a_fault(self) -> None:
        stamp = read_stamp("2026-11-20T10:00:00")
        self.assertEqual((stamp.fault, stamp.coarse), ("no-offset", True))
        self.assertEqual(iso(stamp.moment or Moment(0)), "2026-11-20T10:00:00Z")

    def test_what_is_no_date_and_time_is_unparseable(self) -> None:
        for text in (
            "2026-11-20",
            "yesterday",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "2026-11-20T24:00:00Z",
            "2026-11-20T10:00:60Z",
            "2026-11-20T10:00:00.Z",
            "2026-11-20T10:00:00+25:00",
            "2026-11-20T10:00:00Zulu",
            "２０26-11-20T10:00:00Z",
            "2026-11-20T10:00:00+",
        ):
            self.assertEqual(read_stamp(text).fault, "unparseable", text)

    def test_no_text_is_missing(self) -> None:
        values: tuple[object, ...] = (None, "", 7, True, [], {})
        for value in values:
            self.assertEqual(read_stamp(value).fault, "missing")

    def test_every_day_survives_being_written_and_read(self) -> None:
        for day in range(-719_162, 2_932_896, 9973):
            moment = Moment(day * 86_400 * 1_000_000)
            self.assertEqual(read_moment(iso(moment)), moment)

    def test_a_zone_shifts_what_is_printed(self) -> None:
        zone = Zone("+02:00", "UTC+02:00", lambda _: 7200)
        moment = read_moment("2026-11-20T23:30:00Z")
        self.assertEqual(zone.clock(moment), "01:30:00")
        self.assertEqual(zone.stamp(moment or Moment(0)), "2026-11-21 01:30:00")

    def test_intervals_are_joined_cut_out_and_measured(self) -> None:
        joined = union([(5, 7), (1, 3), (2, 4), (9, 9), (7, 8)])
        self.assertEqual(joined, [(1, 4), (5, 8)])
        self.assertEqual(without((0, 10), joined), [(0, 1), (4, 5), (8, 10)])
        self.assertEqual(overlap((3, 6), joined), 2)


class Numbers(unittest.TestCase):
    def test_a_duration_is_cut_off_not_rounded(self) -> None:
        shown = {0: "0s", 59.999: "59s", 60: "1m 00s", 599.9: "9m 59s", 600: "10m", 3599: "59m", 3600: "1h 00m"}
        shown |= {86_399: "23h 59m", 86_400: "1d 00h", 90_000: "1d 01h"}
        for seconds, text in shown.items():
            self.assertEqual(forms.duration(Seconds(seconds)), text)
        self.assertEqual(forms.duration(Doubtful(61)), "1m 01s?")
        self.assertEqual(forms.duration(None), "")

    def test_tokens_are_shortened(self) -> None:
        shown = {0: "0", 999: "999", 1000: "1k", 1499: "1k", 1500: "2k", 999_499: "999k", 999_500: "1.0M"}
        for number, text in shown.items():
            self.assertEqual(forms.tokens(number), text)

    def test_money_says_how_much_is_known(self) -> None:
        def shown(usd: float | None, *, complete: bool = True, estimated: bool = False) -> str:
            return forms.money({"usd": usd, "complete": complete, "estimated": estimated})

        self.assertEqual(shown(1.5), "$1.50")
        self.assertEqual(shown(0.0), "$0.00")
        self.assertEqual(shown(0.004), "<$0.01")
        self.assertEqual(shown(None, complete=False), "$?")
        self.assertEqual(shown(1.5, complete=False, estimated=True), "≥$1.50")
        self.assertEqual(shown(1.5, estimated=True), "~$1.50")

    def test_names_are_joined_as_people_do(self) -> None:
        self.assertEqual([forms.listed(list("abc")[:n]) for n in range(4)], ["", "a", "a and b", "a, b and c"])


class Words(unittest.TestCase):
    def test_an_agent_has_a_short_name(self) -> None:
        shown = {
            "product-requirements-expert": "prd-expert",
            "feature-implementer-routine": "implementer",
            "perf-reviewer": "perf",
            "pipeline-coordinator": "coord",
            "human": "human",
            "x" * 25: "x" * 23 + "…",
            "": "?",
        }
        for agent, text in shown.items():
            self.assertEqual(label(agent), text)
        self.assertEqual(label(None), "?")

    def test_a_sentence_is_filled_out_from_the_decision(self) -> None:
        asked = {"rule": "consultation-dispatch", "next": ["system-design-expert"], "context": {"requester": 3}}
        self.assertEqual(sentence(asked), "? asked design a question.")
        self.assertEqual(sentence({"rule": "build-retry"}), "The gate failed, attempt ? of 3; try again.")
        self.assertEqual(sentence({"rule": "a-rule-of-tomorrow"}), "a-rule-of-tomorrow")

    def test_a_title_is_the_first_sentence_or_line(self) -> None:
        self.assertEqual(first_sentence("Kites fly. At night."), "Kites fly.")
        self.assertEqual(first_sentence("v1.2 is out\nand more"), "v1.2 is out")

    def test_a_stage_has_a_short_name(self) -> None:
        self.assertEqual(list(map(short_stage, ("scope", "review 12", "fix 1"))), ["scope", "R12", "F1"])


class Cleaning(unittest.TestCase):
    def test_one_line_is_made_of_any_text(self) -> None:
        self.assertEqual(clean(" a\t b\r\nc\u2028d\u0085e "), "a b c d e")
        self.assertEqual(clean("\x1b[31mred\x1b[0m\x7f"), "[31mred[0m")
        self.assertEqual(clean("a\u200bb\u202ec\ufeffd\U000e0041e\xadf"), "abcdef")
        self.assertEqual(clean("a\u200cb\u200dc"), "a\u200cb\u200dc")
        self.assertEqual(clean("\ud800x"), "\ufffdx")

    def test_four_marks_of_a_run_stay(self) -> None:
        self.assertEqual(clean("e" + "\u0301" * 9 + "f"), "e" + "\u0301" * 4 + "f")
        self.assertEqual(clean("e" + "\u0301\u200b" * 9 + "f"), "e" + "\u0301" * 4 + "f")

    def test_breaks_are_kept_where_a_text_has_lines(self) -> None:
        self.assertEqual(lines("a \r\n\n b\x0bc\u2029\x00\u200b\nd"), "a\nb\nc\nd")

    def test_columns_are_counted_not_characters(self) -> None:
        self.assertEqual([columns(text) for text in ("ab", "漢字", "e\u0301", "─✔┃", "\xad")], [2, 4, 1, 3, 0])
        self.assertEqual(cut_columns("漢字漢字", 5), "漢字…")
        self.assertEqual(cut_columns("ab cd", 4), "ab…")

    def test_prose_is_wrapped_at_blanks_and_inside_long_words(self) -> None:
        self.assertEqual(wrap("aa bb cc", 5), ["aa bb", "cc"])
        self.assertEqual(wrap("a bbbbbbb", 3), ["a", "bbb", "bbb", "b"])
        self.assertEqual(wrap("", 3), [""])

    def test_a_page_shows_text_as_typed(self) -> None:
        self.assertEqual(escape_html("<a b=\"c\" d='e'>&amp;"), "&lt;a b=&quot;c&quot; d=&#x27;e&#x27;&gt;&amp;amp;")
        self.assertEqual(paragraph("a\n<b>"), "a<br>&lt;b&gt;")
        self.assertEqual(paragraph("x" * 4001), "x" * 4000 + "… (4001 characters)")
        self.assertEqual(slug("REQ-ü 1/2"), "REQ-__1_2")

    def test_markdown_shows_text_as_typed(self) -> None:
        self.assertEqual(escape("*a* _b_ [c](d) <e> `f` ~g~ |h| #1 @me"), MARKDOWN)
        self.assertEqual(escape("- a"), "\\- a")
        self.assertEqual(escape("12. a"), "12\\. a")
        self.assertEqual(escape("http://x www.y.z"), "http:\\//x www\\.y.z")
        self.assertEqual(code("a``b"), "```a``b```")
        self.assertEqual(code("`a|b`", table=True), "`` `a\\|b` ``")
        self.assertEqual(fence(["a ``` b"], "text"), ["````text", "a ``` b", "````"])


MARKDOWN = "\\*a\\* \\_b\\_ \\[c\\](d) &lt;e&gt; \\`f\\` \\~g\\~ \\|h\\| \\#\u20601 @\u2060me"


class Locations(unittest.TestCase):
    PATH = "src/main/java/org/app/owner/Pet.java:getVisit / src/test/java/org/app/owner/"

    def test_a_location_that_fits_stays(self) -> None:
        self.assertEqual(fit_location(self.PATH, 80, "…"), self.PATH)

    def test_leading_folders_give_way_first(self) -> None:
        self.assertEqual(
            fit_location(self.PATH, 70, "…"), "…/java/org/app/owner/Pet.java:getVisit / src/test/java/org/app/owner/"
        )

    def test_then_what_stands_behind_the_file_is_cut(self) -> None:
        self.assertEqual(fit_location(self.PATH, 30, "…"), "…/Pet.java:getVisit / src/tes…")

    def test_a_name_that_is_too_long_is_cut_in_its_middle(self) -> None:
        found = fit_location("a/" + "x" * 30 + ".py:7", 15, "…")
        self.assertTrue(found.startswith("xxx"))
        self.assertTrue(found.endswith(".py:7"))
        self.assertEqual(len(found), 15)

    def test_it_is_never_empty_and_never_too_wide(self) -> None:
        for text in (self.PATH, "x", "/" * 50, "a" * 300, "漢" * 40 + "/字.py:1", "(" * 40, "a/b/c/" + "d" * 60):
            for width in range(8, 90):
                found = fit_location(text, width, "…")
                self.assertTrue(found)
                self.assertLessEqual(columns(found), width)


class Drawing(unittest.TestCase):
    def test_a_cut_takes_its_share_and_the_rest_is_to_scale(self) -> None:
        axis = Axis(0, 1000, [(400, 900)], goes_on=False)
        self.assertEqual(axis.place(0), 0)
        self.assertAlmostEqual(axis.place(200), 0.97 * 0.4)
        self.assertAlmostEqual(axis.place(900) - axis.place(400), 0.03)
        self.assertAlmostEqual(axis.place(1000), 1)
        self.assertAlmostEqual(axis.place(5000), 1)

    def test_the_smallest_step_with_room_is_taken(self) -> None:
        axis = Axis(0, 1500 * 1_000_000, [], goes_on=False)
        self.assertEqual(
            [text for _, text in axis.ticks(Zone(), 84)], ["00:00", "00:05", "00:10", "00:15", "00:20", "00:25"]
        )

    def test_a_span_of_ten_thousand_years_ends_soon(self) -> None:
        first, last = read_moment("0001-01-01T00:00:00Z"), read_moment("9999-12-31T00:00:00Z")
        axis = Axis(first or 0, last or 0, [], goes_on=False)
        self.assertLessEqual(len(axis.ticks(Zone(), 84)), 7)

    def test_a_line_is_cut_across_its_colours(self) -> None:
        paint = Paint(40, cut=True, colour=True)
        text = paint.print([line(("a" * 30, "31"), ("b" * 30, "32"))])
        self.assertEqual(text, f"\x1b[31m{'a' * 30}\x1b[0m\x1b[32m{'b' * 9}…\x1b[0m\n")


if __name__ == "__main__":
    unittest.main()
