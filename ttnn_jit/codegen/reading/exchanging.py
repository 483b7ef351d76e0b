"""Collectives as launches of one device, before the plan of the mesh is made."""

from __future__ import annotations

from ttnn_jit.codegen.reading.module_reader import ModuleReader
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, streams_of
from ttnn_jit.codegen.schedules.device_exchange import Exchange
from ttnn_jit.codegen.schedules.launch import LaunchLoops
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.dialects.declared_ops import CollectiveOp
from ttnn_jit.dialects.region_loops import refusal


def exchanging_kernels(op: CollectiveOp, reader: ModuleReader) -> list[BoundKernel]:
    """The launch of a collective.

    Raises:
        CompileError: Its attributes do not fit the operands or the mesh.
    """
    inputs, outputs = (tuple(map(reader.operand, values)) for values in (op.operands, op.results))
    shapes = [tuple(each.view.shape) for each in inputs]
    try:
        results = op.operation.exchanged(reader.devices, shapes, op.statics)
    except (ArgumentError, ShapeError) as error:
        raise refusal(op, error.message) from None
    operands = len(inputs) + len(outputs)
    loops = LaunchLoops((1,), ((1,),) * operands, (0,) * operands)
    return [BoundKernel(Exchange(streams_of(inputs, outputs, loops), reader.numerics, results), inputs, outputs, loops)]
