"""Kernels of ops outside `d2m.generic`, by family; each op is a launch of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation

from ttnn_jit.codegen.reading.contracting import contracting_kernels
from ttnn_jit.codegen.reading.copies import copying_kernels, filling_kernels
from ttnn_jit.codegen.reading.exchanging import exchanging_kernels
from ttnn_jit.codegen.reading.module_reader import ModuleReader
from ttnn_jit.codegen.reading.packing import packing_kernels
from ttnn_jit.codegen.reading.reducing import reducing_kernels
from ttnn_jit.codegen.reading.routine_kernels import routine_kernels
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel
from ttnn_jit.dialects.declared_ops import CollectiveOp, ContractionOp, MovementOp, ReductionOp, RoutineOp, TypecastOp
from ttnn_jit.dialects.ttir import FullOp

_KERNELS_OF: dict[type[Operation], Callable[[Any, ModuleReader], Sequence[BoundKernel]]] = {
    FullOp: filling_kernels,
    MovementOp: copying_kernels,
    ReductionOp: reducing_kernels,
    RoutineOp: routine_kernels,
    ContractionOp: contracting_kernels,
    TypecastOp: packing_kernels,
    CollectiveOp: exchanging_kernels,
}
"""From the base class of a family's ops to the function that gives the launches of an op, in order."""


def kernels_of(op: Operation, reader: ModuleReader) -> Sequence[BoundKernel] | None:
    """The launches of an op in order; the last one writes its results. None if its family has no kernels."""
    kernels = next((each for family, each in _KERNELS_OF.items() if isinstance(op, family)), None)
    return kernels and kernels(op, reader)
