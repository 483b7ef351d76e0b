"""Runs a program operation by operation, compares results by location, and replaces those that are bypassed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ttnn_jit.compiler.texts.text_steps import Step, SteppedRun
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor
from ttnn_jit.module_builders.goldens.judged_outputs import verdict_on
from ttnn_jit.ttmlir.mlir_locations import Location
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary


class IntermediateVerification:
    """The comparison of operations with their goldens while programs run.

    Args:
        goldens: Location -> golden.
        bypassed: Locations of operations whose results are replaced by their goldens.
        pcc: The least correlation of a result.
        compares: Whether results are compared.

    Attributes:
        report: Location -> device -> comparison, of the last program.
        memory: Location -> bytes of the results, of the last program.
    """

    def __init__(
        self, goldens: Mapping[str, GoldenMapTensor], bypassed: Sequence[str], pcc: float, *, compares: bool
    ) -> None:
        self._goldens, self._bypassed, self._pcc, self._compares = goldens, bypassed, pcc, compares
        self.report: dict[str, Any] = {}
        self.memory: dict[str, int] = {}

    def outputs(
        self, binary: Binary, program_index: int, inputs: Sequence[Sequence[torch.Tensor]]
    ) -> list[tuple[torch.Tensor, ...]]:
        """The outputs of a program: a part per device where the module says so, else one for all."""
        self.report, self.memory = {}, {}
        given = [parts[0] if len(parts) == 1 else tuple(parts) for parts in inputs]
        run = SteppedRun(binary.text_module, binary.names[program_index], given)
        for step in run.steps():
            self._seen(run, step)
        sharded = binary.presharded_results(program_index)
        pairs = zip(run.results_on_devices, sharded, strict=True)
        return [tensors if is_sharded else tensors[:1] for tensors, is_sharded in pairs]

    def _seen(self, run: SteppedRun, step: Step) -> None:
        place = str(Location(step.op.location))
        self.memory[place] = sum(each.nbytes for parts in step.results.values() for each in parts)
        golden = self._goldens.get(place)
        if golden is None or len(step.results) != 1 or step.read.operation.is_random:
            return
        ((value, parts),) = step.results.items()
        if golden.shard_at(0).numel() != math.prod(parts[0].shape):
            return  # another operation of the same location
        if place in self._bypassed:
            run.values[value] = tuple(
                golden.shard_at(device).to(own.dtype).reshape(own.shape) for device, own in enumerate(parts)
            )
        elif self._compares:
            self.report[place] = {device: self._compared(golden, device, own) for device, own in enumerate(parts)}

    def _compared(self, golden: GoldenMapTensor, device: int, got: torch.Tensor) -> dict[str, Any]:
        verdict = verdict_on(golden, device, got.reshape(golden.shard_at(device).shape), self._pcc)
        return {
            "result": "pass" if verdict.matches else "fail",
            "reason": verdict.reason,
            "expected_pcc": self._pcc,
            "actual_pcc": verdict.pcc,
            "max_ulp": verdict.max_ulp,
        }
