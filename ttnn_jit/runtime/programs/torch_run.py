"""Runs a program of host tensors on tensors of torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.elements.torch_elements import torch_tensor
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    import torch


def run_on_torch(program: Program, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The results of a program whose tensors are on the host; each input has the shape and dtype of its spec."""
    strided = [_with_strides(tensor, spec) for tensor, spec in zip(inputs, program.plan.inputs, strict=True)]
    buffers = program.allocate_outputs()
    program.run(*(tensor.data_ptr() for tensor in strided), *(buffer.address for buffer in buffers))
    outputs = [torch_tensor(spec, buffer) for spec, buffer in zip(program.plan.outputs, buffers, strict=True)]
    visible = [*strided, *outputs]
    return [visible[index] for index in program.plan.results]


def _with_strides(tensor: torch.Tensor, spec: TensorSpec) -> torch.Tensor:
    """A copy of a tensor with the strides that the program expects; elements that share memory have one value."""
    import torch

    if spec.strides is None:
        return tensor.contiguous()
    if min(spec.strides, default=0) < 0:
        raise ArgumentError(f"torch has no tensor with the strides {spec.strides}", help="`--interpret` needs none")
    strided = torch.empty_strided(tuple(spec.shape), spec.strides, dtype=tensor.dtype)
    return strided.copy_(tensor)
