"""The page in a headless browser (view.md 17.3); skipped, and said so, where there is no Chromium."""

from __future__ import annotations

import os
import shutil
import tempfile
import unittest
from typing import Any

from tests.board.view_vectors import call, set_up
from tests.browser.devtools import Browser, Tab, find_browser
from tests.support import vectors

PROGRAM = find_browser()
LOOKS = [
    {"width": width, "dark": dark, "scripts": scripts} for width in (360, 1440) for dark, scripts in ((0, 1), (1, 0))
]
HOSTILE = (
    "<script>alert(1)</script> \"double\" 'single' </style></script><img src=x onerror=alert(2)> &lt;b&gt; "
    "javascript:alert(3) " + "x" * 300
)
EXAMPLES = ("example-a-finished", "example-b-running-one-quiet", "example-c-question", "example-d-damaged")
MANY = "example-e-twelve-slices"

FACTS = """(() => {
  const beyond = [];
  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest(".scroll, pre, caption, svg, .skip, .flt")) continue;
    const box = element.getBoundingClientRect();
    if (box.width && box.right > document.documentElement.clientWidth + 1) beyond.push(element.outerHTML.slice(0, 200));
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  const links = [...document.querySelectorAll("a[href]")].map((link) => link.getAttribute("href"));
  return {
    beyond,
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    scripts: document.scripts.length,
    images: document.images.length,
    styles: document.querySelectorAll("style, link[rel=stylesheet]").length,
    inline: document.querySelectorAll("[style], [onclick], [onerror], [onload], iframe, object, embed, base").length,
    twice: ids.filter((id, place) => ids.indexOf(id) !== place),
    lost: links.filter((link) => !link.startsWith("#") || !document.getElementById(link.slice(1))),
    captions: [...document.querySelectorAll("table")].every((table) => table.caption),
    landmarks: ["header", "main", "footer"].map((name) => document.querySelectorAll(`body > ${name}`).length),
    headings: [...document.querySelectorAll("article")].map((each) => each.querySelectorAll("h1").length),
  };
})()"""

CONTRAST = """(() => {
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, place) => sum + v * [0.2126, 0.7152, 0.0722][place], 0);
  const ratio = (a, b) => {
    const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const gradient = getComputedStyle(each).backgroundImage.match(/rgba?\\([^)]*\\)/);
      if (gradient) return parse(gradient[0]);
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour[3] > 0) return colour;
    }
    return [255, 255, 255, 1];
  };
  const weak = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || element.closest("script, style, title, desc, caption") || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const found = ratio(parse(element.closest("svg") ? style.fill : style.color), ground(element));
    if (found < 4.5) weak.push([found.toFixed(2), element.outerHTML.slice(0, 120)]);
  }
  const track = document.querySelector(".lane");
  for (const mark of document.querySelectorAll(".gantt a *, .gantt g > circle, .gantt > svg > rect:not(.lane), .bar rect")) {
    if (mark.tagName === "title" || mark.classList.contains("cut")) continue;
    const style = getComputedStyle(mark);
    const colour = style.fill === "none" || mark.classList.contains("b-lost") ? style.stroke : style.fill;
    const under = mark.closest(".bar") || !track ? ground(mark.closest("section")) : parse(getComputedStyle(track).fill);
    const found = ratio(parse(colour), under);
    if (found < 3) weak.push([found.toFixed(2), mark.outerHTML.slice(0, 120)]);
  }
  return weak;
})()"""

ROWS = """[...document.querySelectorAll(".find tbody tr")].filter((row) => row.getClientRects().length).map(
  (row) => row.cells[0].textContent)"""


def hostile_log() -> list[dict[str, Any]]:
    """Return a log with hostile text in every field that takes text."""
    case = next(case for case in vectors("view.jsonl") if case["name"] == "repeated-finding")
    log = []
    for record in case["log"]:
        texts = {key: HOSTILE for key in ("request", "title", "summary", "architectural_fit") if key in record}
        item = {
            "tag": "blocked",
            "severity": HOSTILE,
            "location": "a/" + "b" * 300,
            "description": HOSTILE,
            "fix": HOSTILE,
        }
        spiked = {**record, **texts, "req_id": HOSTILE}
        if "findings" in record:
            spiked |= {"findings": [item, {**item, "location": HOSTILE}], "recommendations": [HOSTILE]}
        log.append(spiked)
    ask = {
        "type": "consultation-request",
        "author": HOSTILE,
        "target": "human",
        "question": HOSTILE,
        "context": HOSTILE,
    }
    return [*log, {**ask, "req_id": HOSTILE, "ts": "2026-11-20T10:11:00.5Z"}]


def long_log() -> list[dict[str, Any]]:
    """Return a log of 200 records in rounds of review, with descriptions of 850 characters."""
    reviewers = ["code-quality-reviewer", "test-reviewer", "security-reviewer", "doc-reviewer"]
    case = next(case for case in vectors("view.jsonl") if case["name"] == "example-a-finished")
    log: list[dict[str, Any]] = list(case["log"][:5])
    words = "The light is too dim to be seen from the tower at night, and no test looks. " * 12
    minute = 0

    def add(kind: str, author: str, **fields: Any) -> int:
        nonlocal minute
        minute += 1
        stamp = f"2026-11-27T{10 + minute // 60:02d}:{minute % 60:02d}:00.5Z"
        log.append({"type": kind, "req_id": "REQ-RENEW-004", "ts": stamp, "author": author, **fields})
        return len(log)

    last = 5
    while len(log) < 200:
        add("dispatch-start", "feature-implementer", responding_to=[last])
        build = add("build-pass", "feature-implementer", gate_checks_run=["test"])
        for reviewer in reviewers:
            add("dispatch-start", reviewer, responding_to=[build])
        for reviewer in reviewers:
            finding = {
                "tag": "blocked",
                "severity": "fixable",
                "location": f"src/a{len(log)}.py:3",
                "description": words[:850],
            }
            last = add("review-feedback", reviewer, verdict="changes_requested", findings=[finding])
    return log[:200]


class Page(unittest.TestCase):
    """Each test opens pages that are written once, in a browser that is started once."""

    browser: Browser
    folder: str
    pages: dict[str, str]

    @classmethod
    def setUpClass(cls) -> None:
        if PROGRAM is None:
            raise unittest.SkipTest("no Chromium on this machine: the page is not opened in a browser")
        cls.folder = tempfile.mkdtemp(prefix="handoff-pages-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.pages = cls.write_pages()
        try:
            cls.browser = cls.enterClassContext(Browser(PROGRAM))
            cls.browser.call("Browser.getVersion")
        except (OSError, RuntimeError) as error:
            raise unittest.SkipTest(f"Chromium does not start on this machine: {error}") from error

    @classmethod
    def write_pages(cls) -> dict[str, str]:
        cases = {case["name"]: case for case in vectors("view.jsonl") if case["name"] in (*EXAMPLES, MANY)}
        cases["hostile"] = {"log": hostile_log(), "args": ["--now", "2026-11-20T10:12:00Z"]}
        cases["long"] = {"log": long_log(), "args": ["--now", "2026-11-27T14:00:00Z"]}
        return {name: cls.write_page(name, case) for name, case in cases.items()}

    @classmethod
    def write_page(cls, name: str, case: dict[str, Any]) -> str:
        root = os.path.join(cls.folder, name)
        environment = set_up(case, root)
        path = os.path.join(cls.folder, f"{name}.html")
        result = call(root, environment, [*case["args"], "--all", "--html", path])
        if result.code:
            raise AssertionError(result.err)
        return path

    def open(self, name: str, **look: Any) -> Tab:
        tab = self.browser.open(f"file://{self.pages[name]}", **look)
        self.addCleanup(tab.close)
        return tab

    def test_no_page_complains_asks_for_anything_or_overflows(self) -> None:
        for name in self.pages:
            for look in LOOKS:
                with self.subTest(name, **look):
                    tab = self.browser.open(f"file://{self.pages[name]}", **look)
                    facts = tab.run(FACTS)
                    tab.run("new Promise((done) => setTimeout(done, 50))")
                    self.assertEqual(tab.messages(), [])
                    self.assertEqual(tab.requests(), [f"file://{self.pages[name]}"])
                    self.assertEqual((facts["wide"], facts["beyond"]), (0, []))
                    self.assertEqual((facts["scripts"], facts["images"], facts["styles"]), (1, 0, 1))
                    self.assertEqual((facts["inline"], facts["twice"], facts["lost"]), (0, [], []))
                    self.assertEqual((facts["captions"], facts["landmarks"]), (True, [1, 1, 1]))
                    self.assertEqual(set(facts["headings"]), {1})
                    tab.close()

    def test_text_and_marks_stand_out_in_light_and_dark(self) -> None:
        for name in (*EXAMPLES, MANY):
            for dark in (False, True):
                with self.subTest(name, dark=dark):
                    self.assertEqual(self.open(name, dark=dark).run(CONTRAST), [])

    def test_hostile_text_is_shown_as_typed_and_does_nothing(self) -> None:
        tab = self.open("hostile")
        shown = tab.run("document.querySelector('main').textContent")
        self.assertGreater(shown.count(HOSTILE), 8)
        self.assertEqual(tab.messages(), [])
        self.assertEqual(tab.run("document.querySelectorAll('script, img').length"), 1)
        self.assertEqual(tab.run("typeof alert"), "function")

    def test_lanes_stand_in_the_order_of_first_dispatch_and_overlap_across_lanes(self) -> None:
        tab = self.open("example-a-finished")
        names = tab.run("[...document.querySelectorAll('.gantt li')].map((each) => each.textContent)")
        order = ["prd-expert", "design", "implementer", "code-quality", "test", "security", "doc", "grader", "waiting"]
        self.assertEqual(names, order)
        bars = tab.run(
            "[...document.querySelectorAll('.gantt a')].map((link) => [link.querySelector('title').textContent, "
            "link.querySelector('rect').getBoundingClientRect().toJSON()])"
        )
        tops = {words.split(",")[0]: box["top"] for words, box in bars}
        self.assertEqual(sorted(tops, key=lambda name: tops[name]), order[:-1])
        spans = [(box["left"], box["right"]) for words, box in bars if "review 1" in words]
        self.assertEqual(len(spans), 4)
        self.assertTrue(all(left < right for left, _ in spans for _, right in spans))
        first = [box for words, box in bars if words.startswith("implementer")]
        self.assertEqual(first, sorted(first, key=lambda box: box["left"]))

    def test_filters_work_without_scripts_and_the_search_field_hides(self) -> None:
        tab = self.open("example-a-finished", scripts=False)
        self.assertEqual(tab.run(ROWS), ["L21.1", "L21.2", "L22.1", "L22.2", "L32.1"])
        for key, rows in (("open", []), ("crit", ["L21.1"]), ("closed", 5), ("all", 5)):
            tab.run(f"document.querySelector('label.l-{key}').click()")
            found = tab.run(ROWS)
            self.assertEqual(found if isinstance(rows, list) else len(found), rows)
        self.assertFalse(tab.run("!!document.querySelector('[data-search]').getClientRects().length"))

    def test_the_search_field_finds_rows_when_scripts_run(self) -> None:
        tab = self.open("example-a-finished")
        tab.run("document.querySelector('[data-search]').focus()")
        tab.call("Input.insertText", text="GLOSSARY")
        self.assertEqual(tab.run(ROWS), ["L22.1"])

    def test_everything_is_reached_by_keyboard_and_shows_its_focus(self) -> None:
        tab = self.open("example-c-question")
        wanted = tab.run(
            "[...document.querySelectorAll('a[href], button, input, [tabindex]')].filter((each) => !each.hidden).length"
        )
        reached = set()
        for _ in range(wanted + 2):
            tab.press("Tab")
            at = "document.activeElement"
            reached.add(tab.run(f"[...document.querySelectorAll('*')].indexOf({at})"))
            outline = tab.run(f"getComputedStyle({at}.matches('.flt') ? {at}.nextElementSibling : {at}).outlineStyle")
            if tab.run(f"{at} !== document.body"):
                self.assertNotEqual(outline, "none", tab.run(f"{at}.outerHTML"))
        self.assertGreaterEqual(len(reached), wanted)

    def test_paper_shows_all_rows_on_white_without_filters(self) -> None:
        tab = self.open("example-a-finished", media="print", dark=True)
        tab.run("document.querySelector('.f-open').checked = true")
        self.assertEqual(len(tab.run(ROWS)), 5)
        self.assertEqual(tab.run("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertFalse(tab.run("!!document.querySelector('.tabs').getClientRects().length"))

    def test_the_page_stays_small(self) -> None:
        self.assertLess(os.path.getsize(self.pages["long"]), 300_000)
        with open(self.pages["long"], encoding="utf-8") as opened:
            page = opened.read()
        style, script = (page.split(f"<{name}>")[1].split(f"</{name}>")[0] for name in ("style", "script"))
        self.assertLess(len(style) + len(script), 16_000)


if __name__ == "__main__":
    unittest.main()
