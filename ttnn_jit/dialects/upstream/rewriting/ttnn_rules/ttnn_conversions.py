"""How operations of TTIR become operations of TTNN.

Most become their namesake, by the tables: operands and attributes of equal names, attributes of another kind by kind,
and the data type, layout, memory and device of the result where TTNN asks for them. `CONVERSIONS` has the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    dense_i32,
    integer,
    integers_in,
    parsed,
    shape_of,
    ttnn_shape,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import Given, Rewriter, operand_named, operands_by_name
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import LayoutView, data_type_attribute, has_layout
from ttnn_jit.dialects.upstream.rewriting.weight_types import WEIGHT_DTYPE
from ttnn_jit.dialects.upstream.tables import Attribute as AttributeOfRow
from ttnn_jit.dialects.upstream.tables import OperationRow

Conversion: TypeAlias = Callable[[Operation, Rewriter], list[SSAValue]]
"""Writes what an operation becomes; the values of its results."""

RENAMED = {
    "ttir.div": "ttnn.divide",
    "ttir.cumsum": "ttnn.moreh_cumsum",
    "ttir.dequantize_unrolled": "ttnn.dequantize",
    "ttir.quantize_unrolled": "ttnn.quantize",
    "ttir.requantize_unrolled": "ttnn.requantize",
    "ttir.upsample2d": "ttnn.upsample",
}
"""Operations whose namesake is called otherwise in TTNN."""

RENAMED_OPERANDS = {
    ("ttnn.batch_norm_inference", "operand"): "input",
    ("ttnn.batch_norm_inference", "scale"): "weight",
    ("ttnn.batch_norm_inference", "offset"): "bias",
    ("ttnn.batch_norm_inference", "mean"): "running_mean",
    ("ttnn.batch_norm_inference", "variance"): "running_var",
    ("ttnn.batch_norm_training", "operand"): "input",
    ("ttnn.batch_norm_training", "scale"): "weight",
    ("ttnn.batch_norm_training", "offset"): "bias",
    ("ttnn.batch_norm_training", "running_variance"): "running_var",
    ("ttnn.repeat", "repeat_dimensions"): "repeat_dims",
}
"""Operation of TTNN, and the name in TTIR -> the name in TTNN."""

_IN_PLACE = {
    **dict.fromkeys(
        ("ttnn.update_cache", "ttnn.paged_update_cache", "ttnn.fill_cache", "ttnn.paged_fill_cache"), ("cache",)
    ),
    "ttnn.adamw": ("param", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"),
}
"""Operations without results -> the operands that they write instead."""

_VIEWS = {"ttir.reshape", "ttir.squeeze", "ttir.unsqueeze", "ttir.to_layout"}
"""Operations whose result may lie in the buffer of their operand."""

_NOT_GIVEN = {"memory_config", "layout", "dtype", "output_dtype", "device"}


def refuse(op: Operation, reason: str = "") -> CompileError:
    """The error of an operation that cannot be converted, in MLIR's words."""
    message = f"failed to legalize operation '{op.name}' that was explicitly marked illegal"
    return CompileError(message + (f": {reason}" if reason else ""), location=location_of(op))


def namesake(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    """The operation of TTNN that has the name of `op`.

    Raises:
        CompileError: There is none, or it needs what `op` does not say.
    """
    name = RENAMED.get(op.name, f"ttnn.{op.name.partition('.')[2]}")
    row = rewriter.row(name)
    if row is None:
        raise refuse(op)
    operands = {RENAMED_OPERANDS.get((name, key), key): value for key, value in operands_by_name(op).items()}
    known = {each.name for each in row.operands}
    operands = {key: value for key, value in operands.items() if key in known}
    if "device" in known and "device" not in operands and _is_on_device(op):
        operands["device"] = rewriter.device(op)
    if name in _IN_PLACE and not row.results:
        properties = _properties(op, row, rewriter)
        written = [value for each in _IN_PLACE[name] if (value := operand_named(op, each)) is not None]
        for value in written if op.results else ():
            _require_last_reader(op, value)
        rewriter.create(name, operands, properties, [], op)
        return written[: len(op.results)]
    made = rewriter.create(name, operands, _properties(op, row, rewriter), [each.type for each in op.results], op)
    if WEIGHT_DTYPE in op.attributes:
        made.attributes[WEIGHT_DTYPE] = op.attributes[WEIGHT_DTYPE]
    return [*made.results]


def _is_on_device(op: Operation) -> bool:
    return not op.results or not has_layout(op.results[0].type) or LayoutView(op.results[0].type).on_device


def _require_last_reader(op: Operation, value: SSAValue) -> None:
    """Refuses an operation that writes a value in place which is read behind it, or by itself once more."""
    block, after = op.parent_block(), set()
    each = op.next_op
    while each is not None:
        after.add(each)
        each = each.next_op
    read = [use for same in _of_one_buffer(value) for use in same.uses]
    for use in read:
        reader: Operation | None = use.operation
        while reader is not None and reader.parent_block() is not block:
            reader = reader.parent_op()
        if reader in after:
            raise refuse(op, "what it writes has other readers, and TTNN writes it in place")
    if sum(use.operation is op for use in read) > 1:
        raise refuse(op, "it reads what it writes once more, and TTNN writes it in place")


def _of_one_buffer(value: SSAValue) -> list[SSAValue]:
    """A value, and what may be a view of it."""
    found = [value]
    for each in found:
        found += [result for use in each.uses if use.operation.name in _VIEWS for result in use.operation.results]
    return found


def _properties(op: Operation, row: OperationRow, rewriter: Rewriter) -> dict[str, Attribute | None]:
    """The attributes of the operation of TTNN.

    Raises:
        CompileError: One that it needs is not known.
    """
    given = {RENAMED_OPERANDS.get((row.name, key), key): value for key, value in op.properties.items()}
    source = rewriter.row(op.name)
    defaults = {each.name: each for each in source.attributes} if source is not None else {}
    found: dict[str, Attribute | None] = {}
    for each in row.attributes:
        value = given.get(each.name)
        if each.name in _NOT_GIVEN or (value is None and not each.is_optional):
            said = of_result(op, each)
            value = value if said is None else said
        if value is None and each.name in defaults and not each.is_optional:
            value = default_of(defaults[each.name])
        if value is not None:
            value = of_kind(value, each.kind)
        elif not each.is_optional and not each.default and each.kind != "UnitAttr":
            raise refuse(op, f"`{row.name}` needs `{each.name}`")
        found[each.name] = value
    return found


def of_result(op: Operation, attribute: AttributeOfRow) -> Attribute | None:
    """What the type of the first result says of an attribute; None if nothing."""
    if not op.results or not has_layout(op.results[0].type):
        return None
    type_ = op.results[0].type
    view = LayoutView(type_)
    match attribute.kind:
        case "#ttcore.supportedDataTypes":
            return data_type_attribute(type_.get_element_type())  # type: ignore[attr-defined]  # a tensor type
        case "#ttnn.layout":
            return view.layout()
        case "#ttnn.memory_config" if not attribute.is_optional or op.name in MAKERS:
            return view.memory_config() if view.on_device or not attribute.is_optional else None
        case "#ttnn.shape":
            return ttnn_shape(shape_of(type_))
        case _:
            return None


MAKERS = {"ttir.full", "ttir.zeros", "ttir.ones", "ttir.constant", "ttir.arange", "ttir.rand", "ttir.empty"}
"""Operations that make a tensor, and say in which memory."""


def default_of(attribute: AttributeOfRow) -> Attribute | None:
    """The default of an attribute, if it is a number."""
    if attribute.default in {"true", "false"}:
        return parsed(attribute.default)
    try:
        return integer(int(attribute.default))
    except ValueError:
        return None


_OF_INTEGERS: Mapping[str, Callable[[list[int]], Attribute]] = {
    "#ttnn.shape": ttnn_shape,
    "DenseI32ArrayAttr": dense_i32,
}


def of_kind(value: Attribute, kind: str) -> Attribute:
    """An attribute as one of another kind: integers in the array that the kind is."""
    base = kind.partition("&")[0]
    if base in _OF_INTEGERS and ((numbers := integers_in(value)) or isinstance(value, DenseArrayBase)):
        return _OF_INTEGERS[base](numbers)
    integer_types = {"I64Attr": "i64", "SI32Attr": "si32", "I32Attr": "i32", "UI32Attr": "ui32", "SI8Attr": "si8"}
    if base in integer_types and len(numbers := integers_in(value)) == 1:
        return parsed(f"{numbers[0]} : {integer_types[base]}")
    return value


def is_converted(op: Operation) -> bool:
    """Whether an operation is one of TTIR."""
    return op.name.startswith("ttir.") and bool(tables.operation_rows(op.name))


def with_operands(op: Operation, **changed: Given) -> dict[str, Given]:
    """The operands of `op` by name, some of them others."""
    return {**operands_by_name(op), **changed}
