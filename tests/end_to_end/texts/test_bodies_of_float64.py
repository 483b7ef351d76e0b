"""Elementwise operations with numbers, and special functions, of texts in float64."""

from __future__ import annotations

import math

import pytest
import torch

from tests.end_to_end.texts.test_ops_of_texts import loaded, module_of
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.sessions.text_runs import GoldenRun

FUNCTIONS = {
    "celu": "alpha = 0.75 : f32",
    "elu": "alpha = 0.75 : f32",
    "digamma": "",
    "i0": "",
    "gelu_tanh": "",
    "hardshrink": "",
    "hardtanh": "",
    "heaviside": "value = 0.25 : f32",
    "leaky_relu": "parameter = 0.01 : f32",
    "mish": "",
    "nan_to_num": "",
    "round_decimals": "decimals = 1 : i32",
    "selu": "",
    "softplus": "beta = 0.75 : f32",
    "softshrink": "",
    "threshold": "",
}
SPECIAL = [0.0, -0.0, 1.0, 10.0, 100.0, 1e-8, -0.5, -1.5, 30.0, 600.0, -3.0, math.inf, -math.inf, math.nan]
NUMBERS = torch.cat([torch.tensor(SPECIAL, dtype=torch.float64), torch.linspace(-60, 60, 601, dtype=torch.float64)])


def test_functions_agree_with_their_goldens_in_all_bits_but_a_few():
    kind = f"tensor<{len(NUMBERS)}xf64>"
    lines = [f'%{name} = "ttir.{name}"(%x) <{{{given}}}> : ({kind}) -> {kind}' for name, given in FUNCTIONS.items()]
    values, types = ", ".join(f"%{name}" for name in FUNCTIONS), ", ".join([kind] * len(FUNCTIONS))
    body = "\n".join(lines)
    module = loaded(f"func.func @main(%x: {kind}) -> ({types}) {{\n{body}\nreturn {values} : {types}\n}}")
    results = module.program("main")(NUMBERS)
    assert all(each.dtype is torch.float64 for each in results)
    wrong = [(each.op.name, each.failures) for each in GoldenRun(module, "main", [NUMBERS]).compared() if each.failures]
    assert not wrong


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("ttir.logical_right_shift : 3xf64, 3xf64 -> 3xf64", "bits of integers are shifted"),
        ("ttir.tril : 3x3xf64 -> 3x3xf64", "`tril` does not take FLOAT64 tensors"),
    ],
)
def test_what_has_no_float64_is_refused(op, message):
    with pytest.raises(CompileError, match=message):
        loaded(module_of(op)).program("main")


def test_dropped_elements_of_float64_are_zero_and_the_others_scaled():
    op = "ttir.dropout {prob = 0.5 : f32, scale = 2.0 : f32} : 40x50xf64 -> 40x50xf64"
    (found,) = loaded(module_of(op)).program("main")(torch.ones(40, 50, dtype=torch.float64))
    assert set(found.unique().tolist()) == {0.0, 2.0}
