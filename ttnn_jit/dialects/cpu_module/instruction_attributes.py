"""Attributes of LLVM's operations, whichever of xDSL's or the tables' classes an operation has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, NoneAttr, SymbolRefAttr
from xdsl.dialects.llvm import ALL_FCMP_FLAGS, ALL_ICMP_FLAGS, LLVMFunctionType, LLVMVoidType
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.text_attributes import name_of

DYNAMIC = -(2**31)
"""Among the constant indices of an address: the next operand is the index."""


def attribute(op: Operation, name: str) -> Attribute:
    """An attribute that an operation must have.

    Raises:
        CompileError: It lacks it.
    """
    found = op.properties.get(name, op.attributes.get(name))
    if found is None:
        raise CompileError(f"`{name_of(op)}` lacks {name}", location=location_of(op))
    return found


def numbers(op: Operation, name: str) -> tuple[int, ...]:
    """An attribute that is an array of integers."""
    found = attribute(op, name)
    if not isinstance(found, DenseArrayBase):
        raise CompileError(f"{name} of `{name_of(op)}` is no array of integers", location=location_of(op))
    return tuple(int(each) for each in found.get_values())


def number(op: Operation, name: str) -> int:
    """An attribute that is an integer."""
    found = attribute(op, name)
    if not isinstance(found, IntegerAttr):
        raise CompileError(f"{name} of `{name_of(op)}` is no integer", location=location_of(op))
    return found.value.data


def symbol(op: Operation, name: str) -> str:
    """An attribute that names a function or a global."""
    found = attribute(op, name)
    if not isinstance(found, SymbolRefAttr):
        raise CompileError(f"{name} of `{name_of(op)}` is no name", location=location_of(op))
    return str(found.root_reference.data)


def predicate(op: Operation) -> str:
    """The predicate of a comparison, as LLVM spells it."""
    flags: tuple[Any, ...] = ALL_ICMP_FLAGS if name_of(op) == "llvm.icmp" else ALL_FCMP_FLAGS
    index = number(op, "predicate")
    if not 0 <= index < len(flags):
        raise CompileError(f"`{name_of(op)}` has no predicate {index}", location=location_of(op))
    return str(flags[index].value).strip("_")


def address_indices(op: Operation) -> Iterator[int | SSAValue]:
    """The indices of `llvm.getelementptr`: numbers, and operands.

    Raises:
        CompileError: It has more or fewer operands than its indices name.
    """
    operands = iter(op.operands[1:])
    constants = numbers(op, "rawConstantIndices")
    if constants.count(DYNAMIC) != len(op.operands) - 1 or not constants:
        raise CompileError("an address has other operands than its indices say", location=location_of(op))
    for each in constants:
        yield next(operands) if each == DYNAMIC else each


def branch_operands(op: Operation) -> list[tuple[SSAValue, ...]]:
    """The operands of a branch for each of its targets; they must fit the arguments of the targets.

    Raises:
        CompileError: They do not.
    """
    if name_of(op) == "llvm.br":
        found = [tuple(op.operands)]
    else:
        _, first, second = numbers(op, "operandSegmentSizes")
        found = [tuple(op.operands[1 : 1 + first]), tuple(op.operands[1 + first : 1 + first + second])]
    for target, given in zip(op.successors, found, strict=True):
        if [each.type for each in target.args] != [each.type for each in given]:
            raise CompileError("a branch passes other values than its target takes", location=location_of(op))
    return found


def signature(op: Operation) -> tuple[tuple[Attribute, ...], Attribute | None]:
    """The types of the parameters and of the result of a function; None if it returns nothing."""
    kind = attribute(op, "function_type")
    if not isinstance(kind, LLVMFunctionType) or not isinstance(kind.variadic, NoneAttr):
        raise CompileError("the type of the function is not known here", location=location_of(op))
    return (*kind.inputs.data,), None if isinstance(kind.output, LLVMVoidType) else kind.output
