"""Values of Python as attributes of the kinds that the tables name."""

from __future__ import annotations

import re
from typing import Any

from xdsl.dialects import builtin
from xdsl.ir import Attribute

from ttnn_jit.bindings.wrapping import Wrapper

_INTEGER = re.compile(r"(?P<sign>[SU]?)I(?P<width>\d+)Attr")
_DENSE = re.compile(r"DenseI(?P<width>\d+)ArrayAttr")
_SIGNS = {"": builtin.Signedness.SIGNLESS, "S": builtin.Signedness.SIGNED, "U": builtin.Signedness.UNSIGNED}


def attribute_from(value: Any, kind: str) -> Attribute:
    """The attribute of xDSL of a value.

    Args:
        value: An attribute, or what MLIR converts: a number, a text, a list of numbers, a truth.
        kind: The kind of attribute by the tables.

    Raises:
        TypeError: The kind takes no such value.
    """
    if isinstance(value, Wrapper):
        return value.held  # type: ignore[no-any-return]
    if isinstance(value, Attribute):
        return value
    if kind.startswith("UnitAttr"):
        return builtin.UnitAttr()
    if kind.startswith("BoolAttr"):
        return builtin.IntegerAttr(-1 if value else 0, builtin.i1)
    if match := _INTEGER.match(kind):
        return builtin.IntegerAttr(int(value), builtin.IntegerType(int(match["width"]), _SIGNS[match["sign"]]))
    if kind.startswith(("F32Attr", "F64Attr")):
        return builtin.FloatAttr(float(value), builtin.f32 if kind.startswith("F32") else builtin.f64)
    if match := _DENSE.match(kind):
        return builtin.DenseArrayBase.from_list(builtin.IntegerType(int(match["width"])), [*value])
    if kind.startswith(("I64ArrayAttr", "I32ArrayAttr")):
        element = builtin.IntegerType(int(kind[1:3]))
        return builtin.ArrayAttr([builtin.IntegerAttr(int(each), element) for each in value])
    if kind.startswith(("FlatSymbolRefAttr", "SymbolRefAttr")):
        return builtin.SymbolRefAttr(value)
    if isinstance(value, str):
        return builtin.StringAttr(value)
    if isinstance(value, list | tuple):
        return builtin.ArrayAttr([attribute_from(each, "") for each in value])
    raise TypeError(f"{value!r} is no attribute of the kind {kind}")
