"""Ranks that disagree, are lost or are late: every other rank gets an error that says so, and nothing hangs."""

from __future__ import annotations

import re
import threading
import timeit
from pathlib import Path

import pytest
import torch

from tests.ranks import in_ranks
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, DistributedError
from ttnn_jit.runtime.ranks import world
from ttnn_jit.runtime.ranks.in_process import InProcessTransport
from ttnn_jit.runtime.ranks.rank_environment import Binding
from ttnn_jit.runtime.ranks.termination import interrupted_location
from ttnn_jit.runtime.ranks.world import current_world


@pytest.fixture(params=[False, True], ids=["", "early"], autouse=True)
def receives_early(request, monkeypatch):
    """Whether ranks await the next header of another one before they need it, as between processes."""
    monkeypatch.setattr(InProcessTransport, "receives_early", request.param)


def opened(devices):
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, devices), target="cpu")
    mapper = ttnn.ShardTensorToMesh(mesh, dim=0)
    return mesh, ttnn.from_torch(torch.randn(8, 32), device=mesh, mesh_mapper=mapper)


def line_of(marked):
    """The line of this file that ends with a comment."""
    lines = enumerate(Path(__file__).read_text().splitlines(), 1)
    return next(f"{__file__}:{number}" for number, line in lines if line.endswith(f"# {marked}"))


def test_ranks_that_call_different_operations_name_both_lines():
    def run(rank):
        _, x = opened(4)
        if rank == 2:
            return ttnn.all_gather(x, 0)  # the odd one
        return ttnn.all_reduce(x)  # the others

    errors = in_ranks(4, run)
    for error in errors:
        assert isinstance(error, DistributedError)
        assert "`all_gather` (dim=0, cluster_axis=None) of [2, 32] FLOAT32 ROW_MAJOR" in error.message
        assert line_of("the odd one") in error.message
        assert line_of("the others") in error.message
        assert "rank 2" in error.message
        assert "with device 2" in error.message


def test_calls_in_another_order_are_found_though_all_are_known_and_of_one_size():
    def run(rank):
        _, x = opened(2)
        first, second = (lambda: ttnn.all_reduce(x)), (lambda: ttnn.all_reduce(x, reduce_type="max"))
        for call in (first, second):
            call()
        for call in (first, second) if rank else (second, first):
            call()

    for error in in_ranks(2, run):
        assert isinstance(error, DistributedError)
        assert "ranks disagree on exchange 3" in error.message
        assert "reduce_type='sum'" in error.message
        assert "reduce_type='max'" in error.message


def test_a_call_that_one_rank_leaves_out_is_found_at_the_next():
    def run(rank):
        _, x = opened(2)
        for index in range(4):
            if not (rank == 1 and index == 2):
                ttnn.all_reduce(x)
        ttnn.all_reduce(x)

    found = in_ranks(2, run, timeout=2)
    assert all(isinstance(error, DistributedError) for error in found[:1])
    assert "was lost: it closed its connections, in `all_reduce`" in found[0].message


def test_specs_that_differ_are_an_error_and_no_garbage():
    def run(rank):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), target="cpu")
        dtype = ttnn.bfloat16 if rank else ttnn.float32
        x = ttnn.from_torch(torch.randn(4, 32), dtype, device=mesh)
        return ttnn.all_gather(x, 0)

    for error in in_ranks(2, run):
        assert isinstance(error, DistributedError)
        assert re.search(r"FLOAT32 .* BFLOAT16|BFLOAT16 .* FLOAT32", error.message)


def test_a_lost_rank_is_named_with_its_devices_on_every_other():
    def run(rank):
        _, x = opened(8)
        ttnn.all_reduce(x)
        if rank == 1:
            raise KeyboardInterrupt  # ends the rank
        return ttnn.all_reduce(x)

    errors = in_ranks(4, run)
    for error in [errors[0], *errors[2:]]:
        assert isinstance(error, DistributedError)
        assert re.search(
            r"rank 1 \(process \d+ on [\w.-]+\) with devices 2 to 3 was lost: .* in `all_reduce`", error.message
        )
        assert error.location is not None
        assert error.location.file == __file__


def test_a_late_rank_is_an_error_within_the_timeout_and_a_broken_mesh_refuses_calls():
    release = threading.Event()

    def run(rank):
        _, x = opened(2)
        if rank == 1:
            release.wait(20)
            return None
        try:
            with pytest.raises(DistributedError, match=r"rank 1 .* took no part within 0.3 s, in `all_reduce`"):
                ttnn.all_reduce(x)
            with pytest.raises(DistributedError, match=r"`all_gather` .*nothing more since a failure: rank 1"):
                ttnn.all_gather(x, 0)
            with pytest.raises(DistributedError, match="nothing more"):
                ttnn.distributed_context_barrier()
            return [entry.state for entry in current_world().record.entries()]
        finally:
            release.set()

    assert in_ranks(2, run, timeout=0.3)[0] == ["began", "failed"]


def test_a_device_of_another_rank_refuses_use_and_a_mesh_has_a_device_for_every_rank():
    def run(rank):
        mesh, x = opened(2)
        assert [device.id() for device in mesh.members()] == [rank]
        assert mesh.get_device_ids() == [0, 1]
        assert [mesh.get_view().is_local((0, number)) for number in (0, 1)] == [rank == 0, rank == 1]
        assert len(ttnn.get_device_tensors(x)) == 1
        with pytest.raises(DistributedError, match=f"device {1 - rank} is of rank {1 - rank}"):
            ttnn.zeros((2, 2), device=mesh.devices[1 - rank])
        with pytest.raises(ArgumentError, match="a mesh of 1 devices cannot be shared by 2 ranks"):
            ttnn.open_mesh_device(ttnn.MeshShape(1, 1), target="cpu")
        return True

    assert in_ranks(2, run) == [True, True]


def test_ranks_with_one_position_are_refused():
    for error in in_ranks(2, lambda _: None, bindings=[Binding(0, 0), Binding(0, 0)]):
        assert isinstance(error, DistributedError)
        assert "have position 0 in mesh 0" in error.message


def test_an_end_that_interrupts_a_library_is_at_the_line_that_called_it():
    found = []
    known = {"found": found, "interrupted_location": interrupted_location}
    timeit.timeit("found.append(interrupted_location())", globals=known, number=1)  # the line
    assert [f"{each.file}:{each.line}" for each in found] == [line_of("the line")]


def test_exchanges_of_all_sizes_follow_each_other():
    def run(rank):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 3), target="cpu")
        ends = ttnn.MeshCoordinate(0, 2), ttnn.MeshCoordinate(0, 0)
        found = []
        for rows in (1, 300, 2, 5000, 300, 1):  # with the header, and in messages of their own
            values = torch.arange(3.0 * rows * 32).reshape(3 * rows, 32)
            x = ttnn.from_torch(values, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
            (gathered,) = ttnn.get_device_tensors(ttnn.all_gather(x, 0))
            (part,) = ttnn.get_device_tensors(ttnn.point_to_point(x, *ends))
            own = values.chunk(3)[rank if rank else 2]
            found += [torch.equal(ttnn.to_torch(gathered), values), torch.equal(ttnn.to_torch(part), own)]
        return found

    assert in_ranks(3, run) == [[True] * 12] * 3


def test_a_rank_that_did_not_meet_the_others_keeps_its_error_when_the_launcher_ends_it(monkeypatch):
    def not_met(location):
        raise DistributedError("the ranks did not meet", location=location)

    monkeypatch.setattr(world, "_met_in_thread", not_met)
    monkeypatch.setattr(world, "_WORLDS", [])
    monkeypatch.setattr(world, "_NOT_MET", [])
    monkeypatch.setattr(world, "there_are_ranks", lambda: True)
    with pytest.raises(DistributedError, match="before it had met the others"):
        world._end()
    with pytest.raises(DistributedError, match="the ranks did not meet"):
        world.join_world()
    world._end()
