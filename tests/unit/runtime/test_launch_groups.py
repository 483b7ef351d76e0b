"""Groups of independent launches: which launches may run at the same time, and that no bit depends on it."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, permutations, product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.checked_templates import checked_templates  # noqa: F401 - a fixture
from ttnn_jit import jit, ttnn
from ttnn_jit.runtime.native import launch_groups, native_call
from ttnn_jit.runtime.native.launch_groups import Memories, TimedLaunch, groups_of
from ttnn_jit.runtime.plans.host_costs import HOST_COSTS
from ttnn_jit.runtime.plans.launches import Launch, Repeat, runs_of
from ttnn_jit.specs.options import requested_threads

LONG = HOST_COSTS.shared_from_ns


@pytest.fixture
def shares_everything(monkeypatch):
    """Every pair of independent launches is a group, which wakes threads."""
    monkeypatch.setattr(launch_groups, "HOST_COSTS", replace(HOST_COSTS, shared_from_ns=0.0, wakes_from_ns=0.0))


@pytest.fixture
def set_threads(monkeypatch):
    """Sets the number of threads."""

    def set_(count):
        monkeypatch.setenv("TTNN_JIT_NUM_THREADS", str(count))
        requested_threads.cache_clear()

    yield set_
    requested_threads.cache_clear()


@pytest.fixture
def groups(monkeypatch):
    """The groups of all programs that are linked."""
    found = []

    def noted(*args):
        own = [*groups_of(*args)]
        found.append([each.chunks for each in own])
        return own

    monkeypatch.setattr(native_call, "groups_of", noted)
    return found


def loop(operands, extent=8, offsets=(), written=1):
    """A launch over a row of elements of each operand."""
    return Launch("k", tuple(operands), (extent, *(1 for _ in operands)), 1, written, offsets)


def grouped(launches, same=None, nanoseconds=LONG, is_cut=False, positions=(), mixed=()):
    """The chunks of each group of launches over 100 buffers."""
    timed = [TimedLaunch(each, (), nanoseconds, is_cut) for each in launches]
    memory_of = [(same or {}).get(index, index) for index in range(100)]
    return [own.chunks for own in groups_of(timed, Memories(100, memory_of, mixed, positions))]


def one_by_one(*numbers):
    """Chunks of a launch each."""
    return tuple((number,) for number in numbers)


def test_launches_on_memory_of_their_own_are_one_group():
    assert grouped([loop((device, 8 + device)) for device in range(8)]) == [one_by_one(*range(8))]


def test_a_reader_a_second_writer_and_an_overwriting_one_begin_a_new_group():
    assert grouped([loop((0, 1)), loop((1, 2))]) == []
    assert grouped([loop((0, 1)), loop((2, 1))]) == []
    assert grouped([loop((0, 1)), loop((2, 0))]) == []
    assert grouped([loop((0, 1)), loop((0, 2)), loop((1, 3)), loop((2, 4))]) == [one_by_one(0, 1), one_by_one(2, 3)]


def test_many_launches_may_read_one_buffer_and_one_constant():
    assert grouped([loop((0, 100, 1)), loop((0, 100, 2))]) == [one_by_one(0, 1)]


def test_a_result_in_the_memory_of_an_input_is_that_input():
    launches = [loop((0, 5)), loop((1, 6))]
    assert grouped(launches, {6: 1}) == [one_by_one(0, 1)]
    assert grouped(launches, {6: 0}) == []
    assert grouped(launches, {5: 1}) == []


def test_buffers_of_one_storage_are_not_used_at_the_same_time():
    same = {51: 50}
    assert grouped([loop((0, 50)), loop((51, 1))], same, mixed={50}) == []
    assert grouped([loop((50, 0)), loop((1, 51))], same, mixed={50}) == []
    assert grouped([loop((50, 0)), loop((51, 1))], same, mixed={50}) == [one_by_one(0, 1)]
    parts = [loop((0, 50), offsets=(0, 0)), loop((1, 51), offsets=(0, 80))]
    assert grouped(parts, same, mixed={50}) == []  # elements of two types are at other bytes


def test_parts_of_a_buffer_may_be_written_at_the_same_time():
    parts = [loop((device, 50), offsets=(0, 8 * device)) for device in range(4)]
    assert grouped(parts) == [one_by_one(0, 1, 2, 3)]
    assert grouped([*parts, loop((9, 50), offsets=(0, 31))]) == [one_by_one(0, 1, 2, 3)]


def test_columns_of_a_buffer_may_be_written_at_the_same_time():
    def columns(start, width):
        return Launch("k", (start, 50), (width, 3, 1, width, 1, 16), 1, 1, (0, start))

    assert grouped([columns(0, 8), columns(8, 8)]) == [one_by_one(0, 1)]
    assert grouped([columns(0, 9), columns(8, 8)]) == []
    assert grouped([columns(0, 8), columns(12, 8)]) == []  # its rows end in the next ones


def test_a_kernel_with_loops_of_its_own_may_write_any_row_of_a_buffer():
    def update(row):
        return Launch("k", (row, 50), (8, 1, 1), 1, 1, (0, 8 * row), whole=(0,))

    assert grouped([update(0), update(1)]) == []
    assert grouped([update(0), loop((9, 50), offsets=(0, 80))]) == []
    assert grouped([update(0), loop((0, 51))]) == [one_by_one(0, 1)]


def test_short_and_few_launches_are_no_group():
    launches = [loop((device, 8 + device)) for device in range(8)]
    assert grouped(launches, nanoseconds=LONG / 8) == [one_by_one(*range(8))]
    assert grouped(launches, nanoseconds=LONG / 9) == []
    assert grouped(launches[:1]) == []
    assert grouped(launches, nanoseconds=0.0) == []


def test_launches_that_are_cut_join_a_group_that_keeps_all_threads_busy(monkeypatch):
    launches = [loop((device, 8 + device)) for device in range(8)]
    monkeypatch.setattr(launch_groups, "min_parallel_extent", lambda: 8)
    assert grouped(launches, is_cut=True) == [one_by_one(*range(8))]
    monkeypatch.setattr(launch_groups, "min_parallel_extent", lambda: 9)
    assert grouped(launches, is_cut=True) == []


def test_launches_of_a_device_that_depend_on_each_other_are_one_chunk():
    layers = [loop((0, 10)), loop((10, 20)), loop((1, 11)), loop((11, 21)), loop((2, 12)), loop((12, 22))]
    positions = [each % 10 for each in range(100)]
    assert grouped(layers, positions=positions) == [((0, 1), (2, 3), (4, 5))]
    assert grouped(layers) == [one_by_one(1, 2), one_by_one(3, 4)]


def test_a_group_ends_where_a_device_needs_what_another_one_computes():
    positions = [each % 10 for each in range(100)]
    total = [loop((5, 30)), *(loop((30, 40 + device)) for device in range(3))]
    assert grouped(total, positions=positions) == [one_by_one(1, 2, 3)]
    layers = [loop((0, 10)), loop((1, 11)), loop((10, 11, 20)), loop((20, 30)), loop((20, 31))]
    assert grouped(layers, positions=positions) == [one_by_one(0, 1), one_by_one(3, 4)]


def test_what_needs_all_chains_begins_another_group():
    positions = [0] * 100
    assert grouped([loop((0, 1)), loop((2, 3)), loop((1, 3, 4))], positions=positions) == [one_by_one(0, 1)]


def test_chunks_of_many_launches_are_few(monkeypatch):
    monkeypatch.setattr(launch_groups, "share_of_a_chunk", lambda count: count // 3)
    assert grouped([loop((number, 10 + number)) for number in range(7)]) == [((0, 1), (2, 3), (4, 5), (6,))]


def elements(run, operand):
    """The elements of an operand that a run touches, one by one."""
    launch, rounds = run
    if launch.whole:
        return {*range(-1000, 1000)}
    extents = launch.params_in(rounds)[: launch.loops]
    strides = launch.params[launch.loops * (1 + operand) : launch.loops * (2 + operand)]
    start = launch.offsets_in(rounds)[operand]
    return {start + sum(map(int.__mul__, own, strides)) for own in product(*map(range, extents))}


@st.composite
def launch_lists(draw):
    """Launches of two loops over three buffers, with any strides, some of them repeated."""

    def launch(repeats):
        extents = [draw(st.integers(1, 4)) for _ in range(2)]
        operands = [draw(st.integers(0, 2)) for _ in range(2)]
        strides = [[draw(st.sampled_from([1, 1, 2, 0])), draw(st.sampled_from([4, 8, 8, 3, -8]))] for _ in operands]
        offsets = tuple(draw(st.sampled_from([32, 34, 36, 40])) for _ in operands)
        steps = tuple(tuple(draw(st.sampled_from([0, 32])) for _ in operands) for _ in range(repeats))
        params, whole = (*extents, *strides[0], *strides[1]), draw(st.sampled_from([(), (), (0,)]))
        return Launch("k", tuple(operands), params, 1, 1, offsets, steps=steps, whole=whole)

    def either():
        return Repeat(draw(st.integers(1, 3)), (launch(1), launch(1))) if draw(st.booleans()) else launch(0)

    return [either() for _ in range(draw(st.integers(2, 6)))]


@given(launch_lists(), st.sampled_from([(), (0, 0, 0), (0, 1, 1), (0, 1, 2)]))
def test_no_chunk_of_a_group_touches_what_another_one_writes(launches, positions):
    runs = [*runs_of(launches)]
    timed = [TimedLaunch(*run, LONG, is_cut=False) for run in runs]
    groups = [*groups_of(timed, Memories(3, range(3), positions=positions))]
    ends = [0, *(own.launches.stop for own in groups)]
    assert all(end <= own.launches.start for end, own in zip(ends, groups, strict=False))
    for own in groups:
        assert sorted(chain.from_iterable(own.chunks)) == [*own.launches]
        assert all(list(each) == sorted(each) for each in own.chunks)
        for chunk, others in permutations(own.chunks, 2):
            for one, other in product(chunk, others):
                written = elements(runs[one], 1)
                for operand, buffer in enumerate(runs[other][0].operands):
                    assert buffer != runs[one][0].operands[-1] or not elements(runs[other], operand) & written


def on(mesh, values, dim=0):
    """A tensor whose parts are on the devices of a mesh."""
    return ttnn.from_torch(values, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim))


def block(x, w, state):
    """Products, a sum over devices, gathered columns, an update in place."""
    hidden = ttnn.softmax(ttnn.matmul(x, w), -1)
    total = ttnn.all_reduce(hidden, cluster_axis=1)
    ttnn.add_(state, total)
    return ttnn.relu(ttnn.all_gather(hidden, 1)), ttnn.exp(state) + 1.0, x


@pytest.mark.usefixtures("shares_everything")
def test_no_bit_depends_on_the_threads_that_share_groups(groups, set_threads):
    torch.manual_seed(0)
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 4), target="cpu")
    layer = jit(enable_cache=False)(block)
    x, w, state = torch.randn(4 * 32, 40), torch.randn(4 * 40, 24), torch.randn(4 * 32, 24)
    results = []
    for threads in (1, 2, 5, 2, 5):
        set_threads(threads)
        own = on(mesh, state)
        for _ in range(3):
            made = layer(on(mesh, x), on(mesh, w), own)
        tensors = [each for value in (*made, own) for each in ttnn.get_device_tensors(value)]
        results.append([ttnn.to_torch(each) for each in tensors])
    assert all(all(map(torch.equal, own, results[0])) for own in results)
    assert any(((0, 1), (2, 3), (4, 5), (6, 7)) in own for own in groups), "the layers of the devices are one group"


@pytest.mark.usefixtures("shares_everything")
def test_traces_replay_groups(groups, set_threads):
    set_threads(2)
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 4), target="cpu", trace_region_size=1 << 20)
    layer = jit(enable_cache=False)(lambda x: ttnn.relu(ttnn.exp(x) + 1.0) * x)
    x = on(mesh, torch.randn(4 * 32, 32))
    layer(x)
    trace = ttnn.begin_trace_capture(mesh, cq_id=0)
    result = layer(x)
    ttnn.end_trace_capture(mesh, trace, cq_id=0)
    for _ in range(3):
        values = torch.randn(4 * 32, 32)
        ttnn.copy_host_to_device_tensor(ttnn.from_torch(values, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0)), x)
        ttnn.execute_trace(mesh, trace, cq_id=0)
        parts = torch.cat([ttnn.to_torch(each) for each in ttnn.get_device_tensors(result)])
        assert torch.allclose(parts, torch.relu(values.exp() + 1.0) * values, rtol=1e-5)
    assert [one_by_one(*range(4))] in groups


@pytest.mark.usefixtures("shares_everything")
def test_sizes_of_one_template_have_groups_of_their_own(groups, set_threads):
    set_threads(2)
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 4), target="cpu")
    layer = jit(enable_cache=False)(lambda x: ttnn.softmax(x * 0.5, -1))
    for rows in (32, 33, 70, 128):
        values = torch.randn(4 * rows, 48)
        parts = torch.cat([ttnn.to_torch(each) for each in ttnn.get_device_tensors(layer(on(mesh, values)))])
        assert torch.allclose(parts, torch.softmax(values * 0.5, -1), rtol=1e-4, atol=1e-6)
    assert groups.count([one_by_one(*range(4))]) >= 2


@pytest.mark.usefixtures("shares_everything")
def test_values_of_several_devices_are_kept_apart_where_they_are_small(groups, set_threads):
    set_threads(2)
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 4), target="cpu")
    layer = jit(enable_cache=False)(lambda x, w: ttnn.softmax(ttnn.matmul(x, w), -1))
    weights = torch.randn(64, 64) / 8
    w = ttnn.from_torch(weights, device=mesh, mesh_mapper=ttnn.ReplicateTensorToMesh(mesh))
    found = {}
    for rows in (32, 64, 4096, 96, 2048):
        values = torch.randn(4 * rows, 64)
        parts = torch.cat([ttnn.to_torch(each) for each in ttnn.get_device_tensors(layer(on(mesh, values), w))])
        assert torch.allclose(parts, torch.softmax(values @ weights, -1), rtol=1e-4, atol=1e-6)
        found[rows] = groups[-1]
    apart = [((0, 1), (2, 3), (4, 5), (6, 7))]
    assert [found[rows] == apart for rows in found] == [True, True, False, True, False]
