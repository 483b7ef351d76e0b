"""Ops as former versions of tt-mlir wrote them compute what their present forms do."""

import pytest
import torch

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.sessions.text_runs import GoldenRun
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.texts.inputs import draw_inputs

_WINDOW = "{0}_height = {1} : si32, {0}_width = {2} : si32"  # a pair as two attributes
_STRIDE, _DILATION, _KERNEL = (
    _WINDOW.format(*each) for each in (("stride", 2, 1), ("dilation", 1, 1), ("kernel", 3, 2))
)
_SIDES = "padding_top = 1 : si32, padding_left = 0 : si32, padding_bottom = 1 : si32, padding_right = 1 : si32"
_NOW = "stride = array<i32: 2, 1>, padding = array<i32: 1, 0, 1, 1>, dilation = array<i32: 1, 1>"
_SLICE = "{begins = [0 : i32, 1 : i32], ends = [3 : i32, 8 : i32], step = [1 : i32, 2 : i32]} : 3x8xf32 -> 3x4xf32"
_POOLED = ": 1x8x6x4xf32 -> 1x4x6x4xf32"
_NORM = ": 2x3x4x4xf32, 3xf32, 3xf32, 3xf32, 3xf32 -> 2x3x4x4xf32"
PAIRS = {
    "slice": ("ttir.slice " + _SLICE, "ttir.slice_static " + _SLICE),
    "slice of ttnn": ("ttnn.slice " + _SLICE, "ttnn.slice_static " + _SLICE),
    "select": (
        "ttir.select {dim = 1 : si32, begin = 1 : si32, length = 2 : si32, stride = 4 : si32} : 3x8xf32 -> 3x4xf32",
        "ttir.index_select {dim = 1 : si32, begin = 1 : si32, length = 2 : si32, stride = 4 : si32}"
        " : 3x8xf32 -> 3x4xf32",
    ),
    "clamp": tuple(
        f"ttir.{name} {{min = -5.0e-1 : f32, max = 5.0e-1 : f32}} : 3x8xf32 -> 3x8xf32"
        for name in ("clamp", "clamp_scalar")
    ),
    "power": tuple(f"ttir.{name} : 3x8xf32, 3x8xf32 -> 3x8xf32" for name in ("power", "pow")),
    "power of ttnn": tuple(f"ttnn.{name} : 3x8xf32, 3x8xf32 -> 3x8xf32" for name in ("pow", "pow_tensor")),
    "div": tuple(f"ttnn.{name} : 3x8xbf16, 3x8xbf16 -> 3x8xbf16" for name in ("div", "divide")),
    "gather": tuple(
        f"ttir.{name} {{dim = 1 : i32}} : 3x8xf32, 3x2xi32 -> 3x2xf32" for name in ("gather_dim", "gather")
    ),
    "scatter": tuple(
        f"ttir.{name} {{dim = 1 : i32{more}}} : 3x8xf32, 3x1xi32, 3x1xf32 -> 3x8xf32"
        for name, more in (("scatter_in_dim", ""), ("scatter", ", scatter_reduce_type = #ttcore.reduce_type<invalid>"))
    ),
    "batch norm": tuple(
        f"ttir.{name} {{dimension = 1 : i32, epsilon = 1.0e-5 : f32{more}}} {_NORM}"
        for name, more in (("batch_norm", ", training = false"), ("batch_norm_inference", ""))
    ),
    "max_pool2d": (
        f"ttir.max_pool2d {{{_KERNEL}, {_STRIDE}, {_DILATION}, {_SIDES}, ceil_mode = false}} {_POOLED}",
        f"ttir.max_pool2d {{kernel = array<i32: 3, 2>, {_NOW}, ceil_mode = false}} {_POOLED}",
    ),
    "avg_pool2d": (
        f"ttir.avg_pool2d {{{_KERNEL}, {_STRIDE}, {_DILATION}, {_SIDES}, ceil_mode = false}} {_POOLED}",
        f"ttir.avg_pool2d {{kernel = array<i32: 3, 2>, {_NOW}, ceil_mode = false}} {_POOLED}",
    ),
    "conv2d": (
        f"ttir.conv2d {{{_STRIDE}, {_DILATION}, {_SIDES}, groups = 1 : i32}} : 1x8x6x4xf32, 5x4x3x2xf32 -> 1x4x6x5xf32",
        f"ttir.conv2d {{{_NOW}, groups = 1 : i32}} : 1x8x6x4xf32, 5x4x3x2xf32 -> 1x4x6x5xf32",
    ),
    "broadcast": (
        "ttir.broadcast {dimension = [0]} : 1x8xf32 -> 3x8xf32",
        "ttir.broadcast {broadcast_dimensions = array<i64: 3, 1>} : 1x8xf32 -> 3x8xf32",
    ),
    "no activations": tuple(
        f"ttnn.add {more}: 3x8xf32, 3x8xf32 -> 3x8xf32"
        for more in ("{activations = [], input_tensor_a_activations = []} ", "")
    ),
    "constraints of operands": (
        "ttir.add {operand_constraints = []} : 3x8xf32, 3x8xf32 -> 3x8xf32",
        "ttir.add : 3x8xf32, 3x8xf32 -> 3x8xf32",
    ),
}


def _module(op: str, *, written: bool) -> TextModule:
    """A function of one op ``name {attributes} : operands -> result``, which may take a tensor that it writes."""
    head, types = op.rsplit(" : ", 1)
    name, _, attributes = head.partition(" ")
    given, result = (part.strip() for part in types.split("->"))
    kinds = [f"tensor<{each.strip()}>" for each in given.split(",")]
    names = [f"%{index}" for index in range(len(kinds))]
    taken = ", ".join(f"%arg{index}: {kind}" for index, kind in enumerate(kinds))
    values, of_types = [f"%arg{index}" for index in range(len(names))], [*kinds]
    if written:
        values, of_types = [*values, "%out"], [*of_types, f"tensor<{result}>"]
    text = f"""
    func.func @main({taken}) -> tensor<{result}> {{
      %out = ttir.empty() : tensor<{result}>
      %r = "{name}"({", ".join(values)}) {attributes} : ({", ".join(of_types)}) -> tensor<{result}>
      return %r : tensor<{result}>
    }}"""
    (module,) = parse_texts(text, "former.mlir")
    return TextModule(module, PRESETS["cpu"])


@pytest.mark.parametrize("name", PAIRS)
def test_a_former_op_computes_what_its_present_form_does(name):
    before, now = PAIRS[name]
    former, present = _module(before, written=before.startswith("ttir.")), _module(now, written=False)
    inputs = draw_inputs(former.functions["main"], former.program("main").arguments, 0)
    (found,), (wanted,) = former.program("main")(*inputs), present.program("main")(*inputs)
    assert torch.equal(found.nan_to_num(), wanted.nan_to_num())
    assert not wanted.isnan().all()
    assert all(each.matches for each in GoldenRun(former, "main", inputs).compared())


def test_a_former_scatter_replaces_slices():
    numbers = (
        "update_window_dims = array<i32: 0, 2>, inserted_window_dims = array<i32: 1>, "
        "input_batching_dims = array<i32>, scatter_indices_batching_dims = array<i32>, "
        "scatter_dims_to_operand_dims = array<i32: 1>, index_vector_dim = 1 : i32, "
        "indices_are_sorted = false, unique_indices = true"
    )
    module = _module(
        f"ttir.scatter {{{numbers}}} : 2x8x3xf32, 2x1xi64, 2x2x3xf32 -> 2x8x3xf32",
        written=True,
    )
    x, update = torch.randn(2, 8, 3), torch.randn(2, 2, 3)
    inputs = [x, torch.tensor([[5], [1]]), update]
    (found,) = module.program("main")(*inputs)
    wanted = x.clone()
    wanted[:, [5, 1]] = update
    assert torch.equal(found, wanted)
    assert all(each.matches for each in GoldenRun(module, "main", inputs).compared())


@pytest.mark.parametrize("sizes", ["", "<{operandSegmentSizes = array<i32: 2, 1>}>"])
def test_a_destination_with_elements_is_overwritten(sizes):
    text = f"""
    func.func @main(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {{
      %out = "ttir.ones"() <{{shape = array<i32: 3, 8>}}> : () -> tensor<3x8xf32>
      %r = "ttir.add"(%x, %x, %out) {sizes} : (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
      return %r : tensor<3x8xf32>
    }}"""
    (module,) = parse_texts(text, "written.mlir")
    x = torch.randn(3, 8)
    assert torch.equal(TextModule(module, PRESETS["cpu"]).program("main")(x)[0], x + x)


TRACED = """
module {
  func.func private @trace_0_main(%x: tensor<3x8xf32>, %y: tensor<3x8xf32>) -> tensor<3x8xf32> {
    %0 = "ttnn.multiply"(%x, %y) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    return %0 : tensor<3x8xf32>
  }
  func.func private @run_and_capture_trace_0_main(%x: tensor<3x8xf32>, %y: tensor<3x8xf32>)
      -> (tensor<ui32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
    %0 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    %1 = "ttnn.empty"(%0) <{shape = #ttnn.shape<3x8>}> : (!ttnn.device) -> tensor<3x8xf32>
    "ttnn.write_tensor"(%x, %1) <{blocking = false, cq_id = 0 : ui32}> : (tensor<3x8xf32>, tensor<3x8xf32>) -> ()
    %2 = call @trace_0_main(%1, %y) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    "ttnn.deallocate"(%2) <{force = false}> : (tensor<3x8xf32>) -> ()
    %3 = "ttnn.begin_trace_capture"(%0) <{cq_id = 0 : ui32}> : (!ttnn.device) -> tensor<ui32>
    %4 = call @trace_0_main(%1, %y) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    "ttnn.end_trace_capture"(%0, %3) <{cq_id = 0 : ui32}> : (!ttnn.device, tensor<ui32>) -> ()
    "ttnn.execute_trace"(%0, %3) <{blocking = false, cq_id = 0 : ui32}> : (!ttnn.device, tensor<ui32>) -> ()
    return %3, %1, %y, %4 : tensor<ui32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  func.func @main(%x: tensor<3x8xf32>, %y: tensor<3x8xf32>) -> tensor<3x8xf32> {
    %0 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    %1 = "ttnn.capture_or_execute_trace"(%0, OPERANDS) <{capture_callee = @run_and_capture_trace_0_main,
      execute_callee = @execute_trace_0_mainSIZES}> : (!ttnn.device, TYPES) -> tensor<3x8xf32>
    return %1 : tensor<3x8xf32>
  }
}
"""


def _traced(operands: str, types: str, sizes: str = "") -> TextModule:
    text = TRACED.replace("OPERANDS", operands).replace("TYPES", types).replace("SIZES", sizes)
    (module,) = parse_texts(text, "traced.mlir")
    return TextModule(module, PRESETS["cpu"])


@pytest.mark.parametrize("sizes", ["", ", operandSegmentSizes = array<i32: 1, 2>"])
def test_a_trace_gives_the_results_of_its_function_which_is_computed_once(sizes):
    module = _traced("%x, %y", "tensor<3x8xf32>, tensor<3x8xf32>", sizes)
    x, y = torch.randn(3, 8), torch.randn(3, 8)
    (found,) = module.program("main")(x, y)
    assert torch.equal(found, x * y)
    compared = [*GoldenRun(module, "main", [x, y]).compared()]
    assert all(each.matches for each in compared)
    assert sum("multiply" in str(each.op) for each in compared) == 1


def test_a_trace_of_fewer_tensors_than_its_function_takes_is_refused():
    with pytest.raises(CompileError, match="@run_and_capture_trace_0_main takes 2 tensors and returns 4 values, got 1"):
        _traced("%x", "tensor<3x8xf32>").program("main")


def test_a_text_of_the_dialect_tt_runs_on_its_device():
    text = """
    #dram = #ttnn.buffer_type<dram>
    #device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, meshShape = , chipIds = [0]>
    #tile = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!tt.tile<32x32, f32>, #dram>, <interleaved>>
    module attributes {tt.device = #device} {
      func.func @main(%x: tensor<3x8xf32, #tile>) -> tensor<3x8xf32, #tile> {
        %0 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !tt.device<#device>
        %1 = "ttnn.empty"(%0) <{dtype = #tt.supportedDataTypes<f32>, layout = #ttnn.layout<tile>, memory_config =
            #ttnn.memory_config<#dram, <<1x1>>, <interleaved>>, shape = #ttnn.shape<3x8>}>
            : (!tt.device<#device>) -> tensor<3x8xf32, #tile>
        %2 = "ttnn.multiply"(%x, %x, %1) <{operandSegmentSizes = array<i32: 2, 1>}>
            : (tensor<3x8xf32, #tile>, tensor<3x8xf32, #tile>, tensor<3x8xf32, #tile>) -> tensor<3x8xf32, #tile>
        return %2 : tensor<3x8xf32, #tile>
      }
    }"""
    (module,) = parse_texts(text, "tt.mlir")
    x = torch.randn(3, 8)
    assert torch.equal(TextModule(module, PRESETS["cpu"]).program("main")(x)[0], x * x)
