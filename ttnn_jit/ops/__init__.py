"""The registry of operations: what every other room derives its own part from."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from ttnn_jit.ops import binary, ternary, unary
from ttnn_jit.ops.operation import (
    HARDWARE_KEYWORDS,
    RESULT_KEYWORDS,
    Attribute,
    BoundCall,
    Number,
    Operand,
    Operation,
    Probe,
    bind,
)

__all__ = [
    "ALIASES",
    "HARDWARE_KEYWORDS",
    "OPERATIONS",
    "OVERLOADS",
    "RESULT_KEYWORDS",
    "Attribute",
    "BoundCall",
    "Number",
    "Operand",
    "Operation",
    "Probe",
    "bind",
    "nearest_names",
]

OPERATIONS: tuple[Operation, ...] = unary.OPERATIONS + binary.OPERATIONS + ternary.OPERATIONS


def _overloads() -> Mapping[str, tuple[Operation, ...]]:
    table: dict[str, tuple[Operation, ...]] = {}
    for operation in OPERATIONS:
        table[operation.name] = (*table.get(operation.name, ()), operation)
    return table


OVERLOADS = _overloads()
"""Python name -> the declarations that share it, in order of preference."""

ALIASES = {alias: operation.name for operation in OPERATIONS for alias in operation.aliases}
"""Further names of eager ttnn -> the name that `@jit` takes."""


def nearest_names(name: str) -> list[str]:
    """Names of operations that `name` may have meant, best first."""
    if name in ALIASES:
        return [ALIASES[name]]
    return difflib.get_close_matches(name, OVERLOADS, n=3)
