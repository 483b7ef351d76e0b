"""Assertions for tests: the distance of results from a reference, in units in the last place (ulp).

from ttnn_jit.testing import assert_allclose

assert_allclose(jitted(x), torch.exp(x.double()), max_ulp=1.5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_jit.golden.distances import index_of_largest
from ttnn_jit.runtime.tensors.tensor import as_torch
from ttnn_jit.ttnn.observing.comparison import ulp_distance
from ttnn_jit.ttnn.observing.session_config import comparison_records

if TYPE_CHECKING:
    from ttnn_jit.calls.tile_op import TileOperation

__all__ = ["assert_allclose", "assert_matches_golden", "comparison_records", "ulp_distance"]


def assert_allclose(actual: Any, expected: Any, *, max_ulp: float = 0.0, rtol: float = 0.0, atol: float = 0.0) -> None:
    """Every element is within ``max_ulp`` units in the last place plus ``rtol * |expected|`` plus ``atol``.

    NaN is close only to NaN. An infinity is close to itself and to a reference that rounds to it. Without a bound,
    values must be equal (0.0 equals -0.0).

    Args:
        actual: A ttnn, torch or numpy tensor of floats or integers.
        expected: The reference, preferably in float64.
        max_ulp: Bound in units in the last place of `actual`'s dtype, at the expected value.
        rtol: Bound relative to the expected value.
        atol: Absolute bound.

    Raises:
        AssertionError: Some element is not within the bound; the text names the worst element and counts the others.
        ValueError: The shapes differ, or `actual` is of another dtype.
    """
    __tracebackhide__ = True
    distance = ulp_distance(actual, expected)
    got, reference = as_torch(actual).double(), as_torch(expected).double()
    import torch

    difference = (got - reference).abs()
    spread = difference - rtol * reference.abs() - atol
    unit = torch.where(distance > 0, difference / distance, torch.ones_like(distance))
    close = (distance == 0) | (spread <= max_ulp * unit)
    if bool(close.all()):
        return
    far = torch.where(close, torch.full_like(distance, -1.0), distance)
    worst = index_of_largest(far)
    raise AssertionError(
        f"{int((~close).sum())} of {close.numel()} elements are further than {max_ulp:g} ulp + {rtol:g} * |expected| + "
        f"{atol:g} from the reference; the worst, at {list(worst)}, is {got[worst].item()!r} for "
        f"{reference[worst].item()!r}: {distance[worst].item():.3f} ulp"
    )


def assert_matches_golden(operation: TileOperation, *tensors: Any, max_ulp: float = 1.0) -> None:
    """A tile operation, run eagerly on ttnn tensors, is within `max_ulp` of its golden in float64.

    Raises:
        AssertionError: Some element is not.
        ValueError: The operation has no golden.
    """
    __tracebackhide__ = True
    if operation.golden is None:
        raise ValueError(f"{operation!r} was made without a golden: pass `golden=` to `tile_op`")
    exact = operation.golden(*(as_torch(tensor).double() for tensor in tensors))
    assert_allclose(operation(*tensors), exact, max_ulp=max_ulp)
