"""Attributes of ops in texts as Python values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ShapedType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Operation

from ttnn_jit.dialects.ttcore import DataTypeAttr
from ttnn_jit.dialects.ttnn_attributes import ShapeAttr
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute
from ttnn_jit.dialects.upstream.upstream_parser import SplatElementsAttr
from ttnn_jit.ops.families.text_operation import DenseNumbers, Enumerated

SEGMENTS = "operandSegmentSizes"


def name_of(op: Operation) -> str:
    """The name of an op, registered or not."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def attributes_of(op: Operation) -> dict[str, Any]:
    """The properties and attributes of an op by name."""
    found: Mapping[str, Attribute] = {**op.attributes, **op.properties}
    return {name: value_of(each) for name, each in found.items() if name != "op_name__"}


def value_of(attribute: Attribute) -> Any:
    """An attribute as a Python value.

    A number, a bool, a string, a tuple of those, `DenseNumbers`, a `DataType`; `Enumerated` for the member of an
    enumeration, a dict for an attribute of several parameters.
    """
    for kind in type(attribute).__mro__:
        if (reader := _READERS.get(kind)) is not None:
            return reader(attribute)
    data = getattr(attribute, "data", attribute)
    return data if isinstance(data, tuple) else Enumerated(data)


def symbol_of(attribute: SymbolRefAttr) -> str:
    """The name that a reference to a function has."""
    return str(attribute.root_reference.data)


_FLAG = IntegerType(1)


def _integer(attribute: IntegerAttr[Any]) -> int | bool:
    return bool(attribute.value.data) if attribute.type == _FLAG else attribute.value.data


def _array(attribute: DenseArrayBase[Any]) -> tuple[Any, ...]:
    numbers: Sequence[Any] = attribute.get_values()
    return tuple(map(bool, numbers)) if attribute.elt_type == _FLAG else tuple(numbers)


def _dense(attribute: DenseIntOrFPElementsAttr) -> DenseNumbers:
    numbers: tuple[Any, ...] = tuple(attribute.get_values())
    shape = _shape_of(attribute.type)
    if len(numbers) == 1 or len({*numbers}) == 1:
        return DenseNumbers(shape, numbers[:1])
    assert len(numbers) == math.prod(shape)
    return DenseNumbers(shape, numbers)


def _splat(attribute: SplatElementsAttr) -> DenseNumbers:
    return DenseNumbers(_shape_of(attribute.type), (value_of(attribute.element),))


def _shape_of(type_: Attribute) -> tuple[int, ...]:
    assert isinstance(type_, ShapedType)
    return tuple(type_.get_shape())


def _table(attribute: TableAttribute) -> Any:
    values = {name: _value_in_table(each) for name, each in attribute.data}
    return Enumerated(values["value"]) if [*values] == ["value"] else values


def _value_in_table(value: Any) -> Any:
    if isinstance(value, Attribute):
        return value_of(value)
    return tuple(map(_value_in_table, value)) if isinstance(value, tuple) else value


_READERS: Mapping[type[Attribute], Callable[[Any], Any]] = {
    IntegerAttr: _integer,
    FloatAttr: lambda attribute: attribute.value.data,
    StringAttr: lambda attribute: attribute.data,
    ArrayAttr: lambda attribute: tuple(map(value_of, attribute.data)),
    DenseArrayBase: _array,
    DenseIntOrFPElementsAttr: _dense,
    SplatElementsAttr: _splat,
    TableAttribute: _table,
    ShapeAttr: lambda attribute: tuple(attribute.data),
    DataTypeAttr: lambda attribute: attribute.dtype,
    DictionaryAttr: lambda attribute: {name: value_of(each) for name, each in attribute.data.items()},
    UnitAttr: lambda _: True,
    SymbolRefAttr: symbol_of,
}
