"""Collectives over several devices: every declaration against its golden, the order of sums, memory, and traces."""

from __future__ import annotations

import weakref
from pathlib import Path

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, DeallocatedError, ShapeError
from ttnn_jit.ops.collectives.device_exchanges import COLLECTIVES
from ttnn_jit.ops.language.parameter import DIMENSION, TENSOR, Parameter
from ttnn_jit.ttnn.meshes.exchange import exchange

MESHES = [((2, 4), None), ((2, 4), 0), ((2, 4), 1), ((1, 3), None), ((3, 2), 0), ((2, 2, 2), 2)]
SEMAPHORES = {"multi_device_global_semaphore": []}
CALLS = {
    "all_gather": (("all_gather", 1), lambda x, axis: ttnn.all_gather(x, 1, cluster_axis=axis, num_links=2)),
    "all_gather of the last dimension": (
        ("all_gather", -1),
        lambda x, axis: ttnn.experimental.all_gather_async(x, None, 2, cluster_axis=axis, **SEMAPHORES),
    ),
    "reversed": (
        ("all_gather_reversed", 0),
        lambda x, axis: ttnn.experimental.all_gather_async_reversed(x, dim=0, cluster_axis=axis, **SEMAPHORES),
    ),
    "all_broadcast": (("all_broadcast",), lambda x, axis: ttnn.all_broadcast(x, cluster_axis=axis)),
    "all_reduce": (("all_reduce", "sum"), lambda x, axis: ttnn.all_reduce(x, cluster_axis=axis)),
    "the largest": (
        ("all_reduce", "max"),
        lambda x, axis: ttnn.experimental.all_reduce_async(
            x, axis, x.device(), None, None, None, ttnn.ReduceType.Max, topology=ttnn.Topology.Linear
        ),
    ),
    "reduce_scatter": (("reduce_scatter", 1, "sum"), lambda x, axis: ttnn.reduce_scatter(x, -2, cluster_axis=axis)),
    "reduce_scatter by name": (
        ("reduce_scatter", 1, "min"),
        lambda x, axis: ttnn.reduce_scatter(x, 1, cluster_axis=axis, reduce_type="min"),
    ),
    "mesh_partition": (("mesh_partition", 1), lambda x, axis: ttnn.mesh_partition(x, 1, cluster_axis=axis)),
    "all_to_all": (
        ("all_to_all", 0, 1),
        lambda x, axis: ttnn.experimental.all_to_all_async_generic(x, 0, 1, cluster_axis=axis),
    ),
    "neighbor_pad": (
        ("neighbor_pad", 1, 2, 1, "zeros"),
        lambda x, axis: ttnn.experimental.neighbor_pad_async(x, 1, 2, 1, "zeros", axis),
    ),
    "neighbor_pad of one side": (
        ("neighbor_pad", 2, 0, 3, "replicate"),
        lambda x, axis: ttnn.experimental.neighbor_pad_async(x, 2, 0, 3, "replicate", axis),
    ),
    "slice_reshard": (
        ("slice_reshard", 1, 7, 48),
        lambda x, axis: ttnn.experimental.slice_reshard_async(x, 1, 7, 48, axis),
    ),
}
BY_NAME = {each.name: each for each in COLLECTIVES}


def opened(shape):
    return ttnn.open_mesh_device(ttnn.MeshShape(shape), target="cpu")


def on(mesh, shards, **keywords):
    """A tensor of a mesh with these shards."""
    mapper = ttnn.ShardTensorToMesh(mesh, 0)
    return ttnn.from_torch(torch.cat([*shards]), device=mesh, mesh_mapper=mapper, **keywords)


def shards_of(tensor):
    return [ttnn.to_torch(own) for own in ttnn.get_device_tensors(tensor)]


def groups(shape, axis):
    numbers = torch.arange(ttnn.MeshShape(shape).mesh_size()).reshape(shape)
    return [numbers.flatten()] if axis is None else numbers.movedim(axis, -1).reshape(-1, shape[axis])


def distinct(count, shape=(2, 24, 5)):
    return [torch.arange(240, dtype=torch.int32).reshape(shape) + 1000 * number for number in range(count)]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("shape", "axis"), MESHES)
def test_every_device_gets_what_the_golden_says(shape, axis, call):
    (name, *statics), function = CALLS[call]
    mesh = opened(shape)
    given = distinct(mesh.get_num_devices())
    result = function(on(mesh, given), axis)
    listed = [shards_of(each) for each in result] if isinstance(result, list) else [shards_of(result)]
    for group in groups(shape, axis):
        wanted = BY_NAME[name].golden(torch, [given[number] for number in group], *statics)
        for number, expected in zip(group, wanted, strict=True):
            for found, each in zip(listed, expected if isinstance(expected, list) else [expected], strict=True):
                assert torch.equal(found[number], each.to(torch.int32))
    assert mesh.num_program_cache_entries() == 1


def test_the_collective_of_the_documentation_runs():
    page = (Path(__file__).parents[3] / "docs" / "adding_an_operation.md").read_text()
    block = page.partition("## Collective")[2].partition("```python\n")[2].partition("```")[0]
    names = {"Parameter": Parameter, "TENSOR": TENSOR, "DIMENSION": DIMENSION}
    exec(block.partition("of_first")[0], names)
    declared, given = names["WITH_NEXT"], distinct(8)
    found = shards_of(exchange("with_next", declared, on(opened((2, 4)), given), 2, cluster_axis=1))
    for group in groups((2, 4), 1):
        wanted = declared.golden(torch, [given[number] for number in group], 2)
        assert all(torch.equal(found[number], each) for number, each in zip(group, wanted, strict=True))


@pytest.mark.parametrize("call", range(len(CALLS)), ids=[*CALLS])
@pytest.mark.parametrize(("shape", "axis"), [((2, 4), 1), ((1, 3), None)])
def test_a_call_that_repeats_the_steps_of_an_earlier_one_reads_its_own_operands(shape, axis, call):
    _, function = [*CALLS.values()][call]
    mesh = opened(shape)
    count = mesh.get_num_devices()
    for _ in range(3):
        shards = [torch.randn(2, 24, 4) for _ in range(count)]
        x = on(mesh, shards)
        again, fresh = function(x, axis), function(on(opened(shape), shards), axis)
        pairs = zip(*(each if isinstance(each, list) else [each] for each in (again, fresh)), strict=True)
        for one, other in pairs:
            assert one.tensor_topology() == other.tensor_topology()
            assert all(map(torch.equal, shards_of(one), shards_of(other)))
            assert not any(part is own for part in one.tensors for own in x.tensors)


def test_the_steps_of_collectives_keep_no_tensor_and_refuse_deallocated_ones():
    mesh = opened((1, 4))
    calls = [
        lambda x: ttnn.all_gather(x, 0),
        ttnn.all_reduce,
        lambda x: ttnn.broadcast(x, [0, 1]),
        lambda x: ttnn.reduce_scatter(x, 0),
    ]
    for call in calls:
        x = on(mesh, [torch.randn(4, 8) for _ in range(4)])
        call(x)
        parts = [weakref.ref(part) for part in x.tensors]
        del x
        assert not any(part() for part in parts)
        for y in (on(mesh, [torch.randn(4, 8) for _ in range(4)]) for _ in range(2)):
            call(y)
            ttnn.deallocate(y)
            with pytest.raises(DeallocatedError):
                call(y)


def test_every_collective_is_tested():
    assert {name for (name, *_), _ in CALLS.values()} == BY_NAME.keys() - {
        "broadcast",
        "collective_broadcast",
        "point_to_point",
        "receive",
        "collective_permute",
        "gather_from_others",
        "part_of_device",
        "device_position",
        "mesh_shard",
    }


# --- Sums -------------------------------------------------------------------------------------------------------------


def tree_sum(terms):
    """The order of sums, stated a second time: a left and a right half, the left a power of two of at least half."""
    if len(terms) == 1:
        return terms[0].float()
    left = 1 << (len(terms) - 1).bit_length() - 1
    return tree_sum(terms[:left]) + tree_sum(terms[left:])


def chain_sum(terms):
    total = terms[0].float()
    for term in terms[1:]:
        total = total + term.float()
    return total


@pytest.mark.parametrize("count", [2, 3, 5, 6, 7, 8])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("target", ["cpu", None])
def test_sums_are_a_tree_over_devices_in_float32_rounded_once(count, dtype, target):
    generator = torch.Generator().manual_seed(count)
    given = [torch.randn(1, 64, 32, generator=generator).mul(10.0**-number).to(dtype) for number in range(count)]
    mesh = ttnn.open_mesh_device((1, count), target=target)
    expected = tree_sum(given).to(dtype)
    x = on(mesh, given, layout=ttnn.TILE_LAYOUT)
    assert all(torch.equal(own, expected) for own in shards_of(ttnn.all_reduce(x)))
    if count in (2, 8):
        scattered = torch.cat(shards_of(ttnn.reduce_scatter(x, 1)), 1)
        assert torch.equal(scattered, expected)
    if count > 3:
        assert dtype is torch.bfloat16 or not torch.equal(chain_sum(given).to(dtype), expected)
        rounded = given[0]
        for term in given[1:]:
            rounded = rounded + term
        assert not torch.equal(rounded, expected)


def test_the_sum_over_two_axes_runs_along_one_after_the_other_and_is_rounded_once():
    given = [torch.randn(1, 64, 32).mul(10.0**-number).bfloat16() for number in range(6)]
    mesh = opened((3, 2))
    columns = [tree_sum(given[column::2]) for column in (0, 1)]
    expected = (columns[0] + columns[1]).bfloat16()
    x = on(mesh, given)
    assert all(torch.equal(own, expected) for own in shards_of(ttnn.all_reduce(x)))
    assert not torch.equal((columns[0].bfloat16() + columns[1].bfloat16()), expected)
    exact = [each.float() for each in given]
    found = shards_of(ttnn.all_reduce(on(mesh, exact)))[0]
    assert torch.equal(found, tree_sum(exact[::2]) + tree_sum(exact[1::2]))
    assert not torch.equal(found, tree_sum(exact))


def test_sums_of_integers_keep_the_low_bits_and_replicated_ones_are_counted():
    mesh = opened((2, 4))
    large = torch.full((1, 4, 8), 2**31 - 3, dtype=torch.int32)
    assert all((own == (8 * (2**31 - 3)) % 2**32).all() for own in shards_of(ttnn.all_reduce(on(mesh, [large] * 8))))
    ones = ttnn.from_torch(torch.ones(32, 32), device=mesh)
    for axis, count in ((None, 8), (0, 2), (1, 4)):
        assert all((own == count).all() for own in shards_of(ttnn.all_reduce(ones, cluster_axis=axis)))


def test_other_reductions_run_over_devices_too():
    given = [torch.randn(1, 8, 16) for _ in range(3)]
    x = on(opened((1, 3)), given)

    def reduced(kind):
        return shards_of(ttnn.all_reduce(x, reduce_type=kind))[1]

    assert torch.equal(reduced(ttnn.ReduceType.Mean), tree_sum(given) / 3)
    assert torch.equal(reduced("prod"), given[0] * given[1] * given[2])
    assert torch.equal(reduced("max"), torch.stack(given).amax(0))
    for kind in (ttnn.ReduceType.Std, ttnn.ReduceType.Var, "median"):
        with pytest.raises(ArgumentError, match=r"all_reduce: collectives do not reduce by '(std|var|median)'"):
            reduced(kind)
    with pytest.raises(ArgumentError, match="both `math_op` and `reduce_type`"):
        ttnn.all_reduce(x, reduce_type="sum", math_op=ttnn.ReduceType.Sum)


# --- One sender -------------------------------------------------------------------------------------------------------


def test_a_broadcast_sends_the_tensor_of_one_device():
    given, mesh = distinct(8), opened((2, 4))
    x = on(mesh, given)
    assert all(torch.equal(own, given[6]) for own in shards_of(ttnn.broadcast(x, ttnn.MeshCoordinate(1, 2))))
    along = shards_of(ttnn.broadcast(x, ttnn.MeshCoordinate(1, 2), cluster_axis=1))
    assert all(torch.equal(own, given[number // 4 * 4 + 2]) for number, own in enumerate(along))
    with pytest.raises(ArgumentError, match="there is no device at"):
        ttnn.broadcast(x, ttnn.MeshCoordinate(2, 0))


def test_a_tensor_sent_to_one_device_replaces_its_own_and_no_other():
    given, mesh = distinct(8), opened((2, 4))
    x = on(mesh, given)
    sent = ttnn.point_to_point(x, ttnn.MeshCoordinate(0, 1), ttnn.MeshCoordinate(1, 3))
    assert all(torch.equal(own, given[1 if number == 7 else number]) for number, own in enumerate(shards_of(sent)))
    output = on(mesh, [torch.zeros_like(each) for each in given])
    assert ttnn.point_to_point(x, (0, 0), (0, 2), output_tensor=output) is output
    assert [own.any().item() for own in shards_of(output)] == [number == 2 for number in range(8)]
    assert torch.equal(shards_of(output)[2], given[0])
    assert torch.equal(shards_of(x)[7], given[7])


# --- Memory -----------------------------------------------------------------------------------------------------------


def test_persistent_buffers_receive_the_result_and_keep_their_addresses():
    given, mesh = distinct(2), opened((1, 2))
    x = on(mesh, given)
    buffer, other = on(mesh, [torch.zeros(2, 48, 5).int()] * 2), on(mesh, [torch.zeros(2, 12, 5).int()] * 2)
    addresses = [own.buffer_address() for own in ttnn.get_device_tensors(buffer)]
    for _ in range(2):
        assert ttnn.experimental.all_gather_async(x, buffer, 1, **SEMAPHORES) is buffer
    assert [own.buffer_address() for own in ttnn.get_device_tensors(buffer)] == addresses
    assert all(torch.equal(own, torch.cat(given, 1)) for own in shards_of(buffer))
    assert ttnn.experimental.reduce_scatter_minimal_async(x, [buffer, other], 1, **SEMAPHORES) is other
    assert torch.equal(torch.cat(shards_of(other), 1), given[0] + given[1])
    tiled = on(mesh, [torch.zeros(2, 48, 5).int()] * 2, layout=ttnn.TILE_LAYOUT)
    assert all(torch.equal(own, torch.cat(given, 1)) for own in shards_of(ttnn.all_gather(x, 1, output_tensor=tiled)))
    with pytest.raises(ShapeError, match=r"all_gather: `output_tensor` is .*, and the result has shape \[2, 48, 5\]"):
        ttnn.all_gather(x, 1, output_tensor=other)
    with pytest.raises(ArgumentError, match="`output_tensor` is on"):
        ttnn.all_gather(x, 1, output_tensor=on(opened((1, 2)), [torch.zeros(2, 48, 5).int()] * 2))


def test_results_have_memory_of_their_own_and_the_config_that_was_requested():
    mesh = ttnn.open_mesh_device((1, 2))
    given = [torch.randn(1, 32, 64) for _ in range(2)]
    x = on(mesh, given, layout=ttnn.TILE_LAYOUT, memory_config=ttnn.L1_MEMORY_CONFIG)
    sent = ttnn.broadcast(x, (0, 0))
    ttnn.add_(sent, 1.0)
    assert torch.equal(shards_of(x)[0], given[0])
    assert torch.equal(shards_of(sent)[1], given[0] + 1.0)
    summed = ttnn.all_reduce(x)
    ttnn.deallocate(x)
    assert (summed.memory_config(), summed.layout) == (ttnn.L1_MEMORY_CONFIG, ttnn.TILE_LAYOUT)
    ttnn.deallocate(ttnn.get_device_tensors(summed)[0])
    assert torch.equal(ttnn.to_torch(ttnn.get_device_tensors(summed)[1]), given[0] + given[1])
    x = on(mesh, given, layout=ttnn.TILE_LAYOUT)
    config = ttnn.create_sharded_memory_config((1, 64, 64), ttnn.CoreGrid(x=2, y=2), ttnn.ShardStrategy.BLOCK)
    gathered = ttnn.all_gather(x, 1, memory_config=config)
    assert gathered.memory_config() == config
    assert torch.equal(shards_of(gathered)[1], torch.cat(given, 1))


@pytest.mark.parametrize("dtype", [ttnn.bfloat8_b, ttnn.bfloat16, ttnn.uint16])
def test_elements_of_other_types_are_moved_as_they_are(dtype):
    mesh = ttnn.open_mesh_device((1, 2))
    given = [torch.randint(0, 100, (1, 32, 64)).float() for _ in range(2)]
    given = [each.short() for each in given] if dtype is ttnn.uint16 else given
    x = on(mesh, given, layout=ttnn.TILE_LAYOUT, dtype=dtype)
    assert torch.equal(shards_of(ttnn.all_gather(x, 2))[1], torch.cat(shards_of(x), 2))
    summed = shards_of(ttnn.all_reduce(x))[0]
    assert torch.equal(summed.float(), sum(each.float() for each in shards_of(x))) or dtype is ttnn.bfloat8_b
    assert ttnn.experimental.all_reduce_async(x, x, None, mesh, [], dtype=ttnn.float32).dtype == ttnn.float32


def test_a_gathered_dimension_is_no_longer_split():
    mesh = opened((2, 4))
    mapper = ttnn.ShardTensor2dMesh(mesh, (2, 4), (0, -1))
    x = ttnn.from_torch(torch.arange(16 * 32).reshape(16, 32), device=mesh, mesh_mapper=mapper)
    rows, columns, whole = ttnn.PlacementShard(0), ttnn.PlacementShard(-1), ttnn.PlacementReplicate()
    assert x.tensor_topology().placements() == [rows, columns]
    gathered = ttnn.all_gather(x, 1, cluster_axis=1)
    assert gathered.tensor_topology().placements() == [rows, whole]
    assert ttnn.all_reduce(x, cluster_axis=0).tensor_topology() == x.tensor_topology()
    assert ttnn.all_gather(gathered, 0, cluster_axis=0).tensor_topology().placements() == [whole, whole]


def test_a_gather_of_padded_tiles_states_the_placement_of_its_operand_as_in_ttnn():
    mesh = opened((2, 4))
    mapper = ttnn.ShardTensor2dMesh(mesh, (2, 4), (None, 0))
    for rows, is_split in ((32, False), (16, True), (64, False), (40, True)):  # of one program with changing sizes
        x = ttnn.from_torch(torch.randn(4 * rows, 8), device=mesh, mesh_mapper=mapper, layout=ttnn.TILE_LAYOUT)
        assert (ttnn.all_gather(x, 0, cluster_axis=1).tensor_topology() == x.tensor_topology()) is is_split
        assert (gathered_rows(x).tensor_topology() == x.tensor_topology()) is is_split
        flat = ttnn.all_gather(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), 0, cluster_axis=1)
        assert flat.tensor_topology().is_replicated


@ttnn_jit.jit()
def gathered_rows(x):
    return ttnn.all_gather(x, 0, cluster_axis=1)


def test_devices_without_a_part_take_no_part():
    mesh = opened((2, 4))
    config = ttnn.MeshMapperConfig([ttnn.PlacementReplicate(), ttnn.PlacementShard(0)], ttnn.MeshShape(1, 4))
    data = torch.randn(8, 6)
    x = ttnn.from_torch(data, device=mesh, mesh_mapper=ttnn.create_mesh_mapper(mesh, config))
    for axis in (None, 1):
        gathered = ttnn.all_gather(x, 0, cluster_axis=axis)
        assert [own.device().id() for own in ttnn.get_device_tensors(gathered)] == [0, 1, 2, 3]
        assert all(torch.equal(own, data) for own in shards_of(gathered))
        assert torch.equal(shards_of(ttnn.all_reduce(x, cluster_axis=axis))[3], tree_sum([*data.chunk(4)]))
    assert torch.equal(shards_of(ttnn.all_reduce(x, cluster_axis=0))[3], data[6:])
    buffer = ttnn.from_torch(torch.zeros(8, 6), device=mesh)
    ttnn.all_gather(x, 0, output_tensor=buffer)
    assert [own.any().item() for own in shards_of(buffer)] == [True] * 4 + [False] * 4
    with pytest.raises(ArgumentError, match=r"the device at \(1, 0\) has no part of the tensor"):
        ttnn.broadcast(x, (1, 0))


def test_the_shape_of_a_mesh_is_part_of_what_a_call_depends_on():
    mesh = opened((1, 8))
    given = distinct(8)
    x = on(mesh, given)
    assert torch.equal(shards_of(ttnn.all_gather(x, 1, cluster_axis=1))[0], torch.cat(given, 1))
    mesh.reshape(ttnn.MeshShape(2, 4))
    assert torch.equal(shards_of(ttnn.all_gather(x, 1, cluster_axis=1))[5], torch.cat(given[4:], 1))
    assert torch.equal(shards_of(ttnn.all_gather(x, 1, cluster_axis=0))[5], torch.cat(given[1::4], 1))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda x: ttnn.all_gather(x, 3), "all_gather: there is no dimension 3"),
        (
            lambda x: ttnn.reduce_scatter(x, 2),
            r"reduce_scatter: dimension 2 of shape \[2, 24, 5\] has no 2 equal parts",
        ),
        (lambda x: ttnn.mesh_partition(x, 2), "no 2 equal parts"),
        (lambda x: ttnn.experimental.all_to_all_async_generic(x, 1, -2), "are both dimension 1"),
        (lambda x: ttnn.experimental.neighbor_pad_async(x, 0, 3, 0), "a padding of 3 is more than the 2 elements"),
        (lambda x: ttnn.experimental.slice_reshard_async(x, 1, 0, 7), "7 elements along dimension 1 have no 2 equal"),
        (lambda x: ttnn.experimental.slice_reshard_async(x, 1, -1, 8), "is none"),
        (lambda x: ttnn.all_reduce(x, cluster_axis=-1), "has no axis -1"),
        (lambda x: ttnn.all_reduce(x, reduce_type="mean"), "mean of INT32 tensors is no whole number"),
        (lambda x: ttnn.experimental.all_reduce_async(x, 4, [], [], [], ttnn.ReduceType.Sum), "`num_devices` is 4"),
        (lambda x: ttnn.all_gather(x.cpu(), 1), "is on the host"),
    ],
)
def test_calls_that_do_not_fit_are_refused_by_name(call, named):
    with pytest.raises((ArgumentError, ShapeError), match=named):
        call(on(opened((1, 2)), distinct(2)))


# --- Traces -----------------------------------------------------------------------------------------------------------


def test_a_trace_of_a_mesh_exchanges_the_current_elements_at_every_replay():
    mesh = ttnn.open_mesh_device((2, 4))
    given = [torch.randn(1, 32, 64) for _ in range(8)]
    x = on(mesh, given, layout=ttnn.TILE_LAYOUT)
    buffer = ttnn.from_torch(torch.zeros(1, 32, 512), layout=ttnn.TILE_LAYOUT, device=mesh)

    def run():
        doubled = ttnn.add(x, x)
        summed = ttnn.all_reduce(doubled, cluster_axis=1)
        gathered = ttnn.experimental.all_gather_async(ttnn.neg(summed), buffer, 2, **SEMAPHORES)
        padded = ttnn.experimental.neighbor_pad_async(doubled, 1, 1, 0, "zeros")
        return summed, gathered, padded, ttnn.reduce_scatter(ttnn.all_broadcast(gathered)[3], 2, cluster_axis=0)

    trace = ttnn.begin_trace_capture(mesh, cq_id=0)
    results = run()
    ttnn.end_trace_capture(mesh, trace, cq_id=0)
    for _ in range(3):
        given = [torch.randn(1, 32, 64) for _ in range(8)]
        parts = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT) for each in given]
        ttnn.copy_host_to_device_tensor(ttnn.from_host_shards(parts, mesh.shape), x)
        ttnn.execute_trace(mesh, trace)
        rows = [tree_sum([each * 2 for each in given[first : first + 4]]) for first in (0, 4)]
        found = [shards_of(result) for result in results]
        assert all(torch.equal(own, rows[number // 4]) for number, own in enumerate(found[0]))
        assert all(torch.equal(own, -torch.cat([rows[0]] * 4 + [rows[1]] * 4, 2)) for own in found[1])
        assert torch.equal(found[2][5][:, :1], given[4][:, -1:] * 2)
        assert [torch.equal(own, again) for own, again in zip(found[3], shards_of(run()[3]), strict=True)] == [True] * 8
    ttnn.release_trace(mesh, trace)


def test_a_trace_of_a_part_of_a_mesh_leaves_the_other_devices_alone():
    mesh = ttnn.open_mesh_device((1, 4))
    part = mesh.create_submesh(ttnn.MeshShape(1, 2), ttnn.MeshCoordinate(0, 2))
    data = torch.randn(2, 32, 32)
    x = ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=part, mesh_mapper=ttnn.ShardTensorToMesh(part, 0))
    trace = ttnn.begin_trace_capture(part)
    result = ttnn.all_reduce(x)
    (own,) = [each for each in mesh.devices if each.device_id == 0]
    alone = ttnn.exp(ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=own))
    ttnn.end_trace_capture(part, trace)
    assert torch.allclose(ttnn.to_torch(alone), data.exp())  # it has run, since its device captures nothing
    ttnn.execute_trace(part, trace)
    assert all(torch.equal(each, data[:1] + data[1:]) for each in shards_of(result))
