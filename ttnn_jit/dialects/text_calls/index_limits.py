"""The limits of numbers that ops read as indices, and the matrices that they read as assignments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.text_calls.op_calls import OpCall, errors_at, is_allocated, read_op
from ttnn_jit.dialects.text_calls.tensor_types import element_in_text, is_tensor, spec_in_text
from ttnn_jit.dialects.text_calls.text_attributes import name_of, symbol_of
from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.families.spelling import Spelling
from ttnn_jit.ops.texts import text_operations


def index_limit(value: SSAValue) -> int | None:
    """The smallest limit of the ops that read a value as indices, also through others; None without any.

    Ops of one operand, and those that move operands beside each other, keep a limit. Elementwise functions of several
    integers share it among their operands.
    """
    return _limit(value, {})


def _limit(value: SSAValue, known: dict[SSAValue, int | None]) -> int | None:
    """The limit of a value; `known` has those of values that were asked for, None of one in progress."""
    if value not in known:
        known[value] = None
        known[value] = min(_limits(value, known), default=None)
    return known[value]


def _limits(value: SSAValue, known: dict[SSAValue, int | None]) -> Iterator[int]:
    for use in value.uses:
        op = use.operation
        yield from _limits_of_use(op, value)
        tensors = _operands(op)
        same = _same_elements(op, use.index)
        yield from (each for each in (_limit(result, known) for result in same) if each is not None)
        if len(tensors) > 1 and all(map(_is_integer, (*tensors, *op.results))):
            yield from _limits_of_function(op, known)


def _operands(op: Operation) -> list[SSAValue]:
    """The tensors that an op reads."""
    return [each for each in op.operands if is_tensor(each.type) and not is_allocated(each)]


def _same_elements(op: Operation, index: int) -> list[SSAValue]:
    """The values that have the elements of the operand `index`, by the rule of `index_limit`."""
    found = [*through_functions(op, index)]
    return [*found, *op.results] if len(_operands(op)) == 1 or moves(op) else found


_CUSTOM_CALL = "stablehlo.custom_call"
"""What it calls is known when it is read."""


def assigned_shape(value: SSAValue) -> tuple[int, int] | None:
    """The rows and columns of the matrix as which an op reads a value; None without such an op.

    A row has one 1, and every column as many (`TextOperation.assignments`), such as the experts of devices.
    """
    reached, seen = [value], {value}
    for each in reached:
        for use in each.uses:
            found = assignment_of(use.operation, each)
            if found is not None:
                return found
            further = [one for one in _same_elements(use.operation, use.index) if one not in seen]
            seen.update(further)
            reached += further
    return None


def assignment_of(op: Operation, value: SSAValue | None = None) -> tuple[int, int] | None:
    """The extents of the matrix as which an op reads a value, or any without one; None if it reads none so."""
    name = name_of(op)
    declared = text_operations().get(name)
    if name != _CUSTOM_CALL and not (declared is not None and declared.assignments):
        return None
    try:
        read = read_op(op)
    except CompileError:
        return None  # running the op reports it
    for name in read.operation.assignments:
        matrix = read.arguments.get(name)
        if isinstance(matrix, SSAValue) and value in {None, matrix}:
            *_, rows, columns = spec_in_text(matrix.type).shape
            return rows, columns
    return None


def _is_integer(value: SSAValue) -> bool:
    return bool(re.fullmatch(r"[su]?i\d+", element_in_text(value.type)))


def _limits_of_function(op: Operation, known: dict[SSAValue, int | None]) -> Iterator[int]:
    """The limit of every operand below which an elementwise function of integers keeps the limit of its result."""
    limit = min((each for each in (_limit(result, known) for result in op.results) if each is not None), default=None)
    if limit is None:
        return
    try:
        read = read_op(op)
    except CompileError:
        return  # running the op reports it
    if isinstance(read.operation, Spelling) and isinstance(read.operation.overloads[0], Elementwise):
        largest = limit - 1
        while largest > 0 and not _stays_below(read, largest, limit):
            largest //= 2
        yield largest + 1


def _stays_below(read: OpCall, largest: int, limit: int) -> bool:
    """Whether a function is in [0, limit) where every operand is 0 or `largest`, or its number in the text."""
    import torch

    given = read.operands
    corners = torch.cartesian_prod(*[torch.tensor([0, largest])] * len(given)).reshape(-1, len(given))
    columns = dict(zip(given, corners.unbind(1), strict=True))
    call = read.call(columns.__getitem__)
    for name, number in read.numbers.items():
        setattr(call, name, torch.full((len(corners),), int(number)))
    try:
        found = read.operation.golden(torch, call)
    except (RuntimeError, TypeError, ValueError):
        return False  # it is no function of integers alone
    return isinstance(found, torch.Tensor) and bool(((found >= 0) & (found < limit)).all())


def moves(op: Operation) -> bool:
    """Whether an op puts tensors beside each other, as numbers of an index are."""
    declared = text_operations().get(name_of(op))
    return declared is not None and declared.moves and not declared.index_limits


def through_functions(op: Operation, index: int) -> Iterator[SSAValue]:
    """The values that are the operand `index` of a call in its function, or of a return at the function's calls."""
    if isinstance(op, ReturnOp):
        function = op.parent_op()
        name = function.sym_name.data if isinstance(function, FuncOp) else None
        calls = (each for each in _root(op).walk() if name is not None and _callee(each) == name)
        yield from (each.results[index] for each in calls if index < len(each.results))
    elif callee := _callee(op):
        functions = (each for each in _root(op).walk() if isinstance(each, FuncOp) and each.sym_name.data == callee)
        bodies = (each.args for each in functions if not each.is_declaration)
        yield from (arguments[index] for arguments in bodies if index < len(arguments))


def _root(op: Operation) -> Operation:
    """The module that holds every function."""
    while (parent := op.parent_op()) is not None:
        op = parent
    return op


def _callee(op: Operation) -> str:
    """The function that an op calls; "" of another op."""
    found = op.properties.get("callee", op.attributes.get("callee"))
    return symbol_of(found) if isinstance(found, SymbolRefAttr) else ""


def _limits_of_use(op: Operation, value: SSAValue) -> Iterator[int]:
    try:
        read = read_op(op)
    except CompileError:
        return  # running the op reports it
    if not read.operation.index_limits:
        return
    call = read.call(lambda each: spec_in_text(each.type))
    for name, limit in read.operation.index_limits.items():
        with errors_at(op):
            found = limit(call) if read.arguments.get(name) is value else None
        if found is not None:
            yield found
