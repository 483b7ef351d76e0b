"""Writes the tile ops of a section of DST: copies from circular buffers, tile functions, packs.

A load is no op of ttkernel: it names a tile, in a circular buffer or in DST. What is written happens at stores: a tile
of a circular buffer is copied, the value of a tile op is computed into the slot, a tile of DST is packed.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.affine import ForOp, YieldOp
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttnn_jit.dialects.affine import LoadOp, StoreOp
from ttnn_jit.dialects.d2m import (
    AccumulatingOp,
    AcquireDstOp,
    GenericOp,
    TileBcastOp,
    TileContractOp,
    TileFillOp,
    TileReduceOp,
    TileTypecastOp,
)
from ttnn_jit.dialects.declared_ops import ElementwiseOp
from ttnn_jit.dialects.layout import dtype_of
from ttnn_jit.dialects.region_loops import refusal
from ttnn_jit.dialects.ttkernel.tile_functions import REDUCE_TYPES, Form, TileFunction, preparing, tile_function
from ttnn_jit.dialects.upstream.rewriting.made_attributes import boolean, parsed
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.transforms.kernel_level.dst_section import Section
from ttnn_jit.transforms.kernel_level.kernel_writer import Index, KernelWriter
from ttnn_jit.transforms.kernel_level.tile_broadcasts import constant_index


@dataclass(frozen=True)
class InBuffer:
    """A tile in a circular buffer, and the element types to which it is cast when it is in DST."""

    buffer: SSAValue
    index: Index
    dtype: DataType
    casts: tuple[DataType, ...] = ()


@dataclass(frozen=True)
class InDst:
    """A tile in DST, and the element types to which it is cast."""

    slot: Index
    casts: tuple[DataType, ...] = ()


@dataclass(frozen=True)
class Computed:
    """The value of a tile op that no slot holds yet, and the element types to which it is cast."""

    op: Operation
    casts: tuple[DataType, ...] = ()


Tile = InBuffer | InDst | Computed


class TileProgram:
    """Writes the bodies of the loops over a block.

    Args:
        kernel: Writes the kernel.
        op: The kernel.
        output: The circular buffer of its output.
        capacity: The tiles of DST.

    Attributes:
        views: View of a block -> its circular buffer, and its extents.
        scaler: The circular buffer with the factor of reductions.
    """

    def __init__(self, kernel: KernelWriter, op: GenericOp, output: SSAValue, capacity: int) -> None:
        self._kernel = kernel
        self._op = op
        self._output = output
        self._capacity = capacity
        self.views: dict[SSAValue, tuple[SSAValue, tuple[int, ...]]] = {}
        self.scaler: SSAValue | None = None
        self._tiles: dict[SSAValue, Tile] = {}
        self._section: Section
        self._dst: DataType
        self._indices: Sequence[Index] = ()
        self._numbers = 0

    def compute(self, nest: ForOp, indices: Sequence[Index], section: Section) -> None:
        """Writes the body of loops over a block, at one place of it."""
        self._section, self._dst = section, dtype_of(section.op.result.type)
        self._indices = indices
        places, block = _places(nest, indices)
        self._tiles = {}
        for each in block.ops:
            with self._kernel.at(each.location):
                self._write(each, places)

    def casts_kind(self, nest: ForOp) -> bool:
        """Whether loops that store to the output cast tiles between integers and floats: a pack does not."""
        return any(isinstance(each, TileTypecastOp) and _changes_kind(each) for each in nest.walk())

    def cast_before_pack(self, nest: ForOp, indices: Sequence[Index], section: Section) -> None:
        """Casts tiles of DST between integers and floats, at one place of a block that the packs of a nest read."""
        self._section, self._dst = section, dtype_of(section.op.result.type)
        places, block = _places(nest, indices)
        for each in block.ops:
            if isinstance(each, TileTypecastOp) and _changes_kind(each):
                load = each.operand.owner
                if not isinstance(load, LoadOp):
                    raise refusal(each, "it is the second of two casts before a pack")
                slot = section.slot(self._kernel, self._place(load.indices, places))
                with self._kernel.at(each.location):
                    self._casts(dtype_of(each.operand.type), (dtype_of(each.result.type),), slot)

    def is_empty(self, nest: ForOp, section: Section) -> bool:
        """Whether nothing is written for loops over a block."""
        stores = [each for each in nest.walk() if isinstance(each, StoreOp)]
        return all(each in section.broadcasts.unread for each in stores)

    def section(self, op: AcquireDstOp) -> Section:
        """The section of DST that an op acquires.

        Raises:
            CompileError: ttkernel has no op for a tile op in it, or DST has no room for a number.
        """
        scope = op.parent_block()
        assert scope is not None
        tile_ops = [inner for each in _after(op, scope) for inner in each.walk() if isinstance(inner, ElementwiseOp)]
        numbers: dict[Operation, int] = {each: _filled(each, _function_of(each)) for each in tile_ops}
        return Section(op, numbers, self._capacity)

    def commit(self) -> None:
        """Hands DST to the packer."""
        self._kernel.op("tile_regs_commit")
        self._kernel.op("tile_regs_wait")

    def pack(self, slot: Index, buffer: SSAValue, index: Index) -> None:
        """Packs a tile of DST to a circular buffer."""
        given = {"dst_index": self._kernel.value(slot), "out_cb": buffer, "out_index": self._kernel.value(index)}
        self._kernel.op("pack_tile", given, {"out_of_order": boolean(True)})

    # Ops of the region

    def _write(self, op: Operation, places: dict[SSAValue, Index]) -> None:
        match op:
            case LoadOp():
                self._tiles[op.result] = self._loaded(op, self._place(op.indices, places))
            case StoreOp():
                self._store(op, self._place(op.indices, places))
            case TileTypecastOp():
                self._tiles[op.result] = self._cast(op)
            case ElementwiseOp() | AccumulatingOp() | TileFillOp() | TileBcastOp():
                self._tiles[op.results[0]] = Computed(op)
            case YieldOp():
                return
            case _:
                raise refusal(op, "no kernel of a core has it")

    def _place(self, indices: Sequence[SSAValue | int], places: dict[SSAValue, Index]) -> list[Index]:
        return [
            places[each] if isinstance(each, SSAValue) and each in places else constant_index(each) for each in indices
        ]

    def _loaded(self, op: LoadOp, indices: Sequence[Index]) -> Tile:
        if op.memref not in self.views:
            return InDst(self._section.slot(self._kernel, indices))
        buffer, extents = self.views[op.memref]
        return InBuffer(buffer, self._kernel.linear(indices, extents), dtype_of(op.memref.type))

    def _cast(self, op: TileTypecastOp) -> Tile:
        tile, dtype = self._tiles[op.operand], dtype_of(op.result.type)
        match tile:
            case InBuffer():
                return InBuffer(tile.buffer, tile.index, tile.dtype, (*tile.casts, dtype))
            case InDst():
                return InDst(tile.slot, (*tile.casts, dtype))
            case _:
                return Computed(tile.op, (*tile.casts, dtype))

    def _store(self, op: StoreOp, indices: Sequence[Index]) -> None:
        tile = self._tiles[op.value]
        if op.memref in self.views:
            buffer, extents = self.views[op.memref]
            if not isinstance(tile, InDst) or len(tile.casts) > 1:
                raise refusal(op, "it packs a tile that is not in DST as it is")
            self.pack(tile.slot, buffer, self._kernel.linear(indices, extents))
            return
        slot = self._section.slot(self._kernel, indices)
        match tile:
            case InBuffer() if op in self._section.broadcasts.unread:
                return  # `unary_bcast` reads the circular buffer
            case InBuffer():
                self._copy(tile, slot)
            case InDst():
                self._move(tile.slot, slot)
                self._casts(self._dst, tile.casts, slot)
            case Computed():
                dtype = self._compute(tile.op, slot)
                self._casts(dtype, tile.casts, slot)

    def _copy(self, tile: InBuffer, slot: Index) -> None:
        self._kernel.op("copy_tile_init", {"cb0": tile.buffer})
        given = {"cb0": tile.buffer, "tile_index_cb": tile.index, "tile_index_dst": slot}
        self._kernel.op("copy_tile", given)
        unpacked = tile.dtype if tile.dtype.is_integer else self._dst
        self._casts(unpacked, tile.casts, slot)

    def _move(self, source: Index, slot: Index) -> None:
        if source is slot or source == slot:
            return
        self._kernel.op("copy_dest_values_init")
        format_ = parsed(f"#ttcore.supportedDataTypes<{_data_type(self._dst)}>")
        self._kernel.op("copy_dest_values", {"idst_in": source, "idst_out": slot}, {"data_format": format_})

    def _casts(self, held: DataType, casts: Sequence[DataType], slot: Index) -> None:
        """Casts a tile of DST in place; a cast to more bits of the same kind is none, for DST has them already."""
        for dtype in casts:
            if dtype is not held and not _holds(held, dtype):
                types = {
                    name: parsed(f"#ttcore.supportedDataTypes<{_data_type(each)}>")
                    for name, each in (("in_dtype", held), ("out_dtype", dtype))
                }
                self._kernel.op("typecast_tile_init", {}, types)
                self._kernel.op("typecast_tile", {"dst0_index": slot}, types)
            held = dtype

    def _compute(self, op: Operation, slot: Index) -> DataType:
        """Computes a tile op into a slot; the element type to which its value is rounded."""
        dtype = dtype_of(op.results[0].type)
        match op:
            case TileFillOp():
                self._fill(op.value, slot)
            case TileBcastOp():
                self._broadcast(op, slot)
            case TileContractOp():
                self._contract(op, slot)
            case TileReduceOp():
                self._reduce(op, slot)
            case ElementwiseOp():
                self._elementwise(op, slot)
        if not dtype.is_integer and not self._dst.is_integer and dtype is not self._dst:
            self._casts(self._dst, (dtype,), slot)
        return dtype

    # Tile functions

    def _elementwise(self, op: ElementwiseOp, slot: Index) -> None:
        function = _function_of(op)
        name = function.name.partition(".")[2]
        self._numbers = 0
        own = {"dtype": parsed(f"#ttcore.supportedDataTypes<{_data_type(_dtype(op))}>")} if function.has_dtype else {}
        if function.form is not Form.TILES or op.operation.arity == 1:
            self._move(self._slot_of(op.operands[0], op), slot)
            numbers = [_bits(_constant_attribute(op.operands[1]))] if function.form is Form.NUMBER else []
            if function.form is Form.ATTRIBUTES:
                numbers = [_bits(float(each)) for each in op.statics]
            self._apply(name, [slot], [self._kernel.i32(each) for each in numbers], own)
            return
        slots = [self._slot_of(value, op) for value in op.operands]
        self._apply(name, [*slots, slot], [], own)

    def _apply(
        self, name: str, slots: Sequence[Index], numbers: Sequence[SSAValue], own: Mapping[str, Attribute]
    ) -> None:
        self._prepare(name, own)
        made = [*map(self._kernel.value, slots), *numbers]
        names = [each.name for each in self._kernel.row(name).operands]
        self._kernel.op(name, dict(zip(names, made, strict=True)), own)

    def _prepare(self, name: str, own: Mapping[str, Attribute] = {}) -> None:
        init = preparing(f"ttkernel.{name}")
        if init is not None:
            self._kernel.op(init.partition(".")[2], {}, own)

    def _slot_of(self, value: SSAValue, op: Operation) -> Index:
        """The slot of an operand; a number is filled into one of its own."""
        if value not in self._tiles:
            slot = self._section.room(self._kernel, op, self._numbers, self._indices)
            self._numbers += 1
            self._fill(value, slot)
            return slot
        tile = self._tiles[value]
        if not isinstance(tile, InDst) or tile.casts:
            raise refusal(op, "its operand is in no slot of DST")
        return tile.slot

    def _fill(self, value: SSAValue, slot: Index) -> None:
        number = _constant_attribute(value)
        self._kernel.op("fill_tile_init")
        if isinstance(number, int):
            self._kernel.op("fill_tile_int", {"dst_index": self._kernel.value(slot), "value": self._kernel.i32(number)})
        else:
            self._kernel.op("fill_tile", {"dst_index": self._kernel.value(slot), "value": self._kernel.f32(number)})

    def _broadcast(self, op: TileBcastOp, slot: Index) -> None:
        store = self._section.broadcasts.sources.get(op)
        if store is None:
            raise refusal(op, "ttkernel broadcasts tiles of circular buffers only, and this one is computed")
        tile = self._source(store)
        if any(not _holds(tile.dtype, each) for each in tile.casts) or tile.dtype.is_integer:
            raise refusal(op, "its operand is cast before")
        kind = {"bcast_type": parsed(f"#ttkernel.bcast_type<{op.bcast_type.data}>")}
        self._kernel.op("unary_bcast_init", {"in_cb": tile.buffer, "out_cb": self._output}, kind)
        given = {"in_cb": tile.buffer, "in_tile_index": tile.index, "dst_tile_index": slot}
        self._kernel.op("unary_bcast", given, kind)

    def _source(self, store: StoreOp) -> InBuffer:
        """The tile that a store copied, at the current place of the block."""
        nest = _outermost(store)
        places, _ = _places(nest, self._indices)
        value, casts = store.value, list[DataType]()
        while isinstance(value.owner, TileTypecastOp):
            casts.insert(0, dtype_of(value.type))
            value = value.owner.operand
        load = value.owner
        assert isinstance(load, LoadOp), "it is copied"
        tile = self._loaded(load, self._place(load.indices, places))
        assert isinstance(tile, InBuffer)
        return InBuffer(tile.buffer, tile.index, tile.dtype, tuple(casts))

    def _contract(self, op: TileContractOp, slot: Index) -> None:
        left, right = (self._tiles[value] for value in op.operands[:2])
        if not isinstance(left, InBuffer) or not isinstance(right, InBuffer) or left.casts or right.casts:
            raise refusal(op, "its operands are not tiles of circular buffers as they are")
        buffers = {"in0_cb": left.buffer, "in1_cb": right.buffer, "transpose": self._kernel.i32(0)}
        self._kernel.op("mm_init", {**buffers, "out_cb": self._output})
        given = {"in0_cb_id": left.buffer, "in1_cb_id": right.buffer, "in0_tile_idx": left.index}
        self._kernel.op("matmul_tiles", {**given, "in1_tile_idx": right.index, "dst_tile_idx": slot})

    def _reduce(self, op: TileReduceOp, slot: Index) -> None:
        tile = self._tiles[op.operands[0]]
        assert self.scaler is not None, "the kernel made it"
        kind = op.operation.kernel_name
        if kind not in REDUCE_TYPES or op.reduce_dim is None:
            raise refusal(op, f"ttkernel reduces no tiles by {op.operation.name}")
        if not isinstance(tile, InBuffer) or any(each.is_integer for each in (tile.dtype, *tile.casts)):
            raise refusal(op, "its operand is no tile of floats in a circular buffer")
        along = {"R": "reduce_dim_row", "C": "reduce_dim_col"}[op.reduce_dim]
        types = {"reduce_type": parsed(f"#ttkernel.reduce_type<{kind}>")}
        types["reduce_dim"] = parsed(f"#ttkernel.reduce_dim<{along}>")
        buffers = {"in_cb": tile.buffer, "scaling_cb": self.scaler}
        self._kernel.op("reduce_init", {**buffers, "out_cb": self._output}, types)
        given = {**buffers, "in_tile_index": tile.index, "scaling_tile_index": 0, "dst_index": slot}
        self._kernel.op("reduce_tile", given, types)
        self._kernel.op("reduce_uninit")


def scaler_of(op: TileReduceOp) -> float:
    """The factor of a reduction."""
    number = _constant_attribute(op.operands[1])
    assert isinstance(number, float)
    return number


def _function_of(op: ElementwiseOp) -> TileFunction:
    """The op of ttkernel for a tile op.

    Raises:
        CompileError: It has none.
    """
    dtype = _dtype(op)
    forms = [Form.ATTRIBUTES] if op.operation.attributes else [Form.TILES]
    if op.operation.arity == 2 and _is_number(op.operands[1]):
        forms = [Form.NUMBER, *forms]
    for form in forms:
        function = tile_function(op.operation, dtype, form)
        if function is not None:
            return function
    raise refusal(op, f"ttkernel has no op for `{op.operation.name}` of {dtype.mlir}")


def _filled(op: ElementwiseOp, function: TileFunction) -> int:
    """The numbers that an op needs in slots."""
    return 0 if function.form is not Form.TILES else sum(map(_is_number, op.operands))


def _dtype(op: ElementwiseOp) -> DataType:
    """The element type of the tiles of an op."""
    return next(dtype_of(value.type) for value in op.operands if not _is_number(value))


def _is_number(value: SSAValue) -> bool:
    return isinstance(value.owner, arith.ConstantOp)


def _constant_attribute(value: SSAValue) -> float | int:
    owner = value.owner
    assert isinstance(owner, arith.ConstantOp), "numbers of tile ops are constants"
    assert isinstance(owner.value, FloatAttr | IntegerAttr)
    return owner.value.value.data


def _bits(number: float | int) -> int:
    """A number as the 32 bits of a parameter."""
    if isinstance(number, int):
        return number
    bits: int = struct.unpack("<i", struct.pack("<f", number))[0]
    return bits


def _data_type(dtype: DataType) -> str:
    return dtype.mlir


def _changes_kind(op: TileTypecastOp) -> bool:
    return dtype_of(op.operand.type).is_integer != dtype_of(op.result.type).is_integer


def _holds(held: DataType, wanted: DataType) -> bool:
    """Whether a tile of one element type is one of another as it is: a float with more bits."""
    return not held.is_integer and not wanted.is_integer and wanted.is_wide


def _after(op: Operation, block: Block) -> list[Operation]:
    """The ops after another in its block."""
    ops = [*block.ops]
    return ops[ops.index(op) + 1 :]


def _outermost(op: Operation) -> ForOp:
    """The outermost of the loops over a block around an op."""
    found, around = None, op.parent_op()
    while isinstance(around, ForOp):
        found, around = around, around.parent_op()
    assert found is not None, "tile ops stand in loops over a block"
    return found


def _places(nest: ForOp, indices: Sequence[Index]) -> tuple[dict[SSAValue, Index], Block]:
    """The indices of perfectly nested loops, and the body of the innermost."""
    places: dict[SSAValue, Index] = {}
    block, loop = nest.body.block, nest
    for number, index in enumerate(indices):
        block = loop.body.block
        places[block.args[0]] = index
        if number + 1 < len(indices):
            first = block.first_op
            assert isinstance(first, ForOp), "loops over a block are nested perfectly"
            loop = first
    return places, block
