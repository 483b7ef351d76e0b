"""Gives every tensor of a function a layout, and converts where an operation reads another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import FunctionType, SymbolRefAttr, TensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.composite_calls import COMPOSITE
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, users_of
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import LayoutView, has_layout, laid_out
from ttnn_jit.dialects.upstream.rules.view import symbol_around

_ON_HOST = {"ttir.mesh_shard"}
"""Operations whose operands and results lie on the host, in rows."""

_KEEP_ROWS = {"ttir.mesh_shard", "ttir.update_cache", "ttir.paged_update_cache"}
"""Operations whose operands are no row-major arguments."""

_IN_ROWS = {"ttir.conv3d"}
"""Operations whose results are row-major."""

_LAID_OUT_BEFORE = {"ttir.broadcast", "ttir.to_layout"}
"""Operations whose results are read as they are."""

_MADE = {"ttir.constant", "ttir.zeros", "ttir.ones", "ttir.full", "ttir.empty", "ttir.arange", "ttir.rand"}
"""Operations that make a tensor in the layout of its type."""


def assign_layouts(function: FuncOp, is_row_major: Callable[[int], bool], rewriter: Rewriter) -> None:
    """Lays out the tensors of a function.

    Args:
        function: The function.
        is_row_major: Whether the argument of an index is an input, which is row-major.
        rewriter: Writes the conversions.
    """
    _assign_arguments(function, is_row_major)
    for op in [*function.walk()]:
        outputs = _called(op).function_type.outputs.data if op.name == "ttcore.load_cached" else ()
        for index, result in enumerate(op.results):
            _set_type(result, outputs[index] if outputs else _result_type(op, result.type))
    for op in [*function.walk()]:
        if op.name == COMPOSITE or (op.name.startswith("ttir.") and op.name not in {"ttir.to_layout"} | _MADE):
            _convert_operands(op, rewriter, on_host=_forces_host(op))
        elif isinstance(op, CallOp) and "ttir.cpu_hoisted_call" in op.attributes:
            _convert_operands(op, rewriter, on_host=True)
        elif op.name == "ttcore.load_cached":
            _convert_arguments(op, rewriter)
        elif isinstance(op, ReturnOp):
            _convert_returned(op, rewriter)
    _renew_type(function)
    rewriter.changes += 1


def _assign_arguments(function: FuncOp, is_row_major: Callable[[int], bool]) -> None:
    for argument in function.body.block.args:
        if not isinstance(argument.type, TensorType) or has_layout(argument.type):
            continue
        readers = users_of(argument)
        host = any(_forces_host(each) for each in readers) or _is_conv2d_weight(function, argument.index)
        rows = is_row_major(argument.index) and not any(each.name in _KEEP_ROWS for each in readers)
        _set_type(
            argument, laid_out(argument.type, tiled=not (host or rows), memory="system_memory" if host else "dram")
        )


def _called(op: Operation) -> FuncOp:
    """The function that runs once, whose tensors are laid out already, for it stands before its caller."""
    callee = op.properties["callee"]
    assert isinstance(callee, SymbolRefAttr)
    found = symbol_around(op, callee.root_reference.data)
    assert isinstance(found, FuncOp), "its verifier checks it"
    return found


def _convert_arguments(op: Operation, rewriter: Rewriter) -> None:
    """Gives a function that runs once its arguments in its layouts."""
    for index, type_ in enumerate(_called(op).function_type.inputs.data):
        if isinstance(type_, TensorType) and _differs(op.operands[index].type, type_):
            op.operands[index] = _to_layout(op.operands[index], type_, op, rewriter)


def _is_conv2d_weight(function: FuncOp, index: int) -> bool:
    given = function.arg_attrs
    return given is not None and "ttcore.conv2d_weight" in given.data[index].data


def _result_type(op: Operation, type_: Attribute) -> Attribute:
    if not isinstance(type_, TensorType) or has_layout(type_):
        return type_
    if _forces_host(op) or (isinstance(op, CallOp) and "ttir.cpu_hoisted_call" in op.attributes):
        return laid_out(type_, tiled=False, memory="system_memory")
    return laid_out(type_, tiled=op.name not in _IN_ROWS)


def _forces_host(op: Operation) -> bool:
    return op.name in _ON_HOST and "identity" not in str(op.properties.get("shard_type"))


def _convert_operands(op: Operation, rewriter: Rewriter, *, on_host: bool) -> None:
    for index, value in enumerate(op.operands):
        type_ = value.type
        owner = value.owner
        if not isinstance(type_, TensorType):
            continue
        if not on_host and isinstance(owner, Operation) and owner.name in _LAID_OUT_BEFORE:
            continue
        wanted = laid_out(_bare(type_), tiled=not on_host, memory="system_memory" if on_host else "dram")
        if _differs(type_, wanted):
            op.operands[index] = _to_layout(value, wanted, op, rewriter)


def _convert_returned(op: ReturnOp, rewriter: Rewriter) -> None:
    for index, value in enumerate(op.operands):
        if not isinstance(value.type, TensorType):
            continue
        owner = value.owner
        host = isinstance(owner, Operation) and _forces_host(owner)
        wanted = laid_out(_bare(value.type), tiled=not host, memory="system_memory" if host else "dram")
        if _differs(value.type, wanted):
            op.operands[index] = _to_layout(value, wanted, op, rewriter)


def _bare(type_: TensorType[Any]) -> TensorType[Any]:
    return TensorType(type_.get_element_type(), type_.get_shape())


def _differs(given: Attribute, wanted: Attribute) -> bool:
    one, other = LayoutView(given), LayoutView(wanted)
    return (one.tiled, one.memory, one.sharding) != (other.tiled, other.memory, other.sharding)


def _to_layout(value: SSAValue, type_: TensorType[Any], at: Operation, rewriter: Rewriter) -> SSAValue:
    output = rewriter.value("ttir.empty", {}, {}, type_, at)
    return rewriter.value("ttir.to_layout", {"input": value, "output": output}, {}, type_, at)


def _renew_type(function: FuncOp) -> None:
    """The type of a function from its arguments and what it returns."""
    block = function.body.block
    outputs = block.last_op.operands if isinstance(block.last_op, ReturnOp) else ()
    function.function_type = FunctionType.from_lists(
        [each.type for each in block.args], [each.type for each in outputs]
    )


def _set_type(value: SSAValue, type_: Attribute) -> None:
    value._type = type_
