from __future__ import annotations

import pytest

from tests.unit.frontend.stand_in import BF16, CPU, F32, WORMHOLE, lowered, ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import parse_module, print_module, system_desc_of
from ttnn_jit.frontend import lower_operation
from ttnn_jit.ops import ELEMENTWISE, OVERLOADS
from ttnn_jit.specs.cores.sharding import create_sharded_memory_config
from ttnn_jit.specs.tensor_spec import CoreGrid, DataType, Layout, ShardStrategy, TensorSpec

COSH = """\
#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @cosh(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
    %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    %1 = "ttnn.exp"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %2 = "ttnn.neg"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %3 = "ttnn.exp"(%2) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %4 = "ttnn.add"(%1, %3) <{dtype = #ttcore.supportedDataTypes<bf16>}> {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %5 = "ttnn.full"(%0) <{dtype = #ttcore.supportedDataTypes<bf16>, fill_value = 5.000000e-01 : f32, layout = #ttnn.layout<tile>, shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xbf16, #ttnn_layout>
    %6 = "ttnn.multiply"(%4, %5) <{dtype = #ttcore.supportedDataTypes<bf16>}> {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    return %6 : tensor<32x32xbf16, #ttnn_layout>
  }
}
"""  # noqa: E501


def cosh(input_tensor):
    e_pos_x = ttnn.exp(input_tensor)
    e_neg_x = ttnn.exp(ttnn.neg(input_tensor))
    nr_term = ttnn.add(e_pos_x, e_neg_x)
    return ttnn.multiply(nr_term, 0.5)


def op_names(result):
    return [op.name.partition(".")[2] for op in result.module.body.block.first_op.body.block.ops]


def ops_named(result, name):
    return [op for op in result.module.body.block.first_op.body.block.ops if op.name == name]


BOTH = pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])


@BOTH
def test_cosh_is_the_text_of_the_document_with_its_missing_alias_lines(graph_capture):
    assert print_module(lowered(cosh, BF16, graph_capture=graph_capture).module) == COSH


@BOTH
def test_the_text_parses_back_to_the_same_module(graph_capture):
    text = print_module(lowered(cosh, F32, graph_capture=graph_capture).module)
    assert print_module(parse_module(text)) == text


def test_a_program_without_numbers_needs_no_device():
    assert op_names(lowered(lambda x: ttnn.exp(x), BF16)) == ["exp", "return"]


def test_several_numbers_share_one_device_op_and_each_precedes_its_user():
    names = op_names(lowered(lambda x: 1 / (x + 2) ** 3, BF16))
    assert names == ["get_device", "full", "add", "full", "pow_tensor", "full", "divide", "return"]


def test_only_compute_ops_are_tagged():
    ops = lowered(cosh, BF16).module.body.block.first_op.body.block.ops
    tagged = {op.name for op in ops if "ttnn.hoist_generic_via_d2m" in op.attributes}
    assert tagged == {"ttnn.exp", "ttnn.neg", "ttnn.add", "ttnn.multiply"}


def test_under_device_numerics_a_number_has_the_results_dtype():
    (full,) = ops_named(lowered(lambda x: x * 0.1, BF16, target=WORMHOLE), "ttnn.full")
    assert full.properties["dtype"].data == "bf16"


def test_under_ieee_numerics_a_number_stays_float32():
    (full,) = ops_named(lowered(lambda x: x * 0.1, BF16, target=CPU), "ttnn.full")
    assert full.properties["dtype"].data == "f32"
    assert full.results[0].type.get_element_type().name == "f32"


def test_the_module_names_every_target_but_the_default():
    assert "system_desc" not in print_module(lowered(cosh, BF16, target=WORMHOLE).module)
    assert system_desc_of(lowered(cosh, BF16, target=CPU).module) == CPU


def test_clamp_holds_its_numbers_as_attributes():
    (clamp,) = ops_named(lowered(lambda x: ttnn.clamp(x, min=-1, max=2.5), BF16), "ttnn.clamp_scalar")
    assert clamp.statics == (-1.0, 2.5)


def test_the_result_of_where_has_the_dtype_of_its_values_and_the_layout_of_its_predicate():
    result = lowered(lambda p, x: ttnn.where(p, x, 0.0), F32, BF16)
    (where,) = ops_named(result, "ttnn.where")
    assert where.results[0].type.get_element_type().name == "bf16"


def test_the_result_has_the_broadcast_shape():
    row = BF16.with_(shape=(1, 32))
    result = lowered(lambda a, b: a + b, row, BF16)
    (add,) = ops_named(result, "ttnn.add")
    assert add.results[0].type.get_shape() == (32, 32)


def test_a_number_beyond_float32_is_an_infinity():
    (full,) = ops_named(lowered(lambda x: x * -1e300, F32), "ttnn.full")
    assert full.properties["fill_value"].value.data == float("-inf")


def test_a_number_without_a_float_is_refused():
    with pytest.raises(CompileError, match="out of range of float"):
        lowered(lambda x: x * 10**400, F32)


def sharded(columns, rows):
    config = create_sharded_memory_config((64, 64), CoreGrid(x=columns, y=rows), ShardStrategy.BLOCK)
    return TensorSpec((64, 64), DataType.BFLOAT16, Layout.TILE, config)


def test_a_chip_target_refuses_operands_that_are_sharded_differently():
    with pytest.raises(CompileError, match="sharded differently"):
        lowered(lambda a, b: a + b, sharded(2, 2), sharded(1, 2))
    lowered(lambda a, b: a + b, sharded(2, 2), sharded(1, 2), target=CPU)


def test_the_result_of_a_sharded_and_an_interleaved_tensor_lies_like_the_first():
    interleaved = BF16.with_(shape=(64, 64))
    first = lowered(lambda a, b: a + b, sharded(2, 2), interleaved)
    second = lowered(lambda a, b: b + a, sharded(2, 2), interleaved)
    assert "block_sharded" in str(ops_named(first, "ttnn.add")[0].results[0].type)
    assert "block_sharded" not in str(ops_named(second, "ttnn.add")[0].results[0].type)


def test_a_sharded_first_operand_is_not_broadcast():
    row = TensorSpec(
        (32, 64),
        DataType.BFLOAT16,
        Layout.TILE,
        create_sharded_memory_config((32, 64), CoreGrid(x=2, y=1), ShardStrategy.BLOCK),
    )
    with pytest.raises(CompileError, match="put the larger one first"):
        lowered(lambda a, b: a + b, row, TensorSpec((2, 32, 64), DataType.BFLOAT16, Layout.TILE), target=CPU)


def test_a_lambda_and_odd_names_give_a_plain_symbol():
    assert "func.func @lambda(" in print_module(lowered(lambda x: ttnn.exp(x), BF16).module)


@pytest.mark.parametrize("operation", ELEMENTWISE, ids=lambda operation: f"{operation.name}-{operation.arity}")
def test_every_operation_can_be_lowered_alone(operation):
    numbers = tuple(attribute.default for attribute in operation.attributes)
    spec = F32 if F32.dtype in operation.dtypes else F32.with_(dtype=DataType.INT32)
    result = lower_operation(operation, (spec,) * operation.arity, numbers, CPU)
    assert op_names(result) == [operation.ttnn_name, "return"]


def test_one_operation_with_a_number_is_lowered_like_a_function():
    (multiply,) = OVERLOADS["multiply"]
    result = lower_operation(multiply, (BF16, 0.5), (), WORMHOLE)
    function = lowered(lambda x: x * 0.5, BF16)
    assert print_module(result.module).replace("@ttnn.multiply", "@lambda") == print_module(function.module)
