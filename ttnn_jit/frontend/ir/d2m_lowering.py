"""Operations of d2m in functions of texts: transfers of the host, views, masks, and kernels of one thread.

A kernel is lowered for all cores at once: a value of its region has the blocks of every parallel dimension before the
dimensions of one block. Reduction dimensions are loops, and what `tensor.empty` makes is one buffer in all of their
turns.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from ttnn_jit.diagnostics.errors import CompileError, ShapeError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.tensor_types import dtype_in_text, spec_on_device
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.metal_types import (
    geometry,
    layout_of,
    require_no_index_map,
    shape_of_grid,
    tile_of,
)
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.virtual_grids import remapping_of
from ttnn_jit.dialects.upstream.table_operations import named_operands
from ttnn_jit.frontend.ir import physical_tensors as physical
from ttnn_jit.frontend.ir.ops_of_text import OpsOfText
from ttnn_jit.layout_specification.metal_layout import MetalLayout
from ttnn_jit.ops.families.decomposition import Value
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.tensor_spec import TensorSpec

_FILLS = {"undef": 0.0, "zero": 0.0, "one": 1.0, "inf": math.inf, "neginf": -math.inf}


class DeviceOps:
    """Lowers operations of d2m outside kernels.

    Args:
        ops: Makes the calls.
        given: The tensors of the operands.
    """

    def __init__(self, ops: OpsOfText, given: Mapping[SSAValue, Value]) -> None:
        self._ops, self._given = ops, given

    def results(self, op: Operation) -> list[Value]:
        """The results of an operation.

        Raises:
            CompileError: It is not executed here.
        """
        return _RULES[op.name](self, op)

    def _operand(self, op: Operation) -> tuple[SSAValue, Value]:
        value = op.operands[0]
        return value, self._given[value]

    def _to_device(self, op: Operation) -> list[Value]:
        _, x = self._operand(op)
        return [self._split(x, op.results[0].type, _layout_property(op))]

    def _to_host(self, op: Operation) -> list[Value]:
        value, x = self._operand(op)
        return [self._joined(x, value.type, op.results[0].type, _layout_property(op))]

    def _to_layout(self, op: Operation) -> list[Value]:
        """What the moves that `d2m-lower-to-layout` makes of it give."""
        value, x = self._operand(op)
        result = op.results[0].type
        require_no_index_map(value.type)
        require_no_index_map(result)
        logical = x
        if layout_of(value.type) is not None:
            logical = self._joined(x, value.type, result, None)
        return [logical if layout_of(result) is None else self._split(logical, result, None)]

    def _split(self, x: Value, type_: Attribute, given: MetalLayout | None) -> Value:
        """A logical tensor as it lies on a device."""
        layout = given or _geometry(type_)
        grid = shape_of_grid(type_)
        x = physical.to_physical(self._ops, x, layout)
        dtype = _dtype(type_)
        assert isinstance(type_, TensorType)
        if not tile_of(type_.element_type):
            return physical.split(self._ops, self._ops.rounded(x, dtype), grid)
        return physical.split(self._ops, physical.tilized(self._ops, x, dtype), grid)

    def _joined(self, x: Value, type_: Attribute, result: Attribute, given: MetalLayout | None) -> Value:
        """The logical tensor of one that lies on a device."""
        assert isinstance(type_, TensorType)
        layout = given or _geometry(type_)
        whole = physical.joined(self._ops, x, len(shape_of_grid(type_)))
        if tile_of(type_.element_type):
            whole = physical.untilized(self._ops, whole)
        return self._ops.rounded(physical.to_logical(self._ops, whole, layout), _dtype(result).unpacked)

    def _view(self, op: Operation) -> list[Value]:
        value, x = self._operand(op)
        result = op.results[0].type
        assert isinstance(value.type, TensorType)
        assert isinstance(result, TensorType)
        tiles = [tile_of(each.element_type) for each in (value.type, result)]
        reinterprets = op.properties.get("reinterpretLayout")
        if isinstance(reinterprets, IntegerAttr) and reinterprets.value.data and tiles[0] != tiles[1]:
            return [self._reinterpreted(x, result)]
        remapping = remapping_of(op.results[0])
        if remapping is None:
            raise ShapeError("a view has no map")
        return [physical.seen_by(self._ops, x, remapping.data, result.get_shape(), len(tiles[0]))]

    def _reinterpreted(self, x: Value, result: TensorType[Any]) -> Value:
        """The elements of a core's shard in the order in which they are stored, as those of another type."""
        tile, shape = tile_of(result.element_type), tuple(result.get_shape())
        if not tile:
            x = physical.stored_order(self._ops, x)
        x = self._ops.reshaped(x, (*shape, *tile))
        return physical.row_order(self._ops, x) if tile else x

    def _mask(self, op: Operation) -> list[Value]:
        """A tensor whose elements outside the logical shape are a number."""
        value, x = self._operand(op)
        shape = tuple(op.properties["logicalShape"].get_values())  # type: ignore[attr-defined]  # a dense array
        own = _geometry(value.type)
        layout = MetalLayout(shape, own.dim_alignments, own.intervals)
        word = str(op.properties["fill_value"]).rpartition("<")[2].rstrip(">")
        number = _fill(_FILLS[word.lower().replace("_", "")], x.spec.dtype)
        zero, one = (each if x.spec.dtype.is_integer else float(each) for each in (0, 1))
        inside = self._ops.filled(one, TensorSpec(shape, x.spec.dtype, x.spec.layout, x.spec.memory_config))
        kept = self._split(inside, value.type, layout)
        return [self._ops.where(self._ops.ne(kept, zero), x, number)]

    def _kernel(self, op: Operation) -> list[Value]:
        return KernelLowering(self._ops, op, self._given).results()

    def _empty(self, op: Operation) -> list[Value]:
        return [self._ops.filled(0, spec_on_device(op.results[0].type))]


_RULES: Mapping[str, Callable[[DeviceOps, Operation], list[Value]]] = {
    "d2m.to_device": DeviceOps._to_device,
    "d2m.to_host": DeviceOps._to_host,
    "d2m.to_layout": DeviceOps._to_layout,
    "d2m.view_layout": DeviceOps._view,
    "d2m.mask": DeviceOps._mask,
    "d2m.generic": DeviceOps._kernel,
    "d2m.empty": DeviceOps._empty,
    "ttir.to_layout": DeviceOps._to_layout,
    "ttir.ttnn_metal_layout_cast": DeviceOps._to_layout,
}


def is_of_device(op: Operation) -> bool:
    """Whether an operation is lowered here: one of d2m outside kernels, or a move of TTIR to or from a device."""
    if op.name not in _RULES:
        return False
    types = [each.type for each in (*op.operands, *op.results)]
    return op.name.startswith("d2m.") or any(layout_of(each) is not None for each in types)


def _layout_property(op: Operation) -> MetalLayout:
    layout: Any = op.properties["layout"]
    return geometry(layout)


def _geometry(type_: Attribute) -> MetalLayout:
    layout = layout_of(type_)
    if layout is None:
        raise ShapeError(f"{type_} has no layout of metal")
    return geometry(layout)


def _dtype(type_: Attribute) -> DataType:
    assert isinstance(type_, TensorType)
    return dtype_in_text(type_.element_type)


def _fill(number: float, dtype: DataType) -> float:
    """A number in a type: of integers, the end of their range for an infinity."""
    if not dtype.is_integer or math.isfinite(number):
        return number
    return dtype.values[-1 if number > 0 else 0]


# --- Kernels ----------------------------------------------------------------------------------------------------------

_Index = AffineDimExpr | int
"""The number of a block along a parallel dimension, or a known number."""


class KernelLowering:
    """Lowers one `d2m.generic` of one thread.

    Args:
        ops: Makes the calls.
        op: The operation.
        outer: The tensors that it reads and writes.

    Raises:
        CompileError: It has several threads, no maps, or dimensions that no operand has.
    """

    def __init__(self, ops: OpsOfText, op: Operation, outer: Mapping[SSAValue, Value]) -> None:
        self._ops, self._op = ops, op
        self._values: dict[SSAValue, Value] = dict(outer)
        self._indices: dict[SSAValue, _Index] = {}
        self._stored: dict[SSAValue, Value] = {}
        self._outputs: dict[SSAValue, SSAValue] = {}
        if len(op.regions) != 1 or not op.properties["indexing_maps"].data:  # type: ignore[attr-defined]
            raise self._refused("kernels of one thread, whose operands are read by maps, are executed")
        kinds = [str(each) for each in op.properties["iterator_types"].data]  # type: ignore[attr-defined]
        self._parallel = [dim for dim, kind in enumerate(kinds) if "parallel" in kind]
        self._extents = self._found_extents(len(kinds))
        self._turn: dict[int, int] = {}

    def results(self) -> list[Value]:
        """The tensors behind the kernel, in the order of its outputs."""
        repeated = [dim for dim in range(len(self._extents)) if dim not in self._parallel]
        yielded: list[SSAValue] = []
        for numbers in itertools.product(*(range(self._extents[dim]) for dim in repeated)):
            self._turn = dict(zip(repeated, numbers, strict=True))
            for inner in self._op.regions[0].block.ops:
                rule = _IN_KERNELS.get(name_of(inner))
                if rule is None:
                    raise self._refused(f"`{name_of(inner)}` is not executed in a kernel", inner)
                rule(self, inner)
                if inner.name == "d2m.yield":
                    yielded = [*inner.operands]
        return [self._stored[each] for each in yielded]

    def _refused(self, reason: str, at: Operation | None = None) -> CompileError:
        return CompileError(f"`{self._op.name}`: {reason}", location=location_of(at or self._op))

    def _found_extents(self, count: int) -> list[int]:
        """How many blocks each dimension has, by the grids of the operands."""
        groups = named_operands(self._op)
        found: dict[int, int] = {}
        maps: Any = self._op.properties["indexing_maps"]
        for value, each in zip([*groups["inputs"], *groups["outputs"]], maps.data, strict=True):
            indexed: AffineMap = each.data
            for extent, expression in zip(shape_of_grid(value.type), indexed.results, strict=True):
                if isinstance(expression, AffineDimExpr) and found.setdefault(expression.position, extent) != extent:
                    raise self._refused("its operands have other numbers of blocks")
        if len(found) != count:
            raise self._refused("a dimension has no operand")
        return [found[dim] for dim in range(count)]

    @property
    def _blocks(self) -> tuple[int, ...]:
        return tuple(self._extents[dim] for dim in self._parallel)

    def block_index(self, op: Operation) -> None:
        """The number of the block along a dimension: of a repeated one that of the turn."""
        dim = op.properties["dim"].value.data  # type: ignore[attr-defined]  # an integer
        self._indices[op.results[0]] = self._turn[dim] if dim in self._turn else AffineDimExpr(dim)

    def constant(self, op: Operation) -> None:
        """An index."""
        value: Any = op.properties["value"]
        self._indices[op.results[0]] = value.value.data

    def buffer(self, op: Operation) -> None:
        """A buffer of each core, which keeps its elements from turn to turn."""
        result = op.results[0]
        if result not in self._values:
            spec = spec_on_device(result.type)
            zeros = self._ops.filled(0, spec.with_(shape=(*self._blocks, *spec.shape)))
            self._values[result] = zeros

    def load(self, op: Operation) -> None:
        """The block of a tensor on each core, in a buffer."""
        groups = named_operands(op)
        (source,) = groups["memref"]
        indices = [self._indices[each] for each in groups["indices"]]
        self._write(groups["localBuffer"], op, self._block_of(self._values[source], indices, op))

    def _block_of(self, x: Value, indices: Sequence[_Index], op: Operation) -> Value:
        axes: list[int] = []
        for axis, index in enumerate(indices):
            if isinstance(index, int):
                x = self._ops.part(x, axis, index, index + 1)
            else:
                axes.append(self._parallel.index(index.position))
        fixed = [axis for axis, index in enumerate(indices) if isinstance(index, int)]
        moving = [axis for axis, index in enumerate(indices) if not isinstance(index, int)]
        if len({*axes}) != len(axes):
            raise self._refused("a dimension indexes a tensor twice", op)
        order = [axis for _, axis in sorted(zip(axes, moving, strict=True))]
        rank = len(indices)
        x = physical.permuted(self._ops, x, (*fixed, *order, *range(rank, len(x.shape))))
        blocks = [self._extents[dim] if at in axes else 1 for at, dim in enumerate(self._parallel)]
        return self._ops.reshaped(x, (*blocks, *x.shape[rank:]))

    def store(self, op: Operation) -> None:
        """The buffers of all cores as a tensor."""
        groups = named_operands(op)
        (target,), (source,) = groups["memref"], groups["localBuffer"]
        indices = [self._indices[each] for each in groups["indices"]]
        made = self._tensor_of(self._values[source], indices, target, op)
        for each in (target, *op.results):
            self._stored[each] = self._values[each] = made

    def _tensor_of(self, x: Value, indices: Sequence[_Index], target: SSAValue, op: Operation) -> Value:
        dims = [None if isinstance(each, int) else self._parallel.index(each.position) for each in indices]
        if sorted(each for each in dims if each is not None) != [*range(len(self._parallel))]:
            raise self._refused("cores write to the same block", op)
        inner = x.shape[len(self._parallel) :]
        whole = (*self._blocks, *inner)
        x = x if x.shape == whole else self._ops.expand(x, whole)
        order = [each for each in dims if each is not None]
        x = physical.permuted(self._ops, x, (*order, *range(len(order), len(whole))))
        grid = [1 if each is None else self._blocks[each] for each in dims]
        if [*shape_of_grid(target.type)] != grid:
            raise self._refused("it writes a part of a tensor", op)
        return self._ops.reshaped(x, (*grid, *inner))

    # --- Circular buffers of December 2025 ----------------------------------------------------------------------------

    def _indices_of(self, indexed: AffineMap) -> list[_Index]:
        """The blocks that a map of the dimensions gives in this turn."""
        found: list[_Index] = []
        for each in indexed.results:
            if isinstance(each, AffineDimExpr):
                found.append(self._turn.get(each.position, each))
            elif isinstance(each, AffineConstantExpr):
                found.append(each.value)
            else:
                raise self._refused(f"blocks are not read by {each}")
        return found

    def unwrap(self, op: Operation) -> None:
        """The block of a circular buffer: of an input's the one that is read, of an output's one to be written."""
        argument = op.operands[0]
        if not isinstance(argument, BlockArgument):
            raise self._refused("a circular buffer is no argument of the kernel", op)
        groups = named_operands(self._op)
        operands = [*groups["inputs"], *groups["outputs"]]
        if argument.index >= len(groups["inputs"]):
            self._outputs[op.results[0]] = operands[argument.index]
            self.buffer(op)
            return
        maps: Any = self._op.properties["indexing_maps"]
        indices = self._indices_of(maps.data[argument.index].data)
        self._write([], op, self._block_of(self._values[operands[argument.index]], indices, op))

    def transfer(self, op: Operation) -> None:
        """A block that is read from a tensor, or written to one, by a map."""
        groups = named_operands(op)
        (source,), (target,) = groups["src"], groups["dst"]
        read, written = op.properties.get("srcAffineMap"), op.properties.get("dstAffineMap")
        if groups["srcIndices"] or groups["dstIndices"] or (read is None) == (written is None):
            raise self._refused("transfers of one whole block by a map are executed", op)
        if read is not None:
            indices = self._indices_of(read.data)  # type: ignore[attr-defined]  # a map
            self._values[target] = self._block_of(self._values[source], indices, op)
            return
        assert written is not None
        indices = self._indices_of(written.data)  # type: ignore[attr-defined]  # a map
        self._stored[source] = self._tensor_of(self._values[source], indices, target, op)

    def finish(self, op: Operation) -> None:
        """Ends a turn: the buffers of outputs become tensors, by the maps of the outputs."""
        groups = named_operands(self._op)
        maps: Any = self._op.properties["indexing_maps"]
        for value in op.operands:
            if value in self._outputs and value not in self._stored:
                output = self._outputs[value]
                index = len(groups["inputs"]) + [*groups["outputs"]].index(output)
                indices = self._indices_of(maps.data[index].data)
                self._stored[value] = self._tensor_of(self._values[value], indices, output, op)

    def tilize(self, op: Operation) -> None:
        """The tiles of a block."""
        source, target = op.operands[:2]
        self._write([target], op, physical.tilized(self._ops, self._values[source], _dtype(target.type)))

    def untilize(self, op: Operation) -> None:
        """The elements of a block of tiles."""
        source, target = op.operands[:2]
        x = physical.untilized(self._ops, self._values[source])
        self._write([target], op, self._ops.rounded(x, _dtype(target.type)))

    def multiply(self, op: Operation) -> None:
        """The product of two blocks of tiles, added to what the output has."""
        groups = named_operands(op)
        left, right, target = (groups[name][0] for name in ("a", "b", "output"))
        first, second = (physical.untilized(self._ops, self._values[each]) for each in (left, right))
        if not isinstance(target.owner, Operation) or target.owner.name not in _BUFFERS:
            raise self._refused("a product is added to what an earlier operation has written", op)
        transposed: Any = op.properties.get("transpose_b")
        if transposed is not None and transposed.value.data:
            rank = len(second.shape)
            second = physical.permuted(self._ops, second, (*range(rank - 2), rank - 1, rank - 2))
        product = self._ops.matmul(*(self._in_all_blocks(each) for each in (first, second)))
        kept = self._values[target]
        made = physical.tilized(self._ops, product, kept.spec.dtype)
        if any(self._turn.values()):
            made = self._ops.add(kept, made)
        self._write([target], op, physical.in_tiles(self._ops, made, _dtype(target.type)))

    def _in_all_blocks(self, x: Value) -> Value:
        whole = (*self._blocks, *x.shape[len(self._parallel) :])
        return x if x.shape == whole else self._ops.expand(x, whole)

    def nothing(self, op: Operation) -> None:
        """Waits for a transfer, which has happened."""

    def _write(self, buffers: Sequence[SSAValue], op: Operation, x: Value) -> None:
        for each in (*buffers, *op.results):
            self._values[each] = x


_IN_KERNELS: Mapping[str, Callable[[KernelLowering, Operation], None]] = {
    "arith.constant": KernelLowering.constant,
    "d2m.block_index": KernelLowering.block_index,
    "d2m.remote_load": KernelLowering.load,
    "d2m.remote_store": KernelLowering.store,
    "d2m.tile_matmul_block": KernelLowering.multiply,
    "d2m.tile_tilize_block": KernelLowering.tilize,
    "d2m.tile_untilize_block": KernelLowering.untilize,
    "d2m.dma": KernelLowering.transfer,
    "d2m.dma_wait": KernelLowering.nothing,
    "d2m.reserve": KernelLowering.unwrap,
    "d2m.wait": KernelLowering.unwrap,
    "d2m.yield": KernelLowering.finish,
    "tensor.empty": KernelLowering.buffer,
}
"""Operation -> how it is lowered in the region of a kernel."""

_BUFFERS = frozenset({"tensor.empty", "d2m.reserve"})
"""Operations that make a buffer, zeros before the first turn."""

_OF_D2M = {name for name in _RULES if name.startswith("d2m.")}
D2M_OPS = frozenset({*_OF_D2M, *_IN_KERNELS, "d2m.spatial", "d2m.spatial_yield"})
"""Operations of functions that are lowered here, with those of kernels."""
