"""A module imports only from lines below its own (style.md, Map and layers), read from the imports themselves."""

from __future__ import annotations

import ast
import os
import unittest

from tests.support import SCRIPTS

PACKAGE = os.path.join(SCRIPTS, "handoff_core")
LAYERS = (
    ("cli", "__main__", "arguments"),
    ("commands",),
    ("routing", "board", "autofix", "capture", "brief", "setup"),
    ("gates",),
    ("ledger", "seal", "schema", "patterns", "scope"),
    (
        *("records", "jsonl", "text", "text_markdown", "text_html", "text_view", "text_fences"),
        *("git", "git_facts", "layout", "data", "errors"),
    ),
)
"""From the top down; engines of the third line never import each other."""

LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
ENGINES = LAYERS[2]
PLAY_COMMANDS = {os.path.join("commands", name) for name in ("demo.py", "capture.py")}
"""The demo, and a hand-over that takes decision and board along, call the program as a person does."""


def modules() -> list[tuple[str, str]]:
    """Return each module's top-level name in the package and its path."""
    found = []
    for base, _, files in os.walk(PACKAGE):
        for name in files:
            if name.endswith(".py"):
                path = os.path.join(base, name)
                relative = os.path.relpath(path, PACKAGE)
                found.append((relative.split(os.sep)[0].removesuffix(".py"), path))
    return sorted(found)


def imports(path: str) -> list[str]:
    """Return the top-level names of the package that a module imports, type-checking blocks left out."""
    with open(path, encoding="utf-8") as opened:
        tree = ast.parse(opened.read())
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "handoff_core":
            parts = node.module.split(".")[1:]
            found += [parts[0]] if parts else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [alias.name.split(".")[1] for alias in node.names if alias.name.startswith("handoff_core.")]
    return [name for name in found if name in LEVEL]


class Layers(unittest.TestCase):
    def test_every_module_stands_in_the_map(self) -> None:
        unknown = {name for name, _ in modules()} - set(LEVEL) - {"__init__"}
        self.assertEqual(unknown, set())

    def test_a_module_imports_only_from_its_own_line_or_below(self) -> None:
        for name, path in modules():
            if name == "__init__":
                continue
            for imported in imports(path):
                with self.subTest(module=os.path.relpath(path, PACKAGE), imported=imported):
                    if imported != "cli" or os.path.relpath(path, PACKAGE) not in PLAY_COMMANDS:
                        self.assertGreaterEqual(LEVEL[imported], LEVEL[name])

    def test_engines_never_import_each_other(self) -> None:
        for name, path in modules():
            for imported in imports(path):
                if name in ENGINES and imported in ENGINES:
                    self.assertEqual(name, imported, os.path.relpath(path, PACKAGE))

    def test_only_git_starts_processes(self) -> None:
        may = {"git", "probe", "zstd"}  # the hooks are probed, and zstd unpacks where Python cannot
        for _, path in modules():
            with open(path, encoding="utf-8") as opened:
                tree = ast.parse(opened.read())
            named = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
            named |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
            if "subprocess" in named:
                self.assertIn(os.path.basename(path).removesuffix(".py"), may)

    def test_engines_print_nothing_and_look_at_no_clock_and_no_environment(self) -> None:
        for name, path in modules():
            if name not in ("routing", "board", "brief", "gates", "autofix"):
                continue
            with open(path, encoding="utf-8") as opened:
                calls = [
                    ast.unparse(node.func) for node in ast.walk(ast.parse(opened.read())) if isinstance(node, ast.Call)
                ]
            impure = {"print", "open", "time.time", "time.time_ns", "os.getenv", "os.environ.get", "datetime.now"}
            self.assertEqual(set(calls) & impure, set(), os.path.relpath(path, PACKAGE))


if __name__ == "__main__":
    unittest.main()
