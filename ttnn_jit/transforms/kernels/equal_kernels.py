"""Equal kernels, such as those of a model's layers, are lowered once; elementwise ones may differ in their numbers.

The code generator reads two kernels alike if their types, maps, ops and constants are equal, and if operands are
one tensor at the same positions in both. No stage in between reads the number of a constant or of a parameter: the code
generator puts the numbers of each kernel into the steps of the lowered one. Sharing is for compiles that show no stage
after fusion.

What it reads of a kernel whose loops are all parallel depends on no size either. Such kernels are read once in a
process, for the same target, passes and *form*: all that a kernel has besides its sizes and numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, MemRefType, ModuleOp, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from ttnn_jit.dialects import d2m, system_desc_of
from ttnn_jit.dialects.d2m_generic import NUMBERED
from ttnn_jit.dialects.declared_ops import ElementwiseOp
from ttnn_jit.dialects.ttcore import GridAttr
from ttnn_jit.dialects.writing.editing import ops_of
from ttnn_jit.process.memoized import KEYS, keys_as_expressions, memoized
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
        target, forms = system_desc_of(op), _Forms()
        for generic in generics(op):
            if _is_elementwise(generic):
                content, numbered = forms.of(generic)
                generic.set_form((self.lowering, target, content), [*map(_numbers_of, numbered)])
                if generic.known_reading is None:
                    _mark(numbered)


def _is_elementwise(generic: d2m.GenericOp) -> bool:
    return all(kind.data == "parallel" for kind in generic.iterator_types)


def _mark(numbered: Iterable[Operation]) -> None:
    """Gives ops that have numbers their index."""
    for index, op in enumerate(numbered):
        op.attributes[NUMBERED] = _index(index)


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
            _mark(self.numbered)
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
        self._is_elementwise = _is_elementwise(generic)
        self._numbered = []
        self._add(generic, content, {})
        return tuple(content), self._numbered

    def _add(self, op: Operation, content: list[Hashable], number_of: dict[SSAValue, int]) -> None:
        content += (type(op), len(op._operands), len(op.results))
        for value in op._operands:
            content += (number_of.setdefault(value, len(number_of)), self._type(value.type))
        for value in op.results:
            number_of[value] = len(number_of)
            content.append(self._type(value.type))
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
                    content.append(self._type(argument.type))
                for inner in ops_of(block):
                    self._add(inner, content, number_of)
                content.append("end")

    def _all(self, attributes: Mapping[str, Attribute]) -> Iterator[Hashable]:
        yield tuple(attributes)
        yield from map(self._number, attributes.values())

    def _type(self, type_: Attribute) -> Hashable:
        return self._number(type_)

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


class _Forms(_Contents):
    """The forms of kernels: contents without numbers, memory layouts, and sizes of tensors, buffers and grids."""

    def _type(self, type_: Attribute) -> Hashable:
        kind = type(type_)
        inner: Any = type_.underlying if kind is d2m.CBType else type_  # type: ignore[attr-defined]
        if kind not in _WITH_SIZES:
            return self._number(type_)
        return kind, len(inner.shape), self._number(inner.element_type)

    def _number(self, attribute: Attribute) -> int:
        return -1 if type(attribute) is GridAttr else _NUMBERS.of(attribute)


_WITH_SIZES = {TensorType, MemRefType, d2m.CBType}  # they have no subclasses, and isinstance is slower


class _AttributeNumbers:
    """The numbers of attributes in a process, equal ones have the same: kernels of different modules compare."""

    def __init__(self) -> None:
        self._number_of: dict[Attribute, int] = {}
        self._by_id: dict[int, tuple[Attribute, int]] = {}  # an id is that of one attribute as long as it lives
        self._free = count()

    def of(self, attribute: Attribute) -> int:
        """The number of an attribute."""
        found = self._by_id.get(id(attribute))
        if found is not None:
            return found[1]
        if len(self._by_id) >= _MOST_NUMBERED:
            self._number_of.clear()
            self._by_id.clear()
        number = self._number_of.setdefault(attribute, next(self._free))
        self._by_id[id(attribute)] = attribute, number
        return number


_MOST_NUMBERED = 4096
"""After so many attributes all numbers are given anew; no number is given twice."""

_NUMBERS = _AttributeNumbers()
