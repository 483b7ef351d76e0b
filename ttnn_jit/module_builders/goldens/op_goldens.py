"""The golden of an operation, in torch, by its declaration; programs are not run for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.text_calls.op_calls import OpCall, read_op
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor, Parts
from ttnn_jit.ops.families.text_operation import OpenResult, Role


class OpGolden:
    """The golden of one operation on given operands.

    Args:
        op: The operation.
        values: Its operands.
        mesh: The extents of the mesh.

    Raises:
        CompileError: There is no declaration of it.
    """

    def __init__(self, op: Operation, values: Mapping[SSAValue, GoldenMapTensor], mesh: Sequence[int]) -> None:
        self.read: OpCall = read_op(op)
        self._values = {each: values[each] for each in self.read.operands}
        self._mesh = tuple(mesh)

    @property
    def mesh(self) -> tuple[int, ...]:
        """The extents of the mesh."""
        return self._mesh

    @property
    def is_exchange(self) -> bool:
        """Whether devices exchange data."""
        return self.read.operation.role is Role.EXCHANGES

    @property
    def values(self) -> Mapping[SSAValue, GoldenMapTensor]:
        """The operands."""
        return self._values

    def on(self, values: Mapping[SSAValue, GoldenMapTensor]) -> OpGolden:
        """The golden on other operands."""
        found = OpGolden.__new__(OpGolden)
        found.read, found._values, found._mesh = self.read, dict(values), self._mesh
        return found

    def with_open_shapes(self) -> OpGolden:
        """The golden from which the shapes of the results are asked."""
        opened = OpGolden.__new__(OpGolden)
        opened.read = replace(self.read, results=tuple(OpenResult(each.dtype) for each in self.read.results))  # type: ignore[misc]
        opened._values, opened._mesh = self._values, self._mesh
        return opened

    def results(self) -> list[Parts]:
        """The results on each device, floats as float64.

        Raises:
            ShapeError: A shape is asked that does not follow from operands and attributes.
        """
        if self.is_exchange:
            found, count = (
                self._called({key: each.parts(self._devices) for key, each in self._values.items()}),
                self._devices,
            )
            return [dict(enumerate(found[at : at + count])) for at in range(0, len(found), count)]
        keys = max((each.shard_map.keys() for each in self._values.values()), key=len, default={0: None}.keys())
        by_device = {
            device: self._called({key: each.shard_at(device) for key, each in self._values.items()}) for device in keys
        }
        count = len(next(iter(by_device.values())))
        return [{device: found[index] for device, found in by_device.items()} for index in range(count)]

    def operands_on(self, device: int) -> dict[SSAValue, torch.Tensor]:
        """The operands on a device."""
        return {key: each.shard_at(device) for key, each in self._values.items()}

    def operands_on_all(self) -> dict[SSAValue, list[torch.Tensor]]:
        """The operands on all devices."""
        return {key: each.parts(self._devices) for key, each in self._values.items()}

    @property
    def _devices(self) -> int:
        return math.prod(self._mesh)

    def _called(self, given: Mapping[SSAValue, Any]) -> list[torch.Tensor]:
        call = self.read.call({key: widened(each) for key, each in given.items()}.get)
        call.mesh = self._mesh if self.is_exchange else (1,)
        found = self.read.operation.golden(torch, call)
        return [*found] if isinstance(found, list | tuple) else [found]


def widened(x: Any) -> Any:
    """Floats as float64, and unsigned integers as int64: torch computes with few unsigned types."""
    if isinstance(x, list):
        return [*map(widened, x)]
    if x.is_quantized:
        return x.int_repr()
    if x.is_floating_point():
        return x.double()
    return x if x.dtype.is_signed or x.dtype.itemsize == 1 else x.long()


def rounded(parts: Parts, dtype: torch.dtype) -> Parts:
    """The parts in the element type of a result."""
    return {device: each.contiguous().to(dtype) for device, each in parts.items()}
