"""Whether tensors have elements at one address."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from ttnn_jit.specs.tensor_spec import TensorSpec

MAX_WORK = 100_000
"""Steps after which the question for common elements of two tensors, which is hard, is answered with yes."""


def overlap(address: int, spec: TensorSpec, other_address: int, other_spec: TensorSpec) -> bool:
    """Whether an element of one tensor lies where one of another does; yes where that is too hard to tell."""
    if not (spec.volume and other_spec.volume):
        return False
    (low, high), (other_low, other_high) = _bounds(address, spec), _bounds(other_address, other_spec)
    if high <= other_low or other_high <= low:
        return False
    if spec.dtype.is_block_float or other_spec.dtype.is_block_float:  # whose elements have no address of their own
        return True
    import numpy

    shares_memory: Any = numpy.shares_memory  # its stub knows two numbers of steps
    try:
        return bool(shares_memory(_array(address, spec), _array(other_address, other_spec), MAX_WORK))
    except numpy.exceptions.TooHardError:
        return True


def meet(written: Sequence[tuple[int, int]], read: Iterable[tuple[int, int]]) -> bool:
    """Whether bytes of one of `written` are another's of these, or one's of `read`; each is where it begins and ends.

    Bound: a sort of `written`, and a search in it for each of `read`.
    """
    ordered = sorted(written)
    if any(begin < end for (_, end), (begin, _) in pairwise(ordered)):
        return True
    begins = [begin for begin, _ in ordered]
    for begin, end in read:
        index = bisect_right(begins, begin)
        if index and begin < ordered[index - 1][1]:
            return True
        if index < len(begins) and begins[index] < end:
            return True
    return False


def has_common_elements(spec: TensorSpec) -> bool:
    """Whether a tensor has more elements than addresses for them."""
    low, high = spec.span
    return spec.volume > high - low + 1


def _bounds(address: int, spec: TensorSpec) -> tuple[int, int]:
    low, high = spec.span
    return address + low * spec.dtype.itemsize, address + (high + 1) * spec.dtype.itemsize


def _array(address: int, spec: TensorSpec) -> Any:
    """The tensor as numpy sees it, which reads nothing of it."""
    import numpy

    size = spec.dtype.itemsize
    memory = {
        "version": 3,
        "shape": tuple(spec.shape),
        "strides": tuple(stride * size for stride in spec.element_strides),
        "typestr": f"|u{size}" if size == 1 else f"<u{size}",
        "data": (address, False),
    }
    return numpy.asarray(SimpleNamespace(__array_interface__=memory))
