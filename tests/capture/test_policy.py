"""Tests of the permission policy (capture.md 12, gate.md 9)."""

from __future__ import annotations

import json
import os
from typing import Any

from handoff_core import data
from handoff_core.capture import policy
from handoff_core.errors import HandoffError

from tests.support import ProjectCase

SHIPPED = data.read(policy.NAME)

PLACES = {
    "APPROVED_WORKSPACE": "{root}/a/b",
    "SESSION_STORE": "{home}/.claude/projects/x.jsonl",
    "SYSTEM_PATH": "/usr/share/x",
    "PERSONAL_DATA_PATH": "{home}/notes.txt",
    "EXTERNAL_PATH": "/srv/x",
    "DENIED_ROOT": "{home}/.ssh/id",
}
READ = dict(zip(PLACES, ["ALLOWED", "ALLOWED", "ALLOWED", "NEEDS_AUTH", "NEEDS_AUTH", "DENIED"], strict=True))
WRITE = dict(zip(PLACES, ["ALLOWED", "DENIED", "DENIED", "NEEDS_AUTH", "NEEDS_AUTH", "DENIED"], strict=True))


class Deciding(ProjectCase):
    def setUp(self) -> None:
        super().setUp()
        self.home = os.path.join(self.root, "home")
        self.project = os.path.join(self.root, "project")
        os.makedirs(self.home)
        os.makedirs(self.project)

    def policy(self, **changes: Any) -> policy.Policy:
        own = {**json.loads(SHIPPED), **changes}
        return policy.read_policy(json.dumps(own).encode(), SHIPPED, self.project, self.home)

    def place(self, name: str) -> str:
        return PLACES[name].format(root=self.project, home=self.home)

    def test_the_table_of_classes_and_risks_holds(self) -> None:
        made = self.policy()
        for risk, table in (("R0", READ), ("R1", WRITE)):
            for place, verdict in table.items():
                with self.subTest(risk=risk, place=place):
                    decision = made.decide(risk, self.place(place))
                    self.assertEqual((decision["classification"], decision["verdict"]), (place, verdict))
                    self.assertEqual(list(decision), ["verdict", "reason", "risk", "level", "classification"])

    def test_levels_above_are_granted_by_their_own_entry_and_nowhere_else(self) -> None:
        made = self.policy()
        for risk in ("R2", "R3", "R4"):
            self.assertEqual(made.decide(risk, self.place("APPROVED_WORKSPACE"))["verdict"], "NEEDS_AUTH")
            self.assertEqual(made.decide(risk, self.place("SYSTEM_PATH"))["verdict"], "DENIED")
        odd = self.policy(grants={"READ_ONLY": "sure"})
        self.assertEqual(odd.decide("R0", self.place("APPROVED_WORKSPACE"))["verdict"], "DENIED")
        self.assertEqual(odd.decide("R1", self.place("APPROVED_WORKSPACE"))["verdict"], "DENIED")

    def test_a_risk_that_the_file_does_not_map_is_denied(self) -> None:
        self.assertEqual(self.policy().decide("R9", self.place("APPROVED_WORKSPACE"))["verdict"], "DENIED")

    def test_whole_components_are_compared(self) -> None:
        made = self.policy()
        self.assertEqual(made.classify(self.project + "-other/x"), "EXTERNAL_PATH")
        self.assertEqual(made.classify(os.path.realpath(self.home) + "/.sshx"), "PERSONAL_DATA_PATH")

    def test_links_are_resolved_before_anything_is_judged(self) -> None:
        os.makedirs(os.path.join(self.home, ".ssh"))
        os.symlink(os.path.join(self.home, ".ssh"), os.path.join(self.project, "keys"))
        made = self.policy()
        self.assertEqual(made.decide("R0", os.path.join(self.project, "keys", "id"))["verdict"], "DENIED")
        os.symlink(self.home, os.path.join(self.project, "h"))
        decision = made.decide("R0", os.path.join(self.project, "h", "notes.txt"))
        self.assertEqual(decision["classification"], "PERSONAL_DATA_PATH")

    def test_a_named_path_is_authorised_unless_a_link_leads_to_another_class(self) -> None:
        made = self.policy()
        made.require("R0", self.place("PERSONAL_DATA_PATH"), named=True)
        with self.assertRaisesRegex(HandoffError, "PERSONAL_DATA_PATH"):
            made.require("R0", self.place("PERSONAL_DATA_PATH"), named=False)
        os.symlink(self.home, os.path.join(self.project, "h"))
        with self.assertRaisesRegex(HandoffError, "PERSONAL_DATA_PATH"):
            made.require("R0", os.path.join(self.project, "h", "notes.txt"), named=True)
        for place in ("DENIED_ROOT", "SESSION_STORE", "SYSTEM_PATH"):
            with self.assertRaisesRegex(HandoffError, place):
                made.require("R1", self.place(place), named=True)

    def test_a_home_behind_a_link_is_still_the_home(self) -> None:
        link = os.path.join(self.root, "linked-home")
        os.symlink(self.home, link)
        made = policy.read_policy(None, SHIPPED, self.project, link)
        made.require("R0", os.path.join(link, "notes.txt"), named=True)
        with self.assertRaises(HandoffError):
            made.require("R0", os.path.join(link, ".ssh", "id"), named=True)

    def test_denied_roots_of_the_shipped_file_always_apply(self) -> None:
        made = self.policy(denied_roots=[])
        self.assertEqual(made.classify(self.place("DENIED_ROOT")), "DENIED_ROOT")

    def test_workspaces_outside_the_root_are_ignored_with_a_warning(self) -> None:
        made = self.policy(approved_workspaces=[".", "/srv", "../home"])
        self.assertEqual(made.classify("/srv/x"), "EXTERNAL_PATH")
        self.assertEqual(len(made.warnings), 2)
        self.assertIn('"/srv"', made.warnings[0])

    def test_a_store_that_a_person_named_is_a_workspace(self) -> None:
        made = self.policy()
        made.add_workspace("/srv/handoffs")
        made.require("R1", "/srv/handoffs/projects/x", named=False)

    def test_a_session_store_of_the_environment_counts(self) -> None:
        made = self.policy()
        made.add_store_of_sessions("/srv/claude", "")
        self.assertEqual(made.classify("/srv/claude/projects/x"), "SESSION_STORE")

    def test_without_a_home_folder_its_roots_are_left_out(self) -> None:
        made = policy.read_policy(None, SHIPPED, self.project, "")
        self.assertEqual(made.classify("/nowhere"), "EXTERNAL_PATH")


class BrokenFiles(ProjectCase):
    def refusal(self, data: str) -> str:
        with self.assertRaises(HandoffError) as caught:
            policy.read_policy(data.encode(), SHIPPED, self.root, self.root)
        self.assertEqual(caught.exception.code, 1)
        return "; ".join(caught.exception.problems)

    def test_what_is_missing_unknown_or_of_another_type_is_named(self) -> None:
        whole = json.loads(SHIPPED)
        cases: list[tuple[dict[str, Any], str]] = [
            ({key: value for key, value in whole.items() if key != "grants"}, "grants"),
            ({key: value for key, value in whole.items() if key != "risk_to_level"}, "risk_to_level"),
            ({**whole, "extra": 1}, "extra"),
            ({**whole, "denied_roots": "x"}, "denied_roots"),
            ({**whole, "session_stores": [1]}, "session_stores"),
            ({**whole, "grants": {"READ_ONLY": 1}}, "grants"),
            ({**whole, "schema_version": "1.0"}, "schema_version"),
        ]
        for value, word in cases:
            with self.subTest(word):
                self.assertIn(word, self.refusal(json.dumps(value)))

    def test_what_is_no_strict_json_object_is_refused(self) -> None:
        for text in ("", "[]", "{", '{"a": 1, "a": 2}'):
            with self.subTest(text):
                self.assertIn(policy.NAME, self.refusal(text))
