"""Kernels of the casts to and from block floats, which no `d2m.generic` holds: whole tiles are packed and unpacked."""

from __future__ import annotations

import math

from ttnn_jit.codegen.kernel import COPY, Kernel, Operand, kernel_of_nest, kernel_over
from ttnn_jit.codegen.launch import LoopNest, View
from ttnn_jit.codegen.loops import refusal
from ttnn_jit.codegen.steps import Apply, Constant, KernelBody, Repack, Store
from ttnn_jit.dialects.d2m import EmptyOp
from ttnn_jit.dialects.declared_ops import TypecastOp
from ttnn_jit.dialects.layout import tensor_type
from ttnn_jit.ops import COPY as COPYING
from ttnn_jit.specs.access import Access, Part, around
from ttnn_jit.specs.dtypes import STRIDES_OF_A_TILE
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH, Numerics
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

_OWN_LOOPS = (0, 1)
"""Columns and rows of a tile."""


def packing_kernels(op: TypecastOp, numerics: Numerics) -> list[Kernel]:
    """The launches of a cast between block floats and floats; what is packed has zeros around its elements.

    Raises:
        CompileError: Neither is a type of block floats, or both are, or the other is not in tiles.
    """
    source, result = Operand.of(op.operands[0]), Operand.of(op.results[0])
    if source.view.spec.dtype.is_block_float is result.view.spec.dtype.is_block_float:
        raise refusal(op, "it is no cast between floats and block floats", "run the stages up to `convert-ttir-to-d2m`")
    if not result.view.spec.dtype.is_block_float:
        if result.view.spec.layout is not Layout.TILE:
            raise refusal(op, "block floats are unpacked in tiles", "give the result a tiled layout")
        return [_over_tiles(source, result, numerics)]
    if _has_no_padding(source):
        return [_over_tiles(source, result, numerics)]
    padded, kernels = _padded(source, result.view.spec, numerics)
    return [*kernels, _over_tiles(padded, result, numerics)]


def _has_no_padding(operand: Operand) -> bool:
    """Whether all that is stored is elements, in whole tiles."""
    spec = operand.view.spec
    tiled = (*(1, 1), *spec.shape)[-2:] == _matrix(spec.with_(layout=Layout.TILE))[1:]
    return operand.view.access is None and spec.strides is None and tiled


def _padded(source: Operand, target: TensorSpec, numerics: Numerics) -> tuple[Operand, list[Kernel]]:
    """The elements of `source` with zeros around them, and the launches that write both."""
    shape = source.view.shape
    dense = TensorSpec(target.padded_shape, source.view.spec.dtype)
    value = EmptyOp.make(tensor_type(dense)).results[0]
    rank = len(dense.shape)
    lifted = Access((1,) * (rank - len(shape)) + tuple(shape), Access.identity(dense.shape).coordinates)
    part = Part((0,) * rank, lifted)
    reading = Access(lifted.extents, Access.identity(dense.shape).coordinates[rank - len(shape) :])
    through = reading if source.view.access is None else reading.after(source.view.access)
    zero = (Apply(COPYING.tile_name, (Constant.of(0.0),), (), dense.dtype, None), Store(0, 0))
    kernels = [
        kernel_over((), (Operand(value, View(dense, slab.place)),), zero, numerics)
        for slab in around(part, dense.shape)
    ]
    inner = Operand(value, View(dense, part.place))
    kernels.append(kernel_over((Operand(source.value, View(source.view.spec, through)),), (inner,), COPY, numerics))
    # As a view, so that it stays a launch of its own.
    return Operand(value, View(dense, Access.identity(dense.shape))), kernels


def _over_tiles(source: Operand, result: Operand, numerics: Numerics) -> Kernel:
    """The launch over tiles: rows of them, tiles in a row, and in each its rows and columns."""
    batch, height, width = _matrix(next(o for o in (source, result) if o.view.spec.dtype.is_block_float).view.spec)
    rows, columns = batch * (height // TILE_HEIGHT), width // TILE_WIDTH
    if not rows * columns:
        return kernel_of_nest(
            (source,), (result,), (Repack(),), numerics, LoopNest((1, 1, 1, 0), ((0, 0, 0, 1),) * 2, (0, 0), _OWN_LOOPS)
        )
    extents = (rows, columns, TILE_HEIGHT, TILE_WIDTH)
    dense = (TILE_HEIGHT * width, TILE_WIDTH, width, 1)
    packed = (columns * STRIDES_OF_A_TILE, STRIDES_OF_A_TILE, 0, 0)
    strides = (packed, dense) if source.view.spec.dtype.is_block_float else (dense, packed)
    nest = LoopNest(extents, strides, (0, 0), _OWN_LOOPS)
    return kernel_of_nest((source,), (result,), (Repack(),), numerics, nest)


def _matrix(spec: TensorSpec) -> tuple[int, int, int]:
    """How many matrices there are, and their extents as stored in tiles."""
    *batch, height, width = spec.padded_shape
    return math.prod(batch), height, width


def packing_source(body: KernelBody) -> str:
    """A Python module with the function ``kernel(pointers, params)``; see `ttnn_jit.codegen.launch` for the words."""
    read, written = (stream.dtype for stream in body.streams)
    packs = written.is_block_float
    dense, tiles = (0, 1) if packs else (1, 0)
    elements, packed = body.streams[dense].dtype, body.streams[tiles].dtype
    moves = [f"i3 * params[{7 + 4 * k}] + i2 * params[{6 + 4 * k}]" for k in range(2)]
    element = f"{elements.name.lower()}_at(pointers[{dense}] + {elements.itemsize} * ({moves[dense]}))"
    tile = f"{packed.name.lower()}_at(pointers[{tiles}] + {packed.stride_bytes} * ({moves[tiles]}))"
    convert = f"{'upper' if elements.is_upper_half else 'whole'}_{'bits' if packs else 'element'}"
    maker = "packer" if packs else "unpacker"
    replaces_nan = packs and body.numerics is Numerics.DEVICE
    return "\n".join(
        [
            f"from ttnn_jit.kernels.packed_tiles import {maker}, {convert}, without_nan",
            f"from ttnn_jit.kernels.scalar_math import called, {read.name.lower()}_at, {written.name.lower()}_at",
            "",
            "@called",
            "def convert(word):",
            f"    return {f'without_nan({convert}(word))' if replaces_nan else f'{convert}(word)'}",
            "",
            f"repack = {maker}(convert)",
            "",
            "def kernel(pointers, params):",
            "    for i3 in range(params[3] if params[0] else 0):",
            "        for i2 in range(params[2]):",
            f"            repack({element}, params[{5 + 4 * dense}], {tile}, {packed.traits.magnitude_bits})",
            "",
        ]
    )
