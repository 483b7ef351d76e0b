"""Storages: which buffers share memory, and what a program's launches find in it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.codegen.programs import assert_same_bits, run_plan
from ttnn_jit import jit, ttnn
from ttnn_jit.codegen.blocking import attention_row_blocking
from ttnn_jit.codegen.fusion.buffer_reuse import TRIED_STORAGES, Demand, buffer_of, storage_of
from ttnn_jit.codegen.host import host_program
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.compiler.driver import compile_program
from ttnn_jit.runtime.plans.launches import Repeat
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec


@pytest.fixture
def shares_small_buffers(monkeypatch):
    monkeypatch.setattr(host_program, "LEAST_SHARED_BYTES", 0)


def value(elements):
    return PlanValue(TensorSpec((elements,), DataType.FLOAT32))


@st.composite
def runs_of_values(draw):
    """The values that each launch touches, each of which lives from a launch to a later one; and their devices."""
    values = [value(draw(st.sampled_from([1, 2, 4, 4, 8, 1000]))) for _ in range(draw(st.integers(1, 12)))]
    count = draw(st.integers(1, 10))
    runs = [[] for _ in range(count)]
    for each in values:
        own = draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=3))
        for run in dict.fromkeys(own):
            runs[run].append(each)
    return runs, {each: draw(st.integers(0, 1)) for each in values}


def live_range(runs, each):
    own = [number for number, run in enumerate(runs) if each in run]
    return range(own[0], own[-1] + 1)


@settings(max_examples=200, deadline=None)
@given(runs_of_values())
def test_values_of_a_storage_are_never_live_at_the_same_time(case):
    runs, homes = case
    buffers = buffer_of(runs, {each: (each.spec, homes[each]) for each in homes})
    demands = {each: Demand(each.spec.nbytes, homes[each]) for each in dict.fromkeys(buffers.values())}
    found = storage_of(runs, buffers, demands)
    for one, other in itertools.combinations(homes, 2):
        if found[buffers[one]] is found[buffers[other]]:
            assert {*live_range(runs, one)}.isdisjoint(live_range(runs, other))
            assert homes[one] == homes[other]
    assert {found[each] for each in found.values()} == {*found.values()}
    assert all(storage.spec.nbytes >= buffer.spec.nbytes for buffer, storage in found.items())


def test_a_chain_of_shrinking_buffers_has_two_storages():
    values = [value(elements) for elements in range(2 * TRIED_STORAGES, 0, -1)]
    runs = [*itertools.pairwise(values)]
    buffers = {each: each for each in values}
    found = storage_of(runs, buffers, {each: Demand(each.spec.nbytes, None) for each in values})
    assert [found[each] for each in values] == [*itertools.islice(itertools.cycle(values[:2]), len(values))]


def test_buffers_without_a_demand_have_their_own_storage():
    one, other = value(4), value(4)
    assert storage_of([[one], [other]], {one: one, other: other}, {}) == {one: one, other: other}


def test_the_buffers_of_a_loop_share_nothing():
    """Two rounds of blocks show that a value of a round is live in the next one."""
    one, other = value(4), value(8)
    rounds = [[one], [other]] * 2
    found = storage_of(rounds, {one: one, other: other}, {each: Demand(each.spec.nbytes, 0) for each in (one, other)})
    assert found[one] is not found[other]


def layers(x, narrow, wide):
    """Products and softmaxes of several widths, between which nothing is fused."""
    for _ in range(2):
        x = ttnn.matmul(ttnn.softmax(ttnn.matmul(x, narrow), -1), wide)
    return x


def program_of(function, *shapes, target="cpu"):
    """A function's program for tensors of some shapes, tiles of bfloat16 on a chip; and these tensors."""
    device = ttnn.open_device(device_id=0, target=target)
    generator = torch.Generator().manual_seed(0)
    kind = {} if target == "cpu" else {"dtype": ttnn.bfloat16, "layout": ttnn.TILE_LAYOUT}
    tensors = [ttnn.from_torch(torch.randn(each, generator=generator), device=device, **kind) for each in shapes]
    return compile_program(jit()(function).request(*tensors), use_disk=False).program, tensors


SHAPES = (40, 32), (32, 96), (96, 32)


def arrays_of(tensors):
    """The values of tensors, bfloat16 as bits."""
    values = [ttnn.to_torch(each) for each in tensors]
    return [(each.view(torch.int16) if each.dtype is torch.bfloat16 else each).numpy() for each in values]


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@pytest.mark.usefixtures("shares_small_buffers")
def test_no_bit_depends_on_what_other_buffers_left_in_a_storage(target):
    program, tensors = program_of(layers, *SHAPES, target=target)
    plan = program.plan
    assert len(plan.scratch) < len(plan.intermediates)
    runs = (run_plan(plan, program.objects, arrays_of(tensors), in_storages=each) for each in (False, True))
    (alone,), (shared,) = runs
    assert_same_bits(shared, alone)


@pytest.mark.usefixtures("shares_small_buffers")
def test_loops_over_blocks_keep_their_values_in_storages(monkeypatch):
    monkeypatch.setattr(attention_row_blocking, "least_bytes", lambda: 0.0)
    monkeypatch.setattr(attention_row_blocking, "BLOCK_BYTES", 0)
    monkeypatch.setattr(attention_row_blocking, "_ROWS", 3)

    def attention(x, first, second, third, last):
        q, k, v = (ttnn.matmul(x, each) for each in (first, second, third))
        scores = ttnn.softmax(ttnn.matmul(q, k, transpose_b=True), -1)
        return ttnn.softmax(ttnn.matmul(ttnn.matmul(scores, v), last), -1)

    weights = (8, 10), (8, 10), (8, 12), (12, 7)
    program, tensors = program_of(attention, (2, 3, 10, 8), *weights)
    plan = program.plan
    assert any(isinstance(each, Repeat) for each in plan.launches)
    assert len(plan.scratch) < len(plan.intermediates)
    runs = (run_plan(plan, program.objects, arrays_of(tensors), in_storages=each) for each in (False, True))
    (alone,), (shared,) = runs
    assert_same_bits(shared, alone)


def test_small_buffers_have_their_own_storage():
    plan = program_of(layers, *SHAPES)[0].plan
    assert plan.storages == ()
    assert plan.memory is plan.buffers


@pytest.mark.usefixtures("shares_small_buffers")
def test_a_storage_has_the_bytes_of_its_largest_buffer():
    plan = program_of(layers, *SHAPES)[0].plan
    for memory, spec in zip(plan.memory_of, plan.buffers, strict=True):
        assert spec.nbytes <= plan.memory[memory].nbytes
    assert sum(spec.nbytes for spec in plan.scratch) < sum(spec.nbytes for spec in plan.intermediates)
    assert replace(plan, storages=()).memory == plan.buffers
