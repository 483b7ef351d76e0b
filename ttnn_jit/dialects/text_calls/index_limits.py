"""The limits of integers that are read as indices."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.text_calls.op_calls import read_op
from ttnn_jit.dialects.text_calls.tensor_types import is_tensor, spec_in_text


def index_limit(value: SSAValue) -> int | None:
    """The smallest limit of the ops that read a value as indices, also through ops of one operand; None without any."""
    return min(_limits(value, set()), default=None)


def _limits(value: SSAValue, seen: set[SSAValue]) -> Iterator[int]:
    if value in seen:
        return
    seen.add(value)
    for use in value.uses:
        yield from _limits_of_use(use.operation, value)
        tensors = [each for each in use.operation.operands if is_tensor(each.type)]
        if len(tensors) == 1:
            for result in use.operation.results:
                yield from _limits(result, seen)


def _limits_of_use(op: Operation, value: SSAValue) -> Iterator[int]:
    try:
        read = read_op(op)
    except CompileError:
        return  # running the op reports it
    if not read.operation.index_limits:
        return
    call = read.call(lambda each: spec_in_text(each.type))
    for name, limit in read.operation.index_limits.items():
        found = limit(call) if read.arguments.get(name) is value else None
        if found is not None:
            yield found
