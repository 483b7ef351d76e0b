"""Programs of binaries that were compiled apart are chained, without a copy where layouts agree."""

import pytest
import torch

from ttnn_jit.ttmlir.ttmlir_runtime import submission as runtime
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary

DEVICE = runtime.open_mesh_device()
TILED = (
    "tensor<32x64xELEMENT, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
    "memref<1x2x!ttcore.tile<32x32, ELEMENT>, #ttnn.buffer_type<SPACE>>, <interleaved>>>"
)


def binary(body, *, given="dram", made="dram", element="f32"):
    """What is read of a file of a function of one tensor."""
    first, last = (TILED.replace("ELEMENT", element).replace("SPACE", space) for space in (given, made))
    text = f"func.func @main(%x: {first}) -> {last} {{\n{body}\nreturn %y : {last}\n}}"
    text = text.replace("GIVEN", first).replace("MADE", last)
    return Binary.of_bytes(Binary.parse(text).to_bytes())


def call(compiled, tensor):
    """Submits a program as the vendor's frontends do: with its input in the layout that it wants."""
    laid_out = runtime.to_layout(tensor, DEVICE, runtime.get_layout(compiled, 0, 0))
    (result,) = runtime.submit(DEVICE, compiled, 0, [laid_out])
    return result


def on_host(values):
    return runtime.create_owned_host_tensor(
        values.data_ptr(), list(values.shape), list(values.stride()), 4, runtime.DataType.Float32
    )


def conversions(function):
    before = runtime.get_num_layout_conversions()
    result = function()
    return result, runtime.get_num_layout_conversions() - before


UNARY = '%y = "ttnn.{}"(%x) : (GIVEN) -> MADE'


@pytest.mark.parametrize(("made", "given", "copies"), [("dram", "dram", 0), ("l1", "l1", 0), ("l1", "dram", 1)])
def test_an_output_feeds_another_program_without_a_copy_where_layouts_agree(made, given, copies):
    first, second = binary(UNARY.format("tanh"), made=made), binary(UNARY.format("neg"), given=given)
    x = torch.randn(32, 64)
    between, put = conversions(lambda: call(first, on_host(x)))
    assert put == 1
    assert between.get_layout().buffer_type == {"dram": "DRAM", "l1": "L1"}[made]
    result, moved = conversions(lambda: call(second, between))
    assert moved == copies
    laid_out = runtime.to_layout(between, DEVICE, runtime.get_layout(second, 0, 0))
    assert (laid_out is between) == (copies == 0)
    assert torch.equal(result.first, -between.first)


def test_a_layout_of_another_dtype_converts_the_elements():
    compiled = binary(UNARY.format("neg"), element="bf16")
    x = torch.randn(32, 64)
    assert torch.equal(call(compiled, on_host(x)).first, -x.bfloat16())


def test_ten_iterations_of_two_programs_equal_those_of_one():
    step = '%z = "ttnn.multiply"(%x, %x) : (GIVEN, GIVEN) -> GIVEN\n%y = "ttnn.sigmoid"(%z) : (GIVEN) -> MADE'
    fused = step.replace("%y", "%w").replace("MADE", "GIVEN") + '\n%y = "ttnn.tanh"(%w) : (GIVEN) -> MADE'
    apart = [binary(step), binary(UNARY.format("tanh"))]
    whole = binary(fused)
    x = y = on_host(torch.randn(32, 64))

    def train():
        nonlocal x
        for _ in range(10):
            for each in apart:
                x = call(each, x)

    _, moved = conversions(train)
    assert moved == 1
    for _ in range(10):
        y = call(whole, y)
    assert torch.equal(x.first, y.first)


def test_a_binary_says_where_it_wants_each_input():
    (held,) = binary(UNARY.format("neg"), given="l1").inputs(0)
    memory = held["desc"]["layout"]["memory_desc"]
    assert memory["memory_config"] == {"tensor_memory_layout": "Interleaved", "buffer_type": "L1"}
    assert memory["tile_shape"] == {"y": 32, "x": 32}
