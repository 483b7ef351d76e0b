# ruff: noqa: T201 - a command
"""Random worlds that are counterexamples for a compiler without guards of one kind.

``python -m tests.properties.worlds.needed`` looks for them.
The seeds are those of `cases.case_of` as the generator is now: after a change of it they are looked for again.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator

from tests.properties.worlds.__main__ import attempt
from tests.properties.worlds.attack import Case, Failure
from tests.properties.worlds.cases import case_of, loads
from tests.properties.worlds.directed import DIRECTED
from tests.properties.worlds.kinds import KINDS, without

SEEDS: dict[str, tuple[int, ...]] = {
    "code of its own": (3, 5, 10),
    "item": (22, 44, 45),
    "global": (20, 36, 52),
    "attribute": (30, 46, 58),
    "code of a helper": (2, 52, 69),
    "contents": (8, 43, 81),
    "opaque": (31, 94, 137),
    "absent": (20, 82, 199),
    "builtin": (7, 26, 258),
    "closure": (141, 246, 312),
    "call": (26, 172, 314),
    "defaults of a helper": (170, 361, 387),
}
"""Kind of guard -> seeds that need it, in both frontends."""

_WANTED = 3


def usable(seed: int, *, graph_capture: bool) -> Case | None:
    """The case of a seed; None if it cannot be loaded."""
    case = case_of(seed, graph_capture=graph_capture)
    return case if case is not None and loads(case) else None


def failure_without(kind: str, case: Case) -> Failure | None:
    """The failure of a case whose compiles leave no guards of a kind."""
    with without(kind):
        return attempt(case)


def _occurring_kinds(case: Case) -> set[str]:
    """The kinds of guards in a case; none if it fails with all of them."""
    found: set[str] = set()
    with without("", found):
        return set() if attempt(case) else found


def _kinds_needed(seed: int, among: set[str]) -> set[str]:
    """The kinds without which the case fails, in both frontends."""
    for graph_capture in (False, True):
        case = usable(seed, graph_capture=graph_capture)
        among &= set() if case is None else _occurring_kinds(case)
        among = {kind for kind in among if case is not None and failure_without(kind, case)}
    return among


def search() -> Iterator[tuple[str, tuple[int, ...]]]:
    """Every kind with its seeds, as they are found."""
    found: dict[str, list[int]] = {kind: [] for kind in KINDS if kind not in DIRECTED}
    for seed in itertools.count():
        for kind in _kinds_needed(seed, set(found)):
            found[kind].append(seed)
            if len(found[kind]) == _WANTED:
                yield kind, tuple(found.pop(kind))
        if not found:
            return


if __name__ == "__main__":
    for kind, seeds in search():
        print(f'    "{kind}": {seeds},')
        sys.stdout.flush()
