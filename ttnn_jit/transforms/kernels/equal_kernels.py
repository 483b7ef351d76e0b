"""Equal kernels, such as those of a model's layers, are lowered once.

The code generator reads two kernels alike if their types, maps, ops and constants are equal, and if operands are
one tensor at the same positions in both. Sharing is for compiles that show no stage after fusion.

What it reads of a kernel whose loops are all parallel depends on no size. Such kernels of a process are therefore read
once for all sizes: for the same target, passes and *form*, which is all that a kernel has besides its sizes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import count
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from ttnn_jit.dialects import d2m, system_desc_of
from ttnn_jit.dialects.ttcore import GridAttr
from ttnn_jit.dialects.writing.editing import ops_of
from ttnn_jit.process.memoized import KEYS, keys_as_expressions
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


@dataclass(frozen=True)
class RecallKernels(ModulePass):
    """Sets `GenericOp.form` of each kernel that would be lowered, and so its reading if that is known.

    Later passes leave such a kernel unchanged. In a trace of sizes every kernel is lowered, which records what it needs
    of them.

    Attributes:
        lowering: The passes that lower kernels.
    """

    name = "recall-kernels"

    lowering: tuple[ModulePass, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Notes the forms of the kernels of the module `op`."""
        if KEYS.memos is not None:
            return
        target = system_desc_of(op)
        for generic in generics(op):
            if all(kind.data == "parallel" for kind in generic.iterator_types):
                generic.set_form((self.lowering, target, _FORMS.of(generic)))


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
            content += (number_of.setdefault(value, len(number_of)), self._type(value.type))
        for value in op.results:
            number_of[value] = len(number_of)
            content.append(self._type(value.type))
        for attributes in (op.properties, op.attributes):
            content.append(tuple(attributes))
            content += map(self._number, attributes.values())
        for region in op.regions:
            for block in region.blocks:
                content.append("block")
                for argument in block.args:
                    number_of[argument] = len(number_of)
                    content.append(self._type(argument.type))
                for inner in ops_of(block):
                    self._add(inner, content, number_of)
                content.append("end")

    def _type(self, type_: Attribute) -> Hashable:
        return self._number(type_)

    def _number(self, attribute: Attribute) -> int:
        found = self._number_by_id.get(id(attribute))
        if found is None:
            with keys_as_expressions():
                found = self._number_of.setdefault(attribute, len(self._number_of))
            self._number_by_id[id(attribute)] = found
        return found


class _Forms(_Contents):
    """The forms of kernels: their contents without sizes of tensors, buffers and grids, and without memory layouts.

    Attributes have one number in a process, and equal ones the same, so that kernels of different modules compare.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[Attribute] = []  # an id is that of one attribute as long as it lives
        self._free = count()

    def _type(self, type_: Attribute) -> Hashable:
        kind = type(type_)
        inner: Any = type_.underlying if kind is d2m.CBType else type_  # type: ignore[attr-defined]
        if kind not in _WITH_SIZES:
            return self._number(type_)
        return kind, len(inner.shape), self._number(inner.element_type)

    def _number(self, attribute: Attribute) -> int:
        found = self._number_by_id.get(id(attribute))
        if found is None:
            if type(attribute) is GridAttr:
                return -1
            if len(self._kept) >= _MOST_NUMBERED:
                for table in (self._kept, self._number_of, self._number_by_id):
                    table.clear()
            self._kept.append(attribute)
            found = self._number_by_id[id(attribute)] = self._number_of.setdefault(attribute, next(self._free))
        return found


_WITH_SIZES = {TensorType, MemRefType, d2m.CBType}  # they have no subclasses, and isinstance is slower

_MOST_NUMBERED = 4096
"""After so many attributes all numbers are given anew; no number is given twice."""

_FORMS = _Forms()
