"""``python -m tests.properties.worlds``: attacks the compiler with many worlds, and prints the smallest that beat it."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from tests.properties.worlds.attack import Case, Failure, Tally, run
from tests.properties.worlds.cases import case_of, loads
from tests.properties.worlds.reduce import reduced, script


def attempt(case: Case, tally: Tally | None = None) -> Failure | None:
    """`run` with a disk cache of its own."""
    folder = tempfile.mkdtemp(prefix="worlds")
    os.environ["TTNN_JIT_CACHE_DIR"] = folder
    try:
        return run(case, tally)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--frontend", choices=["ast", "capture", "both"], default="both")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--show", type=int, default=10, help="how many failures are made small and printed")
    parser.add_argument("--out", type=Path, help="a folder for the scripts")
    options = parser.parse_args()
    frontends = {"ast": [False], "capture": [True], "both": [False, True]}[options.frontend]
    tally, started = Tally(), time.monotonic()
    found: dict[str, list[tuple[int, Case, Failure]]] = defaultdict(list)
    for number in range(options.cases):
        seed = options.seed + number
        for graph_capture in frontends:
            case = case_of(seed, graph_capture=graph_capture, steps=options.steps)
            if case is None or not loads(case):
                tally.counts["no worlds"] += 1
                continue
            tally.counts["worlds"] += 1
            failure = attempt(case, tally)
            if failure is None:
                continue
            small, failure = reduced(case, failure, attempt)
            key = f"{failure.kind} {'capture' if graph_capture else 'ast'}: {signature(small)}"
            found[key].append((seed, small, failure))
            if len(found[key]) == 1 and len(found) <= options.show:
                report(options.out, key, seed, small, failure)
        if number % 100 == 99 or number + 1 == options.cases:
            failures = sum(map(len, found.values()))
            print(f"{number + 1} seeds, {time.monotonic() - started:.0f} s, {failures} failures of {len(found)} kinds, "
                  f"{dict(tally.counts)}", file=sys.stderr, flush=True)  # fmt: skip
    for key, cases in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{len(cases):5} {key}   seeds {[seed for seed, _, _ in cases[:5]]}")
    for text, count in tally.refusals.most_common(40):
        print(f"{count:6} refused: {text}")


def signature(case: Case) -> str:
    """What tells one kind of failure from another: the forms read, and what was changed."""
    import re

    forms = "; ".join(" <- ".join(statement.tags[-3:]) for statement in case.world.statements)
    changes = [re.sub(r"\d+", "#", step.mutation.text) for step in case.steps if step.mutation is not None]
    edits = ["edited source" for step in case.steps if step.source is not None]
    return f"{case.world.mode} | {forms} | {'; '.join([*changes, *edits])}"


def report(folder: Path | None, key: str, seed: int, case: Case, failure: Failure) -> None:
    """Print a failure as a script."""
    heading = "".join(f"# {line}\n" for line in f"{key}\nseed {seed}: {failure.text}".splitlines())
    text = f"{heading}{script(case)}"
    if folder is None:
        print(text, flush=True)
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{failure.kind.replace(' ', '_')}_{'capture' if case.graph_capture else 'ast'}_{seed}.py").write_text(
        text
    )


if __name__ == "__main__":
    main()
