"""Jitted functions over ranks: a native call between two exchanges, with the bits of one process and of eager calls."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
import torch

import ttnn_jit
from tests.end_to_end.meshes.test_jitted_collectives import EVERY
from tests.end_to_end.ranks.collective_script import ROWS, TILES, digest_of, numbers
from tests.ranks import in_ranks
from ttnn_jit import ttnn
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.diagnostics.errors import DistributedError
from ttnn_jit.dialects import parse_module, print_module
from ttnn_jit.ops.collectives import rank_stages
from ttnn_jit.runtime.ranks.channel import Channel
from ttnn_jit.runtime.ranks.world import current_world

BOTH = pytest.mark.parametrize("captured", [False, True], ids=["ast", "capture"])


def line_of(marked):
    """The line of this file that ends with a comment."""
    lines = enumerate(Path(__file__).read_text().splitlines(), 1)
    return next(f"{__file__}:{number}" for number, line in lines if line.endswith(f"# {marked}"))


def opened(devices):
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, devices), target="cpu")
    mapper = ttnn.ShardTensorToMesh(mesh, dim=0)
    return mesh, ttnn.from_torch(torch.ones(8, 32), device=mesh, mesh_mapper=mapper)


# --- Bits -------------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("count", [2, 3, 8])
@pytest.mark.parametrize(
    ("dtype", "layout"),
    [(ttnn.bfloat16, TILES), (ttnn.float32, ROWS), (ttnn.bfloat8_b, TILES), (ttnn.uint16, ROWS)],
    ids=["bfloat16 in tiles", "float32 in rows", "block floats", "uint16"],
)
def test_collectives_in_programs_have_the_bits_of_one_process_and_of_eager_calls(dtype, layout, count, captured):
    def every(x, axis):
        found = [
            ttnn.all_gather(x, 0, cluster_axis=axis),
            ttnn.all_gather(x, 1, cluster_axis=axis),
            ttnn.all_reduce(x, cluster_axis=axis),
            ttnn.all_reduce(x, cluster_axis=axis, reduce_type="max"),
            ttnn.reduce_scatter(x, 1, cluster_axis=axis),
            ttnn.mesh_partition(x, 0, cluster_axis=axis),
            ttnn.all_broadcast(x, cluster_axis=axis)[1],
            ttnn.broadcast(x, [1, 2], cluster_axis=axis),
            ttnn.point_to_point(x, [0, 1], [1, 3]),
            ttnn.experimental.all_to_all_async_generic(x, 0, 1, cluster_axis=axis),
        ]
        if dtype is not ttnn.uint16:
            found.append(ttnn.all_reduce(x, cluster_axis=axis, reduce_type="mean"))
        return found

    jitted = ttnn_jit.jit(graph_capture=captured)(every)

    def script_of(function):
        def read(script):
            for axis in (0, 1, None):
                for each in function(script.x, axis):
                    script.read(each)

        return digest_of(read, dtype, layout)

    expected = script_of(every)()
    assert script_of(jitted)() == expected
    assert in_ranks(count, script_of(jitted)) == [expected] * count
    assert in_ranks(count, script_of(jitted)) == [expected] * count  # found in memory


def written(script):
    """Updates of arguments, persistent buffers, and results that are arguments."""
    x, mesh, read = script.x, script.mesh, script.read

    @ttnn_jit.jit()
    def updated(x, buffer, output):
        ttnn.add_(x, 1.0)
        gathered = ttnn.experimental.all_gather_async(x, buffer, 0, cluster_axis=0, multi_device_global_semaphore=[])
        sent = ttnn.point_to_point(x, [0, 1], [1, 2], output_tensor=output)
        return gathered, sent, x, ttnn.all_reduce(x, cluster_axis=1)

    def tensor(*shape):
        config = ttnn.MeshMapperConfig([ttnn.PlacementShard(0), ttnn.PlacementShard(1)])
        mapper = ttnn.create_mesh_mapper(mesh, config)
        return ttnn.from_torch(numbers(ttnn.float32, *shape), x.dtype, layout=x.layout, device=mesh, mesh_mapper=mapper)

    buffer, output = tensor(256, 256), tensor(128, 256)
    for _ in range(3):
        results = updated(x, buffer, output)
        assert results[0] is buffer
        assert results[1] is output
        assert results[2] is x
        for each in results:
            read(each)


def traced(script):
    """A trace of a program that exchanges, between an eager call and an eager collective."""
    x, mesh = script.x, script.mesh

    @ttnn_jit.jit()
    def program(y):
        return ttnn.exp(ttnn.all_reduce(y, cluster_axis=0)), ttnn.all_gather(y * 2.0, 0, cluster_axis=0)

    def calls():
        total, gathered = program(ttnn.add(x, 0.25))
        return ttnn.all_reduce(total), gathered

    calls()
    trace = ttnn.begin_trace_capture(mesh, cq_id=0)
    results = calls()
    ttnn.end_trace_capture(mesh, trace, cq_id=0)
    for step in range(3):
        ttnn.copy(ttnn.add(x, float(step)), x)
        ttnn.execute_trace(mesh, trace, cq_id=0, blocking=True)
        for result, eager in zip(results, calls(), strict=True):
            script.read(result)
            script.read(eager)
    ttnn.release_trace(mesh, trace)


def mixed_with_eager(script):
    @ttnn_jit.jit()
    def mixed(x, y):
        return ttnn.gelu(ttnn.multiply(x, 0.5)) + y, ttnn.reshape(y, (1, *y.shape))

    x = script.x
    for _ in range(3):  # compiled, found, warm
        total = ttnn.all_reduce(x, cluster_axis=1)
        own, row = mixed(x, total)
        assert own.tensor_topology() == x.tensor_topology()
        script.read(own)
        script.read(ttnn.squeeze(row, 0))
        script.read(ttnn.all_gather(own, 1, cluster_axis=0))
        x = own


@pytest.mark.parametrize("count", [2, 4, 8])
@pytest.mark.parametrize("script", [written, traced, mixed_with_eager])
def test_programs_over_ranks_are_those_of_one_process(script, count):
    run = digest_of(script, ttnn.bfloat16, TILES)
    assert in_ranks(count, run) == [run()] * count


@pytest.mark.parametrize("count", [4, 8])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b], ids=["bfloat16", "block floats"])
def test_large_sums_in_programs_have_two_stages_and_the_same_bits(dtype, count, monkeypatch):
    @ttnn_jit.jit()
    def jitted(x):
        kinds = [(axis, kind) for axis in (0, None) for kind in ("sum", "mean")]
        return [ttnn.all_reduce(x, cluster_axis=axis, reduce_type=kind) for axis, kind in kinds]

    def reductions(script):
        for each in jitted(script.x):
            script.read(each)

    run = digest_of(reductions, dtype, TILES)
    expected = run()
    monkeypatch.setattr(rank_stages, "STAGED_BYTES", 1)
    staged, exchange = [], Channel.exchange
    monkeypatch.setattr(
        Channel,
        "exchange",
        lambda self, call, *others, **named: (
            staged.append("in a program, second stage" in call.text),
            exchange(self, call, *others, **named),
        ),
    )
    assert in_ranks(count, run) == [expected] * count
    assert any(staged)


# --- One native call between two exchanges ----------------------------------------------------------------------------


def test_a_program_is_cut_at_its_exchanges_alone():
    @ttnn_jit.jit()
    def program(x):
        y = ttnn.all_reduce(ttnn.exp(x), cluster_axis=1)  # between the devices of a rank
        z = ttnn.all_gather(y, 0, cluster_axis=0)
        return ttnn.relu(z) + ttnn.all_reduce(z, cluster_axis=0)

    def run(_):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 4), target="cpu")
        x = ttnn.from_torch(torch.randn(8, 32), device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
        before = len(current_world().record.entries())
        program(x)
        exchanges = [entry.text for entry in current_world().record.entries()[before:]]
        text = program.ir(x)
        assert print_module(parse_module(text)) == text
        return exchanges, str(program.explain(x))

    for exchanges, report in in_ranks(2, run):
        assert [text.split("`")[1] for text in exchanges] == ["all_gather", "all_reduce"]
        assert report.count("to other ranks") == 2


def test_another_process_of_the_same_rank_compiles_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", str(tmp_path))

    def fresh():
        return ttnn_jit.jit()(lambda x: ttnn.exp(ttnn.all_reduce(x)))

    def run(_):
        _, x = opened(2)
        return ttnn.to_torch(ttnn.get_device_tensors(jitted(x))[0])

    jitted = fresh()
    first = in_ranks(2, run)
    before = COUNTERS.disk_hits
    jitted = fresh()
    for own, again in zip(first, in_ranks(2, run), strict=True):
        assert torch.equal(own, again)
    assert COUNTERS.disk_hits == before + 2


# --- Failures ---------------------------------------------------------------------------------------------------------


@ttnn_jit.jit()
def summed(x):
    y = ttnn.exp(x)
    return ttnn.all_reduce(y) + 1.0  # the sum


@ttnn_jit.jit(graph_capture=True)
def gathered(x):
    return ttnn.all_gather(ttnn.exp(x), 0)  # the gather


@ttnn_jit.jit()
def summed_of_another(x):
    return ttnn.all_reduce(ttnn.exp(x) * 2.0) + 1.0  # the other sum


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize(("other", "marked"), [(gathered, "the gather"), (summed_of_another, "the other sum")])
def test_ranks_that_call_different_programs_name_both_lines(other, marked, is_known):
    def run(rank):
        _, x = opened(4)
        if is_known:
            summed(x), other(x)
        return other(x) if rank == 2 else summed(x)

    for error in in_ranks(4, run):
        assert isinstance(error, DistributedError)
        assert line_of(marked) in error.message
        assert line_of("the sum") in error.message
        assert "rank 2" in error.message


def test_a_program_and_an_eager_call_of_one_collective_are_different():
    def run(rank):
        _, x = opened(2)
        return ttnn.all_reduce(x) if rank else summed(x)

    for error in in_ranks(2, run):
        assert isinstance(error, DistributedError)
        assert "in a program" in error.message
        assert line_of("the sum") in error.message


def test_specs_that_differ_are_found_before_data_is_read():
    def run(rank):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), target="cpu")
        x = ttnn.from_torch(torch.ones(4, 32), ttnn.bfloat16 if rank else ttnn.float32, device=mesh)
        return summed(x)

    for error in in_ranks(2, run):
        assert isinstance(error, DistributedError)
        assert re.search(r"FLOAT32 .* BFLOAT16|BFLOAT16 .* FLOAT32", error.message)


def test_a_lost_rank_is_named_at_the_line_inside_of_the_function():
    def run(rank):
        _, x = opened(8)
        summed(x)
        if rank == 1:
            raise KeyboardInterrupt  # ends the rank
        return summed(x)

    errors = in_ranks(4, run)
    for error in [errors[0], *errors[2:]]:
        assert isinstance(error, DistributedError)
        assert re.search(r"rank 1 .* with devices 2 to 3 was lost: .* in `all_reduce`", error.message)
        assert f"{error.location.file}:{error.location.line}" == line_of("the sum")


def test_a_late_rank_is_an_error_within_the_timeout_and_a_broken_mesh_refuses_programs():
    release = threading.Event()
    plain = ttnn_jit.jit()(lambda x: ttnn.exp(x) + 1.0)

    def run(rank):
        _, x = opened(2)
        if rank == 1:
            release.wait(20)
            return None
        try:
            with pytest.raises(DistributedError, match=r"rank 1 .* took no part within 0.3 s, in `all_reduce`"):
                summed(x)
            for _ in range(3):
                with pytest.raises(DistributedError, match="nothing more since a failure") as refused:
                    summed(x)
                assert f"{refused.value.location.file}:{refused.value.location.line}" == line_of("the sum")
            plain(x)
            entries = current_world().record.entries()
            assert line_of("the sum") in entries[0].text
            return [entry.state for entry in entries]
        finally:
            release.set()

    assert in_ranks(2, run, timeout=0.3)[0] == ["began", "failed"]


def test_every_collective_of_a_mesh_may_be_in_a_program_over_ranks():
    def run(_):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 4), target="cpu")
        made = torch.Generator().manual_seed(3)
        data = torch.randn(16, 24, 5, generator=made)
        x = ttnn.from_torch(data, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
        for name, (_, function) in EVERY.items():
            for axis in (0, 1):
                jitted = ttnn_jit.jit()(lambda x, function=function, axis=axis: function(x, axis))
                found, expected = jitted(x), function(x, axis)
                pairs = zip(found, expected, strict=True) if isinstance(found, list) else [(found, expected)]
                for own, other in pairs:
                    assert own.tensor_topology() == other.tensor_topology(), name
                    for one, two in zip(own.tensors, other.tensors, strict=True):
                        assert torch.equal(ttnn.to_torch(one), ttnn.to_torch(two)), name
        return True

    assert in_ranks(4, run) == [True] * 4


# --- Meshes and tensors of some devices -------------------------------------------------------------------------------


@ttnn_jit.jit()
def summed_and_gathered(x):
    return ttnn.relu(ttnn.all_reduce(x)) + 1.0, ttnn.all_gather(x, 1)


@pytest.mark.parametrize("count", [2, 4])
def test_programs_of_tensors_on_some_devices_have_the_bits_of_eager_calls(count):
    def run(_):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 4), target="cpu")
        config = ttnn.MeshMapperConfig([ttnn.PlacementReplicate(), ttnn.PlacementShard(1)], ttnn.MeshShape(2, 3))
        mapper = ttnn.create_mesh_mapper(mesh, config)
        x = ttnn.from_torch(torch.arange(96.0).reshape(1, 96), device=mesh, mesh_mapper=mapper)
        for _ in range(3):
            for own, other in zip(summed_and_gathered(x), summed_and_gathered.func(x), strict=True):
                assert own.tensor_topology() == other.tensor_topology()
                assert [*own.numbers] == [*other.numbers]
                for one, two in zip(own.tensors, other.tensors, strict=True):
                    assert torch.equal(ttnn.to_torch(one), ttnn.to_torch(two))
        return True

    assert in_ranks(count, run) == [True] * count


def test_ranks_that_share_a_submesh_exchange_alone():
    def run(rank):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 4), target="cpu")
        part = mesh.create_submesh(ttnn.MeshShape(1, 2), [0, 1])
        if rank in {0, 3}:
            return [0.0]
        data = torch.arange(128.0).reshape(4, 32)
        x = ttnn.from_torch(data, device=part, mesh_mapper=ttnn.ShardTensorToMesh(part, dim=0))
        return [ttnn.to_torch(summed_and_gathered(x)[0].tensors[0]).sum().item() for _ in range(3)]

    assert in_ranks(4, run) == [[0.0], [8192.0] * 3, [8192.0] * 3, [0.0]]
