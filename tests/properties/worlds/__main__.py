# ruff: noqa: T201 - a command
"""``python -m tests.properties.worlds``: tests the compiler on many worlds, and prints counterexamples."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
import types
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.properties.worlds.attack import Case, Failure, Tally, run, segments
from tests.properties.worlds.cases import case_of, loads
from tests.properties.worlds.reduce import reduced, script

Found = dict[str, list[tuple[int, Case, Failure]]]


def attempt(case: Case, tally: Tally | None = None) -> Failure | None:
    """`run` with its own disk cache."""
    before = os.environ.get("TTNN_JIT_CACHE_DIR")
    folder = tempfile.mkdtemp(prefix="worlds")
    os.environ["TTNN_JIT_CACHE_DIR"] = folder
    try:
        return run(case, tally)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        del os.environ["TTNN_JIT_CACHE_DIR"]
        if before is not None:
            os.environ["TTNN_JIT_CACHE_DIR"] = before


class TooLongError(BaseException):
    """A seed exceeded its time limit; not a subclass of `Exception`, so that worlds do not catch it."""


@contextlib.contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raises TooLongError in the block, with its location, after this time."""

    def ring(_: int, frame: types.FrameType | None) -> None:
        raise TooLongError("".join(traceback.format_stack(frame)[-4:]))

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)  # and again, because a world may catch everything
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def one_segment(case: Case, number: int) -> Failure | None:
    """`run` of the part of a case in one process; the disk cache is that of the environment."""
    parts = segments(case)
    return run(parts[number]) if number < len(parts) else None


def main() -> None:
    """Runs the cases of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--frontend", choices=["ast", "capture", "both", "default"], default="both")
    parser.add_argument("--steps", type=int, default=5, help="at most so many changes and new processes")
    parser.add_argument("--show", type=int, default=10, help="how many kinds of failures are printed as scripts")
    parser.add_argument("--out", type=Path, help="a folder for these")
    parser.add_argument("--segment", type=int, help="do what this process of each case does, and keep the disk cache")
    parser.add_argument("--seconds", type=int, default=60, help="that a seed may take: some worlds never end in Python")
    parser.add_argument("--without", default="$^", help="leave out the worlds in whose text this expression is found")
    options = parser.parse_args()
    tally, started = Tally(), time.monotonic()
    found: Found = defaultdict(list)
    for number in range(options.cases):
        try:
            with at_most(options.seconds):
                for case in _cases(options, options.seed + number, tally):
                    _attack(options, options.seed + number, case, tally, found)
        except TooLongError as error:
            tally.counts["too long"] += 1
            print(f"seed {options.seed + number} was cut short\n{error}", flush=True)
        if number % 100 == 99 or number + 1 == options.cases:
            failures = sum(map(len, found.values()))
            print(f"{number + 1} seeds, {time.monotonic() - started:.0f} s, {failures} failures of {len(found)} kinds, "
                  f"{dict(tally.counts)}", file=sys.stderr, flush=True)  # fmt: skip
    for key, cases in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{len(cases):5} {key}   seeds {[seed for seed, _, _ in cases[:5]]}")
    for text, count in tally.refusals.most_common(40):
        print(f"{count:6} refused: {text}")
    for text, count in tally.opaque.most_common(40):
        print(f"{count:6} opaque: {text}")


def _cases(options: argparse.Namespace, seed: int, tally: Tally) -> list[Case]:
    left_out = re.compile(options.without)
    made: list[Case] = []
    for graph_capture in {"ast": [False], "capture": [True], "both": [False, True], "default": [None]}[
        options.frontend
    ]:
        case = case_of(seed, graph_capture=graph_capture, steps=options.steps)
        usable = case is not None and not left_out.search(case.world.text()) and loads(case)
        tally.counts["worlds" if usable else "no worlds"] += 1
        made += [case] if case is not None and usable else []
    return made


def _attack(options: argparse.Namespace, seed: int, case: Case, tally: Tally, found: Found) -> None:
    if options.segment is not None:
        failure = one_segment(case, options.segment)
        if failure is not None:
            print(f"seed {seed}, {_frontend(case)}: {failure.kind}: {failure.text}")
        return
    failure = attempt(case, tally)
    if failure is None:
        return
    small, failure = reduced(case, failure, attempt)
    key = f"{failure.kind} {_frontend(case)}: {_signature(small)}"
    found[key].append((seed, small, failure))
    if len(found[key]) == 1 and len(found) <= options.show:
        _report(options.out, key, seed, small, failure)


def _frontend(case: Case) -> str:
    return "default" if case.graph_capture is None else "capture" if case.graph_capture else "ast"


def _signature(case: Case) -> str:
    """The kind of a failure: the forms read, and the changed values."""
    forms = "; ".join(" <- ".join(statement.tags[-3:]) for statement in case.world.statements)
    changes = [re.sub(r"\d+", "#", step.mutation.text) for step in case.steps if step.mutation is not None]
    edits = ["edited source" for step in case.steps if step.source is not None]
    return f"{case.world.mode} | {forms} | {'; '.join([*changes, *edits])}".replace("\n", " / ")


def _report(folder: Path | None, key: str, seed: int, case: Case, failure: Failure) -> None:
    """Prints a failure as a script, or writes it to a file."""
    heading = "".join(f"# {line}\n" for line in f"{key}\nseed {seed}: {failure.text}".splitlines())
    text = f"{heading}{script(case)}"
    if folder is None:
        print(text, flush=True)
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{failure.kind.replace(' ', '_')}_{_frontend(case)}_{seed}.py").write_text(text)


if __name__ == "__main__":
    main()
