"""Goldens of some elements of a result alone: what they depend on is taken from the operands first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class GoldenOfElements(NamedTuple):
    """The golden of some elements.

    Attributes:
        golden: ``golden(torch, *operands)``: the elements, one after another.
        operands: What they depend on: tensors of torch.
    """

    golden: Callable[..., Any]
    operands: tuple[Any, ...]


def sums_of_products(left: Any, right: Any) -> GoldenOfElements:
    """Elements that are sums of products of two factors, tensors [elements, terms]."""
    return GoldenOfElements(_sums, (left.contiguous(), right.contiguous()))


def _sums(torch: Any, left: Any, right: Any) -> Any:
    return torch.bmm(left.unsqueeze(1), right.unsqueeze(2)).reshape(-1)


def index_of_places(torch: Any, places: Any, shape: Sequence[int]) -> list[Any]:
    """The index along each dimension of places in row-major order."""
    index = []
    for extent in reversed([*shape]):
        index.append(places % extent)
        places = torch.div(places, extent, rounding_mode="floor")
    return index[::-1]
