"""Equal kernels, such as those of a model's layers, are lowered once.

The code generator reads two kernels alike if their types, maps, ops and constants are equal, and if operands are
one tensor at the same positions in both. Sharing is for compiles that show no stage after fusion.
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
from ttnn_jit.process.memoized import keys_as_expressions
from ttnn_jit.transforms.kernels.kernel_body import generics


@dataclass(frozen=True)
class ShareEqualKernels(ModulePass):
    """Sets `GenericOp.canonical_kernel` of each kernel that equals an earlier one to that one; no text shows it.

    Later passes leave such a kernel unchanged, and the code generator reads the earlier one instead.
    """

    name = "share-equal-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Marks the kernels of the module `op`."""
        every = [*generics(op)]
        if len(every) < 2:
            return
        contents = _Contents()
        first_of: dict[Hashable, d2m.GenericOp] = {}
        for generic in every:
            first = first_of.setdefault(contents.of(generic), generic)
            if first is not generic:
                generic.set_canonical_kernel(first)


class _Contents:
    """The contents of kernels as comparable values; attributes are numbered, so that each is hashed once."""

    def __init__(self) -> None:
        self._number_of: dict[Attribute, int] = {}
        self._number_by_id: dict[int, int] = {}  # ids of attributes, which the module keeps alive

    def of(self, generic: d2m.GenericOp) -> Hashable:
        """Everything of a kernel but locations and tensors."""
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
            with keys_as_expressions():
                found = self._number_of.setdefault(attribute, len(self._number_of))
            self._number_by_id[id(attribute)] = found
        return found
