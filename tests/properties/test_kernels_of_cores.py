"""Random programs as kernels of cores: the interpreter of kernels gives the bits of native code."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.expressions import MATH, TENSORS, evaluate, expressions_of
from tests.kernel_texts import arrays as arrays_of
from tests.kernel_texts import executed, on_one_core, results_and_text, tensor
from ttnn_jit import ttnn
from ttnn_jit.dialects.ttkernel.tile_functions import Form, tile_function
from ttnn_jit.specs.dtypes import DataType

ON_TILES = [each for each in MATH if tile_function(each, DataType.FLOAT32, Form.TILES) is not None]
"""Operations that ttkernel computes on tiles."""

DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32}


@pytest.fixture(scope="module")
def module_device():
    with ttnn.manage_device(0) as device:
        yield device


def values(shape, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    made = torch.randn(shape, generator=generator) * 3
    flat = made.view(-1)
    flat[:8] = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1e-40, 3e38, 1.0])
    return made.to(dtype)


@settings(max_examples=4, deadline=None)
@given(
    expression=expressions_of(ON_TILES),
    rows=st.integers(1, 4),
    columns=st.integers(1, 5),
    dtype=st.sampled_from(sorted(DTYPES)),
    broadcast=st.sampled_from([None, "row", "column", "element"]),
    stage=st.sampled_from(["ttkernel", "ttmetal"]),
    alone=st.booleans(),
)
def test_random_elementwise_programs(module_device, expression, rows, columns, dtype, broadcast, stage, alone):
    shape = [32 * rows, 32 * columns]
    config = on_one_core(*shape) if alone else None
    tensors = [tensor(module_device, values(shape, DTYPES[dtype], seed), config) for seed in range(TENSORS)]
    if broadcast is not None:
        lesser = [1 if broadcast != "column" else shape[0], 1 if broadcast != "row" else shape[1]]
        tensors[-1] = tensor(module_device, values([64, 64], DTYPES[dtype], 9)[: lesser[0], : lesser[1]].expand(lesser))

    def program(a, b, c, d):
        return evaluate(expression, (a, b, c, d))

    results, text = results_and_text(program, tensors, stage)
    assert [each.tobytes() for each in executed(text, arrays_of(tensors))] == [each.tobytes() for each in results]
