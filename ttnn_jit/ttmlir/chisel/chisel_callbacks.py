"""What `chisel` calls for every compared value; what a user puts in its place is called instead."""

from __future__ import annotations

import math
import traceback
from typing import TYPE_CHECKING

from ttnn_jit.golden.comparison_checks import largest_difference
from ttnn_jit.golden.comparison_recorder import Outcome
from ttnn_jit.ttmlir.chisel.chisel_records import ChiselChecksConfig, NumericsMode, Payload, RecordStatus

if TYPE_CHECKING:
    import torch


def check_numerics(
    checks: ChiselChecksConfig,
    operation: str,  # noqa: ARG001 - for replacements
    outcome: Outcome,
    mode: NumericsMode,
    device: int,
) -> Payload:
    """The verdict on a value, by correlation and the given limits; NaN in one of the two alone is a failure too.

    Args:
        checks: What is checked.
        operation: The name of the op, for those who replace this function.
        outcome: The value and its golden.
        mode: Whether the golden is of the operands that were there, or of their goldens.
        device: The number of the device.
    """
    got, golden = outcome.got, outcome.golden
    pcc = outcome.verdict.pcc
    if _has_no_correlation(got, golden):
        import torch

        close = torch.isclose(got.double(), golden.double(), checks.pcc.rtol, checks.pcc.atol, equal_nan=True)
        pcc = float(bool(close.all()))
    atol, rtol = largest_difference(got, golden), _largest_relative(got, golden)
    fails = pcc < checks.pcc.min_pcc or outcome.verdict.differing_nans > 0
    fails |= checks.max_atol is not None and atol > checks.max_atol
    fails |= checks.max_rtol is not None and rtol > checks.max_rtol
    status = RecordStatus.NUMERICS_FAIL if fails else RecordStatus.OK
    return Payload(status, mode, pcc, atol, rtol, device)


def safely_checked(
    checks: ChiselChecksConfig, operation: str, outcome: Outcome, mode: NumericsMode, device: int
) -> Payload:
    """What `check_numerics`, or what stands in its place, says; its error does not end the program."""
    try:
        return check_numerics(checks, operation, outcome, mode, device)
    except Exception:  # noqa: BLE001 - users replace the check
        return Payload(RecordStatus.CHISEL_BUG, mode, device_id=device, traceback=traceback.format_exc())


def _has_no_correlation(got: torch.Tensor, golden: torch.Tensor) -> bool:
    """Whether there is one element, or all are the same in both."""
    return got.numel() == 1 or all(
        each.numel() > 0 and bool((each == each.flatten()[0]).all()) for each in (got, golden)
    )


def _largest_relative(got: torch.Tensor, golden: torch.Tensor) -> float:
    """The largest difference relative to the golden; 0 where they are equal or both are NaN."""
    left, right = got.double(), golden.double()
    same = (left == right) | left.isnan() & right.isnan()
    found = ((left - right) / right).abs().nan_to_num(nan=math.inf, posinf=math.inf).masked_fill(same, 0.0)
    return float(found.max()) if found.numel() else 0.0
