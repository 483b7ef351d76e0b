"""Types of LLVM's dialect in memory: sizes, alignments and offsets on a host of 64 bits."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute

from ttnn_jit.diagnostics.errors import CompileError

POINTER_BYTES = 8
INTEGER_WIDTHS = (1, 8, 16, 32, 64)
_FLOAT_BYTES: dict[type[Attribute], int] = {BFloat16Type: 2, Float16Type: 2, Float32Type: 4, Float64Type: 8}


def size_of(kind: Attribute) -> int:
    """The bytes of a value in an array of such values.

    Raises:
        CompileError: The type has no layout here: a vector, an integer of another width.
    """
    match kind:
        case LLVMStructType():
            return _rounded_up(_end_of(kind.types.data), alignment_of(kind))
        case LLVMArrayType():
            if kind.size.data < 0:
                raise CompileError(f"an array of {kind.size.data} elements has no layout in memory")
            return kind.size.data * size_of(kind.type)
        case _:
            return _scalar_bytes(kind)


def scalars_in(kind: Attribute) -> int:
    """The number of scalars that a value consists of."""
    match kind:
        case LLVMStructType():
            return sum(map(scalars_in, kind.types.data))
        case LLVMArrayType():
            return kind.size.data * scalars_in(kind.type)
        case _:
            return 1


def alignment_of(kind: Attribute) -> int:
    """The alignment of a type, in bytes.

    Raises:
        CompileError: As `size_of`.
    """
    match kind:
        case LLVMStructType():
            return max(map(alignment_of, kind.types.data), default=1)
        case LLVMArrayType():
            return alignment_of(kind.type)
        case _:
            return _scalar_bytes(kind)


def member_of(kind: Attribute, index: int) -> tuple[int, Attribute]:
    """The offset and the type of a member of an aggregate; an index of an array may lie outside of it.

    Raises:
        CompileError: There is no such member.
    """
    if isinstance(kind, LLVMArrayType):
        return index * size_of(kind.type), kind.type
    if not isinstance(kind, LLVMStructType) or not 0 <= index < len(kind.types.data):
        raise CompileError(f"{kind} has no member {index}")
    own = kind.types.data[index]
    return _rounded_up(_end_of(kind.types.data[:index]), alignment_of(own)), own


def _end_of(kinds: Sequence[Attribute]) -> int:
    end = 0
    for each in kinds:
        end = _rounded_up(end, alignment_of(each)) + size_of(each)
    return end


def _rounded_up(value: int, alignment: int) -> int:
    return value + -value % alignment


def _scalar_bytes(kind: Attribute) -> int:
    if isinstance(kind, LLVMPointerType | IndexType):
        return POINTER_BYTES
    if isinstance(kind, IntegerType) and kind.width.data in INTEGER_WIDTHS:
        return max(int(kind.width.data) // 8, 1)
    found = _FLOAT_BYTES.get(type(kind))
    if found is None:
        raise CompileError(f"values of {kind} are not computed on the host")
    return found
