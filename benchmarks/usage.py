"""The share of ttnn's names in public programs that is supported: docs/usage.md, from ``ttnn_usage.tsv`` and the code.

python -m benchmarks.usage --write docs/usage.md
"""

from __future__ import annotations

import argparse
import csv
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ttnn_jit import ttnn
from ttnn_jit.ops import ABSENT
from ttnn_jit.tools import markdown
from ttnn_jit.tools.names import host_functions, without_effect
from ttnn_jit.ttnn.calling.eager_operation import TtnnOperation

TABLE = Path(__file__).with_name("ttnn_usage.tsv")
STATUSES = ("honoured", "accepted, no effect", "refused, with a reason", "not here yet")
MAX_LISTED = 40
OMITTED = 0.71
"""The share of uses whose names were supported when they were counted; the table omits them (as its source says)."""
OMITTED_OPERATIONS = 0.24
"""The same share of the uses of operations."""
WITHOUT_OPERATIONS = ("Host API, creation, configs", "Kernels, tracing, profiling")
"""Categories without operations on tensors, except `generic_op`, which runs kernels."""


@dataclass(frozen=True)
class Use:
    """A name that programs use.

    Attributes:
        set: The set of names that it belongs to.
        category: Its category.
        name: The name after ``ttnn.``, or a function with one keyword, ``typecast(sub_core_grids=)``.
        uses: The number of uses.
        keywords: Keyword -> the number of calls with it.
    """

    set: str
    category: str
    name: str
    uses: int
    keywords: dict[str, int]


def uses() -> list[Use]:
    """The table of uses."""
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [
        Use(row["set"], row["category"], row["name"], int(row["uses"]), _keywords(row["keywords and their uses"]))
        for row in csv.DictReader(lines, delimiter="\t")
    ]


def _keywords(text: str) -> dict[str, int]:
    return {name: int(count) for name, _, count in (each.partition(":") for each in text.split())}


def status(name: str) -> str:
    """The support of a name, or of a keyword of a function."""
    function, _, keyword = name.removesuffix("=)").partition("(")
    value = _resolved(function)
    first = function.partition(".")[0]
    if value is None:
        return STATUSES[2] if first in ABSENT else STATUSES[3]
    if keyword and not accepts(value, keyword):
        return STATUSES[3]
    return STATUSES[1] if first in without_effect() or _has_no_effect(function, keyword) else STATUSES[0]


def _has_no_effect(function: str, keyword: str) -> bool:
    declared = host_functions().get(function)
    found = [] if declared is None else [each for each in declared.parameters if each.name == keyword]
    return any(each.without_effect for each in found)


def _resolved(dotted: str) -> Any:
    """The object of a dotted name; None if there is none."""
    value: Any = ttnn
    for part in dotted.split("."):
        value = getattr(value, part, None)
    return value


def accepts(value: Any, keyword: str) -> bool:
    """Whether a call of `value` accepts `keyword`."""
    parameters = inspect.signature(value).parameters
    if isinstance(value, TtnnOperation) and any(
        keyword in each.keyword_parameters for each in value.__ttnn_overloads__
    ):
        return True
    return keyword in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def page() -> str:
    """The page in Markdown."""
    found = uses()
    named = [use for use in found if use.set != "keywords"]
    return "\n\n".join(
        (
            "# What public programs use of ttnn, and what of it is here",
            "Written by `make docs` from the code and from `benchmarks/ttnn_usage.tsv`, which says what was counted\n"
            "and how; a test holds it current. The table leaves out the names that were here when it was counted,\n"
            "71 % of all uses. Shares are of uses: a name that programs write a hundred times counts a hundredfold.\n"
            f"{_share(named, STATUSES[:2]):.1%} run as they are written: honoured, or accepted where a CPU has nothing "
            "to do for\nthem, such as for program configs and queues.",
            _with_those_here(named),
            "## By set",
            "Sets are numbered in the order in which they complete programs.",
            _shares(named, "set", lambda use: use.set),
            "## By category",
            _shares(named, "category", lambda use: use.category),
            "## Keywords",
            "Of functions that are here, the keywords that calls give:",
            _keyword_shares(named),
            "Keywords that functions once refused:",
            markdown.table(
                ("keyword", "uses", "here"),
                ((f"`{use.name}`", str(use.uses), status(use.name)) for use in found if use.set == "keywords"),
            ),
            "## What is missing most",
            markdown.table(("name", "set", "uses", "here"), _missing(named)),
        )
    ) + "\n"  # fmt: skip


def _share(found: Sequence[Use], statuses: Sequence[str]) -> float:
    """The share of uses that have one of these statuses."""
    return sum(use.uses for use in found if status(use.name) in statuses) / sum(use.uses for use in found)


def is_operation(use: Use) -> bool:
    """Whether a name computes or moves tensors: it is no class, member of an enumeration, config or query."""
    leaf = use.name.rpartition(".")[2]
    value = _resolved(use.name)
    if isinstance(value, TtnnOperation) or use.name == "generic_op":
        return True
    function = leaf.islower() and not isinstance(value, type) and (value is None or callable(value))
    return function and use.category not in WITHOUT_OPERATIONS and not leaf.startswith(NO_OPERATIONS)


NO_OPERATIONS = (
    "begin_", "create_", "determine_", "end_", "event_", "execute_", "get_", "manual_", "pad_to_tile", "prepare_",
    "record_", "release_", "reset_", "wait_",
)  # fmt: skip
"""Prefixes of functions that compute no tensors: they make configs and weights, capture, wait and query."""


def _with_those_here(named: Sequence[Use]) -> str:
    """The share of all counted uses that is honoured, those that the table omits included."""
    operations = [use for use in named if is_operation(use)]
    every, of_operations = _share(named, STATUSES[:1]), _share(operations, STATUSES[:1])
    missing = [f"`{use.name}` {use.uses}" for use in operations if status(use.name) != STATUSES[0]]
    return (
        f"{OMITTED + (1 - OMITTED) * every:.1%} of all uses are honoured, not counting what is accepted without "
        "effect, and counting as honoured those\nthat the table leaves out. Of operations alone, which compute or move "
        f"tensors, it is {of_operations:.1%} of the {sum(use.uses for use in operations)} uses in\nthe table, "
        f"{OMITTED_OPERATIONS + (1 - OMITTED_OPERATIONS) * of_operations:.1%} with the {OMITTED_OPERATIONS:.0%} "
        f"that it leaves out; the others are {', '.join(missing) or 'none'}."
    )


def _shares(found: Iterable[Use], title: str, group: Callable[[Use], str]) -> str:
    by_group: dict[str, Counter[str]] = {}
    for use in found:
        by_group.setdefault(group(use), Counter())[status(use.name)] += use.uses
    rows = sorted(
        by_group.items(), key=lambda item: (not item[0].isupper(), item[0]) if title == "set" else (False, "")
    )
    total: Counter[str] = sum(by_group.values(), Counter())
    return markdown.table((title, "uses", *STATUSES), [*(_row(*row) for row in rows), _row("all", total)])


def _row(name: str, counted: Counter[str]) -> tuple[str, ...]:
    return (name, str(counted.total()), *(f"{counted[each] / counted.total():.1%}" for each in STATUSES))


def _keyword_shares(found: Iterable[Use]) -> str:
    taken, refused = Counter[str](), Counter[str]()
    for use in found:
        value = _resolved(use.name)
        for keyword, count in use.keywords.items() if callable(value) else ():
            (taken if accepts(value, keyword) else refused)[f"{use.name}({keyword}=)"] += count
    whole = taken.total() + refused.total()
    rest = ", ".join(f"`{name}` {count}" for name, count in refused.most_common())
    return f"{taken.total() / whole:.1%} of {whole} are accepted; refused by name are {rest or 'none'}."


def _missing(found: Iterable[Use]) -> Iterator[tuple[str, ...]]:
    absent = [use for use in found if status(use.name) in STATUSES[2:]]
    for use in sorted(absent, key=lambda use: (-use.uses, use.name))[:MAX_LISTED]:
        yield f"`{use.name}`", use.set, str(use.uses), status(use.name)


def main() -> None:
    """Prints the page, or writes it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    if options.write is None:
        print(page())
    else:
        options.write.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
