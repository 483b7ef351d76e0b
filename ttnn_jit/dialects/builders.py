"""Cheap constructors for types and for ops of xDSL's own dialects: cached attributes, `Op.create`, no checks."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.affine import ForOp, YieldOp
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    LocationAttr,
    MemRefType,
    ModuleOp,
    f32,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.dialects.linalg.ops import YieldOp as LinalgYieldOp
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap

from ttnn_jit.dialects.affine import INDEX
from ttnn_jit.dialects.symbolic import number_array, symbolic_float_attr
from ttnn_jit.dialects.ttcore import memory_space, tile_type
from ttnn_jit.dialects.writing.creation import SEGMENTS, create, empty_block, region_of, segments
from ttnn_jit.dialects.writing.direct_access import read_directly
from ttnn_jit.dialects.writing.editing import append
from ttnn_jit.dialects.writing.quick_attributes import integer_attr, memref_type, strided_layout
from ttnn_jit.ops.language.kinds import as_float32
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.extents.extent import is_of_trace
from ttnn_jit.specs.tensor_spec import DataType

for _foreign in (ForOp, scf.ForOp, arith.ConstantOp, memref.SubviewOp, LinalgGenericOp, FuncOp, ModuleOp):
    read_directly(_foreign)


@memoized
def tile_memref(
    shape: tuple[int, ...],
    dtype: DataType,
    space: str,
    strides: tuple[int, ...] | None = None,
    offset: int | None = 0,
) -> MemRefType[Attribute]:
    """A memref of tiles on a core; with `strides`, a strided view whose `offset` None prints as ``?``."""
    layout = None if strides is None else strided_layout(strides, offset)
    return memref_type(tile_type(dtype), shape, layout, memory_space(space))


@memoized
def _index_attr(value: int) -> IntegerAttr:
    return integer_attr(value, INDEX)


def constant_index(value: int, location: LocationAttr | None = None) -> arith.ConstantOp:
    """``%c4 = arith.constant 4 : index``."""
    return create(arith.ConstantOp, result_types=(INDEX,), properties={"value": _index_attr(value)}, location=location)


def f32_attr(value: float) -> FloatAttr:
    """``value : f32``; cached, for every stage rewrites the few numbers of a program."""
    if is_of_trace(value):
        return symbolic_float_attr(as_float32(value))
    return _f32_attr(struct.pack("d", value))  # keyed by bits: 0.0 == -0.0, and NaN equals nothing


@lru_cache(maxsize=4096)
def _f32_attr(bits: bytes) -> FloatAttr:
    return FloatAttr(as_float32(struct.unpack("d", bits)[0]), f32)


def number_attr(value: float) -> FloatAttr | IntegerAttr:
    """``value : f32`` of a float; of an int ``value : i32`` in two's complement."""
    return IntegerAttr((value + _WORDS // 2) % _WORDS - _WORDS // 2, i32) if isinstance(value, int) else f32_attr(value)


_WORDS = 1 << 32


def constant_number(value: FloatAttr | IntegerAttr, location: LocationAttr | None = None) -> arith.ConstantOp:
    """``%cst = arith.constant 5.000000e-01 : f32``, or ``%c3_i32 = arith.constant 3 : i32``."""
    return create(arith.ConstantOp, result_types=(value.type,), properties={"value": value}, location=location)


@memoized
def _constant_map(value: int) -> AffineMapAttr:
    return AffineMapAttr(AffineMap.constant_map(value))


def affine_loop(upper: int, location: LocationAttr | None = None, *, lower: int = 0, step: int = 1) -> ForOp:
    """``affine.for %i = lower to upper step step`` without body: fill ``.body.block``, then call `end_affine_loop`."""
    return create(
        ForOp,
        properties={
            "lowerBoundMap": _constant_map(lower),
            "upperBoundMap": _constant_map(upper),
            "step": _index_attr(step),
            SEGMENTS: segments(0, 0, 0),
        },
        regions=(region_of(empty_block((INDEX,))),),
        location=location,
    )


def end_affine_loop(loop: ForOp) -> None:
    """Adds the terminator that an `affine.for` does not print."""
    append(loop.body.block, (create(YieldOp, location=loop.location),))


def scf_loop(lower: SSAValue, upper: SSAValue, step: SSAValue, location: LocationAttr | None = None) -> scf.ForOp:
    """``scf.for %arg0 = %lower to %upper step %step`` without body: fill ``.body.block``, then call `end_scf_loop`."""
    return create(
        scf.ForOp, operands=(lower, upper, step), regions=(region_of(empty_block((INDEX,))),), location=location
    )


def end_scf_loop(loop: scf.ForOp) -> None:
    """Adds the terminator that an `scf.for` does not print."""
    append(loop.body.block, (create(scf.YieldOp, location=loop.location),))


@memoized
def _index_list(values: tuple[int, ...]) -> DenseArrayBase:
    return number_array(i64, values)


def subview(
    source: SSAValue,
    offsets: Sequence[SSAValue],
    sizes: tuple[int, ...],
    result_type: MemRefType[Attribute],
    location: LocationAttr | None = None,
) -> memref.SubviewOp:
    """``memref.subview %source[%offsets] [sizes] [1, 1] : ... to ...``."""
    rank = len(sizes)
    return create(
        memref.SubviewOp,
        operands=(source, *offsets),
        result_types=(result_type,),
        properties={
            "static_offsets": _index_list((DYNAMIC_INDEX,) * rank),
            "static_sizes": _index_list(sizes),
            "static_strides": _index_list((1,) * rank),
            SEGMENTS: segments(1, rank, 0, 0),
        },
        location=location,
    )


def linalg_yield(values: Sequence[SSAValue], location: LocationAttr | None = None) -> LinalgYieldOp:
    """``linalg.yield %values``."""
    return create(LinalgYieldOp, operands=values, location=location)
