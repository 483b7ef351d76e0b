"""Modules that `ttmlir` builds become files with goldens, whose operations hooks observe by their locations."""

import torch

import ttnn_jit

ttnn_jit.register_as_ttnn()

from _ttmlir_runtime import binary, runtime  # noqa: E402 - found where `register_as_ttnn` was called
from ttmlir import passes  # noqa: E402
from ttmlir.dialects import func, ttir  # noqa: E402
from ttmlir.ir import Context, F32Type, InsertionPoint, Location, Module, RankedTensorType  # noqa: E402


def lowered():
    with Context(), Location.unknown():
        tensor = RankedTensorType.get([32, 32], F32Type.get())
        module = Module.create()
        with InsertionPoint(module.body):

            @func.func(tensor, tensor)
            def main(x, y):
                total = ttir.AddOp(tensor, x, y, loc=Location.name("total")).result
                return ttir.TanhOp(tensor, total, loc=Location.name("bounded"))

    passes.ttir_to_ttnn_runtime_pipeline(module, "")
    return module


def golden_of(values):
    return passes.GoldenTensor(
        "total", [32, 32], [32, 1], passes.DataType.Float32, values.data_ptr(), values.numel() * 4
    )


def test_goldens_in_a_file_are_found_by_the_location_that_a_hook_sees(tmp_path):
    x = torch.randn(32, 32)
    path = str(tmp_path / "program.ttnn")
    total = x + x
    goldens = {'loc("total")': {0: golden_of(total)}}
    passes.ttnn_to_flatbuffer_file(lowered(), path, goldens, [("ttnn", "module {}")])
    total.zero_()  # the file has a copy
    loaded = binary.load_binary_from_path(path)
    seen = {}

    def after(program, _, op):
        location = runtime.get_op_loc_info(op)
        for device, golden in program.get_debug_info_golden(location).items():
            result = runtime.get_op_output_tensor(op, _)[device]
            expected = torch.frombuffer(bytearray(golden.get_data_buffer()), dtype=torch.float32).reshape(golden.shape)
            seen[location] = torch.equal(result.first, expected)

    runtime.DebugHooks.get(None, after)
    try:
        given = runtime.create_borrowed_host_tensor(x.data_ptr(), [32, 32], [32, 1], 4, runtime.DataType.Float32)
        (result,) = runtime.submit(runtime.open_mesh_device(), loaded, 0, [given, given])
    finally:
        runtime.unregister_hooks()
    assert seen == {'loc("total")': True}
    assert torch.allclose(result.first, torch.tanh(2 * x), atol=1e-6)


def test_a_file_and_the_binary_in_this_process_are_equal(tmp_path):
    path = tmp_path / "program.ttnn"
    made = passes.ttnn_to_flatbuffer_bin(lowered())
    made.store(str(path))
    assert path.read_bytes() == made.to_bytes()
    assert binary.load_binary_from_path(str(path)).as_json() == binary.load_binary_from_bytes(made.to_bytes()).as_json()
