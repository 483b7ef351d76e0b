"""Making ops at half of xDSL's price: what an op without successors and without default properties consists of.

A compile makes a dozen ops per operation of the user's; `Operation.create` copies operands and successors through
setters that first take the old ones away, and looks for defaults. Beside printer.py this is the one module that
touches private names of xDSL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self, TypeVar

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Operation, OpResult, Region, SSAValue, Use
from xdsl.ir.core import SSAValues

from ttnn_jit.dialects.locations import UNKNOWN

Op = TypeVar("Op", bound=Operation)


def create(
    cls: type[Op],
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] = {},
    attributes: Mapping[str, Attribute] = {},
    location: LocationAttr | None = None,
    regions: Sequence[Region] = (),
) -> Op:
    """What ``cls.create`` makes, for a class without default properties."""
    op = cls.__new__(cls)
    uses = []
    for index, operand in enumerate(operands):
        use = Use(op, index)
        operand.add_use(use)
        uses.append(use)
    op._operands = SSAValues(operands)
    op._operand_uses = tuple(uses)
    op.results = SSAValues([OpResult(result_type, op, index) for index, result_type in enumerate(result_types)])
    op.properties = dict(properties)
    op.attributes = dict(attributes)
    op.location = UNKNOWN if location is None else location
    for region in regions:
        op.add_region(region)
    return op


class QuickOperation(Operation):
    """Base of ops that are made by `create` of this module."""

    @classmethod
    def create(
        cls,
        *,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute] = {},
        attributes: Mapping[str, Attribute] = {},
        location: LocationAttr | None = None,
        successors: Sequence[object] = (),
        regions: Sequence[Region] = (),
    ) -> Self:
        """An op of this class; nothing is checked before `verify`."""
        assert not successors, "an op of these dialects has no successors"
        return create(
            cls,
            operands=operands,
            result_types=result_types,
            properties=properties,
            attributes=attributes,
            location=location,
            regions=regions,
        )
