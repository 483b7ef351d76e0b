"""Texts of tt-mlir become modules: attributes have types, constants stay splats, versions are told apart."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
from xdsl.dialects.builtin import TensorType, UnregisteredAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from tests.upstream_texts import FORMS, TTIR, TTNN
from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.text.content import content_of
from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.ttnn_attributes import TTNNLayoutAttr
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.formats import parsed_format
from ttnn_jit.dialects.upstream.reading import parse_upstream, pieces_of, read_upstream
from ttnn_jit.dialects.upstream.table_operations import named_operands
from ttnn_jit.dialects.upstream.upstream_parser import SplatElementsAttr
from ttnn_jit.dialects.verifier import InvalidModule


def operations(text: str) -> dict[str, Operation]:
    return {op.name: op for op in parse_upstream(text).walk()}


def attribute(text: str) -> object:
    (op,) = parse_upstream(f'"ttir.add"() {{a = {text}}} : () -> ()').ops
    return op.attributes["a"]


def reprinted(text: str) -> str:
    return print_module(parse_upstream(text))


def test_ttir_is_read_with_the_declared_classes_and_a_splat_stays_one_element():
    found = operations(TTIR)
    assert type(found["ttir.add"]).__module__ == "ttnn_jit.dialects.declared_ops"
    constant = found["ttir.constant"].properties["value"]
    assert isinstance(constant, SplatElementsAttr)
    assert str(constant) == "dense<1.000000e+00> : tensor<2x8xf32>"


def test_operands_have_the_names_of_the_table():
    operands = named_operands(operations(TTIR)["ttir.rms_norm"])
    assert {name: len(values) for name, values in operands.items()} == {"input": 1, "weight": 0, "bias": 0}


def test_ttnn_attributes_are_typed():
    found = operations(TTNN)
    config = found["ttnn.to_device"].properties["memory_config"]
    assert config.value("tensorMemoryLayout").value("value") == "block_sharded"
    assert config.value("shardSpec").value("shape").data == (32, 32)
    (host,) = [argument.type.encoding for argument in found["func.func"].body.block.args]
    assert host.value("memref").get_shape() == (32, 32)
    assert host.value("mem_layout") is None


def test_a_declared_attribute_is_of_its_class_if_that_takes_the_text():
    result = operations(TTNN)["ttnn.to_device"].results[0].type
    assert isinstance(result, TensorType)
    assert isinstance(result.encoding, TTNNLayoutAttr)
    assert isinstance(result.encoding.memref.element_type, TileType)


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_an_operation_in_its_own_assembly_is_printed_back_as_an_equal_one(text):
    assert content_of(parse_upstream(reprinted(text))) == content_of(parse_upstream(text))


def test_an_inherent_attribute_is_a_property_wherever_the_text_has_it():
    (gather,) = [
        op for op in parse_upstream(FORMS["properties in the dictionary of attributes"]).walk() if "all" in op.name
    ]
    assert [*gather.properties] == ["all_gather_dim", "cluster_axis"]
    assert [*gather.attributes] == ["other"]


def test_the_resources_of_a_text_are_read():
    assert read_upstream(FORMS["resources and spaces in shapes"]).resources == {("builtin", "weights"): "0x04000000"}


def test_the_format_is_printed_as_mlir_prints_it():
    text = "%0 = stablehlo.slice %arg0 [0:2, 0:4:2] : (tensor<2x4xf32>) -> tensor<2x2xf32>"
    module = f"func.func @f(%arg0: tensor<2x4xf32>) -> tensor<2x2xf32> {{\n{text}\nreturn %0 : tensor<2x2xf32>\n}}"
    assert f"    {text}\n" in reprinted(module)


@pytest.mark.parametrize("text", [TTIR, TTNN])
def test_a_module_that_is_printed_back_is_equal(text):
    assert content_of(parse_upstream(reprinted(text))) == content_of(parse_upstream(text))


@pytest.mark.parametrize(
    "text",
    [
        "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<1x1xbf16, #ttnn.buffer_type<l1>>, <height_sharded>, "
        "exactGrid = true>",
        "#ttnn.matmul_multi_core_reuse_program_config<compute_with_storage_grid_size = #ttnn.core_coord<7, 8>, "
        "in0_block_w = 2, out_subblock_h = 1, out_subblock_w = 1, per_core_m = 4, per_core_n = 4>",
        "#ttnn.conv2d_config<weights_dtype = bf16, act_block_h_override = 0, enable_kernel_stride_folding = false>",
        "#ttnn.conv2d_config<weights_dtype = bf16, in_place = false>",
        "#ttcore<runtime_tensor_sharding shard_status = <unsharded>, local_shape = tensor<4xf32>>",
        "#ttcore.metal_layout<logical_shape = 64x128, dim_alignments = 32x32, "
        "collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>",
        "#ttcore.argument_type<parameter>",
        "#ttir.thread<compute>",
        "#ttir<reduce_dim RC>",
        "#d2m.thread<datamovement, @kernel, dm_core = 1>",
        "memref<8x8x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #ttcore.memory_space<l1>>",
        "affine_map<(d0)[s0] -> (d0 * s0 + 1)>",
        "dense<(1.0, 2.0)> : tensor<4xcomplex<f32>>",
        "dense<0x7FC00000> : tensor<2xf32>",
        "dense<true> : tensor<2xi1>",
        "dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>",
    ],
)
def test_an_attribute_is_printed_as_an_equal_one(text):
    op = f'"ttir.add"() {{a = {text}}} : () -> ()'
    read = attribute(text)
    assert not isinstance(read, UnregisteredAttr)
    (again,) = parse_upstream(print_module(parse_upstream(op))).ops
    assert again.attributes["a"] == read


def test_an_alias_that_is_defined_anew_has_its_new_meaning():
    text = """
    #a = #ttcore.grid<1x1>
    "ttir.add"() {g = #a, t = tensor<1xf32, #a>} : () -> ()
    #a = #ttcore.grid<2x2>
    "ttir.add"() {g = #a, t = tensor<1xf32, #a>} : () -> ()
    """
    first, second = (op.attributes for op in parse_upstream(text).ops)
    assert first["g"] != second["g"]
    assert first["t"] != second["t"]


def test_a_body_that_does_not_parse_is_an_error_and_kept_only_on_request():
    text = '"ttir.add"() {a = #ttcore.grid<what is [this]>} : () -> ()'
    with pytest.raises(InvalidModule, match="<string>:1:32"):
        parse_upstream(text)
    reading = read_upstream(text, keep_bodies=True)
    assert reading.kept == ("ttcore.grid",)
    assert "#ttcore.grid<what is [this]>" in print_module(reading.module)


def test_an_unknown_operation_is_refused_with_one_that_is_near():
    with pytest.raises(InvalidModule, match=r"ttir\.addd is not registered") as raised:
        parse_upstream('"ttir.addd"() : () -> ()')
    assert "`ttir.add`" in raised.value.help
    parse_upstream('"other.op"() : () -> ()', allow_unregistered=True)


def test_a_file_is_split_at_its_marks_and_lines_are_counted():
    assert [*pieces_of("a\n// -----\nb\n")] == [(0, "a\n"), (1, "// -----\nb\n")]


def test_every_format_of_the_tables_parses():
    rows = [row for name in tables.operation_names() for row in tables.operation_rows(name)]
    rows += [row for is_type, name in tables.attribute_names() for row in tables.attribute_rows(name, is_type=is_type)]
    formats = {row.format for row in rows} - {"", "C++"}
    assert len(formats) > 300
    for form in formats:
        parsed_format(form)


def test_the_declared_operations_stand_in_the_tables_or_are_additions_of_this_package():
    from ttnn_jit.dialects.ttnn import TTNN as DIALECT

    declared = {op.name for op in DIALECT.operations}
    assert len(declared & {*tables.operation_names()}) > 100


def test_a_function_keeps_its_arguments_and_their_locations():
    (function,) = [op for op in parse_upstream(TTIR).walk() if isinstance(op, FuncOp)]
    assert str(function.body.block.args[0].location) == 'loc("x")'


@pytest.mark.process
def test_nothing_of_the_tables_is_loaded_with_the_package():
    program = """
        import sys, ttnn_jit, ttnn_jit.dialects
        assert not [name for name in sys.modules if name.startswith("ttnn_jit.dialects.upstream")]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=60)


def test_a_log_of_tt_xla_has_its_modules_as_parts():
    log = """2026-04-06 13:14:19.182 (  17.638s) [        86133140]      module_builder.cc:1220     1| MLIR Module ttir:
module @first {}
------------------ END OF MLIR MODULE ------------------
2026-04-06 13:14:19.182 (  17.640s) [        86133140]      module_builder.cc:1220     1| MLIR Module ttnn:
module @second {}
------------------ END OF MLIR MODULE ------------------
"""
    assert [(lines, piece.strip()) for lines, piece in pieces_of(log)] == [
        (0, "module @first {}"),
        (2, "// -----\n\nmodule @second {}"),
        (5, "// -----"),
    ]


def test_equal_texts_of_properties_types_and_locations_follow_an_alias_that_changes():
    text = """#a = array<i64: 1>
#l = loc("one")
module {
  "test.op"() <{x = #a}> : () -> () loc(#l)
  "test.op"() <{x = #a}> : () -> () loc(#l)
}
#a = array<i64: 2>
module {
  "test.op"() <{x = #a}> : () -> ()
}"""
    module = parse_upstream(text, allow_unregistered=True)
    found = [op.properties["x"] for op in module.walk() if op.properties.get("x") is not None]
    assert [tuple(each.get_values()) for each in found] == [(1,), (1,), (2,)]
    first, second, *_ = (op for op in module.walk() if "x" in op.properties)
    assert first.properties is not second.properties
    assert first.location == second.location
    assert first.location.desc.data == "one"


def test_equal_types_of_functions_are_read_to_their_ends():
    line = '"test.op"() : () -> !emitpy.opaque<"ttnn.Tensor">\n'
    module = parse_upstream(3 * line, allow_unregistered=True)
    assert len({str(op.results[0].type) for op in module.ops}) == 1


def test_each_declared_result_has_its_name_and_a_variadic_one_is_a_group():
    x, pair = "tensor<4x8xf32>", "(tensor<4x2xf32>, tensor<4x2xi32>)"
    text = f"""func.func @f(%x: {x}, %y: tensor<f32>) -> {x} {{
      %0:2 = "ttir.topk"(%x) <{{k = 2 : i32}}> : ({x}) -> {pair}
      %1:2 = "ttir.topk"(%x) <{{k = 2 : i32}}> : ({x}) -> {pair}
      %2:3 = "chlo.scan"(%x, %x, %y) <{{dimension = 1 : i64, operandSegmentSizes = array<i32: 2, 1>,
        resultSegmentSizes = array<i32: 2, 1>}}> ({{}}) : ({x}, {x}, tensor<f32>) -> ({x}, {x}, tensor<f32>)
      %3 = "ttir.abs"(%2#1) : ({x}) -> {x}
      return %3 : {x}
    }}"""
    lines = reprinted(text).splitlines()
    assert [line.partition(" = ")[0].strip() for line in lines if "%" in line][1:-1] == [
        "%values, %indices",
        "%values_0, %indices_1",
        "%outputs:2, %carries",
        "%0",
    ]
    assert '"ttir.abs"(%outputs#1)' in reprinted(reprinted(text))
