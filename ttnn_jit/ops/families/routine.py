"""The family of routines: operations with hand-written loops, whose indices depend on elements."""

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
    """Loops of routines that also exist as LLVM text: numba takes half a second for each."""

    ROW_GATHER = "rows gathered"  # copies the row of the second operand whose index is in the first
    ARGUMENT_REDUCTION = "argument reduction"  # argmax or argmin, the first of equal ones; one constant: is it argmax
    ROW_UPDATE = "rows updated"  # writes rows to the positions in the second operand
    SEQUENCE = "sequence"  # integers; two constants: the first one and the step

    def takes(self, result: DataType) -> bool:
        """Whether it writes elements of `result`: one by one, unlike those of block floats."""
        return not result.is_block_float or self in {NativeLoop.ROW_GATHER, NativeLoop.ARGUMENT_REDUCTION}


@dataclass(frozen=True)
class RoutineLoops:
    """The loops of a routine over its operands and results.

    Attributes:
        extents: The extents of the loops, outermost first. The routine is called for every index of the outer loops,
            and contains the others.
        inner: The number of loops inside the routine.
        accesses: Per operand, then per result, the map from loop indices to its indices.
    """

    extents: tuple[int, ...]
    inner: int
    accesses: tuple[Access, ...]

    @classmethod
    def over(cls, extents: tuple[int, ...], inner: int, *indices: tuple[Expr, ...]) -> RoutineLoops:
        """Loops over `extents`; `indices` holds the index expressions of each operand and result."""
        return cls(extents, inner, tuple(Access(extents, each) for each in indices))


def loops_along(shape: tuple[int, ...], axis: int, *inner: int) -> tuple[tuple[int, ...], Callable[[int], Access]]:
    """The extents of loops over the other dimensions of `shape`, then of loops `inner`, by default one over `axis`.

    The second result maps the number of an inner loop to the access of a tensor of the same rank that this loop moves
    along `axis`.
    """
    others = [dim for dim in range(len(shape)) if dim != axis]
    extents = (*(shape[dim] for dim in others), *(inner or (shape[axis],)))

    def access(loop: int) -> Access:
        along = len(others) + loop
        return Access(extents, tuple(Dim(along if dim == axis else others.index(dim)) for dim in range(len(shape))))

    return extents, access


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Routine(Operation):
    """An operation that is a Python loop over pointers, compiled by numba.

    Attributes:
        loop: ``loop(load, store)`` returns the function ``(*operands, *results, *extents, *constants)``, in numba's
            subset of Python. Each operand and result is a pointer to its first element, followed by its stride along
            each inner loop that moves it. `load` converts an element of the first operand to a number (floats to
            float64). `store` converts a number to the nearest element of the first result, through float32. The
            function accesses only elements whose indices are below the extents.
        loops: ``loops(*shapes, *attributes)``: its loops.
        canonicalize: ``canonicalize(*shapes, *attributes)``: the canonical attributes, or None if they are canonical
            already (a function that only checks them). Raises ShapeError where they do not fit. None: attributes are
            canonical as given.
        result: ``result(*specs, *attributes)``: the tuple of result specs. By default that of the first operand,
            interleaved.
        constants: ``constants(*attributes)``: the constants of the loop.
        operand_dtypes: Per operand, its valid element types.
        same_dtype: The indices of operands that must have one element type.
        updates: Its one result is an update of its first operand: the loop writes some elements of the result, and gets
            no pointer to the operand; `loops` has no access of it. The update is in place, without a second launch,
            where the operand may be written.
        writes_rows: It updates whole rows of the last dimension, and ``loop(write)`` returns the function: ``write(
            result, matrix, row, down, along, source, first, step, width)`` stores `width` elements, `step` apart from
            `first` on, in a row. `matrix` is the start of the result's matrix, `down` and `along` are its strides. So
            rows of block floats are packed in place; the loops over rows and over their elements are the last two.
        native: The loop as LLVM text, if there is one.
        loaded: The index, among the loop's tensors, of the one whose element type `load` reads.
        wide_in_texts: Only texts call it with elements of 64 bits.
        accepts_rank_zero: Whether a tensor without dimensions counts as one of shape [1].
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
    load_operand: int = 0
    wide_in_texts: bool = False
    accepts_rank_zero: bool = False
    constants: Callable[..., tuple[Any, ...]] = field(default=lambda *_: ())

    @property
    def dtypes(self) -> frozenset[DataType]:
        """The union of the element types of its operands."""
        return frozenset().union(*self.operand_dtypes)

    def canonicalized(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[Routine, tuple[Any, ...]]:
        """The operation and the canonical attributes of a call.

        Raises:
            CompileError: The attributes do not fit the operands, or an element type is not supported.
        """
        tensors = [spec for spec in specs if isinstance(spec, TensorSpec)]
        self.check_operands(tensors, self.operand_dtypes)
        if len({tensors[index].dtype for index in self.same_dtype}) > 1:
            named = " and ".join(f"`{self.operands[index].name}`" for index in self.same_dtype)
            raise OperandDTypeError(
                f"{named} of `{self.name}` have different element types", help="cast one of them first"
            )
        try:
            shapes = (self.loop_shape(tuple(spec.shape)) for spec in tensors)
            own = None if self.canonicalize is None else self.canonicalize(*shapes, *statics)
            canonical = tuple(statics) if own is None else own
            return self, self.with_numbers_of(tensors[0].dtype, canonical) if tensors else canonical
        except (ShapeError, ArgumentError) as error:
            raise OperandError.of(self.name, error) from None

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """The result specs by `result`.

        Raises:
            CompileError: The attributes do not fit the operands, or an element type is not supported.
        """
        _, canonical = self.canonicalized(specs, statics)
        if not self.accepts_rank_zero or not isinstance(specs[0], TensorSpec) or specs[0].shape:
            return self.result(*specs, *canonical)
        loop_shape = (
            each.with_(shape=self.loop_shape(each.shape)) if isinstance(each, TensorSpec) else each for each in specs
        )
        found = self.result(*loop_shape, *canonical)
        return tuple(each.with_(shape=()) if tuple(each.shape) == (1,) else each for each in found)

    def loop_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of an operand or a result in loops and attributes: [1] for a tensor without dimensions."""
        return shape or (1,) if self.accepts_rank_zero else shape

    @property
    def rules(self) -> str:
        """Sentences for docstrings that hold for every operation of the family."""
        return "It is a launch of its own."
