"""Arguments of functions that run once, on the host."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, SymbolRefAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, users_of
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import (
    LayoutView,
    data_type_attribute,
    has_layout,
    laid_out,
)
from ttnn_jit.dialects.upstream.rules.view import symbol_around


def move_to_host(function: FuncOp, rewriter: Rewriter) -> None:
    """Gives each argument that only functions that run once read a layout of the host; they convert it."""
    for argument in function.body.block.args:
        readers = users_of(argument)
        if not has_layout(argument.type) or not LayoutView(argument.type).on_device or not readers:
            continue
        if any(each.name != "ttcore.load_cached" for each in readers):
            continue
        assert isinstance(argument.type, TensorType)
        bare = TensorType(argument.type.get_element_type(), argument.type.get_shape())
        type_ = laid_out(bare, tiled=False, memory="system_memory")
        for call in readers:
            for index, operand in enumerate(call.operands):
                if operand is argument:
                    _convert_argument(_callee(call), index, type_, rewriter)
        argument._type = type_
        rewriter.changes += 1
    _renew_inputs(function)


def _callee(call: Operation) -> FuncOp:
    name = call.properties["callee"]
    assert isinstance(name, SymbolRefAttr)
    found = symbol_around(call, name.root_reference.data)
    assert isinstance(found, FuncOp), "its verifier checks it"
    return found


def _convert_argument(function: FuncOp, index: int, type_: Attribute, rewriter: Rewriter) -> None:
    argument = function.body.block.args[index]
    wanted = argument.type
    if wanted == type_:
        return
    first = next(op for op in function.body.block.ops if op.name != "ttnn.get_device")
    view = LayoutView(wanted)
    assert isinstance(wanted, TensorType)
    properties = {
        "layout": view.layout(),
        "dtype": data_type_attribute(wanted.get_element_type()),
        "memory_config": view.memory_config(),
    }
    made = rewriter.create("ttnn.to_layout", {"input": argument}, properties, [wanted], first)
    value = made.results[0]
    for use in [*argument.uses]:
        if use.operation is not made:
            use.operation.operands[use.index] = value
    argument._type = type_
    _renew_inputs(function)


def _renew_inputs(function: FuncOp) -> None:
    types = function.function_type
    inputs = [each.type for each in function.body.block.args]
    function.function_type = FunctionType.from_lists(inputs, types.outputs.data)
