"""Values of Python as attributes of the kinds that the tables name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects import builtin
from xdsl.ir import Attribute

from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed

ENUMERATORS = {
    "f32": "Float32", "f16": "Float16", "bf16": "BFloat16", "bfp_f8": "BFP_Float8", "bfp_bf8": "BFP_BFloat8",
    "bfp_f4": "BFP_Float4", "bfp_bf4": "BFP_BFloat4", "bfp_f2": "BFP_Float2", "bfp_bf2": "BFP_BFloat2",
    "u32": "UInt32", "u16": "UInt16", "u8": "UInt8", "si32": "Int32", "i1": "Bool",
    "mmio": "SystemMMIO",
}  # fmt: skip
"""Keyword -> the enumerator of C++, where it is not its words with capitals."""
_INTEGER = re.compile(r"(?P<sign>[SU]?)I(?P<width>\d+)Attr")
_DENSE = re.compile(r"DenseI(?P<width>\d+)ArrayAttr")
_SIGNS = {"": builtin.Signedness.SIGNLESS, "S": builtin.Signedness.SIGNED, "U": builtin.Signedness.UNSIGNED}


def attribute_of_value(value: Any, kind: str) -> Attribute:
    """The attribute of a value.

    Args:
        value: An attribute, or what MLIR converts: a number, a text, a list of numbers, a truth.
        kind: The kind of attribute by the tables.

    Raises:
        TypeError: The kind takes no such value.
    """
    if isinstance(value, Attribute):
        return value
    word = next((word for word in _MAKERS if kind.startswith(word)), None)
    if word is not None:
        return _MAKERS[word](value)
    if match := _INTEGER.match(kind):
        return builtin.IntegerAttr(int(value), builtin.IntegerType(int(match["width"]), _SIGNS[match["sign"]]))
    if match := _DENSE.match(kind):
        return builtin.DenseArrayBase.from_list(builtin.IntegerType(int(match["width"])), [*value])
    choices = tables.constraint(kind)[0]
    return _of_choice(value, choices) if "attribute or" in choices else _by_value(value, kind)


def _of_choice(value: Any, choices: str) -> Attribute:
    """The attribute of a kind that is a number, or a list of numbers: ``32-bit signless integer attribute or ...``."""
    if isinstance(value, list | tuple):
        return builtin.DenseArrayBase.from_list(builtin.i32, [int(each) for each in value])
    if isinstance(value, float) and "float" in choices:
        return builtin.FloatAttr(value, builtin.f32)
    sign = _SIGNS["S" if "bit signed" in choices else ""]
    return builtin.IntegerAttr(int(value), builtin.IntegerType(32, sign))


def default_of(text: str, kind: str) -> Attribute | None:
    """The attribute of a default that ODS states in C++; None if it states none, or one that has no text.

    Args:
        text: The default in C++.
        kind: The kind of attribute by the tables.
    """
    match text:
        case "true" | "false":
            value: Any = text == "true"
        case _ if kind.startswith("#") and "::" in text:
            value = parsed(f"{kind}<{_keyword(text, kind)}>")
        case _ if kind.startswith("enum:") and "::" in text:
            return _enum_default(text.rpartition("::")[2], kind.removeprefix("enum:"))
        case _ if kind.startswith("DictionaryAttr"):
            value = builtin.DictionaryAttr({})
        case _ if text.startswith('"'):
            value = text.strip('"')
        case _ if text.startswith("{"):
            value = [int(each) for each in text.strip("{}").split(",") if each]
        case _ if _NUMBER.fullmatch(text):
            value = float(text.rstrip("f")) if kind.startswith("F") else int(text)
        case _:
            return None
    return attribute_of_value(value, kind)


def _enum_default(case: str, cpp_name: str) -> Attribute:
    """The number of a case of C++, whose keyword may be in lower case."""
    numbers = {word.lower(): number for word, number in tables.enum_values(cpp_name, "").items()}
    return builtin.IntegerAttr(numbers[case.lower()], builtin.i32)


def _keyword(case: str, kind: str) -> str:
    """The keyword, in texts, of a C++ enum's case; its name in lower case for dialects without tables."""
    cpp_name, _, name = case.rpartition("::")
    known = tables.enum_cases(cpp_name, kind.removeprefix("#").partition(".")[0]) or ()
    spelled = ((each, ENUMERATORS.get(each, each.replace("_", ""))) for each in known)
    return next((each for each, enumerator in spelled if enumerator.lower() == name.lower()), name.lower())


_NUMBER = re.compile(r"-?[0-9.]+(e-?[0-9]+)?f?")


def _by_value(value: Any, kind: str) -> Attribute:
    match value:
        case str():
            return builtin.StringAttr(value)
        case list() | tuple():
            return builtin.ArrayAttr([attribute_of_value(each, "") for each in value])
        case _:
            raise TypeError(f"{value!r} is no attribute of the kind {kind}")


def _integers(width: int) -> Callable[[Any], Attribute]:
    element = builtin.IntegerType(width)
    return lambda values: builtin.ArrayAttr([builtin.IntegerAttr(int(each), element) for each in values])


def _elements(numbers: np.ndarray[Any, np.dtype[np.int64]]) -> Attribute:
    kind = builtin.TensorType(builtin.i64, list(numbers.shape))
    return builtin.DenseIntOrFPElementsAttr.from_list(kind, numbers.reshape(-1).tolist())


_MAKERS: dict[str, Callable[[Any], Attribute]] = {
    "UnitAttr": lambda _: builtin.UnitAttr(),
    "BoolAttr": lambda value: builtin.IntegerAttr(-1 if value else 0, builtin.i1),
    "F32Attr": lambda value: builtin.FloatAttr(float(value), builtin.f32),
    "F64Attr": lambda value: builtin.FloatAttr(float(value), builtin.f64),
    "I1Attr": lambda value: builtin.IntegerAttr(-1 if value else 0, builtin.i1),
    "DenseBoolArrayAttr": lambda values: builtin.DenseArrayBase.from_list(
        builtin.i1, [-1 if each else 0 for each in values]
    ),
    "I64ElementsAttr": lambda values: _elements(np.asarray(values, np.int64)),
    "StableHLO_ReplicaGroups": lambda values: _elements(np.asarray(values, np.int64)),
    "I64ArrayAttr": _integers(64),
    "I32ArrayAttr": _integers(32),
    "FlatSymbolRefAttr": builtin.SymbolRefAttr,
    "SymbolRefAttr": builtin.SymbolRefAttr,
}
"""Beginning of a kind -> what makes its attribute of a value of Python."""
