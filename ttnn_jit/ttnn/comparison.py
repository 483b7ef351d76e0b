"""How alike two tensors are, as ttnn's tests measure it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.runtime.tensor import as_torch
from ttnn_jit.specs.dtypes import dtypes_of_torch

if TYPE_CHECKING:
    import torch


def pearson_correlation_coefficient(expected: Any, actual: Any) -> float:
    """The correlation of two tensors (ttnn or torch) of one shape, 1.0 for equal ones.

    The rules are ttnn's: `actual` is cast to the dtype of `expected`. Both all NaN give 1.0, one of them 0.0; one that
    is all zeros beside one that is not gives 0.0. Then NaN and infinities count as zeros, in each tensor on its own: an
    infinity against a NaN is no difference here. A constant tensor has no correlation and gives 1.0: use
    `ttnn_jit.testing.assert_allclose` where values matter.

    Raises:
        ArgumentError: One is no tensor.
        ShapeError: The shapes differ.
    """
    first, second = as_torch(expected), as_torch(actual)
    import torch

    if first.shape != second.shape:
        raise ShapeError(f"shapes {tuple(first.shape)} and {tuple(second.shape)} differ")
    second = second.to(first.dtype)
    all_nan = [bool(tensor.isnan().all()) for tensor in (first, second)]
    if any(all_nan):
        return float(all(all_nan))
    all_zero = [not bool(tensor.any()) for tensor in (first, second)]
    if any(all_zero) and not all(all_zero):
        return 0.0
    a, b = (torch.nan_to_num(t.double().flatten(), nan=0.0, posinf=0.0, neginf=0.0) for t in (first, second))
    if torch.equal(a, b):
        return 1.0
    return _correlation(a - a.mean(), b - b.mean())


def _correlation(a: torch.Tensor, b: torch.Tensor) -> float:
    """Of centred vectors; 1.0 where one is constant."""
    # By norms of 1 nothing overflows.
    lengths = [float(vector.norm()) for vector in (a, b)]
    if 0.0 in lengths:
        return 1.0
    return min(1.0, float((a / lengths[0]).dot(b / lengths[1])))


def ulp_distance(actual: Any, expected: Any) -> torch.Tensor:
    """Per element ``|actual - expected|`` in units in the last place of `actual`'s dtype at `expected`, in float64.

    The unit of integers is 1. 0 where both are NaN, or where `expected` rounds to the infinity that `actual` is;
    infinite where one alone is NaN or infinite. Among denormals the unit is the smallest denormal.

    Args:
        actual: A ttnn, torch or numpy tensor of float32, bfloat16 or integers.
        expected: The reference, of `actual`'s shape: float64 keeps what the dtype of `actual` cannot.

    Raises:
        ValueError: The shapes differ, or `actual` is of another dtype.
    """
    got, reference = as_torch(actual), as_torch(expected).double()
    import torch

    __tracebackhide__ = True
    if got.shape != reference.shape:
        raise ValueError(f"shapes {tuple(got.shape)} and {tuple(reference.shape)} differ")
    dtype = dtypes_of_torch().get(got.dtype)
    if dtype is None:
        raise ValueError(f"ulp are counted in the types that tensors of ttnn have, got {got.dtype}")
    if dtype.is_integer:
        return (got.double() - reference).abs().nan_to_num(nan=torch.inf)
    digits = dtype.mantissa_bits
    _, exponent = torch.frexp(reference.abs())
    unit = torch.ldexp(torch.ones_like(reference), (exponent - 1 - digits).clamp(min=-126 - digits))
    # In two steps float64 -> float32 -> bfloat16 a number can only reach an infinity that it rounds to directly.
    rounded, wide = reference.to(got.dtype), got.double()
    same = (got == rounded) & rounded.isinf() | got.isnan() & rounded.isnan() | (wide == reference)
    distance = ((wide - reference).abs() / unit).nan_to_num(nan=torch.inf, posinf=torch.inf)
    return torch.where(same, torch.zeros_like(distance), distance)
