"""Kernels that hold the same are lowered once: what the layers of a model are made of.

A compile that shows its stages to nobody needs of a kernel what the code generator reads in it. Kernels whose types,
maps, ops and numbers are equal, and whose operands are alike one tensor or several, are read alike.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.writing.editing import ops_of
from ttnn_jit.transforms.kernels.kernel_body import generics


@dataclass(frozen=True)
class ShareEqualKernels(ModulePass):
    """Marks every kernel that equals an earlier one: `GenericOp.lowered_as` is that, and the mark is in no text.

    Passes behind this leave such a kernel as it is, and the code generator reads the other in its place.
    """

    name = "share-equal-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Marks the kernels of the module `op`."""
        contents = _Contents()
        first_of: dict[Hashable, d2m.GenericOp] = {}
        for generic in generics(op):
            first = first_of.setdefault(contents.of(generic), generic)
            if first is not generic:
                generic.lower_as(first)


class _Contents:
    """What kernels hold, as values that can be compared; attributes are numbered, for each is hashed once so."""

    def __init__(self) -> None:
        self._number_of: dict[Attribute, int] = {}
        self._number_by_id: dict[int, int] = {}  # of attributes that the module keeps

    def of(self, generic: d2m.GenericOp) -> Hashable:
        """Everything but locations in source and the tensors themselves."""
        content: list[Hashable] = []
        self._add(generic, content, {})
        return tuple(content)

    def _add(self, op: Operation, content: list[Hashable], number_of: dict[SSAValue, int]) -> None:
        content += (type(op), len(op._operands), len(op.results))
        for value in op._operands:
            content += (number_of.setdefault(value, len(number_of)), self._number(value.type))
        for value in op.results:
            number_of[value] = len(number_of)
            content.append(self._number(value.type))
        for attributes in (op.properties, op.attributes):
            content.append(tuple(attributes))
            content += map(self._number, attributes.values())
        for region in op.regions:
            for block in region.blocks:
                content.append("block")
                for argument in block.args:
                    number_of[argument] = len(number_of)
                    content.append(self._number(argument.type))
                for inner in ops_of(block):
                    self._add(inner, content, number_of)
                content.append("end")

    def _number(self, attribute: Attribute) -> int:
        found = self._number_by_id.get(id(attribute))
        if found is None:
            found = self._number_of.setdefault(attribute, len(self._number_of))
            self._number_by_id[id(attribute)] = found
        return found
