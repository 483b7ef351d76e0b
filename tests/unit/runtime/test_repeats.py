"""Repeats of launches run like their unrolled launches, and are checked without unrolling."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.codegen.programs import unrolled
from tests.unit.runtime.kernels import object_code, row_major
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.runtime.plans.launches import MAX_REPEAT_DEPTH, launch_to_json
from ttnn_jit.runtime.plans.plan import Launch, ProgramPlan, Repeat
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

X, Y, BLOCK = 0, 1, 2


def plan_of(launches, elements, block):
    return ProgramPlan("test", (row_major(elements),), (row_major(elements),), (row_major(block),), tuple(launches))


def run(plan):
    """The result of a program for 1, 2, 3..."""
    program = Program(plan, {kernel: object_code(kernel) for kernel in plan.kernels})
    x = np.arange(1, 1 + plan.inputs[0].volume, dtype=np.float32)
    y = np.full(plan.outputs[0].volume, np.nan, np.float32)
    program.run(x.ctypes.data, y.ctypes.data)
    return y


@st.composite
def nests(draw):
    """Counts of repeats, the outermost first, the size of a block, and the number of elements after the last one."""
    counts = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    return counts, draw(st.integers(1, 5)), draw(st.integers(0, 3)), [draw(st.booleans()) for _ in counts]


def blocks_in_repeats(counts, size, tail, are_backward):
    """Each block negated into separate memory, and doubled from there; some repeats read backwards."""
    spans = [size * int(np.prod(counts[k + 1 :])) for k, _ in enumerate(counts)]
    first = sum(
        (count - 1) * span for count, span, is_backward in zip(counts, spans, are_backward, strict=True) if is_backward
    )
    read = [(-span if is_backward else span, 0) for span, is_backward in zip(spans, are_backward, strict=True)]
    negate = Launch("t_neg", (X, BLOCK), (size, 1, 1), offsets=(first, 0), steps=tuple(read))
    double = Launch("t_double", (BLOCK, Y), (size, 1, 1), steps=tuple((0, span) for span in spans))
    launches = (negate, double)
    for count in reversed(counts):
        launches = (Repeat(count, launches),)
    whole = size * int(np.prod(counts))
    if tail:
        rest = {"params": (tail, 1, 1), "steps": ()}
        launches += replace(negate, offsets=(whole, 0), **rest), replace(double, offsets=(0, whole), **rest)
    return plan_of(launches, whole + tail, max(size, tail))


@settings(max_examples=60, deadline=None)
@given(nests())
def test_nested_repeats_access_the_addresses_of_their_steps(nest):
    counts, size, tail, are_backward = nest
    plan = blocks_in_repeats(counts, min(size, 9), min(tail, size), are_backward)
    blocks = np.arange(1, 1 + plan.inputs[0].volume, dtype=np.float32)
    whole = blocks[: size * int(np.prod(counts))].reshape(*counts, size)
    order = tuple(slice(None, None, -1 if is_backward else 1) for is_backward in are_backward)
    want = [*(-2 * whole[order]).ravel(), *(-2 * blocks[whole.size :])]
    assert run(plan).tolist() == want
    assert ProgramPlan.from_json(plan.to_json()) == plan
    assert plan.runs == 2 * int(np.prod(counts)) + 2 * bool(min(tail, size))
    assert plan.bytes_touched == sum(
        plan.buffers[index].nbytes
        for index in itertools.chain([X, BLOCK] * (plan.runs // 2), [BLOCK, Y] * (plan.runs // 2))
    )


NEGATE = Launch("t_neg", (X, BLOCK), (4, 1, 1), steps=((4, 0),))
DOUBLE = Launch("t_double", (BLOCK, Y), (4, 1, 1), steps=((0, 4),))


def test_a_repeat_needs_the_memory_of_one_iteration_in_a_plan_and_in_its_text():
    few, many = (plan_of([Repeat(count, (NEGATE, DOUBLE))], 4 * count, 4) for count in (2, 200))
    assert len(few.launches) == len(many.launches) == 1
    assert len(many.text()) < len(few.text()) + 20
    assert (few.runs, many.runs) == (4, 400)


@pytest.mark.parametrize(
    ("launches", "reason"),
    [
        ([Repeat(5, (NEGATE, DOUBLE))], "leaves the memory of operand 0"),
        ([Repeat(4, (replace(NEGATE, steps=((-4, 0),)), DOUBLE))], "leaves the memory of operand 0"),
        ([Repeat(4, (NEGATE, replace(DOUBLE, steps=((1, 4),))))], "leaves the memory of operand 0"),
        ([Repeat(3, (NEGATE, DOUBLE))], "not all of it"),
        ([Repeat(0, (NEGATE, DOUBLE))], "repeats 2 launches 0 times"),
        ([Repeat(4, ())], "repeats 0 launches 4 times"),
        ([Repeat(4, (replace(NEGATE, steps=()), DOUBLE))], "for 2 operands in 1 repeats"),
        ([Repeat(4, (replace(NEGATE, steps=((4,),)), DOUBLE))], "for 2 operands in 1 repeats"),
        ([NEGATE, Repeat(4, (DOUBLE,))], "for 2 operands in 0 repeats"),
        ([Repeat(4, (DOUBLE, NEGATE))], "reads buffer 2 before it is written"),
        ([Repeat(4, (replace(NEGATE, steps=((1 << 63, 0),)), DOUBLE))], "numbers of more than 64 bits"),
        ([Repeat(1 << 16, (replace(NEGATE, steps=((0, 0),)), replace(DOUBLE, steps=((0, 0),))))], "run 131072 times"),
    ],
)
def test_a_repeat_that_would_exceed_its_memory_is_refused(launches, reason):
    with pytest.raises(InternalError, match=reason):
        plan_of(launches, 16, 4)


def test_a_partly_written_block_is_not_read_before_later_iterations_complete_it():
    parts = replace(NEGATE, params=(2, 1, 1), steps=((4, 2),))
    with pytest.raises(InternalError, match="reads buffer 2 before it is written"):
        plan_of([Repeat(2, (parts, DOUBLE))], 16, 4)


def test_repeats_nest_up_to_a_limit():
    fields = launch_to_json(replace(NEGATE, steps=()))
    for _ in range(MAX_REPEAT_DEPTH + 1):
        fields = [1, [fields]]
    plan = plan_of([Repeat(4, (NEGATE, DOUBLE))], 16, 4).to_json()
    with pytest.raises(ValueError, match="repeats are nested"):
        ProgramPlan.from_json({**plan, "launches": [fields]})


def plan_over(elements, *launches):
    return ProgramPlan("test", (row_major(elements),), (row_major(elements),), (), launches)


def triangle(rows, **changed):
    """Rows of a square, each an element longer than the one before it, negated into the same indices of another."""
    fields = {"steps": ((rows, rows),), "growth": ((1,),), "offsets": (0, 0)} | changed
    grown = Launch("t_neg", (X, Y), (1, 1, 1), **fields)
    whole = Launch("t_neg", (X, Y), (rows * rows, 1, 1))
    return plan_over(rows * rows, whole, Repeat(rows, (grown,)))


@pytest.mark.parametrize("rows", [1, 2, 7, 60])
def test_extents_depend_on_the_iteration(rows):
    plan = triangle(rows)
    assert [run.params[0] for run in unrolled(plan)[1:]] == list(range(1, rows + 1))
    assert ProgramPlan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize("rows", [1, 2, 7, 60])
def test_a_kernel_runs_over_the_extent_of_the_iteration(rows):
    grown = Launch("t_double", (X, Y), (1, 1, 1), steps=((rows, rows),), growth=((1,),), offsets=(0, 0))
    plan = plan_over(rows * rows, Launch("t_neg", (X, Y), (rows * rows, 1, 1)), Repeat(rows, (grown,)))
    x = np.arange(1, 1 + rows * rows, dtype=np.float32).reshape(rows, rows)
    lower = np.tri(rows, dtype=bool)
    np.testing.assert_array_equal(run(plan).reshape(rows, rows), np.where(lower, 2 * x, -x))


@settings(max_examples=200, deadline=None)
@given(
    st.integers(2, 9),
    st.integers(-3, 3),
    st.integers(-12, 12),
    st.tuples(st.integers(-9, 99), st.integers(-9, 99)),
    st.integers(0, 5),
)
def test_growing_extents_are_checked_in_every_iteration(rounds, growth, step, offsets, extent):
    """Exactly those repeats are refused in which an iteration exceeds a tensor, or has no elements."""
    launch = Launch("t_neg", (X, Y), (extent, 1, 1), steps=((step, step),), growth=((growth,),), offsets=offsets)
    extents = [extent + number * growth for number in range(rounds)]
    starts = [[offset + number * step for number in range(rounds)] for offset in offsets]
    inside = all(
        start >= 0 and start + length <= 100 for own in starts for start, length in zip(own, extents, strict=True)
    )
    launches = Launch("t_neg", (X, Y), (100, 1, 1)), Repeat(rounds, (launch,))
    if min(extents) > 0 and inside:
        plan_over(100, *launches)
    else:
        with pytest.raises(InternalError, match="t_neg"):
            plan_over(100, *launches)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"growth": ((1, 1),)}, "grow by"),
        ({"growth": ((1,), (1,))}, "grow by"),
        ({"growth": ((2,),)}, "leaves the memory"),
        ({"growth": ((-1,),)}, "loops over"),
        ({"offsets": (1, 0)}, "leaves the memory"),
    ],
)
def test_extents_that_grow_in_another_way_are_refused(changed, message):
    triangle(60)
    with pytest.raises(InternalError, match=message):
        triangle(60, **changed)


def test_extents_over_block_floats_grow_by_whole_tiles():
    packed = TensorSpec((32, 320), DataType.BFLOAT8_B, Layout.TILE)
    whole = Launch("t_neg", (X, Y), (320, 1, 1))

    def plan(growth):
        grown = Launch("t_neg", (X, Y), (32, 1, 1), steps=((0, 0),), growth=((growth,),))
        return ProgramPlan("test", (packed,), (row_major(320),), (), (whole, Repeat(4, (grown,))))

    plan(64)
    for growth, message in ((16, "parts of tiles"), (128, "leaves the memory")):
        with pytest.raises(InternalError, match=message):
            plan(growth)
