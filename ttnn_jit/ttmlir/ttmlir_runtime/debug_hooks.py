"""Calls of users around programs and operations, and what these calls may read and write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import torch
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.compiler.texts.text_steps import OnDevices, Step, SteppedRun
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.specs.target import SystemDesc, resolve_target
from ttnn_jit.ttmlir.mlir_locations import Location
from ttnn_jit.ttmlir.ttmlir_runtime.chip_memory import MemoryRun
from ttnn_jit.ttmlir.ttmlir_runtime.data_types import on_device
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary
from ttnn_jit.ttmlir.ttmlir_runtime.runtime_tensors import Tensor

Hook = Callable[..., Any]
"""Takes the binary and the context of the program; around an operation its context too."""


class CallbackContext:
    """A program that runs, as hooks see it.

    Args:
        binary: Its binary.
        program_index: Its number there.
        run: The run.
    """

    def __init__(self, binary: Binary, program_index: int, run: SteppedRun) -> None:
        self.binary = binary
        self.program_index = program_index
        self.run = run

    @cached_property
    def memory(self) -> MemoryRun:
        """The memory of the chip for which the binary was compiled, along the run."""
        function = self.binary.text_module.functions[self.binary.get_program_name(self.program_index)]
        described = self.binary.get_system_desc_as_json()
        return MemoryRun(function, resolve_target(SystemDesc.from_json(described, "the system of the binary")))


class TensorRef:
    """A value of a program.

    Args:
        value: That of the IR.
    """

    def __init__(self, value: SSAValue) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorRef) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class OpContext:
    """An operation, as hooks see it.

    Args:
        op: That of the IR.
        operands: What it reads.
        results: What it gives.
    """

    def __init__(self, op: Operation, operands: Sequence[SSAValue], results: Sequence[SSAValue]) -> None:
        self.op = op
        self.operands = [*operands]
        self.results = [*results]


class DebugHooks:
    """The hooks of this process, which are called from the next submission on.

    Args:
        pre_op: Called before each operation.
        post_op: Called behind each operation.
        pre_program: Called before each program.
        post_program: Called behind each program.
    """

    current: DebugHooks | None = None
    running: tuple[CallbackContext, OpContext] | None = None
    """The program and the operation around which a hook is being called."""

    def __init__(
        self,
        pre_op: Hook | None = None,
        post_op: Hook | None = None,
        pre_program: Hook | None = None,
        post_program: Hook | None = None,
    ) -> None:
        self.pre_op, self.post_op = pre_op, post_op
        self.pre_program, self.post_program = pre_program, post_program

    @staticmethod
    def get(
        pre_op: Hook | None = None,
        post_op: Hook | None = None,
        pre_program: Hook | None = None,
        post_program: Hook | None = None,
    ) -> DebugHooks:
        """Sets the hooks."""
        DebugHooks.current = DebugHooks(pre_op, post_op, pre_program, post_program)
        return DebugHooks.current

    def run(self, binary: Binary, program_index: int, inputs: Sequence[torch.Tensor | OnDevices]) -> list[OnDevices]:
        """The results of a program on every device, operation by operation.

        Raises:
            CompileError: An operation is not executed here.
        """
        run = SteppedRun(binary.text_module, binary.names[program_index], inputs)
        context = CallbackContext(binary, program_index, run)
        _call(self.pre_program, binary, context)
        for step in run.steps(before=lambda op, read: self._before(context, op, read.operands, read.written(op))):
            _call_around(self.post_op, context, _seen(step))
        _call(self.post_program, binary, context)
        return run.results_on_devices

    def _before(
        self, context: CallbackContext, op: Operation, operands: Sequence[SSAValue], results: Sequence[SSAValue]
    ) -> None:
        _call_around(self.pre_op, context, OpContext(op, operands, results))


def _seen(step: Step) -> OpContext:
    return OpContext(step.op, [*step.operands], [*step.results])


def _call(hook: Hook | None, *arguments: Any) -> None:
    if hook is not None:
        hook(*arguments)


def _call_around(hook: Hook | None, context: CallbackContext, op_context: OpContext) -> None:
    DebugHooks.running = context, op_context
    try:
        _call(hook, context.binary, context, op_context)
    finally:
        DebugHooks.running = None


def unregister_hooks() -> None:
    """Removes the hooks."""
    DebugHooks.current = None


def get_program_index(context: CallbackContext) -> int:
    """The number of the program in its binary."""
    return context.program_index


def get_op_loc_info(op_context: OpContext) -> str:
    """``loc("...")``."""
    return str(Location(op_context.op.location))


def get_debug_info_golden(binary: Binary, location: str) -> dict[int, Any]:
    """The goldens that a binary holds for a location, by device; none is an empty dictionary."""
    return dict(binary.get_debug_info_golden(location))


def get_op_debug_str(op_context: OpContext) -> str:
    """The text of the operation, with the names of values in its function."""
    top: Operation = op_context.op
    while (above := top.parent_op()) is not None and not isinstance(top, FuncOp):
        top = above
    return op_text(op_context.op, local_scope=True, within=top).strip()


def get_op_input_refs(op_context: OpContext) -> list[TensorRef]:
    """What the operation reads."""
    return [TensorRef(value) for value in op_context.operands]


def get_op_output_refs(op_context: OpContext) -> list[TensorRef]:
    """What the operation gives."""
    return [TensorRef(value) for value in op_context.results]


def get_op_output_tensor(op_context: OpContext, context: CallbackContext) -> dict[int, Tensor]:
    """The first result of the operation on each device."""
    found = context.run.values.get(op_context.results[0]) if op_context.results else None
    return {} if found is None else {device: Tensor([on_device(each)]) for device, each in enumerate(found)}


def retrieve_tensor_from_pool(context: CallbackContext, ref: TensorRef) -> Tensor | None:
    """The tensor of a value; None if there is none yet."""
    found = context.run.values.get(ref.value)
    return None if found is None else Tensor([on_device(each) for each in found])


def update_tensor_in_pool(context: CallbackContext, ref: TensorRef, tensor: Tensor) -> None:
    """Lets later operations read another tensor."""
    before = context.run.values[ref.value]
    given = tensor.shards if len(tensor.shards) == len(before) else tensor.shards * len(before)
    pairs = zip(before, given, strict=True)
    context.run.values[ref.value] = tuple(new.to(old.dtype).reshape(old.shape) for old, new in pairs)
