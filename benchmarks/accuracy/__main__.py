"""Measures every operation and writes docs/accuracy.md.

    python -m benchmarks.accuracy [--fraction F] [--all NAME,NAME] [--processes N] [--write docs/accuracy.md]
    python -m benchmarks.accuracy --only NAME,NAME [--fraction F]    # prints the lines of these operations

The full sample takes about a quarter of an hour of one core. Fails if a bound is broken.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from rich.progress import track

from benchmarks.accuracy.measure import cases
from benchmarks.accuracy.page import page, table
from benchmarks.accuracy.parallel import measured_cases


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fraction", type=float, default=1.0, help="of the full sample (default: all of it)")
    parser.add_argument("--all", default="", help="operations that are given every one of the 2**32 float32")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="that share the work")
    parser.add_argument("--only", default="", help="operations that are measured, instead of the whole page")
    parser.add_argument("--write", type=Path, help="where the page goes; printed if not given")
    options = parser.parse_args()
    exhaustive = [name for name in options.all.split(",") if name]
    only = options.only.split(",") if options.only else None
    if only and options.write:
        parser.error("a page has every operation: leave out `--only`, or `--write`")
    chosen = [case for case in cases() if only is None or case[0].name in only]
    rows = measured_cases(chosen, options.fraction, exhaustive, options.processes)
    found = [row for case in track(rows, "operations", total=len(chosen)) for row in case]
    text = table(found) if only else page(found, options.fraction, exhaustive)
    if options.write:
        options.write.write_text(text)
    else:
        print(text)
    broken = [row for row in found if row.max_ulp > row.bound]
    for row in broken:
        where = f"{row.operation.signature} {row.dtype.name} {row.mode.name}"
        print(f"beyond its bound: {where}: {row.max_ulp} at {row.worst}")
    raise SystemExit(bool(broken))


if __name__ == "__main__":
    main()
