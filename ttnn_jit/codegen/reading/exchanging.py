"""Collectives as launches of one device, before the plan of the mesh is made."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttnn_jit.codegen.reading.module_reader import ModuleReader
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, streams_of
from ttnn_jit.codegen.schedules.device_exchange import Exchange
from ttnn_jit.codegen.schedules.launch import LaunchLoops
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.dialects.declared_ops import CollectiveOp
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.meshes import program_hash_of
from ttnn_jit.dialects.region_loops import refusal
from ttnn_jit.runtime.plans.rank_exchanges import ExchangeCall
from ttnn_jit.specs.tensor_spec import TensorSpec

KEY_BYTES = 16
"""The bytes of the part of a key that is the same for all sizes."""


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
    loops = loops_of_exchange(len(inputs) + len(outputs))
    specs = tuple(spec_of(value.type) for value in op.operands)
    calls = _calls(op, reader, specs) if reader.devices.remote else ()
    kernel = Exchange(streams_of(inputs, outputs, loops), reader.numerics, results, specs, calls)
    return [BoundKernel(kernel, inputs, outputs, loops)]


def loops_of_exchange(operands: int) -> LaunchLoops:
    """The loops of a launch that has no code: one over one element."""
    return LaunchLoops((1,), ((1,),) * operands, (0,) * operands)


def _calls(op: CollectiveOp, reader: ModuleReader, specs: Sequence[TensorSpec]) -> tuple[ExchangeCall, ...]:
    """What the ranks call together in a collective, which has two stages at most."""
    if reader.program is None:
        reader.program = program_hash_of(_module_of(op), reader.devices)
    attributes = zip(op.operation.attributes, op.statics, strict=True)
    said = ", ".join(f"{each.name}={value!r}" for each, value in attributes)
    shapes = tuple(tuple(each.shape) for each in specs)
    place, calls = location_of(op), []
    reader.collectives += 1
    for note in ("", ", second stage"):
        begin = f"`{op.operation.name}` ({said}) of "
        end = f" {specs[0].dtype.name} {specs[0].layout.name} in a program{note}"
        digest = blake2b(repr((reader.program, reader.collectives, begin, end)).encode(), digest_size=KEY_BYTES)
        file, line = (place.file, place.line) if place else ("", 0)
        calls.append(ExchangeCall(begin, shapes, end, digest.hexdigest(), file, line))
    return tuple(calls)


def _module_of(op: Operation) -> ModuleOp:
    """The module that holds an op."""
    module = op
    while not isinstance(module, ModuleOp):
        parent = module.parent_op()
        assert parent is not None, "a module holds the function"
        module = parent
    return module
