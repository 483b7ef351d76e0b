"""``ttnn-jit compare``: runs two texts of one program on equal inputs, and compares their results."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.golden.judging import judge
from ttnn_jit.golden.verdict import ResultFormat, Tolerance, Verdict, relative_of_pcc
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.tools.opt import read_text
from ttnn_jit.tools.texts.run_text import chosen_entries, inputs_of, require_file

if TYPE_CHECKING:
    import torch

PCC_OF_HALVES, PCC_OF_WORDS = 0.99, 0.9999
"""The correlation from which the bound of float results of at most 16 bits, and of wider ones, follows."""


def main(options: argparse.Namespace) -> int:
    """Prints a line per result, with its bound; 1 if a result is outside."""
    for file in (options.file, options.other):
        require_file(file)
    pairs = _pairs(options)
    matches = True
    for number, (first, second) in enumerate(pairs):
        if len(pairs) > 1:
            print(f"@{first[1]}, entry point {number}:")
        matches &= _compare(options, first, second)
    return 0 if matches else 1


def _pairs(options: argparse.Namespace) -> list[tuple[tuple[TextModule, str], tuple[TextModule, str]]]:
    """The entry points of both files, in order."""
    first, second = (chosen_entries(options, *read_text(file)) for file in (options.file, options.other))
    if len(first) != len(second):
        raise ArgumentError(
            f"{options.file} has {len(first)} entry points, and {options.other} has {len(second)}",
            help="name one: `--entry NAME`",
        )
    return [*zip(first, second, strict=True)]


def _compare(options: argparse.Namespace, first: tuple[TextModule, str], second: tuple[TextModule, str]) -> bool:
    results = []
    inputs: list[torch.Tensor] | None = None
    for module, entry in (first, second):
        program = module.program(entry)
        inputs = inputs_of(options, module, entry) if inputs is None else _for(program.arguments, inputs)
        results.append((program.results, program(*inputs)))
    (specs, left), (_, right) = results
    if [tuple(each.shape) for each in left] != [tuple(each.shape) for each in right]:
        raise ArgumentError("the two texts have results of different shapes")
    matches = True
    for index, (spec, own, other) in enumerate(zip(specs, left, right, strict=True)):
        verdict, bound = _verdict(own, other, spec.dtype)
        matches &= verdict.matches
        print(
            f"result {index} {spec.dtype.mlir}{list(spec.shape)}: {'equal' if verdict.matches else 'DIFFERENT'}, "
            f"bound {bound}, pcc {verdict.pcc:.6f}, NaN in one alone: {verdict.differing_nans}"
            + (f"; {verdict.reason}" if verdict.reason else "")
        )
    return matches


def _for(specs: Sequence[TensorSpec], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    wanted = [tuple(spec.shape) for spec in specs]
    if wanted != [tuple(each.shape) for each in inputs]:
        raise ArgumentError(
            f"the second text takes arguments of shapes {[list(each) for each in wanted]}, and the first "
            f"{[list(each.shape) for each in inputs]}"
        )
    return [each.to(spec.dtype.torch) for each, spec in zip(inputs, specs, strict=True)]


def _verdict(left: torch.Tensor, right: torch.Tensor, dtype: DataType) -> tuple[Verdict, str]:
    """The verdict on two results of one program, and the bound: equal integers, or a root mean square of floats."""
    if dtype.is_integer:
        return judge(left, right, ResultFormat(dtype), Tolerance()), "equality"
    relative = relative_of_pcc(PCC_OF_HALVES if dtype.unpacked.itemsize <= 2 else PCC_OF_WORDS)
    tolerance = Tolerance(1.0, relative=relative, by_rms=True)
    return judge(left, right.double(), ResultFormat(dtype), tolerance), f"{relative:.3g} of the root mean square"
