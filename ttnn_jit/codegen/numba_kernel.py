"""The numba backend: a kernel's body as Python loops, which numba compiles.

The source computes the scheduled module op by op, one element at a time, with functions from libm
(`ttnn_jit.kernels.numba.scalar_math`); it shares no vectors, chunks or math functions with the LLVM backend. numba
compiles it without fast math or contraction. Its LLVM text is assembled like that of other kernels, so that stored
programs need no numba and calls cost the same for both backends.
"""

from __future__ import annotations

import hashlib

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.codegen.bodies.numba_steps import in_loops
from ttnn_jit.codegen.host.host_program import host_plan, program_plan
from ttnn_jit.codegen.reading.packing import packing_source
from ttnn_jit.codegen.reading.routine_kernels import routine_source
from ttnn_jit.codegen.schedules.device_exchange import Exchange, RankExchange
from ttnn_jit.codegen.schedules.host_plan import HostPlan
from ttnn_jit.codegen.schedules.kernel import Contract, Copy, Kernel, LoopNest, Routine, rows_text
from ttnn_jit.codegen.schedules.nest_stage import NestStage
from ttnn_jit.codegen.writing.numba_contraction import chain
from ttnn_jit.codegen.writing.numba_module import PythonSource
from ttnn_jit.codegen.writing.numba_sweeps import SweepWriter
from ttnn_jit.kernels.numba.python_scalar import INDENT, PythonScalar
from ttnn_jit.nest.streams import InnerAccess
from ttnn_jit.process.memoized import memoized
from ttnn_jit.runtime.plans.plan import ProgramPlan


def numba_program(module: ModuleOp) -> tuple[HostPlan, ProgramPlan, dict[str, PythonSource]]:
    """Launches and buffers of a scheduled module and, by name, the source of its kernels.

    Raises:
        CompileError: The module holds an op that is no scheduled kernel.
    """
    host = host_plan(module, None)
    bodies = [kernel_source(launch.bound.kernel) for launch in host.launches_with_code]
    names = [f"py_{hashlib.sha256(source.text.encode()).hexdigest()[:16]}" for source in bodies]
    # 0 picoseconds: the cost of libm's functions is unknown, so these kernels are not split among threads.
    plan = program_plan(host, [(name, 0, ()) for name in names])
    return host, plan, dict(zip(names, bodies, strict=True))


@memoized(maxsize=1024)
def kernel_source(kernel: Kernel) -> PythonSource:
    """A Python module with the function ``kernel(pointers, params)``; see launch.py for the params."""
    match kernel:
        case Routine():
            return PythonSource(routine_source(kernel))
        case Copy():
            return PythonSource(packing_source(kernel))
        case LoopNest() | Contract():
            return _SourceWriter(kernel).source()
        case Exchange() | RankExchange():
            raise AssertionError("it has no code")


class _SourceWriter:
    """Emits one kernel: stream k is ``x<k>`` if it is read and ``y<k>`` if it is written, buffers are ``b<k>``."""

    def __init__(self, kernel: LoopNest | Contract) -> None:
        self._kernel = kernel
        self._body = body = kernel.body
        self._builder = PythonScalar()
        self._loops = body.rank + 1
        self._names = [f"{'y' if stream.written else 'x'}{k}" for k, stream in enumerate(body.streams)]

    def source(self) -> PythonSource:
        """The module."""
        head = [*self._pointers(), *self._params()]
        lines = [INDENT + line for line in (*head, *self._loop_nest())]
        tables = [f"{name} = {entries}" for name, entries in self._builder.tables.items()]
        limits = sorted(self._builder.limits)
        imports = [f"from math import {', '.join(limits)}", ""] if limits else []
        imports.append(f"from ttnn_jit.kernels.numba.scalar_math import {', '.join(sorted(self._builder.imported))}")
        if self._builder.functions:
            imports.insert(
                -1, f"from ttnn_jit.kernels.numba.scalar_call import {', '.join(sorted(self._builder.functions))}"
            )
        text = "\n".join([*imports, "", *tables, "", "def kernel(pointers, params):", *lines, ""])
        return PythonSource(text, any(function.is_local for function in self._builder.functions.values()))

    def _loop_nest(self) -> list[str]:
        body, kernel = self._body, self._kernel
        elements = [f"{name}[{self._index(k)}]" for k, name in enumerate(self._names)]
        if isinstance(kernel, Contract):
            contracted = kernel.contracted
            lines = in_loops(self._loops_except(1, contracted.count), chain(kernel, self._builder, elements))
            return [f"# {rows_text(is_short=contracted.is_short)}", *lines]
        if body.reduced is None:
            for stage in kernel.all_of(NestStage):
                stage.write(self._builder, [elements[k] for k in stage.operands])
            return in_loops(range(self._loops), self._builder.lines)
        memory, rows = SweepWriter(kernel, self._builder, elements, body.reduced.loop).text()
        lines = in_loops(self._loops_except(body.reduced.loop, 1), rows)
        return [f"# {rows_text(is_short=body.reduced.is_short)}", *memory, *lines]

    def _loops_except(self, first: int, count: int) -> list[int]:
        """All loops except `count` loops from `first` on."""
        return [loop for loop in range(self._loops) if not first <= loop < first + count]

    def _pointers(self) -> list[str]:
        lines = []
        for k, (name, stream) in enumerate(zip(self._names, self._body.streams, strict=True)):
            kind = f"{stream.dtype.name.lower()}_at"
            self._builder.imported.add(kind)
            lines.append(f"{name} = {kind}(pointers[{k}])")
        return lines

    def _params(self) -> list[str]:
        """The extents of the loops, the innermost first, and the strides that the accesses do not imply."""
        lines = [f"n{loop} = params[{loop}]" for loop in range(self._loops)]
        for k, stream in enumerate(self._body.streams):
            first = self._loops * (k + 1)
            known = 0 if stream.access is InnerAccess.STRIDED else 1
            lines += [f"s{k}_{loop} = params[{first + loop}]" for loop in range(known, self._loops)]
        return lines

    def _index(self, k: int) -> str:
        terms = {InnerAccess.CONTIGUOUS: ["i0"], InnerAccess.SCALAR: [], InnerAccess.STRIDED: [f"i0 * s{k}_0"]}[
            self._body.streams[k].access
        ]
        terms = [*terms, *(f"i{loop} * s{k}_{loop}" for loop in range(1, self._loops))]
        return " + ".join(terms) or "0"
