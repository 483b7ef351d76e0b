"""Matrix products: one documented chain of additions per element in any context, and errors within a bound."""

from __future__ import annotations

import fractions
import functools
import math

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

import ttnn_jit
from tests.modules import plan_of, scheduled_module
from tests.products import BIT_TYPES, EXACTLY, assert_bits, bf16, f32, for_interpreter, product_of, random
from tests.unit.codegen.programs import host_isa, native
from ttnn_jit import ops, ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects import parse_module
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.kernels.contraction.contracting_blocks import COLUMNS, DEPTH, ROWS
from ttnn_jit.kernels.isa import AVX2, AVX512, NEON
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.transforms import pipeline

CONTRACTIONS = [each for each in ops.OPERATIONS if isinstance(each, ops.Contraction)]
SMALLEST_NORMAL = 2.0**-126
AS_JITTED = {f32: EXACTLY, bf16: ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4)}
"""The default options of a chip's products, by the element type of the result."""


def matmul(a, b):
    return ttnn.matmul(a, b)


def nearest_float32(exact):
    """A fraction to the nearest float32, ties to even, with unbounded exponent."""
    if exact == 0:
        return 0.0
    exponent = math.frexp(float(exact))[1] - 24  # the quotient has 24 bits, or 25 where float() carried
    unit = fractions.Fraction(2) ** exponent
    if abs(exact) / unit < 2**23:
        unit /= 2
    return float(round(exact / unit) * unit)


def chain(left, right, *, pairs):
    """One element by exact arithmetic, rounded after every addition; for finite operands and sums."""
    order = list(range(len(left)))
    if pairs:
        order = [k for i in range(0, len(order), 2) for k in (i + 1, i)]
        left, right = ([0.0 if abs(x) < SMALLEST_NORMAL else x for x in (*side, 0.0)] for side in (left, right))
    total = 0.0
    for k in order:
        total = nearest_float32(fractions.Fraction(left[k]) * fractions.Fraction(right[k]) + fractions.Fraction(total))
        if pairs and abs(total) < SMALLEST_NORMAL:
            total = 0.0
    return total


@pytest.mark.parametrize("dtype", BIT_TYPES)
@pytest.mark.parametrize("inner", [1, 2, 3, 70, 2 * DEPTH + 1])
def test_every_element_is_one_chain_in_the_documented_order(inner, dtype):
    a, b = random((3, inner), dtype, 1), random((inner, 2), dtype, 2)
    got = ttnn_jit.jit()(matmul)(a, b)
    pairs = dtype is torch.bfloat16
    want = [[chain(row.tolist(), column.tolist(), pairs=pairs) for column in b.T] for row in a]
    assert_bits(got, torch.tensor(want, dtype=torch.float32).to(dtype))


@pytest.mark.parametrize("scale", [-63, -75])
def test_sums_of_bfloat16_that_are_subnormal_are_zeros(scale):
    power = torch.tensor(scale)
    a, b = (torch.ldexp(random((9, 11), torch.float32, seed), power).bfloat16() for seed in (1, 2))
    program = product_of((False, True))
    want = [[chain(row.tolist(), other.tolist(), pairs=True) for other in b] for row in a]
    for backend in ("ttnn", "numba"):
        assert_bits(ttnn_jit.jit(backend=backend)(program)(a, b).abs(), torch.tensor(want).bfloat16().abs())


EXTENTS = st.one_of(st.integers(1, 40), st.sampled_from([DEPTH + 1, ROWS + 3]))


@st.composite
def products(draw):
    """Shapes that torch.matmul accepts, and which matrices are stored transposed."""
    rows, inner, columns = draw(EXTENTS), draw(EXTENTS), draw(st.one_of(EXTENTS, st.just(COLUMNS + 5)))
    batch = draw(st.lists(st.integers(1, 3), max_size=2))
    left, right = ([draw(st.sampled_from([1, extent])) for extent in batch] for _ in range(2))
    left, right = left[draw(st.integers(0, len(left))) :], right[draw(st.integers(0, len(right))) :]
    transposes = draw(st.booleans()), draw(st.booleans())
    a, b = [rows, inner], [inner, columns]
    if not left and draw(st.integers(0, 5)) == 0:
        a, transposes = [inner], (False, transposes[1])
    if not right and draw(st.integers(0, 5)) == 0:
        b, transposes = [inner], (transposes[0], False)
    a, b = (side[::-1] if transposed else side for side, transposed in zip((a, b), transposes, strict=True))
    return (*left, *a), (*right, *b), transposes


@settings(max_examples=6, deadline=None)
@given(case=products(), dtypes=st.tuples(*[st.sampled_from([*BIT_TYPES])] * 2), seed=st.integers(0, 99))
def test_both_backends_the_interpreter_and_both_frontends_give_the_same_bits(case, dtypes, seed):
    left, right, transposes = case
    a, b = random(left, dtypes[0], seed, 30), random(right, dtypes[1], seed + 1, 30)
    program = product_of(transposes)
    function = ttnn_jit.jit()(program)
    got = function(a, b)
    assert_bits(ttnn_jit.jit(backend="numba")(program)(a, b), got)
    assert_bits(ttnn_jit.jit(graph_capture=True)(program)(a, b), got)
    module = scheduled_module(function, a, b)
    (interpreted,) = interpret(module, [for_interpreter(a), for_interpreter(b)])
    assert_bits(torch.from_numpy(np.array(interpreted)).view(a.dtype).reshape(got.shape), got)


@pytest.mark.parametrize("dtypes", [(f32, f32), (bf16, bf16), (bf16, f32)])
@pytest.mark.parametrize("shapes", [((9, 35), (35, 41)), ((2, 1, 259), (259, 70))])
def test_every_instruction_set_gives_the_same_bits(shapes, dtypes):
    operands = zip(shapes, dtypes, strict=True)
    a, b = (torch.ldexp(random(shape, dtype, 5, 60), torch.tensor(-20)).to(dtype) for shape, dtype in operands)
    function = ttnn_jit.jit()(matmul)
    module = scheduled_module(function, a, b)
    inputs = [for_interpreter(a), for_interpreter(b)]
    (wanted,) = interpret(module, inputs)
    for isa in {host_isa(), AVX512, AVX2, NEON} if host_isa().avx512 else {host_isa(), NEON}:
        (got,) = native(module, inputs, isa)
        assert np.array_equal(got.view("uint16"), wanted.view("uint16")), isa.name


@settings(max_examples=25, deadline=None)
@given(case=products(), dtype=st.sampled_from([*BIT_TYPES]), seed=st.integers(0, 99))
def test_products_are_within_their_bound(case, dtype, seed):
    left, right, transposes = case
    a, b = random(left, dtype, seed), random(right, dtype, seed + 1)
    got = ttnn_jit.jit()(product_of(transposes))(a, b)
    operation = next(each for each in CONTRACTIONS if each.name == "matmul")
    want = operation.golden(torch, a.double(), b.double(), *transposes)
    magnitude = operation.golden(torch, a.double().abs(), b.double().abs(), *transposes)
    inner = a.shape[-2] if transposes[0] else a.shape[-1]
    # Each of `inner` roundings is of half a unit of a sum that the magnitudes bound; then one to the result's dtype.
    bound = (inner + 1) * 2.0**-24 * magnitude + (2.0**-8 * want.abs() if dtype is torch.bfloat16 else 0)
    assert got.shape == want.shape
    assert bool(((got.double() - want).abs() <= bound).all())


@pytest.mark.parametrize("dtype", BIT_TYPES)
def test_an_element_does_not_depend_on_its_neighbours(dtype):
    a, b = random((2, ROWS + 21, DEPTH + 9), dtype, 1), random((DEPTH + 9, COLUMNS + 50), dtype, 2)
    product = ttnn_jit.jit()(matmul)
    want = product(a, b)
    for row in (0, 7, ROWS - 1, ROWS + 20):
        assert_bits(product(a[1, row : row + 1], b), want[1, row : row + 1])
        assert_bits(product(a[1, row], b), want[1, row])
    for column in (0, 31, COLUMNS, COLUMNS + 49):
        assert_bits(product(a, b[:, column : column + 1]), want[:, :, column : column + 1])
        assert_bits(product(a, b[:, column]), want[:, :, column])
    assert_bits(product(a[:, 3:140], b[:, 5:]), want[:, 3:140, 5:])


@pytest.mark.parametrize("dtype", BIT_TYPES)
def test_strides_do_not_change_bits(dtype):
    a, b = random((2, 50, 70), dtype, 1), random((2, 70, 90), dtype, 2)
    want = ttnn_jit.jit()(matmul)(a, b)

    def views(x):
        yield x.transpose(1, 2).contiguous().transpose(1, 2)
        yield x.transpose(0, 2).contiguous().transpose(0, 2)
        wide = torch.zeros((2, x.shape[1], 3 * x.shape[2]), dtype=dtype)
        wide[:, :, ::3] = x
        yield wide[:, :, ::3]

    for left in views(a):
        for right in views(b):
            assert_bits(ttnn_jit.jit()(matmul)(left, right), want)
    flipped = ttnn_jit.jit()(lambda a, b: ttnn.matmul(a, b, transpose_a=True, transpose_b=True))
    assert_bits(flipped(a.mT.contiguous(), b.mT.contiguous()), want)


@pytest.mark.parametrize("layouts", [("TILE", "TILE"), ("ROW_MAJOR", "TILE"), ("TILE", "ROW_MAJOR")])
@pytest.mark.parametrize("dtype", BIT_TYPES)
def test_eager_products_have_the_bits_of_compiled_ones_in_every_layout(dtype, layouts, device):
    a, b = random((3, 50, 70), dtype, 3), random((70, 45), dtype, 4)
    left, right = (
        ttnn.from_torch(x, layout=getattr(ttnn, f"{layout}_LAYOUT"), device=device)
        for x, layout in zip((a, b), layouts, strict=True)
    )
    want = ttnn_jit.jit(math_fidelity=ttnn.MathFidelity.HiFi2 if dtype is bf16 else ttnn.MathFidelity.HiFi4)(matmul)
    tiled = (ttnn.to_layout(x, ttnn.TILE_LAYOUT) for x in (left, right))
    got = ttnn.matmul(left, right)
    assert got.layout == left.layout
    assert got.memory_config() == ttnn.DRAM_MEMORY_CONFIG
    want = ttnn.to_torch(want(*tiled))
    assert_bits(ttnn.to_torch(got), want)
    assert_bits(ttnn.to_torch(left @ right), want)


def factors():
    return random((33, 70), bf16, 3), random((70, 40), bf16, 4)


@functools.cache
def exact_product():
    a, b = factors()
    return torch.tensor([[chain(row.tolist(), column.tolist(), pairs=True) for column in b.T] for row in a])


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16, ttnn.int32])
def test_a_result_of_another_element_type_is_rounded_once_and_has_the_requested_memory_config(dtype, device):
    left, right = (ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device) for x in factors())
    got = ttnn.matmul(
        left,
        right,
        dtype=dtype,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        program_config=None,
        core_grid=None,
        compute_kernel_config=EXACTLY,
    )
    assert got.memory_config() == ttnn.L1_MEMORY_CONFIG
    want = exact_product().to({ttnn.float32: f32, ttnn.bfloat16: bf16, ttnn.int32: torch.int32}[dtype])
    assert torch.equal(ttnn.to_torch(got), want)


@pytest.mark.parametrize("dtype", BIT_TYPES)
def test_on_chip_targets_a_transposed_product_is_an_operation_of_the_host_program(dtype, device):
    a, b = random((64, 96), dtype, 3), random((32, 96), dtype, 4)
    left, right = (ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device) for x in (a, b))
    function = ttnn_jit.jit()(lambda x, y: ttnn.exp(ttnn.matmul(x, y, transpose_b=True)))
    product = ttnn.matmul(left, right, transpose_b=True, compute_kernel_config=AS_JITTED[dtype])
    assert_bits(ttnn.to_torch(function(left, right)), ttnn.to_torch(ttnn.exp(product)))
    assert '"ttnn.matmul"' in function.ir(left, right, stage="convert-d2m-to-ttnn")
    explained = str(function.explain(left, right))
    assert "launch 0: matmul -> exp  (2 kernels as one, loops 64 x 96 reduced x 32" in explained


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", BIT_TYPES)
def test_special_values_propagate_as_in_torch(dtype, special):
    a, b = torch.ones((5, 40), dtype=dtype), torch.ones((40, 35), dtype=dtype)
    a[1, 39] = special
    b[0, 33] = special
    b[5, 3] = 0.0
    a[4, 5] = special
    got = ttnn_jit.jit()(matmul)(a, b)
    torch.testing.assert_close(got.double(), a.double() @ b.double(), equal_nan=True, rtol=0, atol=0)


@pytest.mark.parametrize("shapes", [((0, 4), (4, 3)), ((2, 4), (4, 0)), ((0, 2, 4), (4, 3))])
def test_products_without_elements_are_empty(shapes):
    a, b = map(torch.zeros, shapes)
    assert_bits(ttnn_jit.jit()(matmul)(a, b), a @ b)


@pytest.mark.parametrize("operation", CONTRACTIONS, ids=lambda each: each.name)
def test_examples_agree_with_the_golden(operation):
    function = getattr(ttnn, operation.name)
    for shapes, statics in operation.examples:
        operands = [random(shape, torch.float32, 7) for shape in shapes]
        got = ttnn_jit.jit()(lambda *xs, statics=statics: function(*xs, *statics))(*operands)
        want = operation.golden(torch, *(x.double() for x in operands), *statics)
        torch.testing.assert_close(got.double(), want, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("shapes", "kwargs", "message"),
    [
        (((3, 4), (5, 6)), {}, r"`matmul` of shapes \[3, 4\] and \[5, 6\]: the dimensions to contract have 4 and 5"),
        (((3, 4), (4, 6)), {"transpose_b": True}, "have 4 and 6 elements"),
        (((3, 4), (1, 6)), {}, "have 4 and 1 elements"),
        (((2, 3, 4), (3, 4, 6)), {}, "dimensions of 2 and of 3 do not broadcast"),
        (((), (3,)), {}, "a tensor without dimensions"),
        (((3,), (3, 4)), {"transpose_a": True}, "a vector that is to be transposed"),
        (((3, 4), (4, 6)), {"transpose_a": 1}, "must be True or False"),
    ],
)
def test_mismatched_shapes_are_refused_with_both_in_the_message(shapes, kwargs, message):
    with pytest.raises(TtnnJitError, match=message):
        ttnn_jit.jit()(lambda a, b: ttnn.matmul(a, b, **kwargs))(*map(torch.ones, shapes))


@pytest.mark.parametrize(
    ("shapes", "kwargs", "help_"),
    [
        (((3, 4), (5, 4)), {}, "with `transpose_b=True` the shapes fit"),
        (((2, 3, 4), (5, 4)), {}, "with `transpose_b=True` the shapes fit"),
        (((3, 4), (4, 6)), {"transpose_b": True}, "with `transpose_b=False` the shapes fit"),
        (((4, 3), (4, 6)), {}, "with `transpose_a=True` the shapes fit"),
        (((3, 4), (5, 6)), {}, None),
        (((4,), (5, 6)), {}, None),
    ],
)
@pytest.mark.parametrize("function", [ttnn.matmul, ttnn.linear])
def test_the_error_about_mismatched_shapes_names_the_transposition_that_fits(function, shapes, kwargs, help_):
    with pytest.raises(TtnnJitError) as caught:
        ttnn_jit.jit()(lambda a, b: function(a, b, **kwargs))(*map(torch.ones, shapes))
    assert caught.value.help == help_


def test_a_number_is_not_accepted_as_a_matrix():
    with pytest.raises(TtnnJitError, match=r"`input_tensor_b` of `matmul` must be a tensor, got float"):
        ttnn_jit.jit()(lambda x: x @ 2.0)(torch.ones(3, 3))


def test_large_products_are_divided_among_threads_and_never_along_the_chain():
    a, b = random((512, 256), torch.float32, 1), random((256, 384), torch.float32, 2)
    program = ttnn_jit.jit(compile_only=True)(matmul)(a, b)
    assert "t2 = t0 times t1, added up along the reduced loop" in program.ir("host")
    (launch,) = program.plan.launches
    assert launch.reduced == (1,)
    assert launch.params[:3] == (384, 256, 512)
    product = ttnn_jit.jit()(matmul)
    parts = [product(a[first : first + 64], b) for first in range(0, 512, 64)]
    assert_bits(product(a, b), torch.cat(parts))


@pytest.mark.parametrize("power", [-149, -150, -151, -152, -175])
def test_whether_a_sum_is_subnormal_is_decided_after_rounding(power):
    a = torch.tensor([[-(2.0 ** (power // 2)), 2.0**-63]], dtype=torch.bfloat16)
    b = torch.tensor([[2.0 ** (power - power // 2)], [2.0**-63]], dtype=torch.bfloat16)
    want = torch.tensor([[chain(a[0].tolist(), b[:, 0].tolist(), pairs=True)]]).bfloat16()
    assert want.item() in {0.0, SMALLEST_NORMAL}
    module = parse_module(ttnn_jit.jit()(matmul).ir(a, b, stage="d2m-insert-dst-register-access"))
    inputs = [for_interpreter(a), for_interpreter(b)]
    for (got,) in (interpret(module, inputs), *(native(module, inputs, isa) for isa in {host_isa(), NEON})):
        assert got.item() == for_interpreter(want).item()


EPILOGUES = [
    (lambda y, bias, other: y + bias, ((70,), (70, 40))),  # noqa: ARG005 - all are called alike
    (lambda y, bias, other: ttnn.relu(y + bias) * 0.5 + other, ((2, 50, 70), (70, 40))),
    (lambda y, bias, other: ttnn.silu(y) * y, ((3, 5, 9), (3, 9, 270))),  # noqa: ARG005 - all are called alike
    (lambda y, bias, other: ttnn.where(other > 0.0, y * 0.125, bias), ((2, 1, 33, 9), (3, 9, 65))),
]


@pytest.mark.parametrize("dtype", BIT_TYPES)
@pytest.mark.parametrize(("after", "shapes"), EPILOGUES)
def test_elementwise_readers_of_a_product_run_in_its_launch_with_the_same_bits(after, shapes, dtype):
    a, b = (random(shape, dtype, seed) for seed, shape in enumerate(shapes))
    y = ttnn_jit.jit()(matmul)(a, b)
    bias, other = random(y.shape[-1:], dtype, 5), random(y.shape, dtype, 6)

    def program(a, b, bias, other):
        return after(ttnn.matmul(a, b), bias, other)

    function = ttnn_jit.jit()(program)
    want = ttnn_jit.jit()(lambda y, bias, other: after(y, bias, other))(y, bias, other)
    assert_bits(function(a, b, bias, other), want)
    plan = plan_of(function, a, b, bias, other)
    assert len(plan.launches) == 1
    assert not plan.intermediates
    module = scheduled_module(function, a, b, bias, other)
    (patterns,) = interpret(module, [for_interpreter(x) for x in (a, b, bias, other)])
    assert_bits(torch.from_numpy(np.array(patterns)).view(dtype), want)


def permuted(a, b, other):
    return ttnn.transpose(a @ b, 0, 1) + other


def prepared(a, b, other):
    return (a * 2.0) @ b + a * 3.0 + other


def chained(a, b, other):
    return (a @ b) @ other + other


def squared(a, b, other):
    return (a + b) @ (a + b) + (a + b) * other


def returned(a, b, other):
    y = a @ b
    return y, y + other


def reduced(a, b, other):
    return ttnn.softmax((a @ b) * 0.1 + other, -1)


SURROUNDINGS = {
    permuted: lambda a, b, other: (a @ b).T + other,
    prepared: lambda a, b, other: (a * 2) @ b + a * 3 + other,
    chained: lambda a, b, other: a @ b @ other + other,
    squared: lambda a, b, other: (a + b) @ (a + b) + (a + b) * other,
    returned: lambda a, b, other: (a @ b, a @ b + other),
    reduced: lambda a, b, other: torch.softmax(a @ b * 0.1 + other, -1),
}


@pytest.mark.parametrize("program", SURROUNDINGS, ids=lambda each: each.__name__)
def test_other_readers_of_a_product_are_not_fused_and_keep_its_value(program):
    operands = [random((37, 37), torch.float32, seed) for seed in range(3)]
    want = SURROUNDINGS[program](*(x.double() for x in operands))
    for backend in ("ttnn", "numba"):
        got = ttnn_jit.jit(backend=backend)(program)(*operands)
        torch.testing.assert_close(got, want, check_dtype=False, rtol=1e-4, atol=3e-3)


def test_the_interpreter_rounds_a_result_of_another_element_type_as_native_code():
    a, b = random((5, 7), bf16, 3), random((7, 3), bf16, 4)
    a[:3, 0] = torch.tensor([math.inf, math.nan, -1e30])  # beyond the range of integers
    module = parse_module(ttnn_jit.jit()(matmul).ir(a, b, stage="cse").replace("5x3xbf16", "5x3xsi32"))
    pipeline.run(module, CompileOptions(), start_after="cse", until=pipeline.SCHEDULED)
    (got,), (want,) = (run(module, [for_interpreter(a), for_interpreter(b)]) for run in (native_here, interpret))
    assert got.dtype == want.dtype == np.int32
    assert np.array_equal(got, want)


def native_here(module, inputs):
    return native(module, inputs, host_isa())


def sharded(shape, columns, rows):
    return ttnn.create_sharded_memory_config(shape, ttnn.CoreGrid(x=columns, y=rows), ttnn.ShardStrategy.BLOCK)


@pytest.mark.parametrize("dtype", BIT_TYPES)
@pytest.mark.parametrize(
    ("target", "configs"),
    [
        ("blackhole", (None, None)),
        ("wormhole_b0", (sharded((128, 96), 3, 4), sharded((96, 64), 2, 3))),
        ("wormhole_b0", (sharded((128, 96), 1, 2), None)),
    ],
    ids=["in DRAM", "block sharded", "one of each"],
)
def test_chips_multiply_whole_tiles_in_kernels_with_the_bits_of_eager(configs, dtype, target):
    device = ttnn.open_device(device_id=0, target=target)
    matrices = random((128, 96), dtype, 5), random((96, 64), dtype, 6)
    a, b = (
        ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config or ttnn.DRAM_MEMORY_CONFIG)
        for x, config in zip(matrices, configs, strict=True)
    )
    function = ttnn_jit.jit()(lambda a, b: ttnn.neg(ttnn.matmul(a, b)))
    got = ttnn.to_torch(function(a, b))
    assert_bits(got, -ttnn.to_torch(ttnn.matmul(a, b, compute_kernel_config=AS_JITTED[dtype])))
    report = function.explain(a, b)
    assert [kernel.ops for kernel in report.kernels] == [("matmul",), ("neg",)]
    assert not report.host_operations
    module = scheduled_module(function, a, b)
    assert_bits(torch.from_numpy(interpret(module, [for_interpreter(x) for x in matrices])[0]).view(dtype), got)
