"""From a scheduled ``d2m.generic`` to a `KernelBody`: everything that codegen knows of a kernel is read here.

The loop nests of a generic are executed once, symbolically: a slot holds the step that last wrote it. A tile loaded
from DST does not leave its slot: an op reads the slot when it runs, as on the chip, so that slots matter. Nests that
touch only equal tiles may run tile by tile, one after the other, and so become one list of steps. What does not make
one pass over the tiles of every operand is refused; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.affine import ForOp, YieldOp
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, MemRefType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ttnn_jit.codegen.copies import copy_of
from ttnn_jit.codegen.kernel import Kernel, Operand, kernel_over
from ttnn_jit.codegen.loops import NOT_STRIDED, affine_bounds, refusal, subview_window, tile_extents
from ttnn_jit.codegen.steps import Apply, Cast, Constant, KernelBody, Load, Step, Store
from ttnn_jit.dialects.affine import LoadOp, StoreOp
from ttnn_jit.dialects.d2m import (
    AcquireDstOp,
    CBType,
    GenericOp,
    ReserveOp,
    TileBcastOp,
    TileTypecastOp,
    ViewLayoutOp,
    WaitOp,
)
from ttnn_jit.dialects.declared_ops import ElementwiseOp
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.ttcore import TileType, system_desc_of
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.access import NotStridedError
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import TensorSpec


def read_kernels(module: ModuleOp) -> tuple[KernelBody, ...]:
    """The body of each ``d2m.generic`` of `module`, in program order.

    Raises:
        CompileError: A generic is not scheduled, or its loops, slots or accesses do not make one pass over the tiles.
    """
    numerics = system_desc_of(module).numerics
    return tuple(launches_of(op, numerics)[-1][1].body for op in module.walk() if isinstance(op, GenericOp))


def launches_of(generic: GenericOp, numerics: Numerics) -> list[tuple[Operation, Kernel]]:
    """The launch that `generic` describes, after those that copy views of its inputs which no loops walk together.

    Raises:
        CompileError: As for `read_kernels`.
    """
    copies: list[tuple[Operation, Kernel]] = []
    copied: dict[SSAValue, Operand] = {}
    while True:
        try:
            return [*copies, (generic, _kernel(generic, numerics, copied))]
        except NotStridedError:
            views = (value.owner for value in generic.inputs if value not in copied)
            view = next((owner for owner in views if isinstance(owner, ViewLayoutOp)), None)
            if view is None:
                raise refusal(generic, NOT_STRIDED) from None
            copy = copy_of(view, numerics)
            (copied[view.result],) = copy.outputs
            copies.append((view, copy))


def _kernel(generic: GenericOp, numerics: Numerics, copied: Mapping[SSAValue, Operand]) -> Kernel:
    reader = _Reader(generic)
    reader.run(generic.body.block)
    reader.check()
    inputs = tuple(copied.get(value) or Operand.of(value) for value in dict.fromkeys(generic.inputs))
    outputs = tuple(map(Operand.of, generic.results or generic.outputs))
    return kernel_over(inputs, outputs, reader.steps, numerics)


@dataclass(frozen=True, slots=True)
class _LoopIndex:
    """A loop from 0 with more than one iteration; affine loops of equal depth and bounds are one and the same."""

    place: object
    upper: int
    step: int


_Index = int | _LoopIndex


@dataclass(frozen=True, slots=True)
class _View:
    """A window of a circular buffer: offsets and sizes in tiles."""

    operand: int
    offsets: tuple[_Index, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Tile:
    """The tile of a step; `broadcast` is the broadcast within the tile that its reader must apply."""

    step: int
    broadcast: str | None


class _Slot(NamedTuple):
    """Whatever tile lies in a DST slot when it is read."""

    dst: AcquireDstOp
    number: int


@dataclass(frozen=True, slots=True)
class _BufferAccess:
    """An access to a circular buffer: per dimension the block loop and the loop within the block."""

    op: Operation
    operand: int
    loops: tuple[tuple[_Index, _Index], ...]


_Known = _View | _Tile | _Slot | _LoopIndex | Constant | int | AcquireDstOp


@dataclass
class _Reader:
    """Executes a generic's region symbolically, once."""

    generic: GenericOp
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known: dict[SSAValue, _Known] = {}
        self.slots: dict[_Slot, _Tile] = {}
        self.dst_shapes: dict[AcquireDstOp, tuple[int, ...]] = {}
        self.dst_loops: tuple[_Index, ...] | None = None
        self.nest: list[_LoopIndex] = []
        self.depth = 0
        self.loads: list[_BufferAccess] = []
        self.stores: dict[int, _BufferAccess] = {}
        generic = self.generic
        self.rank = len(generic.iterator_types.data)
        self.input_count = len(generic.inputs)
        self.specs = [spec_of(value.type) for value in generic.operands]
        distinct = {value: k for k, value in enumerate(dict.fromkeys(generic.inputs))}
        self.streams = [distinct[value] for value in generic.inputs]
        self.streams += range(len(distinct), len(distinct) + len(generic.outputs))
        for k, argument in enumerate(generic.body.block.args):
            self.known[argument] = self._whole(k, argument)

    def _whole(self, operand: int, argument: SSAValue) -> _View:
        if not isinstance(argument.type, CBType):
            raise refusal(self.generic, f"its argument {operand} is no circular buffer")
        shape = argument.type.underlying.get_shape()
        return _View(operand, (0,) * len(shape), tuple(shape))

    def run(self, block: Block) -> None:
        """Executes the ops of `block`."""
        for op in block.ops:
            handler = _HANDLERS.get(type(op))
            if handler is None and isinstance(op, ElementwiseOp):
                handler = _Reader._apply
            if handler is None:
                raise refusal(op, "it is unknown here", "run the stages up to `d2m-insert-dst-register-access`")
            handler(self, op)

    # Values

    def _index(self, op: Operation, value: SSAValue | int) -> _Index:
        known = value if isinstance(value, int) else self.known.get(value)
        if not isinstance(known, (int, _LoopIndex)):
            raise refusal(op, "an index is neither a constant nor a loop's")
        return known

    def _number(self, op: Operation, value: SSAValue | int) -> int:
        index = self._index(op, value)
        if not isinstance(index, int):
            raise refusal(op, "a number is not constant")
        return index

    def _tile(self, op: Operation, value: SSAValue) -> _Tile:
        known = self.known.get(value)
        if isinstance(known, _Slot):
            known = self.slots[known]
        if not isinstance(known, _Tile):
            raise refusal(op, "an operand is no tile")
        return known

    def _usable(self, op: Operation, value: SSAValue) -> int | Constant:
        known = self.known.get(value)
        if isinstance(known, Constant):
            return known
        tile = self._tile(op, value)
        if tile.broadcast:
            raise refusal(op, f"an operand must pass `d2m.tile_bcast` {tile.broadcast} first")
        return tile.step

    def _add(self, result: SSAValue, step: Step, broadcast: str | None = None) -> None:
        self.known[result] = _Tile(len(self.steps), broadcast)
        self.steps.append(step)

    # Ops

    def _constant(self, op: arith.ConstantOp) -> None:
        match op.value:
            case IntegerAttr(type=IndexType()):
                self.known[op.result] = op.value.value.data
            case IntegerAttr() | FloatAttr():
                self.known[op.result] = Constant.of(op.value.value.data)
            case _:
                raise refusal(op, "it is no number")

    def _buffer(self, op: WaitOp | ReserveOp) -> None:
        self.known[op.result] = self.known[op.cb]

    def _acquire(self, op: AcquireDstOp) -> None:
        self.known[op.result] = op
        self.dst_shapes[op] = tuple(_memref_type(op.result).get_shape())

    def _subview(self, op: memref.SubviewOp) -> None:
        source = self.known.get(op.source)
        if not isinstance(source, _View) or any(source.offsets):
            raise refusal(op, "it is no view of a circular buffer")
        offsets, sizes = subview_window(op)
        self.known[op.result] = _View(source.operand, tuple(self._index(op, o) for o in offsets), tuple(sizes))

    def _block_loop(self, op: scf.ForOp) -> None:
        bounds = [self._number(op, bound) for bound in (op.lb, op.ub, op.step)]
        if self.nest:
            raise refusal(op, "a loop over blocks stands inside a loop over tiles")
        self._enter(op, op.body.block, bounds, op)

    def _tile_loop(self, op: ForOp) -> None:
        self.depth += 1
        self._enter(op, op.body.block, affine_bounds(op), self.depth)
        self.depth -= 1

    def _enter(self, op: Operation, body: Block, bounds: Sequence[int], place: object) -> None:
        lower, upper, step = bounds
        trips = max(0, -(-(upper - lower) // step)) if step > 0 else 0
        if trips == 0:
            raise refusal(op, "it never runs")
        index: _Index = lower
        if trips > 1:
            if lower != 0 or upper % step:
                raise refusal(op, f"it must run from 0 in whole steps, not from {lower} to {upper} by {step}")
            index = _LoopIndex(place, upper, step)
        self.known[body.args[0]] = index
        within_block = isinstance(index, _LoopIndex) and isinstance(op, ForOp)
        if isinstance(index, _LoopIndex) and within_block:
            self.nest.append(index)
        self.run(body)
        if within_block:
            self.nest.pop()

    def _load(self, op: LoadOp) -> None:
        source = self.known.get(op.memref)
        if isinstance(source, AcquireDstOp):
            slot = self._slot(op, source, op.indices)
            if slot not in self.slots:
                raise refusal(op, f"DST slot {slot.number} was never written")
            self.known[op.result] = slot
            return
        access = self._buffer_access(op, op.memref, op.indices)
        if access.operand >= self.input_count:
            raise refusal(op, "it reads an output")
        self.loads.append(access)
        self._add(op.result, Load(self.streams[access.operand], None), self._broadcast(access.operand))

    def _store(self, op: StoreOp) -> None:
        tile = self._tile(op, op.value)
        target = self.known.get(op.memref)
        if isinstance(target, AcquireDstOp):
            slot = self._slot(op, target, op.indices)
            self.slots[slot] = tile
            self._remember_slot(tile.step, slot.number)
            return
        access = self._buffer_access(op, op.memref, op.indices)
        if access.operand < self.input_count:
            raise refusal(op, "it writes an input")
        if access.operand in self.stores:
            raise refusal(op, "it writes an output a second time")
        step = self._usable(op, op.value)
        assert isinstance(step, int)
        self.stores[access.operand] = access
        self.steps.append(Store(step, self.streams[access.operand]))

    def _remember_slot(self, index: int, slot: int) -> None:
        match self.steps[index]:
            case Load(stream, None):
                self.steps[index] = Load(stream, slot)
            case Cast(operand, dtype, None):
                self.steps[index] = Cast(operand, dtype, slot)
            case Apply(tile_name, operands, numbers, dtype, None):
                self.steps[index] = Apply(tile_name, operands, numbers, dtype, slot)
            case _:  # a tile that moves on to another slot is known by its first
                pass

    def _apply(self, op: ElementwiseOp) -> None:
        operands = tuple(self._usable(op, value) for value in op.operands)
        numbers = tuple(Constant.of(number) for number in op.statics)
        self._add(op.result, Apply(op.operation.tile_name, operands, numbers, _tile_type(op).dtype, None))

    def _cast(self, op: TileTypecastOp) -> None:
        tile = self._tile(op, op.operand)
        self._add(op.result, Cast(tile.step, _tile_type(op).dtype, None), tile.broadcast)

    def _broadcast_tile(self, op: TileBcastOp) -> None:
        tile = self._tile(op, op.operand)
        kind = op.bcast_type.data
        if tile.broadcast != kind:
            wanted = f"one of kind {tile.broadcast}" if tile.broadcast else "none"
            raise refusal(op, f"it spreads a {kind} where the shapes need {wanted}")
        self.known[op.result] = _Tile(tile.step, None)

    # Indices

    def _slot(self, op: Operation, dst: AcquireDstOp, indices: Sequence[SSAValue | int]) -> _Slot:
        slot = self._number(op, indices[0])
        loops = tuple(self._index(op, index) for index in indices[1:])
        shape = self.dst_shapes[dst]
        if not 0 <= slot < shape[0]:
            raise refusal(op, f"there is no DST slot {slot}: {shape[0]} were acquired")
        for index, extent in zip(loops, shape[1:], strict=True):
            if (index.upper if isinstance(index, _LoopIndex) else index + 1) > extent:
                raise refusal(op, "it leaves the DST slot")
        moving = [index for index in loops if isinstance(index, _LoopIndex)]
        self.dst_loops = self.dst_loops or loops
        if loops != self.dst_loops or moving != self.nest:
            raise refusal(op, "loops over DST that touch different tiles cannot be merged")
        return _Slot(dst, slot)

    def _buffer_access(self, op: Operation, memref_: SSAValue, indices: Sequence[SSAValue | int]) -> _BufferAccess:
        view = self.known.get(memref_)
        if not isinstance(view, _View):
            raise refusal(op, "it accesses neither a circular buffer nor DST")
        whole = self.known[self.generic.body.block.args[view.operand]]
        assert isinstance(whole, _View)
        inner = [self._index(op, index) for index in indices]
        loops = tuple(zip(view.offsets, inner, strict=True))
        for (outer, within), size, extent in zip(loops, view.sizes, whole.sizes, strict=True):
            if not (_covers(outer, size, extent) and _covers(within, 1, size)):
                raise refusal(op, "its loops do not run over each tile of the circular buffer once")
        moving = [index for pair in loops for index in pair if isinstance(index, _LoopIndex)]
        if len(set(moving)) != len(moving):
            raise refusal(op, "one loop moves along two dimensions")
        return _BufferAccess(op, view.operand, loops)

    def _broadcast(self, operand: int) -> str | None:
        own, full = (_matrix(spec) for spec in (self.specs[operand], self.specs[-1]))
        rows, columns = own[0] != full[0], own[1] != full[1]
        if rows and columns:
            return "scalar"
        if rows:
            return "row"
        return "col" if columns else None

    # Checks of the whole

    def check(self) -> None:
        """Refuses a generic whose grid and maps do not cover every tile of the outputs."""
        generic = self.generic
        if len(self.stores) != len(generic.outputs):
            raise refusal(generic, "it leaves an output unwritten")
        if len(generic.grid.data) != self.rank:
            raise refusal(generic, f"its grid needs {self.rank} extents")
        first = self.stores[self.input_count]
        for access in (*self.loads, *self.stores.values()):
            self._check_follows(access, first)
        for store in self.stores.values():
            within = [inner for _, inner in store.loops if isinstance(inner, _LoopIndex)]
            if within != [index for index in self.dst_loops or () if isinstance(index, _LoopIndex)]:
                raise refusal(store.op, "its loops are not those of the DST slots")
        for operand in range(len(generic.operands)):
            self._check_shards(operand)

    def _check_follows(self, access: _BufferAccess, leader: _BufferAccess) -> None:
        results = self.generic.indexing_maps.data[access.operand].data.results
        for dim, (result, loops) in enumerate(zip(results, access.loops, strict=True)):
            if isinstance(result, AffineDimExpr) and result.position != dim:
                raise refusal(access.op, "its operand's indexing map reorders dimensions")
            expected = leader.loops[dim] if isinstance(result, AffineDimExpr) else (0, 0)
            if loops != expected:
                raise refusal(access.op, "it does not meet the tile that the output's store names")

    def _check_shards(self, operand: int) -> None:
        view = self.known[self.generic.body.block.args[operand]]
        assert isinstance(view, _View)
        results = self.generic.indexing_maps.data[operand].data.results
        tiles = tile_extents(self.specs[operand].shape, self.rank)
        for result, extent, cores, wanted in zip(results, view.sizes, self.generic.grid.data, tiles, strict=True):
            held = extent * cores if isinstance(result, AffineDimExpr) else extent
            if held < wanted:
                raise refusal(self.generic, f"operand {operand} has {wanted} tiles where its shards hold {held}")


def _covers(index: _Index, step: int, extent: int) -> bool:
    """Whether `index` takes each multiple of `step` below `extent` once."""
    if isinstance(index, _LoopIndex):
        return index.upper == extent and index.step == step
    return index == 0 and step >= extent


def _matrix(spec: TensorSpec) -> tuple[int, int]:
    return (1, 1, *spec.shape)[-2], (1, 1, *spec.shape)[-1]


def _tile_type(op: Operation) -> TileType:
    result = op.results[0].type
    if not isinstance(result, TileType):
        raise refusal(op, "its result is no tile")
    return result


def _memref_type(value: SSAValue) -> MemRefType:
    assert isinstance(value.type, MemRefType)
    return value.type


def _skip(_: _Reader, __: Operation) -> None:
    """Terminators need no action."""


_HANDLERS: dict[type[Operation], Callable[[_Reader, Any], None]] = {
    arith.ConstantOp: _Reader._constant,
    WaitOp: _Reader._buffer,
    ReserveOp: _Reader._buffer,
    AcquireDstOp: _Reader._acquire,
    memref.SubviewOp: _Reader._subview,
    scf.ForOp: _Reader._block_loop,
    ForOp: _Reader._tile_loop,
    LoadOp: _Reader._load,
    StoreOp: _Reader._store,
    TileTypecastOp: _Reader._cast,
    TileBcastOp: _Reader._broadcast_tile,
    scf.YieldOp: _skip,
    YieldOp: _skip,
}
