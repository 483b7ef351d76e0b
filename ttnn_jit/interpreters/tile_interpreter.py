"""Executes a d2m module literally: every core of the grid, every loop, every DST slot, one tile at a time.

It executes the module after any stage from ``convert-ttir-to-d2m`` to ``d2m-insert-dst-register-access``. It shares no
code with codegen, so that equal bits are evidence for both. Padding is zeros. A tile that is loaded from DST stays in
its slot: an op reads the slot when it runs, as on the chip.

Tensors are numpy arrays of their element type. bfloat16 is the uint16 of its bits; block floats are the bytes of their
packed tiles, in one dimension.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.affine import ForOp, YieldOp
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, MemRefType, ModuleOp, TensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects.affine import LoadOp, StoreOp
from ttnn_jit.dialects.d2m import (
    AccumulatingOp,
    AcquireDstOp,
    CBType,
    EmptyOp,
    GenericOp,
    MaskOp,
    ReserveOp,
    TileBcastOp,
    TileFillOp,
    TileTypecastOp,
    ViewLayoutOp,
    WaitOp,
)
from ttnn_jit.dialects.declared_ops import ElementwiseOp, TensorOp
from ttnn_jit.dialects.functions import call_graph_post_order, entry_point
from ttnn_jit.dialects.layout import dtype_of, spec_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.region_loops import (
    affine_bounds,
    mapped_dims,
    memref_shape,
    refusal,
    refuse_packed,
    subview_window,
)
from ttnn_jit.dialects.ttcore import TileType, system_desc_of
from ttnn_jit.dialects.ttir import FullOp
from ttnn_jit.interpreters.accumulator import Accumulator, accumulation_of, reduced_extent
from ttnn_jit.interpreters.interpreted_tiles import Memref, TileReference, elements_of, tiles_of
from ttnn_jit.interpreters.tensor_interpreter import (
    WHOLE_TENSOR_OPS,
    Tensor,
    gathered,
    packed_array,
    results_of,
    unpacked_array,
)
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH, Numerics
from ttnn_jit.specs.tiles import tile_extents

Array = np.ndarray[Any, Any]

MAX_ELEMENTS = 1 << 26
"""The limit of the elements of all tensors of a function: 256 MB of float32, which take minutes."""

MAX_TRIPS = 1 << 20
"""The limit of the trips of one loop over blocks or tiles; `MAX_ELEMENTS` elements have fewer."""


def interpret(module: ModuleOp, inputs: Sequence[Array], entry: str | None = None) -> list[Array]:
    """The results of an entry point of the module; functions that it calls are executed at the call.

    Args:
        module: A module in d2m form.
        inputs: One array per argument, of the tensor's logical shape and element type; uint16 for bfloat16.
        entry: The name of the entry point; None: the only one.

    Raises:
        ArgumentError: The arrays do not fit the function, or the tensors are too large to be interpreted.
        CompileError: An op is unknown to the interpreter or reads a slot that was never written, or there is no such
            entry point.
    """
    machine = machine_of(module, entry)
    block = machine.function.body.block
    with NumpyVector.quiet():
        machine.bind(block, inputs)
        machine.run(block)
    return machine.results()


def machine_of(module: ModuleOp, entry: str | None) -> Machine:
    """A machine that can run an entry point of the module.

    Raises:
        ArgumentError, CompileError: As `interpret` does.
    """
    function = entry_point(module, entry)
    functions = {each.sym_name.data: each for each in call_graph_post_order(module, (function,))}
    require_small(module, function, functions)
    for op in (op for each in functions.values() for op in each.body.block.ops):
        refuse_packed(op)
    return Machine(system_desc_of(module).numerics, function, functions)


def run_op(machine: Machine, op: Operation) -> None:
    """Executes an op.

    Raises:
        CompileError: It is unknown to the interpreter.
    """
    handler = _handler_of(op.__class__)
    if handler is None:
        raise refusal(op, "it is unknown to the tile interpreter")
    handler(machine, op)


def require_small(module: ModuleOp, function: FuncOp, functions: Mapping[str, FuncOp]) -> None:
    """Refuses a program of too many elements; `functions` are in the order of `call_graph_post_order`."""
    counts: dict[str, int] = {}
    for name, each in functions.items():
        types = [*each.body.block.arg_types, *(type_ for op in each.walk() for type_ in op.result_types)]
        counts[name] = sum(map(_elements, types))
        for op in each.walk():
            if isinstance(op, GenericOp):
                counts[name] += math.prod(op.grid.data) * sum(map(_elements, op.body.block.arg_types))
            elif isinstance(op, CallOp):
                counts[name] += counts[op.callee.root_reference.data]
    elements = counts[function.sym_name.data]
    if elements > MAX_ELEMENTS:
        raise ArgumentError(
            f"the tensors of @{function.sym_name.data} have {elements:,} elements, and {MAX_ELEMENTS:,} is the most "
            "that the tile interpreter takes",
            location=location_of(function) or location_of(module),
            help="run the program natively, or interpret smaller tensors: the semantics do not depend on their size",
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


class Machine:
    """The execution of a function, and of those that it calls."""

    def __init__(self, numerics: Numerics, function: FuncOp, functions: Mapping[str, FuncOp]) -> None:
        self.numerics = numerics
        self.function = function
        self.functions = functions
        self.math = NumpyVector()
        self.environment: dict[SSAValue, Any] = {}
        self.returned: list[Tensor] = []
        self.yielded: list[Any] = []
        self.windows: dict[memref.SubviewOp, tuple[Sequence[int | SSAValue], Sequence[int]]] = {}
        self.generic: tuple[GenericOp, Sequence[Tensor]] | None = None

    def bind(self, block: Block, inputs: Sequence[Array]) -> None:
        """Binds the arguments of the function to `inputs`."""
        if len(inputs) != len(block.args):
            raise ArgumentError(f"the function takes {len(block.args)} tensors, got {len(inputs)}")
        for argument, array in zip(block.args, inputs, strict=True):
            spec = spec_of(argument.type)
            wanted = spec.dtype.traits.numpy
            if spec.dtype.is_block_float and (array.shape, array.dtype) == ((spec.nbytes,), wanted):
                self.environment[argument] = Tensor(unpacked_array(array, tuple(spec.shape), spec.dtype), spec)
                continue
            if array.shape != tuple(spec.shape) or array.dtype != wanted:
                raise ArgumentError(f"an argument is {array.dtype}{array.shape}, and the function takes {spec}")
            self.environment[argument] = Tensor(self.math.loaded(array, spec.dtype), spec)

    def run(self, block: Block) -> None:
        """Executes the ops of `block`."""
        for op in block.ops:
            run_op(self, op)

    # Tensors

    def _empty(self, op: EmptyOp) -> None:
        spec = spec_of(op.result.type)
        self.environment[op.result] = Tensor(np.zeros(spec.shape, spec.dtype.compute.numpy), spec)

    def _view(self, op: ViewLayoutOp) -> None:
        source, spec = self.environment[op.input], spec_of(op.result.type)
        self.environment[op.result] = Tensor(gathered(source.values, op.access), spec)

    def _mask(self, op: MaskOp) -> None:
        self.environment[op.result] = replace(self.environment[op.input], fill=op.fill_value.number)

    def _whole_tensor_op(self, op: TensorOp) -> None:
        made = results_of(op, [self.environment[value] for value in op.operands], self.math, self.numerics)
        for result, values in zip(op.results, made, strict=True):
            spec = spec_of(result.type)
            self.environment[result] = Tensor(np.reshape(values, tuple(spec.shape)), spec)

    def _full(self, op: FullOp) -> None:
        spec = spec_of(op.result.type)
        compute = spec.dtype.compute
        number = self.math.arithmetic(compute).const(op.fill_value.value.data)
        value = self.math.round_to(number, spec.dtype, self.numerics)
        self.environment[op.result] = Tensor(np.full(spec.shape, value, compute.numpy), spec)

    def _call(self, op: CallOp) -> None:
        body = self.functions[op.callee.root_reference.data].body.block
        self.environment.update(
            {argument: self.environment[value] for argument, value in zip(body.args, op.operands, strict=True)}
        )
        self.run(body)
        self.environment.update(zip(op.results, self.returned, strict=True))

    def _return(self, op: ReturnOp) -> None:
        self.returned = [self.environment[value] for value in op.arguments]

    def results(self) -> list[Array]:
        """The results of the function that returned last, in their storage types."""
        dtypes = [tensor.spec.dtype for tensor in self.returned]
        return [
            (packed_array if dtype.is_block_float else self.math.stored)(tensor.values, dtype)
            for tensor, dtype in zip(self.returned, dtypes, strict=True)
        ]

    def _generic(self, op: GenericOp) -> None:
        maps = [indexing_map.data for indexing_map in op.indexing_maps]
        buffers = [_buffer_shape(argument.type) for argument in op.body.block.args]
        cores = {dim: cut for cut, dim in enumerate(mapped_dims(maps[-1])) if dim is not None}
        # Per operand and dimension: the dimension of the grid along which it is sharded.
        cuts = [[None if dim is None else cores.get(dim) for dim in mapped_dims(each)] for each in maps]
        grids = [tuple(1 if cut is None else op.grid.data[cut] for cut in own) for own in cuts]
        tensors = [self.environment[value] for value in op.operands]
        self._require_shards(op, tensors, grids, buffers)
        self.generic = op, tensors
        tiled = [
            tiles_of(tensor, tuple(c * e for c, e in zip(grid, buffer, strict=True)))
            for tensor, grid, buffer in zip(tensors, grids, buffers, strict=True)
        ]
        for core in np.ndindex(*op.grid.data):
            shards = []
            for argument, tiles, own, buffer in zip(op.body.block.args, tiled, cuts, buffers, strict=True):
                at = tuple(0 if cut is None else core[cut] for cut in own)
                shard = tiles[tuple(slice(c * e, (c + 1) * e) for c, e in zip(at, buffer, strict=True))]
                self.environment[argument] = Memref.of(shard, np.ones(buffer, bool))
                shards.append(self.environment[argument])
            self.run(op.body.block)
            for shard in shards[len(op.inputs) :]:
                shard.materialize()
        for k, value in enumerate(op.results or op.outputs):
            tensor = tensors[len(op.inputs) + k]
            self.environment[value] = Tensor(elements_of(tiled[len(op.inputs) + k], tensor), tensor.spec)

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
                self.environment[op.result] = op.value.value.data
            case IntegerAttr():
                self.environment[op.result] = self.math.int_const(op.value.value.data)
            case FloatAttr():
                self.environment[op.result] = np.float32(op.value.value.data)
            case _:
                raise refusal(op, "it is no number")

    def _buffer(self, op: WaitOp | ReserveOp) -> None:
        self.environment[op.result] = self.environment[op.cb]

    def _acquire(self, op: AcquireDstOp) -> None:
        shape = memref_shape(op.result.type)
        compute = dtype_of(op.result.type).compute
        nothing = -1 if compute.is_integer else np.nan
        tiles = np.full((*shape, TILE_HEIGHT, TILE_WIDTH), nothing, compute.numpy)
        self.environment[op.result] = Memref.of(tiles, np.zeros(shape, bool))

    def _subview(self, op: memref.SubviewOp) -> None:
        source: Memref = self.environment[op.source]
        offsets, sizes = self.windows.get(op) or self.windows.setdefault(op, subview_window(op))
        window = []
        for offset, size, extent in zip(offsets, sizes, source.written.shape, strict=True):
            start = self._number(offset)
            if not 0 <= start <= extent - size:
                raise refusal(op, "it leaves its source")
            window.append(slice(start, start + size))
        self.environment[op.result] = source.window(tuple(window))

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
            self.environment[body.args[0]] = trip
            self.run(body)

    def _linalg(self, op: linalg.GenericOp) -> None:
        maps = [indexing_map.data for indexing_map in op.indexing_maps]
        operands = [self.environment[value] for value in op.operands]
        body = op.body.block
        for point in np.ndindex(*_loop_extents(maps, operands)):
            points = [tuple(indexing_map.eval(point, ())) for indexing_map in maps]
            for k, (argument, operand, index) in enumerate(zip(body.args, operands, points, strict=True)):
                self.environment[argument] = TileReference(operand, index, is_output=k >= len(op.inputs))
            self.run(body)
            for operand, index, value in zip(
                operands[len(op.inputs) :], points[len(op.inputs) :], self.yielded, strict=True
            ):
                operand.store(index, value)

    def _linalg_yield(self, op: linalg.YieldOp) -> None:
        self.yielded = [self._value(value) for value in op.operands]

    def _number(self, value: SSAValue | int) -> int:
        number = value if isinstance(value, int) else self.environment[value]
        assert isinstance(number, int)
        return number

    # Tiles

    def _load(self, op: LoadOp) -> None:
        source: Memref = self.environment[op.memref]
        index = self._tile_index(op, source, op.indices)
        if not source.written[index]:
            raise refusal(op, f"DST slot {index[0]} was never written")
        self.environment[op.result] = TileReference(source, index)

    def _store(self, op: StoreOp) -> None:
        target: Memref = self.environment[op.memref]
        index = self._tile_index(op, target, op.indices)
        target.store(index, self._value(op.value))

    def _value(self, value: SSAValue) -> Any:
        """The tile, number or accumulator of an SSA value."""
        current = self.environment[value]
        return current.tile() if isinstance(current, TileReference) else current

    def _tile(self, value: SSAValue) -> Array:
        """The tile or number of an SSA value."""
        current = self._value(value)
        return current.tile() if isinstance(current, Accumulator) else current

    def _tile_index(self, op: Operation, memref: Memref, indices: Sequence[SSAValue | int]) -> tuple[int, ...]:
        tile_index = tuple(self._number(index) for index in indices)
        if any(not 0 <= index < extent for index, extent in zip(tile_index, memref.written.shape, strict=True)):
            raise refusal(op, f"there is no tile {list(tile_index)} in {list(memref.written.shape)}")
        return tile_index

    def _apply(self, op: ElementwiseOp) -> None:
        operands = [self._tile(value) for value in op.operands]
        dtype = dtype_of(op.results[0].type)
        arithmetic = self.math.arithmetic(dtype.compute)
        exact = op.operation.emit(arithmetic, *operands, *op.statics)
        self.environment[op.results[0]] = self.math.round_to(exact, dtype, self.numerics)

    def _fill(self, op: TileFillOp) -> None:
        self.environment[op.result] = np.full((TILE_HEIGHT, TILE_WIDTH), self._value(op.value), np.float32)

    def _accumulate(self, op: AccumulatingOp) -> None:
        accumulator = self.environment[op.accumulator]
        if not isinstance(accumulator, TileReference):
            raise refusal(op, "its accumulator is neither in a DST slot nor in the output")
        before = accumulator.memref.accumulators[accumulator.index]
        if before is None and not accumulator.is_output and not (accumulator.tile() == np.float32(op.identity)).all():
            raise refusal(op, f"its accumulator does not begin with {op.identity}")
        terms = tuple(self._tile(value) for value in op.operands[:-1])
        assert self.generic is not None, "tile ops stand in kernels"
        before = before or Accumulator(accumulation_of(op), self.math, reduced_extent(*self.generic, op.identity))
        self.environment[op.results[0]] = before.with_terms(terms)

    def _cast(self, op: TileTypecastOp) -> None:
        source, target = dtype_of(op.operand.type), dtype_of(op.result.type)

        def cast(tile: Array) -> Array:
            return tile if source is target else self.math.typecast(tile, source, target, self.numerics)

        value = self._value(op.operand)
        self.environment[op.result] = value.with_cast(cast) if isinstance(value, Accumulator) else cast(value)

    def _broadcast_tile(self, op: TileBcastOp) -> None:
        rows, columns = {"row": (1, None), "col": (None, 1), "scalar": (1, 1)}[op.bcast_type.data]
        part = self._tile(op.operand)[:rows, :columns]
        self.environment[op.result] = np.broadcast_to(part, (TILE_HEIGHT, TILE_WIDTH)).copy()

    def skip(self, op: Operation) -> None:
        """Terminators need no action."""


def _loop_extents(maps: Sequence[AffineMap], operands: Sequence[Memref]) -> tuple[int, ...]:
    """The extents of the loops over `operands`, from the dimensions that their maps project."""
    extents = dict.fromkeys(range(maps[0].num_dims), 1)
    for indexing_map, operand in zip(maps, operands, strict=True):
        followers = zip(mapped_dims(indexing_map), operand.written.shape, strict=True)
        extents |= {dim: extent for dim, extent in followers if dim is not None}
    return tuple(extents.values())


def _buffer_shape(type_: Attribute) -> tuple[int, ...]:
    assert isinstance(type_, CBType)
    return memref_shape(type_.underlying)


_HANDLERS: dict[type[Operation], Callable[[Machine, Any], None]] = {
    EmptyOp: Machine._empty,
    MaskOp: Machine._mask,
    ViewLayoutOp: Machine._view,
    FullOp: Machine._full,
    GenericOp: Machine._generic,
    CallOp: Machine._call,
    ReturnOp: Machine._return,
    arith.ConstantOp: Machine._constant,
    WaitOp: Machine._buffer,
    ReserveOp: Machine._buffer,
    AcquireDstOp: Machine._acquire,
    memref.SubviewOp: Machine._subview,
    scf.ForOp: Machine._block_loop,
    ForOp: Machine._tile_loop,
    linalg.GenericOp: Machine._linalg,
    linalg.YieldOp: Machine._linalg_yield,
    LoadOp: Machine._load,
    StoreOp: Machine._store,
    TileTypecastOp: Machine._cast,
    TileBcastOp: Machine._broadcast_tile,
    TileFillOp: Machine._fill,
    scf.YieldOp: Machine.skip,
    YieldOp: Machine.skip,
    **dict.fromkeys(WHOLE_TENSOR_OPS, Machine._whole_tensor_op),
    ElementwiseOp: Machine._apply,
    AccumulatingOp: Machine._accumulate,
}
"""The handler by the class of an op, or by the base class of its family."""


@memoized
def _handler_of(kind: type[Operation]) -> Callable[[Machine, Any], None] | None:
    return next((_HANDLERS[each] for each in kind.__mro__ if each in _HANDLERS), None)
