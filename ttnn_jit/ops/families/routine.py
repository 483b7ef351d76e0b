"""The family of operations that are loops of their own: which element goes where depends on the elements."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, OperandDTypeError, OperandError, ShapeError
from ttnn_jit.ops.language.operation import OperandSpec, Operation
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Dim, Expr
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.tensor_spec import TensorSpec


class NativeLoop(enum.Enum):
    """Loops of routines that are written as LLVM text, by what they do: numba takes half a second for each."""

    ROWS_GATHERED = "rows gathered"  # the row of the second operand that the first one names is copied
    ARGUMENT_REDUCTION = "argument reduction"  # of the first largest or smallest element; the one constant: the largest


@dataclass(frozen=True)
class RoutineLoops:
    """The loops of a routine over its operands and results.

    Attributes:
        extents: Of the loops, outermost first; the routine is called for every index of those but the last `own` ones.
        own: How many loops, the last ones, are the routine's own.
        accesses: Per operand, then per result, which element the indices of all loops name.
    """

    extents: tuple[int, ...]
    own: int
    accesses: tuple[Access, ...]

    @classmethod
    def over(cls, extents: tuple[int, ...], own: int, *indices: tuple[Expr, ...]) -> RoutineLoops:
        """Loops of which every operand and result is read or written at these of their indices."""
        return cls(extents, own, tuple(Access(extents, each) for each in indices))


def loops_along(shape: tuple[int, ...], axis: int, *own: int) -> tuple[tuple[int, ...], Callable[[int], Access]]:
    """Loops over the other dimensions of `shape`, then `own` ones, by default one over `axis`.

    The second result gives the access of a tensor of as many dimensions that moves along `axis` with an own loop.
    """
    others = [dim for dim in range(len(shape)) if dim != axis]
    extents = (*(shape[dim] for dim in others), *(own or (shape[axis],)))

    def access(loop: int) -> Access:
        along = len(others) + loop
        return Access(extents, tuple(Dim(along if dim == axis else others.index(dim)) for dim in range(len(shape))))

    return extents, access


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Routine(Operation):
    """An operation that a Python loop over pointers computes, which numba compiles.

    Attributes:
        loop: ``loop(load, store)`` is the function ``(*operands, *results, *extents, *constants)``, in the Python that
            numba takes. An operand or result is a pointer to its first element, and then its stride along each own loop
            along which it moves; `load` gives the number that an element of the first operand is, of floats a float64,
            and `store` the element of the first result that is nearest to a number, through float32. The function reads
            and writes nothing but elements that indices below the extents name.
        loops: ``loops(*shapes, *attributes)``: its loops.
        canonicalize: ``canonicalize(*shapes, *attributes)``: the canonical attributes; None where they are as given, of
            what only checks them. Raises ShapeError where they do not fit. None: they are as they are given.
        result: ``result(*specs, *attributes)``: what it results in, a tuple. By default one like the first operand,
            interleaved.
        constants: ``constants(*attributes)``: the numbers among them that the loop gets.
        operand_dtypes: Per operand, the element types that it may have.
        same_dtype: Which operands have one element type.
        updates: Its one result begins as its first operand, which neither the loop is given nor `loops` has an access
            of: the loop writes some elements of it, and no other launch does where the operand may be written.
        writes_rows: It updates whole rows of the last dimension alone, and ``loop(write)`` is the function: ``write(
            result, matrix, row, down, along, source, first, step, width)`` puts `width` elements, `step` apart from
            `first` on, in a row. `matrix` is where the result's matrix begins, `down` and `along` are its strides. So
            rows of block floats are packed where they lie; the loops of rows and of their elements are the last two.
        native: What the loop does where that is compiled without numba.
        loaded: Which of the tensors that the loop is given has the element type that `load` reads.
        takes_scalars: Whether tensors without dimensions count as ones of their element in a row.
    """

    loop: Callable[..., Callable[..., None]]
    loops: Callable[..., RoutineLoops]
    canonicalize: Callable[..., tuple[Any, ...] | None] | None = None
    result: Callable[..., tuple[TensorSpec, ...]] = lambda x, *_: (x.interleaved,)
    operand_dtypes: tuple[frozenset[DataType], ...]
    same_dtype: tuple[int, ...] = ()
    updates: bool = False
    writes_rows: bool = False
    native: NativeLoop | None = None
    loaded: int = 0
    takes_scalars: bool = False
    constants: Callable[..., tuple[Any, ...]] = field(default=lambda *_: ())

    @property
    def dtypes(self) -> frozenset[DataType]:
        """The element types that some operand may have."""
        return frozenset().union(*self.operand_dtypes)

    def canonicalized(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[Routine, tuple[Any, ...]]:
        """The operation and the canonical attributes of a call.

        Raises:
            CompileError: The attributes do not fit the operands, or these have other element types than it takes.
        """
        tensors = [spec for spec in specs if isinstance(spec, TensorSpec)]
        self.check_operands(tensors, self.operand_dtypes)
        if len({tensors[index].dtype for index in self.same_dtype}) > 1:
            named = " and ".join(f"`{self.operands[index].name}`" for index in self.same_dtype)
            raise OperandDTypeError(
                f"{named} of `{self.name}` have different element types", help="cast one of them first"
            )
        try:
            shapes = (self.counted(tuple(spec.shape)) for spec in tensors)
            own = None if self.canonicalize is None else self.canonicalize(*shapes, *statics)
            canonical = tuple(statics) if own is None else own
            return self, self.with_numbers_of(tensors[0].dtype, canonical) if tensors else canonical
        except (ShapeError, ArgumentError) as error:
            raise OperandError.of(self.name, error) from None

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """What the declaration says.

        Raises:
            CompileError: The attributes do not fit the operands, or these have other element types than it takes.
        """
        _, canonical = self.canonicalized(specs, statics)
        if not self.takes_scalars or not isinstance(specs[0], TensorSpec) or specs[0].shape:
            return self.result(*specs, *canonical)
        counted = (
            each.with_(shape=self.counted(each.shape)) if isinstance(each, TensorSpec) else each for each in specs
        )
        found = self.result(*counted, *canonical)
        return tuple(each.with_(shape=()) if tuple(each.shape) == (1,) else each for each in found)

    def counted(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of an operand or a result as loops and attributes count its dimensions."""
        return shape or (1,) if self.takes_scalars else shape

    @property
    def rules(self) -> str:
        """What is true of every operation of the family, for docstrings."""
        return "It is a launch of its own."
