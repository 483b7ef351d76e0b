"""The log of the memory of a chip around programs and operations, as `set_memory_log_level` asks for it.

The memory is that of a model of the chip for which a binary was compiled (`chip_memory.py`).
"""

from __future__ import annotations

import json
import sys
from typing import Any

from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.ttmlir.ttmlir_runtime.chip_memory import MEMORIES
from ttnn_jit.ttmlir.ttmlir_runtime.debug_hooks import CallbackContext, DebugHooks, OpContext, memory_of
from ttnn_jit.ttmlir.ttmlir_runtime.environments import MemoryLogLevel
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary

_level = [MemoryLogLevel.NONE]


def set_memory_log_level(level: MemoryLogLevel) -> None:
    """Chooses what is logged from the next submission on: programs, operations, both, or nothing."""
    _level[0] = level


def logs(level: MemoryLogLevel) -> bool:
    """Whether that is logged."""
    return bool(_level[0] & level)


def log_program(when: str, binary: Binary, program_index: int) -> None:
    """Logs the memory before or after a program, if that is asked for."""
    if logs(MemoryLogLevel.PROGRAM):
        _write(f"Device memory state {when} submit", memory_of(binary, program_index).memory.view())


def with_log(hooks: DebugHooks | None) -> DebugHooks | None:
    """Hooks that also log the memory before each operation, if that is asked for; else the hooks as they are."""
    if not logs(MemoryLogLevel.OPERATION):
        return hooks
    around = hooks or DebugHooks()

    def before(binary: Binary, context: CallbackContext, op_context: OpContext) -> None:
        _write(f"Device memory state before operation {name_of(op_context.op)}", context.memory.memory.view())
        context.memory.behind(op_context.op)
        if around.pre_op is not None:
            around.pre_op(binary, context, op_context)

    return DebugHooks(before, around.post_op, around.pre_program, around.post_program)


def _write(title: str, view: dict[str, Any]) -> None:
    shown = {name: view[name] for name in MEMORIES}
    sys.stdout.write(f"{title}: {json.dumps(shown)}\n")
    sys.stdout.flush()
