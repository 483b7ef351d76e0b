"""``golden.metrics``: differences and the correlation of two tensors, as upstream's builder reports them.

They are for code that reads them. A verdict is `judged_outputs`'.
"""

from __future__ import annotations

import math

import torch

from ttnn_jit.golden.distances import correlation


def mask_torch_inf_nan(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor whose infinities and NaN have become 0, in place."""
    return tensor.nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0) if tensor.is_floating_point() else tensor


def get_atol_rtol(golden: torch.Tensor, calculated: torch.Tensor) -> tuple[float, float]:
    """The largest difference of two tensors of one shape, and the largest relative to `calculated`; 0 if empty."""
    if not golden.numel() or not calculated.numel():
        return 0.0, 0.0
    right, found = golden.double(), calculated.double()
    distance = (right - found).abs()
    return float(distance.max()), float((distance / found).abs().max())


def get_pcc(golden: torch.Tensor, calculated: torch.Tensor, atol: float, rtol: float) -> float:
    """The correlation of two tensors.

    It is undefined for constants and for one element: these have 1.0 if they are close by `atol` and `rtol`, else 0.0.
    NaN and infinities count as 0, unless one of the two has nothing else.
    """
    right, found = golden.double().clone(), calculated.double().clone()
    if not right.numel() or not found.numel():
        return float(right.shape == found.shape)
    if bool(right.isnan().all()) or bool(found.isnan().all()):
        return float(bool(right.isnan().all()) and bool(found.isnan().all()))
    right, found = mask_torch_inf_nan(right), mask_torch_inf_nan(found)
    if bool(right.any()) != bool(found.any()):
        return 0.0
    if right.numel() == 1 or (right.min() == right.max() and found.min() == found.max()):
        return float(math.isclose(float(right.max()), float(found.max()), abs_tol=atol, rel_tol=rtol))
    return correlation(right, found)


def get_atol_rtol_pcc(
    golden: torch.Tensor, calculated: torch.Tensor, atol: float, rtol: float
) -> tuple[float, float, float]:
    """The results of `get_atol_rtol` and of `get_pcc`."""
    return (*get_atol_rtol(golden, calculated), get_pcc(golden, calculated, atol, rtol))


__all__ = ["get_atol_rtol", "get_atol_rtol_pcc", "get_pcc", "mask_torch_inf_nan"]
