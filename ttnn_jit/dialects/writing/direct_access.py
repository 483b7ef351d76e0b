"""Accessors of named operands, results and regions of ops, in a fifth of xDSL's time.

An accessor of xDSL's first makes a view of all operands, then indexes it. Passes and codegen use these names several
times per op of a compile. Only this module, creation.py, editing.py and printer.py use private names of xDSL.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.irdl.operations import (
    BeforeVariadicSingleAccessor,
    SingleAttrAccessor,
    UniqueVariadicAccessor,
    VariadicAttrAccessor,
    VarIRConstruct,
)

Op = TypeVar("Op", bound=IRDLOperation)


def op_definition(cls: type[Op]) -> type[Op]:
    """`irdl_op_definition` with direct accessors."""
    return read_directly(irdl_op_definition(cls))


def read_directly(cls: type[Op]) -> type[Op]:
    """Replaces accessors of an op class that has at most one variadic operand, or operand segments in a property."""
    for name, accessor in list(vars(cls).items()):
        reader = _reader(accessor)
        if reader is not None:
            setattr(cls, name, property(reader))
    return cls


def _reader(accessor: object) -> Callable[[Any], Any] | None:
    match accessor:
        case BeforeVariadicSingleAccessor(construct, index) if construct in _SINGLE:
            return _SINGLE[construct](index)
        case UniqueVariadicAccessor(VarIRConstruct.OPERAND, index, named):
            return lambda op: op._operands[index : len(op._operands) - named + index + 1]
        case VariadicAttrAccessor(VarIRConstruct.OPERAND, index, option) if option.as_property:
            return _segment(index, option.attribute_name)
        case SingleAttrAccessor(VarIRConstruct.OPERAND, index, option) if option.as_property:
            return _of_segments(index, option.attribute_name)
        case _:
            return None


_item = tuple.__getitem__  # xDSL overrides it in Python, to check for slices


def _operand(index: int) -> Callable[[Operation], Any]:
    return lambda op: _item(op._operands, index)


def _result(index: int) -> Callable[[Operation], Any]:
    return lambda op: _item(op.results, index)


def _region(index: int) -> Callable[[Operation], Any]:
    return lambda op: op.regions[index]


_SINGLE = {VarIRConstruct.OPERAND: _operand, VarIRConstruct.RESULT: _result, VarIRConstruct.REGION: _region}


def _segment(index: int, sizes: str) -> Callable[[Any], Any]:
    def read(op: Any) -> Any:
        first, behind = _ends(op.properties[sizes].data.data, index)
        return op._operands[first:behind]

    return read


def _of_segments(index: int, sizes: str) -> Callable[[Any], Any]:
    return lambda op: _item(op._operands, _ends(op.properties[sizes].data.data, index)[0])


@lru_cache(maxsize=1024)
def _ends(sizes: bytes, index: int) -> tuple[int, int]:
    """The start and the end of a segment, from the 32-bit sizes of all segments."""
    counts = struct.unpack(f"<{len(sizes) // 4}i", sizes)
    return sum(counts[:index]), sum(counts[: index + 1])
