"""How many modules of a tree of MLIR texts execute.

``python -m benchmarks.texts.executes TREE`` runs every module of ttir, ttnn or stablehlo in the tree that is no
negative test, and prints how many execute: every result has the element type and the shape of the text, and every op
agrees, on equal operands, with its golden. Each test file is split where ``-split-input-file`` splits it. A module in
which the text of an error is expected counts as a negative test, and so does a file whose command line or path says
that it is one. Modules of which an op is declared to exchange data of devices, or to run on shards of devices, are
counted apart as well.

`--gigabytes` limits the memory that the process allocates (RLIMIT_DATA): a module that needs more counts as too large.
Tensors, those of devices, what goldens are computed with and compiled code all count, and whatever Python and torch
hold already.
"""

from __future__ import annotations

import argparse
import gc
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from benchmarks.texts.bounds import (
    OVER_BOUNDS,
    TOO_LARGE,
    TOO_SLOW,
    TooSlowError,
    add_bounds,
    bound_memory,
    bounded_time,
    is_too_large,
)
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects.text_calls.op_calls import declared_name
from ttnn_jit.frontend.ir.texts import entries_of, parse_texts
from ttnn_jit.ops.families.text_operation import Role
from ttnn_jit.ops.texts import text_operations
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


def has_collectives(modules: Iterable[ModuleOp]) -> bool:
    """Whether an op is declared to exchange data of devices, or to run on their shards."""
    declared = (text_operations().get(declared_name(op)) for module in modules for op in module.walk())
    return any(each is not None and each.role in {Role.EXCHANGES, Role.SHARDS} for each in declared)


def executed(piece: Piece, modules: Sequence[ModuleOp]) -> None:
    """Runs the modules of a text as a whole and op by op.

    Raises:
        Exception: One does not execute.
    """
    assert modules, "there is no module"
    ran = 0
    for module in modules:
        made = TextModule(module, target_of(None, module, piece.text), mesh_of(piece.mesh, module))
        for name in entries_of(module):
            ran += 1
            _run(made, name)
    if not ran:
        raise TtnnJitError("there is no function to run")


def _run(module: TextModule, name: str) -> None:
    program = module.program(name)
    inputs = draw_inputs(module.functions[name], program.arguments, 0)
    for spec, result in zip(program.results, program(*inputs), strict=True):
        assert tuple(result.shape) == tuple(spec.shape), "a shape"
        assert result.dtype is spec.dtype.torch, "a dtype"
    for compared in GoldenRun(module, name, inputs).compared():
        if compared.has_no_golden:
            raise AssertionError(f"{compared.op.name} has no golden")
        if not compared.matches:
            raise AssertionError(f"{compared.op.name} is not its golden: {compared.failures[0]}")


class Outcome(NamedTuple):
    """What became of a module.

    Attributes:
        reason: One of `KINDS` but the second, or why it fails.
        seconds: How long it took, of CPU time.
        has_collectives: Whether devices exchange data in it; None of one that does not parse.
    """

    reason: str
    seconds: float
    has_collectives: bool | None

    @property
    def kind(self) -> str:
        """One of `KINDS`."""
        return self.reason if self.reason in KINDS else "fails"


KINDS = ("executes", "fails", *OVER_BOUNDS)
_SHARES = {True: "with collectives", False: "without", None: "not parsed"}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--only", default="", help="only files whose path contains this")
    parser.add_argument("--dialect", choices=DIALECTS)
    add_bounds(parser, "modules")
    parser.add_argument("--after", type=Path, help="an output of --verbose: modules in it without --again are not run")
    parser.add_argument("--again", default=TOO_LARGE, help="the beginning of an outcome; not-executes: all others")
    parser.add_argument("--part", default="0/1", help="I/N: every Nth module from the Ith on")
    parser.add_argument("--verbose", action="store_true", help="print the outcome of every module")
    options = parser.parse_args()
    bound_memory(options.gigabytes)
    known = {} if options.after is None else _read_outcomes(options.after)
    first, step = map(int, options.part.split("/"))
    chosen = [each for each in pieces(options.tree) if options.only in each.place]
    outcomes: list[tuple[str, Outcome]] = []
    for piece in [each for each in chosen if options.dialect in {None, each.dialect}][first::step]:
        before = known.get(piece.place)
        if before is None and options.after is not None:
            continue
        is_known = before is not None and not _runs_again(before, options.again)
        outcome = before if is_known else _outcome(piece, options.seconds)
        outcomes.append((piece.dialect, outcome))
        if options.verbose:
            share = _SHARES[outcome.has_collectives]
            print(f"{piece.place}\t{piece.dialect}\t{share}\t{outcome.seconds:.2f}\t{outcome.reason}", flush=True)
    _print_table(outcomes)


def _runs_again(outcome: Outcome, again: str) -> bool:
    return outcome.kind != "executes" if again == "not-executes" else outcome.reason.startswith(again)


def _read_outcomes(output: Path) -> dict[str, Outcome]:
    """The outcomes in an output of `--verbose`, by place."""
    shares = {name: share for share, name in _SHARES.items()}
    rows = (line.split("\t", 4) for line in output.read_text(encoding="utf-8").splitlines())
    return {row[0]: Outcome(row[4], float(row[3]), shares[row[2]]) for row in rows if len(row) == 5}


def _print_table(outcomes: Sequence[tuple[str, Outcome]]) -> None:
    reasons = Counter(f"{dialect}: {each.reason}" for dialect, each in outcomes if each.kind == "fails")
    for reason, count in reasons.most_common():
        print(f"{count:>5}  {reason}", file=sys.stderr)
    for dialect in DIALECTS:
        found = [each for own, each in outcomes if own == dialect]
        if found:
            print(f"{dialect}: {_counted(found)}")
        for share, name in _SHARES.items():
            own = [each for each in found if each.has_collectives is share]
            if own and len(own) < len(found):
                print(f"  {name}: {_counted(own)}")


def _counted(outcomes: Sequence[Outcome]) -> str:
    counts = Counter(each.kind for each in outcomes)
    kinds = ", ".join(f"{kind} {counts[kind]}" for kind in KINDS)
    return f"{len(outcomes)} modules: {kinds} ({100 * counts['executes'] / len(outcomes):.1f} %)"


def _reason(error: Exception) -> str:
    """Why a module fails, in a line; `too large` if there was no memory for it."""
    said = error.message if isinstance(error, TtnnJitError) else str(error)
    reason = f"{type(error).__name__}: {said}".replace("\n", " ")
    return TOO_LARGE if is_too_large(reason) else reason[:300]


def _outcome(piece: Piece, limit: int) -> Outcome:
    begin = time.process_time()
    collectives = None
    gc.collect()  # tensors of the module before may be in cycles
    try:
        with bounded_time(limit):
            modules = parse_texts(piece.text, piece.place)
            collectives = has_collectives(modules)
            executed(piece, modules)
        reason = "executes"
    except TooSlowError:
        reason = TOO_SLOW
    except Exception as error:  # noqa: BLE001 - any failure is an outcome of this yardstick
        reason = _reason(error)
    return Outcome(reason, time.process_time() - begin, collectives)


if __name__ == "__main__":
    main()
