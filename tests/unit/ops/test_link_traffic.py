"""The bytes that collectives move over links at least, and the fit of their times."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.collectives import device_exchanges
from ttnn_jit.ops.collectives.link_fit import TARGETS, link_fit
from ttnn_jit.ops.collectives.link_traffic import link_traffic
from ttnn_jit.ops.families.collective import Join, Shard, Slice
from ttnn_jit.specs.meshes.machine import MACHINES, Machine, resolve_machine
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.meshes.mesh_shape import MeshShape

WIDTH = 240  # a multiple of every number of devices here


def row(count, *, ring=True, links=1):
    return Machine("row", (count,), links, (ring,), 1e9)


def elements(collective, machine, *statics, mesh=None, shape=(4, WIDTH)):
    mesh = MeshShape(mesh or machine.mesh)
    devices = MeshDevices(mesh, tuple(range(mesh.mesh_size())))
    results = collective.exchanged(devices, [shape], statics)
    return link_traffic(results, [shape], 1, mesh, machine).nbytes


@pytest.mark.parametrize("count", [3, 4, 5, 8])
@pytest.mark.parametrize("links", [1, 4])
def test_on_a_ring_the_bound_is_what_the_best_algorithms_of_rings_move(count, links):
    whole, machine = 4 * WIDTH, row(count, links=links)
    moved = {
        "all_gather": (count - 1) * whole / 2,
        "reduce_scatter": (count - 1) / count * whole / 2,
        "all_reduce": 2 * (count - 1) / count * whole / 2,
        "all_broadcast": (count - 1) * whole / 2,
    }
    found = {
        "all_gather": elements(device_exchanges.ALL_GATHER, machine, 1, 0),
        "reduce_scatter": elements(device_exchanges.REDUCE_SCATTER, machine, 1, "sum", 0),
        "all_reduce": elements(device_exchanges.ALL_REDUCE, machine, "sum", 0),
        "all_broadcast": elements(device_exchanges.ALL_BROADCAST, machine, 0),
    }
    assert found == pytest.approx({name: number / links for name, number in moved.items()})


@pytest.mark.parametrize("count", [2, 4, 8])
def test_on_a_line_the_link_of_an_end_moves_the_tensors_of_all_others(count):
    assert elements(device_exchanges.ALL_GATHER, row(count, ring=False), 1, 0) == (count - 1) * 4 * WIDTH


def test_a_part_of_the_own_tensor_moves_nothing():
    assert elements(device_exchanges.MESH_PARTITION, row(4), 1, 0) == 0


@pytest.mark.parametrize(("sender", "receiver", "expected"), [(0, 1, 4 * WIDTH), (0, 7, 2 * WIDTH), (2, 2, 0)])
def test_a_tensor_sent_to_one_device_takes_the_links_between_the_two_or_leaves_by_all(sender, receiver, expected):
    machine = Machine("corner", (2, 4), 1, (False, False), 1e9)  # a corner has two links
    pairs = tuple((sender if device == receiver else device, device) for device in range(8))
    assert elements(device_exchanges.COLLECTIVE_PERMUTE, machine, pairs, None) == expected


@given(st.integers(2, 6), st.integers(0, 12), st.integers(0, 12), st.data())
def test_halves_that_overlap_are_counted_once(count, before, after, data):
    """A device that needs two overlapping parts of a neighbour's tensor gets their union."""
    first, last = before, before + after + 1
    begin = data.draw(st.integers(first, last - 1))
    end = data.draw(st.integers(begin + 1, last + 5))
    result = Join(1, (Slice(Shard(1), 1, first, last), Slice(Shard(1), 1, begin, end)))
    mesh = MeshShape(count)
    traffic = link_traffic({0: (result,)}, [(4, WIDTH)], 1, mesh, row(count, ring=False))
    assert traffic.nbytes == 4 * len({*range(first, last), *range(begin, end)})
    assert traffic.devices == 2


def test_a_program_on_an_axis_uses_the_links_of_that_axis():
    galaxy = MACHINES["galaxy"]
    along = [elements(device_exchanges.ALL_GATHER, galaxy, 1, axis) for axis in (0, 1)]
    assert along == [7 * 4 * WIDTH / 2 / 4, 3 * 4 * WIDTH / 2 / 4]


def test_a_mesh_lies_along_the_axes_of_the_machine_in_any_order():
    galaxy = MACHINES["galaxy"]
    assert elements(device_exchanges.ALL_GATHER, galaxy, 1, 1, mesh=(4, 8)) == 7 * 4 * WIDTH / 2 / 4
    assert elements(device_exchanges.ALL_GATHER, galaxy, 1, 1, mesh=(1, 4)) == 3 * 4 * WIDTH / 2 / 4  # a ring
    # Four of the eight chips of a line are no ring.
    assert elements(device_exchanges.ALL_GATHER, Machine("line", (8,), 1, (True,), 1e9), 1, 0, mesh=(4,)) == (
        3 * 4 * WIDTH
    )


def test_a_row_of_devices_runs_through_the_rows_of_the_machine():
    links = MACHINES["t3000"].links_between(MeshShape(1, 8), range(8))
    assert {each.devices for each in links} >= {(number, number + 1) for number in range(3)} | {(3, 4)}
    assert len(links) == 10  # of 2 x 4 chips: 6 within rows, 4 between them


@pytest.mark.parametrize("mesh", [(4, 4), (1, 9), (3, 3, 3)])
def test_a_mesh_that_does_not_fit_is_refused(mesh):
    with pytest.raises(ArgumentError, match="does not fit t3000, which is 2 x 4"):
        MACHINES["t3000"].links_between(MeshShape(mesh), range(math.prod(mesh)))


def test_the_fit_is_a_latency_and_a_rate_with_errors_of_targets_left_out():
    fit = link_fit()
    assert len(TARGETS) == 21
    assert fit.latency * 1e6 == pytest.approx(13.25, abs=0.01)
    assert fit.bytes_per_second / 1e9 == pytest.approx(2.277, abs=0.001)
    assert (round(fit.median_error, 2), round(fit.worst_error, 2)) == (0.14, 0.71)


def test_links_alone_say_four_to_seven_times_less_than_large_targets():
    rate = MACHINES["galaxy"].bytes_per_second
    ratios = [each.microseconds / 1e6 / (each.nbytes() / rate) for each in TARGETS if each.rows > 128]
    assert (round(min(ratios), 1), round(max(ratios), 1)) == (4.1, 6.8)


def test_a_target_moves_the_bytes_that_a_ring_moves():
    for target in TARGETS:
        count, whole = (8, 4)[target.axis], target.element_bytes * target.rows * target.columns
        moved = (count - 1) * whole / 2 if target.collective is device_exchanges.ALL_GATHER else None
        expected = (count - 1) / count * whole / 2 if moved is None else moved
        assert target.nbytes() == pytest.approx(expected / 4)


def test_a_machine_is_a_name_or_json_or_a_file_of_it(tmp_path):
    text = json.dumps({"name": "mine", "mesh": [2, 2], "links": 1, "rings": [False, False], "bytes_per_second": 5e10})
    (tmp_path / "mine.json").write_text(text)
    assert (
        resolve_machine(text)
        == resolve_machine(str(tmp_path / "mine.json"))
        == Machine("mine", (2, 2), 1, (False, False), 5e10)
    )
    assert resolve_machine("galaxy").mesh == (8, 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"links": 0}, "`links` is 0"),
        ({"mesh": []}, r"`mesh` is \[\]"),
        ({"rings": [True]}, "a value for each axis"),
        ({"bytes_per_second": "fast"}, "`bytes_per_second` is 'fast'"),
        ({"more": 1}, "describes no machine"),
    ],
)
def test_a_wrong_machine_is_refused(change, message):
    values = {"name": "mine", "mesh": [2, 2], "links": 1, "rings": [False, False], "bytes_per_second": 5e10}
    with pytest.raises(ArgumentError, match=message):
        resolve_machine(json.dumps(values | change))


@pytest.mark.parametrize("machine", ["t4000", "/nowhere/mine.json", 8])
def test_an_unknown_machine_is_refused(machine):
    with pytest.raises(ArgumentError, match="machine"):
        resolve_machine(machine)
