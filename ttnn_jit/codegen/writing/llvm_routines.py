"""The LLVM text of a routine's loop."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ttnn_jit.codegen.reading.routine_kernels import routine_source
from ttnn_jit.codegen.schedules.kernel import Routine, rows_text
from ttnn_jit.codegen.writing.numba_module import PythonSource, numba_module
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import KERNEL, KernelModules, ModuleText
from ttnn_jit.kernels.loops.argument_reduction import ArgumentReduction
from ttnn_jit.kernels.loops.gathered_rows import gathering_text
from ttnn_jit.kernels.loops.integer_sequences import sequence_text
from ttnn_jit.kernels.loops.updated_rows import row_update_text
from ttnn_jit.nest.streams import InnerAccess
from ttnn_jit.ops.families.routine import NativeLoop

_ROUTINE_PICOSECONDS = 1000
"""Predicted arithmetic of a routine per index of the loops around it; the true cost is unknown."""


def routine_kernel(routine: Routine, isa: HostIsa) -> tuple[str, KernelModules, int]:
    """Name, text and predicted picoseconds per index of a routine's loop; numba compiles all but native loops."""
    streams = ", ".join(f"{stream.dtype.mlir} {stream.access.value}" for stream in routine.streams)
    made_for = f"{streams}; {rows_text(is_short=routine.has_short_rows)}"  # part of the name of the object code
    if routine.native is not None:
        module = ModuleText()
        functions = _native_functions(routine, routine.native, isa, module)
        return *module.kernel("g", [f"; {made_for}"], functions), _NATIVE_PICOSECONDS[routine.native]
    source = f"# {made_for}\n{routine_source(routine)}"
    name = f"r_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    return name, KernelModules.of(numba_module(name, PythonSource(source))), _ROUTINE_PICOSECONDS


_NATIVE_PICOSECONDS = dict.fromkeys(NativeLoop, _ROUTINE_PICOSECONDS) | {NativeLoop.ARGUMENT_REDUCTION: 60}
"""Predicted per index of routines' native loops."""


def _native_functions(routine: Routine, native: NativeLoop, isa: HostIsa, module: ModuleText) -> Sequence[str]:
    """The LLVM functions of a routine's native loop."""
    dtypes = tuple(stream.dtype for stream in routine.streams)
    first, *others = dtypes
    given = KERNEL, first
    match native:
        case NativeLoop.ROW_GATHER:
            return [gathering_text(*given, others[0], routine.rank, module)]
        case NativeLoop.ARGUMENT_REDUCTION:
            (largest,) = routine.constants
            is_dense = routine.streams[0].access is InnerAccess.CONTIGUOUS
            return ArgumentReduction(*given, routine.rank, largest == str(True), is_dense, isa, module).definitions()
        case NativeLoop.ROW_UPDATE:
            return [row_update_text(KERNEL, dtypes, routine.rank, routine.numerics, isa, module)]
        case NativeLoop.SEQUENCE:
            begin, step = (int(each) if isinstance(each, str) else None for each in routine.constants)
            return [sequence_text(KERNEL, dtypes, begin, step, routine.numerics, isa, module)]
