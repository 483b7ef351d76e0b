"""Jitted functions of tensors of a mesh: one program, with what calls device after device give."""

from __future__ import annotations

import re
from collections import Counter

import pytest
import torch

import ttnn_jit
from tests.end_to_end.meshes.test_exchanges import on, opened, shards_of
from tests.end_to_end.meshes.test_jitted_collectives import assert_equal, random_shards
from ttnn_jit import ttnn
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.diagnostics.errors import ArgumentError, DeallocatedError, DeviceError
from ttnn_jit.dialects import parse_module, print_module
from ttnn_jit.runtime.memory.random_words import seed_all


@pytest.fixture
def mesh():
    return opened((2, 4))


def given(mesh, shape=(1, 16, 32), **keywords):
    return on(mesh, random_shards(mesh.get_num_devices(), shape), **keywords)


def test_weights_of_an_object_are_inputs_that_may_be_replaced(mesh):
    class Layer:
        def __init__(self):
            self.weight = given(mesh, (1, 32, 8))

        @ttnn_jit.jit()
        def __call__(self, x):
            return ttnn.all_reduce(ttnn.matmul(x, self.weight), cluster_axis=0)

    layer = Layer()
    for width in (8, 8, 8, 24):
        layer.weight = given(mesh, (1, 32, width))
        for _ in range(2):
            x = given(mesh)
            assert_equal(layer(x), ttnn.all_reduce(ttnn.matmul(x, layer.weight), cluster_axis=0))


def test_a_weight_must_be_on_every_device_of_the_arguments(mesh):
    part = ttnn.MeshMapperConfig([ttnn.PlacementShard(0), ttnn.PlacementReplicate()], ttnn.MeshShape(1, 2))
    weight = ttnn.from_torch(torch.ones(1, 32), device=mesh, mesh_mapper=ttnn.create_mesh_mapper(mesh, part))
    with pytest.raises(ArgumentError, match="`weight` is not on device 2 of the mesh"):
        ttnn_jit.jit()(lambda x: x + weight)(given(mesh))


def test_every_device_draws_its_own_numbers_as_in_eager_calls(mesh):
    def drawn(x):
        noise = ttnn.rand(x.shape, device=x.device(), dtype=ttnn.float32)
        return noise, ttnn.all_reduce(ttnn.experimental.dropout(x, probability=0.5, scale=2.0, seed=0))

    jitted, x = ttnn_jit.jit()(drawn), given(mesh)
    for seed in range(3):
        seed_all(seed)
        found = [jitted(x), jitted(x)]
        seed_all(seed)
        for results in found:
            for own, expected in zip(results, drawn(x), strict=True):
                assert_equal(own, expected)
        assert not torch.equal(*shards_of(found[0][0])[:2])


@pytest.mark.parametrize("axis", [0, 1, None])
def test_devices_without_a_part_of_an_argument_take_no_part(mesh, axis):
    half = ttnn.MeshMapperConfig([ttnn.PlacementShard(0), ttnn.PlacementReplicate()], ttnn.MeshShape(2, 2))
    mapper = ttnn.create_mesh_mapper(mesh, half)

    def program(x, y):
        return ttnn.all_reduce(x + y, cluster_axis=axis), ttnn.all_gather(x, 2, cluster_axis=axis)

    jitted = ttnn_jit.jit()(program)
    for _ in range(3):
        x, y = ttnn.from_torch(torch.randn(2, 16, 32), device=mesh, mesh_mapper=mapper), given(mesh)
        for found, expected in zip(jitted(x, y), program(x, y), strict=True):
            assert_equal(found, expected)


def test_an_updated_argument_is_updated_on_every_device_and_returned_itself(mesh):
    def program(x):
        ttnn.add_(x, 1.0)
        return ttnn.all_reduce(x), x

    jitted = ttnn_jit.jit()(program)
    for _ in range(3):
        shards = random_shards(8)
        mine, other = on(mesh, shards), on(mesh, shards)
        found, expected = jitted(mine), program(other)
        assert found[1] is mine
        assert_equal(found[0], expected[0])
        assert_equal(mine, other)


def test_a_persistent_buffer_gets_the_result_and_keeps_its_addresses(mesh):
    @ttnn_jit.jit()
    def gathered(x, buffer):
        return ttnn.experimental.all_gather_async(x, buffer, 2, cluster_axis=1, multi_device_global_semaphore=[])

    buffer = given(mesh, (1, 16, 128))
    addresses = [own.buffer_address() for own in ttnn.get_device_tensors(buffer)]
    for _ in range(3):
        x = given(mesh)
        assert gathered(x, buffer) is buffer
        assert_equal(buffer, ttnn.all_gather(x, 2, cluster_axis=1))
    assert addresses == [own.buffer_address() for own in ttnn.get_device_tensors(buffer)]


def test_a_tensor_is_received_in_the_part_of_a_buffer_on_one_device(mesh):
    def sent(x, buffer):
        return ttnn.point_to_point(x, [0, 1], [1, 2], output_tensor=buffer)

    jitted = ttnn_jit.jit()(sent)
    for _ in range(3):
        x, shards = given(mesh), random_shards(8, (1, 16, 32))
        mine, other = on(mesh, shards), on(mesh, shards)
        assert jitted(x, mine) is mine
        sent(x, other)
        assert_equal(mine, other)
        assert not torch.equal(shards_of(mine)[6], shards[6])


SEMAPHORES = {"multi_device_global_semaphore": [], "num_links": 1, "topology": ttnn.Topology.Linear}
FUSED = {
    "a product with gathered columns": (
        lambda x, w: ttnn.experimental.all_gather_matmul_async(x, w, None, 3, [], (0, 4)), (32, 64), (256, 64)
    ),
    "scattered sums of products": (
        lambda x, w: ttnn.experimental.matmul_reduce_scatter_async(x, w, None, None, 3, [], (0, 4)), (32, 64), (64, 256)
    ),
    "a norm by gathered statistics": (
        lambda x, w: ttnn.rms_norm_post_all_gather(
            x,
            ttnn.experimental.all_gather_async(ttnn.rms_norm_pre_all_gather(x), dim=3, **SEMAPHORES),
            epsilon=1e-5,
            weight=w,
        ), (32, 64), (1, 64),
    ),
    "a sum in two steps": (
        lambda x, w: ttnn.experimental.all_gather_async(
            ttnn.experimental.reduce_scatter_minimal_async(ttnn.matmul(x, w), None, dim=3, **SEMAPHORES),
            dim=3, **SEMAPHORES,
        ), (32, 64), (64, 128),
    ),
}  # fmt: skip


@pytest.mark.parametrize("captured", [False, True], ids=["ast", "capture"])
@pytest.mark.parametrize("name", FUSED)
def test_forms_that_models_call_have_the_bits_of_eager_calls(name, captured):
    function, *shapes = FUSED[name]
    mesh = opened((1, 4))
    x, w = (given(mesh, (1, 1, *shape), layout=ttnn.TILE_LAYOUT) for shape in shapes)
    found, expected = ttnn_jit.jit(graph_capture=captured)(function)(x, w), function(x, w)
    for own, each in zip(
        *(result if isinstance(result, list | tuple) else [result] for result in (found, expected)), strict=True
    ):
        assert_equal(own, each)


def test_results_have_memory_of_their_own(mesh):
    def program(x):
        total = ttnn.all_reduce(x)
        return total, total, ttnn.broadcast(x, [0, 0]), x

    jitted, x = ttnn_jit.jit()(program), given(mesh)
    for _ in range(3):
        total, again, sent, same = jitted(x)
        assert same is x
        assert_equal(again, total)
        every = [own.buffer_address() for each in (total, sent, x) for own in ttnn.get_device_tensors(each)]
        assert len({*every}) == len(every) == 24


def test_work_on_equal_values_runs_once(mesh):
    jitted = ttnn_jit.jit()(lambda x: ttnn.mesh_partition(ttnn.exp(ttnn.all_reduce(x, cluster_axis=1)), 2, 1))
    x = given(mesh)
    assert_equal(jitted(x), ttnn.mesh_partition(ttnn.exp(ttnn.all_reduce(x, cluster_axis=1)), 2, 1))
    report = jitted.explain(x)
    assert [*Counter(launch.ops for launch in report.launches).items()] == [
        (("all_reduce", "exp"), 2), (("mesh_partition",), 8)
    ]  # fmt: skip
    assert "launch 0 and 1 more: all_reduce -> exp" in str(report)


def test_kernels_of_a_mesh_are_those_of_one_device_and_its_folds():
    def kernels(shape):
        mesh = opened(shape)
        x, weight = given(mesh, (64, 64)), given(mesh, (64, 64))
        jitted = ttnn_jit.jit()(lambda x, w: ttnn.all_reduce(ttnn.gelu(ttnn.matmul(x, w)) + 1.0, cluster_axis=1))
        return {*re.findall(r"^define void @(k_\w+)", jitted.ir(x, weight, stage="codegen"), re.MULTILINE)}

    one, all_devices = kernels((1, 1)), kernels((1, 8))
    assert len(one & all_devices) == 1  # the product
    assert len(one - all_devices) == 1  # a copy
    assert len(all_devices - one) == 1  # the sum over eight devices


FUSED_ACROSS = {
    "elementwise": (
        lambda x: ttnn.relu(ttnn.all_reduce(x, cluster_axis=1)) * 2.0 + 1.0, {"all_reduce relu multiply add": 2}
    ),
    "parts of sums": (lambda x: ttnn.exp(ttnn.reduce_scatter(x, 2, cluster_axis=1)), {"reduce_scatter exp": 8}),
    "a sum that is returned": (
        lambda x: [total := ttnn.all_reduce(x, cluster_axis=0), ttnn.relu(total)], {"all_reduce relu": 4}
    ),
    "a sum with an operand of each device": (
        lambda x: ttnn.all_reduce(x, cluster_axis=1) + x, {"all_reduce": 2, "add": 8}
    ),
    "a sum that is gathered too": (
        lambda x: [ttnn.all_gather(total := ttnn.all_reduce(x, cluster_axis=0), 2, cluster_axis=1), ttnn.relu(total)],
        {"all_reduce relu": 4, "all_gather": 8},
    ),
    "two sums": (
        lambda x: ttnn.all_reduce(x, cluster_axis=1) + ttnn.all_reduce(ttnn.exp(x), cluster_axis=1),
        {"exp": 8, "all_reduce": 2, "all_reduce add": 2},
    ),
    "sums of sums": (
        lambda x: ttnn.relu(ttnn.all_reduce(ttnn.exp(ttnn.all_reduce(x, cluster_axis=0)), cluster_axis=1)),
        {"all_reduce exp": 4, "all_reduce relu": 2},
    ),
    "rows of a sum": (
        lambda x: ttnn.softmax(ttnn.all_reduce(x, cluster_axis=1), -1),
        {"all_reduce max subtract exp sum divide": 2},
    ),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", FUSED_ACROSS)
def test_what_only_reads_a_sum_is_computed_in_its_loop(mesh, name, dtype):
    function, launches = FUSED_ACROSS[name]
    jitted = ttnn_jit.jit()(function)
    for _ in range(2):
        x = on(mesh, random_shards(8, (1, 16, 64), dtype))
        found, expected = (each if isinstance(each, list) else [each] for each in (jitted(x), function(x)))
        for own, other in zip(found, expected, strict=True):
            assert_equal(own, other)
    assert Counter(" ".join(launch.ops) for launch in jitted.explain(x).launches) == launches


def test_the_shape_of_the_mesh_is_a_part_of_the_key():
    mesh = opened((2, 4))
    jitted = ttnn_jit.jit()(lambda x: ttnn.all_reduce(x, cluster_axis=1))
    for shape in ((2, 4), (1, 8), (2, 4)):
        mesh.reshape(ttnn.MeshShape(shape))
        x = given(mesh)
        for _ in range(2):
            assert_equal(jitted(x), ttnn.all_reduce(x, cluster_axis=1))


def test_a_trace_holds_the_program_once_and_sees_new_inputs(mesh):
    def program(x):
        return ttnn.reduce_scatter(ttnn.exp(x), 2, cluster_axis=1)

    jitted, x = ttnn_jit.jit()(program), given(mesh)
    trace = ttnn.begin_trace_capture(mesh, cq_id=0)
    result = jitted(x)
    ttnn.end_trace_capture(mesh, trace, cq_id=0)
    assert trace.traces[0].calls == 1
    for _ in range(3):
        shards = torch.cat(random_shards(8, (1, 16, 32)))
        ttnn.copy_host_to_device_tensor(ttnn.from_torch(shards, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0)), x)
        ttnn.execute_trace(mesh, trace, cq_id=0, blocking=True)
        assert_equal(result, program(x))
    ttnn.release_trace(mesh, trace)


def test_freed_shards_and_closed_meshes_are_refused():
    mesh = opened((1, 2))
    jitted, x = ttnn_jit.jit()(lambda x: ttnn.all_reduce(x)), given(mesh)
    jitted(x), jitted(x)
    ttnn.get_device_tensors(x)[1].deallocate()
    with pytest.raises(DeallocatedError):
        jitted(x)
    x = given(mesh)
    jitted(x)
    mesh.close()
    with pytest.raises(DeviceError, match="is closed"):
        jitted(x)


@pytest.mark.parametrize("dtype", [ttnn.bfloat8_b, ttnn.bfloat4_b, ttnn.uint16])
def test_packed_and_narrow_elements_have_the_bits_of_eager_calls(mesh, dtype):
    def program(x):
        return [
            ttnn.all_reduce(x, cluster_axis=1),
            ttnn.all_gather(x, 2, cluster_axis=0),
            ttnn.reduce_scatter(x, 2, cluster_axis=1),
            ttnn.mesh_partition(x, 1, cluster_axis=1),
            ttnn.broadcast(x, [1, 2]),
            ttnn.experimental.neighbor_pad_async(x, 1, 2, 3, "zeros", 1),
        ]

    values = [(each * 50).abs() for each in random_shards(8, (2, 32, 64))]
    shards = [each.to(torch.int32) for each in values] if dtype is ttnn.uint16 else values
    x = on(mesh, shards, dtype=dtype, layout=ttnn.TILE_LAYOUT)
    for found, expected in zip(ttnn_jit.jit()(program)(x), program(x), strict=True):
        assert_equal(found, expected)


def test_sharded_tensors_of_a_chip_are_charged_to_every_device():
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 2), target="wormhole_b0")
    config = ttnn.create_sharded_memory_config((256, 256), ttnn.CoreGrid(x=8, y=8), ttnn.ShardStrategy.BLOCK)
    shards = random_shards(4, (1, 256, 256), torch.bfloat16)
    x = on(mesh, shards, layout=ttnn.TILE_LAYOUT, memory_config=config)
    jitted = ttnn_jit.jit()(lambda x: ttnn.all_reduce(ttnn.exp(x) + x, cluster_axis=1))
    for _ in range(3):
        found, expected = jitted(x), ttnn.all_reduce(ttnn.exp(x) + x, cluster_axis=1)
        assert_equal(found, expected)
        assert found.memory_config() == config
    used = [device.memory_view().used for device in mesh.devices]
    assert used == [used[0]] * 4
    assert used[0] >= 2 * 32 * 32 * 2  # the argument and the result


SIZED = {
    "a sum": lambda x: ttnn.relu(ttnn.all_reduce(ttnn.exp(x), cluster_axis=1)),
    "rows, joined": lambda x: ttnn.all_gather(x, 0, cluster_axis=1) * 2.0,
    "columns, joined": lambda x: ttnn.all_gather(x, 1, cluster_axis=0),
    "parts of a sum": lambda x: ttnn.exp(ttnn.reduce_scatter(x, 0, cluster_axis=1)),
    "parts of rows": lambda x: ttnn.mesh_partition(x, 0, cluster_axis=1),
    "tokens": lambda x: ttnn.experimental.all_to_all_async_generic(x, 0, 1, cluster_axis=1),
    "edges": lambda x: ttnn.experimental.neighbor_pad_async(x, 0, 2, 3, "zeros", 1),
    "rows of a sum": lambda x: ttnn.softmax(ttnn.all_reduce(x, cluster_axis=0), -1),
    "several": lambda x: ttnn.all_gather(ttnn.reduce_scatter(x * 2.0, 0, cluster_axis=1), 0, cluster_axis=0),
}


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT], ids=["tiles", "rows"])
@pytest.mark.parametrize("name", SIZED)
def test_other_sizes_of_a_program_with_collectives_need_no_compile(mesh, name, layout, monkeypatch):
    monkeypatch.setenv("TTNN_JIT_DEBUG", "1")  # a template is compared with the compile of another size
    jitted = ttnn_jit.jit(dynamic=True, enable_cache=False)(SIZED[name])
    before = COUNTERS.template_hits
    for rows in (96, 128, 160, 200, 64):
        x = on(mesh, random_shards(8, (rows, 64)), layout=layout)
        assert_equal(jitted(x), SIZED[name](x))
    assert COUNTERS.template_hits >= before + 3


def test_other_sizes_of_a_program_without_collectives_need_no_compile(mesh):
    weight = given(mesh, (1, 32, 32))
    jitted = ttnn_jit.jit(dynamic=True)(lambda x: ttnn.softmax(ttnn.matmul(x, weight) + 1.0, -1))
    jitted(given(mesh))
    before = COUNTERS.template_hits
    for rows in (64, 96, 128):
        x = given(mesh, (1, rows, 32))
        assert_equal(jitted(x), ttnn.softmax(ttnn.matmul(x, weight) + 1.0, -1))
    assert COUNTERS.template_hits >= before + 2


def test_the_text_of_a_program_runs_on_the_mesh_that_it_states(mesh, tmp_path):
    jitted = ttnn_jit.jit()(lambda x: ttnn.all_gather(ttnn.all_reduce(x, cluster_axis=0), 2, cluster_axis=1))
    x = given(mesh)
    for stage in ("frontend", "d2m-insert-dst-register-access"):
        text = jitted.ir(x, stage=stage)
        assert 'ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]>' in text
        assert print_module(parse_module(text)) == text
        (tmp_path / "program.mlir").write_text(text)
        torch.save(shards_of(x), tmp_path / "inputs.pt")
        from ttnn_jit.tools.cli import main

        files = ["--inputs", f"{tmp_path}/inputs.pt", "--save", f"{tmp_path}/out.pt"]
        for options in ([], ["--interpret"]):
            main(["run", f"{tmp_path}/program.mlir", *files, *options])
            found = torch.load(tmp_path / "out.pt")
            assert all(torch.equal(own, each) for own, each in zip(found, shards_of(jitted(x)), strict=True))


def test_tensors_that_are_not_on_the_mesh_are_refused_by_name(mesh):
    jitted, x = ttnn_jit.jit()(lambda x, y: x + y), given(mesh)
    host = torch.ones(1, 16, 32)
    for other, what in ((ttnn.from_torch(host), "on the host"), (host, "a torch tensor")):
        with pytest.raises(ArgumentError, match=f"`x` is on MeshDevice\\(2x4 cpu\\), `y` is {what}"):
            jitted(x, other)
    with pytest.raises(ArgumentError, match="the tensors are on different meshes"):
        jitted(x, given(opened((2, 2))))
