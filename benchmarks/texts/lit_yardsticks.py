"""How many lit tests of a tree run here: ``python -m benchmarks.texts.lit_yardsticks TREE [--only REGEX] [--show N]``.

A test is an `.mlir` file with ``RUN:`` lines. Tools of tt-mlir run in this process, other programs as they are:

- a test *runs* if every command ends as the test says: with status 0, or under ``not`` with status 1, which an unknown
  option (status 2) and a crash are not. Texts are verified; no body is kept unparsed;
- its *FileChecks hold* if it runs, and each of its FileChecks accepts what it reads;
- with ``--execute`` a test whose binaries `ttnn-jit run` executes *executes*.

A test that needs more CPU time than ``--seconds``, or for which the process allocates more than ``--gigabytes``
(RLIMIT_DATA), does not run; each line counts these apart as well.

Tests that write flatbuffers, and those without a FileCheck, are reported apart; so are those that lit skips in a build
without the optimizer's model of a chip. The last line counts all. LLVM's FileCheck is used if there is one, else the
package ``filecheck``. Nothing of the tree is written; outputs lie in a temporary folder.
"""

from __future__ import annotations

import argparse
import gc
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.texts.bounds import OVER_BOUNDS, add_bounds, bound_memory
from benchmarks.texts.lit_commands import Outcome, commands_of, execute_binary, run_bounded, skip_reason


@dataclass
class Counts:
    """How many tests of one kind reach each mark."""

    tests: int = 0
    checked: int = 0
    ran: int = 0
    held: int = 0
    wrote: int = 0
    executed: int = 0
    over: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    files: dict[str, list[str]] = field(default_factory=dict)

    def add(self, outcome: Outcome, place: str, execution: str | None) -> None:
        """Counts one test, and what execution of its binaries said; None if nothing was executed."""
        self.tests += 1
        self.checked += bool(outcome.checks)
        self.ran += outcome.ran
        self.held += bool(outcome.checks) and outcome.ran and not outcome.failure
        self.wrote += bool(outcome.binaries)
        self.executed += execution == ""
        self.over[outcome.failure] += outcome.failure in OVER_BOUNDS
        for said in (outcome.failure, execution):
            if said:
                key = re.sub(r"[0-9]+", "N", said)[:130]
                self.failures[key] += 1
                self.files.setdefault(key, []).append(place)

    def __add__(self, other: Counts) -> Counts:
        """The sums, without reasons."""
        names = ("tests", "checked", "ran", "held", "wrote", "executed")
        return Counts(*(getattr(self, each) + getattr(other, each) for each in names), self.over + other.over)

    def __str__(self) -> str:
        """One line."""
        binaries = f", {self.wrote} write binaries, {self.executed} execute" if self.wrote else ""
        over = "".join(f", {self.over[each]} {each}" for each in OVER_BOUNDS if self.over[each])
        return f"{self.tests} tests, {self.ran} run{over}; {self.held} of {self.checked} with FileCheck hold{binaries}"


def tests_of(tree: Path, only: str) -> Iterator[Path]:
    """The tests of a tree whose path matches."""
    for file in sorted(tree.rglob("*.mlir")):
        place = str(file.relative_to(tree))
        if re.search(only, place) and commands_of(file.read_text(encoding="utf-8", errors="replace")):
            yield file


def kind_of(text: str) -> str:
    """The group in which a test is reported."""
    commands = " ".join(commands_of(text))
    if skip_reason(text):
        return "skipped by lit"
    writes = "with flatbuffers" if "to-flatbuffer" in commands else "without flatbuffers"
    return f"{writes}, {'with' if 'FileCheck' in commands else 'without'} FileCheck"


def measured(files: Sequence[Path], options: argparse.Namespace) -> dict[str, Counts]:
    """The counts of each kind of tests, behind a progress bar on stderr."""
    from rich.console import Console
    from rich.progress import track

    groups: dict[str, Counts] = {}
    for file in track(files, options.tree.name, console=Console(file=sys.stderr)):
        text = file.read_text(encoding="utf-8", errors="replace")
        if options.execute or "ttrt" in text:
            gc.collect()  # tensors of the tests before may be in cycles
        with tempfile.TemporaryDirectory() as folder:
            outcome = run_bounded(file, Path(folder), options.seconds)
            said = [execute_binary(each, options.seconds) for each in outcome.binaries if options.execute]
            execution = "; ".join(filter(None, said)) if said else None
        groups.setdefault(kind_of(text), Counts()).add(outcome, str(file.relative_to(options.tree)), execution)
    return groups


def main() -> None:
    """Prints the counts, and the commonest failures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--only", default="", help="a regular expression of paths")
    parser.add_argument("--every", type=int, default=1, help="measure one in so many tests")
    parser.add_argument("--show", type=int, default=20, help="how many kinds of failures to print")
    parser.add_argument("--files", action="store_true", help="print the files of each failure")
    parser.add_argument("--execute", action="store_true", help="execute the binaries that tests write")
    add_bounds(parser, "tests")
    options = parser.parse_args()
    bound_memory(options.gigabytes)
    groups = measured(list(tests_of(options.tree, options.only))[:: options.every], options)
    for kind, counts in sorted(groups.items()):
        print(f"{kind}: {counts}")
        for failure, number in counts.failures.most_common(options.show):
            files = counts.files[failure]
            print(f"  {number:4} {failure}   {' '.join(files) if options.files else files[0]}")
    print(f"all: {sum(groups.values(), Counts())}")


if __name__ == "__main__":
    main()
