"""The verdict on a result of a program beside its golden."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from ttnn_jit.golden.verdict import ResultFormat, Tolerance, Verdict, judge, relative_of_pcc
from ttnn_jit.module_builders.goldens.golden_chains import GoldenChain
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor
from ttnn_jit.module_builders.goldens.op_goldens import OpGolden
from ttnn_jit.sessions.text_goldens import JudgedOp
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, DataType, dtypes_of_torch

GoldensOfPrograms = Mapping[int, Mapping[str, GoldenMapTensor]]
"""Program -> name of an input or output -> its golden."""
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

    def verdict(self, device: int, got: torch.Tensor, *, as_ttnn: bool = False) -> Verdict:
        """The verdict on the result of a device; `as_ttnn` allows the products that calls of ttnn have by default."""
        golden = self._golden
        if golden.is_exchange:
            operands: Any = golden.operands_on_all()
            place = self._index * math.prod(golden.mesh) + device
            return JudgedOp(golden.read, operands, on_chip=as_ttnn, mesh=golden.mesh).verdict(place, got)
        return JudgedOp(golden.read, golden.operands_on(device), on_chip=as_ttnn).verdict(self._index, got)


class ChainSource:
    """What judges a result of several operations: the bounds of all of them, and the correlation that is asked for.

    Args:
        chain: The operations.
        golden: The golden of the result.
    """

    def __init__(self, chain: GoldenChain, golden: GoldenMapTensor) -> None:
        self._chain = chain
        self._golden = golden

    @property
    def is_random(self) -> bool:
        """Whether results are drawn."""
        return self._chain.is_random

    def verdict(self, device: int, got: torch.Tensor, *, as_ttnn: bool = False) -> Verdict:
        """The verdict on the result of a device; `as_ttnn` allows the products that calls of ttnn have by default."""
        return self._chain.verdict(device, self._golden.shard_at(device), got, as_ttnn=as_ttnn)


def verdict_on(
    golden: GoldenMapTensor, device: int, got: torch.Tensor, pcc: float = 0.99, *, as_ttnn: bool = False
) -> Verdict:
    """The verdict on a result.

    A result of one operation on inputs is judged by the bound of the operation, element by element; one of several
    operations by the bounds of all, and by the root mean square of all differences, which `pcc` bounds. One whose
    golden was given, not computed, is judged by the root mean square alone. NaN and infinities must be in their places.

    Args:
        golden: The golden.
        device: The device.
        got: The result on it.
        pcc: The least correlation of a result of several operations.
        as_ttnn: Whether the result is one of calls of ttnn, whose products have fewer bits by default.
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
    if isinstance(source, JudgedSource):
        return source.verdict(device, got, as_ttnn=as_ttnn)
    whole = chain_verdict(part, got, pcc)
    return source.verdict(device, got, as_ttnn=as_ttnn) if isinstance(source, ChainSource) and whole.matches else whole


def judged_as_wholes(goldens: GoldensOfPrograms) -> GoldensOfPrograms:
    """The same goldens, by which results are judged as wholes: by the root mean square of their differences alone."""
    return {
        program: {name: GoldenMapTensor(each.shard_map, each.mesh_shape) for name, each in named.items()}
        for program, named in goldens.items()
    }


def chain_verdict(golden: torch.Tensor, got: torch.Tensor, pcc: float) -> Verdict:
    """The verdict on a result of several operations."""
    dtype = _format_of(got if got.dtype in dtypes_of_torch() else golden)
    exact = golden if not golden.is_floating_point() else golden.double()
    tolerance = Tolerance(_CHAIN_ULP, relative=relative_of_pcc(pcc), by_rms=True)
    return judge(got, exact, ResultFormat(dtype), tolerance)


def _format_of(x: torch.Tensor) -> DataType:
    return dtypes_of_torch().get(x.dtype, COMPUTE_TYPE)
