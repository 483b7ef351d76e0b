"""Texts with several meshes, permuted devices, uneven shardings, and computations that are manual along some axes."""

import re

import pytest
import torch

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.cli import opt_main
from ttnn_jit.transforms import pipeline

PERMUTED = """
module {
  sdy.mesh @mesh = <["x"=2, "y"=2]DEVICES>
  func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x", "y"}, {}]>]
        manual_axes={"x", "y"} (%a: tensor<1x6xf32>) {
      %1 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> :
          tensor<4x2xi64>}> : (tensor<1x6xf32>) -> tensor<1x6xf32>
      sdy.return %1 : tensor<1x6xf32>
    } : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
}
"""


def converted(text, passes):
    (module,) = parse_texts(text, "text.mlir")
    pipeline.run_passes(module, pipeline.parse_passes(passes))
    return op_text(module)


def ran(text, *inputs, mesh=(2, 2)):
    (module,) = parse_texts(text, "text.mlir")
    return TextModule(module, PRESETS["cpu"], mesh).program("main")(*inputs)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [0, 2, 1, 3], [3, 1, 0, 2]])
def test_rows_go_from_device_to_device_by_the_order_of_the_mesh(order):
    """Row i lies on the device `order[i]`; device d sends it to device d + 1."""
    text = PERMUTED.replace("DEVICES", "" if order == [0, 1, 2, 3] else f", device_ids={order}")
    x = torch.arange(24.0).reshape(4, 6)
    wanted = torch.empty_like(x)
    for row, device in enumerate(order):
        wanted[order.index((device + 1) % 4)] = x[row]
    forms = [text, converted(text, "stablehlo-pipeline"), converted(text, "stablehlo-to-ttir-pipeline")]
    assert "stablehlo" not in forms[-1]
    for form in forms:
        (own,) = ran(form, x)
        assert torch.equal(own, wanted), form


def test_the_number_of_a_device_is_refused_where_devices_are_permuted():
    text = PERMUTED.replace("DEVICES", ", device_ids=[0, 2, 1, 3]")
    text = text.replace("      sdy.return", "      %2 = stablehlo.partition_id : tensor<ui32>\n      sdy.return")
    with pytest.raises(CompileError, match=r"`stablehlo.partition_id` asks for the number") as caught:
        converted(text, "stablehlo-pipeline")
    assert caught.value.location.line == 9


SEVERAL = """
module {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  sdy.mesh @other = <["a"=4, "b"=2]>
  func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
    %0 = sdy.sharding_constraint %x <@other, [{"a"}, {"b"}]> : tensor<8x8xf32>
    %1 = stablehlo.negate %0 : tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
}
"""


def test_several_meshes_become_one_of_common_parts():
    found = converted(SEVERAL, "stablehlo-pipeline")
    assert re.findall("sdy.mesh @.*", found) == ['sdy.mesh @mesh = <["x"=2, "y_0"=2, "y_1"=2]>']
    assert "stablehlo.negate %arg1 : tensor<2x4xf32>" in found or re.search(r"negate .* : tensor<2x4xf32>", found)
    x = torch.arange(64.0).reshape(8, 8)
    assert torch.equal(ran(found, x, mesh=(2, 2, 2))[0], -x)


def test_meshes_of_other_devices_or_without_common_parts_are_refused():
    for other, said in (('"a"=4, "b"=4', "has 16 devices"), ('"a"=2, "b"=6', "has 12 devices")):
        with pytest.raises(CompileError, match=said):
            converted(SEVERAL.replace('"a"=4, "b"=2', other), "stablehlo-pipeline")
    text = SEVERAL.replace('"x"=2, "y"=4', '"x"=2, "y"=3').replace('"a"=4, "b"=2', '"a"=3, "b"=2')
    with pytest.raises(CompileError, match="no common parts") as caught:
        converted(text, "stablehlo-pipeline")
    assert caught.value.location.line == 3


UNEVEN = """module {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%x: tensor<3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<3x4xf32> {
    // expected-remark @+1 {{its sharding does not cut [3, 4] evenly: it is not cut along y}}
    %0 = sdy.sharding_constraint %x <@mesh, [{"y"}, {"x"}]> : tensor<3x4xf32>
    return %0 : tensor<3x4xf32>
  }
}
"""
GATHERED = """module {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x6xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %n = stablehlo.constant dense<3> : tensor<i32>
    %i = stablehlo.constant dense<1> : tensor<i32>
    // expected-remark @+1 {{`stablehlo.while` has no sharding rule: 1 of its tensors is gathered}}
    %0:2 = stablehlo.while(%a = %x, %b = %c) : tensor<4x6xf32>, tensor<i32>
      cond { %p = stablehlo.compare LT, %b, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1> }
      do { %q = stablehlo.add %a, %a : tensor<4x6xf32>
        %r = stablehlo.add %b, %i : tensor<i32>
        stablehlo.return %q, %r : tensor<4x6xf32>, tensor<i32> }
    return %0#0 : tensor<4x6xf32>
  }
}
"""
PARTLY_MANUAL = """module {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4x6xf32> {
    // expected-remark @+1 {{`sdy.manual_computation`: y is no manual axis}}
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>]
        manual_axes={"x"} (%a: tensor<2x6xf32>) {
      %1 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %s = stablehlo.add %l, %r : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<2x6xf32>) -> tensor<2x6xf32>
      sdy.return %1 : tensor<2x6xf32>
    } : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
}
"""


@pytest.mark.parametrize("text", [UNEVEN, GATHERED, PARTLY_MANUAL])
def test_what_is_gathered_is_remarked_at_its_place(text, tmp_path, capsys):
    file = tmp_path / "text.mlir"
    file.write_text(text)
    assert opt_main(["--stablehlo-pipeline", str(file)]) == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(rf"{re.escape(str(file))}:\d+:\d+: remark: .*\n", err)
    shape = tuple(map(int, re.search(r"%x: tensor<(\d)x(\d)xf32>", text).groups()))
    x = torch.arange(float(shape[0] * shape[1])).reshape(shape)
    assert torch.equal(ran(out, x)[0], ran(text, x)[0])
    assert opt_main(["--stablehlo-pipeline", "--verify-diagnostics", str(file)]) == 0
    file.write_text(text.replace("expected-remark", "expected"))
    assert opt_main(["--stablehlo-pipeline", "--verify-diagnostics", str(file)]) == 1
    assert "unexpected remark" in capsys.readouterr().err


FRONTEND = """
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\22x\\22=2]>}"}} {
  func.func @main(%x: tensor<8x6xf32> {mhlo.frontend_attributes = {xla.sdy.sharding =
      "#sdy.sharding<@mesh, [{\\22x\\22}, {}]>"}}, %w: tensor<6x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
"""
WRONG = {
    "spells none of Shardy": (FRONTEND.replace("{\\22x", "{{\\22x"), 3),
    "and at most 65,536 are read": (SEVERAL.replace('"y"=4', '"y"=1099511627776'), None),
    "operands, attributes and results do not fit": (FRONTEND.replace("[1] x [0]", "[1] x [7]"), 5),
    "has no part": (SEVERAL.replace('{"y"}', '{"y":(3)2}'), 3),
    "has each of them once": (SEVERAL.replace('"y"=4]', '"y"=4], device_ids=[0, 0, 1, 2, 3, 4, 5, 6]'), 3),
    "no axis 'q'": (SEVERAL.replace('{"y"}', '{"q"}'), 5),
}


@pytest.mark.parametrize("said", WRONG)
def test_a_wrong_sharding_is_refused_at_its_place(said):
    text, line = WRONG[said]
    with pytest.raises(CompileError, match=said) as caught:
        converted(text, "stablehlo-pipeline")
    assert line is None or caught.value.location.line == line
