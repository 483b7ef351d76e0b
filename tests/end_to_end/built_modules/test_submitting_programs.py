"""`_ttmlir_runtime` runs programs on tensors that it is given, calls hooks, and refuses what does not fit."""

import pytest
import torch

import ttnn_jit
from tests.end_to_end.built_modules.made_modules import built, kind_of, run, softmax_of_sum, tensor
from ttnn_jit.diagnostics.errors import ArgumentError, DTypeError, ShapeError
from ttnn_jit.specs.target import resolve_target

ttnn_jit.register_as_ttnn()

from _ttmlir_runtime import runtime  # noqa: E402 - found where `register_as_ttnn` was called
from ttmlir import passes  # noqa: E402
from ttmlir.ir import Module  # noqa: E402


def test_hooks_see_each_operation_and_may_replace_its_result():
    module = built(softmax_of_sum, tensor(1, 4), tensor(1, 4))
    seen = []

    def before(_, __, op):
        seen.append(("before", runtime.get_op_loc_info(op), len(runtime.get_op_input_refs(op))))

    def after(_, program, op):
        (result,) = runtime.get_op_output_refs(op)
        seen.append(("after", runtime.get_op_loc_info(op), runtime.get_program_index(program)))
        if "total" in runtime.get_op_loc_info(op):
            zeros = torch.zeros(1, 4)
            replacement = runtime.create_owned_host_tensor(
                zeros.data_ptr(), [1, 4], [4, 1], 4, runtime.DataType.Float32
            )
            runtime.update_tensor_in_pool(program, result, replacement)

    runtime.DebugHooks.get(before, after)
    try:
        (result,) = run(module, torch.randn(1, 4), torch.randn(1, 4))
    finally:
        runtime.unregister_hooks()
    assert seen == [
        ("before", 'loc("total")', 2),
        ("after", 'loc("total")', 0),
        ("before", 'loc("softmax")', 1),
        ("after", 'loc("softmax")', 0),
    ]
    assert result.tolist() == [[0.25] * 4]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pointer": 0}, "the address of the elements is 0"),
        ({"itemsize": 2}, "elements of 2 bytes are no elements of DataType.Float32, which have 4"),
        ({"dtype": runtime.DataType.BFP_BFloat8}, "torch has no dtype for DataType.BFP_BFloat8"),
        ({"strides": [8]}, r"no tensor has the shape \[2, 8\] and the strides \[8\]"),
        ({"strides": [-8, 1]}, "no tensor has"),
        ({"shape": [-2, 8]}, "no tensor has"),
    ],
)
@pytest.mark.parametrize("make", [runtime.create_owned_host_tensor, runtime.create_borrowed_host_tensor])
def test_memory_that_no_tensor_has_is_refused(make, changes, message):
    x = torch.zeros(2, 8)
    given = {"pointer": x.data_ptr(), "shape": [2, 8], "strides": [8, 1], "itemsize": 4, "dtype": kind_of(x)}
    with pytest.raises(ValueError, match=message):
        make(*(given | changes).values())


@pytest.mark.parametrize(
    ("tensors", "number", "kind", "message"),
    [
        ([torch.zeros(1, 8)] * 2, 0, ShapeError, r"argument 0 of the program has the shape \[2, 8\], got \[1, 8\]"),
        ([torch.zeros(16)] * 2, 0, ShapeError, r"got \[16\]"),
        (
            [torch.zeros(2, 8), torch.zeros(2, 8).bfloat16()],
            0,
            DTypeError,
            "argument 1 of the program is of torch.float32",
        ),
        ([torch.zeros(2, 8)], 0, ArgumentError, "the program takes 2 tensors, got 1"),
        ([torch.zeros(2, 8)] * 3, 0, ArgumentError, "the program takes 2 tensors, got 3"),
        ([torch.zeros(2, 8)] * 2, 1, ValueError, "the binary has 1 programs, and none of the number 1"),
        ([torch.zeros(2, 8)] * 2, -1, ValueError, "none of the number -1"),
    ],
)
@pytest.mark.parametrize("has_hooks", [False, True])
def test_tensors_that_a_program_does_not_take_are_refused(tensors, number, kind, message, has_hooks):
    made = passes.ttnn_to_flatbuffer_bin(built(softmax_of_sum, tensor(2, 8), tensor(2, 8)))
    names = {torch.float32: runtime.DataType.Float32, torch.bfloat16: runtime.DataType.BFloat16}
    given = [
        runtime.create_owned_host_tensor(x.data_ptr(), [*x.shape], [*x.stride()], x.element_size(), names[x.dtype])
        for x in tensors
    ]
    hooks = runtime.DebugHooks.get(lambda *_: None, lambda *_: None) if has_hooks else None
    try:
        with pytest.raises(kind, match=message):
            runtime.submit(runtime.open_mesh_device(), made, number, given)
    finally:
        if hooks is not None:
            runtime.unregister_hooks()


PRESHARDED = """
module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  func.func @main(%x: tensor<2x3xf32> {ttcore.shard_status = #ttcore.shard_status<presharded>})
      -> (tensor<2x3xf32> {ttcore.shard_status = #ttcore.shard_status<presharded>}) {
    %0 = "ttir.all_reduce"(%x) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}>
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = "ttir.add"(%0, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}
"""


def test_a_tensor_with_a_part_per_device_is_submitted():
    made = passes.ttnn_to_flatbuffer_bin(Module.parse(PRESHARDED))
    options = runtime.MeshDeviceOptions()
    options.mesh_shape = (1, 2)
    device = runtime.open_mesh_device(options)
    parts = [torch.randn(2, 3), torch.randn(2, 3)]
    given = runtime.create_multi_device_borrowed_host_tensor(
        [each.data_ptr() for each in parts], [2, 3], [3, 1], 4, runtime.DataType.Float32, {}, (1, 2)
    )
    (output,) = runtime.submit(device, made, 0, [given])
    assert runtime.get_num_shards(output) == 2
    for found, part in zip(runtime.to_host(output), parts, strict=True):
        got = torch.frombuffer(bytearray(found.get_data_buffer()), dtype=torch.float32).reshape(2, 3)
        torch.testing.assert_close(got, parts[0] + parts[1] + part)


# --- Settings of the runtime ------------------------------------------------------------------------------------------


def test_a_device_says_what_it_was_opened_with_and_the_chip_of_the_system(monkeypatch, tmp_path):
    monkeypatch.setenv("SYSTEM_DESC_PATH", str(tmp_path / "n300.json"))
    (tmp_path / "n300.json").write_text(resolve_target("n300").to_json())
    assert runtime.get_num_available_devices() == 2
    options = runtime.MeshDeviceOptions()
    options.mesh_shape, options.num_hw_cqs, options.trace_region_size = [1, 2], 2, 1024
    device = runtime.open_mesh_device(options)
    assert (device.get_num_hw_cqs(), device.is_program_cache_enabled(), device.get_trace_region_size()) == (
        2,
        True,
        1024,
    )
    assert (device.get_num_dram_channels(), device.get_dram_size_per_channel()) == (12, 1 << 30)
    assert device.get_l1_size_per_core() == resolve_target("wormhole_b0").l1_bytes


def test_a_tensor_that_is_moved_to_a_mesh_is_on_each_of_its_devices():
    x = torch.randn(4, 8)
    options = runtime.MeshDeviceOptions()
    options.mesh_shape = [1, 2]
    device = runtime.open_mesh_device(options)
    host = runtime.create_owned_host_tensor(x.data_ptr(), [4, 8], [8, 1], 4, runtime.DataType.Float32)
    moved = runtime.to_layout(host, device, runtime.test.get_dram_interleaved_tile_layout(runtime.DataType.Float32))
    assert (runtime.get_num_shards(host), runtime.get_num_shards(moved)) == (1, 2)
    assert all(torch.equal(each.first, x) for each in runtime.get_device_tensors(moved))
    empty = runtime.create_empty_tensor(
        device, runtime.test.get_dram_interleaved_row_major_layout(runtime.DataType.BFloat16), [2, 2], [2, 1], 2
    )
    assert empty.get_dtype() is runtime.DataType.BFloat16
    assert host.get_retain()
    host.set_retain(False)
    assert not host.get_retain()
    with pytest.raises(NotImplementedError, match="programs of C\\+\\+"):
        runtime.test.open_so("x.so")


def test_hooks_that_are_not_given_anew_stay():
    seen = []
    runtime.DebugHooks.get(pre_program=lambda *_: seen.append("program"))
    runtime.DebugHooks.get(pre_op=lambda *_: seen.append("op"))
    try:
        run(built(softmax_of_sum, tensor(4, 8), tensor(4, 8)), torch.randn(4, 8), torch.randn(4, 8))
    finally:
        runtime.unregister_hooks()
    assert seen[:2] == ["program", "op"]


def test_memory_is_logged_around_programs_and_operations_where_that_is_asked_for(capsys):
    text = """func.func @main(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
      %0 = "ttir.exp"(%x) : (tensor<32x64xf32>) -> tensor<32x64xf32>
      return %0 : tensor<32x64xf32>
    }"""
    module = Module.parse(text)
    passes.ttir_to_ttnn_runtime_pipeline(module, "")
    level = runtime.MemoryLogLevel
    shown = {}
    try:
        for each in (level.NONE, level.PROGRAM, level.OPERATION, level.ANY):
            runtime.set_memory_log_level(each)
            run(module, torch.zeros(32, 64))
            shown[each] = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    finally:
        runtime.set_memory_log_level(level.NONE)
    programs = ["Device memory state before submit", "Device memory state after submit"]
    assert shown[level.NONE] == []
    assert shown[level.PROGRAM] == programs
    assert "Device memory state before operation ttnn.exp" in shown[level.OPERATION]
    assert not {*programs} & {*shown[level.OPERATION]}
    assert {*programs} < {*shown[level.ANY]}
