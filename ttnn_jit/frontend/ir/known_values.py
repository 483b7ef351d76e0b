"""Numbers of a text that are known before it runs: how often its loops repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xdsl.ir import BlockArgument, Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.op_calls import read_op
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.ops.families.text_operation import Role

if TYPE_CHECKING:
    import torch

MAX_TRIPS = 10_000
"""A loop that repeats more often is refused."""
_MAX_ELEMENTS = 64
"""Larger tensors are not computed beforehand."""


class UnknownValueError(Exception):
    """A value that only the program computes."""


def trip_count(op: Operation) -> int:
    """How often a loop repeats.

    Raises:
        CompileError: That depends on the inputs of the program, or is too often.
    """
    condition, body = _blocks(op)
    needed = _needed(op)
    try:
        carried = {index: _known(op.operands[index], {}) for index in needed}
        for count in range(MAX_TRIPS + 1):
            (holds,) = _returned(condition, carried, (0,))
            if not bool(holds):
                return count
            carried = dict(zip(needed, _returned(body, carried, needed), strict=True))
    except UnknownValueError as error:
        raise CompileError(
            f"`{name_of(op)}`: how often it repeats is not known before the program runs: {error}",
            location=location_of(op),
            help="loops are written out; a count from constants is known",
        ) from error
    raise CompileError(
        f"`{name_of(op)}` repeats more than {MAX_TRIPS:,} times", location=location_of(op), help="loops are written out"
    )


def _blocks(op: Operation) -> tuple[Any, Any]:
    """The blocks of the condition and of the body."""
    condition, body = op.regions
    return condition.block, body.block


def _returned(block: Any, carried: Mapping[int, torch.Tensor], wanted: Any) -> list[torch.Tensor]:
    """What a region returns at the places `wanted`, of the arguments that are known."""
    values = {block.args[index]: each for index, each in carried.items()}
    return [_known(block.last_op.operands[index], values) for index in wanted]


def _needed(op: Operation) -> tuple[int, ...]:
    """The carried values on which the condition depends, also through the body."""
    condition, body = _blocks(op)
    found: set[int] = set()
    open_: list[tuple[Any, SSAValue]] = [(condition, condition.last_op.operands[0])]
    seen: set[SSAValue] = set()
    while open_:
        block, value = open_.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, BlockArgument):
            if value.block is block and value.index not in found:
                found.add(value.index)
                open_.append((body, body.last_op.operands[value.index]))
        elif isinstance(value.owner, Operation):
            open_ += [(block, each) for each in value.owner.operands]
    return tuple(sorted(found))


def _known(value: SSAValue, values: dict[SSAValue, torch.Tensor]) -> torch.Tensor:
    """A value, by the goldens of the ops that make it.

    Raises:
        UnknownValueError: It depends on an input, or has many elements.
    """
    import torch

    if value in values:
        return values[value]
    owner = value.owner
    if not isinstance(owner, Operation):
        raise UnknownValueError("it depends on an argument")
    read = read_op(owner)
    if read.operation.role is not Role.COMPUTES or read.operation.is_random:
        raise UnknownValueError(f"it depends on `{name_of(owner)}`")
    if any(each.volume > _MAX_ELEMENTS for each in read.results):
        raise UnknownValueError(f"it depends on `{name_of(owner)}`, of many elements")
    call = read.call(lambda each: _widened(_known(each, values)))
    found = read.operation.golden(torch, call)
    listed = found if isinstance(found, list | tuple) else [found]
    for result, spec, each in zip(owner.results, read.results, listed, strict=True):
        values[result] = each.to(spec.dtype.torch)
    return values[value]


def _widened(x: torch.Tensor) -> torch.Tensor:
    """Floats as float64, integers as int64."""
    import torch

    return x.double() if x.is_floating_point() else x if x.dtype is torch.bool else x.long()
