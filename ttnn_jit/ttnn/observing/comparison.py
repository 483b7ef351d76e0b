"""How alike two tensors are, as ttnn's tests measure it."""

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

    The rules are ttnn's: `actual` is cast to the dtype of `expected`. Both all NaN give 1.0, one of them 0.0; one that
    is all zeros beside one that is not gives 0.0. Then NaN and infinities count as zeros, in each tensor on its own: an
    infinity against a NaN is no difference here. A constant tensor has no correlation and gives 1.0: use
    `ttnn_jit.testing.assert_allclose` where values matter.

    Raises:
        ArgumentError: One is no tensor.
        ShapeError: The shapes differ.
    """
    first, second = as_torch(expected), as_torch(actual)
    if first.shape != second.shape:
        raise ShapeError(f"shapes {tuple(first.shape)} and {tuple(second.shape)} differ")
    return distances.correlation(first, second)


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
    __tracebackhide__ = True
    got, reference = as_torch(actual), as_torch(expected)
    if got.shape != reference.shape:
        raise ValueError(f"shapes {tuple(got.shape)} and {tuple(reference.shape)} differ")
    return distances.ulp_distance(got, reference)
