"""Reductions of rows, and operations fused with them, that unpack and pack block floats, 32 rows at a time.

Their bits are those of launches of their own that do it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

import ttnn_jit
from tests.products import assert_bits
from tests.properties.loops.test_loops_over_block_floats import PACKED, values_of
from tests.unit.codegen.programs import host_isa, native, scheduled
from ttnn_jit import ttnn
from ttnn_jit.codegen.host.host_program import generate
from ttnn_jit.codegen.schedules.kernel import Loops
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.kernels.isa import AVX2, NEON
from ttnn_jit.nest.limits import MOST_COLUMNS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

TYPES = [*PACKED, DataType.FLOAT32, DataType.BFLOAT16]
SHAPES = [
    (32, 32),
    (64, 96),
    (96, 320),
    (2, 3, 32, 64),
    (2, 64, 288),
    (7, 600),
    (20, 70),
    (64, 70),
    (3, 9, 33),
    (40, 70),
]


@st.composite
def programs(draw):
    """(specs, calls): a tensor, one of a row of numbers and one of its shape; reductions of rows and what follows."""
    shape = draw(st.sampled_from(SHAPES))
    shapes = shape, (1, shape[-1]), shape
    types = draw(st.sampled_from(PACKED)), draw(st.sampled_from([DataType.FLOAT32, DataType.BFLOAT16]))
    specs = [
        TensorSpec(own, dtype, Layout.TILE)
        for own, dtype in zip(shapes, (*types, draw(st.sampled_from(TYPES))), strict=True)
    ]
    whole, calls = 0, []
    for _ in range(draw(st.integers(1, 2))):
        reduce = draw(st.sampled_from(["sum", "max", "min"]))
        match draw(st.sampled_from(["alone", "square", "add", "scaled"])):
            case "square":
                calls.append(("multiply", whole, whole))
            case "add":
                calls.append(("add", whole, 2))
            case "scaled":
                calls.append(("multiply", whole, 1))
        reduced = 2 + len(calls) if calls and draw(st.booleans()) else whole
        calls.append((reduce, reduced, (len(shape) - 1,), True))
        if draw(st.booleans()):
            calls.append((draw(st.sampled_from(["subtract", "multiply"])), whole, 2 + len(calls)))
            whole = 2 + len(calls)
            if draw(st.booleans()):
                calls.append(("typecast", whole, draw(st.sampled_from(TYPES))))
    return specs, calls


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@settings(max_examples=12, deadline=None)
@given(case=programs(), seed=st.integers(0, 99))
def test_reductions_of_rows_of_block_floats_have_the_interpreters_bits(target, case, seed):
    specs, calls = case
    rng = np.random.default_rng(seed)
    operands = [values_of(spec, rng) for spec in specs]
    module = scheduled(specs, calls, target=target, results=(-1,))
    with np.errstate(all="ignore"):
        (wanted,) = interpret(module, operands)
    for isa in {host_isa(), AVX2} if host_isa().avx2 else {host_isa()}:
        (got,) = native(module, operands, isa)
        np.testing.assert_array_equal(got, np.asarray(wanted))


def softmax_of(shape, *types):
    """A softmax by hand of a tensor that is cast to each of these types first."""
    spec = TensorSpec(shape, types[0], Layout.TILE)
    axis = (len(shape) - 1,)
    calls = [("max", 0, axis, True), ("subtract", 0, 1), ("exp", 2), ("sum", 3, axis, True), ("divide", 3, 4)]
    return scheduled([spec], calls), spec


@pytest.mark.parametrize("packed", PACKED, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("shape", [(64, 96), (2, 3, 32, 64), (2, MOST_COLUMNS), (1, 1, 1, 128)])
def test_a_sweep_over_rows_unpacks_its_inputs_and_packs_its_outputs(shape, packed):
    module, spec = softmax_of(shape, packed)
    launches = generate(module, host_isa()).host.launches
    is_whole = shape[-2] % 32 == 0  # otherwise zeros around packed elements are written by separate launches
    assert launches[0].bound.kernel.loops is Loops.TILE_ROWS
    how = "unpacked and packed" if is_whole else "unpacked"
    rows = math.prod(shape[:-1])
    count = f"{-(-rows // 32)} blocks of {min(rows, 32)} rows"
    at = "(typecast) in the loop of (max -> subtract -> exp -> sum -> divide) over rows"
    assert launches[0].remark.endswith(f", block floats {how}, {at}, in {count}")
    assert len(launches) == 1 or not is_whole
    operands = [values_of(spec, np.random.default_rng(1))]
    (wanted,), (got,) = interpret(module, operands), native(module, operands, NEON)
    np.testing.assert_array_equal(got, wanted)


def reading(launches):
    return [launch for launch in launches if 0 in launch.operands]


@pytest.mark.parametrize(
    ("shape", "axis", "why"),
    [
        ((64, MOST_COLUMNS + 32), 1, "rows that are too long for the stack"),
        ((40, 64), 1, "rows that are no whole tiles"),
        ((64, 64), 0, "columns"),
    ],
)
def test_other_reductions_have_the_same_bits_and_a_launch_that_unpacks(shape, axis, why):
    assert why
    spec = TensorSpec(shape, DataType.BFLOAT8_B, Layout.TILE)
    module = scheduled([spec], [("sum", 0, (axis,), True), ("typecast", 1, DataType.FLOAT32)])
    launches = generate(module, host_isa()).plan.launches
    first = reading(launches)[0]
    assert (first.reduced, first.whole) == ((), (0, 1))
    operands = [values_of(spec, np.random.default_rng(3))]
    (wanted,), (got,) = interpret(module, operands), native(module, operands)
    np.testing.assert_array_equal(got, wanted)


NORMS = {
    "softmax": lambda x, _: ttnn.softmax(x, dim=-1),
    "rms_norm": lambda x, w: ttnn.rms_norm(x, weight=w),
    "layer_norm": lambda x, w: ttnn.layer_norm(x, weight=w, bias=w),
    "sum": lambda x, _: ttnn.sum(x, dim=-1, keepdim=True),
}


@pytest.mark.parametrize("dtype", [ttnn.bfloat8_b, ttnn.bfloat4_b])
@pytest.mark.parametrize("name", NORMS)
def test_norms_of_packed_tensors_have_the_bits_of_separate_unpacking_computing_and_packing(name, dtype):
    device, norm = ttnn.open_device(device_id=0, target="cpu"), NORMS[name]
    generator = torch.Generator().manual_seed(3)
    x, weight = torch.randn(2, 512, 768, generator=generator), torch.randn(1, 768, generator=generator)
    packed = ttnn.from_torch(x, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)
    w = ttnn.from_torch(weight, layout=ttnn.TILE_LAYOUT, device=device)
    wanted = ttnn.to_torch(ttnn.typecast(norm(ttnn.typecast(packed, ttnn.float32), w), dtype))
    assert_bits(ttnn.to_torch(norm(packed, w)), wanted)
    assert_bits(ttnn.to_torch(ttnn_jit.jit()(norm)(packed, w)), wanted)
    identifier = ttnn.begin_trace_capture(device, cq_id=0)
    traced = norm(packed, w)
    ttnn.end_trace_capture(device, identifier, cq_id=0)
    ttnn.execute_trace(device, identifier, cq_id=0, blocking=True)
    assert_bits(ttnn.to_torch(traced), wanted)
    exact = NORMS_IN_TORCH[name](ttnn.to_torch(packed).double(), weight.double())
    bound = {ttnn.bfloat8_b: 2.0**-7, ttnn.bfloat4_b: 2.0**-3}[dtype]
    assert ((wanted.double() - exact).abs() <= bound * exact.abs().amax(-1, keepdim=True)).all()


NORMS_IN_TORCH = {
    "softmax": lambda x, _: torch.softmax(x, -1),
    "rms_norm": lambda x, w: x / (x.square().mean(-1, keepdim=True) + 1e-12).sqrt() * w,
    "layer_norm": lambda x, w: torch.nn.functional.layer_norm(x, (x.shape[-1],), w[0], w[0], 1e-12),
    "sum": lambda x, _: x.sum(-1, keepdim=True),
}


def test_a_launch_beyond_its_packed_rows_is_refused():
    module, _ = softmax_of((96, 64), DataType.BFLOAT8_B)
    plan = generate(module, host_isa()).plan
    (launch,) = plan.launches
    assert launch.params == (64, 32, 3, 1, 2, 64, 1, 2, 64)
    for index, param in ((3, 2), (5, 65), (1, 64), (0, 96), (2, 4)):
        params = (*launch.params[:index], param, *launch.params[index + 1 :])
        with pytest.raises(InternalError, match=r"leaves the memory of operand \d|writes \d+ elements"):
            replace(plan, launches=(replace(launch, params=params),))


@pytest.mark.parametrize("dtype", [ttnn.bfloat8_b, ttnn.bfloat4_b])
@pytest.mark.parametrize("reduce", [ttnn.sum, ttnn.max, ttnn.exp])
def test_a_tensor_that_is_unpacked_for_a_loop_and_an_update_is_available_to_both(dtype, reduce):
    def updated(x, y):
        ttnn.copy(y, x)
        return reduce(x, 1, True) if reduce is not ttnn.exp else reduce(x)

    with ttnn.open_device(device_id=0, target="cpu") as device:
        numbers = [torch.randint(-8, 8, (32, 96)).float() for _ in range(2)]
        x, y = (ttnn.from_torch(each, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device) for each in numbers)
        expected = updated(ttnn.clone(x), y)
        found = ttnn_jit.jit(enable_cache=False)(updated)(x, y)
        assert torch.equal(ttnn.to_torch(found), ttnn.to_torch(expected))
        assert torch.equal(ttnn.to_torch(x), ttnn.to_torch(y))
