"""The verdict on a result of a program beside its golden."""

from __future__ import annotations

import math
from typing import Any

import torch

from ttnn_jit.golden.verdict import ResultFormat, Tolerance, Verdict, judge, relative_of_pcc
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor
from ttnn_jit.module_builders.goldens.op_goldens import OpGolden
from ttnn_jit.sessions.text_goldens import JudgedOp
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, DataType, dtypes_of_torch

_CHAIN_ULP = 1.0
"""Elements of a result of several operations that are off by no more count as right."""


class JudgedSource:
    """What judges a result of one operation: its golden on exact operands, with the bound of its declaration.

    Args:
        golden: The golden of the operation.
        index: The number of the result.
    """

    def __init__(self, golden: OpGolden, index: int) -> None:
        self._golden = golden
        self._index = index

    @property
    def is_random(self) -> bool:
        """Whether results are drawn."""
        return self._golden.read.operation.is_random

    def verdict(self, device: int, got: torch.Tensor) -> Verdict:
        """The verdict on the result of a device."""
        golden = self._golden
        if golden.is_exchange:
            operands: Any = golden.operands_on_all()
            return JudgedOp(golden.read, operands, on_chip=False, mesh=golden.mesh).verdict(device, got)
        return JudgedOp(golden.read, golden.operands_on(device), on_chip=False).verdict(self._index, got)


def verdict_on(golden: GoldenMapTensor, device: int, got: torch.Tensor, pcc: float = 0.99) -> Verdict:
    """The verdict on a result.

    A result of one operation on inputs is judged by the bound of the operation, element by element. Another one is
    judged by the root mean square of all differences, which `pcc` bounds; every NaN and infinity must be in its place.

    Args:
        golden: The golden.
        device: The device.
        got: The result on it.
        pcc: The least correlation of a result of several operations.
    """
    part = golden.shard_at(device)
    if part.is_quantized:
        part = part.int_repr()
    if tuple(part.shape) != tuple(got.shape):
        reason = f"it has the shape {list(got.shape)}, and its golden {list(part.shape)}"
        return Verdict(matches=False, reason=reason, pcc=0.0, max_ulp=math.inf)
    if part.dtype is torch.bool:
        got = got.to(torch.bool)
    source = golden.source
    if source is not None:
        found: Verdict = source.verdict(device, got)
        return found
    return chain_verdict(part, got, pcc)


def chain_verdict(golden: torch.Tensor, got: torch.Tensor, pcc: float) -> Verdict:
    """The verdict on a result of several operations."""
    dtype = _format_of(got if got.dtype in dtypes_of_torch() else golden)
    exact = golden if not golden.is_floating_point() else golden.double()
    tolerance = Tolerance(_CHAIN_ULP, relative=relative_of_pcc(pcc), by_rms=True)
    return judge(got, exact, ResultFormat(dtype), tolerance)


def _format_of(x: torch.Tensor) -> DataType:
    return dtypes_of_torch().get(x.dtype, COMPUTE_TYPE)
