"""Refusals of the verifier and their messages."""

import pytest
from xdsl.dialects.builtin import TensorType, f32

from ttnn_jit import ops
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects import InvalidModule, parse_module, ttnn, verify
from ttnn_jit.dialects.builders import tile_memref
from ttnn_jit.specs.tensor_spec import DataType

MEMREF = str(tile_memref((1, 2), DataType.BFLOAT16, "l1"))
TILE = "!ttcore.tile<32x32, bf16>"
INTEGERS = "!ttcore.tile<32x32, si32>"
MAP = "affine_map<(d0) -> (d0)>"


def refusal(body: str, arguments: str = "") -> InvalidModule:
    module = parse_module(f"func.func @f({arguments}) {{\n{body}\nreturn\n}}")
    with pytest.raises(InvalidModule) as caught:
        verify(module)
    return caught.value


@pytest.mark.parametrize(
    ("body", "arguments", "message"),
    [
        (
            '%0 = "ttnn.exp"(%a, %a) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>',
            "%a: tensor<1xf32>",
            "'ttnn.exp' op: ttnn.exp takes 1 operands and has one result, got 2 and 1",
        ),
        (
            '%0 = "ttnn.exp"(%a) : (f32) -> tensor<1xf32>',
            "%a: f32",
            "'ttnn.exp' op: ttnn.exp takes tensors, got f32",
        ),
        (
            '%0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 3x3>, mesh_shape = #ttnn<mesh_shape 2x4>}> '
            ": () -> !ttnn.device",
            "",
            "'ttnn.get_device' op: ttnn.get_device gives the device of a 1x1 mesh at 0x0, got one of 2x4 at 3x3",
        ),
        (
            '%0 = "ttir.exp"(%a) : (tensor<1xf32>) -> f32',
            "%a: tensor<1xf32>",
            "'ttir.exp' op: ttir.exp results in a tensor, got f32",
        ),
        (
            '%0 = "ttnn.add"(%a, %a) <{dtype = #ttcore.supportedDataTypes<bf16>}> '
            ": (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>",
            "%a: tensor<1xf32>",
            "'ttnn.add' op: ttnn.add says dtype bf16 but results in f32",
        ),
        (
            '%0 = "ttnn.clamp_scalar"(%a) <{max = 1.0 : f32}> : (tensor<1xf32>) -> tensor<1xf32>',
            "%a: tensor<1xf32>",
            "'ttnn.clamp_scalar' op: ttnn.clamp_scalar needs the f32 property `min`",
        ),
        (
            f'%0 = "d2m.tile_add"(%a, %a) : (f32, f32) -> {TILE}',
            "%a: f32",
            "'d2m.tile_add' op: d2m.tile_add needs a tile among its operands",
        ),
        (
            f'%0 = "d2m.tile_add"(%a, %b) : ({TILE}, index) -> {TILE}',
            f"%a: {TILE}, %b: index",
            "'d2m.tile_add' op: d2m.tile_add takes tiles and f32 scalars, got index",
        ),
        (
            f'%0 = "d2m.tile_add"(%a, %b) : ({INTEGERS}, f32) -> {INTEGERS}',
            f"%a: {INTEGERS}, %b: f32",
            "'d2m.tile_add' op: d2m.tile_add takes tiles and i32 scalars, got f32",
        ),
        (
            f'%0 = "d2m.tile_add"(%a, %b) : ({INTEGERS}, {TILE}) -> {INTEGERS}',
            f"%a: {INTEGERS}, %b: {TILE}",
            "'d2m.tile_add' op: d2m.tile_add got bf16 and si32",
        ),
        (
            f'%0 = "d2m.tile_exp"(%a) : ({INTEGERS}) -> {INTEGERS}',
            f"%a: {INTEGERS}",
            "'d2m.tile_exp' op: d2m.tile_exp takes no numbers of si32",
        ),
        (
            f'%0 = "d2m.tile_bitwise_not"(%a) : ({TILE}) -> {TILE}',
            f"%a: {TILE}",
            "'d2m.tile_bitwise_not' op: d2m.tile_bitwise_not takes no numbers of bf16",
        ),
        (
            '%0 = "ttir.full"() <{fill_value = 0.5 : f32, shape = array<i32: 4>}> : () -> tensor<4xsi32>',
            "",
            "'ttir.full' op: ttir.full fills a tensor of si32 with an i32, got f32",
        ),
        (
            '%0 = "ttir.full"() <{fill_value = 5 : i32, shape = array<i32: 4>}> : () -> tensor<4xbf16>',
            "",
            "'ttir.full' op: ttir.full fills a tensor of bf16 with an f32, got i32",
        ),
        (
            f'%0 = "d2m.tile_exp"(%a) : ({TILE}) -> f32',
            f"%a: {TILE}",
            "'d2m.tile_exp' op: d2m.tile_exp results in a tile, got f32",
        ),
        (
            f"%0 = affine.load %a[0] : {MEMREF}",
            f"%a: {MEMREF}",
            "'affine.load' op: affine.load needs one index per dimension of memref<1x2x!ttcore.tile<32x32, bf16>, "
            "#ttcore.memory_space<l1>>",
        ),
        (
            f'"affine.store"(%t, %a, %i) <{{map = affine_map<(d0) -> (d0 * 2, 0)>}}> : ({TILE}, {MEMREF}, index) -> ()',
            f"%t: {TILE}, %a: {MEMREF}, %i: index",
            "'affine.store' op: affine.store takes values and constants as indices, got (d0) -> (d0 * 2, 0)",
        ),
        (
            f'%0 = "d2m.wait"(%a) : (!d2m.cb<{MEMREF}>) -> memref<1xf32>',
            f"%a: !d2m.cb<{MEMREF}>",
            "'d2m.wait' op: d2m.wait results in memref<1x2x!ttcore.tile<32x32, bf16>, #ttcore.memory_space<l1>>, "
            "got memref<1xf32>",
        ),
    ],
)
def test_an_op_that_violates_a_rule_is_refused_with_it(body: str, arguments: str, message: str) -> None:
    assert refusal(body, arguments).message == message


@pytest.mark.parametrize(
    ("maps", "types", "factors", "buffers", "message"),
    [
        (1, 1, 1, 2, "2 operands need as many indexing maps, got 1"),
        (2, 2, 1, 2, "every indexing map needs one dimension per iterator type, 2"),
        (2, 1, 2, 2, "every dimension needs a block factor: 1, got 2"),
        (2, 1, 1, 1, "2 operands need as many buffers, got 1"),
    ],
)
def test_a_generic_is_refused_if_its_counts_differ(
    maps: int, types: int, factors: int, buffers: int, message: str
) -> None:
    arguments = ", ".join([f"%b{index}: !d2m.cb<{MEMREF}>" for index in range(buffers)])
    body = f"""
d2m.generic {{block_factors = [{", ".join(["1"] * factors)}], grid = #ttcore.grid<1x1>,
  indexing_maps = [{", ".join([MAP] * maps)}],
  iterator_types = [{", ".join(["#ttcore.iterator_type<parallel>"] * types)}], threads = [#d2m.thread<compute>]}}
  ins(%a : tensor<1xf32>) outs(%a : tensor<1xf32>) {{
  ^compute0({arguments}):
  }} : tensor<1xf32>
"""
    assert refusal(body, "%a: tensor<1xf32>").message == f"'d2m.generic' op: {message}"


def test_a_use_before_its_definition_is_refused_at_the_location_of_the_user() -> None:
    error = refusal('%0 = arith.addf %1, %1 : f32 loc("a.py":3:1)\n%1 = arith.constant 1.0 : f32')
    assert error.message == "'arith.addf' op: operand #0 is not defined before it is used"
    assert error.location == Location("a.py", 3, 1)


def test_a_value_cannot_be_used_outside_its_loop() -> None:
    module = parse_module("""
func.func @f(%n: index) {
  scf.for %i = %n to %n step %n {
    %0 = arith.addi %i, %n : index
  }
  %1 = arith.addi %n, %n : index
  return
}""")
    function = module.body.block.first_op
    assert function is not None
    loop, after, _ = function.regions[0].block.ops
    inner = loop.regions[0].block.first_op
    assert inner is not None
    after.operands[0] = inner.results[0]
    with pytest.raises(InvalidModule, match="operand #0 is not defined before it is used"):
        verify(module)


def test_a_function_cannot_use_the_values_of_another() -> None:
    module = parse_module("""
func.func @f(%a: tensor<1xf32>) {
  return
}
func.func @g() {
  return
}""")
    first, second = module.body.block.ops
    argument = first.regions[0].block.args[0]
    stray = ttnn.OP_OF[ops.OVERLOADS["exp"][0]].make([argument], TensorType(f32, [1]))
    second.regions[0].block.insert_ops_before([stray], second.regions[0].block.ops.first)  # type: ignore[arg-type]
    with pytest.raises(InvalidModule, match="Operation using value defined out of its IsolatedFromAbove parent"):
        verify(module)


def test_a_second_block_is_refused() -> None:
    module = parse_module("func.func @f() {\n  return\n^bb1:\n  return\n}")
    with pytest.raises(InvalidModule, match="a region has one block, for no op here branches; got 2"):
        verify(module)


LAYOUT = "#ttnn.ttnn_layout<MAP, <GRID>, memref<MEMREF, #ttnn.buffer_type<dram>>, <interleaved>>"


@pytest.mark.parametrize(
    ("linear", "grid", "memref", "message"),
    [
        (
            "(d0) -> (0, d0)",
            "1x1",
            "64x32xf32",
            "the map of a layout takes the tensor's 2 dimensions, got (d0) -> (0, d0)",
        ),
        (
            "(d0, d1) -> (d0)",
            "1x1",
            "64x32xf32",
            "the map of a layout gives the memref's 2 dimensions, got (d0, d1) -> (d0)",
        ),
        ("(d0, d1)[s0] -> (d0, d1)", "1x1", "64x32xf32", "takes the tensor's 2 dimensions"),
        ("(d0, d1) -> (d1, d0)", "1x1", "64x32xf32", "the map of the layout of a tensor of shape"),
        ("(d0, d1) -> (d0, d1)", "1x2", "64x32xf32", "the grid of the layout of a tensor of shape"),
        ("(d0, d1) -> (d0, d1)", "1x1", "64x33xf32", "the memref of the layout of a tensor of shape"),
        ("(d0, d1) -> (d0, d1)", "1x1", "64x32xbf16", "the memref of the layout of a tensor of shape"),
        (
            "(d0, d1) -> (d0, d1)",
            "1x1",
            "2x2x!ttcore.tile<32x32, f32>",
            "the memref of the layout of a tensor of shape",
        ),
    ],
)
def test_an_impossible_layout_for_a_shape_is_refused(linear: str, grid: str, memref: str, message: str) -> None:
    layout = LAYOUT.replace("MAP", linear).replace("GRID", grid).replace("MEMREF", memref)
    error = refusal("", f"%a: tensor<64x32xf32, {layout}>")
    assert message in error.message
    assert error.location is not None


TILES = "memref<2x2x!ttcore.tile<32x32, bf16>, #ttcore.memory_space<l1>>"
LINALG = """linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
 ins(%a : {tiles}) outs(%b : {tiles}) {{
 ^bb0(%in: {tile}, %out: {element}):
   %0 = "d2m.tile_exp"({read}) : ({tile}) -> {tile}
   {end}
 }}"""


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"maps": "affine_map<(d0, d1) -> (d0 floordiv 1, d1)>, affine_map<(d0, d1) -> (d0, d1)>"}, "gives dimensions"),
        ({"end": ""}, "the block ends with linalg.yield of the output's element"),
        ({"read": "%out"}, "the block does not read the output's element"),
    ],
)
def test_a_linalg_generic_that_no_pass_could_run_is_refused(changed: dict[str, str], message: str) -> None:
    plain = {"maps": ", ".join(["affine_map<(d0, d1) -> (d0, d1)>"] * 2), "element": TILE, "read": "%in"}
    plain["end"] = f"linalg.yield %0 : {TILE}"
    body = LINALG.format(**(plain | {"tiles": TILES, "tile": TILE} | changed))
    assert message in refusal(body, f"%a: {TILES}, %b: {TILES}").message


def test_a_system_description_of_another_kind_is_refused_at_its_location() -> None:
    for attribute in ("3 : i64", '"cpu"', "unit", "[]", "affine_map<(d0) -> (d0)>"):
        module = parse_module(f"module attributes {{ttcore.system_desc = {attribute}}} {{\n}}", "dump.mlir")
        with pytest.raises(InvalidModule, match=r"ttcore.system_desc must be a #ttcore.system_desc, got"):
            verify(module)


T = "tensor<32x32xf32>"
FREES = {"": "", "force": " <{force = true}>", "no force": " <{force = false}>"}


@pytest.mark.parametrize("force", FREES.values(), ids=FREES)
@pytest.mark.parametrize(
    ("user", "operands"),
    [('%1 = "ttnn.exp"(%0) : ({T}) -> {T}', "exp"), ('"ttnn.deallocate"(%0) : ({T}) -> ()', "deallocate")],
)
def test_a_value_cannot_be_used_after_its_deallocation(user, operands, force):
    freed = f'"ttnn.deallocate"(%0){force} : ({T}) -> ()'
    body = f'%0 = "ttnn.exp"(%a) : ({T}) -> {T} loc("m.py":1:1)\n{freed} loc("m.py":2:3)\n' + user.format(T=T)
    error = refusal(body + ' loc("m.py":4:5)', f"%a: {T}")
    assert str(error.location) == "m.py:4:5"
    assert error.message == f"'ttnn.{operands}' op: operand #0 was deallocated at m.py:2:3"


def test_an_argument_cannot_be_deallocated():
    error = refusal(f'"ttnn.deallocate"(%a) : ({T}) -> () loc("m.py":2:3)', f"%a: {T}")
    assert "an argument is not deallocated: its memory belongs to the caller" in error.message
    assert str(error.location) == "m.py:2:3"


@pytest.mark.parametrize(
    "text",
    [
        f'%1 = "ttnn.deallocate"(%0) : ({T}) -> {T}',
        f'"ttnn.deallocate"(%0, %0) : ({T}, {T}) -> ()',
        f'"ttnn.deallocate"(%0) <{{force = 3 : i32}}> : ({T}) -> ()',
        '"ttnn.deallocate"() : () -> ()',
    ],
)
def test_one_op_deallocates_one_tensor(text):
    refusal(f'%0 = "ttnn.exp"(%a) : ({T}) -> {T}\n{text}', f"%a: {T}")
