"""Executes a d2m module literally: every core of the grid, every loop, every DST slot, one tile at a time.

It takes the module after any stage from ``convert-ttir-to-d2m`` to ``d2m-insert-dst-register-access`` and shares no
code with codegen, so that equal bits are evidence for both. Elements beyond a tensor's extents are zeros. A tile loaded
from DST does not leave its slot: an op reads the slot when it runs, as on the chip.

Arrays stand for tensors: of their elements' type in numpy, bfloat16 as uint16 words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.affine import ForOp, YieldOp
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, MemRefType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr

from ttnn_jit.codegen.host.host_program import the_function
from ttnn_jit.codegen.loops import affine_bounds, refusal, subview_window, tile_extents
from ttnn_jit.codegen.steps import Constant
from ttnn_jit.codegen.tensor_interpreter import WHOLE_TENSOR_OPS, Tensor, gathered, results_of
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects.affine import LoadOp, StoreOp
from ttnn_jit.dialects.d2m import (
    AcquireDstOp,
    CBType,
    EmptyOp,
    GenericOp,
    ReserveOp,
    TileBcastOp,
    TileTypecastOp,
    ViewLayoutOp,
    WaitOp,
)
from ttnn_jit.dialects.declared_ops import ElementwiseOp, TensorOp
from ttnn_jit.dialects.layout import dtype_of, spec_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.ttcore import TileType, system_desc_of
from ttnn_jit.dialects.ttir import FullOp
from ttnn_jit.kernels.numpy_vector import NumpyVector
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH, Numerics
from ttnn_jit.specs.tensor_spec import round_up

Array = np.ndarray[Any, Any]

MAX_ELEMENTS = 1 << 26
"""Of all tensors of a function together: 256 MB of float32, and minutes."""

MAX_TRIPS = 1 << 20
"""Of one loop, over blocks or over tiles: there are fewer of both in so many elements."""


def interpret(module: ModuleOp, inputs: Sequence[Array]) -> list[Array]:
    """The results of the module's first function.

    Args:
        module: In d2m form.
        inputs: One array of the tensor's logical shape per argument, of its elements' type; uint16 for bfloat16.

    Raises:
        ArgumentError: The arrays are not what the function takes, or the tensors are too large to be interpreted.
        CompileError: An op that is unknown here, or that reads what was never written.
    """
    function = the_function(module)
    _require_small(module, function)
    machine = _Machine(system_desc_of(module).numerics)
    with NumpyVector.quiet():
        machine.bind(function.body.block, inputs)
        machine.run(function.body.block)
    return machine.results


def _require_small(module: ModuleOp, function: FuncOp) -> None:
    types = [*function.body.block.arg_types, *(type_ for op in function.walk() for type_ in op.result_types)]
    elements = sum(map(_elements, types))
    for op in function.walk():
        if isinstance(op, GenericOp):
            elements += math.prod(op.grid.data) * sum(map(_elements, op.body.block.arg_types))
    if elements > MAX_ELEMENTS:
        raise ArgumentError(
            f"the tensors of @{function.sym_name.data} have {elements:,} elements, and {MAX_ELEMENTS:,} is the most "
            "that the tile interpreter takes",
            location=location_of(function) or location_of(module),
            help="run it natively, or interpret smaller tensors: what it computes does not depend on their size",
        )


def _elements(type_: Attribute) -> int:
    match type_:
        case CBType():
            return _elements(type_.underlying)
        case MemRefType(element_type=TileType()):
            return TILE_HEIGHT * TILE_WIDTH * math.prod(type_.get_shape())
        case TensorType():
            return math.prod(type_.get_shape())
        case _:
            return 0


@dataclass(frozen=True)
class _Memref:
    """A window on tiles: `tiles` has two more dimensions than the memref; `written` says which were ever stored."""

    tiles: Array
    written: Array


@dataclass(frozen=True)
class _InPlace:
    """A tile where it lies, read when it is used."""

    where: _Memref
    at: tuple[int, ...]

    def tile(self) -> Array:
        """What lies there now."""
        tile: Array = self.where.tiles[self.at].copy()
        return tile


class _Machine:
    def __init__(self, numerics: Numerics) -> None:
        self.numerics = numerics
        self.math = NumpyVector()
        self.known: dict[SSAValue, Any] = {}
        self.results: list[Array] = []
        self.yielded: list[Array] = []

    def bind(self, block: Block, inputs: Sequence[Array]) -> None:
        """Makes `inputs` the arguments of the function."""
        if len(inputs) != len(block.args):
            raise ArgumentError(f"the function takes {len(block.args)} tensors, got {len(inputs)}")
        for argument, array in zip(block.args, inputs, strict=True):
            spec = spec_of(argument.type)
            wanted = spec.dtype.traits.numpy
            if array.shape != tuple(spec.shape) or array.dtype != wanted:
                raise ArgumentError(f"an argument is {array.dtype}{array.shape}, the function takes {spec}")
            self.known[argument] = Tensor(self.math.loaded(array, spec.dtype), spec)

    def run(self, block: Block) -> None:
        """Executes the ops of `block`."""
        for op in block.ops:
            if isinstance(op, WHOLE_TENSOR_OPS):
                self._of_whole_tensors(op)
                continue
            if isinstance(op, ElementwiseOp):
                self._apply(op)
                continue
            handler = _HANDLERS.get(type(op))
            if handler is None:
                raise refusal(op, "it is unknown to the tile interpreter")
            handler(self, op)

    # Tensors

    def _empty(self, op: EmptyOp) -> None:
        spec = spec_of(op.result.type)
        self.known[op.result] = Tensor(np.zeros(spec.shape, spec.dtype.compute.numpy), spec)

    def _view(self, op: ViewLayoutOp) -> None:
        source, spec = self.known[op.input], spec_of(op.result.type)
        self.known[op.result] = Tensor(gathered(source.values, op.access), spec)

    def _of_whole_tensors(self, op: TensorOp) -> None:
        made = results_of(op, [self.known[value] for value in op.operands], self.math, self.numerics)
        for result, values in zip(op.results, made, strict=True):
            spec = spec_of(result.type)
            self.known[result] = Tensor(np.reshape(values, tuple(spec.shape)), spec)

    def _full(self, op: FullOp) -> None:
        spec = spec_of(op.result.type)
        compute = spec.dtype.compute
        number = self.math.arithmetic(compute).const(op.fill_value.value.data)
        value = self.math.round_to(number, spec.dtype, self.numerics)
        self.known[op.result] = Tensor(np.full(spec.shape, value, compute.numpy), spec)

    def _return(self, op: ReturnOp) -> None:
        for value in op.arguments:
            tensor = self.known[value]
            self.results.append(self.math.stored(tensor.values, tensor.spec.dtype))

    def _generic(self, op: GenericOp) -> None:
        rank = len(op.iterator_types.data)
        buffers = [_buffer_shape(argument.type) for argument in op.body.block.args]
        moves = [
            [not isinstance(result, AffineConstantExpr) for result in indexing_map.data.results]
            for indexing_map in op.indexing_maps
        ]
        tensors = [self.known[value] for value in op.operands]
        grids = [
            tuple(cores if moving else 1 for cores, moving in zip(op.grid.data, mapped, strict=True))
            for mapped in moves
        ]
        self._require_shards(op, tensors, grids, buffers)
        tiled = [
            _tiles_of(tensor, rank, tuple(c * e for c, e in zip(grid, buffer, strict=True)))
            for tensor, grid, buffer in zip(tensors, grids, buffers, strict=True)
        ]
        for core in np.ndindex(*op.grid.data):
            for argument, tiles, grid, buffer in zip(op.body.block.args, tiled, grids, buffers, strict=True):
                at = tuple(c if g > 1 else 0 for c, g in zip(core, grid, strict=True))
                shard = tiles[tuple(slice(c * e, (c + 1) * e) for c, e in zip(at, buffer, strict=True))]
                self.known[argument] = _Memref(shard, np.ones(buffer, bool))
            self.run(op.body.block)
        for k, value in enumerate(op.results or op.outputs):
            tensor = tensors[len(op.inputs) + k]
            self.known[value] = Tensor(_untiled(tiled[len(op.inputs) + k], tensor), tensor.spec)

    def _require_shards(
        self,
        op: GenericOp,
        tensors: Sequence[Tensor],
        grids: Sequence[tuple[int, ...]],
        buffers: Sequence[tuple[int, ...]],
    ) -> None:
        for number, (tensor, grid, buffer) in enumerate(zip(tensors, grids, buffers, strict=True)):
            tiles = tile_extents(tensor.values.shape, len(grid))
            held = tuple(cores * extent for cores, extent in zip(grid, buffer, strict=True))
            if any(extent > most for extent, most in zip(tiles, held, strict=True)):
                raise refusal(op, f"operand {number} has {list(tiles)} tiles where its shards hold {list(held)}")

    # Scalars, buffers and loops

    def _constant(self, op: arith.ConstantOp) -> None:
        match op.value:
            case IntegerAttr(type=IndexType()):
                self.known[op.result] = op.value.value.data
            case IntegerAttr():
                self.known[op.result] = self.math.int_const(op.value.value.data)
            case FloatAttr():
                self.known[op.result] = np.float32(Constant.of(op.value.value.data).value)
            case _:
                raise refusal(op, "it is no number")

    def _buffer(self, op: WaitOp | ReserveOp) -> None:
        self.known[op.result] = self.known[op.cb]

    def _acquire(self, op: AcquireDstOp) -> None:
        shape = _shape_of(op.result.type)
        compute = dtype_of(op.result.type).compute
        nothing = -1 if compute.is_integer else np.nan
        tiles = np.full((*shape, TILE_HEIGHT, TILE_WIDTH), nothing, compute.numpy)
        self.known[op.result] = _Memref(tiles, np.zeros(shape, bool))

    def _subview(self, op: memref.SubviewOp) -> None:
        source: _Memref = self.known[op.source]
        offsets, sizes = subview_window(op)
        window = []
        for offset, size, extent in zip(offsets, sizes, source.written.shape, strict=True):
            start = self._number(offset)
            if not 0 <= start <= extent - size:
                raise refusal(op, "it leaves its source")
            window.append(slice(start, start + size))
        self.known[op.result] = _Memref(source.tiles[tuple(window)], source.written[tuple(window)])

    def _block_loop(self, op: scf.ForOp) -> None:
        self._loop(op, op.body.block, *(self._number(bound) for bound in (op.lb, op.ub, op.step)))

    def _tile_loop(self, op: ForOp) -> None:
        self._loop(op, op.body.block, *affine_bounds(op))

    def _loop(self, op: Operation, body: Block, lower: int, upper: int, step: int) -> None:
        if step < 1 or (upper - lower) // step > MAX_TRIPS:
            raise refusal(
                op, f"it runs from {lower} to {upper} by {step}: {MAX_TRIPS:,} steps of at least 1 are the most"
            )
        for trip in range(lower, upper, step):
            self.known[body.args[0]] = trip
            self.run(body)

    def _linalg(self, op: linalg.GenericOp) -> None:
        maps = [indexing_map.data for indexing_map in op.indexing_maps]
        operands = [self.known[value] for value in op.operands]
        output = operands[-1]
        body = op.body.block
        for point in np.ndindex(*output.written.shape):
            at = [indexing_map.eval(point, ()) for indexing_map in maps]
            for argument, operand, index in zip(body.args, operands, at, strict=True):
                self.known[argument] = operand.tiles[tuple(index)].copy()
            self.run(body)
            for operand, index, value in zip(
                operands[len(op.inputs) :], at[len(op.inputs) :], self.yielded, strict=True
            ):
                operand.tiles[tuple(index)] = value
                operand.written[tuple(index)] = True

    def _linalg_yield(self, op: linalg.YieldOp) -> None:
        self.yielded = [self._tile(value) for value in op.operands]

    def _number(self, value: SSAValue | int) -> int:
        number = value if isinstance(value, int) else self.known[value]
        assert isinstance(number, int)
        return number

    # Tiles

    def _load(self, op: LoadOp) -> None:
        source: _Memref = self.known[op.memref]
        at = self._place(op, source, op.indices)
        if not source.written[at]:
            raise refusal(op, f"DST slot {at[0]} was never written")
        self.known[op.result] = _InPlace(source, at)

    def _store(self, op: StoreOp) -> None:
        target: _Memref = self.known[op.memref]
        at = self._place(op, target, op.indices)
        target.tiles[at] = self._tile(op.value)
        target.written[at] = True

    def _tile(self, value: SSAValue) -> Array:
        """The tile, or the number, that `value` stands for."""
        known = self.known[value]
        return known.tile() if isinstance(known, _InPlace) else known

    def _place(self, op: Operation, where: _Memref, indices: Sequence[SSAValue | int]) -> tuple[int, ...]:
        at = tuple(self._number(index) for index in indices)
        if any(not 0 <= index < extent for index, extent in zip(at, where.written.shape, strict=True)):
            raise refusal(op, f"there is no tile {list(at)} in {list(where.written.shape)}")
        return at

    def _apply(self, op: ElementwiseOp) -> None:
        operands = [self._tile(value) for value in op.operands]
        dtype = dtype_of(op.results[0].type)
        arithmetic = self.math.arithmetic(dtype.compute)
        exact = op.operation.tile_body(self.numerics)(arithmetic, *operands, *op.statics)
        self.known[op.results[0]] = self.math.round_to(exact, dtype, self.numerics)

    def _cast(self, op: TileTypecastOp) -> None:
        tile, source, target = self._tile(op.operand), dtype_of(op.operand.type), dtype_of(op.result.type)
        self.known[op.result] = tile if source is target else self.math.typecast(tile, source, target, self.numerics)

    def _broadcast_tile(self, op: TileBcastOp) -> None:
        rows, columns = {"row": (1, None), "col": (None, 1), "scalar": (1, 1)}[op.bcast_type.data]
        part = self._tile(op.operand)[:rows, :columns]
        self.known[op.result] = np.broadcast_to(part, (TILE_HEIGHT, TILE_WIDTH)).copy()

    def skip(self, op: Operation) -> None:
        """Terminators need no action."""


def _tiles_of(tensor: Tensor, rank: int, extents: tuple[int, ...]) -> Array:
    """The tensor as `extents` tiles, zeros beyond its own."""
    tiles = _split(tensor.values, rank)
    held = np.zeros((*extents, TILE_HEIGHT, TILE_WIDTH), tiles.dtype)
    held[tuple(slice(0, extent) for extent in tiles.shape[:rank])] = tiles
    return held


def _untiled(tiles: Array, tensor: Tensor) -> Array:
    """The logical elements of `tensor` out of `tiles`."""
    shape = tensor.values.shape
    matrix = (1,) * (2 - len(shape)) + tuple(shape)
    rank = tiles.ndim - 2
    extents = tile_extents(shape, rank)
    kept = tiles[tuple(slice(0, extent) for extent in extents)]
    rows, columns = -(-matrix[-2] // TILE_HEIGHT), -(-matrix[-1] // TILE_WIDTH)
    batched = kept.reshape(-1, rows, columns, TILE_HEIGHT, TILE_WIDTH) if kept.size else kept.reshape(0, 1, 1, 32, 32)
    if not kept.size:
        return np.zeros(shape, tiles.dtype)
    padded = batched.swapaxes(2, 3).reshape(-1, rows * TILE_HEIGHT, columns * TILE_WIDTH)
    return padded[:, : matrix[-2], : matrix[-1]].reshape(shape)


def _split(values: Array, rank: int) -> Array:
    """Logical elements -> tiles of an iteration space of `rank` dimensions."""
    shape = (1,) * (2 - values.ndim) + values.shape
    height, width = shape[-2:]
    rows, columns = round_up(height, TILE_HEIGHT), round_up(width, TILE_WIDTH)
    extents = tile_extents(values.shape, rank)
    if not values.size:
        return np.zeros((*extents, TILE_HEIGHT, TILE_WIDTH), values.dtype)
    padded = np.zeros((int(np.prod(shape[:-2])), rows, columns), values.dtype)
    padded[:, :height, :width] = values.reshape(-1, height, width)
    split = padded.reshape(-1, rows // TILE_HEIGHT, TILE_HEIGHT, columns // TILE_WIDTH, TILE_WIDTH).swapaxes(2, 3)
    return split.reshape(*extents, TILE_HEIGHT, TILE_WIDTH)


def _shape_of(type_: Attribute) -> tuple[int, ...]:
    assert isinstance(type_, MemRefType)
    return tuple(type_.get_shape())


def _buffer_shape(type_: Attribute) -> tuple[int, ...]:
    assert isinstance(type_, CBType)
    return _shape_of(type_.underlying)


_HANDLERS: dict[type[Operation], Callable[[_Machine, Any], None]] = {
    EmptyOp: _Machine._empty,
    ViewLayoutOp: _Machine._view,
    FullOp: _Machine._full,
    GenericOp: _Machine._generic,
    ReturnOp: _Machine._return,
    arith.ConstantOp: _Machine._constant,
    WaitOp: _Machine._buffer,
    ReserveOp: _Machine._buffer,
    AcquireDstOp: _Machine._acquire,
    memref.SubviewOp: _Machine._subview,
    scf.ForOp: _Machine._block_loop,
    ForOp: _Machine._tile_loop,
    linalg.GenericOp: _Machine._linalg,
    linalg.YieldOp: _Machine._linalg_yield,
    LoadOp: _Machine._load,
    StoreOp: _Machine._store,
    TileTypecastOp: _Machine._cast,
    TileBcastOp: _Machine._broadcast_tile,
    scf.YieldOp: _Machine.skip,
    YieldOp: _Machine.skip,
}
