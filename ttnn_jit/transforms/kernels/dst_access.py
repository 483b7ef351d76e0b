"""Builds the affine loops of one kernel: loads from circular buffers, tile ops on DST slots, stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import LocationAttr, MemRefType
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.affine import Index, LoadOp, StoreOp
from ttnn_jit.dialects.builders import affine_loop, constant_number, end_affine_loop, f32_attr, tile_memref
from ttnn_jit.dialects.ttcore import TileType, tile_type
from ttnn_jit.dialects.writing.creation import clone_with
from ttnn_jit.dialects.writing.editing import append, erase, insert_before
from ttnn_jit.specs.tensor_spec import DataType
from ttnn_jit.transforms.kernels.index_constants import IndexConstants
from ttnn_jit.transforms.kernels.kernel_body import TileBody
from ttnn_jit.transforms.kernels.slots import Step, assign_slots

Tiles = dict[int, SSAValue]
"""Number of a value in the kernel's graph -> its tile."""


class DstAccess:
    """Lowers one `linalg.generic` over a block to loops: `acquire`, a compute method, `store_result`, `replace`.

    Args:
        compute: The op over one block; its operands are views of circular buffers.
        dtype: Element type of the tiles in DST.
        constants: Index constants of the kernel.
    """

    def __init__(self, compute: LinalgGenericOp, dtype: DataType, constants: IndexConstants) -> None:
        self._compute = compute
        self._dtype = dtype
        self._constants = constants
        self._new_ops: list[Operation] = []
        self._insertion_point: Operation = compute
        self._body = TileBody.of(compute.body.block, tile_type(dtype))
        self._slots = assign_slots(self._body.graph, self._body.graph.source_order)
        self._dst: SSAValue = compute.operands[-1]

    @property
    def block_tiles(self) -> tuple[int, ...]:
        """Extents of the block in tiles."""
        output = self._compute.operands[-1].type
        assert isinstance(output, MemRefType)
        return tuple(output.get_shape())

    @property
    def peak(self) -> int:
        """The most DST tiles that are live at once, per tile of the block."""
        return self._slots.peak

    def acquire(self, extents: tuple[int, ...]) -> None:
        """Acquires DST as a memref of these extents, slots first."""
        acquire = d2m.AcquireDstOp.make(tile_memref(extents, self._dtype, "dst"), self._compute.location)
        self._new_ops.append(acquire)
        self._dst = acquire.result

    def compute_in_nests(self) -> None:
        """Builds a unary chain: a nest that loads the block, then one nest per op."""
        for step in self._slots.steps:
            for number, slot in step.loads:
                self._load_block(number, slot)
            nest = self._nest(self._body.ops[step.op].location)
            (operand,) = self._body.graph.operands[step.op]
            tiles = {operand: nest.load(self._slot(operand, step.operand_slots[0]))}
            self._compute_and_store(step, nest, tiles)
            self._end(nest)
        self._load_copied_input()

    def compute_in_one_nest(self) -> None:
        """Builds one nest with all ops; each input is loaded right before the op that reads it."""
        nest = self._nest(self._compute.location)
        tiles: Tiles = {}
        for step in self._slots.steps:
            for number, slot in step.loads:
                nest.store(nest.load_input(number), slot)
                tiles[number] = nest.load(slot)
            self._compute_and_store(step, nest, tiles)
            result = self._body.graph.inputs + step.op
            if result != self._body.graph.result:
                tiles[result] = nest.load(self._slot(result, step.result_slot))
        self._end(nest)
        self._load_copied_input()

    def accumulate(self, loops: Sequence[scf.ForOp]) -> None:
        """Builds an accumulating op: its slot is filled before the reduction `loops`, loaded and stored inside them.

        Its operands are read directly from their buffers. Later ops are inserted after the loops.
        """
        (op,) = (op for op in self._body.ops if isinstance(op, d2m.AccumulatingOp))
        slot = self._slots.result_slot
        identity = constant_number(f32_attr(op.identity), op.location)
        self._constants.append(identity)
        nest = self._nest(op.location)
        nest.store(nest.fill(identity.result), slot)
        self._end(nest)
        self._put_before(loops[0])
        nest = self._nest(op.location)
        nest.store(nest.accumulated(op, self._body.numbers, slot), slot)
        self._end(nest)
        self._put_before(self._compute)
        self._insertion_point = loops[0]

    def store_result(self) -> None:
        """Builds the nest that stores the result to the output's buffer."""
        nest = self._nest(self._compute.location)
        nest.store_output(nest.load(self._slots.result_slot))
        self._end(nest)

    def replace(self) -> None:
        """Replaces the `linalg.generic` by the loops."""
        if self._insertion_point is self._compute:
            self._put_before(self._compute)
        else:
            block = self._insertion_point.parent_block()
            assert block is not None, "a linalg.generic has a block"
            block.insert_ops_after(self._new_ops, self._insertion_point)
        erase(self._compute)

    def _put_before(self, anchor: Operation) -> None:
        for op in self._new_ops:
            insert_before(op, anchor)
        self._new_ops = []

    def _compute_and_store(self, step: Step, nest: _Nest, tiles: Tiles) -> None:
        result = nest.apply(self._body.ops[step.op], self._body.numbers, tiles)
        nest.store(result, self._slot(self._body.graph.inputs + step.op, step.result_slot))

    def _slot(self, number: int, slot: int) -> Index:
        """The slot as an index: a constant of the region for intermediate results, else a literal."""
        graph = self._body.graph
        intermediate = number >= graph.inputs and number != graph.result
        return self._constants.value(slot) if intermediate else slot

    def _load_block(self, number: int, slot: int) -> None:
        nest = self._nest(self._compute.location)
        nest.store(nest.load_input(number), slot)
        self._end(nest)

    def _load_copied_input(self) -> None:
        if self._body.graph.result < self._body.graph.inputs:
            self._load_block(self._body.graph.result, self._slots.result_slot)

    def _nest(self, location: LocationAttr) -> _Nest:
        return _Nest(self._compute, self._dst, self.block_tiles, location)

    def _end(self, nest: _Nest) -> None:
        self._new_ops.append(nest.end())


class _Nest:
    """One nest of affine loops over a block, and the ops in it."""

    def __init__(
        self, compute: LinalgGenericOp, dst: SSAValue, extents: tuple[int, ...], location: LocationAttr
    ) -> None:
        self._compute = compute
        self._dst = dst
        self._location = location
        assert isinstance(dst.type, MemRefType)
        self._dst_tile: Attribute = dst.type.element_type
        self._loops = [affine_loop(extent, location) for extent in extents]
        self._blocks = [loop.body.block for loop in self._loops]
        self._indices = [block.args[0] for block in self._blocks]
        written = compute.indexing_maps.data[-1].data.results
        self._index_of = {
            result.position: index
            for result, index in zip(written, self._indices, strict=True)
            if isinstance(result, AffineDimExpr)
        }
        self._ops: list[Operation] = []

    def load(self, slot: Index) -> SSAValue:
        """The tile in a slot."""
        return self._add(LoadOp.make(self._dst, (slot, *self._indices), self._location)).results[0]

    def store(self, tile: SSAValue, slot: Index) -> None:
        """Stores a tile to a slot, widened to DST's element type."""
        tile = self._converted(tile, self._dst_tile)
        self._add(StoreOp.make(tile, self._dst, (slot, *self._indices), self._location))

    def load_input(self, number: int) -> SSAValue:
        """The tile of an input's buffer."""
        return self._add(LoadOp.make(*self._access(number), self._location)).results[0]

    def store_output(self, tile: SSAValue) -> None:
        """Stores a tile to the output's buffer, narrowed to its element type."""
        buffer, indices = self._access(-1)
        assert isinstance(buffer.type, MemRefType)
        tile = self._converted(tile, buffer.type.element_type)
        self._add(StoreOp.make(tile, buffer, indices, self._location))

    def fill(self, number: SSAValue) -> SSAValue:
        """A tile filled with one number."""
        assert isinstance(self._dst_tile, TileType)
        return self._add(d2m.TileFillOp.make(number, self._dst_tile, self._location)).results[0]

    def accumulated(self, op: d2m.AccumulatingOp, numbers: Mapping[SSAValue, int], slot: Index) -> SSAValue:
        """The result of `op` on tiles of buffers and the accumulator in `slot`."""
        read = [self.load_input(numbers[value]) if value in numbers else value for value in op.operands[:-1]]
        return self._add(clone_with(op, [*read, self.load(slot)])).results[0]

    def apply(self, op: Operation, numbers: Mapping[SSAValue, int], tiles: Tiles) -> SSAValue:
        """The result of `op` on `tiles`; operands that are no tiles are unchanged."""
        operands = [tiles[numbers[value]] if value in numbers else value for value in op.operands]
        # A broadcast keeps the element type of DST; other ops have the type to which they round.
        result_type = operands[0].type if isinstance(op, d2m.TileBcastOp) else op.results[0].type
        return self._add(clone_with(op, operands, (result_type,))).results[0]

    def end(self) -> Operation:
        """Closes the loops and returns the outermost."""
        for outer, inner in zip(self._blocks, self._loops[1:], strict=False):
            append(outer, (inner,))
        append(self._blocks[-1], self._ops)
        for loop in self._loops:
            end_affine_loop(loop)
        return self._loops[0]

    def _access(self, number: int) -> tuple[SSAValue, list[Index]]:
        """A buffer's view, and the indices of its tile in the current iteration."""
        results = self._compute.indexing_maps.data[number].data.results
        # A block has one tile along a reduction dimension.
        indices: list[Index] = [
            self._index_of.get(result.position, 0) if isinstance(result, AffineDimExpr) else 0 for result in results
        ]
        return self._compute.operands[number], indices

    def _converted(self, tile: SSAValue, wanted: Attribute) -> SSAValue:
        if tile.type == wanted:
            return tile
        assert isinstance(wanted, TileType)
        return self._add(d2m.TileTypecastOp.make(tile, wanted, self._location)).results[0]

    def _add(self, op: Operation) -> Operation:
        self._ops.append(op)
        return op
