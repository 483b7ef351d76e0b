"""Calls of users around programs and operations, and what these calls may read and write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import torch
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.binaries.tables_to_module import HELD_NUMBER
from ttnn_jit.compiler.texts.text_steps import OnDevices, OpWatcher, SteppedRun
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.spelling.naming import names_around
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.text_calls.op_calls import updated_operands
from ttnn_jit.dialects.text_calls.tensor_types import is_tensor, spec_in_text
from ttnn_jit.specs.target import SystemDesc, resolve_target
from ttnn_jit.ttmlir.mlir_locations import Location
from ttnn_jit.ttmlir.ttmlir_runtime.chip_memory import MemoryRun
from ttnn_jit.ttmlir.ttmlir_runtime.data_types import OF_TORCH, DataType, device_dtype, on_device
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
        return memory_of(self.binary, self.program_index)


def memory_of(binary: Binary, program_index: int) -> MemoryRun:
    """The memory of the chip for which a binary was compiled, before a program."""
    function = binary.text_module.functions[binary.get_program_name(program_index)]
    described = binary.get_system_desc_as_json()
    return MemoryRun(function, resolve_target(SystemDesc.from_json(described, "the system of the binary")))


class TensorRef:
    """A value of a program.

    Args:
        value: That of the IR.
    """

    def __init__(self, value: SSAValue) -> None:
        self.value = value

    def get_shape(self) -> list[int]:
        """Its extents."""
        return list(spec_in_text(self.value.type).shape)

    def get_dtype(self) -> DataType:
        """Its dtype, as a tensor of it has it."""
        return OF_TORCH[device_dtype(spec_in_text(self.value.type).dtype.torch)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorRef) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class OpContext:
    """An operation, as hooks see it.

    Args:
        op: That of the IR.

    Attributes:
        operands: The tensors that it reads, one per operand.
        results: The tensors that it gives.
    """

    def __init__(self, op: Operation) -> None:
        self.op = op
        self.operands: list[SSAValue] = [value for value in op.operands if is_tensor(value.type)]
        self.results: list[SSAValue] = [value for value in op.results if is_tensor(value.type)]

    @property
    def written(self) -> list[SSAValue]:
        """What it gives, or the operand that it updates."""
        updated = [self.op.operands[index] for index in updated_operands(self.op)]
        return self.results or updated


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
    """The submitted program and the operation around which a hook is being called."""

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
        """Sets the hooks; those that are not given stay as they are, until `unregister_hooks`."""
        known = DebugHooks.current or DebugHooks()
        DebugHooks.current = DebugHooks(
            pre_op or known.pre_op,
            post_op or known.post_op,
            pre_program or known.pre_program,
            post_program or known.post_program,
        )
        return DebugHooks.current

    def run(self, binary: Binary, program_index: int, inputs: Sequence[torch.Tensor | OnDevices]) -> list[OnDevices]:
        """The results of a program on every device, operation by operation; of kernels of d2m as a whole.

        Raises:
            CompileError: An operation is not executed here.
        """
        name = binary.names[program_index]
        run = SteppedRun(binary.text_module, name, inputs)
        if binary.is_of_kernels:
            context = CallbackContext(binary, program_index, run)
            _call(self.pre_program, binary, context)
            whole = [each for each in inputs if isinstance(each, torch.Tensor)]
            if len(whole) < len(inputs):
                raise CompileError("kernels of d2m take one tensor for all devices, and an input has several")
            found: list[OnDevices] = [(each,) for each in binary.text_module.program(name)(*whole)]
            _call(self.post_program, binary, context)
            return found
        for _ in run.steps(_HookedRun(self, CallbackContext(binary, program_index, run))):
            pass
        return run.results_on_devices


class _HookedRun(OpWatcher):
    """Calls hooks around every program and operation of a run.

    Functions that are called are programs too, if the binary has them; the ops of others count to the one around them.

    Args:
        hooks: The hooks.
        context: The program that is submitted.
    """

    def __init__(self, hooks: DebugHooks, context: CallbackContext) -> None:
        self._hooks = hooks
        self._submitted = context
        self._programs: list[CallbackContext] = []

    def entered(self, function: str) -> None:
        """Begin a program."""
        binary = self._submitted.binary
        if not self._programs:
            context = self._submitted
        elif function in binary.names:
            context = CallbackContext(binary, binary.names.index(function), self._submitted.run)
        else:
            context = self._programs[-1]
        is_program = not self._programs or context is not self._programs[-1]
        self._programs.append(context)
        if is_program:
            _call(self._hooks.pre_program, binary, context)

    def left(self, function: str) -> None:  # noqa: ARG002 - it is the innermost
        """End a program."""
        context = self._programs.pop()
        if not self._programs or context is not self._programs[-1]:
            _call(self._hooks.post_program, context.binary, context)

    def before(self, op: Operation) -> None:
        """Call the hook before an operation."""
        self._call_around(self._hooks.pre_op, op)

    def after(self, op: Operation) -> None:
        """Call the hook behind an operation."""
        self._call_around(self._hooks.post_op, op)

    def _call_around(self, hook: Hook | None, op: Operation) -> None:
        if hook is None or HELD_NUMBER in op.attributes:
            return
        context, op_context = self._programs[-1], OpContext(op)
        DebugHooks.running = self._submitted, op_context
        try:
            hook(context.binary, context, op_context)
        finally:
            DebugHooks.running = None


def _call(hook: Hook | None, *arguments: Any) -> None:
    if hook is not None:
        hook(*arguments)


def unregister_hooks() -> None:
    """Removes the hooks."""
    DebugHooks.current = None


def walk_program(binary: Binary, program_index: int, visit: Callable[[OpContext], None]) -> None:
    """Call `visit` with every operation of a program, outer ones first, without running it."""
    function: FuncOp = binary.text_module.functions[binary.names[program_index]]
    for op in function.body.walk():
        if not isinstance(op, ReturnOp) and HELD_NUMBER not in op.attributes:
            visit(OpContext(op))


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
    """The text of the operation, with its location."""
    return op_text(op_context.op, locations=True, local_scope=True, names=names_around(op_context.op)).strip()


def get_op_input_refs(op_context: OpContext) -> list[TensorRef]:
    """What the operation reads."""
    return [TensorRef(value) for value in op_context.operands]


def get_op_output_refs(op_context: OpContext) -> list[TensorRef]:
    """What the operation gives."""
    return [TensorRef(value) for value in op_context.results]


def get_op_output_tensor(op_context: OpContext, context: CallbackContext) -> dict[int, Tensor]:
    """The first result of the operation on each device."""
    found = next((context.run.values.get(value) for value in op_context.written), None)
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
