# ruff: noqa: T201 - a command
"""``python -m tests.properties.tensor_worlds``: tests the compiler on many models, and prints counterexamples."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from tests.properties.tensor_worlds.attack import Case, Tally, case_of, run
from ttnn_jit import ttnn

LIBRARIES = ("torch", "ttnn", "numpy")


@contextmanager
def own_disk() -> Iterator[None]:
    """Creates a temporary disk cache for the block."""
    before = os.environ.get("TTNN_JIT_CACHE_DIR")
    os.environ["TTNN_JIT_CACHE_DIR"] = folder = tempfile.mkdtemp(prefix="tensor_worlds")
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        del os.environ["TTNN_JIT_CACHE_DIR"]
        if before is not None:
            os.environ["TTNN_JIT_CACHE_DIR"] = before


def attempt(case: Case, tally: Tally | None = None) -> str | None:
    """`run` with its own disk cache and device."""
    device = ttnn.open_device(device_id=0) if case.library == "ttnn" else None
    try:
        with own_disk():
            return run(case, device, tally)
    finally:
        if device is not None:
            ttnn.close_device(device)


def reduced(case: Case) -> Case:
    """A case with fewer steps that fails too."""
    for index in reversed(range(1, len(case.steps))):
        fewer = replace(case, steps=(*case.steps[:index], *case.steps[index + 1 :]))
        case = fewer if attempt(fewer) is not None else case
    return case


def main() -> None:
    """Runs the cases of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1000, help="to make, at least")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--libraries", nargs="*", default=LIBRARIES, choices=LIBRARIES)
    options = parser.parse_args()
    tally, started, failures = Tally(), time.monotonic(), 0
    seed = options.seed
    while tally.counts["calls"] < options.calls:
        for library in options.libraries:
            for graph_capture in (False, True):
                case = case_of(seed, library, graph_capture=graph_capture)
                found = attempt(case, tally)
                if found is not None:
                    failures += 1
                    print(f"seed {seed}, {library}, graph_capture={graph_capture}: {found}" if failures <= 50 else ".")
                    if failures <= 10:
                        small = reduced(case)
                        body = case.text[case.text.index("        t = x\n") :]
                        print(f"{body}steps: {[change for change, _ in small.steps]}", flush=True)
        seed += 1
        if seed % 50 == 0:
            print(f"{seed} seeds, {time.monotonic() - started:.0f} s, {failures} failures, {dict(tally.counts)}",
                  file=sys.stderr, flush=True)  # fmt: skip
    print(f"{tally.counts['calls']} calls of {seed - options.seed} seeds, {failures} failures, {dict(tally.counts)}")
    for text, count in tally.refusals.most_common(30):
        print(f"{count:6} refused: {text}")


if __name__ == "__main__":
    main()
