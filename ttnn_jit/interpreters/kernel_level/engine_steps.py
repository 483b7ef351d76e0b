"""Steps of the matrix engine and of the unpackers: products, reductions, sums of tiles, transposes, rows to tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ttnn_jit.dialects.ttkernel.tile_functions import tile_functions_of_engine
from ttnn_jit.dialects.upstream.table_operations import named_operands
from ttnn_jit.interpreters.accumulator import Accumulator, Contracting, Reducing
from ttnn_jit.interpreters.kernel_level.circular_buffer import CircularBuffer
from ttnn_jit.interpreters.kernel_level.faults import fail
from ttnn_jit.interpreters.kernel_level.kernel_core import Thread, by_name
from ttnn_jit.interpreters.kernel_level.kernel_steps import Execute, Maker
from ttnn_jit.interpreters.kernel_level.tile_steps import keyword, required_preparation, tile_format, unpacked_tile
from ttnn_jit.ops import Elementwise, Reduction
from ttnn_jit.ops.declared import DECLARED
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

Array = np.ndarray[Any, Any]


def _matmul(op: Operation) -> Execute:
    named = named_operands(op)
    names = ("in0_cb_id", "in1_cb_id", "in0_tile_idx", "in1_tile_idx", "dst_tile_idx")
    left, right, row, column, slot = (by_name(op, named, each) for each in names)
    check = required_preparation(op)

    def execute(thread: Thread) -> None:
        values = thread.values
        check(thread)
        first, second = values[left], values[right]
        tiles = (_factor(thread, first, values[row], op), _factor(thread, second, values[column], op))
        dtypes = (tile_format(first, op, thread).dtype, tile_format(second, op, thread).dtype)
        kind = Contracting.of(thread.configuration.precision, *dtypes)
        _accumulate(thread, kind, 0.0, tiles, values[slot], op)

    return execute


def _factor(thread: Thread, buffer: CircularBuffer, index: int, op: Operation) -> Array:
    tile = tile_format(buffer, op, thread).decoded(buffer.read(index, op, thread), thread.configuration.math)
    if tile.dtype.kind in "iu":
        fail(op, thread, f"cb {buffer.port} holds integers")
    return tile


def _reduce(op: Operation) -> Execute:
    named = named_operands(op)
    names = ("in_cb", "scaling_cb", "in_tile_index", "scaling_tile_index", "dst_index")
    buffer, scaling, index, place, slot = (by_name(op, named, each) for each in names)
    operation = _REDUCTIONS.get(keyword(op.properties["reduce_type"]))
    axis = {"reduce_dim_row": 1, "reduce_dim_col": 0}.get(keyword(op.properties["reduce_dim"]))
    check = required_preparation(op)

    def execute(thread: Thread) -> None:
        values = thread.values
        check(thread)
        if operation is None or axis is None:
            fail(op, thread, "the interpreter reduces rows or columns, by sum or maximum")
        tile = _factor(thread, values[buffer], values[index], op)
        scale = _factor(thread, values[scaling], values[place], op)
        _accumulate(thread, Reducing(operation, axis), operation.identity, (tile, scale.flat[0]), values[slot], op)

    return execute


_REDUCTIONS = {each.kernel_name: each for each in DECLARED if isinstance(each, Reduction)}


def _accumulate(
    thread: Thread, kind: Reducing | Contracting, identity: float, terms: tuple[Any, ...], slot: int, op: Operation
) -> None:
    """Accumulates terms into a slot of DST, which begins with zeros if nothing was written to it."""
    dst = thread.core.dst
    before = dst.held(slot, op, thread)
    math_ = thread.configuration.math
    if isinstance(before, Accumulator) and before.kind == kind:
        dst.store(slot, before.with_terms(terms), op, thread)
        return
    made = Accumulator(kind, math_, None).with_terms(terms)
    if before is None or (not isinstance(before, Accumulator) and bool((before == np.float32(identity)).all())):
        dst.store(slot, made, op, thread)
        return
    tile = before.tile() if isinstance(before, Accumulator) else before
    combined = kind.operation.combine(math_, tile, made.tile()) if isinstance(kind, Reducing) else tile + made.tile()
    numerics = thread.configuration.numerics
    dst.store(slot, math_.round_to(combined, dst.dtype, numerics), op, thread)


# Tiles of circular buffers, element by element


def _of_two_buffers(operation: Elementwise) -> Maker:
    def make(op: Operation) -> Execute:
        first, second, row, column, slot = op.operands
        check = required_preparation(op)

        def execute(thread: Thread) -> None:
            values, dst = thread.values, thread.core.dst
            check(thread)
            dst.held(values[slot], op, thread)
            left = _factor(thread, values[first], values[row], op)
            right = _factor(thread, values[second], values[column], op)
            dst.store(values[slot], _elementwise(thread, operation, left, right), op, thread)

        return execute

    return make


def _dest_reuse(op: Operation) -> Execute:
    buffer, index, slot = op.operands
    operation = tile_functions_of_engine()[keyword(op.properties["eltwise_binary_type"])]
    is_first = keyword(op.properties["reuse_type"]) == "dest_to_srca"
    check = required_preparation(op)

    def execute(thread: Thread) -> None:
        values, dst = thread.values, thread.core.dst
        check(thread)
        held, tile = dst.slot(values[slot], op, thread), _factor(thread, values[buffer], values[index], op)
        left, right = (held, tile) if is_first else (tile, held)
        dst.store(values[slot], _elementwise(thread, operation, left, right), op, thread)

    return execute


def _elementwise(thread: Thread, operation: Elementwise, left: Array, right: Array) -> Array:
    configuration = thread.configuration
    exact = operation.emit(configuration.math, left, right)
    made: Array = configuration.math.round_to(exact, thread.core.dst.dtype, configuration.numerics)
    return made


def _transpose(op: Operation) -> Execute:
    buffer, index, slot = op.operands
    check = required_preparation(op)

    def execute(thread: Thread) -> None:
        values = thread.values
        check(thread)
        tile = unpacked_tile(thread, values[buffer], values[index], op)
        thread.core.dst.store(values[slot], np.ascontiguousarray(tile.T), op, thread)

    return execute


# Rows to tiles and back


def _extents(op: Operation) -> Callable[[Thread], tuple[int, int]]:
    """The rows and columns of tiles of a block."""
    named = named_operands(op)
    rows, columns = named.get("blockR", ()), named.get("blockC", named.get("numTiles", ()))

    def found(thread: Thread) -> tuple[int, int]:
        return (thread.values[rows[0]] if rows else 1), thread.values[columns[0]]

    return found


def _tilize(op: Operation) -> Execute:
    named = named_operands(op)
    source, target, extents = by_name(op, named, "cbIn"), by_name(op, named, "cbOut"), _extents(op)
    check = required_preparation(op)

    def execute(thread: Thread) -> None:
        check(thread)
        given, made = thread.values[source], thread.values[target]
        rows, columns = extents(thread)
        dtype = tile_format(made, op, thread).dtype
        elements = _rows(thread, given, rows * columns, dtype, op)
        tiles = elements.reshape(rows, TILE_HEIGHT, columns, TILE_WIDTH).swapaxes(1, 2)
        for number in range(rows * columns):
            tile = thread.configuration.math.loaded(tiles[divmod(number, columns)], dtype)
            encoded = tile_format(made, op, thread).encoded(tile, thread.configuration.math)
            made.written(number, op, thread)[...] = encoded

    return execute


def _untilize(op: Operation) -> Execute:
    named = named_operands(op)
    source, target, extents = by_name(op, named, "cbIn"), by_name(op, named, "cbOut"), _extents(op)
    check = required_preparation(op)

    def execute(thread: Thread) -> None:
        check(thread)
        given, made = thread.values[source], thread.values[target]
        rows, columns = extents(thread)
        format_, math_ = tile_format(given, op, thread), thread.configuration.math
        tiles = [format_.decoded(given.read(number, op, thread), math_) for number in range(rows * columns)]
        stored = math_.stored(np.stack(tiles), format_.dtype).reshape(rows, columns, TILE_HEIGHT, TILE_WIDTH)
        data = np.ascontiguousarray(stored.swapaxes(1, 2)).reshape(-1).view(np.uint8)
        for number, part in enumerate(data.reshape(-1, made.page_bytes)):
            made.written(number, op, thread)[...] = part

    return execute


def _rows(thread: Thread, buffer: CircularBuffer, tiles: int, dtype: DataType, op: Operation) -> Array:
    """The elements of so many tiles in rows, from the pages that were waited for."""
    size = dtype.nbytes(TILE_HEIGHT * TILE_WIDTH) * tiles
    pages = -(-size // buffer.page_bytes)
    data = np.concatenate([buffer.read(number, op, thread) for number in range(pages)])[:size]
    return data.view(dtype.traits.numpy)


STEPS: Mapping[str, Maker] = {
    "ttkernel.matmul_tiles": _matmul,
    "ttkernel.reduce_tile": _reduce,
    "ttkernel.transpose_wh_tile": _transpose,
    "ttkernel.binary_dest_reuse_tiles": _dest_reuse,
    "ttkernel.tilize_block": _tilize,
    "ttkernel.untilize_block": _untilize,
    "ttkernel.experimental.tilize_block": _tilize,
    "ttkernel.experimental.untilize_block": _untilize,
    "ttkernel.experimental::tilize_block": _tilize,
    "ttkernel.experimental::untilize_block": _untilize,
    **{f"ttkernel.{stem}_tiles": _of_two_buffers(each) for stem, each in tile_functions_of_engine().items()},
}
"""Name of an op -> what translates it."""
