"""The family of operations that multiply two tensors and add the products up along a dimension that both have.

The bits of an element of the result depend on its row of the first tensor and its column of the second alone. It is one
chain from +0 in float32, over the contracted dimension in ascending order, one rounding at the end. Each product is
added by a fused multiply-add. Where both tensors are bfloat16 they join the chain in pairs (2i, 2i + 1), the odd one
first, a last one without a partner beside zero times zero; operands and sums that are subnormal, with unbounded
exponents after rounding, are zeros of their sign: what ``vdpbf16ps`` computes. Where the attributes of a call have a
precision, its factors are cut and its sums rounded as that says (specs/product_precision.py).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from ttnn_jit.diagnostics.errors import OperandError, OperandShapeError, ShapeError
from ttnn_jit.ops.language.operation import OperandSpec, Operation
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target_rules import is_multipliable, is_of_whole_tiles
from ttnn_jit.specs.tensor_spec import TensorSpec

Labels = tuple[Hashable, ...]
"""A name for each dimension of a tensor."""


class Dimensions(NamedTuple):
    """The dimensions of a call by name: what two tensors have under one name is one loop.

    Attributes:
        left: Those of the first tensor.
        right: Those of the second.
        result: Those of the result; at most one of both tensors is missing, which is the contracted one.
    """

    left: Labels
    right: Labels
    result: Labels

    @property
    def contracted(self) -> Hashable | None:
        """The dimension along which products are added up; None if there is none."""
        return next((label for label in self.left if label in self.right and label not in self.result), None)

    @property
    def give_matrices(self) -> bool:
        """Whether the result's tiles are of rows of the first tensor and columns of the second."""
        if self.contracted is None or len(self.result) < 2:
            return False
        row, column = self.result[-2:]
        return row in self.left and row not in self.right and column in self.right and column not in self.left

    @property
    def as_matrices(self) -> tuple[Labels, Labels]:
        """The dimensions of both tensors as kernels read them: batches, then those of the matrix."""
        *batch, row, column = self.result
        left, right = ([label for label in batch if label in own] for own in (self.left, self.right))
        return (*left, row, self.contracted), (*right, self.contracted, column)

    def only_of(self, side: Labels, other: Labels) -> Hashable | None:
        """The last dimension of the result that `side` has and `other` lacks; None if there is none."""
        return next((label for label in reversed(self.result) if label in side and label not in other), None)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Contraction(Operation):
    """An operation that contracts a dimension of two tensors.

    Attributes:
        dimensions: ``dimensions(left_rank, right_rank, *attributes)``: their names. Raises ShapeError where the
            operation takes no such ranks.
        examples: Shapes of the two tensors, and attributes that it is tested with.
    """

    dimensions: Callable[..., Dimensions]
    examples: tuple[tuple[tuple[tuple[int, ...], ...], tuple[Any, ...]], ...]

    def extents(
        self, shapes: Sequence[Sequence[int]], statics: Sequence[Any]
    ) -> tuple[Dimensions, dict[Hashable, int]]:
        """The dimensions of a call, and the extent of each; those that are kept are broadcast from 1.

        Raises:
            ShapeError: The shapes do not fit each other.
        """
        left, right = shapes
        try:
            named = self.dimensions(len(left), len(right), *statics)
        except ShapeError as error:
            raise self._refusal(shapes, error.message, error.help) from None
        found: dict[Hashable, int] = {}
        for label, extent in (*zip(named.left, left, strict=True), *zip(named.right, right, strict=True)):
            before = found.setdefault(label, extent)
            if extent != before and label == named.contracted:
                raise self._refusal(shapes, f"the dimensions to contract have {before} and {extent} elements", None)
            if extent != before and 1 not in {extent, before}:
                raise self._refusal(shapes, f"dimensions of {before} and of {extent} do not broadcast", None)
            found[label] = extent if before == 1 else before
        return named, found

    def contradiction(
        self, shapes: Sequence[Sequence[int]], result: Sequence[int], statics: Sequence[Any]
    ) -> str | None:
        """What the verifier of tt-mlir's matmul says of an op of these shapes; None where it is one, or says nothing.

        Other than there a factor may be a vector, and batches broadcast: ranks differ then.
        """
        for name, shape in zip("AB", shapes, strict=True):
            if len(shape) < 1:
                return f"Input {name} must be at least a 2D tensor"
        left, right = shapes
        try:
            named = self.dimensions(len(left), len(right), *statics)
        except ShapeError:
            return "Input A and B must be at least 2D tensors where they are transposed"
        inner = (shape[own.index(named.contracted)] for own, shape in ((named.left, left), (named.right, right)))
        if named.contracted is not None and len({*inner}) > 1:
            return "Input A and B must have matching inner dimensions"
        if len(result) != len(named.result):
            return "Input A and B must have the same rank as the output"
        for name, what, own, other, shape in (
            ("A", "rows", named.left, named.right, left),
            ("B", "columns", named.right, named.left, right),
        ):
            label = named.only_of(own, other)
            if label is not None and result[named.result.index(label)] != shape[own.index(label)]:
                return f"Output must have the same number of {what} as input {name}"
        return None

    def is_kernel_of_chips(self, specs: Sequence[TensorSpec], statics: Sequence[Any]) -> bool:
        """Whether a kernel of a chip may: matrices as they lie, in whole tiles, in DRAM or block sharded in L1."""
        named, _ = self.extents([tuple(spec.shape) for spec in specs], statics)
        return (
            named.give_matrices
            and named.as_matrices == (named.left, named.right)
            and all(is_of_whole_tiles(spec) and is_multipliable(spec) for spec in specs)
        )

    def precision(self, statics: Sequence[Any]) -> str | None:
        """How exactly a chip multiplies, as the attributes say it; None: exactly, and in float32."""
        return None if self.precision_index is None else statics[self.precision_index]

    def _refusal(self, shapes: Sequence[Sequence[int]], why: str, help_: str | None) -> ShapeError:
        left, right = (list(shape) for shape in shapes)
        return ShapeError(f"shapes {left} and {right}: {why}", help=help_)

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """The first operand's dtype and layout, in DRAM, interleaved.

        Raises:
            CompileError: The shapes do not fit each other, or the result is larger than any tensor.
        """
        tensors = [spec for spec in specs if isinstance(spec, TensorSpec)]
        try:
            named, extents = self.extents([spec.shape for spec in tensors], statics)
        except ShapeError as error:
            raise OperandShapeError(f"`{self.name}` of {error.message}", help=error.help) from None
        try:
            return (tensors[0].interleaved.with_(shape=tuple(extents[label] for label in named.result)),)
        except ShapeError as error:
            raise OperandError.of("", error) from None

    @property
    def rules(self) -> str:
        """What is true of every operation of the family, for docstrings."""
        return (
            "The result has the first operand's dtype and layout. Every element is one chain of fused multiply-adds in "
            "float32, in ascending order, rounded once; bfloat16 operands are added in pairs, the second one first."
        )
