"""Calls of operations on tensors of 64-bit elements, which have elementwise kernels alone.

A reduction is elementwise operations on halves of its operand, which are a tree. A contraction is a loop of its own. A
composite is the operations that it decomposes to. All other operations take such tensors as they declare.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import DTypeError
from ttnn_jit.ops.contraction.wide_products import WIDE_PRODUCT
from ttnn_jit.ops.elementwise.typecast import Typecast
from ttnn_jit.ops.families.contraction import Contraction
from ttnn_jit.ops.families.decomposition import Decomposed, Operand, Value, specs_of
from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.families.reduction import Reduction
from ttnn_jit.ops.families.text_operation import TextOps
from ttnn_jit.ops.language.axes import without_axes
from ttnn_jit.ops.language.kinds import as_float32
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.ops.texts.wide_bodies import of_wide_floats
from ttnn_jit.specs.dtypes import WIDE, WIDE_FLOATS, DataType
from ttnn_jit.specs.tensor_spec import TensorSpec


class WideOps(TextOps):
    """The protocol of texts, with calls on 64-bit elements.

    Attributes:
        keeps_wide: Floats of 64 bits are not narrowed: an operation that computes a step in float32 is refused.
    """

    keeps_wide = False

    @abstractmethod
    def called(self, operation: Operation, operands: Sequence[Operand], *statics: Any) -> list[Value]:
        """The results of a call of an operation that takes its operands as they are."""

    @abstractmethod
    def single(self, number: float, spec: TensorSpec) -> Value:
        """A tensor of `spec`, of one element, with any number of its type."""

    @abstractmethod
    def cast(self, x: Value, dtype: DataType) -> Value:
        """`x` as elements of `dtype`."""

    def results(self, operation: Operation, operands: Sequence[Operand], *statics: Any) -> list[Value]:
        """The results of a call."""
        wide = [each.spec.dtype for each in operands if isinstance(each, Value) and each.spec.dtype in WIDE]
        if not wide:
            return self.called(operation, operands, *statics)
        if isinstance(operation, Reduction):
            (x,) = (each for each in operands if isinstance(each, Value))
            _, (axes, keepdim) = operation.canonicalized(specs_of(operands), statics)
            return [self._reduced(operation, x, axes, keepdim)]
        if isinstance(operation, Contraction):
            left, right = (each for each in operands if isinstance(each, Value))
            return [self._product(operation, left, right, statics)]
        if isinstance(operation, Decomposed):
            canonical, attributes = operation.canonicalized(specs_of(operands), statics)
            assert isinstance(canonical, Decomposed), "an operation of the same family"
            return canonical.decomposed(self, operands, attributes)
        return self._results_elsewise(operation, operands, statics)

    def _results_elsewise(
        self, operation: Operation, operands: Sequence[Operand], statics: Sequence[Any]
    ) -> list[Value]:
        """The results of an operation that is no reduction, contraction or composite."""
        if isinstance(operation, Typecast):
            (x,) = (each for each in operands if isinstance(each, Value))
            return [self.rounded(x, statics[0])]
        wide = {each.spec.dtype for each in operands if isinstance(each, Value)} & WIDE_FLOATS
        if isinstance(operation, Elementwise) and wide and not wide <= operation.dtypes:
            _, numbers = operation.canonicalized(specs_of(operands), statics)
            return [of_wide_floats(self, operation, operands, numbers)]
        given = self._of_one_type(operation, operands) if isinstance(operation, Elementwise) else operands
        return self.called(operation, given, *statics)

    def filled(self, number: float, spec: TensorSpec) -> Value:
        """A tensor of `spec` with `number` in every element; kernels have numbers of 32 bits."""
        if spec.dtype not in WIDE or _is_short(number, spec.dtype):
            return self.filled_short(number, spec)
        one = self.single(number, spec.with_(shape=(1,) * max(len(spec.shape), 1)))
        return self.reshaped(self.expand(one, tuple(spec.shape) or (1,)), tuple(spec.shape))

    @abstractmethod
    def filled_short(self, number: float, spec: TensorSpec) -> Value:
        """A tensor of `spec` with a number of 32 bits in every element."""

    def rounded(self, x: Value, dtype: DataType) -> Value:
        """`x` as elements of `dtype`.

        Raises:
            DTypeError: The operation in progress computes a step in fewer bits than its operands have.
        """
        source = x.spec.dtype
        if self.keeps_wide and source in WIDE_FLOATS and not dtype.is_integer and dtype is not source:
            raise DTypeError(
                f"a step of it is computed in {dtype.mlir}, and its operands have {source.mlir}",
                help="cast the operands first, if fewer bits are enough",
            )
        return self.cast(x, dtype)

    def _of_one_type(self, operation: Elementwise, operands: Sequence[Operand]) -> list[Operand]:
        """The operands of an elementwise operation, numbers as tensors; masks keep their type."""
        tensors = [each for each in operands if isinstance(each, Value)]
        chosen = [each for each in operands[operation.dtype_operand :] if isinstance(each, Value)]
        dtype = next((each.spec.dtype for each in chosen if each.spec.dtype in WIDE), None)
        if dtype is None:
            return [*operands]
        rank = max(len(each.shape) for each in tensors)
        spec = tensors[0].spec.with_(shape=(1,) * rank, dtype=dtype)
        made: list[Operand] = []
        for index, each in enumerate(operands):
            if isinstance(each, Value):
                is_narrow = index >= operation.dtype_operand and not each.spec.dtype.is_integer
                made.append(self.cast(each, dtype) if is_narrow and dtype in WIDE_FLOATS else each)
            else:
                made.append(each if each is None else self.filled(_number(each, dtype), spec))
        return made

    def _reduced(self, operation: Reduction, x: Value, axes: Sequence[int], keepdim: bool) -> Value:
        """The reduction, by halves: a tree over neighbours, whose depth is the logarithm of the extent."""
        shape = x.shape
        if any(shape[axis] == 0 for axis in axes):
            kept = without_axes(shape, axes, keep=keepdim)
            identity = x.spec.dtype.values[0 if operation.identity < 0 else -1] if _beyond(operation, x) else None
            return self.filled(
                _number(operation.identity, x.spec.dtype) if identity is None else identity, x.spec.with_(shape=kept)
            )
        for axis in reversed(axes):
            x = self._folded(operation.combiner, x, axis)
        return self.reshaped(x, without_axes(shape, axes, keep=keepdim))

    def _folded(self, combiner: Elementwise, x: Value, axis: int) -> Value:
        """The combination of all elements along a dimension, whose extent becomes 1."""
        left = []
        while (extent := x.shape[axis]) > 1:
            half = extent // 2
            if extent % 2:
                left.append(self.part(x, axis, extent - 1, extent))
            x = self.call(combiner, [self.part(x, axis, 0, half), self.part(x, axis, half, 2 * half)])
        for each in reversed(left):
            x = self.call(combiner, [x, each])
        return x

    def _product(self, operation: Contraction, left: Value, right: Value, statics: Sequence[Any]) -> Value:
        """The contraction as a product of matrices: batches, rows or columns, and the contracted dimension."""
        named, extents = operation.extents([left.shape, right.shape], statics)
        deep = named.contracted
        batch = [each for each in named.result if each in named.left and each in named.right]
        rows = [each for each in named.left if each not in named.right]
        columns = [each for each in named.right if each not in named.left]
        sizes = [math.prod(extents[each] for each in group) for group in (batch, rows, columns)]
        depth = 1 if deep is None else extents[deep]
        own = () if deep is None else (deep,)
        a = self._arranged(left, named.left, (*batch, *rows, *own), extents, (sizes[0], sizes[1], depth))
        b = self._arranged(right, named.right, (*batch, *own, *columns), extents, (sizes[0], depth, sizes[2]))
        wide = next(each for each in (a, b) if each.spec.dtype in WIDE).spec.dtype
        a, b = (self.cast(each, wide) for each in (a, b))
        if not depth:
            return self.filled(0, left.spec.with_(shape=tuple(extents[each] for each in named.result)))
        found = self.call(WIDE_PRODUCT, [a, b])
        order = [*batch, *rows, *columns]
        found = self.reshaped(found, tuple(extents[each] for each in order))
        axes = tuple(order.index(each) for each in named.result)
        return found if axes == tuple(range(len(axes))) else self.permute(found, axes)

    def _arranged(
        self, x: Value, own: Sequence[Any], wanted: Sequence[Any], extents: dict[Any, int], shape: tuple[int, ...]
    ) -> Value:
        """A factor with its dimensions in the order `wanted`, broadcast, as batches of matrices."""
        axes = tuple([*own].index(each) for each in wanted)
        x = x if axes == tuple(range(len(axes))) else self.permute(x, axes)
        whole = tuple(extents[each] for each in wanted)
        return self.reshaped(x if x.shape == whole else self.expand(x, whole), shape)


def _is_short(number: float, dtype: DataType) -> bool:
    """Whether a number of `dtype` is one of 32 bits."""
    if dtype.is_integer:
        return -(2**31) <= number < 2**31
    return math.isnan(number) or as_float32(float(number)) == number


def _number(number: float, dtype: DataType) -> float:
    """A number as one of `dtype`.

    Raises:
        DTypeError: It is no integer, and `dtype` holds integers.
    """
    if not dtype.is_integer:
        return float(number)
    if not float(number).is_integer():
        raise DTypeError(f"{number} is no number of {dtype.mlir}")
    return int(number)


def _beyond(operation: Reduction, x: Value) -> bool:
    """Whether the result of no elements is an infinity, and the elements are integers."""
    return x.spec.dtype.is_integer and math.isinf(operation.identity)
