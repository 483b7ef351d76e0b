"""Whether passes over texts keep results: ``python -m benchmarks.texts.passes_keep_results TREE [--only REGEX]``.

Each positive module of TTIR in a tree that executes, and whose tensors are small, is run as it is, and again after each
of `--passes`. Results agree if they are equal, or differ by as much as sums in another order, or a rounding more, may:
the root mean square of their differences is at most 1.4 % of theirs for f32, and 14 % for narrower types; integers are
equal. A module that a pass refuses is counted apart.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import torch
from xdsl.dialects.builtin import ModuleOp

from benchmarks.texts.text_yardsticks import expected_errors, modules_of
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.upstream.reading import parse_upstream
from ttnn_jit.dialects.upstream.rewriting.rewriter import device_module
from ttnn_jit.dialects.upstream.verifying import verify_upstream
from ttnn_jit.frontend.ir.texts import entries_of, parse_texts
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.texts.inputs import draw_inputs
from ttnn_jit.transforms.texts.registry import text_passes

PASSES = (
    "canonicalize",
    "cse",
    "ttir-fusing",
    "ttir-to-ttir-decomposition",
    "ttir-flatten-sliding-window",
    "ttir-explicate-tms",
    "ttir-erase-inverse-ops{force=true}",
    "ttir-implicit-broadcast-fold",
    "const-eval-hoist-transform",
    "ttir-element-type-normalization",
    "ttir-to-ttnn-backend-pipeline",
)
MAX_ELEMENTS = 2_000_000


@dataclass
class Counts:
    """What became of the modules under one pass."""

    agree: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


Tensors: TypeAlias = Sequence[torch.Tensor]


def results_of(module: ModuleOp, inputs: Tensors | None) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The results of the first entry point of a module, and its inputs, drawn if none are given."""
    text = TextModule(module, PRESETS["cpu"], (1,))
    name = entries_of(module)[0]
    program = text.program(name)
    drawn = [*inputs] if inputs is not None else draw_inputs(text.functions[name], program.arguments, seed=0)
    if sum(each.numel() for each in drawn) > MAX_ELEMENTS:
        raise ValueError("it is large")
    fitted = [each.to(spec.dtype.torch) for each, spec in zip(drawn, program.arguments, strict=True)]
    return [*program(*fitted)], drawn


def after_passes(text: str, passes: str) -> ModuleOp:
    """The module of a text after passes, verified and read again from its own text."""
    module = parse_upstream(text)
    name, _, options = passes.partition("{")
    for each in text_passes(name, options.removesuffix("}")):
        each.apply(None, module)  # type: ignore[arg-type]  # passes over texts need no context
    verify_upstream(module)
    return device_module(parse_upstream(print_module(module)))


def disagreement(results: Tensors, others: Tensors) -> str:
    """How two lists of results differ; "" if they agree."""
    shapes = [[tuple(each.shape) for each in each_list] for each_list in (results, others)]
    if shapes[0] != shapes[1]:
        return f"shapes {shapes[0]} and {shapes[1]}"
    for number, (one, other) in enumerate(zip(results, others, strict=True)):
        if reason := _difference(one, other):
            return f"result {number}: {reason}"
    return ""


def _difference(one: torch.Tensor, other: torch.Tensor) -> str:
    a, b = one.double(), other.double()
    if not one.dtype.is_floating_point:
        return "" if torch.equal(a, b) else "integers differ"
    if not torch.equal(a.isnan(), b.isnan()):
        return "NaN in other places"
    both = a.isfinite() & b.isfinite()
    if not torch.equal(a[~both].nan_to_num(), b[~both].nan_to_num()):
        return "infinities in other places"
    if not both.any():
        return ""
    norm, distance = (each[both].square().mean().sqrt() for each in (a, a - b))
    bound = 0.014 if {one.dtype, other.dtype} == {torch.float32} else 0.14
    return "" if distance <= bound * norm + 1e-30 else f"distance {float(distance):.3g} of {float(norm):.3g}"


def positive_modules(files: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Place and text of each positive module of TTIR."""
    for file in files:
        for line, text in modules_of(file):
            if not expected_errors(text) and '"ttir.' in text:
                yield f"{file}:{line + 1}", text


def main() -> None:
    """Prints a line per pass, and each module that disagrees."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--only", default="", help="a regular expression of paths")
    parser.add_argument("--passes", action="append", help="passes to run; by default a list")
    parser.add_argument("--show", type=int, default=8, help="how many reasons of refusal to print for each pass")
    options = parser.parse_args()
    files = [file for file in sorted(options.tree.rglob("*.mlir")) if re.search(options.only, str(file))]
    counts = {name: Counts() for name in options.passes or PASSES}
    executed = 0
    for place, text in positive_modules(files):
        try:
            (module,) = parse_texts(text, place)
            wanted, inputs = results_of(module, None)
        except Exception:  # noqa: BLE001 - a module that does not execute says nothing about passes
            continue
        executed += 1
        for name, count in counts.items():
            _compare(name, count, place, text, wanted, inputs)
    print(f"{executed} modules execute")
    for name, count in counts.items():
        print(f"{name}: {count.agree} agree, {len(count.wrong)} do not, {count.refused.total()} refused")
        for reason, number in count.refused.most_common(options.show):
            print(f"  {number:4} {reason}")


def _compare(name: str, count: Counts, place: str, text: str, wanted: Tensors, inputs: Tensors) -> None:
    try:
        found, _ = results_of(after_passes(text, name), inputs)
        difference = disagreement(wanted, found)
    except TtnnJitError as error:
        count.refused[re.sub(r"[0-9]+", "N", error.message)[:110]] += 1
        return
    except Exception as error:  # noqa: BLE001 - a crash is counted, not hidden
        difference = f"{type(error).__name__}: {str(error)[:120]}"
    if difference:
        count.wrong.append(f"{place}: {difference}")
        print(f"WRONG {name} {place}: {difference}", flush=True)
    else:
        count.agree += 1


if __name__ == "__main__":
    main()
