"""Equal kernels, such as those of a model's layers, are lowered once; elementwise ones may differ in their numbers.

The code generator reads two kernels alike if their types, maps, ops and constants are equal, and if operands are
one tensor at the same positions in both. No stage in between reads the number of a constant or of a parameter: the code
generator puts the numbers of each kernel into the steps of the lowered one. Sharing is for compiles that show no stage
after fusion.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.d2m_generic import NUMBERED
from ttnn_jit.dialects.declared_ops import ElementwiseOp
from ttnn_jit.dialects.writing.editing import ops_of
from ttnn_jit.process.memoized import keys_as_expressions, memoized
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
        canonical: dict[Hashable, _Canonical] = {}
        for generic in every:
            content, numbered = contents.of(generic)
            first = canonical.get(content)
            if first is None:
                canonical[content] = _Canonical(generic, numbered)
            else:
                first.stand_for(generic, numbered)


@dataclass
class _Canonical:
    """A kernel that is lowered.

    Attributes:
        generic: The kernel.
        numbered: Its ops that have numbers, in order.
        is_marked: Whether these have the attribute `NUMBERED`.
    """

    generic: d2m.GenericOp
    numbered: Sequence[Operation]
    is_marked: bool = False

    def stand_for(self, other: d2m.GenericOp, numbered: Sequence[Operation]) -> None:
        """Makes it the kernel that is lowered in place of `other`, whose ops with numbers are given."""
        if all(map(_have_same_properties, self.numbered, numbered)):
            other.set_canonical_kernel(self.generic)
            return
        if not self.is_marked:
            self.is_marked = True
            for index, op in enumerate(self.numbered):
                op.attributes[NUMBERED] = _index(index)
        other.set_canonical_kernel(self.generic, [*map(_numbers_of, numbered)])


def _have_same_properties(one: Operation, other: Operation) -> bool:
    """Whether the properties of two ops are the same objects, as those of equal numbers mostly are."""
    return all(each is other.properties[name] for name, each in one.properties.items())


def _numbers_of(op: Operation) -> Sequence[float]:
    """The numbers of a constant, or those of an operation's steps."""
    if isinstance(op, ElementwiseOp):
        return op.operation.numbers_of(op.statics)
    value = op.properties["value"]
    assert isinstance(value, FloatAttr | IntegerAttr), "it is a number"
    return (value.value.data,)


@memoized
def _index(index: int) -> IntegerAttr:
    return IntegerAttr(index, i64)


class _Contents:
    """The contents of kernels as comparable values; attributes are numbered, so that each is hashed once."""

    def __init__(self) -> None:
        self._number_of: dict[Attribute, int] = {}
        self._number_by_id: dict[int, int] = {}  # ids of attributes, which the module keeps alive
        self._is_elementwise = False
        self._numbered: list[Operation] = []

    def of(self, generic: d2m.GenericOp) -> tuple[Hashable, Sequence[Operation]]:
        """Everything of a kernel but locations, tensors and numbers; and its ops that have numbers, in order."""
        content: list[Hashable] = []
        self._is_elementwise = all(kind.data == "parallel" for kind in generic.iterator_types)
        self._numbered = []
        self._add(generic, content, {})
        return tuple(content), self._numbered

    def _add(self, op: Operation, content: list[Hashable], number_of: dict[SSAValue, int]) -> None:
        content += (type(op), len(op._operands), len(op.results))
        for value in op._operands:
            content += (number_of.setdefault(value, len(number_of)), self._number(value.type))
        for value in op.results:
            number_of[value] = len(number_of)
            content.append(self._number(value.type))
        if self._is_elementwise and (names := _names_of_numbers(op)):
            self._numbered.append(op)
            content += self._all({name: each for name, each in op.properties.items() if name not in names})
            content += names
        else:
            content += self._all(op.properties)
        content += self._all(op.attributes)
        for region in op.regions:
            for block in region.blocks:
                content.append("block")
                for argument in block.args:
                    number_of[argument] = len(number_of)
                    content.append(self._number(argument.type))
                for inner in ops_of(block):
                    self._add(inner, content, number_of)
                content.append("end")

    def _all(self, attributes: Mapping[str, Attribute]) -> Iterator[Hashable]:
        yield tuple(attributes)
        yield from map(self._number, attributes.values())

    def _number(self, attribute: Attribute) -> int:
        found = self._number_by_id.get(id(attribute))
        if found is None:
            with keys_as_expressions():
                found = self._number_of.setdefault(attribute, len(self._number_of))
            self._number_by_id[id(attribute)] = found
        return found


def _names_of_numbers(op: Operation) -> tuple[str, ...]:
    """The properties of an op that are numbers of a kernel's steps: of a constant, or floats of an operation.

    A whole number among the parameters of an operation may choose its formula, and an index is no number of a step.
    """
    if not op.properties:
        return ()
    if isinstance(op, arith.ConstantOp):
        return () if isinstance(op.result.type, IndexType) else ("value",)
    if not isinstance(op, ElementwiseOp):
        return ()
    return tuple(name for name, each in op.properties.items() if isinstance(each, FloatAttr))
