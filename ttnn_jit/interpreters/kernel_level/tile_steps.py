"""Steps of the compute kernel: DST, copies and packs of tiles, and tile functions."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.dialects.ttkernel.tile_functions import Form, TileFunction, functions_by_name, preparing
from ttnn_jit.dialects.upstream.table_operations import named_operands
from ttnn_jit.interpreters.kernel_level.circular_buffer import CircularBuffer
from ttnn_jit.interpreters.kernel_level.dst_registers import DstRegisters
from ttnn_jit.interpreters.kernel_level.faults import Wait, fail
from ttnn_jit.interpreters.kernel_level.kernel_core import Thread, by_name
from ttnn_jit.interpreters.kernel_level.kernel_steps import Execute, Maker
from ttnn_jit.interpreters.kernel_level.memory import TileFormat
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, DataType
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

Array = np.ndarray[Any, Any]

_FPU, _SFPU, _PACKER = "the matrix engine and the unpackers", "the vector engine", "the packer"


# DST


def _dst(action: Callable[[DstRegisters, Operation, Thread], Wait | None]) -> Maker:
    def make(op: Operation) -> Execute:
        def execute(thread: Thread) -> Wait | None:
            return action(thread.core.dst, op, thread)

        return execute

    return make


# What precedes


def _prepare(op: Operation) -> Execute:
    name = op.name
    units = [_unit(name)] if name != _STARTUP else []
    units += [_PACKER] if any(each in named_operands(op) for each in ("ocb", "out_cb", "cbOut")) else []

    def execute(thread: Thread) -> None:
        thread.prepared.update(dict.fromkeys(units, name))

    return execute


@cache
def _unit(init: str) -> str:
    """The engine that an op sets up: what takes a circular buffer sets up the unpackers."""
    stems = ("copy_tile", "unary_bcast", "mm_", "reduce", "tilize", "untilize", "transpose", "_tiles", "pack_untilize")
    return _FPU if any(stem in init for stem in stems) else _SFPU


def required_preparation(op: Operation) -> Callable[[Thread], None]:
    """What checks that the engine was set up for an op."""
    init = preparing(op.name)
    allowed = {init, *_ALSO.get(op.name, ())}
    unit = None if init is None else _unit(init)

    def check(thread: Thread) -> None:
        if unit is None:
            return
        found = thread.prepared.get(unit)
        if found not in allowed:
            state = f"`{found}` set it up" if found else "nothing set it up"
            fail(op, thread, f"{unit}: {state}", f"`{init}` precedes it")

    return check


_ALSO = {
    "ttkernel.matmul_tiles": ("ttkernel.mm_init_short",),
    "ttkernel.copy_tile": ("ttkernel.unary_op_init_common", "ttkernel.init_sfpu"),
}
"""Name of an op -> other ops that prepare it."""


# Tiles of circular buffers


def unpacked_tile(thread: Thread, buffer: CircularBuffer, index: int, op: Operation) -> Array:
    """A tile of a circular buffer, as it is in DST."""
    data, format_ = buffer.read(index, op, thread), tile_format(buffer, op, thread)
    tile = format_.decoded(data, thread.configuration.math)
    held = thread.core.dst.dtype
    if format_.dtype.is_integer or held.is_wide or format_.dtype is held:
        return tile
    return cast_tile(thread, tile, format_.dtype.unpacked, held)


def tile_format(buffer: CircularBuffer, op: Operation, thread: Thread) -> TileFormat:
    """The format of the tiles of a circular buffer."""
    if buffer.tile is None:
        fail(op, thread, f"the pages of cb {buffer.port} are no tiles")
    return buffer.tile


def cast_tile(thread: Thread, tile: Array, source: DataType, target: DataType) -> Array:
    """A tile in another element type."""
    configuration = thread.configuration
    if source is target:
        return tile
    made: Array = configuration.math.typecast(tile, source, target, configuration.numerics)
    return made


def _copy_tile(op: Operation) -> Execute:
    buffer, index, slot = op.operands
    check = required_preparation(op)

    def execute(thread: Thread) -> None:
        values = thread.values
        check(thread)
        thread.core.dst.held(values[slot], op, thread)
        tile = unpacked_tile(thread, values[buffer], values[index], op)
        thread.core.dst.store(values[slot], tile, op, thread)

    return execute


def _broadcast(op: Operation) -> Execute:
    named = named_operands(op)
    buffer, index, slot = (by_name(op, named, each) for each in ("in_cb", "in_tile_index", "dst_tile_index"))
    kind = keyword(op.properties["bcast_type"])
    rows, columns = {"none": (None, None), "row": (1, None), "col": (None, 1), "scalar": (1, 1)}[kind]
    check = required_preparation(op)

    def execute(thread: Thread) -> None:
        values = thread.values
        check(thread)
        part = unpacked_tile(thread, values[buffer], values[index], op)[:rows, :columns]
        whole = np.broadcast_to(part, (TILE_HEIGHT, TILE_WIDTH)).copy()
        thread.core.dst.store(values[slot], whole, op, thread)

    return execute


def _pack_tile(op: Operation) -> Execute:
    named = named_operands(op)
    slot, buffer, index = (by_name(op, named, each) for each in ("dst_index", "out_cb", "out_index"))
    out_of_order = op.properties.get("out_of_order")
    is_indexed = out_of_order is not None and "true" in str(out_of_order)

    def execute(thread: Thread) -> None:
        values = thread.values
        target: CircularBuffer = values[buffer]
        place = values[index] if is_indexed else target.packed
        target.packed += 1
        _pack(thread, values[slot], target, place, op)

    return execute


def _pack_block(op: Operation) -> Execute:
    slot, buffer, count = op.operands

    def execute(thread: Thread) -> None:
        values = thread.values
        target: CircularBuffer = values[buffer]
        for offset in range(values[count]):
            _pack(thread, values[slot] + offset, target, target.packed, op)
            target.packed += 1

    return execute


def _pack(thread: Thread, slot: int, buffer: CircularBuffer, place: int, op: Operation) -> None:
    if _PACKER not in thread.prepared:
        fail(op, thread, f"{_PACKER}: nothing set it up", f"`{_STARTUP}` precedes it")
    tile = thread.core.dst.packed(slot, op, thread)
    format_ = tile_format(buffer, op, thread)
    if format_.dtype.is_integer != (tile.dtype.kind in "iu"):
        fail(op, thread, f"it packs a tile of {tile.dtype} to cb {buffer.port} of {format_.dtype.mlir}")
    if not format_.dtype.is_integer:
        tile = cast_tile(thread, tile, COMPUTE_TYPE, format_.dtype) if format_.dtype is not COMPUTE_TYPE else tile
    buffer.written(place, op, thread)[...] = format_.encoded(tile, thread.configuration.math)


# Tile functions


def tile_function_step(op: Operation) -> Execute:
    """The step of an op that computes an operation on tiles of DST."""
    functions = functions_by_name()[op.name]
    slots, numbers = _slots_and_numbers(op)
    dtype = _dtype_of(op.properties.get("dtype"))
    check = required_preparation(op)
    result = slots[-1]
    read = slots[:-1] if len(slots) > 1 else slots

    def execute(thread: Thread) -> None:
        values, dst = thread.values, thread.core.dst
        check(thread)
        dst.held(values[result], op, thread)
        tiles = [dst.slot(values[slot], op, thread) for slot in read]
        function = _function(functions, tiles, op, thread)
        bits = [values[number] for number in numbers]
        value = _computed(
            thread, function, tiles, bits, dtype or (DataType.INT32 if function.is_integer else dst.dtype)
        )
        dst.store(values[result], value, op, thread)

    return execute


def _function(functions: Sequence[TileFunction], tiles: Sequence[Array], op: Operation, thread: Thread) -> TileFunction:
    are_integers = tiles[-1].dtype.kind in "iu"
    found = next((each for each in functions if each.is_integer == are_integers), None)
    if found is None:
        kind = "integers" if are_integers else "floats"
        fail(op, thread, f"it does not compute on {kind}, which its tiles of DST hold")
    return found


def _computed(
    thread: Thread, function: TileFunction, tiles: Sequence[Array], bits: Sequence[int], dtype: DataType
) -> Array:
    configuration = thread.configuration
    if not function.is_integer and dtype.is_integer:
        dtype = thread.core.dst.dtype
    arithmetic = configuration.math.arithmetic(dtype.compute)
    numbers = [np.int32(each) if function.is_integer else _number(each) for each in bits]
    if function.form is Form.ATTRIBUTES:
        numbers = [each.item() for each in numbers]
    exact = function.operation.emit(arithmetic, *tiles, *numbers)
    made: Array = configuration.math.round_to(exact, dtype, configuration.numerics)
    return np.broadcast_to(made, (TILE_HEIGHT, TILE_WIDTH))


def _number(bits: int) -> Any:
    return np.float32(struct.unpack("<f", struct.pack("<I", bits & 0xFFFF_FFFF))[0])


def _slots_and_numbers(op: Operation) -> tuple[list[SSAValue], list[SSAValue]]:
    row = op.rows[0]  # type: ignore[attr-defined]  # it is an op of the tables
    pairs = zip(row.operands, op.operands, strict=True)
    slots = [value for each, value in pairs if each.constraint == "IndexLike"]
    return slots, [value for value in op.operands if value not in slots]


def _fill(op: Operation) -> Execute:
    slot, value = op.operands
    is_integer = op.name.endswith("_int")
    check = required_preparation(op)

    def execute(thread: Thread) -> None:
        check(thread)
        number = thread.values[value]
        filled = np.full((TILE_HEIGHT, TILE_WIDTH), number, np.int32 if is_integer else np.float32)
        thread.core.dst.store(thread.values[slot], filled, op, thread)

    return execute


def _move(op: Operation) -> Execute:
    source, target = op.operands
    check = required_preparation(op)

    def execute(thread: Thread) -> None:
        check(thread)
        dst = thread.core.dst
        dst.store(thread.values[target], dst.slot(thread.values[source], op, thread), op, thread)

    return execute


def _typecast(op: Operation) -> Execute:
    (slot,) = op.operands
    source, target = (_dtype_of(op.properties[name]) for name in ("in_dtype", "out_dtype"))
    assert source is not None
    assert target is not None
    check = required_preparation(op)

    def execute(thread: Thread) -> None:
        check(thread)
        dst = thread.core.dst
        tile = dst.slot(thread.values[slot], op, thread)
        if source.is_integer != (tile.dtype.kind in "iu"):
            fail(op, thread, f"its tile holds {tile.dtype}, and it casts from {source.mlir}")
        held = source if source.is_integer else COMPUTE_TYPE
        made = cast_tile(thread, tile, held, target)
        if not target.is_integer and not dst.dtype.is_wide and target is not dst.dtype:
            made = cast_tile(thread, made, target, dst.dtype)
        dst.store(thread.values[slot], made, op, thread)

    return execute


def keyword(attribute: Attribute) -> str:
    """The keyword of an attribute of an enum."""
    text = str(attribute)
    return text[text.rindex("<") + 1 : text.rindex(">")].strip() if "<" in text else text


def _dtype_of(attribute: Attribute | None) -> DataType | None:
    """The element type that an attribute names."""
    if attribute is None:
        return None
    name = keyword(attribute)
    return next((dtype for dtype in DataType if name in {dtype.mlir, dtype.name.lower()}), None)


_DST_ACTIONS: Mapping[str, Maker] = {
    "ttkernel.tile_regs_acquire": _dst(DstRegisters.acquire),
    "ttkernel.tile_regs_commit": _dst(DstRegisters.commit),
    "ttkernel.tile_regs_wait": _dst(DstRegisters.wait),
    "ttkernel.tile_regs_release": _dst(DstRegisters.release),
}


def _nothing(op: Operation) -> Execute:
    def execute(thread: Thread) -> None:
        """It sets up what is observed in no value."""

    assert not op.results, "an op without effect has no results"
    return execute


_STARTUP = "ttkernel.compute_kernel_hw_startup"
_WITHOUT_EFFECT = (
    "reduce_uninit",
    "tilize_uninit",
    "untilize_uninit",
    "pack_untilize_uninit",
    "transpose_wh_uninit",
    "pack_reconfig_data_format",
    "reconfig_data_format_srca",
    "experimental.unpack_stall_on_pack",
)
_COMMON = ("init_sfpu", "unary_op_init_common", "binary_op_init_common", "mm_init_short", "mm_init")

STEPS: Mapping[str, Maker] = {
    **_DST_ACTIONS,
    "ttkernel.copy_tile": _copy_tile,
    "ttkernel.unary_bcast": _broadcast,
    "ttkernel.pack_tile": _pack_tile,
    "ttkernel.pack_tile_block": _pack_block,
    "ttkernel.fill_tile": _fill,
    "ttkernel.fill_tile_int": _fill,
    "ttkernel.copy_dest_values": _move,
    "ttkernel.typecast_tile": _typecast,
    **{f"ttkernel.{name}": _nothing for name in _WITHOUT_EFFECT},
    **{f"ttkernel.{name}": _prepare for name in _COMMON},
    _STARTUP: _prepare,
}
"""Name of an op -> what translates it, beside tile functions and the ops that prepare them."""


def steps_of_tiles(others: Iterable[str]) -> dict[str, Maker]:
    """Name of an op -> what translates it.

    Args:
        others: Names of ops whose preparing ops are translated too.
    """
    functions = dict.fromkeys(functions_by_name(), tile_function_step)
    prepared = {init for name in (*functions, *STEPS, *others) if (init := preparing(name)) is not None}
    return {**functions, **dict.fromkeys(prepared, _prepare), **STEPS}
