"""Submits a program with tensors of torch, and measures it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ttnn_jit.tools.ttrt.runs.program_inputs import Shards
from ttnn_jit.ttmlir.ttmlir_runtime import submission
from ttnn_jit.ttmlir.ttmlir_runtime.data_types import OF_TORCH

if TYPE_CHECKING:
    from ttnn_jit.tools.ttrt.loaded_binaries import Binary, BinaryProgram


Hooks = dict[str, Callable[..., Any]]
"""What is called around programs and operations, by the names of `DebugHooks`."""


class Submitted(NamedTuple):
    """One run of a program; times in nanoseconds.

    Attributes:
        outputs: The outputs, each with the tensors of devices.
        submission: From the submission to its end.
        fetching: To fetch the outputs.
    """

    outputs: list[Shards]
    submission: int
    fetching: int


def open_device(program: BinaryProgram) -> submission.Device:
    """The mesh of a program."""
    options = submission.MeshDeviceOptions()
    options.mesh_shape = program.mesh_shape
    return submission.open_mesh_device(options)


def runtime_tensor(shards: Shards, mesh_shape: list[int]) -> submission.Tensor:
    """A tensor of the runtime over the memory of tensors of torch, which the caller keeps."""
    first = shards[0]
    described = list(first.shape), list(first.stride()), first.element_size(), OF_TORCH[first.dtype]
    if len(shards) > 1:
        pointers = [each.data_ptr() for each in shards]
        return submission.create_multi_device_borrowed_host_tensor(pointers, *described, {}, mesh_shape)
    create = submission.create_borrowed_host_tensor if first.numel() else submission.create_owned_host_tensor
    return create(first.data_ptr(), *described)


def submit(
    device: submission.Device, binary: Binary, program: BinaryProgram, inputs: list[Shards], hooks: Hooks
) -> Submitted:
    """Runs a program once.

    Args:
        device: Its mesh.
        binary: The binary.
        program: The program.
        inputs: The inputs.
        hooks: What is called; a program without hooks runs as a whole.

    Raises:
        CompileError: An operation is not executed here.
    """
    given = [runtime_tensor(each, program.mesh_shape) for each in inputs]
    begin = time.perf_counter_ns()
    with_hooks = submission.DebugHooks.current
    if hooks:
        submission.DebugHooks.get(**hooks)
    try:
        found = submission.submit(device, binary.fbb, program.index, given)
        submission.wait(found)
    finally:
        submission.DebugHooks.current = with_hooks
    middle = time.perf_counter_ns()
    outputs = [[host.first for host in submission.to_host(each, untilize=True)] for each in found]
    return Submitted(outputs, middle - begin, time.perf_counter_ns() - middle)
