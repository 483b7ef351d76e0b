"""Random programs as kernels of cores: the interpreter of kernels gives the bits of native code."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.expressions import MATH, TENSORS, evaluate, expressions_of
from tests.kernel_texts import arrays as arrays_of
from tests.kernel_texts import executed, on_one_core, results_and_text, tensor
from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import PassError
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


@settings(max_examples=8, deadline=None)
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
        tensors[-1] = tensor(module_device, values([128, 160], DTYPES[dtype], 9)[: lesser[0], : lesser[1]])

    def program(a, b, c, d):
        return evaluate(expression, (a, b, c, d))

    results, text = results_and_text(program, tensors, stage)
    assert [each.tobytes() for each in executed(text, arrays_of(tensors))] == [each.tobytes() for each in results]


def block_sharded(rows, columns):
    """A tensor of two by two tiles on each of two by two cores."""
    grid = ttnn.CoreGrid(x=2, y=2)
    shape = (64 * rows, 64 * columns)
    return ttnn.create_sharded_memory_config(shape, core_grid=grid, strategy=ttnn.ShardStrategy.BLOCK)


PROGRAMS = {
    "a product of matrices": (lambda a, b: ttnn.matmul(a, b), [(96, 64), (64, 160)], torch.bfloat16),
    "a product in float32": (lambda a, b: ttnn.matmul(a, b), [(64, 128), (128, 64)], torch.float32),
    "a linear layer": (
        lambda a, b, c: ttnn.linear(a, b, bias=c, activation="relu"),
        [(64, 64), (64, 64), (1, 64)],
        torch.bfloat16,
    ),
    "a softmax": (lambda a: ttnn.softmax(a, dim=-1), [(64, 96)], torch.bfloat16),
    "tensors of four dimensions": (lambda a, b: a * b, [(2, 2, 32, 64), (2, 2, 32, 64)], torch.bfloat16),
    "parts that reach past the tensor": (lambda a, b: ttnn.exp(a) + b, [(352, 416), (1, 416)], torch.bfloat16),
    "numbers in the attributes": (lambda a: ttnn.selu(ttnn.clamp(a, -0.5, 0.5)), [(64, 64)], torch.float32),
    "numbers on the left of a full DST": (lambda a: 2.0 / a, [(32, 2048)], torch.bfloat16),
    "a cast to integers and back": (
        lambda a: ttnn.typecast(ttnn.typecast(a, ttnn.int32), ttnn.bfloat16),
        [(64, 64)],
        torch.bfloat16,
    ),
    "integers": (lambda a, b: ttnn.bitwise_xor(a * b + 3, ttnn.abs(b)), [(64, 64), (64, 64)], torch.int32),
    "the largest of each column": (lambda a: ttnn.max(a, dim=0), [(128, 128)], torch.bfloat16, block_sharded(2, 2)),
    "the sums of columns": (lambda a: ttnn.sum(a, dim=0), [(128, 128)], torch.float32, block_sharded(2, 2)),
    "shards on a row of cores": (
        lambda a: ttnn.exp(a) * a,
        [(32, 1024)],
        torch.bfloat16,
        ttnn.create_sharded_memory_config(
            (32, 1024), core_grid=ttnn.CoreGrid(x=8, y=4), strategy=ttnn.ShardStrategy.WIDTH
        ),
    ),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_of_every_kind(module_device, program):
    function, shapes, dtype, *config = PROGRAMS[program]
    made = [
        torch.randint(-99, 99, shape, dtype=dtype) if dtype is torch.int32 else torch.randn(shape).to(dtype)
        for shape in shapes
    ]
    tensors = [tensor(module_device, each, config[0] if config else None) for each in made]
    results, text = results_and_text(function, tensors)
    assert "ttmetal.enqueue_program" in text
    assert [each.tobytes() for each in executed(text, arrays_of(tensors))] == [each.tobytes() for each in results]


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda a: ttnn.mish(a), "ttkernel has no op for `mish` of f32"),
        (lambda a: ttnn.min(a, dim=0), "ttkernel reduces no tiles by min"),
    ],
)
def test_what_no_kernel_of_a_core_computes_is_refused_at_its_line(module_device, function, reason):
    given = tensor(module_device, torch.zeros(128, 128), block_sharded(2, 2))
    with pytest.raises(PassError, match=reason) as caught:
        jit()(function).ir(given, stage="ttkernel")
    assert caught.value.location.file == __file__
