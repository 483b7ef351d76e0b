"""How calls of an operation go straight to the program, or the view, of one like them before."""

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


def may_be_warm(program: Program, operation: Operation, options: ResultOptions) -> bool:
    """Whether a call like one before may go straight to its `program`: nothing of it is checked at each call."""
    return program.plan.has_warm_calls and not (operation.body or operation.check or any(options.queues))


def write_warm(operation: Operation, program: Program, target: SystemDesc) -> WarmCall:
    """What runs `program` on tensors of its specs, on devices of `target`."""
    with compiling():
        from ttnn_jit.runtime.programs.warm_caller import warm_caller

        rebuild = None if operation.gives_one_tensor else operation.packed
        return warm_caller(program, TTNN, rebuild=rebuild, target=target)


def view_call(spec: TensorSpec, of_view: TensorSpec, target: SystemDesc) -> WarmCall:
    """What makes the view `of_view` of tensors of `spec`, on devices of `target`."""
    opened = target, id(target)  # no other can come to have its identity

    def view(tensor: Tensor) -> Any:
        device, buffer = tensor._device, plain_memory(tensor)
        if device is None or buffer is None or device.open_target != opened[1] or tensor.spec is not spec:
            return MISS
        return Tensor(of_view, device, buffer)

    return view
