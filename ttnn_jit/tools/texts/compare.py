"""``ttnn-jit compare``: runs two texts of one program on equal inputs, and compares their results."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.golden.verdict import ResultFormat, Tolerance, Verdict, judge, relative_of_pcc
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
    results = []
    inputs: list[torch.Tensor] | None = None
    for file in (options.file, options.other):
        ((module, entry),) = _only(options, file)
        inputs = inputs_of(options, module, entry) if inputs is None else _for(module.program(entry).arguments, inputs)
        program = module.program(entry)
        results.append((program.results, program(*inputs)))
    (specs, first), (_, second) = results
    if [tuple(each.shape) for each in first] != [tuple(each.shape) for each in second]:
        raise ArgumentError("the two texts have results of different shapes")
    matches = True
    for index, (spec, left, right) in enumerate(zip(specs, first, second, strict=True)):
        verdict, bound = _verdict(left, right, spec.dtype)
        matches &= verdict.matches
        print(
            f"result {index} {spec.dtype.mlir}{list(spec.shape)}: {'equal' if verdict.matches else 'DIFFERENT'}, "
            f"bound {bound}, pcc {verdict.pcc:.6f}, NaN in one alone: {verdict.differing_nans}"
            + (f"; {verdict.reason}" if verdict.reason else "")
        )
    return 0 if matches else 1


def _only(options: argparse.Namespace, file: str) -> list[tuple[TextModule, str]]:
    found = chosen_entries(options, *read_text(file))
    if len(found) != 1:
        raise ArgumentError(f"{file} has {len(found)} entry points", help="name one: `--entry NAME`")
    return found


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
