"""A result beside its golden: correlation, distances, places of NaN."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ttnn_jit.golden.distances import correlation, ulp_distance
from ttnn_jit.specs.dtypes import dtypes_of_torch

if TYPE_CHECKING:
    import torch

STORED, COMPUTED = "stored", "computed"
"""Where a golden comes from: the binary, or this package's golden of the operation on the operands that it read."""


class Difference(NamedTuple):
    """An element of a result that differs from its golden.

    Attributes:
        golden: The golden.
        result: The result.
        difference: Their distance; relative ones are divided by the golden.
        place: Its indices.
    """

    golden: float
    result: float
    difference: float
    place: tuple[int, ...]


def golden_to_torch(golden: Any) -> torch.Tensor:
    """A golden that a binary holds.

    Raises:
        ValueError: torch has no such dtype, or its bytes are not those of its shape.
    """
    import torch

    from ttnn_jit.ttmlir.ttmlir_runtime.data_types import TORCH_DTYPES, DataType

    dtype = TORCH_DTYPES.get(DataType[golden.dtype.name])
    data, shape = bytes(golden.get_data_buffer()), list(golden.shape)
    if dtype is None or len(data) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"the golden {golden.name} holds {len(data)} bytes, which are no {golden.dtype.name} {shape}")
    return torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape) if data else torch.empty(shape, dtype=dtype)


def pcc_of(golden: torch.Tensor, result: torch.Tensor, atol: float, rtol: float) -> float:
    """The correlation of two tensors of one shape; of a constant, which has none, whether the other one is close."""
    import torch

    a, b = golden.double().flatten(), result.double().flatten()
    if a.numel() == 0 or bool(a.isnan().all()) or bool(b.isnan().all()):
        return correlation(a, b) if a.numel() else 1.0
    constants = [bool((each == each[0]).all()) for each in (a, b)]
    if any(constants):
        return float(torch.allclose(b, a, atol=atol, rtol=rtol))
    return correlation(a, b)


def compared(golden: torch.Tensor, result: torch.Tensor, pcc: float, atol: float, rtol: float) -> dict[str, Any]:
    """The entry of a report of goldens: the names of ttrt, and below them the distance in ulp and NaN.

    Args:
        golden: What is right.
        result: What was computed, of the same shape.
        pcc: The least correlation.
        atol: Absolute tolerance of `allclose`, and of constants.
        rtol: Relative tolerance, likewise.
    """
    import torch

    a, b = golden.double().flatten(), result.double().flatten()
    off = (a - b).abs()
    off = torch.where((a == b) | (a.isnan() & b.isnan()), 0.0, off)
    found = pcc_of(golden, result, atol, rtol)
    differing = int((a.isnan() != b.isnan()).sum())
    counts_ulp = result.dtype in dtypes_of_torch() and a.numel() > 0
    return {
        "expected_pcc": pcc,
        "actual_pcc": found,
        "atol": atol,
        "rtol": rtol,
        "allclose": torch.allclose(b, a, atol=atol, rtol=rtol, equal_nan=True),
        "max": float(off.max()) if off.numel() else 0.0,
        "mean_absolute_error": float(off.mean()) if off.numel() else 0.0,
        "root_mean_square_error": float(off.square().mean().sqrt()) if off.numel() else 0.0,
        "cosine_similarity": float(torch.nn.functional.cosine_similarity(a, b, dim=0)) if a.numel() else 1.0,
        "golden": STORED,
        "max_ulp": float(ulp_distance(result.flatten(), golden.flatten()).max()) if counts_ulp else None,
        "differing_nans": differing,
        "matches": found >= pcc and not differing,
    }


def why_wrong(entry: dict[str, Any]) -> str:
    """Why an entry does not match."""
    if entry.get("reason"):
        return str(entry["reason"])
    if entry["differing_nans"]:
        return f"{entry['differing_nans']} elements are NaN in one of result and golden alone"
    return f"actual_pcc={entry['actual_pcc']} < expected_pcc={entry['expected_pcc']}"


def largest_differences(
    golden: torch.Tensor, result: torch.Tensor, count: int, *, relative: bool
) -> Iterator[Difference]:
    """The largest differences of two tensors of one shape, the largest first."""
    import torch

    a, b = golden.double(), result.double()
    off = (a - b).abs()
    off = (off / a.abs()).nan_to_num(nan=0.0, posinf=torch.inf) if relative else off
    flat = off.flatten()
    for place in flat.argsort(descending=True)[:count].tolist():
        rest, index = place, []
        for extent in reversed(off.shape):
            rest, along = divmod(rest, extent)
            index.append(along)
        at = tuple(reversed(index))
        yield Difference(float(a[at]), float(b[at]), float(off[at]), at)
