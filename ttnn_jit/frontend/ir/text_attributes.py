"""Attributes of ops in texts as Python values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Operation

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
    """A number, a bool, a string, a tuple of those, `DenseNumbers`, or `Enumerated` for what has no such form."""
    reader = _READERS.get(type(attribute))
    return _of_raw_text(str(attribute)) if reader is None else reader(attribute)


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
    shape = tuple(attribute.type.get_shape())
    if len(numbers) == 1 or len({*numbers}) == 1:
        return DenseNumbers(shape, numbers[:1])
    assert len(numbers) == math.prod(shape)
    return DenseNumbers(shape, numbers)


_NAMED = re.compile(r"#?\w+[.<](?:\w+\s*<)?\s*(\w+)\s*>+$")
_SHAPE = re.compile(r"#ttnn[.<]shape\s*<?\s*(-?\d+(?:x-?\d+)*)\s*>+$")


def _of_raw_text(text: str) -> Any:
    """The member that an enumeration attribute names, the extents of a shape."""
    shape = _SHAPE.match(text)
    if shape:
        return tuple(map(int, shape[1].split("x")))
    named = _NAMED.match(text)
    return Enumerated(named[1] if named else text)


_READERS: Mapping[type[Attribute], Callable[[Any], Any]] = {
    IntegerAttr: _integer,
    FloatAttr: lambda attribute: attribute.value.data,
    StringAttr: lambda attribute: attribute.data,
    ArrayAttr: lambda attribute: tuple(map(value_of, attribute.data)),
    DenseArrayBase: _array,
    DenseIntOrFPElementsAttr: _dense,
    UnitAttr: lambda _: True,
    SymbolRefAttr: symbol_of,
}
