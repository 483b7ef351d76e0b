"""Conversion between an operation's compile-time values and the properties of its op."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ttnn_jit import ops
from ttnn_jit.dialects.builders import f32_attr
from ttnn_jit.dialects.meshes import ReduceTypeAttr, ShardDirectionAttr, ShardTypeAttr, rows_attr, rows_of
from ttnn_jit.dialects.symbolic import number_array, numbers_of
from ttnn_jit.dialects.ttcore import DataTypeAttr, data_type_attr
from ttnn_jit.dialects.ttnn_attributes import LayoutAttr, layout_attr
from ttnn_jit.dialects.writing.creation import SEGMENTS, segments
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.extents.extent import is_extent
from ttnn_jit.specs.product_precision import ProductPrecision
from ttnn_jit.specs.tensor_spec import Layout


@dataclass(frozen=True)
class PropertyType:
    """The conversion of values of one kind of parameter.

    Attributes:
        write: Value to attribute.
        read: Attribute to value; None for an attribute of another type.
    """

    write: Callable[[Any], Attribute]
    read: Callable[[Attribute | None], Any]


_cached_writer = memoized(maxsize=1024, typed=True)
"""Caches writers of numbers: every stage rewrites the few numbers of a program."""


def _integer(type_: IntegerType) -> PropertyType:
    """The property type of integers of `type_`."""

    def read(attribute: Attribute | None) -> int | None:
        return attribute.value.data if isinstance(attribute, IntegerAttr) and attribute.type == type_ else None

    return PropertyType(_cached_writer(lambda value: IntegerAttr(value, type_)), read)


def _dense(element: IntegerType | Float32Type, number: type[int | float]) -> PropertyType:
    """The property type of arrays of `element`."""

    def read(attribute: Attribute | None) -> tuple[float, ...] | None:
        if not isinstance(attribute, DenseArrayBase) or attribute.elt_type != element:
            return None
        return tuple(each if is_extent(each) else number(each) for each in numbers_of(attribute))

    return PropertyType(lambda values: number_array(element, values), read)


_I32, _I64 = _integer(i32), _integer(i64)
_ARRAY_I32 = _dense(i32, int)


def _read_f32(attribute: Attribute | None) -> float | None:
    return attribute.value.data if isinstance(attribute, FloatAttr) and attribute.type == f32 else None


def _of(kind: type[Attribute], read: Callable[[Any], Any]) -> Callable[[Attribute | None], Any]:
    """A reader that gives None for attributes of another class."""
    return lambda attribute: read(attribute) if isinstance(attribute, kind) else None


def _read_flag(attribute: Attribute | None) -> bool | None:
    return bool(attribute.value.data) if isinstance(attribute, IntegerAttr) and attribute.type == i1 else None


def _read_pairs(attribute: Attribute | None) -> tuple[tuple[int, ...], ...] | None:
    values = _ARRAY_I32.read(attribute)
    if values is None or len(values) % 2:
        return None
    return tuple(values[at : at + 2] for at in range(0, len(values), 2))


def _write_pairs(pairs: Sequence[Sequence[int]]) -> Attribute:
    return _ARRAY_I32.write([*itertools.chain(*pairs)])


def _read_number(attribute: Attribute | None) -> float | None:
    return _read_f32(attribute) if isinstance(attribute, FloatAttr) else _I64.read(attribute)


def _write_number(value: float) -> Attribute:
    return IntegerAttr(value, i64) if isinstance(value, int) else f32_attr(value)


def _read_list(attribute: Attribute | None) -> tuple[int, ...] | None:
    if not isinstance(attribute, ArrayAttr):
        return None
    values = tuple(map(_I32.read, attribute))
    return None if None in values else values


def read_precision(attribute: Attribute | None) -> str | None:
    """The text of a product's precision (specs/product_precision.py); None of another attribute."""
    if not isinstance(attribute, StringAttr):
        return None
    try:
        return str(ProductPrecision.of(attribute.data))
    except ValueError:
        return None


PROPERTY_TYPES = {
    "f32": PropertyType(f32_attr, _read_f32),
    "#ttcore.supportedDataTypes": PropertyType(data_type_attr, _of(DataTypeAttr, lambda attribute: attribute.dtype)),
    **{
        f"#{kind.name}": PropertyType(kind, _of(kind, lambda attribute: attribute.data))
        for kind in (ReduceTypeAttr, ShardTypeAttr, ShardDirectionAttr)
    },
    "si32": _integer(IntegerType(32, Signedness.SIGNED)),
    "ui32": _integer(IntegerType(32, Signedness.UNSIGNED)),
    "rows of i64": PropertyType(rows_attr, rows_of),
    "array<i64>": _dense(i64, int),
    "[i32]": PropertyType(lambda values: ArrayAttr([*map(_I32.write, values)]), _read_list),
    "array<i32>": _ARRAY_I32,
    "array<f32>": _dense(f32, float),
    "array<i32> of pairs": PropertyType(_write_pairs, _read_pairs),
    "i32": _I32,
    "number": PropertyType(_write_number, _read_number),
    "#ttnn.layout": PropertyType(
        layout_attr, _of(LayoutAttr, lambda attribute: Layout.__members__.get(attribute.data.upper()))
    ),
    "i1": PropertyType(_cached_writer(IntegerAttr.from_bool), _read_flag),
    "precision": PropertyType(StringAttr, read_precision),
    "string": PropertyType(StringAttr, _of(StringAttr, lambda attribute: attribute.data)),
}
"""`Kind.property_type`, an MLIR type -> the conversion of properties of that type."""


def properties_of(
    operation: ops.Operation, statics: Sequence[Any], operands: Sequence[SSAValue | None] = ()
) -> dict[str, Attribute]:
    """The properties of an op of `operation`, in any dialect: its attributes, and the body of a user's operation.

    Args:
        operation: The declaration.
        statics: Values of its attributes, in the declaration's order.
        operands: Its operands, None for those that are not given; read only if the operation has optional ones.
    """
    properties: dict[str, Attribute] = {
        attribute.property_name: PROPERTY_TYPES[attribute.kind.property_type].write(value)
        for attribute, value in zip(operation.attributes, statics, strict=True)
        if value is not None
    }
    if operation.optional_operands > 1:
        properties[SEGMENTS] = segments(*(int(operand is not None) for operand in operands))
    if operation.body:
        properties |= {"body": StringAttr(operation.body), "name": StringAttr(operation.name)}
    return properties


def statics_of(operation: ops.Operation, properties: Mapping[str, Attribute], name: str) -> tuple[Any, ...]:
    """The inverse of `properties_of`, for the op `name`: the attributes in the declaration's order.

    Raises:
        VerifyException: A property is missing, or is not of the declared type.
    """
    statics = []
    for attribute in operation.attributes:
        kind = attribute.kind.property_type
        value = PROPERTY_TYPES[kind].read(properties.get(attribute.property_name))
        if value is None and not (attribute.is_optional and attribute.property_name not in properties):
            raise VerifyException(f"{name} needs the {kind} property `{attribute.property_name}`")
        statics.append(value)
    return tuple(statics)


def declared_operands(operation: ops.Operation, op: Operation) -> tuple[SSAValue | None, ...]:
    """The operands of `op` in the declaration's order, None for those that are not given.

    Raises:
        VerifyException: Its operand segments do not match its operands.
    """
    given = op.operands
    if operation.is_variadic or (operation.optional_operands < 2 and len(given) == operation.arity):
        return tuple(given)
    if operation.optional_operands == 1:
        sizes = [int(not operand.is_optional) for operand in operation.operands]
    else:
        sizes = [*(_ARRAY_I32.read(op.properties.get(SEGMENTS)) or ())]
    fits = len(sizes) == operation.arity and set(sizes) <= {0, 1} and sum(sizes) == len(given)
    if not fits or any(not size and not one.is_optional for size, one in zip(sizes, operation.operands, strict=True)):
        raise VerifyException(f"{op.name}: `{SEGMENTS}` {sizes} are not those of {len(given)} operands")
    values = iter(given)
    return tuple(next(values) if size else None for size in sizes)
