"""The family of contractions: products of two tensors, summed along a common dimension.

The bits of a result element depend only on its row of the first tensor and its column of the second. The sum is one
float32 accumulator that starts at +0 and runs over the contracted dimension in ascending order; the result is rounded
once. Each product is added by a fused multiply-add.

Where both tensors are bfloat16, products are added in pairs (2i, 2i + 1), the odd one first, as ``vdpbf16ps`` does. A
last product without a partner is paired with zero times zero. Subnormal operands, and sums that are subnormal after a
rounding with unbounded exponents, are zeros of their sign. Where the attributes of a call have a precision, it
determines the truncation of factors and the rounding of sums (specs/product_precision.py).
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
    """The labelled dimensions of a call: dimensions with equal labels are one loop.

    Attributes:
        left: The labels of the first tensor.
        right: The labels of the second tensor.
        result: The labels of the result; at most one label of both tensors is missing, the contracted one.
    """

    left: Labels
    right: Labels
    result: Labels

    @property
    def contracted(self) -> Hashable | None:
        """The dimension along which products are summed; None if there is none."""
        return next((label for label in self.left if label in self.right and label not in self.result), None)

    @property
    def give_matrices(self) -> bool:
        """Whether the result's last dimensions are a row of the first tensor and a column of the second."""
        if self.contracted is None or len(self.result) < 2:
            return False
        row, column = self.result[-2:]
        return row in self.left and row not in self.right and column in self.right and column not in self.left

    @property
    def as_matrices(self) -> tuple[Labels, Labels]:
        """The dimensions of both tensors in the order of kernels: batches, then those of the matrix."""
        *batch, row, column = self.result
        left, right = ([label for label in batch if label in own] for own in (self.left, self.right))
        return (*left, row, self.contracted), (*right, self.contracted, column)

    def only_of(self, side: Labels, other: Labels) -> Hashable | None:
        """The last dimension of the result that is in `side` and not in `other`; None if there is none."""
        return next((label for label in reversed(self.result) if label in side and label not in other), None)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Contraction(Operation):
    """An operation that contracts a dimension of two tensors.

    Attributes:
        dimensions: ``dimensions(left_rank, right_rank, *attributes)``: the labels. Raises ShapeError where the
            operation does not support the ranks.
        examples: Test cases: shapes of the two tensors, and attributes.
    """

    dimensions: Callable[..., Dimensions]
    examples: tuple[tuple[tuple[tuple[int, ...], ...], tuple[Any, ...]], ...]

    def extents(
        self, shapes: Sequence[Sequence[int]], statics: Sequence[Any]
    ) -> tuple[Dimensions, dict[Hashable, int]]:
        """The dimensions of a call, and the extent of each; dimensions other than the contracted one broadcast from 1.

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
            known = found.setdefault(label, extent)
            if extent != known and label == named.contracted:
                why = f"the dimensions to contract have {known} and {extent} elements"
                raise self._refusal(shapes, why, self._transposition_help(shapes, statics))
            if extent != known and 1 not in (extent, known):
                raise self._refusal(shapes, f"dimensions of {known} and of {extent} do not broadcast", None)
            found[label] = extent if known == 1 else known
        return named, found

    def matmul_verifier_error(
        self, shapes: Sequence[Sequence[int]], result: Sequence[int], statics: Sequence[Any]
    ) -> str | None:
        """The error of tt-mlir's matmul verifier for an op of these shapes; None if the op is valid.

        Unlike there, a factor may be a vector, and batches broadcast: the ranks of such ops differ.
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
        """Whether a chip's kernel supports it: untransposed matrices of whole tiles, in DRAM or block sharded in L1."""
        named, _ = self.extents([tuple(spec.shape) for spec in specs], statics)
        return (
            named.give_matrices
            and named.as_matrices == (named.left, named.right)
            and all(is_of_whole_tiles(spec) and is_multipliable(spec) for spec in specs)
        )

    def precision(self, statics: Sequence[Any]) -> str | None:
        """The precision attribute of a call; None: exact products in float32."""
        return None if self.precision_index is None else statics[self.precision_index]

    def _refusal(self, shapes: Sequence[Sequence[int]], why: str, help_: str | None) -> ShapeError:
        left, right = (list(shape) for shape in shapes)
        return ShapeError(f"shapes {left} and {right}: {why}", help=help_)

    def _transposition_help(self, shapes: Sequence[Sequence[int]], statics: Sequence[Any]) -> str | None:
        """The option that transposes a tensor so that the shapes fit; None if there is none."""
        names = [parameter.name for parameter in self.parameters if parameter not in self.operands]
        for index, (name, value) in enumerate(zip(names, statics, strict=False)):
            changed = (*statics[:index], not value, *statics[index + 1 :])
            if name.startswith("transpose") and self._contracts(shapes, changed):
                return f"with `{name}={not value}` the shapes fit"
        return None

    def _contracts(self, shapes: Sequence[Sequence[int]], statics: Sequence[Any]) -> bool:
        """Whether the contracted dimension has one extent in both tensors."""
        left, right = shapes
        try:
            named = self.dimensions(len(left), len(right), *statics)
        except ShapeError:
            return False
        label = named.contracted
        return label is not None and left[named.left.index(label)] == right[named.right.index(label)]

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """The result has the first operand's dtype and layout, in DRAM, interleaved.

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
        """Sentences for docstrings that hold for every operation of the family."""
        return (
            "The result has the first operand's dtype and layout. Every element is one chain of fused multiply-adds in "
            "float32, in ascending order, rounded once; bfloat16 operands are added in pairs, the second one first."
        )
