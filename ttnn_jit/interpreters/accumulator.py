"""The accumulator of the tile interpreter: a list of terms, which are reduced when the tile is read."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ttnn_jit.dialects.d2m import AccumulatingOp, GenericOp, TileContractOp, TileReduceOp
from ttnn_jit.dialects.layout import dtype_of
from ttnn_jit.dialects.region_loops import mapped_dims
from ttnn_jit.interpreters.tensor_interpreter import Tensor, contracted, reduced
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.ops import Reduction
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.product_precision import Multiplication, multiplication
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

Array = np.ndarray[Any, Any]


def _no_cast(tile: Array) -> Array:
    return tile


@dataclass(frozen=True)
class Reducing:
    """Tiles are reduced.

    Attributes:
        operation: By which operation.
        axis: Along which dimension of a tile; None: tile by tile, element by element.
    """

    operation: Reduction
    axis: int | None


@dataclass(frozen=True)
class Contracting:
    """Products of tiles are summed.

    Attributes:
        multiplied: The arithmetic of the engine; None: exact products.
        pairs: Whether the factors are of 16 bits, so that products of two terms are added at once.
    """

    multiplied: Multiplication | None
    pairs: bool

    @staticmethod
    def of(precision: str | None, left: DataType, right: DataType) -> Contracting:
        """The sum of products of tiles of these element types, in a precision of the IR."""
        pairs = left.is_upper_half and right.is_upper_half
        return Contracting(multiplication(precision, left, right), pairs)


def accumulation_of(op: AccumulatingOp) -> Reducing | Contracting:
    """What an op accumulates."""
    if isinstance(op, TileReduceOp):
        return Reducing(op.operation, {"R": 1, "C": 0}.get(op.reduce_dim or ""))
    assert isinstance(op, TileContractOp), "it reduces or contracts"
    left, right = (dtype_of(value.type) for value in op.operands[:2])
    return Contracting.of(op.precision, left, right)


@dataclass(frozen=True, eq=False)
class Accumulator:
    """The state of an accumulation along its reduction loop: a linked list of terms.

    Attributes:
        kind: What is accumulated.
        math: The arithmetic.
        extent: The elements of the reduced dimension; None if whole tiles are reduced, padding included.
        previous: The accumulator before the last terms.
        terms: The last operands.
        cast: The conversion of the tile when it is stored.
    """

    kind: Reducing | Contracting
    math: NumpyVector
    extent: int | None
    previous: Accumulator | None = None
    terms: tuple[Any, ...] = ()
    cast: Callable[[Array], Array] = _no_cast

    def with_terms(self, terms: tuple[Any, ...]) -> Accumulator:
        """The accumulator after one more op with these operands."""
        return Accumulator(self.kind, self.math, self.extent, self, terms)

    def with_cast(self, cast: Callable[[Array], Array]) -> Accumulator:
        """The accumulator with a conversion of its tile."""
        return replace(self, cast=cast)

    def tile(self) -> Array:
        """The tile: the terms reduced in the order that the op's family defines."""
        terms_in_order = list(self._terms())[::-1]
        if isinstance(self.kind, Reducing):
            return self.cast(_reduced(self, self.kind, terms_in_order))
        return self.cast(_contracted(self, self.kind, terms_in_order))

    def _terms(self) -> Iterator[tuple[Any, ...]]:
        link: Accumulator | None = self
        while link is not None and link.terms:
            yield link.terms
            link = link.previous


def reduced_extent(generic: GenericOp, tensors: Sequence[Tensor], identity: float) -> int | None:
    """The elements of the reduced dimension; None if it has padding that no mask has set to the identity."""
    reduced = {dim for dim, kind in enumerate(generic.iterator_types) if kind.data == "reduction"}
    extents = [
        extent
        for tensor, indexing_map in zip(tensors, generic.indexing_maps, strict=True)
        for extent in _extents_along(reduced, tensor, mapped_dims(indexing_map.data), identity)
    ]
    return None if None in extents else next(iter(extents), None)


def _extents_along(
    dims: Container[int], tensor: Tensor, followed_dims: Sequence[int | None], identity: float
) -> Iterator[int | None]:
    for index, (dim, extent) in enumerate(zip(reversed(followed_dims), reversed(tensor.values.shape), strict=False)):
        if dim is not None and dim in dims:
            padded = index < 2 and (extent % TILE_WIDTH or not extent)
            yield None if padded and tensor.fill != identity else extent


def _reduced(accumulator: Accumulator, kind: Reducing, terms_in_order: list[tuple[Any, ...]]) -> Array:
    axis = kind.axis
    scaled = [accumulator.math.mul(tile, scale) for tile, scale in terms_in_order]
    terms = np.stack(scaled) if axis is None else np.concatenate(scaled, axis)
    terms = np.moveaxis(terms, axis or 0, 0)[: accumulator.extent]
    made: Array = reduced(kind.operation, accumulator.math, terms, 0)[0]
    if axis is None:
        return made
    tile = np.zeros((TILE_HEIGHT, TILE_WIDTH), np.float32)
    (tile[:, :1] if axis else tile[:1].T)[:, 0] = made
    return tile


def _contracted(accumulator: Accumulator, kind: Contracting, terms_in_order: list[tuple[Any, ...]]) -> Array:
    rows = np.concatenate([left for left, _ in terms_in_order], 1)[:, : accumulator.extent]
    columns = np.concatenate([right for _, right in terms_in_order], 0)[: accumulator.extent].T
    left, right = rows[:, np.newaxis], columns[np.newaxis]
    return contracted(accumulator.math, left, right, kind.multiplied, pairs=kind.pairs)
