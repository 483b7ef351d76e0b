"""How many modules of a tree of MLIR texts execute.

``python -m benchmarks.texts.executes TREE`` runs every module of ttir, ttnn or stablehlo in the tree that is no
negative test, and prints how many execute: every result has the element type and the shape of the text, and every op
agrees, on equal operands, with its golden. Each test file is split where ``-split-input-file`` splits it. A module in
which the text of an error is expected counts as a negative test, and so does a file whose command line or path says
that it is one.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects.text_calls.tensor_types import spec_in_text
from ttnn_jit.frontend.ir.texts import entries_of, parse_texts
from ttnn_jit.sessions.text_runs import GoldenRun
from ttnn_jit.tools.texts.inputs import draw_inputs
from ttnn_jit.tools.texts.run_text import mesh_of, target_of

_SEPARATOR = re.compile(r"^// -----.*$", re.MULTILINE)
_DIALECT = re.compile(
    r"\b(ttir|ttnn|d2m|stablehlo|chlo|ttkernel|tosa|linalg|emitc|emitpy|sdy|ttmetal|llvm|vhlo|mpmd)\.[a-z_]+"
)
_MESH = re.compile(r"mesh-shape=(\d+(?:,\d+)?)")
DIALECTS = ("ttir", "ttnn", "stablehlo")
_ERRORS = ("CHECK: error", "expected-error")


class Piece(NamedTuple):
    """A module of a file: its place, the dialect that its ops are of, its text, the mesh of the command line."""

    place: str
    dialect: str
    text: str
    mesh: str | None


def pieces(tree: Path) -> Iterator[Piece]:
    """The positive modules of ttir, ttnn and stablehlo in a tree."""
    for file in sorted(tree.rglob("*.mlir")):
        whole = file.read_text(encoding="utf-8", errors="replace")
        if "negative" in str(file.relative_to(tree)).lower() or "not ttmlir-opt" in whole:
            continue
        named = _MESH.search(whole)
        parts = _SEPARATOR.split(whole) if "split-input-file" in whole else [whole]
        for index, part in enumerate(parts):
            dialects = set(_DIALECT.findall(re.sub(r"//.*", "", part)))
            dialect = _dialect_of(dialects)
            if any(error in part for error in _ERRORS) or dialect is None:
                continue
            mesh = None if named is None else named[1].replace(",", "x")
            yield Piece(f"{file.relative_to(tree)}#{index}", dialect, part, mesh)


def _dialect_of(dialects: set[str]) -> str | None:
    """The dialect of a module with ops of these; None of one that has others."""
    if "stablehlo" in dialects:
        return "stablehlo" if dialects <= {"stablehlo", "chlo", "sdy"} else None
    if not dialects or dialects - {"ttir", "ttnn"}:
        return None
    return "ttnn" if "ttnn" in dialects else "ttir"


class TooLargeError(Exception):
    """A module with more elements than `--elements`."""


class TooSlowError(Exception):
    """A module that took more CPU time than `--seconds`, however busy the machine is."""


def executed(piece: Piece, elements: int) -> None:
    """Runs a module as a whole and op by op.

    Raises:
        Exception: It does not execute.
    """
    modules = parse_texts(piece.text, piece.place)
    assert modules, "there is no module"
    ran = 0
    for module in modules:
        types = {value: value.type for op in module.walk() for value in op.results}
        volume = sum(spec_in_text(each).volume for each in types.values() if str(each).startswith("tensor<"))
        if volume > elements:
            raise TooLargeError(f"{volume:,} elements")
        made = TextModule(module, target_of(None, module, piece.text), mesh_of(piece.mesh, module))
        for name in entries_of(module):
            ran += 1
            _run(made, name)
    if not ran:
        raise TtnnJitError("there is no function to run")


def _run(module: TextModule, name: str) -> None:
    program = module.program(name)
    inputs = draw_inputs(module.functions[name], program.arguments, 0)
    results = program(*inputs)
    for spec, result in zip(program.results, results, strict=True):
        assert tuple(result.shape) == tuple(spec.shape), "a shape"
        assert result.dtype is spec.dtype.torch, "a dtype"
    for compared in GoldenRun(module, name, inputs).compared():
        if not compared.matches:
            raise AssertionError(f"{compared.op.name} is not its golden: {compared.failures[0]}")


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlowError("too slow")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--only", default="", help="only files whose path contains this")
    parser.add_argument("--dialect", choices=DIALECTS)
    parser.add_argument("--elements", type=int, default=2**26, help="larger modules are reported apart")
    parser.add_argument("--after", type=Path, help="only modules that are too large in this output of --verbose")
    parser.add_argument("--seconds", type=int, default=60, help="modules that take more CPU time are reported apart")
    parser.add_argument("--part", default="0/1", help="I/N: every Nth module from the Ith on")
    parser.add_argument("--verbose", action="store_true", help="print the outcome of every module")
    options = parser.parse_args()
    signal.signal(signal.SIGPROF, _interrupt)
    counts: Counter[tuple[str, str]] = Counter()
    reasons: Counter[str] = Counter()
    first, step = map(int, options.part.split("/"))
    chosen = [each for each in pieces(options.tree) if options.only in each.place]
    if options.after is not None:
        rows = (line.split("\t") for line in options.after.read_text(encoding="utf-8").splitlines())
        large = {row[0] for row in rows if row[-1] == "too large"}
        chosen = [each for each in chosen if each.place in large]
    for piece in chosen[first::step]:
        if options.dialect not in {None, piece.dialect}:
            continue
        outcome, seconds = _outcome(piece, options.elements, options.seconds)
        kind = outcome if outcome in {"executes", "too large", "too slow"} else "fails"
        counts[piece.dialect, kind] += 1
        reasons[f"{piece.dialect}: {outcome}"] += kind == "fails"
        if options.verbose:
            print(f"{piece.place}\t{piece.dialect}\t{seconds:.2f}\t{outcome}", flush=True)
    for reason, count in reasons.most_common():
        if count:
            print(f"{count:>5}  {reason}", file=sys.stderr)
    for dialect in DIALECTS:
        total = sum(count for (each, _), count in counts.items() if each == dialect)
        if total:
            kinds = ", ".join(
                f"{kind} {counts[dialect, kind]}" for kind in ("executes", "fails", "too large", "too slow")
            )
            print(f"{dialect}: {total} modules: {kinds} ({100 * counts[dialect, 'executes'] / total:.1f} %)")


def _outcome(piece: Piece, elements: int, limit: int) -> tuple[str, float]:
    begin = time.perf_counter()
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        executed(piece, elements)
        outcome = "executes"
    except TooLargeError:
        outcome = "too large"
    except TooSlowError:
        outcome = "too slow"
    except TtnnJitError as error:
        outcome = f"{type(error).__name__}: {error.message}".replace("\n", " ")
    except Exception as error:  # noqa: BLE001 - any failure is an outcome of this yardstick
        outcome = f"{type(error).__name__}: {error}".replace("\n", " ")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return outcome[:300], time.perf_counter() - begin


if __name__ == "__main__":
    main()
