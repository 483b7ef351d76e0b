"""Creates ops without successors and default properties, blocks and regions, in half of xDSL's time.

A compile makes a dozen ops per operation of the user's. `Operation.create` assigns operands and successors through
setters that first remove the old ones, and looks for defaults. Only this module, direct_access.py, editing.py and
printer.py use private names of xDSL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from xdsl.dialects.builtin import DenseArrayBase, LocationAttr, i32
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue, Use
from xdsl.ir.core import SSAValues

from ttnn_jit.dialects.locations import UNKNOWN

Op = TypeVar("Op", bound=Operation)
V = TypeVar("V", bound=SSAValue)


class _Result(OpResult[Attribute]):
    """A result with identity equality, like xDSL's, but hashed and compared in C."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class _Argument(BlockArgument[Attribute]):
    """A block argument with identity equality, hashed and compared in C."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class _Values(SSAValues[V]):
    """Operands or results of an op, indexed in half of xDSL's time."""

    def __getitem__(self, index: Any) -> Any:
        return _item(self, index) if index.__class__ is int else SSAValues(_item(self, index))


_item = tuple.__getitem__


def create(
    cls: type[Op],
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] = {},
    attributes: Mapping[str, Attribute] = {},
    location: LocationAttr | None = None,
    successors: Sequence[object] = (),
    regions: Sequence[Region] = (),
) -> Op:
    """Does what ``cls.create`` does, for a class without default properties; nothing is checked before `verify`."""
    assert not successors, "an op of these dialects has no successors"
    op = cls.__new__(cls)
    if operands:
        uses = []
        for index, operand in enumerate(operands):
            first = operand.first_use
            use = Use(op, index, None, first)  # `add_use`, inlined
            if first is not None:
                first._prev_use = use
            operand.first_use = use
            uses.append(use)
        op._operands = _Values(operands)
        op._operand_uses = tuple(uses)
    if result_types:
        results = []  # by a loop: a comprehension is a call of its own before Python 3.12
        for index, result_type in enumerate(result_types):
            results.append(_Result(result_type, op, index))
        op.results = _Values(results)
    op.properties = {**properties}
    op.attributes = {**attributes}
    op.location = UNKNOWN if location is None else location
    for region in regions:
        op.add_region(region)
    return op


class QuickOperation(Operation):
    """Base of ops that `create` of this module makes."""

    if not TYPE_CHECKING:  # which knows xDSL's method, with the same parameters
        create = classmethod(create)


SEGMENTS = "operandSegmentSizes"
"""The property with the number of operands of each name, for ops with several variadic operands."""


@cache
def segments(*sizes: int) -> DenseArrayBase:
    """The value of `SEGMENTS` for these numbers of operands."""
    return DenseArrayBase.from_list(i32, sizes)


def clone_with(op: Op, operands: Sequence[SSAValue], result_types: Sequence[Attribute] | None = None) -> Op:
    """A copy of `op`, which has no regions, with other operands and, if given, other result types."""
    return type(op).create(
        operands=operands,
        result_types=op.result_types if result_types is None else result_types,
        properties=op.properties,
        attributes=op.attributes,
        location=op.location,
    )


def counterpart(
    cls: type[Op], op: Operation, operands: Sequence[SSAValue], properties: Mapping[str, Attribute] | None = None
) -> Op:
    """An op of class `cls` with the result types, location and, unless others are given, properties of `op`."""
    return cls.create(
        operands=operands,
        result_types=op.result_types,
        properties=op.properties if properties is None else properties,
        attributes=op.attributes,
        location=op.location,
    )


def empty_block(arg_types: Iterable[Attribute] = ()) -> Block:
    """Does what ``Block(arg_types=arg_types)`` does."""
    block = Block.__new__(Block)
    block._args = tuple([_Argument(arg_type, block, index, UNKNOWN) for index, arg_type in enumerate(arg_types)])
    block._first_op = block._last_op = None
    return block


def region_of(block: Block) -> Region:
    """Does what ``Region(block)`` does for a block without a parent."""
    assert block.parent is None, "a block has one region"
    region = Region.__new__(Region)
    region._first_block = region._last_block = block
    block.parent = region
    return region
