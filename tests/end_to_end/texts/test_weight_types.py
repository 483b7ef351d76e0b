"""Weights of products as block floats: of all by an option, of one argument by `ttcore.weight_dtype`."""

from __future__ import annotations

import pytest
import torch

from benchmarks.texts.passes_keep_results import after_passes, results_of
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects import print_module
from ttnn_jit.frontend.ir.texts import parse_texts

STEP = {"bfp_bf8": 2.0**-7, "bfp_bf4": 2.0**-3}
"""How far an element may lie from its rounded one, of the greatest in its block."""
PIPELINE = "ttir-to-ttnn-backend-pipeline"


def product(kind: str = "parameter", stated: str = "", shape: tuple[int, int] = (40, 70)) -> str:
    inner, columns = shape
    a, b, c = f"tensor<3x{inner}xf32>", f"tensor<{inner}x{columns}xf32>", f"tensor<3x{columns}xf32>"
    attributes = f"ttcore.argument_type = #ttcore.argument_type<{kind}>" + (
        f', ttcore.weight_dtype = "{stated}"' if stated else ""
    )
    return (
        f"func.func @f(%a: {a} {{ttcore.argument_type = #ttcore.argument_type<input>}}, %b: {b} {{{attributes}}})"
        f' -> {c} {{\n  %0 = "ttir.matmul"(%a, %b) : ({a}, {b}) -> {c}\n  return %0 : {c}\n}}\n'
    )


def compared(text: str, passes: str) -> tuple[str, float, float]:
    """The text behind passes, the largest difference of its results, and what a unit of rounding makes of it."""
    (module,) = parse_texts(text, "model.mlir")
    (wanted,), inputs = results_of(module, None)
    after = after_passes(text, passes)
    (found,), _ = results_of(after, inputs)
    a, b = (each.double() for each in inputs)
    assert torch.allclose(wanted.double(), a @ b, atol=1e-3)
    return print_module(after), float((found - wanted).abs().max()), float(a.abs().sum(-1).max() * b.abs().max())


@pytest.mark.parametrize("dtype", [*STEP])
@pytest.mark.parametrize("stated", [False, True], ids=["all", "argument"])
def test_weights_are_rounded_to_block_floats(dtype, stated):
    option = "" if stated else f"{{experimental-weight-dtype={dtype}}}"
    text, difference, unit = compared(product(stated=dtype if stated else ""), PIPELINE + option)
    assert text.count(f"!ttcore.tile<32x32, {dtype}>, ")
    assert 0 < difference <= STEP[dtype] * unit


@pytest.mark.parametrize(
    ("text", "option"),
    [(product("input"), "bfp_bf8"), (product(), "none"), (product(stated="bf16"), "bfp_bf4")],
    ids=["input", "none", "argument-wins"],
)
def test_what_is_no_weight_or_states_another_type_is_no_block_float(text, option):
    text, _, _ = compared(text, f"{PIPELINE}{{experimental-weight-dtype={option}}}")
    assert "ttcore.tile<32x32, bfp" not in text


def test_an_unknown_type_is_refused():
    with pytest.raises(TtnnJitError, match="weight_dtype"):
        compared(product(stated="bfp_bf3"), PIPELINE)
    with pytest.raises(TtnnJitError, match="target-dtype"):
        compared(product(), f"{PIPELINE}{{experimental-weight-dtype=f8}}")
