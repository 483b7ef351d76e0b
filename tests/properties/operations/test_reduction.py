"""Reductions: bits depend only on the reduced extents, errors are within a bound, and softmax is one launch."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

import ttnn_jit
from tests.modules import plan_of, scheduled_module
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.ops.families.reduction import BLOCK, CHAINS, roundings
from ttnn_jit.ops.reduction import reductions

BIT_TYPES = {torch.float32: torch.int32, torch.bfloat16: torch.int16}
NAMES = [operation.name for operation in reductions.OPERATIONS]
EXTENTS = st.one_of(st.integers(1, 70), st.sampled_from([BLOCK - 1, BLOCK, BLOCK + 33, 3 * BLOCK + 1]))


def bits(x):
    return x.contiguous().view(BIT_TYPES[x.dtype])


def assert_bits(got, want):
    assert got.shape == want.shape
    assert got.dtype is want.dtype
    assert torch.equal(bits(got), bits(want))


def reduced(name, dim, keepdim):
    function = getattr(ttnn, name)

    def program(x):
        return function(x, dim=dim, keepdim=keepdim)

    return program


def in_order(x, dim):
    """The float32 sum along a dimension in the documented order, in torch, one addition after the other."""
    terms = x.float().movedim(dim, 0)
    blocks = []
    for first in range(0, max(1, len(terms)), BLOCK):
        block = terms[first : first + BLOCK]
        chains = torch.zeros(CHAINS, *block.shape[1:])
        for i, term in enumerate(block):
            chains[i % CHAINS] = chains[i % CHAINS] + term
        while len(chains) > 1:
            chains = chains[: len(chains) // 2] + chains[len(chains) // 2 :]
        blocks.append(chains[0])
    while len(blocks) > 1:
        odd = blocks[-1:] if len(blocks) % 2 else []
        blocks = [left + right for left, right in zip(blocks[::2], blocks[1::2], strict=False)] + odd
    return blocks[0]


@pytest.mark.parametrize("dtype", BIT_TYPES)
@pytest.mark.parametrize("shape", [(3, 40), (5, 9000), (2, 5, 37), (4100, 3), (40, 2, 33)])
def test_a_sum_is_computed_in_the_documented_order(shape, dtype):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    for dim in range(len(shape)):
        assert_bits(ttnn_jit.jit()(reduced("sum", dim, False))(x), in_order(x, dim).to(dtype))


@st.composite
def cases(draw):
    rank = draw(st.integers(1, 4))
    # Long dimensions are in a tile, as each element of an outer one is padded to one. The interpreter can run these.
    shape = [draw(EXTENTS)]
    for _ in range(rank - 1):
        shape.append(draw(st.integers(1, max(1, min(6, 4 * BLOCK // math.prod(shape))))))
    axis = draw(st.integers(max(0, rank - 2), rank - 1))
    shape = [*shape[1 : axis + 1], shape[0], *shape[axis + 1 :]]
    dims = draw(st.one_of(st.none(), st.integers(-rank, rank - 1), st.sets(st.integers(0, rank - 1), min_size=1)))
    return tuple(shape), sorted(dims) if isinstance(dims, set) else dims, draw(st.booleans())


@settings(max_examples=12, deadline=None)
@given(case=cases(), name=st.sampled_from(NAMES), dtype=st.sampled_from([*BIT_TYPES]), seed=st.integers(0, 99))
def test_both_backends_the_interpreter_and_both_frontends_give_the_same_bits(case, name, dtype, seed):
    shape, dims, keepdim = case
    x = (1 + 0.1 * torch.randn(shape, generator=torch.Generator().manual_seed(seed))).to(dtype)
    program = reduced(name, dims, keepdim)
    function = ttnn_jit.jit()(program)
    got = function(x)
    assert_bits(ttnn_jit.jit(backend="numba")(program)(x), got)
    assert_bits(ttnn_jit.jit(graph_capture=True)(program)(x), got)
    module = scheduled_module(function, x)
    patterns = x.view(torch.int16).numpy().view("uint16") if dtype is torch.bfloat16 else x.numpy()
    (interpreted,) = interpret(module, [patterns])
    assert_bits(torch.from_numpy(np.array(interpreted)).view(dtype).reshape(got.shape), got)


def gold(name, x, dims, keepdim):
    operation = next(each for each in reductions.OPERATIONS if each.name == name)
    given = () if dims is None else dims if isinstance(dims, list) else (dims,)
    return operation.golden(torch, x.double(), given, keepdim)


@settings(max_examples=25, deadline=None)
@given(case=cases(), seed=st.integers(0, 99))
def test_a_sum_is_within_its_bound(case, seed):
    shape, dims, keepdim = case
    x = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    got = ttnn_jit.jit()(reduced("sum", dims, keepdim))(x)
    want, magnitude = gold("sum", x, dims, keepdim), gold("sum", x.abs(), dims, keepdim)
    axes = range(len(shape)) if dims is None else dims if isinstance(dims, list) else [dims]
    bound = sum(roundings(shape[axis]) for axis in axes) * 2.0**-24 * magnitude
    assert ((got.double() - want).abs() <= bound).all()


@settings(max_examples=30, deadline=None)
@given(case=cases(), name=st.sampled_from(["max", "min"]), dtype=st.sampled_from([*BIT_TYPES]), seed=st.integers(0, 99))
def test_extremes_are_exact(case, name, dtype, seed):
    shape, dims, keepdim = case
    x = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)
    assert_bits(ttnn_jit.jit()(reduced(name, dims, keepdim))(x), gold(name, x, dims, keepdim).to(dtype))


def row_of_any_bits(width, generator, kind):
    """Random bits of bfloat16: without NaN, of one sign, zeros, or with a NaN of one sign at the end."""
    row = torch.randint(-0x8000, 0x8000, (width,), generator=generator).to(torch.int16)
    row[row.view(torch.bfloat16).isnan()] &= 0x3FFF
    if kind in {"positive", "negative"}:
        row = row & 0x7FFF if kind == "positive" else row | -0x8000
    if kind == "zeros":
        row &= -0x8000
    if kind in {"nan", "-nan"}:
        row = row & 0x7FFF if kind == "-nan" else row | -0x8000
        row[-1] = {"nan": 0x7F81, "-nan": -0x7F}[kind]
    return row.view(torch.bfloat16)


def extremum_of_bits(name, x):
    """The extremum of each row, -0 below +0; NaN if one is there."""
    keys = bits(x) ^ ((bits(x) >> 15) & 0x7FFF)
    found = getattr(torch, f"a{name}")(keys, -1)
    return torch.where(x.isnan().any(-1), torch.nan, (found ^ ((found >> 15) & 0x7FFF)).view(torch.bfloat16))


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("width", [1, 31, 130, BLOCK + 33])
def test_extremes_of_any_bits_of_bfloat16_are_exact(name, width):
    generator = torch.Generator().manual_seed(width)
    kinds = ["any", "positive", "negative", "zeros", "nan", "-nan"]
    x = torch.stack([row_of_any_bits(width, generator, kind) for kind in kinds])
    got, want = ttnn_jit.jit()(reduced(name, -1, False))(x), extremum_of_bits(name, x)
    assert torch.equal(got.isnan(), want.isnan())
    assert_bits(got.nan_to_num(), want.nan_to_num())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
def test_special_values_propagate_as_in_torch(name, special):
    x = torch.ones(4, 70)
    x[1, 66] = special
    got = ttnn_jit.jit()(reduced(name, -1, False))(x)
    torch.testing.assert_close(got.double(), gold(name, x, -1, False), equal_nan=True, rtol=0, atol=0)


@pytest.mark.filterwarnings("ignore:(var|std).*degrees of freedom")
@pytest.mark.parametrize("correction", [True, False])
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var", "std"])
def test_empty_and_single_element_reductions_equal_torchs(name, correction):
    device = ttnn.open_device(device_id=0, target="cpu")
    spread = {"correction": correction} if name in {"var", "std"} else {}
    for shape, dim in [((2, 0, 3), 1), ((4, 0), -1), ((5, 1), -1)]:
        x = torch.randn(shape)
        got = getattr(ttnn, name)(ttnn.from_torch(x, device=device), dim, **spread)
        expected = getattr(torch, name)(x.double(), dim, **{key: int(value) for key, value in spread.items()})
        torch.testing.assert_close(ttnn.to_torch(got).double(), expected, equal_nan=True)
    ttnn.close_device(device)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (2, 0, 3)])
def test_empty_sums_are_zero_and_results_without_elements_are_empty(shape):
    x = torch.zeros(shape)
    for dim in (None, *range(len(shape))):
        assert_bits(ttnn_jit.jit()(reduced("sum", dim, False))(x), torch.sum(x, dim if dim is not None else ()))


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize("dtype", BIT_TYPES)
@pytest.mark.parametrize("name", ["sum", "max", "mean"])
def test_layouts_and_strides_do_not_change_bits(name, dtype, layout, device):
    x = torch.randn(3, 50, 70, generator=torch.Generator().manual_seed(3)).to(dtype)
    for dim in (0, 1, 2, (0, 2), None):
        want = ttnn_jit.jit()(reduced(name, dim, True))(x)
        strided = x.transpose(0, 2).contiguous().transpose(0, 2)
        assert_bits(ttnn_jit.jit()(reduced(name, dim, True))(strided), want)
        tensor = ttnn.from_torch(x, layout=layout, device=device)
        if dtype is torch.float32:
            assert_bits(ttnn.to_torch(getattr(ttnn, name)(tensor, dim=dim, keepdim=True)), want)


@pytest.mark.parametrize(
    ("name", "kwargs", "message"),
    [
        ("sum", {"dim": 2}, "there is no dimension 2"),
        ("max", {"dim": (0, -2)}, "names a dimension of a tensor of rank 2 twice"),
        ("mean", {"dim": "x"}, "must be a whole number"),
        ("sum", {"keepdim": 3}, "must be True or False"),
        ("softmax", {"dim": -3}, "there is no dimension -3"),
    ],
)
def test_wrong_dimensions_are_refused_by_name(name, kwargs, message):
    with pytest.raises(TtnnJitError, match=message):
        ttnn_jit.jit()(lambda x: getattr(ttnn, name)(x, **kwargs))(torch.ones(3, 4))


def test_the_maximum_of_nothing_is_refused():
    with pytest.raises(TtnnJitError, match="`max` of no elements"):
        ttnn_jit.jit()(lambda x: ttnn.max(x, dim=1))(torch.ones(3, 0))


def softmax_by_composite(x):
    return ttnn.softmax(x, dim=-1)


def softmax_by_hand(x):
    exponentials = ttnn.exp(x - ttnn.max(x, dim=-1, keepdim=True))
    return exponentials / ttnn.sum(exponentials, dim=-1, keepdim=True)


def softmax_by_reciprocal(x):
    shifted = ttnn.subtract(x, ttnn.max(x, dim=-1, keepdim=True))
    return ttnn.exp(shifted) * ttnn.reciprocal(ttnn.sum(ttnn.exp(shifted), dim=-1, keepdim=True))


def softmax_of_scaled(x):
    scaled = x * 0.125
    exponentials = ttnn.exp(scaled - ttnn.max(scaled, -1, True))
    return ttnn.divide(exponentials, ttnn.sum(exponentials, -1, True))


SPELLINGS = {
    softmax_by_composite: lambda x: torch.softmax(x, -1),
    softmax_by_hand: lambda x: torch.softmax(x, -1),
    softmax_by_reciprocal: lambda x: torch.softmax(x, -1),
    softmax_of_scaled: lambda x: torch.softmax(x * 0.125, -1),
}


@pytest.mark.parametrize("shape", [(7, 100), (2, 3, 5, 33), (3, 5000), (4, 1)])
@pytest.mark.parametrize("program", SPELLINGS, ids=lambda program: program.__name__)
def test_softmax_in_every_spelling_is_one_launch_that_accesses_only_its_operand_and_its_result(program, shape):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(5))
    function = ttnn_jit.jit()(program)
    got = function(x)
    torch.testing.assert_close(got.double(), SPELLINGS[program](x.double()), rtol=2e-6, atol=1e-7)
    plan = plan_of(function, x)
    assert len(plan.launches) == 1
    assert plan.bytes_touched == 2 * x.nbytes


@st.composite
def spellings(draw):
    """A handwritten softmax, and the function of torch that it equals."""
    scale = draw(st.sampled_from([None, 0.5, -2.0]))
    shifted = draw(st.sampled_from(["subtract", "add of neg", "operator"]))
    once = draw(st.booleans())
    divided = draw(st.sampled_from(["divide", "reciprocal", "operator"]))

    def program(x):
        x = x if scale is None else x * scale
        most = ttnn.max(x, dim=-1, keepdim=True)
        shift = {
            "subtract": lambda: ttnn.subtract(x, most),
            "add of neg": lambda: ttnn.add(x, ttnn.neg(most)),
            "operator": lambda: x - most,
        }[shifted]
        exponentials = ttnn.exp(shift())
        total = ttnn.sum(exponentials if once else ttnn.exp(shift()), dim=-1, keepdim=True)
        if divided == "reciprocal":
            return exponentials * ttnn.reciprocal(total)
        return ttnn.divide(exponentials, total) if divided == "divide" else exponentials / total

    return program, 1.0 if scale is None else scale


@settings(max_examples=15, deadline=None)
@given(spelling=spellings(), width=st.sampled_from([1, 33, 128]), seed=st.integers(0, 9))
def test_random_spellings_of_softmax_access_only_their_operand_and_their_result(spelling, width, seed):
    program, scale = spelling
    x = torch.randn(3, width, generator=torch.Generator().manual_seed(seed))
    function = ttnn_jit.jit(graph_capture=True)(program)
    got = function(x)
    torch.testing.assert_close(got.double(), torch.softmax(scale * x.double(), -1), rtol=3e-6, atol=1e-7)
    plan = plan_of(function, x)
    assert len(plan.launches) == 1
    assert plan.bytes_touched == 2 * x.nbytes


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_a_softmax_of_a_strided_tensor_is_dense_and_of_the_same_bits(dim):
    x = torch.randn(20, 33, 40, generator=torch.Generator().manual_seed(9))
    function = ttnn_jit.jit()(lambda x: ttnn.softmax(x, dim=dim))
    for order in ((2, 1, 0), (1, 0, 2), (0, 2, 1)):
        back = tuple(order.index(axis) for axis in range(3))
        strided = x.permute(order).contiguous().permute(back)
        got = function(strided)
        assert got.is_contiguous()
        assert_bits(got, function(x))
        torch.testing.assert_close(got.double(), torch.softmax(x.double(), dim), rtol=2e-6, atol=1e-7)


def attention(q, k, v, mask):
    scores = ttnn.matmul(q, k, transpose_b=True) * 0.125 + mask
    return ttnn.matmul(ttnn.softmax(scores, dim=-1), v)


def test_attention_scales_and_masks_in_its_first_product_and_normalises_in_one_launch():
    generator = torch.Generator().manual_seed(7)
    q, k, v = (torch.randn(2, 3, 37, 64, generator=generator) for _ in range(3))
    mask = torch.zeros(2, 1, 1, 37)
    mask[1, :, :, 20:] = -1e4
    function = ttnn_jit.jit()(attention)
    got = function(q, k, v, mask).double()
    want = torch.softmax(q.double() @ k.double().mT * 0.125 + mask.double(), -1) @ v.double()
    assert (got - want).abs().max() <= 1e-6
    launches = [launch.ops for launch in function.explain(q, k, v, mask).launches]
    assert launches == [
        ("matmul", "multiply", "add"),
        ("max", "subtract", "exp", "sum", "divide"),
        ("matmul",),
    ]


@pytest.mark.parametrize("name", ["sum", "mean", "max", "softmax"])
def test_a_result_of_another_dtype_is_rounded_only_to_that(name, device):
    x = torch.randn(4, 100, generator=torch.Generator().manual_seed(3)).bfloat16()
    tensor = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
    function = getattr(ttnn, name)
    got = ttnn.to_torch(function(tensor, dim=-1, dtype=ttnn.float32))
    want = ttnn.get_golden_function(function)(x.double(), dim=-1)
    torch.testing.assert_close(got.double(), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dim", [0, 1])
def test_many_reductions_of_one_result_fit_on_the_stack(dim):
    def program(x):
        total = ttnn.sum(x, dim=dim, keepdim=True)
        for k in range(1, 64):
            total = total + ttnn.sum(x * float(k + 1), dim=dim, keepdim=True)
        return total

    x = torch.ones(40, 64)
    got = ttnn_jit.jit(graph_capture=True)(program)(x)
    assert torch.equal(got, torch.full_like(got, 64 * 65 / 2 * x.shape[dim]))


@pytest.mark.parametrize("dtype", BIT_TYPES)
@pytest.mark.parametrize(
    ("target", "strategy", "cores"),
    [
        ("wormhole_b0", ttnn.ShardStrategy.HEIGHT, (1, 8)),
        ("blackhole", ttnn.ShardStrategy.WIDTH, (4, 1)),
        ("wormhole_b0", ttnn.ShardStrategy.BLOCK, (2, 4)),
    ],
)
def test_chips_reduce_shards_in_kernels_that_are_not_fused_with_the_bits_of_eager(strategy, cores, dtype, target):
    device = ttnn.open_device(device_id=0, target=target)
    columns, rows = cores
    config = ttnn.create_sharded_memory_config((256, 128), ttnn.CoreGrid(x=columns, y=rows), strategy)
    x = torch.randn(256, 128, generator=torch.Generator().manual_seed(6)).to(dtype)
    tensor = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)
    for name in ("sum", "max"):
        for dim in (0, 1):
            reduce = getattr(ttnn, name)
            function = ttnn_jit.jit()(lambda x: reduce(ttnn.neg(x), dim=dim, keepdim=True))  # noqa: B023 - called here
            got = ttnn.to_torch(function(tensor))
            assert_bits(got, ttnn.to_torch(reduce(ttnn.neg(tensor), dim=dim, keepdim=True)))
            if name == "sum":
                assert_bits(got, in_order(-x, dim).unsqueeze(dim).to(dtype))
            report = function.explain(tensor)
            assert [kernel.ops for kernel in report.kernels] == [("neg",), (name,)]
            assert [pair.predicate for pair in report.not_fused] == ["not_elementwise"]
            assert not report.host_operations
            module = scheduled_module(function, tensor)
            patterns = x.view(torch.int16).numpy().view("uint16") if dtype is torch.bfloat16 else x.numpy()
            assert_bits(torch.from_numpy(np.array(interpret(module, [patterns])[0])).view(dtype), got)


def test_chips_reduce_other_tensors_as_operations_of_the_host_program(device):
    tensor = ttnn.from_torch(torch.randn(64, 96), layout=ttnn.TILE_LAYOUT, device=device)
    report = ttnn_jit.jit()(lambda x: ttnn.sum(ttnn.exp(x), dim=1, keepdim=True)).explain(tensor)
    assert [kernel.ops for kernel in report.kernels] == [("exp",)]
    assert report.host_operations == ("sum",)


@settings(max_examples=20, deadline=None)
@given(
    extent=EXTENTS | st.integers(100, 400),
    name=st.sampled_from(NAMES),
    special=st.lists(st.sampled_from([math.inf, -math.inf, math.nan, -0.0, 1e-40]), max_size=3),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
)
def test_rows_are_reduced_without_a_copy_for_any_values(extent, name, special, dtype):
    x = torch.randn(3, extent, generator=torch.Generator().manual_seed(extent))
    x = (1 + x / 100 if name == "prod" else x).to(dtype)  # products stay in range
    for index, number in enumerate(special):
        x[index % 3, (index * 37) % extent] = number
    function = ttnn_jit.jit()(reduced(name, -1, keepdim=False))
    assert extent == 1 or "block to reduce" not in function.ir(x, stage="host")
    got = function(x)
    want = gold(name, x, -1, keepdim=False)
    bound = 1e-4 if dtype is torch.float32 else 0.02
    torch.testing.assert_close(got.double(), want, rtol=bound, atol=bound, equal_nan=True)
    if name == "sum":
        torch.testing.assert_close(got, in_order(x, -1).to(dtype), rtol=0, atol=0, equal_nan=True)
