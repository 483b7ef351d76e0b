"""Applies rules to every operation until none changes anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Operation

from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, is_pure
from ttnn_jit.dialects.writing.editing import erase

Rule: TypeAlias = Callable[[Operation, Rewriter], bool]
"""Rewrites one operation if it can; whether it did."""

RuleSet: TypeAlias = Mapping[str, Sequence[Rule]]
"""Name of an operation -> its rules; "*" has those of every operation."""

MAX_ROUNDS = 200


def merged(*sets: RuleSet) -> RuleSet:
    """The rules of several sets, in order."""
    found: dict[str, list[Rule]] = {}
    for each in sets:
        for name, rules in each.items():
            found.setdefault(name, []).extend(rules)
    return found


class Rules:
    """A set of rules under construction: ``@RULES.of("ttir.add")`` adds a rule."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[Rule]] = {}

    def of(self, *names: str) -> Callable[[Rule], Rule]:
        """Adds the decorated rule for operations of these names."""

        def add(rule: Rule) -> Rule:
            for name in names:
                self.by_name.setdefault(name, []).append(rule)
            return rule

        return add


def rewrite(root: Operation, rules: RuleSet, rewriter: Rewriter, *, erases_dead: bool = True) -> int:
    """Applies `rules` to the operations in `root` until nothing changes; how often one applied.

    Args:
        root: A module or function.
        rules: The rules.
        rewriter: Writes operations.
        erases_dead: Whether pure operations without readers are erased too.

    Raises:
        InternalError: The rules do not come to an end.
    """
    applied = 0
    everywhere = rules.get("*", ())
    for _ in range(MAX_ROUNDS):
        before = applied
        for op in [*root.walk()]:
            if op is root or op.parent is None:
                continue
            for rule in (*rules.get(op.name, ()), *everywhere):
                if rule(op, rewriter):
                    applied += 1
                    break
        if erases_dead:
            applied += erase_dead(root)
        if applied == before:
            return applied
    raise InternalError(f"rewriting rules do not come to an end after {MAX_ROUNDS} rounds")


def erase_dead(root: Operation) -> int:
    """Erases pure operations whose results nobody reads, last first; how many."""
    erased = 0
    for op in reversed([*root.walk()]):
        if op is root or op.parent is None or not op.results or not is_pure(op):
            continue
        if all(result.first_use is None for result in op.results):
            erase(op)
            erased += 1
    return erased
