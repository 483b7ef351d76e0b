"""Compares the compiler's output of two checkouts: a refactor is verified by equal output.

    python -m benchmarks.checkouts.replay BEFORE AFTER
    python -m benchmarks.checkouts.replay CHECKOUT --write FILE

BEFORE and AFTER are folders of checkouts, git revisions, or files that ``--write`` made. Thousands of combinations of
program, target, shape, frontend, options and instruction set are compiled; their IR after every stage, kernel text,
object code and plan are compared by hash. Exit status 1 if anything differs; of two checkouts, the first text that does
is shown as a diff. ``--every 3`` is a third of the work: a part of each operation's combinations.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from benchmarks.checkouts.checkouts import UnknownCheckoutError, checkout, importable
from benchmarks.checkouts.replay_programs import ISAS, Combination, combinations
from benchmarks.checkouts.replay_rendering import hashes, render
from benchmarks.harness.process import Process

Hashes = Mapping[str, Mapping[str, str]]
"""Key of a combination -> stage -> hash of its text."""

PER_PROCESS = 120
NO_CACHE = {"TTNN_JIT_CACHE": "0"}


@dataclass(frozen=True)
class Differences:
    """Between two sets of hashes.

    Attributes:
        lines: A summary, by stage.
        first: The key and the earliest stage whose text differs; None if none does.
    """

    lines: list[str]
    first: tuple[str, str] | None


def differences(before: Hashes, after: Hashes) -> Differences:
    """The differences, in the order of the stages of a compile."""
    both = [key for key in before if key in after]
    stages = dict.fromkeys(stage for key in both for stage in before[key])
    differing = [
        (stage, key)
        for stage in stages
        for key in both
        if stage in before[key] and before[key][stage] != after[key].get(stage, before[key][stage])
    ]
    lines = _summary("differs", differing)
    for side, one, other in (("BEFORE", before, after), ("AFTER", after, before)):
        alone = [("combinations", key) for key in one if key not in other]
        alone += [(stage, key) for key in both for stage in one[key] if stage not in other[key]]
        lines += _summary(f"in {side} alone", alone)
    stage, key = differing[0] if differing else (None, None)
    return Differences(lines, None if stage is None or key is None else (key, stage))


def _summary(what: str, found: Iterable[tuple[str, str]]) -> list[str]:
    by_stage: dict[str, list[str]] = {}
    for stage, key in found:
        by_stage.setdefault(stage, []).append(key)
    return [f"{stage}: {len(keys)} {what}, first {keys[0]}" for stage, keys in by_stage.items()]


def rendered(folder: Path, chosen: Iterable[Combination]) -> Hashes:
    """The hashes of a checkout's output, behind a progress bar."""
    from rich.progress import track

    parts = list(_parts(chosen))
    with importable(folder) as started, ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda part: in_process(started, part), parts)
        found = list(track(results, folder.name, total=len(parts)))
    return {key: stages for part in found for key, stages in part.items()}


def _parts(chosen: Iterable[Combination]) -> Iterator[list[Combination]]:
    """Parts of combinations of one instruction set, each for one process."""
    by_isa = sorted(chosen, key=lambda combination: ISAS.index(combination["isa"]))
    for _, group in groupby(by_isa, key=lambda combination: combination["isa"]):
        found = list(group)
        yield from (found[start : start + PER_PROCESS] for start in range(0, len(found), PER_PROCESS))


def in_process(folder: Path, part: list[Combination]) -> dict[str, dict[str, str]]:
    """The hashes of combinations of one instruction set, rendered by a process that starts in `folder`."""
    with Process(NO_CACHE, folder) as process:
        found: dict[str, dict[str, str]] = process.call(hashes, part, part[0]["isa"])
        return found


def text_of(folder: Path, combination: Combination, stage: str) -> list[str]:
    """The lines of a checkout's text of a combination at a stage."""
    with importable(folder) as started, Process(NO_CACHE, started) as process:
        texts: dict[str, str] = process.call(render, combination, combination["isa"])
        return texts[stage].splitlines()


def compare(before: Path, after: Path, only: str, every: int) -> int:
    """Prints the differences of two checkouts or files, and returns the exit status."""
    found = [hashes_of(path, only, every) for path in (before, after)]
    different = differences(*found)
    for line in different.lines:
        print(line)
    if different.first and before.is_dir() and after.is_dir():
        key, stage = different.first
        (combination,) = (one for one in combinations() if one["key"] == key)
        texts = (text_of(path, combination, stage) for path in (before, after))
        print(*difflib.unified_diff(*texts, f"BEFORE {key} {stage}", "AFTER", lineterm=""), sep="\n")
    errors = sum("error" in stages for stages in found[0].values())
    print(f"{'NOT equal' if different.lines else 'equal'}: {len(found[0])} combinations, {errors} of them refused")
    return int(bool(different.lines))


def hashes_of(path: Path, only: str, every: int) -> Hashes:
    """The hashes of a checkout's output or in a file, of each `every`-th combination whose key contains `only`."""
    chosen = [combination for combination in combinations() if only in combination["key"]][::every]
    if path.is_dir():
        return rendered(path, chosen)
    written: Hashes = json.loads(path.read_text(encoding="utf-8"))
    left_out = {combination["key"] for combination in combinations()} - {combination["key"] for combination in chosen}
    return {key: stages for key, stages in written.items() if only in key and key not in left_out}


def main() -> int:
    """Compares, or writes hashes for a comparison."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.checkouts.replay",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("before", metavar="BEFORE", help="a checkout's folder, a git revision, or a written file")
    parser.add_argument("after", metavar="AFTER", nargs="?", help="likewise")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the hashes of the one checkout")
    parser.add_argument("--only", default="", metavar="TEXT", help="combinations whose key contains TEXT")
    parser.add_argument("--every", default=1, metavar="N", type=int, help="every Nth combination of these")
    options = parser.parse_args()
    if (options.after is None) == (options.write is None):
        parser.error("name two to compare, or one and --write FILE")
    with ExitStack() as stack:
        try:
            names = [name for name in (options.before, options.after) if name is not None]
            paths = [Path(name) if Path(name).is_file() else stack.enter_context(checkout(name)) for name in names]
        except UnknownCheckoutError as error:
            parser.error(str(error))
        if options.write is None:
            return compare(*paths, options.only, options.every)
        options.write.write_text(
            json.dumps(hashes_of(paths[0], options.only, options.every), indent=0), encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
