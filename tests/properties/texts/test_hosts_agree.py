"""Kernels whose text differs most between hosts have the interpreter's bits on every host and stay in bounds."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

import ttnn_jit
from tests.modules import scheduled_module
from tests.products import for_interpreter, random
from tests.properties.loops.test_sweeps_over_block_floats import programs as sweeps
from tests.properties.loops.test_sweeps_over_block_floats import values_of
from tests.properties.texts.test_native_code_and_interpreter import data_for
from tests.unit.codegen.guarded_programs import guarded, hosts
from tests.unit.codegen.programs import assert_same_bits, host_isa, scheduled
from ttnn_jit import ttnn
from ttnn_jit.codegen.fusion import register_moves
from ttnn_jit.codegen.host.host_program import generate
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.kernels.block_floats.block_floats import unpacked
from ttnn_jit.specs.dtypes import MOVABLE
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

EXTENTS = st.one_of(st.integers(1, 70), st.sampled_from([100, 131, 515]))
FLOATS = st.sampled_from([DataType.FLOAT32, DataType.BFLOAT16])
MOVED = st.sampled_from(sorted(MOVABLE, key=lambda dtype: dtype.value))
SHAPES = st.one_of(st.tuples(EXTENTS), st.tuples(EXTENTS, EXTENTS), st.tuples(st.integers(1, 5), EXTENTS, EXTENTS))

MOST_ELEMENTS = 70_000
"""The interpreter's inputs for an operation with many loops."""


@st.composite
def transposes(draw):
    """Dimensions in another order."""
    shape = draw(st.one_of(st.tuples(EXTENTS, EXTENTS), st.tuples(st.integers(1, 5), EXTENTS, EXTENTS)))
    return [TensorSpec(shape, draw(MOVED))], [("permute", 0, tuple(draw(st.permutations(range(len(shape))))))]


@st.composite
def steps(draw):
    """Reversed rows, or every second element."""
    shape = draw(st.tuples(st.integers(1, 5), st.one_of(st.integers(2, 140), st.just(1024))))
    begin = min(draw(st.integers(0, 3)), shape[1] - 1)
    flips = [("flip", 0, axes) for axes in ((1,), (0, 1))]
    return [TensorSpec(shape, draw(MOVED))], [draw(st.sampled_from([*flips, ("slice", 0, (0, begin), shape, (1, 2))]))]


@st.composite
def extremes(draw):
    """The first largest or smallest element, along any dimension or all."""
    shape = draw(SHAPES.filter(lambda shape: math.prod(shape) <= MOST_ELEMENTS))
    dim = draw(st.one_of(st.none(), st.integers(0, len(shape) - 1)))
    call = draw(st.sampled_from(["argmax", "argmin"])), 0, dim if dim is None else (dim,), draw(st.booleans())
    return [TensorSpec(shape, draw(st.sampled_from([DataType.FLOAT32, DataType.BFLOAT16, DataType.INT32])))], [call]


@st.composite
def folds(draw):
    """Arithmetic on two tensors and a reduction of its result."""
    shape, dtype = draw(SHAPES), draw(FLOATS)
    axes = draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True).map(sorted).map(tuple))
    calls = [(draw(st.sampled_from(["multiply", "add", "subtract"])), 0, 1)]
    calls += [("abs", 2)] * draw(st.integers(0, 1))
    reduce = draw(st.sampled_from(["sum", "max", "min", "mean"]))
    return [TensorSpec(shape, dtype)] * 2, [*calls, (reduce, 1 + len(calls), axes, draw(st.booleans()))]


@st.composite
def casts(draw):
    """A cast between any types."""
    return [TensorSpec(draw(SHAPES), draw(MOVED))], [("typecast", 0, draw(MOVED))]


KINDS = ["transposes", "steps", "extremes", "folds", "casts", "sweeps"]


@pytest.mark.parametrize("kind", [transposes, steps, extremes, folds, casts, sweeps], ids=KINDS)
@settings(max_examples=8, deadline=None)
@given(data=st.data(), start=st.booleans(), seed=st.integers(0, 2**20))
def test_every_host_has_the_interpreters_bits_and_reads_only_operands(kind, data, start, seed):
    specs, calls = data.draw(kind())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(register_moves, "POOLED_RESULT_BYTES", 0)
        module = scheduled(specs, calls)
        operands = _operands(specs, seed)
        with np.errstate(all="ignore"):
            (want,) = interpret(module, operands)
        for isa in hosts():
            (got,) = guarded(module, operands, isa, start=start)
            assert_same_bits(*(_unpacked(each, module) for each in (got, np.asarray(want))))


def _operands(specs, seed):
    """Special values, and packed tiles of any bytes, or, beside these, of numbers whose sums are not NaN."""
    rng, packed = np.random.default_rng(seed), [spec.dtype.is_block_float for spec in specs]
    if any(packed) and seed % 2:
        return [values_of(spec, rng) for spec in specs]
    return [
        rng.integers(0, 256, spec.nbytes, np.uint8) if is_packed else data_for(spec, seed + k)
        for k, (spec, is_packed) in enumerate(zip(specs, packed, strict=True))
    ]


def _unpacked(result, module):
    """The values of packed tiles: hosts disagree about the sign of a NaN, which bytes would show."""
    plan = generate(module, host_isa()).plan
    spec = plan.buffers[plan.results[0]]
    if not spec.dtype.is_block_float:
        return result
    return unpacked(result, (spec.items * TILE_HEIGHT, TILE_WIDTH), spec.dtype)


@settings(max_examples=5, deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 2), st.integers(4, 16), st.integers(4, 16)),
    channels=st.tuples(st.integers(3, 40), st.sampled_from([1, 5, 32, 65])),
    kernel=st.tuples(st.integers(2, 4), st.integers(1, 4)),
    stride=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    start=st.booleans(),
)
def test_windows_have_the_interpreters_bits_on_every_host(sizes, channels, kernel, stride, dtype, start):
    (batch, height, width), (inputs, outputs) = sizes, channels
    device = ttnn.open_device(device_id=0, target="cpu")

    def program(x, weight):
        return ttnn.conv2d(
            input_tensor=x, weight_tensor=weight, device=device, in_channels=inputs, out_channels=outputs,
            batch_size=batch, input_height=height, input_width=width, kernel_size=kernel, stride=stride,
        )  # fmt: skip

    tensors = random((*sizes, inputs), dtype, 1), random((outputs, inputs, *kernel), dtype, 2)
    arguments = [ttnn.from_torch(each, device=device) for each in tensors]
    module = scheduled_module(ttnn_jit.jit(enable_cache=False)(program), *arguments)
    operands = [for_interpreter(each) for each in tensors]
    (want,) = interpret(module, operands)
    for isa in hosts():
        (got,) = guarded(module, operands, isa, start=start)
        assert_same_bits(got, np.asarray(want))
