"""Casts between all element types: one rounding of floats, exact between integers, in every executor."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ttnn_jit
from tests.properties.texts.test_backends_agree import EXACT as EXACT_ON_FLOATS
from tests.properties.texts.test_backends_agree import by_numba
from tests.unit.codegen.programs import assert_same_bits, lowered, native
from tests.unit.kernels.block_float_codec import packed, unpacked
from ttnn_jit import ttnn
from ttnn_jit.frontend import lower_operation
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.ops import TYPECAST, operations_on
from ttnn_jit.specs.dtypes import BLOCK_FLOATS, INTEGERS, MOVABLE, SCALARS
from ttnn_jit.specs.target import PRESETS, resolve_target
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

SPEC = TensorSpec((64, 64), DataType.FLOAT32, Layout.TILE)
PAIRS = [
    pytest.param(*pair, id=f"{pair[0].mlir}-{pair[1].mlir}")
    for pair in permutations(sorted(MOVABLE, key=lambda dtype: dtype.value), 2)
]
BY_NUMBA = [
    (source, target)
    for source, target in permutations(MOVABLE, 2)
    if source.is_integer is not target.is_integer and not (source.traits.is_of_texts or target.traits.is_of_texts)
] + [(DataType.FLOAT16, DataType.FLOAT64), (DataType.FLOAT64, DataType.FLOAT16), (DataType.FLOAT64, DataType.UINT64)]
"""Numba takes half a second for each."""


def numbers(dtype):
    """Random bits, small numbers, and the neighbourhood of every power of two and of every limit."""
    generator = torch.Generator().manual_seed(dtype.value)
    powers = torch.tensor([sign * 2**k + d for sign in (1, -1) for k in range(34) for d in (-1, 0, 1)])
    near = torch.cat([powers, powers * 3, powers * 257])
    if dtype.is_integer:
        first, last = dtype.values[0], dtype.values[-1]
        wide = torch.tensor(
            [sign * (2**k + d) for sign in (1, -1) for k in range(34, 63) for d in (-1, 0, 1, 2 ** (k - 9))]
        )
        near = torch.cat([near, wide, wide // 2 * 3 // 2, torch.tensor([-(2**63), 2**63 - 1, -(2**63) + 1])])
        kind = np.uint64 if last >= 2**63 else np.int64
        drawn = np.random.default_rng(dtype.value + 8).integers(first, last, 4096, endpoint=True, dtype=kind)
        random = torch.from_numpy(drawn.astype(np.int64))
        return torch.cat([near, random])[:4096].to(dtype.torch)
    bits = torch.randint(-(2**31), 2**31, (2048,), generator=generator, dtype=torch.int64).to(torch.int32)
    special = torch.tensor([0.0, -0.0, 0.5, -0.5, 0.99999994, -0.99999994, torch.inf, -torch.inf, torch.nan, 2.5, -2.5])
    limits = torch.tensor(
        [float(each.values[k]) for each in sorted(INTEGERS, key=lambda each: each.value) for k in (0, -1)]
    )
    steps = torch.cat([torch.nextafter(limits, torch.tensor(side)) for side in (-torch.inf, torch.inf)])
    moderate = torch.randn(2048, generator=generator) * 1000
    if dtype.itemsize == 8:  # around the ties of narrower floats, and beyond their range
        wide = torch.cat([near.double(), near.double() * 2.0**-60, moderate.double()])
        ties = torch.cat([wide.float().double() * (1 + k * 2.0**-12) for k in (1, -1, 3)])
        far = torch.tensor([2.0**63, 2.0**64, -(2.0**63), 1e300, -1e300, 1e-310, 65520.0, 65519.99999, 2.0**-25])
        more = torch.cat([far, ties, torch.nextafter(ties, torch.tensor(torch.inf).double()), wide])
        return torch.cat([special.double(), steps.double(), more])[:4096]
    found = torch.cat([special, limits, steps, near.float(), near.float() + 0.5, bits.view(torch.float32), moderate])
    return found[:4096].to(dtype.torch)


def reference(given, target):
    """The cast by fractions, which are exact."""
    values = given.flatten().tolist()  # numbers of Python: floats of 64 bits, and integers
    if target.is_integer:
        info = range(2) if target.compute.is_bool else target.values
        if target.compute.is_bool:
            made = [int(value != 0) for value in values]
        elif given.dtype.is_floating_point:
            whole = (0 if value != value else value for value in values)
            made = [max(info[0], min(info[-1], int(max(-(2.0**70), min(2.0**70, value))))) for value in whole]
        else:
            made = [(int(value) - info[0]) % (info[-1] - info[0] + 1) + info[0] for value in values]
        return np.array(made, dtype=target.traits.numpy)
    made = np.array([nearest(value, target) for value in values])
    if target.is_upper_half:
        return (made.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return made.astype(f"float{8 * target.itemsize}").view(target.traits.numpy)


def nearest(value, target):
    """The number of a float type that is nearest to a number, ties to even."""
    if isinstance(value, float) and (not math.isfinite(value) or value == 0):
        return value
    if value == 0:
        return 0.0
    exact = Fraction(value)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    exponent -= abs(exact) < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, int(math.log2(target.smallest_normal))) - target.mantissa_bits)
    rounded = round(exact / unit) * unit
    finite = abs(rounded) <= Fraction(target.traits.largest)
    return math.copysign(float(abs(rounded)) if finite else math.inf, value)


def as_array(tensor, dtype=None):
    """The stored bytes of it, or of its cast to block floats of `dtype`."""
    if dtype is not None and dtype.is_block_float:
        # The bits of a NaN are undefined, and block floats are packed by the bits.
        return np.frombuffer(packed(torch.where(tensor.isnan(), torch.nan, tensor).numpy(), dtype), np.uint8)
    return (tensor.view(torch.uint16) if tensor.dtype in {torch.bfloat16, torch.float16} else tensor).numpy()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_cast_gives_the_nearest_number(cpu_device, source, target):
    given = numbers(source).reshape(64, 64)
    expected = reference(given, target).reshape(64, 64)
    module = lowered(lower_operation(TYPECAST, (SPEC.with_(dtype=source),), (target,), PRESETS["cpu"]).module)
    arrays = [as_array(given)]
    results = [*native(module, arrays), *interpret(module, arrays)]
    if not (source.is_foreign or target.is_foreign):
        on_device = ttnn.from_torch(given, layout=ttnn.TILE_LAYOUT, device=cpu_device)
        results.append(as_array(ttnn.typecast(on_device, target).to_torch()))
    if (source, target) in BY_NUMBA:
        results += by_numba(module, arrays)
    is_nan = np.zeros(given.shape, bool) if source.is_integer or target.is_integer else given.isnan().numpy()
    for got in results:
        same = got.view(f"u{got.itemsize}") == expected.view(f"u{got.itemsize}")
        wrong = ~(same | is_nan)
        assert not wrong.any(), (arrays[0][wrong][:5], got[wrong][:5], expected[wrong][:5])


COMPUTED = sorted(SCALARS | BLOCK_FLOATS, key=lambda dtype: dtype.value)
EXACT = [operation for operation in EXACT_ON_FLOATS if operation.arity < 3]


@st.composite
def programs(draw):
    """(dtypes of two arguments, calls): casts, and operations on earlier values of one type."""
    dtypes = [draw(st.sampled_from(COMPUTED)) for _ in range(2)]
    calls, known = [], list(dtypes)
    for _ in range(draw(st.integers(2, 7))):
        first = draw(st.integers(0, len(known) - 1))
        if draw(st.booleans()):
            calls.append((TYPECAST, [first], (draw(st.sampled_from(COMPUTED)),)))
            known.append(calls[-1][2][0])
            continue
        of_one_type = [index for index, dtype in enumerate(known) if dtype is known[first]]
        taken = operations_on(INTEGERS) if known[first].is_integer else EXACT
        operation = draw(st.sampled_from(taken))
        operands = [draw(st.sampled_from(of_one_type)) for _ in range(operation.arity)]
        calls.append((operation, operands, operation.tested_attributes))
        known.append(known[first])
    return dtypes, calls


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@given(program=programs(), shape=st.sampled_from([(32, 64), (64, 96), (5, 37)]))
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_program_of_several_types_has_one_result_in_every_executor(target, program, shape):
    dtypes, calls = program
    builder = ModuleBuilder("program", resolve_target(target), None)
    specs = [TensorSpec(shape, dtype, Layout.TILE) for dtype in dtypes]
    values = [(builder.argument(spec), spec) for spec in specs]
    for operation, operands, attributes in calls:
        values.append(builder.operation(operation, [values[index] for index in operands], attributes, None))
    module = lowered(builder.finish([values[-1][0]]))
    arrays = [
        as_array(numbers(dtype)[: shape[0] * shape[1]].repeat(2)[-shape[0] * shape[1] :].reshape(shape), dtype)
        for dtype in dtypes
    ]
    (wanted,) = interpret(module, arrays)
    result = values[-1][1]
    for (got,) in (native(module, arrays), by_numba(module, arrays)):
        if result.dtype.is_block_float:
            np.testing.assert_array_equal(*(unpacked(each.tobytes(), shape, result.dtype) for each in (got, wanted)))
        else:
            assert_same_bits(got, wanted)


def test_a_cast_to_the_original_type_of_an_operand_is_no_cast():
    x = torch.arange(-64, 64).to(torch.bfloat16).reshape(2, 64)
    twice = ttnn_jit.jit(enable_cache=False)(lambda x: ttnn.typecast(ttnn.typecast(x, ttnn.float32), ttnn.float32))
    assert torch.equal(twice(x), x.float())


@given(source=st.sampled_from(sorted(INTEGERS, key=lambda dtype: dtype.name)), keepdim=st.booleans())
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
def test_integers_are_cast_and_reduced_in_one_function(source, keepdim):
    x = torch.randint(0, 100, (37, 65), generator=torch.Generator().manual_seed(1)).to(source.torch)
    function = ttnn_jit.jit(enable_cache=False)(
        lambda x: ttnn.sum(ttnn.multiply(ttnn.typecast(x, ttnn.float32), 0.5), dim=1, keepdim=keepdim)
    )
    assert torch.equal(function(x), x.double().mul(0.5).sum(1, keepdim=keepdim).float())
    squares = ttnn_jit.jit(enable_cache=False)(
        lambda x: ttnn.typecast(ttnn.sum(ttnn.typecast(ttnn.multiply(x, x), ttnn.float32), dim=1), ttnn.int32)
    )
    assert torch.equal(
        squares(x), (x * x if source in {DataType.INT32, DataType.UINT8} else (x.long() ** 2)).long().sum(1).int()
    )


def rest_of_rounding(x, _):
    return ttnn.subtract(x, ttnn.typecast(ttnn.typecast(x, ttnn.bfloat16), ttnn.float32))


def behind_an_operation(x, y):
    total = ttnn.add(x, y)
    return ttnn.multiply(ttnn.typecast(ttnn.typecast(total, ttnn.bfloat16), ttnn.float32), y)


def before_operations_on_the_narrow_type(x, y):
    return ttnn.maximum(ttnn.typecast(x, ttnn.bfloat16), ttnn.typecast(y, ttnn.bfloat16))


def before_a_sum(x, y):
    return ttnn.sum(ttnn.subtract(ttnn.typecast(ttnn.typecast(x, ttnn.bfloat16), ttnn.float32), y), dim=-1)


def twice(x, y):
    rounded = ttnn.typecast(ttnn.typecast(ttnn.add(x, y), ttnn.bfloat16), ttnn.float32)
    return ttnn.typecast(ttnn.typecast(ttnn.multiply(rounded, y), ttnn.bfloat16), ttnn.float32)


@pytest.mark.parametrize("fp32_dest_acc", [False, True])
@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("target", PRESETS)
@pytest.mark.parametrize(
    "program",
    [rest_of_rounding, behind_an_operation, before_operations_on_the_narrow_type, before_a_sum, twice],
    ids=lambda program: program.__name__,
)
def test_an_explicit_cast_rounds_inside_a_kernel_too(program, target, graph_capture, fp32_dest_acc):
    device = ttnn.open_device(target=target)
    numbers_ = torch.randn(2, 64, 64, generator=torch.Generator().manual_seed(0))
    x, y = (ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in numbers_)
    options = {"graph_capture": graph_capture, "fp32_dest_acc": fp32_dest_acc, "enable_cache": False}
    result = ttnn_jit.jit(**options)(program)(x, y)
    assert torch.equal(ttnn.to_torch(result), ttnn.to_torch(program(x, y)))


def test_remainders_of_roundings_are_those_of_torch():
    x = torch.randn(64, 64, generator=torch.Generator().manual_seed(0))
    rest = ttnn_jit.jit(enable_cache=False)(rest_of_rounding)(x, x)
    assert rest.abs().max() > 0
    assert torch.equal(rest, x - x.bfloat16().float())
