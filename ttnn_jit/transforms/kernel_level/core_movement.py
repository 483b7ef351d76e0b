"""The reader and the writer of a kernel: pages of tensors to circular buffers, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, LocationAttr, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.d2m import GenericOp
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed_type
from ttnn_jit.transforms.kernel_level.block_walk import BlockOfTiles, BlockWalk
from ttnn_jit.transforms.kernel_level.kernel_writer import INDEX, Index, KernelWriter
from ttnn_jit.transforms.kernel_level.operand_layout import Operand

Buffers = Mapping[int, tuple[int, str]]
"""Operand's index -> the index of its circular buffer among what the host passes, and the text of its type."""


def reader(name: str, op: GenericOp, operands: Sequence[Operand], buffers: Buffers, columns: int) -> FuncOp:
    """The kernel that fills the circular buffers of the inputs; `columns` of the cores that run it."""
    return _movement(name, op, operands, operands[: len(op.inputs)], buffers, columns, reads=True)


def writer(name: str, op: GenericOp, operands: Sequence[Operand], buffers: Buffers, columns: int) -> FuncOp:
    """The kernel that writes the tiles of the outputs' circular buffers to their tensors."""
    return _movement(name, op, operands, operands[len(op.inputs) :], buffers, columns, reads=False)


def _movement(
    name: str,
    op: GenericOp,
    operands: Sequence[Operand],
    own: Sequence[Operand],
    buffers: Buffers,
    columns: int,
    *,
    reads: bool,
) -> FuncOp:
    kernel = KernelWriter(name, "noc", op.location)
    moved = [each for each in own if each.number in buffers]
    visitor = _Mover(kernel, moved, buffers, columns, reads=reads)
    BlockWalk(kernel, operands, visitor).run(op)
    return kernel.finish()


class _Mover:
    """Moves the blocks of some operands between tensors and circular buffers."""

    def __init__(
        self, kernel: KernelWriter, operands: Sequence[Operand], buffers: Buffers, columns: int, *, reads: bool
    ) -> None:
        self._kernel = kernel
        self._reads = reads
        self._buffers: dict[int, SSAValue] = {}
        self._accessors: dict[int, SSAValue] = {}
        for each in operands:
            index, type_ = buffers[each.number]
            at = kernel.add_argument("cb_port", index, is_compile_time=True)
            self._buffers[each.number] = buffer_argument(kernel, at, type_)
        self._make_accessors(operands)
        grid = operands[0].grid if operands else ()
        self._cores = _core_indices(kernel, grid, columns) if operands else []

    def _make_accessors(self, operands: Sequence[Operand]) -> None:
        arguments: SSAValue | None = None
        addresses = []
        for each in operands:
            at = self._kernel.add_argument("tensor_accessor_args", each.number, is_compile_time=True)
            given = (
                {"cta_base": self._kernel.i32(at), "crta_base": self._kernel.i32(0)}
                if arguments is None
                else {"prev_args": arguments}
            )
            arguments = self._kernel.result("TensorAccessorArgs", given, parsed_type("!ttkernel.TensorAccessorArgs"))
            at = self._kernel.add_argument("buffer_address", each.number, is_compile_time=False)
            addresses.append((each, arguments, self._kernel.result("get_common_arg_val", {"arg_index": at}, i32)))
        for each, own, address in addresses:
            self._accessors[each.number] = self._kernel.result(
                "TensorAccessor",
                {"args": own, "bank_base_address_in": address},
                parsed_type("!ttkernel.TensorAccessor"),
            )

    def enter(self, block: BlockOfTiles, view: SSAValue) -> None:
        """Moves a block."""
        if block.operand.number not in self._buffers:
            return
        owner = view.owner
        location = owner.location if isinstance(owner, Operation) else None
        assert isinstance(location, LocationAttr)
        with self._kernel.at(location):
            self._move(block)

    def leave(self, block: BlockOfTiles) -> None:
        """Nothing: a block is passed on where it is taken."""

    def visit(self, ops: Sequence[Operation], walk: BlockWalk) -> None:
        """Nothing: tile ops are of the compute kernel."""

    def _move(self, block: BlockOfTiles) -> None:
        kernel, buffer = self._kernel, self._buffers[block.operand.number]
        count = {"cb": buffer, "numPages": kernel.i32(block.tiles)}
        kernel.op("cb_reserve_back" if self._reads else "cb_wait_front", count)
        pointer = kernel.result("get_write_ptr" if self._reads else "get_read_ptr", {"cb": buffer}, i32)
        with kernel.loops(block.extents) as indices:
            self._move_tile(block, indices, pointer)
        kernel.op("noc_async_read_barrier" if self._reads else "noc_async_write_barrier")
        kernel.op("cb_push_back" if self._reads else "cb_pop_front", count)

    def _move_tile(self, block: BlockOfTiles, indices: Sequence[Index], pointer: SSAValue) -> None:
        kernel, operand = self._kernel, block.operand
        place = [
            self._place(operand, dimension, kernel.add(offset, index))
            for dimension, (offset, index) in enumerate(zip(block.offsets, indices, strict=True))
        ]
        inside: SSAValue | bool = True
        for dimension, index in enumerate(place):
            if operand.may_leave(dimension):
                inside = kernel.both(inside, kernel.is_below(index, operand.tiles[dimension]))
        own = kernel.multiply(kernel.linear(indices, block.extents), operand.pages.page_bytes)
        with kernel.only_if(inside):
            page = kernel.linear(place, operand.page_extents)
            accessor, address = self._accessors[operand.number], kernel.add_bytes(pointer, own)
            if self._reads:
                given = {"id": kernel.as_i32(page), "addrGenStruct": accessor, "dstLocalL1Addr": address}
                kernel.op("noc_async_read_tile", given)
            else:
                kernel.op("noc_async_write_tile", {"id": page, "addrGenStruct": accessor, "srcLocalL1Addr": address})

    def _place(self, operand: Operand, dimension: int, own: Index) -> Index:
        cut = operand.cuts[dimension]
        if cut is None:
            return own
        return self._kernel.add(self._kernel.multiply(self._cores[cut], operand.shard[dimension]), own)


def buffer_argument(kernel: KernelWriter, index: int, type_: str) -> SSAValue:
    """A circular buffer that is a compile-time argument."""
    return kernel.result("get_compile_time_arg_val", {}, parsed_type(type_), arg_index=_number(index))


def _number(value: int) -> IntegerAttr[Any]:
    return IntegerAttr(value, i32)


def _core_indices(kernel: KernelWriter, grid: Sequence[int], columns: int) -> list[Index]:
    """The indices of the core along the dimensions of the kernel's grid."""
    if all(extent == 1 for extent in grid):
        return [0] * len(grid)
    row, column = kernel.result("my_logical_y_", {}, INDEX), kernel.result("my_logical_x_", {}, INDEX)
    if len(grid) == 2 and grid[1] == columns:
        return [row, column]
    rest = kernel.add(kernel.multiply(row, columns), column)
    found: list[Index] = []
    for extent in reversed(grid):
        value = kernel.value(rest)
        found.append(kernel.remainder(value, extent))
        rest = kernel.quotient(value, extent)
    return found[::-1]
