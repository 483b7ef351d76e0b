"""Goldens of some elements of a result alone: what they depend on is taken from the operands first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple


class GoldenOfElements(NamedTuple):
    """The golden of some elements.

    Attributes:
        golden: ``golden(torch, *operands)``: the elements, one after another.
        operands: What they depend on: tensors of torch.
        rounding: ``rounding(torch, *operands)``: by how much each may be off on a chip, which rounds sums to bfloat16
            after every tile; None: it is not stated.
    """

    golden: Callable[..., Any]
    operands: tuple[Any, ...]
    rounding: Callable[..., Any] | None = None

    def then(self, function: Callable[[Any, Any], Any]) -> GoldenOfElements:
        """The elements after ``function(torch, elements)``, one by one."""
        return GoldenOfElements(lambda torch, *given: function(torch, self.golden(torch, *given)), self.operands)


def sums_of_products(left: Any, right: Any, bias: Any = None) -> GoldenOfElements:
    """Elements that are sums of products of two factors, tensors [elements, terms], and a bias of each, or None."""
    operands = left.contiguous(), right.contiguous()
    return GoldenOfElements(_sums, operands if bias is None else (*operands, bias))


def _sums(torch: Any, left: Any, right: Any, bias: Any = None) -> Any:
    found = torch.bmm(left.unsqueeze(1), right.unsqueeze(2)).reshape(-1)
    return found if bias is None else found + bias


def elements_of_product(torch: Any, lhs: Any, rhs: Any, axes: Sequence[Sequence[int]], places: Any) -> GoldenOfElements:
    """Elements of a product: its dimensions are those of batches, and the others of `lhs` and of `rhs`, in order.

    Args:
        torch: The module.
        lhs: The first factor.
        rhs: The second factor.
        axes: The dimensions of batches of both, and those that are contracted, of both.
        places: Places of elements in row-major order.
    """
    batch_left, batch_right, left, right = axes
    rows, columns = (
        [axis for axis in range(x.dim()) if axis not in (*batch, *contracted)]
        for x, batch, contracted in ((lhs, batch_left, left), (rhs, batch_right, right))
    )
    lhs, rhs = lhs.permute(*batch_left, *rows, *left), rhs.permute(*batch_right, *columns, *right)
    batches, until = len(batch_left), len(batch_left) + len(rows)
    shape = *lhs.shape[:until], *rhs.shape[batches : batches + len(columns)]
    index = index_of_places(torch, places, shape)
    of_left, of_right = tuple(index[:until]), (*index[:batches], *index[until:])
    return sums_of_products(*(_rows_at(x, at, len(places)) for x, at in ((lhs, of_left), (rhs, of_right))))


def _rows_at(x: Any, index: tuple[Any, ...], count: int) -> Any:
    """What a tensor has at these indices of its first dimensions, flat; all of it if there are none."""
    rows = x[index] if index else x.expand(count, *x.shape)
    return rows.reshape(count, math.prod(rows.shape[1:]))


def index_of_places(torch: Any, places: Any, shape: Sequence[int]) -> list[Any]:
    """The index along each dimension of places in row-major order."""
    index = []
    for extent in reversed([*shape]):
        index.append(places % extent)
        places = torch.div(places, extent, rounding_mode="floor")
    return index[::-1]


def elements_of_operands(torch: Any, operands: Sequence[Any], places: Any, shape: Sequence[int]) -> list[Any]:
    """What elements of an elementwise result depend on: those at the same places of its operands, which fit `shape`."""
    index = tuple(index_of_places(torch, places, shape))
    return [each.expand(tuple(shape))[index] for each in operands]


def parts_of_operands(operands: Sequence[Any], shape: Sequence[int], at_most: int) -> Iterator[list[Any]]:
    """What some elements of an elementwise result after another depend on, in row-major order.

    Args:
        operands: Tensors of torch that fit `shape`.
        shape: The shape of the result.
        at_most: The largest number of elements of a part.
    """
    wide = [each.expand(tuple(shape)) for each in operands]
    axis = next((at for at in range(len(shape)) if math.prod(shape[at + 1 :]) <= at_most), len(shape))
    rows = max(1, at_most // max(1, math.prod(shape[axis + 1 :])))
    for index in product(*map(range, shape[:axis])):
        for begin in range(0, shape[axis], rows):
            yield [each[index][begin : begin + rows] for each in wide]


class ReductionSlices(NamedTuple):
    """Slices of the operands of a reduction, each of which gives a slice of the result.

    Attributes:
        axis: The dimension of the result along which it is cut.
        extents: The extents of its slices.
        operands: The operands of each slice.
    """

    axis: int
    extents: list[int]
    operands: list[tuple[Any, ...]]


def slices_of_reduction(
    operands: Sequence[Any], reduced: Sequence[int], rank: int, at_most: int
) -> ReductionSlices | None:
    """Slices of a reduction's first operand, beside its others; None if it is small, or nothing of it is kept.

    Args:
        operands: Tensors of torch.
        reduced: The dimensions of the first that are reduced.
        rank: The number of dimensions of the result: those that are reduced are kept as 1 if the first has as many.
        at_most: About the largest number of elements of a slice.
    """
    first, *others = operands
    kept = [axis for axis in range(first.dim()) if axis not in reduced and first.shape[axis] > 1]
    if first.numel() <= at_most or not kept:
        return None
    axis = max(kept, key=lambda each: int(first.shape[each]))
    extent = max(1, first.shape[axis] * at_most // first.numel())
    parts = first.split(extent, axis)
    of_result = axis if rank == first.dim() else axis - sum(each < axis for each in reduced)
    return ReductionSlices(of_result, [each.shape[axis] for each in parts], [(each, *others) for each in parts])
