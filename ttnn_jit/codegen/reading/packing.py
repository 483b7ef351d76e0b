"""Kernels of casts to and from block floats, which are outside `d2m.generic`: they pack, unpack and copy tiles."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from ttnn_jit.codegen.reading.module_reader import ModuleReader
from ttnn_jit.codegen.schedules.bound_kernel import COPY, BoundKernel, Operand, kernel_over, streams_of
from ttnn_jit.codegen.schedules.kernel import Copy, Repack
from ttnn_jit.codegen.schedules.launch import NO_TILES, LaunchLoops, tile_loops_of
from ttnn_jit.dialects.declared_ops import TypecastOp
from ttnn_jit.dialects.region_loops import refusal
from ttnn_jit.kernels.numba.python_scalar import INDENT
from ttnn_jit.specs.access.access import Access, Part
from ttnn_jit.specs.access.strided_walk import NotStridedError
from ttnn_jit.specs.dtypes import STRIDES_OF_A_TILE
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH, Numerics
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

_OWN_LOOPS = (0, 1)
"""Columns and rows of a tile."""


def packing_kernels(op: TypecastOp, reader: ModuleReader) -> list[BoundKernel]:
    """The launches of a cast between block floats and floats; packed tiles are padded with zeros.

    Raises:
        CompileError: Not exactly one type is a block float, or the other tensor is not in tiles.
    """
    source, result = reader.operand(op.operands[0]), reader.operand(op.results[0])
    if source.view.spec.dtype.is_block_float is result.view.spec.dtype.is_block_float:
        raise refusal(op, "it is no cast between floats and block floats", "run the stages up to `convert-ttir-to-d2m`")
    if not result.view.spec.dtype.is_block_float:
        if result.view.spec.layout is not Layout.TILE:
            raise refusal(op, "block floats are unpacked in tiles", "give the result a tiled layout")
        return [repacking_whole(source, result, reader.numerics)]
    return packed_into(source, result, reader.numerics)


def packed_into(source: Operand, result: Operand, numerics: Numerics) -> list[BoundKernel]:
    """The launches that pack `source`: whole tiles, and the partial tiles at its edges.

    A source whose elements are not in rows of tiles is copied first.
    """
    if not result.view.spec.volume:
        return [repacking_whole(source, result, numerics)]
    try:
        return [_packing(source, result, part, numerics) for part in _parts(result.view.spec)]
    except NotStridedError:
        dense = TensorSpec(source.view.shape, source.view.spec.dtype)
        copied = Operand.new(dense)
        copy = kernel_over((source,), (copied,), COPY, numerics)
        return [copy, *(_packing(copied, result, part, numerics) for part in _parts(result.view.spec))]


def _parts(spec: TensorSpec) -> list[Part]:
    """The blocks of a tensor that consist of whole tiles, and those that consist of partial tiles."""
    rank = len(spec.padded_shape)
    *batch, height, width = (*(1,) * (rank - len(spec.shape)), *spec.shape)
    blocks = itertools.product(_lengths(height, TILE_HEIGHT), _lengths(width, TILE_WIDTH))
    return [
        Part((*(0,) * (rank - 2), top, left), Access.identity((*batch, rows, columns)))
        for (top, rows), (left, columns) in blocks
    ]


def _lengths(extent: int, of_tile: int) -> list[tuple[int, int]]:
    """The start and length of the whole tiles of an extent, and of the rest."""
    whole = extent - extent % of_tile
    return [each for each in ((0, whole), (whole, extent - whole)) if each[1]]


def _packing(source: Operand, result: Operand, part: Part, numerics: Numerics) -> BoundKernel:
    """The launch that packs a block of `source`.

    Raises:
        NotStridedError: The elements are not in rows of tiles.
    """
    missing = len(part.origin) - len(source.view.shape)
    block = Access(part.access.extents, part.result_access.coordinates[missing:])
    whole = len(_parts(result.view.spec)) == 1
    read = source if whole and source.view.access is None else source.through(block)
    written = result.viewed(None if whole else part.result_access)
    return repacking(read, written, numerics)


def repacking(source: Operand, result: Operand, numerics: Numerics) -> BoundKernel:
    """The launch that packs `source` into `result`.

    Raises:
        NotStridedError: The elements of `source` are not in rows of tiles.
    """
    return _repacking(source, result, numerics, tile_loops_of(source.view, result.view))


def repacking_whole(source: Operand, result: Operand, numerics: Numerics) -> BoundKernel:
    """The launch that unpacks or copies all tiles, over rows of tiles, tiles, and rows and columns of a tile."""
    tiled = next(each.view.spec for each in (source, result) if each.view.spec.dtype.is_block_float)
    *batch, height, width = tiled.padded_shape
    rows, columns = math.prod(batch) * (height // TILE_HEIGHT), width // TILE_WIDTH
    if not rows * columns:
        return _repacking(source, result, numerics, NO_TILES)
    extents = (rows, columns, TILE_HEIGHT, TILE_WIDTH)
    dense = (TILE_HEIGHT * width, TILE_WIDTH, width, 1)
    packed = (columns * STRIDES_OF_A_TILE, STRIDES_OF_A_TILE, 0, 0)
    read, written = (packed if each.view.spec.dtype.is_block_float else dense for each in (source, result))
    nest = LaunchLoops(extents, (read, written), (0, 0), whole=_OWN_LOOPS)
    return _repacking(source, result, numerics, nest)


def _repacking(source: Operand, result: Operand, numerics: Numerics, loops: LaunchLoops) -> BoundKernel:
    streams = streams_of((source,), (result,), loops, walks_memory=True)
    packs, unpacks = (each.view.spec.dtype.is_block_float for each in (result, source))
    move = Repack.COPIED if packs and unpacks else Repack.PACKED if packs else Repack.UNPACKED
    return BoundKernel(Copy(streams, loops.rank, numerics, move), (source,), (result,), loops)


def packing_source(kernel: Copy) -> str:
    """A Python module with the function ``kernel(pointers, params)``; see launch.py for the params."""
    read, written = (stream.dtype for stream in kernel.streams)
    loops = kernel.rank + 1
    outer = range(kernel.rank, len(_OWN_LOOPS) - 1, -1)
    moves = [" + ".join(f"i{loop} * params[{loops * (k + 1) + loop}]" for loop in outer) for k in range(2)]
    addresses = [
        f"{dtype.name.lower()}_at(pointers[{k}] + {dtype.stride_bytes} * ({moves[k]}))"
        for k, dtype in enumerate((read, written))
    ]
    if kernel.repacks:
        above, inside = _converting(kernel, addresses)
    else:
        above = []
        inside = [f"source, target = {', '.join(addresses)}", f"for byte in range({read.itemsize}):"]
        inside.append(f"{INDENT}target[byte] = source[byte]")
    names = sorted({"called", *(f"{dtype.name.lower()}_at" for dtype in (read, written))})
    lines = [
        f"from ttnn_jit.kernels.numba.scalar_math import {', '.join(names)}",
        *above,
        "",
        "def kernel(pointers, params):",
        f"{INDENT}if params[0]:",
        *(f"{INDENT * (2 + depth)}for i{loop} in range(params[{loop}]):" for depth, loop in enumerate(outer)),
        *(INDENT * (2 + len(outer)) + line for line in inside),
        "",
    ]
    return "\n".join(lines)


def _converting(kernel: Copy, addresses: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines of a packing or unpacking kernel above its loops, and those inside."""
    packs = kernel.move is Repack.PACKED
    dense, tiles = (0, 1) if packs else (1, 0)
    elements, packed = kernel.streams[dense].dtype, kernel.streams[tiles].dtype
    convert = f"{'upper' if elements.is_upper_half else 'whole'}_{'bits' if packs else 'element'}"
    maker = "packer" if packs else "unpacker"
    replaces_nan = packs and kernel.numerics is Numerics.DEVICE
    above = [
        f"from ttnn_jit.kernels.block_floats.packed_tiles import {maker}, {convert}, without_nan",
        "",
        "@called",
        "def convert(word):",
        f"    return {f'without_nan({convert}(word))' if replaces_nan else f'{convert}(word)'}",
        "",
        f"repack = {maker}(convert)",
    ]
    down = f"params[{(kernel.rank + 1) * (dense + 1) + 1}]"
    bits = packed.traits.magnitude_bits
    return above, [f"repack({addresses[dense]}, {down}, {addresses[tiles]}, {bits}, params[0], params[1])"]
