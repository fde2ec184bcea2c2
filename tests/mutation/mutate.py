"""Change the rules one small piece at a time and see whether the vectors notice; run by hand, it takes minutes.

    python3 tests/mutation/mutate.py [--seconds 180] [--seed 1] [--only routing/table.py]

A mutant swaps a comparison, negates a condition, drops a part of one, changes a constant, or drops a row of the route
table. Each runs in a fork of this process: the route vectors, for `gates.py` also those of append that need no other
process. Prints the share killed and every survivor; a mutant that hangs counts as killed. Needs `os.fork`.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import os
import random
import signal
import sys
import time
import unittest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.machinery import ModuleSpec
    from types import ModuleType

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(REPOSITORY, "scripts", "handoff_core")
TARGETS = ("routing/table.py", "routing/guards.py", "gates.py")
PATIENCE = 60
"""Seconds after which a mutant counts as hanging."""

SLOW = ("git", "hold_lock", "log_from", "replay", "stdin_fill")
"""Keys of ledger vectors that take their time."""

SWAPS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
Change = tuple[str, ast.AST]


# Mutants: each function yields what may stand in the place of one node, and what was done


def comparisons(node: ast.AST) -> Iterator[Change]:
    """Yield a comparison with its operator swapped."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        swapped = copy.deepcopy(node)
        swapped.ops[0] = SWAPS[type(node.ops[0])]()
        yield "swap", swapped


def conditions(node: ast.AST) -> Iterator[Change]:
    """Yield a condition negated, `and` for `or`, or with one part dropped."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "drop not", node.operand
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and/or", ast.BoolOp(other, node.values)
        for index in range(len(node.values)):
            yield f"drop part {index + 1}", ast.BoolOp(node.op, node.values[:index] + node.values[index + 1 :])
    if isinstance(node, (ast.If, ast.IfExp)):
        negated = copy.copy(node)
        negated.test = ast.UnaryOp(ast.Not(), node.test)
        yield "negate", negated
    if isinstance(node, ast.comprehension) and node.ifs:
        yield "drop filter", ast.comprehension(node.target, node.iter, [], node.is_async)


def constants(node: ast.AST) -> Iterator[Change]:
    """Yield another constant of the same kind."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield "flip", ast.Constant(not node.value)
        elif isinstance(node.value, int):
            yield "add one", ast.Constant(node.value + 1)
        elif isinstance(node.value, str):
            yield "other text", ast.Constant(node.value + "x")


def rows(node: ast.AST) -> Iterator[Change]:
    """Yield the route table without one of its rows."""
    if isinstance(node, ast.Tuple) and len(node.elts) > 1 and all(map(is_row, node.elts)):
        for index in range(len(node.elts) - 1):  # the last row is never reached
            yield f"drop row {index + 1}", ast.Tuple(node.elts[:index] + node.elts[index + 1 :], node.ctx)


def is_row(node: ast.AST) -> bool:
    """Say whether a node is a row of the route table."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Row"


MUTATORS = (comparisons, conditions, constants, rows)


class Mutant:
    """One change of a module: its file and tree, the number of the node as `ast.walk` counts, what stands there."""

    def __init__(self, path: str, tree: ast.Module, index: int, change: Change, shown: str) -> None:
        self.path = path
        self.tree = tree
        self.index = index
        self.change = change
        self.shown = shown

    @property
    def module(self) -> str:
        """Return the module's dotted name."""
        return "handoff_core." + self.path.removesuffix(".py").replace("/", ".")

    def __str__(self) -> str:
        return f"{self.path}:{self.shown}: {self.change[0]}"


def mutants(path: str) -> list[Mutant]:
    """Return all mutants of one file of the package."""
    with open(os.path.join(PACKAGE, path), encoding="utf-8") as opened:
        source = opened.read()
    tree = ast.parse(source)
    idle = frozenset(id(node) for part in without_effect(tree) for node in ast.walk(part))
    found = []
    for index, node in enumerate(ast.walk(tree)):
        if id(node) in idle:
            continue
        for mutate in MUTATORS:
            shown = f"{getattr(node, 'lineno', 0)}: {' '.join(ast.unparse(node).split())[:100]}"
            found += [Mutant(path, tree, index, change, shown) for change in mutate(node)]
    return found


def without_effect(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the parts that decide nothing: sentences, annotations, what a guard says it reads, imports for types."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node
        elif isinstance(node, ast.FunctionDef):
            yield from node.decorator_list
            yield from filter(None, [node.returns, *(argument.annotation for argument in node.args.args)])
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation
        elif isinstance(node, (ast.If, ast.Assign)) and "TYPE_CHECKING" in ast.unparse(node).split("\n")[0]:
            yield node
        elif is_row(node) and isinstance(node, ast.Call):
            yield node.args[-1]
        elif isinstance(node, ast.JoinedStr):
            yield node


def replaced(tree: ast.Module, index: int, other: ast.AST) -> ast.Module:
    """Return a copy of a tree in which the node that is walked as number `index` is another one."""
    changed = copy.deepcopy(tree)
    old = list(ast.walk(changed))[index]
    for parent in ast.walk(changed):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, other)
            elif isinstance(value, list) and any(item is old for item in value):
                setattr(parent, name, [other if item is old else item for item in value])
    return ast.fix_missing_locations(changed)


# Judging them


class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the mutant in the place of its module."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, fullname: str, _path: Any, _target: Any = None) -> ModuleSpec | None:
        """Return how to load the mutant, None for any other module."""
        if fullname != self.mutant.module:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the mutant's code."""
        tree = replaced(self.mutant.tree, self.mutant.index, self.mutant.change[1])
        exec(compile(tree, self.mutant.path, "exec"), module.__dict__)


def is_killed(mutant: Mutant | None) -> bool:
    """Say whether a vector fails in a fork in which the mutant stands for its module; None changes nothing."""
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 2)
        try:
            if mutant is not None:
                sys.meta_path.insert(0, Loader(mutant))
            run_vectors(ledger=mutant is None or mutant.path == "gates.py")
        except BaseException:  # noqa: BLE001 - whatever a mutant raises gives it away
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


def run_vectors(*, ledger: bool) -> None:
    """Run the route vectors, with `ledger` also those of the ledger; raise whatever the first failure raises."""
    from handoff_core.routing.router import decide

    from tests.commands.test_route import VectorsTest
    from tests.routing.cases import of_vector
    from tests.support import vectors

    judge = VectorsTest("test_every_vector_holds").judge_decision
    for vector in vectors("route.jsonl"):
        at = of_vector(vector)
        if at is not None:
            judge(vector["expect"], decide(at))
    if ledger:
        from tests.ledger_vectors import OUTSIDE, run_vector

        case = unittest.FunctionTestCase(lambda: None)
        for vector in vectors("ledger.jsonl"):
            if vector["command"][:1] == ["append"] and not any(key in vector for key in (*OUTSIDE, *SLOW)):
                run_vector(case, vector)


def main() -> int:
    """Judge mutants in random order until the time is over; print the survivors and the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=TARGETS, action="append")
    options = parser.parse_args()
    if is_killed(None):
        print("the vectors fail without any mutant: nothing can be measured")
        return 1
    every = [mutant for path in options.only or TARGETS for mutant in mutants(path)]
    random.Random(options.seed).shuffle(every)
    end = time.monotonic() + options.seconds
    judged: dict[str, list[bool]] = {}
    for mutant in every:
        if time.monotonic() > end:
            break
        killed = is_killed(mutant)
        judged.setdefault(mutant.path, []).append(killed)
        if not killed:
            print(f"survives: {mutant}", flush=True)
    for path, results in sorted(judged.items()):
        print(f"{path}: {sum(results)} of {len(results)} killed, {100 * sum(results) / len(results):.1f} %")
    tried = sum(map(len, judged.values()))
    print(f"{tried} of {len(every)} mutants judged")
    return 0


if __name__ == "__main__":
    sys.path[:0] = [REPOSITORY, os.path.join(REPOSITORY, "scripts")]
    sys.exit(main())
