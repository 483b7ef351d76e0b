"""Measures of the difference of two tensors: the correlation of ttnn's tests, and the distance in ulp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.golden import distances
from ttnn_jit.runtime.tensors.tensor import as_torch
from ttnn_jit.ttnn.calling.host_function import host_function

if TYPE_CHECKING:
    import torch


@host_function(observed=False)
def pearson_correlation_coefficient(expected: Any, actual: Any) -> float:
    """The correlation of two tensors (ttnn or torch) of one shape, 1.0 for equal ones.

    The rules are ttnn's. `actual` is cast to the dtype of `expected`. The result is 1.0 if both are all NaN, and 0.0 if
    one is. It is 0.0 if one is all zeros and the other is not. Otherwise NaN and infinities are replaced by zeros in
    each tensor, so that an infinity equals a NaN. A constant tensor has no correlation, and gives 1.0: use
    `ttnn_jit.testing.assert_allclose` to compare values.

    Raises:
        ArgumentError: An argument is not a tensor.
        ShapeError: The shapes differ.
    """
    first, second = as_torch(expected), as_torch(actual)
    if first.shape != second.shape:
        raise ShapeError(f"shapes {tuple(first.shape)} and {tuple(second.shape)} differ")
    return distances.correlation(first, second)


def ulp_distance(actual: Any, expected: Any) -> torch.Tensor:
    """Per element ``|actual - expected|`` in units in the last place of `actual`'s dtype at `expected`, in float64.

    The unit of integers is 1, and that of denormals the smallest denormal. The distance is 0 where both are NaN, and
    where `actual` is the infinity to which `expected` rounds. It is infinite where only one is NaN or infinite.

    Args:
        actual: A ttnn, torch or numpy tensor of float32, bfloat16 or integers.
        expected: The reference, of `actual`'s shape: float64 keeps what the dtype of `actual` cannot.

    Raises:
        ValueError: The shapes differ, or `actual` is of another dtype.
    """
    __tracebackhide__ = True
    got, reference = as_torch(actual), as_torch(expected)
    if got.shape != reference.shape:
        raise ValueError(f"shapes {tuple(got.shape)} and {tuple(reference.shape)} differ")
    return distances.ulp_distance(got, reference)
