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
from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.argument_notes import forget_shared_blocks
from ttnn_jit.dialects.declared_ops import CollectiveOp
from ttnn_jit.dialects.functions import single_function
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.meshes import without_own_devices
from ttnn_jit.dialects.region_loops import refusal
from ttnn_jit.runtime.plans.rank_exchanges import ExchangeCall
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.tensor_spec import TensorSpec

KEY_BYTES = 16


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
        reader.program = _program_hash(op, reader.devices)
    attributes = zip(op.operation.attributes, op.statics, strict=True)
    said = ", ".join(f"{each.name}={value!r}" for each, value in attributes)
    operand = f"[{', '.join(map(str, specs[0].shape))}] {specs[0].dtype.name} {specs[0].layout.name}"
    place, calls = location_of(op), []
    reader.collectives += 1
    for stage, note in enumerate(("", ", second stage")):
        digest = blake2b(reader.program, digest_size=KEY_BYTES)
        digest.update(repr((reader.collectives, stage)).encode())
        text = f"`{op.operation.name}` ({said}) of {operand} in a program{note}"
        file, line = (place.file, place.line) if place else ("", 0)
        calls.append(ExchangeCall(text, digest.hexdigest(), file, line))
    return tuple(calls)


def _program_hash(op: Operation, devices: MeshDevices) -> bytes:
    """The hash of what all ranks compile: the module without locations, and the devices of every rank."""
    module = op
    while not isinstance(module, ModuleOp):
        parent = module.parent_op()
        assert parent is not None, "a module holds the function"
        module = parent
    shared = without_own_devices(module)
    forget_shared_blocks(single_function(shared))
    digest = blake2b(print_module(shared).encode(), digest_size=KEY_BYTES)
    digest.update(repr((devices.placed, devices.owners)).encode())
    return digest.digest()
