"""Nothing that a filter lets through can act on a terminal, a page or a Markdown reader."""

from __future__ import annotations

import html
import html.parser
import re
import unicodedata
import unittest

from handoff_core import text, text_html, text_markdown, text_view
from handoff_core.capture.redact import Redactor, findings

from tests.property.tools import FEW, given, st

NASTY = st.sampled_from(["\x1b[2J", "\x1b]8;;http://x\x07", "\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\x85", "\u2028",
                         "\U000e0041", "\r\n", "\n", "\t", "\x00", "\x9b", "```", "````", "`", "|", "<b>", "</script>",
                         "<!--", "]]>", "![x](y)", "[x](y)", "&lt;", "&", '"', "'", "\\", "~~~", "*", "_", "\ud800",
                         "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301", "\U0001f469\u200d\U0001f680", "  "])  # fmt: skip
TEXTS = st.lists(NASTY | st.text(max_size=4), max_size=10).map("".join)
ACTIVE = {chr(code) for code in (*range(0x20), *text.HIDDEN)}
SECRETS = st.sampled_from(["AKIAQ3ZNX7WLTB5MHJ2K", "ghp_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA3bC6", "password=", "token: ",
                           "Authorization: Bearer ", "aB3dE6gH9jK2mN5pQ8rS", "https://ann:", "hunter2correct@host/",
                           "-----BEGIN PRIVATE KEY-----\n", "MIIEvQIBADANBgkqhkiG9w0B", "\n-----END PRIVATE KEY-----",
                           "[REDACTED:token:1]", "[REDACTED:", "]", '"', "\\n", " ", "=", ":", "export API_KEY=", "'",
                           "\x1b[0m", "\u200b", "Set-Cookie: session=", "; ", "--password ", "sk_live_", "&", "xoxb-1"])  # fmt: skip


class Events(html.parser.HTMLParser):
    """Notes whatever is more than text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.said = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(f"{tag} {attrs}")

    def handle_endtag(self, tag: str) -> None:
        self.found.append(tag)

    def handle_comment(self, data: str) -> None:
        self.found.append(data)

    def handle_decl(self, decl: str) -> None:
        self.found.append(decl)

    def handle_pi(self, data: str) -> None:
        self.found.append(data)

    def unknown_decl(self, data: str) -> None:
        self.found.append(data)

    def handle_data(self, data: str) -> None:
        self.said += data


class FiltersTest(unittest.TestCase):
    @FEW
    @given(TEXTS)
    def test_cleaned_text_is_one_line_without_control_or_hidden_characters(self, given_text: str) -> None:
        cleaned = text.clean(given_text)
        self.assertFalse(ACTIVE & set(cleaned))
        self.assertEqual(text.clean(cleaned), cleaned)

    @FEW
    @given(TEXTS)
    def test_the_boards_text_is_one_line_trimmed_and_cleaning_it_again_changes_nothing(self, given_text: str) -> None:
        cleaned = text_view.clean(given_text)
        unwanted = {c for c in cleaned if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}}
        self.assertFalse(unwanted | (ACTIVE - {"\u200c", "\u200d"}) & set(cleaned))
        self.assertEqual(text_view.clean(cleaned), cleaned)
        self.assertEqual(cleaned, cleaned.strip(" "))

    @FEW
    @given(TEXTS, st.integers(1, 12))
    def test_text_cut_to_a_width_is_no_wider(self, given_text: str, width: int) -> None:
        cleaned = text_view.clean(given_text)
        self.assertLessEqual(text_view.columns(text_view.cut_columns(cleaned, width)), width)
        self.assertTrue(cleaned.startswith(text_view.first_columns(cleaned, width)))
        self.assertTrue(cleaned.endswith(text_view.last_columns(cleaned, width)))

    @FEW
    @given(TEXTS)
    def test_a_page_shows_escaped_text_as_typed_and_finds_no_element_in_it(self, given_text: str) -> None:
        typed = text_view.clean(given_text)
        page = Events()
        page.feed(f'<i title="{text_html.escape(typed)}">{text_html.escape(typed)}</i>')
        page.close()
        self.assertEqual(page.found, [f"i {[('title', typed)]}", "i"])
        self.assertEqual(page.said, typed)

    @FEW
    @given(TEXTS)
    def test_a_fence_is_closed_by_its_own_last_line_alone(self, given_text: str) -> None:
        first, *body, last, end = text_markdown.fenced(given_text).split("\n")
        self.assertEqual((first.removesuffix("text"), end), (last, ""))
        closing = re.compile(rf" {{0,3}}`{{{len(last)},}}\s*")
        self.assertFalse([line for line in body if closing.fullmatch(line)])
        self.assertFalse((ACTIVE - {"\n", "\t"}) & set("\n".join(body)))

    @FEW
    @given(TEXTS)
    def test_code_is_one_line_that_its_own_backquotes_alone_can_close(self, given_text: str) -> None:
        written = text_markdown.code(given_text)
        ticks = re.match("`+", written)
        assert ticks is not None
        inside = written[len(ticks[0]) : -len(ticks[0])]
        self.assertTrue(written.endswith(ticks[0]))
        self.assertNotIn(ticks[0], re.findall("`+", inside))
        self.assertFalse(ACTIVE & set(written))

    @FEW
    @given(TEXTS)
    def test_a_cell_is_one_line_in_which_no_mark_is_active(self, given_text: str) -> None:
        written = text_markdown.cell(given_text)
        bare = re.sub(r"\\[\\`*_\[\]<>|~]", "", written)
        self.assertFalse(set(r"\`*_[]<>|~") & set(bare))
        self.assertFalse(re.findall("&(?!amp;)", bare))
        self.assertFalse(ACTIVE & set(written))


class MaskingTest(unittest.TestCase):
    @FEW
    @given(st.lists(SECRETS | st.text("aB3_-. ", max_size=8), max_size=10).map("".join))
    def test_masked_text_holds_no_secret_and_stays_as_it_is(self, given_text: str) -> None:
        masked = Redactor().mask(given_text)
        self.assertEqual(findings(masked), [])
        self.assertEqual(Redactor().mask(masked), masked)


if __name__ == "__main__":
    unittest.main()
