"""from_torch and to_torch preserve all bits for any shape, layout and strides."""

import ctypes
import math
from fractions import Fraction

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit.runtime.tensors.tensor import stored_as
from ttnn_jit.runtime.tensors.tensors_from_host import filled, from_torch
from ttnn_jit.specs.dtypes import SCALARS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

SHAPES = st.lists(st.one_of(st.integers(0, 5), st.sampled_from([31, 32, 33, 64])), max_size=4).filter(
    lambda shape: torch.Size(shape).numel() <= 200_000
)
LAYOUTS = st.sampled_from(Layout)
DTYPES = sorted(SCALARS, key=lambda dtype: dtype.value)


def spec_of(shape, dtype, layout):
    return TensorSpec(shape, dtype, Layout.TILE if dtype.is_block_float else layout)


def random_bits(shape, dtype, seed):
    """A tensor of any bit patterns: denormals, infinities, quiet and signalling NaN included."""
    generator = torch.Generator().manual_seed(seed)
    integers = {4: torch.int32, 2: torch.int16, 1: torch.uint8}[dtype.itemsize]
    limits = torch.iinfo(integers)
    return torch.randint(limits.min, limits.max, shape, generator=generator, dtype=integers).view(dtype)


def bits(tensor):
    return tensor.contiguous().view({4: torch.int32, 2: torch.int16, 1: torch.uint8}[tensor.itemsize])


@settings(max_examples=150, deadline=None)
@given(SHAPES, LAYOUTS, st.sampled_from(DTYPES), st.integers(0, 2**30), st.randoms(use_true_random=False))
def test_a_round_trip_keeps_every_bit(shape, layout, dtype, seed, random):
    order = random.sample(range(len(shape)), len(shape))
    source = random_bits(shape, dtype.torch, seed).permute(order)
    tensor = from_torch(source, TensorSpec(source.shape, dtype, layout), None)
    result = tensor.to_torch()
    assert result.shape == source.shape
    assert result.is_contiguous()
    assert torch.equal(bits(result), bits(source))


@settings(max_examples=50, deadline=None)
@given(SHAPES, LAYOUTS, st.integers(0, 2**30))
def test_rounding_to_bf16_is_torchs_and_nan_stays_nan(shape, layout, seed):
    source = random_bits(shape, torch.float32, seed)
    result = from_torch(source, TensorSpec(shape, DataType.BFLOAT16, layout), None).to_torch()
    assert torch.equal(result.isnan(), source.isnan())
    numbers = ~source.isnan()
    assert torch.equal(bits(result[numbers]), bits(source.to(torch.bfloat16)[numbers]))


def nearest_bfloat16(value):
    """The bfloat16 nearest to a number, ties to even: by the distances of all three neighbours."""
    upper = int(torch.tensor(float(value)).view(torch.int32)) >> 16
    near = [torch.tensor(upper + step, dtype=torch.int16).view(torch.bfloat16).item() for step in (-1, 0, 1)]
    return min(enumerate(near), key=lambda each: (abs(Fraction(each[1]) - Fraction(value)), (upper + each[0] - 1) % 2))[
        1
    ]


@settings(max_examples=100, deadline=None)
@given(st.integers(128, 255), st.integers(-60, 60), st.integers(24, 44), st.sampled_from([-1, 0, 1]))
def test_wider_numbers_are_rounded_to_bf16_once(significand, exponent, bits, step):
    between = Fraction(2 * significand + 1) * (1 + step * Fraction(1, 2**bits))  # a tie, or directly beside one
    wide = [torch.tensor([float(between * Fraction(2) ** exponent)], dtype=torch.float64)]
    wide.append(torch.tensor([int(between * 2**bits)]))
    for source in wide:
        result = from_torch(source, TensorSpec((1,), DataType.BFLOAT16), None).to_torch()
        assert result.item() == nearest_bfloat16(source.item())


def test_special_values_of_float64_stay_what_they_are_in_bf16():
    source = torch.tensor([math.inf, -math.inf, 1e300, -1e300, 0.0, -0.0, 1e-300, -1e-300], dtype=torch.float64)
    result = from_torch(source, TensorSpec((8,), DataType.BFLOAT16), None).to_torch()
    assert torch.equal(bits(result), bits(source.to(torch.bfloat16)))
    nan = from_torch(torch.tensor([math.nan], dtype=torch.float64), TensorSpec((1,), DataType.BFLOAT16), None)
    assert nan.to_torch().isnan().all()


@settings(max_examples=50, deadline=None)
@given(SHAPES, LAYOUTS, st.sampled_from(DataType))
def test_repr_never_fails_and_is_short(shape, layout, dtype):
    tensor = from_torch(torch.zeros(shape), spec_of(shape, dtype, layout), None)
    assert len(repr(tensor)) < 150 + 30 * 4 ** len(shape)


@settings(deadline=None)
@given(SHAPES, LAYOUTS, st.sampled_from(DataType), st.data())
def test_a_tensor_of_one_number_has_the_bits_that_torch_would_give_it(shape, layout, dtype, data):
    spec = spec_of(shape, dtype, layout)
    number = data.draw(st.integers(dtype.values[0], dtype.values[-1]) if dtype.is_integer else st.floats())
    expected = torch.full(shape, number, dtype=torch.int64 if dtype.is_integer else torch.float64)
    expected = expected if dtype.is_integer else expected.float()
    stored, reference = filled(number, spec, None), from_torch(expected, spec, None)
    if math.isnan(number):
        assert stored.to_torch().isnan().all()
        return
    assert stored_bytes(stored) == stored_bytes(reference)


@settings(deadline=None)
@given(SHAPES, LAYOUTS, LAYOUTS, st.sampled_from(DataType), st.integers(0, 2**16))
def test_a_change_of_layout_keeps_bits_and_pads_with_zeros(shape, first, second, dtype, seed):
    patterns = torch.randint(0, 2**16, tuple(shape), generator=torch.Generator().manual_seed(seed)).to(torch.int16)
    values = (patterns if dtype.is_integer else patterns.view(torch.bfloat16)).to(dtype.torch)
    source = from_torch(values, spec_of(shape, dtype, first), None)
    moved = stored_as(source, spec_of(shape, dtype, second), None, "to_layout")
    assert stored_bytes(moved) == stored_bytes(from_torch(values, spec_of(shape, dtype, second), None))


def stored_bytes(tensor):
    return ctypes.string_at(tensor.buffer_address(), tensor.spec.nbytes)
