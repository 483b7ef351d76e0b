"""Warm calls of eager operations: direct calls of the program, or of the view, of an earlier call with the same key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_jit.ops import Operation
from ttnn_jit.ops.result_options import ResultOptions
from ttnn_jit.process.compile_lock import compiling
from ttnn_jit.runtime.libraries import TTNN, WarmCall
from ttnn_jit.runtime.native.generated import MISS
from ttnn_jit.runtime.native.panels import plain_memory
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.runtime.programs.program import Program


def allows_warm_calls(program: Program, operation: Operation, options: ResultOptions) -> bool:
    """Whether later calls may call `program` directly: nothing needs a check at each call."""
    return program.plan.has_warm_calls and not (operation.body or operation.check or any(options.queues))


def make_warm_call(operation: Operation, program: Program, target: SystemDesc) -> WarmCall:
    """A function that runs `program` on tensors of its specs, on devices of `target`."""
    with compiling():
        from ttnn_jit.runtime.programs.warm_caller import warm_caller

        rebuild = None if operation.gives_one_tensor else operation.packed
        return warm_caller(program, TTNN, rebuild=rebuild, target=target)


def view_call(spec: TensorSpec, view_spec: TensorSpec, target: SystemDesc) -> WarmCall:
    """A function that returns the view `view_spec` of tensors of `spec`, on devices of `target`."""
    opened = target, id(target)  # the reference keeps the identity unique

    def view(tensor: Tensor) -> Any:
        device, buffer = tensor._device, plain_memory(tensor)
        if device is None or buffer is None or device.open_target != opened[1] or tensor.spec is not spec:
            return MISS
        return Tensor(view_spec, device, buffer)

    return view
