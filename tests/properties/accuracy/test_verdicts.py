"""The verdict on a result: correctly rounded results are accepted, and results beyond the bound are rejected."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import ttnn
from ttnn_jit.golden import judging, judging_parts
from ttnn_jit.golden.judging import judge
from ttnn_jit.golden.verdict import ResultFormat, Tolerance, relative_of_pcc
from ttnn_jit.specs.tensor_spec import DataType
from ttnn_jit.ttnn.calling.golden_calls import GoldenCall
from ttnn_jit.ttnn.observing import comparison_tolerances

SCALARS = {DataType.FLOAT32: torch.float32, DataType.BFLOAT16: torch.bfloat16}
BITS = {DataType.FLOAT32: 23, DataType.BFLOAT16: 7}
LARGEST = {dtype: (2 - 2.0**-bits) * 2.0**127 for dtype, bits in BITS.items()}
BLOCKS = (DataType.BFLOAT8_B, DataType.BFLOAT4_B)
INTEGERS = {DataType.INT32: torch.int32, DataType.UINT16: torch.uint16, DataType.UINT8: torch.uint8}
SPECIAL = (
    0.0,
    -0.0,
    math.inf,
    -math.inf,
    math.nan,
    1e-45,
    -1e-40,
    1.1754943508222875e-38,
    3.4e38,
    -3.4e38,
    1e39,
    1e300,
)
EXAMPLES = 60


def rounded(x: float, dtype: DataType) -> float:
    """The nearest number of the type, ties to even, by exact fractions."""
    if not math.isfinite(x) or x == 0:
        return x
    bits, exponent = BITS[dtype], max(math.frexp(x)[1] - 1, -126)
    unit = Fraction(2) ** (exponent - bits)
    nearest = round(Fraction(x) / unit) * unit  # round() takes ties to even; it may be beyond the largest double
    return math.copysign(math.inf if abs(nearest) > LARGEST[dtype] else abs(nearest), x)


def unit(x: float, dtype: DataType) -> float:
    return 2.0 ** (max(math.frexp(x)[1] - 1, -126) - BITS[dtype])


numbers = st.one_of(st.sampled_from(SPECIAL), st.floats(-1e3, 1e3), st.floats(allow_nan=True, allow_infinity=True))
near_one_value = st.builds(
    lambda c, off: [c * (1 + e * 1e-9) for e in off], st.floats(-9, 9), st.lists(st.integers(0, 9), min_size=1)
)
goldens = st.one_of(st.lists(numbers, min_size=1, max_size=40), near_one_value)


@settings(max_examples=EXAMPLES, deadline=None)
@given(golden=goldens, dtype=st.sampled_from([*SCALARS]))
def test_a_golden_that_is_rounded_once_is_accepted_at_every_magnitude(golden, dtype):
    got = torch.tensor([rounded(x, dtype) for x in golden], dtype=torch.float64).to(SCALARS[dtype])
    verdict = judge(got, torch.tensor(golden, dtype=torch.float64), ResultFormat(dtype), Tolerance())
    assert verdict.matches, verdict
    assert verdict.max_ulp <= 0.5


@settings(max_examples=EXAMPLES, deadline=None)
@given(golden=goldens, dtype=st.sampled_from([*SCALARS]), data=st.data())
def test_an_element_beyond_its_bound_is_rejected(golden, dtype, data):
    index = data.draw(st.integers(0, len(golden) - 1))
    right = rounded(golden[index], dtype)
    bound = data.draw(st.sampled_from([0.5, 1.0, 4.0]))
    if not math.isfinite(right):
        wrong = data.draw(st.sampled_from([1.0, LARGEST[dtype] / 8, math.nan if not math.isnan(right) else 0.0]))
    else:
        steps = data.draw(st.sampled_from([-9, -6, 6, 9]))
        wrong = data.draw(st.sampled_from([right + steps * unit(right, dtype), math.nan, math.inf]))
    got = torch.tensor([rounded(x, dtype) for x in golden], dtype=torch.float64)
    got[index] = wrong
    verdict = judge(got.to(SCALARS[dtype]), torch.tensor(golden).double(), ResultFormat(dtype), Tolerance(bound))
    assert not verdict.matches, (right, wrong)
    assert str([index]) in verdict.reason


@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data(), dtype=st.sampled_from([*SCALARS, *BLOCKS]))
def test_two_swapped_elements_are_rejected(data, dtype):
    width = 2 * data.draw(st.integers(1, 35))
    golden = torch.arange(1.0, 2 * width + 1).double().reshape(2, width) * data.draw(
        st.sampled_from([1.0, -1e30, 1e-30])
    )
    tensor = ttnn.from_torch(golden.float(), dtype=dtype, layout=ttnn.TILE_LAYOUT).to_torch()
    exact = tensor.double()
    first = data.draw(st.integers(0, width - 1)) // 16 * 16  # elements of one block have one unit
    in_block = st.integers(first, min(first + 15, width - 1))
    a, b = data.draw(st.lists(in_block, min_size=2, max_size=2, unique=True))
    tensor[1, [a, b]] = tensor[1, [b, a]].clone()
    is_the_same = torch.equal(tensor.double(), exact)
    assert judge(tensor, exact, ResultFormat(dtype), Tolerance()).matches is is_the_same


@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data(), dtype=st.sampled_from(BLOCKS))
def test_block_floats_are_accepted_within_the_unit_of_their_block(data, dtype):
    torch.manual_seed(data.draw(st.integers(0, 99)))
    shape = data.draw(st.sampled_from([(3, 40), (32, 32), (1, 5), (2, 33, 17)]))
    golden = (torch.randn(shape) * torch.exp(torch.randn(shape) * data.draw(st.sampled_from([0.0, 5.0])))).double()
    got = ttnn.from_torch(golden.float(), dtype=dtype, layout=ttnn.TILE_LAYOUT).to_torch()
    assert judge(got, golden, ResultFormat(dtype), Tolerance(1.0)).matches
    index = tuple(data.draw(st.integers(0, extent - 1)) for extent in shape)
    first = index[-1] // 16 * 16
    block = golden[index[:-1]][first : first + 16].abs().max().item()
    got[index] += 4 * 2.0 ** (math.frexp(block)[1] - dtype.traits.magnitude_bits)
    assert not judge(got, golden, ResultFormat(dtype), Tolerance(1.0)).matches


@settings(max_examples=EXAMPLES, deadline=None)
@given(values=st.lists(st.integers(-(2**40), 2**40), min_size=1), dtype=st.sampled_from([*INTEGERS]), data=st.data())
def test_integers_are_accepted_if_they_are_the_low_bits(values, dtype, data):
    size = 8 * dtype.itemsize
    low = [(x - dtype.values[0]) % 2**size + dtype.values[0] for x in values]
    got = torch.tensor(low).to(INTEGERS[dtype])
    assert judge(got, torch.tensor(values), ResultFormat(dtype), Tolerance()).matches
    index = data.draw(st.integers(0, len(values) - 1))
    low[index] = low[index] - 1 if low[index] > dtype.values[0] else low[index] + 1
    verdict = judge(torch.tensor(low).to(INTEGERS[dtype]), torch.tensor(values), ResultFormat(dtype), Tolerance())
    assert not verdict.matches
    assert f"the first at [{index}]" in verdict.reason


@pytest.mark.parametrize("dtype", SCALARS)
@pytest.mark.parametrize(
    ("golden", "result"),
    [
        (torch.tensor([-700.0]), torch.tensor([3.0])),
        (torch.randn(4096), torch.randn(4096) * 1000),
        (torch.linspace(1, 2, 4096), torch.linspace(6, 7, 4096)),
        (torch.randn(4096), torch.where(torch.arange(4096) < 4, torch.nan, torch.randn(4096))),
        (torch.ones(4096), torch.full((4096,), 1.5)),
    ],
)
def test_a_result_that_correlation_accepts_is_rejected_by_itself_and_in_a_chain(golden, result, dtype):
    for tolerance in (
        Tolerance(),
        Tolerance(relative=relative_of_pcc(0.99)),
        Tolerance(relative=relative_of_pcc(0.99), by_rms=True),
    ):
        assert not judge(result.to(SCALARS[dtype]), golden.double(), ResultFormat(dtype), tolerance).matches


def test_the_verdict_on_a_chip_expects_infinities_for_nan_and_zeros_for_denormals():
    golden = torch.tensor([math.nan, 1e-40, -1e-39, 1.0]).double()
    got = torch.tensor([math.inf, 0.0, -0.0, 1.0]).bfloat16()
    assert judge(got, golden, ResultFormat(DataType.BFLOAT16, flushes=True), Tolerance()).matches
    assert not judge(got, golden, ResultFormat(DataType.BFLOAT16), Tolerance()).matches


def test_noise_of_operands_is_computed_only_if_needed_and_widens_the_bound():
    asked = []
    golden = torch.tensor([0.0, 1.0]).double()

    def noise():
        for size in (1e-4, 1e-3):
            asked.append(size)
            yield torch.tensor([size, 0.0]).double()

    def verdict(*values):
        return judge(torch.tensor(values), golden, ResultFormat(DataType.FLOAT32), Tolerance(noise=noise))

    assert verdict(0.0, 1.0).matches
    assert not asked
    assert verdict(9e-5, 1.0).matches
    assert asked == [1e-4]
    assert verdict(9e-4, 1.0).matches
    assert not verdict(2e-3, 1.0).matches
    assert not verdict(0.0, 1.001).matches


@settings(max_examples=EXAMPLES, deadline=None)
@given(golden=goldens, data=st.data(), dtype=st.sampled_from([*SCALARS]), relative=st.sampled_from([0.0, 2.0**-9]))
def test_a_large_result_is_judged_in_parts_as_it_is_as_a_whole(golden, data, dtype, relative):
    changed = st.sampled_from([1.0, 1.0, 1.0, 1.0 + 2.0**-8, 1.5, math.nan])
    values = [rounded(x, dtype) * data.draw(changed) for x in golden]
    got, exact = torch.tensor(values).to(SCALARS[dtype])[None], torch.tensor(golden, dtype=torch.float64)[None]

    def noise(places=...):
        return [exact.abs().reshape(-1)[places] * 2.0**by for by in (-20, -7)]

    at_a_time = data.draw(st.sampled_from([None, 1, 3]))
    tolerance = Tolerance(0.5, 0.0, relative, noise if data.draw(st.booleans()) else None, at_a_time)
    whole = judge(got, exact, ResultFormat(dtype), tolerance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "PART", 7)
        patch.setattr(judging_parts, "PART", 7)
        patch.setattr(judging_parts, "_FEW", 1.0)
        parts = judge(got, exact, ResultFormat(dtype), tolerance)
    assert (parts.matches, parts.differing_nans, parts.first_nan, parts.allclose) == (
        whole.matches,
        whole.differing_nans,
        whole.first_nan,
        whole.allclose,
    )
    assert parts.reason.partition(" ")[0] == whole.reason.partition(" ")[0]
    assert parts.max_ulp == pytest.approx(whole.max_ulp, abs=1e-3)
    largest = float(exact.abs().max())
    if largest < 1e30 and exact.std(correction=0) > max(1e-30, 1e-3 * largest):  # no rounding decides it
        assert parts.pcc == pytest.approx(whole.pcc, abs=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_a_number_that_is_rounded_twice_is_not_taken_for_one_that_is_rounded_once(dtype):
    unit = torch.finfo(dtype).eps
    tie = torch.tensor([1.0 + unit / 2], dtype=torch.float64)
    for off, right in ((0.0, 1.0), (2.0**-40, 1.0 if dtype is not torch.float32 else 1.0 + unit), (-(2.0**-40), 1.0)):
        golden = tie + off
        assert golden.to(dtype).item() == right
        assert judging_parts._is_rounded(golden.to(dtype), golden) == (off == 0.0 or dtype is torch.float32)
    assert not judging_parts._is_rounded((tie + unit).to(dtype), tie)


def test_noise_is_asked_of_the_elements_that_need_it_few_at_a_time():
    golden, asked = torch.ones(1 << 12, dtype=torch.float64), []
    got = golden.float()
    got[[7, 4000, 4001]] += 1e-4

    def noise(places):
        for size in (1e-5, 1e-3):
            asked.append(places.tolist())
            yield torch.where(places == 7, 1e-3, size).double()

    tolerance = Tolerance(noise=noise, noise_at_a_time=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "PART", 1000)
        patch.setattr(judging_parts, "PART", 1000)
        assert judge(got, golden, ResultFormat(DataType.FLOAT32), tolerance).matches
        assert asked == [[7, 4000], [7, 4000], [4001], [4001]]
        asked.clear()
        got[9] = 2.0
        wrong = judge(got, golden, ResultFormat(DataType.FLOAT32), tolerance)
        assert wrong.reason.startswith("1 of 4096 elements are off, the worst at [9]")
        got[1000:2000] += 1e-4
        asked.clear()
        assert not judge(got, golden, ResultFormat(DataType.FLOAT32), tolerance).matches
        assert [*map(len, asked)] == [1004, 1004, 1, 1]


def test_operands_of_many_elements_are_changed_part_by_part():
    x = torch.randn(5, 7, dtype=torch.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison_tolerances, "_PART", 8)
        assert torch.equal(comparison_tolerances._by_parts(torch.Tensor.float, x), x.float())
        assert torch.equal(comparison_tolerances._by_parts(torch.abs, x.T), x.T.abs())


def test_each_estimate_of_noise_is_at_least_the_one_before_and_the_first_takes_two_goldens():
    called = []

    def golden(_, x, y):
        called.append(x.dtype)
        return x @ y

    operands = tuple(torch.randn(5, 5, dtype=torch.float64) for _ in range(2))
    operands[0][0] = 1e30
    operands[1][:, 0] = torch.tensor([1e30, -1e30, 0, 0, 1])  # sums overflow in float32 in some order
    specs = [comparison_tolerances.TensorSpec((5, 5), DataType.FLOAT32)] * 2
    call = GoldenCall(None, operands, (), golden)
    judged = comparison_tolerances.JudgedCall(call, None, specs)
    estimates = judged.noise(0, 2.0**-16, exact=call())
    called.clear()
    found = [next(estimates)]
    assert called == [torch.float32, torch.float64]
    found += estimates
    assert all((one <= other).all() for one, other in itertools.pairwise(found))
    assert found[-1][0, 0] == math.inf
    places = torch.tensor([0, 7, 24])
    at_places = [*judged.noise(0, 2.0**-16, exact=call(), places=places)]
    assert all(torch.equal(one, other.reshape(-1)[places]) for one, other in zip(at_places, found, strict=True))
