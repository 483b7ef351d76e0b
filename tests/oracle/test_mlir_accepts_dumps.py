"""A real MLIR parser, the one inside jaxlib, accepts the TTNN and TTIR dumps of random programs, locations included.

These tests run under `make oracle`, which installs jax; it is too large to have beside every run of the tests.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.expressions import evaluate, expressions
from ttnn_jit.dialects import print_module
from ttnn_jit.frontend import FrontendRequest, TensorArgument, lower
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec
from ttnn_jit.transforms import pipeline

pytestmark = pytest.mark.oracle

SPECS = [
    TensorSpec((32, 64), DataType.BFLOAT16, Layout.TILE),
    TensorSpec((3, 5), DataType.FLOAT32, strides=(1, 3)),
    TensorSpec((2, 3, 4), DataType.FLOAT32),
    TensorSpec((), DataType.FLOAT32),
]


def accept(text: str) -> str:
    from jax.interpreters import mlir
    from jaxlib.mlir import ir

    with mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        assert module.operation.verify()
        return str(module)


@settings(max_examples=40, deadline=None)
@given(expressions(), st.sampled_from(SPECS), st.sampled_from(sorted(PRESETS)))
def test_mlir_accepts_every_ttnn_and_ttir_dump(expression, spec, target):
    def program(a, b, c, d):
        return evaluate(expression, (a, b, c, d))

    module = lower(
        FrontendRequest(program, dict.fromkeys("abcd", TensorArgument(spec)), PRESETS[target], graph_capture=True)
    ).module

    def check(_, left):
        plain, located = print_module(left), print_module(left, locations=True)
        assert accept(plain) == accept(located)

    check("frontend", module)
    pipeline.run(module, CompileOptions(), until="cse", observer=check)
