"""Products at the boundaries of tiles, panels and blocks: the documented bits, and no access beyond an operand."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

import ttnn_jit
from tests.modules import parsed_module, plan_of, scheduled_module
from tests.products import BIT_TYPES, assert_bits, bf16, f32, for_interpreter, product_of, random
from tests.unit.codegen import guarded_programs
from tests.unit.codegen.programs import host_isa
from ttnn_jit import ttnn
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.kernels.contraction import contracting_blocks, contracting_rows
from ttnn_jit.kernels.isa import AVX2, NEON
from ttnn_jit.runtime.native import chunks
from ttnn_jit.runtime.plans.host_costs import HOST_COSTS

DEPTH = contracting_blocks.DEPTH
TILES = st.sampled_from([1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65])
FEW = st.integers(1, contracting_rows.MAX_ROWS + 1)
DEPTHS = st.one_of(TILES, st.sampled_from([DEPTH - 1, DEPTH, DEPTH + 1, 2 * DEPTH, 2 * DEPTH + 1, 4 * DEPTH + 3]))


@st.composite
def products(draw):
    """Operands of a product, which are stored transposed, strided or broadcast along a batch, or not."""
    rows, inner, columns = draw(st.one_of(TILES, FEW)), draw(DEPTHS), draw(TILES)
    batch = draw(st.sampled_from([(), (), (2,), (2, 3)]))
    transposes = draw(st.booleans()), draw(st.booleans())
    operands = []
    for seed, matrix in enumerate(((rows, inner), (inner, columns))):
        own = tuple(draw(st.sampled_from([1, extent])) for extent in batch) if draw(st.booleans()) else ()
        shape = (*own, *(matrix[::-1] if transposes[seed] else matrix))
        dtype = draw(st.sampled_from([*BIT_TYPES]))
        x = random(shape, dtype, seed + 7 * inner, 20)
        operands.append(draw(st.sampled_from([x, x.mT.contiguous().mT, _with_gaps(x)])))
    return transposes, tuple(operands)


def _with_gaps(x):
    wide = torch.zeros((*x.shape[:-1], 2 * x.shape[-1]), dtype=x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]


def scheduled(program, operands):
    return scheduled_module(ttnn_jit.jit()(program), *operands)


def interpreted(module, operands):
    (patterns,) = interpret(module, [for_interpreter(x) for x in operands])
    return np.array(patterns)


def guarded(module, operands, isa, *, start):
    """The result of native code whose operands lie next to inaccessible pages."""
    (result,) = guarded_programs.guarded(module, [for_interpreter(x) for x in operands], isa, start=start)
    return result


@settings(max_examples=30, deadline=None)
@given(case=products(), start=st.booleans())
def test_at_image_borders_the_bits_are_the_interpreters_and_no_access_leaves_an_operand(case, start):
    transposes, operands = case
    module = scheduled(product_of(transposes), operands)
    want = interpreted(module, operands)
    for isa in guarded_programs.hosts():
        got = guarded(module, operands, isa, start=start)
        assert np.array_equal(got.view("uint16"), want.view("uint16")), isa.name


@st.composite
def dots(draw):
    """Batches of rows and columns whose products have one element each."""
    batch, inner = draw(st.sampled_from([(4,), (5,), (33,), (70,), (3, 9), (2, 17)])), draw(DEPTHS)
    operands, transposes = [], (draw(st.booleans()), draw(st.booleans()))
    for seed, matrix in enumerate(((1, inner), (inner, 1))):
        shape = (*batch, *(matrix[::-1] if transposes[seed] else matrix))
        x = random(shape, draw(st.sampled_from([*BIT_TYPES])), seed + 7 * inner, 20)
        operands.append(draw(st.sampled_from([x, x.transpose(0, -1).contiguous().transpose(0, -1), _with_gaps(x)])))
    return transposes, tuple(operands)


@settings(max_examples=16, deadline=None)
@given(case=dots(), start=st.booleans())
def test_adjacent_dot_products_have_the_interpreters_bits_and_no_access_leaves_an_operand(case, start):
    transposes, operands = case
    program = product_of(transposes)
    assert "dot products beside each other" in str(ttnn_jit.jit()(program).explain(*operands))
    module = scheduled(program, operands)
    want = interpreted(module, operands)
    for isa in guarded_programs.hosts():
        got = guarded(module, operands, isa, start=start)
        assert np.array_equal(got.view("uint16"), want.view("uint16")), isa.name


ORDERS = list(itertools.permutations(range(4)))


@st.composite
def regrouped(draw):
    """Two tensors of four dimensions, and orders of these: each is a matrix of two row and two term dimensions."""
    rows, columns = (draw(st.tuples(st.integers(1, 5), st.integers(1, 9))) for _ in range(2))
    terms = draw(st.tuples(st.integers(1, 4), st.sampled_from([1, 3, 16, 17, 32, 40])))
    operands, orders = [], []
    for seed, extents in enumerate(((*rows, *terms), (*terms, *columns))):
        order = draw(st.sampled_from(ORDERS))
        stored = [0] * 4
        for axis, dim in enumerate(order):
            stored[dim] = extents[axis]
        operands.append(random(tuple(stored), draw(st.sampled_from([*BIT_TYPES])), seed))
        orders.append(order)
    return tuple(operands), tuple(orders), (rows, terms, columns)


@settings(max_examples=15, deadline=None)
@given(case=regrouped())
def test_a_product_reads_through_movements_with_the_bits_of_materialized_operands(case):
    operands, orders, (rows, terms, columns) = case
    shapes = (math.prod(rows), math.prod(terms)), (math.prod(terms), math.prod(columns))

    def program(a, b):
        left, right = (
            ttnn.reshape(ttnn.permute(x, order), shape) for x, order, shape in zip((a, b), orders, shapes, strict=True)
        )
        return ttnn.matmul(left, right)

    moved = [x.permute(order).reshape(shape) for x, order, shape in zip(operands, orders, shapes, strict=True)]
    plain = product_of((False, False))
    want = interpreted(scheduled(plain, moved), moved)
    module = scheduled(program, operands)
    for isa in {host_isa(), AVX2 if host_isa().avx2 else host_isa()}:
        assert np.array_equal(guarded(module, operands, isa, start=False).view("uint16"), want.view("uint16"))


@pytest.mark.parametrize("dtype", BIT_TYPES)
def test_numba_reads_through_movements_with_the_same_bits(dtype):
    x, w = random((6, 4, 32), dtype, 1), random((192, 7), dtype, 2)

    def program(x, w):
        return ttnn.matmul(ttnn.reshape(ttnn.permute(x, (1, 0, 2)), (4, 192)), w)

    assert_bits(ttnn_jit.jit(backend="numba")(program)(x, w), ttnn_jit.jit()(program)(x, w))


def test_copies_for_products_alone_are_not_made():
    x, w = torch.ones(6, 4, 32), torch.ones(192, 70)

    def through(x, w):
        return ttnn.matmul(ttnn.reshape(ttnn.permute(x, (1, 0, 2)), (4, 192)), w)

    def read_elsewhere(x, w):
        moved = ttnn.reshape(ttnn.permute(x, (1, 0, 2)), (4, 192))
        return ttnn.matmul(moved, w), moved

    (launch,) = plan_of(ttnn_jit.jit()(through), x, w).launches
    assert launch.reduced == (1, 2)
    assert launch.params[:4] == (70, 32, 6, 4)
    function = ttnn_jit.jit()(read_elsewhere)
    got, moved = function(x, w)
    assert len(plan_of(function, x, w).launches) == 2
    assert torch.equal(moved, x.permute(1, 0, 2).reshape(4, 192))
    assert torch.equal(got, moved @ w)


LARGE = [
    ((3, 2 * contracting_rows.DEPTH + 1), (2 * contracting_rows.DEPTH + 1, 37)),
    ((5, 19), (19, contracting_rows.COLUMNS + 35)),
    ((contracting_blocks.ROWS + 9, 17), (17, contracting_blocks.COLUMNS + 33)),
]


@pytest.mark.parametrize("dtype", [f32, bf16])
@pytest.mark.parametrize("transposes", [(False, False), (True, True)])
@pytest.mark.parametrize("shapes", LARGE)
def test_products_of_several_blocks_have_the_interpreters_bits(shapes, transposes, dtype):
    operands = [
        random(shape[::-1] if is_transposed else shape, dtype, 3)
        for shape, is_transposed in zip(shapes, transposes, strict=True)
    ]
    module = scheduled(product_of(transposes), operands)
    got = guarded(module, operands, host_isa(), start=False)
    assert np.array_equal(got.view("uint16"), interpreted(module, operands).view("uint16"))


@pytest.mark.parametrize("shapes", [((1, 40), (40, 70)), ((6, 37), (37, 33)), ((9, 18), (18, 35))])
@pytest.mark.parametrize("transposes", [(False, False), (True, True)])
def test_code_for_neon_has_the_same_bits(shapes, transposes):
    from tests.unit.codegen.programs import native

    operands = [
        random(shape[::-1] if is_transposed else shape, f32, 3)
        for shape, is_transposed in zip(shapes, transposes, strict=True)
    ]
    module = parsed_module(ttnn_jit.jit()(product_of(transposes)), *operands)
    (got,) = native(module, [for_interpreter(x) for x in operands], NEON)
    assert np.array_equal(got.view("uint16"), interpreted(module, operands).view("uint16"))


@pytest.mark.parametrize("dtype", [f32, bf16])
@pytest.mark.parametrize(
    "shapes", [((70, 50), (50, 90)), ((3, 64), (64, 130)), ((2, 3, 17, 40), (3, 40, 21)), ((130, 33), (33, 5))]
)
def test_no_bit_depends_on_the_number_of_threads(shapes, dtype, monkeypatch):
    operands = [random(shape, dtype, 5) for shape in shapes]
    program = product_of((False, False))
    want = ttnn_jit.jit()(program)(*operands)
    monkeypatch.setattr(chunks, "HOST_COSTS", replace(HOST_COSTS, shared_from_ns=0.0, wakes_from_ns=0.0))
    for elements in (96, 1000):
        monkeypatch.setattr(chunks, "MIN_ELEMENTS", elements)
        monkeypatch.setattr(chunks, "MAX_ELEMENTS", elements)
        before = torch.get_num_threads()
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            assert_bits(ttnn_jit.jit(enable_cache=False)(program)(*operands), want)
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("rows", "remark"), [(1, "1 row at a time"), (6, "8 rows at a time"), (9, "operands packed, a microkernel")]
)
def test_the_report_names_the_schedule_of_a_product(rows, remark):
    function = ttnn_jit.jit()(product_of((False, False)))
    assert remark in str(function.explain(torch.ones(rows, 4), torch.ones(4, 5)))


@pytest.mark.parametrize("dtype", BIT_TYPES)
@pytest.mark.parametrize("shapes", [((300, 70), (70,)), ((300, 70), (70, 1)), ((2, 40, 33), (2, 33, 1))])
def test_a_product_of_one_column_reads_its_matrix_once(shapes, dtype):
    operands = [random(shape, dtype, 9) for shape in shapes]
    function = ttnn_jit.jit()(product_of((False, False)))
    assert "1 row at a time" in str(function.explain(*operands))
    module = scheduled(product_of((False, False)), operands)
    got = guarded(module, operands, host_isa(), start=False)
    assert np.array_equal(got.view("uint16"), interpreted(module, operands).view("uint16"))
