"""Ops of texts for which nothing is computed."""

from __future__ import annotations

from xdsl.dialects.func import CallOp
from xdsl.ir import Operation
from xdsl.traits import SymbolTable

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects.text_calls.op_calls import bound_op
from ttnn_jit.dialects.text_calls.tensor_types import spec_in_text
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.ops.families.text_operation import Role
from ttnn_jit.ops.texts import text_operations


def is_unread_call(op: Operation) -> bool:
    """Whether an op calls a function whose results are only freed, as before a trace is captured.

    A function that writes to its parameters is called for that.
    """
    if not isinstance(op, CallOp):
        return False
    readers = [text_operations().get(name_of(use.operation)) for result in op.results for use in result.uses]
    if not readers or any(each is None or each.role is not Role.NOTHING for each in readers):
        return False
    callee = SymbolTable.lookup_symbol(op, op.callee)
    return callee is None or not any(_may_write(each) for each in callee.walk())


def _may_write(op: Operation) -> bool:
    """Whether an op writes to an operand, or calls a function that may."""
    found = text_operations().get(name_of(op))
    return isinstance(op, CallOp) or (found is not None and bool(found.updates or found.also_updates))


def is_only_a_number(op: Operation) -> bool:
    """Whether an op makes a tensor of a type in which nothing is computed, and only its number in the text is read."""
    if op.operands or not op.results:
        return False
    try:
        spec_in_text(op.results[0].type)
    except TtnnJitError:
        return not any(op.results[0] in bound_op(use.operation).operands for use in op.results[0].uses)
    return False
