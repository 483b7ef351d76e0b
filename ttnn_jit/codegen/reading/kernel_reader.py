"""From a scheduled ``d2m.generic`` to a `KernelBody`, by symbolic execution.

The loop nests of a generic are executed once; a slot holds the step that last wrote it. A tile loaded from DST stays in
its slot: an op reads the slot when it runs, as on the chip, so that slots matter. Nests that access only equal tiles
may be interleaved tile by tile, and so become one list of steps. A generic that does not make exactly one pass over the
tiles of every operand is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.affine import ForOp, YieldOp
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from ttnn_jit.codegen.bodies.steps import Apply, Cast, Constant, KernelBody, Load, Step, Store
from ttnn_jit.codegen.reading.accumulating import operation_family
from ttnn_jit.codegen.reading.copies import copy_of
from ttnn_jit.codegen.reading.coverage import check_accesses, check_shards, reduced_dimension, tile_broadcast
from ttnn_jit.codegen.reading.module_reader import ModuleReader
from ttnn_jit.codegen.reading.reader_values import (
    Accumulation,
    BufferAccess,
    Filled,
    Index,
    Known,
    LoopIndex,
    NumberPlace,
    Reading,
    Slot,
    Tile,
    Window,
    covers,
)
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, Operand, is_elementwise, kernel_over
from ttnn_jit.dialects.affine import LoadOp, StoreOp
from ttnn_jit.dialects.d2m import (
    AccumulatingOp,
    AcquireDstOp,
    CBType,
    GenericOp,
    MaskOp,
    ReserveOp,
    TileBcastOp,
    TileFillOp,
    TileTypecastOp,
    ViewLayoutOp,
    WaitOp,
)
from ttnn_jit.dialects.d2m_generic import keep_reading, number_index
from ttnn_jit.dialects.declared_ops import ElementwiseOp
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.region_loops import NOT_STRIDED, affine_bounds, memref_shape, refusal, subview_window
from ttnn_jit.dialects.ttcore import TileType, system_desc_of
from ttnn_jit.dialects.writing.editing import ops_of
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.access.strided_walk import NotStridedError
from ttnn_jit.specs.extents.extent import is_extent
from ttnn_jit.specs.tensor_spec import TensorSpec


def read_kernels(module: ModuleOp) -> tuple[KernelBody, ...]:
    """The body of each ``d2m.generic`` of `module`, in program order.

    Raises:
        CompileError: A generic is not scheduled, or its loops, slots or accesses do not make one pass over the tiles.
    """
    reader = ModuleReader(system_desc_of(module).numerics)
    return tuple(launches_of(op, reader)[-1][1].sized_body for op in module.walk() if isinstance(op, GenericOp))


def launches_of(generic: GenericOp, reader: ModuleReader) -> list[tuple[Operation, BoundKernel]]:
    """The launch of `generic`, preceded by copies of input views that are not strided together.

    Args:
        generic: A scheduled generic, or one that is lowered as another.
        reader: The reader of its module.

    Raises:
        CompileError: As for `read_kernels`.
    """
    copies: list[tuple[Operation, BoundKernel]] = []
    copied: dict[SSAValue, Operand] = {}
    kernel = generic.canonical_kernel
    if (reading := reader.readings.get(kernel)) is None:
        reading = reader.readings[kernel] = _recalled(kernel) or _read(kernel)
    if generic.own_numbers:
        reading = reading.with_numbers(generic.own_numbers)
    while True:
        try:
            return [*copies, (generic, _kernel(generic, reading, reader, copied))]
        except NotStridedError:
            views = ((value, _view_behind(value)) for value in generic.inputs if value not in copied)
            value, view = next((pair for pair in views if pair[1] is not None), (None, None))
            if value is None or view is None:
                raise refusal(generic, NOT_STRIDED) from None
            copy = copy_of(view, reader)
            (copied[value],) = copy.outputs
            copies.append((view, copy))


def _view_behind(value: SSAValue) -> ViewLayoutOp | None:
    owner = value.owner.input.owner if isinstance(value.owner, MaskOp) else value.owner
    return owner if isinstance(owner, ViewLayoutOp) else None


def _recalled(generic: GenericOp) -> Reading | None:
    """The known reading of a kernel of this form, which may have had other sizes and numbers."""
    known = generic.known_reading
    if not isinstance(known, Reading):
        return None
    specs = [spec_of(value.type) for value in generic.operands]
    check_shards(generic, _windows(generic, specs), specs)
    return known.with_numbers(generic.form_numbers)


def _read(generic: GenericOp) -> Reading:
    reader = _Reader(generic)
    reader.run(generic.body.block)
    reduced = reader.check()
    accumulation = reader.accumulation
    if reduced is not None and accumulation is not None:
        return Reading(tuple(reader.steps), (accumulation.op, reduced), reader.number_places)
    reading = Reading(tuple(reader.steps), None, reader.number_places)
    if generic.form is not None:
        keep_reading(generic.form, reading)
    return reading


def _windows(generic: GenericOp, specs: Sequence[TensorSpec]) -> list[Window]:
    """The whole circular buffers of a kernel's operands."""
    found = []
    for operand, (argument, spec) in enumerate(zip(generic.body.block.args, specs, strict=True)):
        if not isinstance(argument.type, CBType):
            raise refusal(generic, f"its argument {operand} is no circular buffer")
        tile = argument.type.underlying.element_type
        if not isinstance(tile, TileType) or tile.dtype is not spec.dtype:
            raise refusal(generic, f"its argument {operand} holds other elements than {spec.dtype.mlir}")
        shape = argument.type.underlying.get_shape()
        found.append(Window(operand, (0,) * len(shape), tuple(shape)))
    return found


def _kernel(
    generic: GenericOp, reading: Reading, reader: ModuleReader, copied: Mapping[SSAValue, Operand]
) -> BoundKernel:
    inputs = tuple(copied.get(value) or reader.operand(value) for value in _streamed_inputs(generic))
    outputs = tuple(map(reader.operand, generic.results or generic.outputs))
    if reading.accumulated is None:
        return kernel_over(inputs, outputs, reading.steps, reader.numerics)
    op, dim = reading.accumulated
    inputs, outputs, axis = operation_family(op).operands(generic, op, dim, (*inputs, *outputs))
    return kernel_over(inputs, outputs, reading.steps, reader.numerics, axis=axis)


def _streamed_inputs(generic: GenericOp) -> tuple[SSAValue, ...]:
    """The inputs, one per stream; the factors of a product are two streams even if they are one tensor."""
    return tuple(dict.fromkeys(generic.inputs) if is_elementwise(generic) else generic.inputs)


@dataclass
class _Reader:
    """Executes a generic's region once, symbolically."""

    generic: GenericOp
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known: dict[SSAValue, Known] = {}
        self.numbered: dict[SSAValue, int] = {}  # constants, by `number_index`
        self.number_places: list[NumberPlace] = []
        self.slots: dict[Slot, Tile | Filled] = {}
        self.accumulation: Accumulation | None = None
        self.dst_shapes: dict[AcquireDstOp, tuple[int, ...]] = {}
        self.dst_loops: tuple[Index, ...] | None = None
        self.within: tuple[AcquireDstOp, tuple[Index, ...]] | None = None  # the last one, known to be in DST
        self.open: list[LoopIndex] = []
        self.nest: list[LoopIndex] = []
        self.depth = 0
        self.loads: list[BufferAccess] = []
        self.stores: dict[int, BufferAccess] = {}
        generic = self.generic
        self.input_count = len(generic.inputs)
        self.specs = [spec_of(value.type) for value in generic.operands]
        self.reduces = not is_elementwise(generic)
        self.inputs = _streamed_inputs(generic)
        distinct = {value: k for k, value in enumerate(self.inputs)}
        self.streams = [*range(self.input_count)] if self.reduces else [distinct[value] for value in generic.inputs]
        self.streams += range(len(self.inputs), len(self.inputs) + len(generic.outputs))
        self.windows = _windows(generic, self.specs)
        self.known.update(zip(generic.body.block.args, self.windows, strict=True))

    def run(self, block: Block) -> None:
        """Executes the ops of `block`."""
        for op in ops_of(block):
            handler = _handler_of(op.__class__)
            if handler is None:
                raise refusal(op, "it is unknown here", "run the stages up to `d2m-insert-dst-register-access`")
            handler(self, op)

    # Values

    def _index(self, op: Operation, value: SSAValue | int) -> Index:
        known = value if isinstance(value, int) else self.known.get(value)
        if not isinstance(known, (int, LoopIndex)):
            raise refusal(op, "an index is neither a constant nor a loop's")
        return known

    def _number(self, op: Operation, value: SSAValue | int) -> int:
        index = self._index(op, value)
        if not isinstance(index, int):
            raise refusal(op, "a number is not constant")
        return index

    def _tile(self, op: Operation, value: SSAValue) -> Tile:
        known = self._held(value)
        if not isinstance(known, Tile):
            raise refusal(op, "an operand is no tile")
        return known

    def _held(self, value: SSAValue) -> Known | None:
        known = self.known.get(value)
        return self.slots[known] if isinstance(known, Slot) else known

    def _usable(self, op: Operation, value: SSAValue) -> int | Constant:
        known = self.known.get(value)
        if isinstance(known, Constant):
            return known
        tile = self._tile(op, value)
        if tile.broadcast:
            raise refusal(op, f"an operand must pass `d2m.tile_bcast` {tile.broadcast} first")
        return tile.step

    def _add(self, result: SSAValue, step: Step, broadcast: str | None = None) -> None:
        self.known[result] = Tile(len(self.steps), broadcast)
        self.steps.append(step)

    # Ops

    def _constant(self, op: arith.ConstantOp) -> None:
        match op.value:
            case IntegerAttr(type=IndexType()):
                self.known[op.result] = op.value.value.data
            case IntegerAttr() | FloatAttr():
                self.known[op.result] = Constant.of(op.value.value.data)
                if (index := number_index(op)) is not None:
                    self.numbered[op.result] = index
            case _:
                raise refusal(op, "it is no number")

    def _buffer(self, op: WaitOp | ReserveOp) -> None:
        self.known[op.result] = self.known[op.cb]

    def _acquire(self, op: AcquireDstOp) -> None:
        self.known[op.result] = op
        self.dst_shapes[op] = memref_shape(op.result.type)

    def _subview(self, op: memref.SubviewOp) -> None:
        source = self.known.get(op.source)
        if not isinstance(source, Window) or any(source.offsets):
            raise refusal(op, "it is no view of a circular buffer")
        offsets, sizes = subview_window(op)
        self.known[op.result] = Window(source.operand, tuple(self._index(op, o) for o in offsets), tuple(sizes))

    def _block_loop(self, op: scf.ForOp) -> None:
        bounds = [self._number(op, bound) for bound in (op.lb, op.ub, op.step)]
        if self.nest:
            raise refusal(op, "a loop over blocks stands inside a loop over tiles")
        self._enter(op, op.body.block, bounds, op)

    def _tile_loop(self, op: ForOp) -> None:
        self.depth += 1
        self._enter(op, op.body.block, affine_bounds(op), self.depth)
        self.depth -= 1

    def _enter(self, op: Operation, body: Block, bounds: Sequence[int], loop: object) -> None:
        lower, upper, step = bounds
        trips = max(-(-(upper - lower) // step), 0) if step > 0 else 0
        if trips == 0:
            raise refusal(op, "it never runs")
        index: Index = lower
        if is_extent(trips) or trips > 1:  # a loop of an extent's rounds is read as one that has several
            if lower != 0 or upper % step:
                raise refusal(op, f"it must run from 0 in whole steps, not from {lower} to {upper} by {step}")
            index = LoopIndex(loop, upper, step)
        self.known[body.args[0]] = index
        entered = [index] if isinstance(index, LoopIndex) else []
        self.open += entered
        if isinstance(op, ForOp):
            self.nest += entered
        self.run(body)
        for loops in (self.open, self.nest) if isinstance(op, ForOp) else (self.open,):
            del loops[len(loops) - len(entered) :]

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
        broadcast = None if self.reduces else tile_broadcast(self.specs[access.operand], self.specs[-1])
        self._add(op.result, Load(self.streams[access.operand], None), broadcast)

    def _store(self, op: StoreOp) -> None:
        target = self.known.get(op.memref)
        if isinstance(target, AcquireDstOp):
            self._store_in_slot(op, self._slot(op, target, op.indices))
            return
        access = self._buffer_access(op, op.memref, op.indices)
        if access.operand < self.input_count:
            raise refusal(op, "it writes an input")
        if access.operand in self.stores:
            raise refusal(op, "it writes an output a second time")
        step = self._tile(op, op.value).step
        self._usable(op, op.value)
        if self.accumulation is not None and tuple(self.open) != self.accumulation.outside:
            raise refusal(op, "it stores what is not complete before the reduction loop has ended")
        self.stores[access.operand] = access
        self.steps.append(Store(step, self.streams[access.operand]))

    def _store_in_slot(self, op: StoreOp, slot: Slot) -> None:
        filled = self._held(op.value)
        if isinstance(filled, Filled):
            self.slots[slot] = Filled(filled.number, tuple(self.open))
            return
        tile = self.slots[slot] = self._tile(op, op.value)
        if self.accumulation is not None and (tile.step, slot) != (self.accumulation.step, self.accumulation.slot):
            raise refusal(op, f"the accumulator lies in slot {self.accumulation.slot.number}, and nothing else in DST")
        self._remember_slot(tile.step, slot.number)

    def _remember_slot(self, index: int, slot: int) -> None:
        match self.steps[index]:
            case Load(stream, None):
                self.steps[index] = Load(stream, slot)
            case Cast(operand, dtype, None):
                self.steps[index] = Cast(operand, dtype, slot)
            case Apply(tile_name, operands, numbers, dtype, None):
                self.steps[index] = Apply(tile_name, operands, numbers, dtype, slot)
            case _:  # a tile that is copied to another slot keeps the name of its first
                pass

    def _apply(self, op: ElementwiseOp) -> None:
        operands = tuple([self._usable(op, value) for value in op.operands])
        numbers = tuple([Constant.of(number) for number in op.operation.numbers_of(op.statics)])
        self._note_numbers(op, len(numbers))
        self._add(op.result, Apply(op.operation.tile_name, operands, numbers, _tile_type(op).dtype, None))

    def _note_numbers(self, op: ElementwiseOp, parameters: int) -> None:
        """Notes which operands and parameters of the next step are numbers of ops with a `number_index`."""
        step, operands = len(self.steps), op.operands
        if self.numbered:
            found = [(place, self.numbered.get(value)) for place, value in enumerate(operands)]
            self.number_places += [NumberPlace(step, place, index, 0) for place, index in found if index is not None]
        if parameters and (own := number_index(op)) is not None:
            first = len(operands)
            self.number_places += [NumberPlace(step, first + each, own, each) for each in range(parameters)]

    def _fill(self, op: TileFillOp) -> None:
        number = self.known.get(op.value)
        if not isinstance(number, Constant):
            raise refusal(op, "its operand is no number")
        self.known[op.result] = Filled(number)

    def _accumulate(self, op: AccumulatingOp) -> None:
        slot = self.known.get(op.accumulator)
        filled = self.slots.get(slot) if isinstance(slot, Slot) else None
        if not isinstance(slot, Slot) or not isinstance(filled, Filled) or self.accumulation is not None:
            raise refusal(op, "its accumulator is not the slot that `d2m.tile_fill` filled for it alone")
        if filled.number != Constant.of(op.identity):
            raise refusal(op, f"its accumulator begins with {filled.number.value}, not {op.identity}")
        operands = [self._usable(op, value) for value in op.operands[:-1]]
        loaded = [(step, self._loaded(op, step)) for step in operands if isinstance(step, int)]
        if [operand for _, operand in loaded] != [*range(self.input_count)] or len(self.generic.outputs) != 1:
            raise refusal(op, "it must read the tiles of its kernel's inputs, each once and in their order")
        tiles = [(step, self.specs[operand].dtype) for step, operand in loaded]
        numbers = [number for number in operands if isinstance(number, Constant)]
        *before, last = operation_family(op).steps(op, tiles, numbers, len(self.steps))
        self.steps += before
        self._add(op.results[0], last)
        self.accumulation = Accumulation(op, slot, len(self.steps) - 1, filled.loops, tuple(self.open))

    def _loaded(self, op: Operation, step: int) -> int:
        match self.steps[step]:
            case Load(stream):
                return self.streams.index(stream)
            case _:
                raise refusal(op, "what it accumulates comes straight from a circular buffer")

    def _cast(self, op: TileTypecastOp) -> None:
        tile = self._tile(op, op.operand)
        self._add(op.result, Cast(tile.step, _tile_type(op).dtype, None), tile.broadcast)

    def _broadcast_tile(self, op: TileBcastOp) -> None:
        tile = self._tile(op, op.operand)
        kind = op.bcast_type.data
        if tile.broadcast != kind:
            wanted = f"one of kind {tile.broadcast}" if tile.broadcast else "none"
            raise refusal(op, f"it spreads a {kind} where the shapes need {wanted}")
        self.known[op.result] = Tile(tile.step, None)

    # Indices

    def _slot(self, op: Operation, dst: AcquireDstOp, indices: Sequence[SSAValue | int]) -> Slot:
        slot = self._number(op, indices[0])
        loops = tuple([self._index(op, index) for index in indices[1:]])
        shape = self.dst_shapes[dst]
        if not 0 <= slot < shape[0]:
            raise refusal(op, f"there is no DST slot {slot}: {shape[0]} were acquired")
        if (dst, loops) != self.within:
            for index, extent in zip(loops, shape[1:], strict=True):
                if (index.upper if isinstance(index, LoopIndex) else index + 1) > extent:
                    raise refusal(op, "it leaves the DST slot")
            self.within = dst, loops
        moving = [index for index in loops if isinstance(index, LoopIndex)]
        self.dst_loops = self.dst_loops or loops
        if loops != self.dst_loops or moving != self.nest:
            raise refusal(op, "loops over DST that touch different tiles cannot be merged")
        return Slot(dst, slot)

    def _buffer_access(self, op: Operation, memref_: SSAValue, indices: Sequence[SSAValue | int]) -> BufferAccess:
        view = self.known.get(memref_)
        if not isinstance(view, Window):
            raise refusal(op, "it accesses neither a circular buffer nor DST")
        whole = self.windows[view.operand]
        inner = [self._index(op, index) for index in indices]
        loops = tuple(zip(view.offsets, inner, strict=True))
        for (outer, within), size, extent in zip(loops, view.sizes, whole.sizes, strict=True):
            if not (covers(outer, size, extent) and covers(within, 1, size)):
                raise refusal(op, "its loops do not run over each tile of the circular buffer once")
        moving = [index for pair in loops for index in pair if isinstance(index, LoopIndex)]
        if len(set(moving)) != len(moving):
            raise refusal(op, "one loop moves along two dimensions")
        return BufferAccess(op, view.operand, loops)

    def check(self) -> int | None:
        """Refuse a generic whose loops do not cover every tile of the operands; returns the reduced dimension."""
        generic = self.generic
        if len(self.stores) != len(generic.outputs):
            raise refusal(generic, "it leaves an output unwritten")
        loops_of = check_accesses(generic, (*self.stores.values(), *self.loads), reorders=self.reduces)
        for store in self.stores.values():
            within = [inner for _, inner in store.loops if isinstance(inner, LoopIndex)]
            if within != [index for index in self.dst_loops or () if isinstance(index, LoopIndex)]:
                raise refusal(store.op, "its loops are not those of the DST slots")
        check_shards(generic, self.windows, self.specs)
        if self.accumulation is None and self.reduces:
            raise refusal(generic, "one of its dimensions is a reduction, and nothing accumulates along it")
        return None if self.accumulation is None else reduced_dimension(generic, self.accumulation, loops_of)


def _tile_type(op: Operation) -> TileType:
    result = op.results[0].type
    if not isinstance(result, TileType):
        raise refusal(op, "its result is no tile")
    return result


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
    TileFillOp: _Reader._fill,
    scf.YieldOp: _skip,
    YieldOp: _skip,
    ElementwiseOp: _Reader._apply,
    AccumulatingOp: _Reader._accumulate,
}
"""Handlers by op class, or by the base class of a family's ops."""


@memoized
def _handler_of(kind: type[Operation]) -> Callable[[_Reader, Any], None] | None:
    return next((_HANDLERS[each] for each in kind.__mro__ if each in _HANDLERS), None)
