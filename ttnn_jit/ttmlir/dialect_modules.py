"""``ttmlir.dialects.<name>``: modules whose classes are made when they are first named."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from ttnn_jit.dialects.upstream import tables
from ttnn_jit.ops.public_names import did_you_mean
from ttnn_jit.ttmlir import layouts as layouts  # noqa: PLC0414 - classes by hand
from ttnn_jit.ttmlir import mlir_functions as functions
from ttnn_jit.ttmlir import types_by_hand as types_by_hand  # noqa: PLC0414 - classes by hand
from ttnn_jit.ttmlir.dialect_attributes import attribute_wrapper, names_of_dialect
from ttnn_jit.ttmlir.enums import enum_of
from ttnn_jit.ttmlir.mlir_attributes import Attribute, FloatAttr, IntegerAttr
from ttnn_jit.ttmlir.mlir_types import RankedTensorType, Type
from ttnn_jit.ttmlir.mlir_views import view_class


class DialectModule(ModuleType):
    """Classes of operations (``AddOp``), attributes and types, and enums of one dialect.

    Args:
        dialect: The dialect.
        name: The name under which it is imported.
    """

    def __init__(self, dialect: str, name: str) -> None:
        super().__init__(name, f"Operations, attributes and types of the dialect `{dialect}`.")
        self._dialect = dialect
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = _found(self._dialect, name)
        if found is None:
            known = {*_operation_names(self._dialect), *_function_names(self._dialect)}
            missing = f"module {self.__name__!r} has no attribute {name!r}"
            raise AttributeError(f"{missing}{did_you_mean(name, known)}", name=name)
        setattr(self, name, found)
        return found

    @property
    def ir(self) -> ModuleType:
        """Its attributes and types, which are beside its operations too."""
        return self


def _constant(result: Any, value: Any = None, **keywords: Any) -> Any:
    """The result of a new ``arith.constant``: of an attribute, or of a type and a number."""
    if value is not None and not isinstance(value, Attribute):
        kind = IntegerAttr if str(result).startswith(("i", "s", "u")) else FloatAttr
        value = kind.get(result, value)
    return view_class("arith.constant")(result if value is None else value, **keywords).results[0]


def _empty(sizes: Sequence[Any], element_type: Type, **keywords: Any) -> Any:
    """The result of a new ``tensor.empty``; sizes that are values are open extents."""
    values = [each for each in sizes if not isinstance(each, int)]
    shape = [each if isinstance(each, int) else RankedTensorType.get_dynamic_size() for each in sizes]
    made = view_class("tensor.empty")(RankedTensorType.get(shape, element_type), values, **keywords)
    return made.results[0]


_BY_HAND: dict[tuple[str, str], Callable[..., Any]] = {
    ("arith", "constant"): _constant,
    ("d2m", "calculate_reblock_map"): layouts.calculate_reblock_map,
    ("tensor", "empty"): _empty,
}
"""Dialect and function -> what MLIR's Python says by hand."""


def _found(dialect: str, name: str) -> Any:
    if dialect == "func" and hasattr(functions, name):
        return getattr(functions, name)
    if (dialect, name) in _BY_HAND:
        return _BY_HAND[dialect, name]
    operation = _operation_names(dialect).get(name)
    if operation is not None:
        return view_class(operation)
    if name in _function_names(dialect):
        return _function_of(_function_names(dialect)[name])
    known = names_of_dialect(dialect)
    attribute = known.get(name) or known.get(f"{name}Attr")
    enum = enum_of(f"::mlir::tt::{dialect}::{name}", dialect) if not name.endswith(("Attr", "Type")) else None
    if enum is None and not name.endswith("Attr"):
        enum = enum_of(name, dialect)
    if enum is not None:
        return enum
    return None if attribute is None else attribute_wrapper(attribute[0], is_type=attribute[1])


@cache
def _operation_names(dialect: str) -> dict[str, str]:
    """Class -> name of the operations of a dialect."""
    return {
        tables.operation_class_name(name): name
        for name in tables.operation_names()
        if name.partition(".")[0] == dialect
    }


@cache
def _function_names(dialect: str) -> dict[str, str]:
    """Function -> name of the operations of a dialect: ``add``, ``and_``."""
    found = {}
    for name in tables.operation_names():
        if name.partition(".")[0] == dialect:
            own = name.partition(".")[2].replace(".", "_")
            found[f"{own}_" if keyword.iskeyword(own) else own] = name
    return found


def _function_of(operation: str) -> Callable[..., Any]:
    """The function that MLIR's generator gives an operation: it makes one, and gives its result, or its results."""

    def make(*args: Any, **keywords: Any) -> Any:
        made = view_class(operation)(*args, **keywords)
        results = [*made.results]
        return results[0] if len(results) == 1 else results or made

    make.__name__ = operation.partition(".")[2]
    make.__doc__ = f"The results of a new ``{operation}``."
    return make


@cache
def dialect_module(dialect: str, name: str) -> DialectModule:
    """The module of a dialect, under a name."""
    return DialectModule(dialect, name)
