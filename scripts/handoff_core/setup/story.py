"""The slice that `demo` plays: its records, its calls with the answers they must get, and a small session.

Pure data and the checks on answers; follows hooks.md 13. Imports nothing of ours.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

REQ_ID = "REQ-DEMO-001"
LOG = ".scratch/handoff.jsonl"
EDITED_LINE = 3
"""The line of the log that the demo changes behind the tool's back."""
SESSION = "session.jsonl"
FILESET = "fileset"
KEY = "ghp" + "_" + "q7Rk2vXw9TzB4nLm6YcD8sJf1HgP3aVe5UoE"
"""A made-up key in the shape of a real one."""
GATE_LINES = 6


class Answer(NamedTuple):
    """What a command or a hook left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str


class Call(NamedTuple):
    """One command: its words, its record, and `expect`, which says whether the answer is the right one.

    `shown` prints the whole answer instead of its first line. Paths in `words` are relative to the demo's folder and
    begin with `./`.
    """

    words: tuple[str, ...]
    record: dict[str, Any] | None
    expect: Callable[[Answer], bool]
    shown: bool = False


class Edit(NamedTuple):
    """Change one byte of a line of the log behind the tool's back, or put it back."""

    line: int
    title: str


class Ask(NamedTuple):
    """Show a shell command to a hook; `expect` reads the decision, empty where the hook says nothing."""

    hook: str
    command: str
    expect: str


class Look(NamedTuple):
    """Search a file of the demo for text that must not be in it, and for text that must be."""

    path: str
    title: str
    absent: str
    present: str


Step = tuple[str, tuple["Call | Edit | Ask | Look", ...]]


# Expectations


def receipt(line: int) -> Callable[[Answer], bool]:
    """Return the check that a record was appended at `line`."""
    return lambda answer: answer.code == 0 and answer.out.endswith(f"at line {line}\n")


def refused(*needles: str) -> Callable[[Answer], bool]:
    """Return the check that a command exits 1 and says each of `needles` on stdout or stderr."""
    return lambda answer: answer.code == 1 and all(needle in answer.out + answer.err for needle in needles)


def prints(*needles: str) -> Callable[[Answer], bool]:
    """Return the check that a command succeeds and says each of `needles` on stdout or stderr."""
    return lambda answer: answer.code == 0 and all(needle in answer.out + answer.err for needle in needles)


def decides(rule: str, *agents: str) -> Callable[[Answer], bool]:
    """Return the check that `route` decides by `rule` and dispatches `agents`, nobody where none are given."""

    def holds(answer: Answer) -> bool:
        if answer.code != 0:
            return False
        decision = json.loads(answer.out)
        return bool(decision["rule"] == rule and decision.get("next", []) == list(agents))

    return holds


def gate_holds(answer: Answer) -> bool:
    """Say whether a brief passes its gate; a folder without git facts may only warn about what needs them."""
    checks = dict(re.findall(r"^ +([A-Z-]+): +(PASS|WARN|FAIL)", answer.out, re.MULTILINE))
    warned = {name for name, verdict in checks.items() if verdict != "PASS"}
    return len(checks) == GATE_LINES and warned <= {"GIT-STATE"} and "FAIL" not in checks.values()


# Records


def _record(kind: str, author: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "req_id": REQ_ID, "author": author, **fields}


def _start(author: str, *lines: int) -> dict[str, Any]:
    return _record("dispatch-start", author, responding_to=list(lines))


def _plan(kind: str, scope: str) -> dict[str, Any]:
    return _record(
        "review-plan",
        "review-plan-engine",
        risk="low",
        roster=["code-quality-reviewer", "test-reviewer"],
        scope=scope,
        basis={"tree_sha": None, "pass": kind},
        rationale="a small change with one test file",
    )


def _feedback(author: str, verdict: str, *findings: dict[str, Any]) -> dict[str, Any]:
    return _record("review-feedback", author, verdict=verdict, findings=list(findings))


def _facet(note: str) -> dict[str, str]:
    return {"verdict": "clear", "note": note}


INTAKE = _record(
    "intake-decision",
    "human",
    request="Give the service a health page that the load balancer can ask.",
    decisions=["Answer 200 with the build number; no login."],
)
ENTRY = _record(
    "prd-entry",
    "product-requirements-expert",
    title="Health page",
    summary="GET /health answers 200 with the build number.",
    acceptance_criteria=["GET /health answers 200", "the body holds the build number"],
    file_targets=["app/health.py"],
    test_names=["test_health_answers_200"],
)
MISSPELLED = {"acceptance_critera" if name == "acceptance_criteria" else name: value for name, value in ENTRY.items()}
DESIGN = _record(
    "design-block",
    "system-design-expert",
    verdict="minor",
    implementation_effort="involved",
    architectural_fit="One more handler in the existing router.",
    primary_paths=["app/health.py"],
)
FAILURE = _record(
    "build-failure",
    "feature-implementer",
    retry=1,
    failed_check="test",
    error_output="test_health_answers_200: expected 200, got 404",
    attempted="Added the handler; the router does not know it yet.",
)
PASS = _record("build-pass", "feature-implementer", gate_checks_run=["lint", "test"])
FINDING = {
    "tag": "blocked",
    "severity": "fixable",
    "location": "app/health.py:12",
    "description": "The build number is read on every request.",
    "fix": "Read it once at start.",
}
FEATURES = _record(
    "grader-features",
    "change-grader",
    features={
        "base_ref": None,
        "head_ref": None,
        "head_kind": "worktree",
        "files_changed": 2,
        "module_count": 1,
        "test_prod_ratio": 0.8,
        "hunks": 3,
        "build_passed": True,
        "reviewers": {"code-quality-reviewer": "approved", "test-reviewer": "approved"},
        "build_retries": 1,
        "consultations": 0,
        "design_revisions": 0,
    },
)
FEATURES_LINE = 22
VERDICT = _record(
    "grader-verdict",
    "change-grader",
    responding_to=[FEATURES_LINE],
    summary="A small, tested change.",
    facets={
        "blast_radius": _facet("one handler"),
        "semantic_surprise": _facet("does what the entry says"),
        "test_adequacy": _facet("each criterion has a test"),
        "reviewer_hedging": _facet("none"),
        "scope_deviation": _facet("none"),
    },
    rationale="Nothing asks for a second look.",
    verdict="clear",
)


def _append(record: dict[str, Any], line: int, *flags: str) -> Call:
    return Call(("append", record["type"], *flags), record, receipt(line))


def _route(rule: str, *agents: str) -> Call:
    return Call(("route",), None, decides(rule, *agents))


SANCTIONED = "python3 scripts/handoff.py append build-pass <<'EOF'\n" + json.dumps(PASS) + "\nEOF"
RAW_WRITE = f"echo '{json.dumps(PASS)}' >> {LOG}"

STEPS: tuple[Step, ...] = (
    (
        "The owner's request is recorded, and route says who acts on it.",
        (_append(INTAKE, 1), _route("intake-ready", "product-requirements-expert")),
    ),
    (
        "A record with a misspelled field is refused and nothing is stored; mended, it is accepted.",
        (
            _append(_start("product-requirements-expert", 1), 2),
            Call(("append", "prd-entry"), MISSPELLED, refused("did you mean 'acceptance_criteria'?"), shown=True),
            _append(ENTRY, 3),
        ),
    ),
    (
        "A design, an implementer at work, a build that fails: try again, and know which try it is.",
        (
            _append(_start("system-design-expert", 3), 4),
            _append(DESIGN, 5),
            _append(_start("feature-implementer", 5), 6),
            _append(FAILURE, 7),
            _route("build-retry", "feature-implementer"),
            Call(("next-retry", "--req-id", REQ_ID), None, lambda answer: answer == (0, "2\n", "")),
        ),
    ),
    (
        "The build passes, a plan names two reviewers, one of them asks for a change.",
        (
            _append(_start("feature-implementer", 7), 8),
            _append(PASS, 9),
            _append(_plan("first", "full-diff"), 10, "--as-engine"),
            _route("reviews-needed", "code-quality-reviewer", "test-reviewer"),
            _append(_start("code-quality-reviewer", 9), 11),
            _append(_start("test-reviewer", 9), 12),
            _append(_feedback("code-quality-reviewer", "changes_requested", FINDING), 13),
            _append(_feedback("test-reviewer", "approved"), 14),
            _route("process-findings", "feature-implementer"),
        ),
    ),
    (
        "Fixed, approved by both, graded: what is left is the owner's decision on the merge.",
        (
            _append(_start("feature-implementer", 13), 15),
            _append(PASS, 16),
            _append(_plan("fix", "fix-delta"), 17, "--as-engine"),
            _append(_start("code-quality-reviewer", 16), 18),
            _append(_start("test-reviewer", 16), 19),
            _append(_feedback("code-quality-reviewer", "approved"), 20),
            _append(_feedback("test-reviewer", "approved"), 21),
            _route("grade", "change-grader"),
            _append(FEATURES, FEATURES_LINE),
            _append(VERDICT, 23),
            _route("feature-complete"),
        ),
    ),
    ("The board, as it stands.", (Call(("view", "--no-cost", "--no-color"), None, prints(REQ_ID), shown=True),)),
    (
        "One byte of the log is changed behind the tool's back; validate names the line.",
        (
            Edit(EDITED_LINE, f"line {EDITED_LINE} is edited by hand"),
            Call(("validate",), None, refused(f"line {EDITED_LINE}: differs from its seal"), shown=True),
            Edit(EDITED_LINE, "the byte is put back"),
            Call(("validate",), None, prints(), shown=True),
        ),
    ),
    (
        "The two hooks: a write past append is denied, the sanctioned append runs without a question.",
        (Ask("handoff-log-guard.py", RAW_WRITE, "deny"), Ask("handoff-allow.py", SANCTIONED, "allow")),
    ),
    (
        "A session that holds a made-up key becomes a hand-over: masked, hashed, verified. No repository, one warning.",
        (
            Call(
                ("build", f"./{SESSION}", "--out", f"./{FILESET}", "--req-id", REQ_ID, "--quiet", "--json"),
                None,
                prints('"status": "built"', '"masked": 1'),
            ),
            Look(f"{FILESET}/timeline.jsonl", "the key is masked in the fileset", KEY, "[REDACTED:github-pat:1]"),
            Call(("verify", f"./{FILESET}"), None, prints("OK ")),
            Call(("validate", f"./{FILESET}/HANDOFF.md"), None, gate_holds, shown=True),
        ),
    ),
)
GO_ON = (
    "init      wires your repository: the program, two hooks, four skills",
    "doctor    says what is wired and whether the hooks would really fire",
    "the skill handoff-append is what your agents load first; handoff-routing is for the root agent",
)


# The session


def session_lines() -> str:
    """Return a small session, one JSON object a line, with the made-up key in a tool's result."""
    turns = (
        ("user", "Add a health page; the token for the build server is in .env."),
        ("assistant", [{"type": "text", "text": "I look for the build number first."}]),
        ("assistant", [_tool_call("toolu_demo1", "Bash", {"command": "cat .env"})]),
        ("user", [{"type": "tool_result", "tool_use_id": "toolu_demo1", "content": f"BUILD_TOKEN={KEY}"}]),
        ("assistant", [{"type": "text", "text": "The page stands in app/health.py; its test passes."}]),
    )
    return "".join(json.dumps(_turn(number, *turn)) + "\n" for number, turn in enumerate(turns))


def _tool_call(ident: str, name: str, arguments: dict[str, str]) -> dict[str, Any]:
    return {"type": "tool_use", "id": ident, "name": name, "input": arguments}


def _turn(number: int, role: str, content: object) -> dict[str, Any]:
    message: dict[str, object] = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"msg_demo{number}", "type": "message", "model": "demo-model"}
    return {
        "parentUuid": f"demo-{number - 1}" if number else None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/demo",
        "sessionId": "demo-session",
        "version": "2.0.0",
        "type": role,
        "message": message,
        "uuid": f"demo-{number}",
        "timestamp": f"2026-01-05T09:00:{number:02d}.000Z",
    }
