"""Kernels of routines: the loops around a routine, as Python for numba."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ttnn_jit.codegen.bodies.numba_steps import in_loops
from ttnn_jit.codegen.bodies.steps import Constant, SymbolicConstant
from ttnn_jit.codegen.reading.copies import copies_of
from ttnn_jit.codegen.reading.module_reader import ModuleReader
from ttnn_jit.codegen.reading.packing import repacking_whole
from ttnn_jit.codegen.schedules.bound_kernel import (
    BoundKernel,
    Operand,
    kernel_over,
    steps_of_empty_results,
    streams_of,
)
from ttnn_jit.codegen.schedules.kernel import Routine, rows_text
from ttnn_jit.codegen.schedules.launch import LaunchLoops
from ttnn_jit.dialects.declared_ops import RoutineOp
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.region_loops import refusal
from ttnn_jit.kernels.numba.python_scalar import INDENT, PythonScalar
from ttnn_jit.nest.streams import Stream
from ttnn_jit.ops.families.reduction import SHORT_ROW
from ttnn_jit.ops.families.routine import RoutineLoops
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import dims_of
from ttnn_jit.specs.access.strided_walk import NotStridedError, walk
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.extents.extent import is_of_trace, specialized
from ttnn_jit.specs.target import TILE_WIDTH, Numerics
from ttnn_jit.specs.tensor_spec import TensorSpec


def routine_kernels(op: RoutineOp, reader: ModuleReader) -> list[BoundKernel]:
    """The launch of a routine, preceded by copies of the first operand if the routine updates it.

    Raises:
        CompileError: The operands are not strided.
    """
    specs = [spec_of(value.type) for value in op.operands]
    loops = op.operation.loops(*(op.operation.loop_shape(tuple(spec.shape)) for spec in specs), *op.statics)
    if op.operation.updates and 0 in loops.extents:
        return _begun(op, reader)  # the operand is not updated
    own = op.operands[1:] if op.operation.updates else op.operands
    operands = [reader.operand(value) for value in (*own, *op.results)]
    walked_operands = [each.through(access) for each, access in zip(operands, loops.accesses, strict=True)]
    inputs, outputs = tuple(walked_operands[: len(own)]), tuple(walked_operands[len(own) :])
    begun, walked = _begun(op, reader) if op.operation.updates else [], _nest(op, loops, walked_operands)
    if not walked.whole:  # the results have no elements
        nothing = steps_of_empty_results(inputs, outputs)
        return [*begun, kernel_over(inputs, outputs, nothing, reader.numerics, loops=walked)]
    routine = _routine(op, loops, streams_of(inputs, outputs, walked), reader.numerics)
    return [*begun, BoundKernel(routine, inputs, outputs, walked)]


def _routine(op: RoutineOp, loops: RoutineLoops, streams: tuple[Stream, ...], numerics: Numerics) -> Routine:
    operation, constants = op.operation, tuple(map(_constant, op.operation.constants(*op.statics)))
    short = all(extent <= SHORT_ROW for extent in loops.extents[-loops.inner :])
    native = operation.native if operation.native and operation.native.takes(streams[-1].dtype) else None
    own = loops.inner, _moves(loops), constants, short, native, operation.writes_rows, operation.load_operand
    return Routine(streams, len(loops.extents) - 1, numerics, operation.ttir_name, *own)


def _begun(op: RoutineOp, reader: ModuleReader) -> list[BoundKernel]:
    """The launches that initialize the result with the operand that the routine updates."""
    updated, result = reader.operand(op.operands[0]), reader.operand(op.results[0])
    if op.packs_rows:
        return [repacking_whole(updated, result, reader.numerics)]
    return copies_of(updated, Access.identity(tuple(result.view.spec.shape)), result, reader.numerics)


def _moves(loops: RoutineLoops) -> tuple[tuple[int, ...], ...]:
    """Per operand and result, the routine's loops along which it moves, outermost first; 0 is the innermost."""
    last = len(loops.extents) - 1
    own = range(len(loops.extents) - loops.inner, len(loops.extents))
    dims = [{dim for expr in access.coordinates for dim in dims_of(expr)} for access in loops.accesses]
    return tuple(tuple(last - loop for loop in own if loop in moving) for moving in dims)


def _nest(op: RoutineOp, loops: RoutineLoops, operands: Sequence[Operand]) -> LaunchLoops:
    """The loops without merging, since the routine relies on their number and order."""
    if any(each.view.spec.volume == 0 for each in operands[-len(op.results) :]):
        return LaunchLoops((0,), ((1,),) * len(operands), (0,) * len(operands))
    addresses = []
    for each in operands:
        access = each.view.access
        assert access is not None, "every operand of a routine has an access in its loops"
        scalar = not each.view.spec.shape and op.operation.accepts_rank_zero
        addresses.append(
            access.address(*(((1,), (1,)) if scalar else (each.view.spec.shape, _strides(each.view.spec))))
        )
    try:
        walked = walk(tuple(max(extent, 1) for extent in loops.extents), addresses)
    except NotStridedError:
        walked = None
    if walked is None or len(walked.extents) != len(loops.extents):
        raise refusal(op, "no loops with strides walk what it reads", "copy the operand first: add 0 to it")
    return LaunchLoops(loops.extents, walked.strides, walked.offsets, whole=tuple(range(loops.inner)))


def _strides(spec: TensorSpec) -> tuple[int, ...]:
    """The strides of its dimensions in launch units; the rows and columns of a block-float tile share its stride."""
    strides = spec.element_strides
    if not spec.dtype.is_block_float:
        return strides
    *outer, along = strides
    return (*(stride // TILE_WIDTH for stride in outer), along)


_PACKING_IMPORTS = ["from ttnn_jit.kernels.block_floats.packed_tiles import row_packer, whole_bits, without_nan"]


def routine_source(kernel: Routine) -> str:
    """A Python module with the function ``kernel(pointers, params)``; see launch.py for the params."""
    source = kernel.streams[kernel.loaded].dtype
    target = next(stream.dtype for stream in kernel.streams if stream.written)
    builder = PythonScalar()
    number = "element" if source.is_integer else str(builder.call("f64", builder.loaded("element", source)))
    elements, imported = (_packed_elements if target.is_block_float else _stored)(target, kernel.numerics)
    if kernel.writes_rows and not target.is_block_float:
        elements += ["write = called(written_in_rows(load, store))", ""]
    kinds = [stream.dtype for stream in kernel.streams]
    names = sorted({"called"} | {f"{kind.name.lower()}_at" for kind in kinds} | builder.imported | imported)
    return "\n".join(
        [
            f"from ttnn_jit.kernels.numba.compiled_routine import compiled{', written_in_rows' * kernel.writes_rows}",
            *(_PACKING_IMPORTS * target.is_block_float),
            f"from ttnn_jit.kernels.numba.scalar_math import {', '.join(names)}",
            "",
            "@called",
            "def load(element):",
            *(INDENT + line for line in (*builder.lines, f"return {number}")),
            "",
            *elements,
            f"routine = compiled({kernel.name!r}, {'write' if kernel.writes_rows else 'load, store'})",
            "",
            "def kernel(pointers, params):",
            f"    # {rows_text(is_short=kernel.has_short_rows)}",
            *(INDENT + line for line in _loops(kernel)),
            "",
        ]
    )


def _stored(dtype: DataType, numerics: Numerics) -> tuple[list[str], set[str]]:
    """The lines of the function that converts a number to an element, and the names that they import."""
    builder, element = PythonScalar(), "number"
    if not dtype.is_integer:
        number = builder.assign(builder.call("f64" if dtype.compute.is_wide else "f32", "number"))
        element = str(builder.stored(builder.round_to(number, dtype, numerics), dtype))
    lines = (*builder.lines, f"return {element}")
    return ["@called", "def store(number):", *(INDENT + line for line in lines), ""], builder.imported


def _packed_elements(dtype: DataType, numerics: Numerics) -> tuple[list[str], set[str]]:
    """The lines of the function that packs rows, and the names that they import."""
    bits = "whole_bits(f32(load(element)))"
    lines = [
        "@called",
        "def bits(element):",
        f"{INDENT}return {f'without_nan({bits})' if numerics is Numerics.DEVICE else bits}",
        "",
        f"write = row_packer(bits, {dtype.name.lower()}_at, {dtype.traits.magnitude_bits}, {dtype.stride_bytes})",
        "",
    ]
    return lines, {"f32"}


def _loops(kernel: Routine) -> Iterator[str]:
    loops = kernel.rank + 1
    own = list(reversed(range(kernel.own)))
    outer = list(reversed(range(kernel.own, loops)))
    yield from (f"n{loop} = params[{loop}]" for loop in (*outer, *own))
    constants = {each for each in kernel.constants if isinstance(each, int)}
    for k, moves in enumerate(kernel.moves):  # numba takes compile time for every statement, even a useless one
        strides = (*outer, *moves) if k not in constants else ()
        yield from (f"s{k}_{loop} = params[{loops * (k + 1) + loop}]" for loop in strides)
    arguments: list[str] = []
    for k, (stream, moves) in enumerate(zip(kernel.streams, kernel.moves, strict=True)):
        if k in constants:
            continue
        offset = " + ".join(f"i{loop} * s{k}_{loop}" for loop in outer) or "0"
        address = f"pointers[{k}] + {stream.dtype.stride_bytes} * ({offset})"
        packed = stream.dtype.is_block_float  # its rows have their own strides
        arguments.append(address if packed else f"{stream.dtype.name.lower()}_at({address})")
        arguments += [f"s{k}_{loop}" for loop in moves]
    arguments += [f"n{loop}" for loop in own]
    arguments += [_loaded(kernel, each) if isinstance(each, int) else str(each) for each in kernel.constants]
    yield from in_loops(range(kernel.own, loops), [f"routine({', '.join(arguments)})"])


def _loaded(kernel: Routine, stream: int) -> str:
    """A constant that is an operand, as Python's number."""
    dtype = kernel.streams[stream].dtype
    return f"{'int' if dtype.is_integer else 'float'}({dtype.name.lower()}_at(pointers[{stream}])[0])"


_MOST_INT32 = (1 << 31) - 1


def _constant(value: float) -> str | SymbolicConstant:
    """The constant as Python text, infinities and NaN as bits of float32; or a number of a trace, if it is ordinary."""
    if is_of_trace(value):
        is_float = isinstance(value, float)
        fits = -_MOST_INT32 - 1 <= value <= _MOST_INT32 if not is_float else abs(value) < math.inf
        made = Constant.of(value) if fits else None
        if isinstance(made, SymbolicConstant):
            return made
        value = specialized(value)
    return f"float({str(value)!r})" if isinstance(value, float) and not math.isfinite(value) else repr(value)
