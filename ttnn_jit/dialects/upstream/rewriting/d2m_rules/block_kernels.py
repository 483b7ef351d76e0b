"""Kernels of one thread that read a block of one tensor on each core, and write a block of another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IndexType, TensorType, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ttnn_jit.dialects.ttcore import iterator_type
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.metal_types import shape_of_grid
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.virtual_grids import kernel_grid
from ttnn_jit.dialects.upstream.rewriting.made_attributes import integer, parsed
from ttnn_jit.dialects.upstream.rewriting.rewriter import Given, Rewriter

Written = Callable[["KernelBody", SSAValue], SSAValue]
"""``body, block -> block``: what a kernel computes of the block that it has read."""


def kernel(
    place: Operation,
    rewriter: Rewriter,
    value: SSAValue,
    output: SSAValue,
    written: Written,
    grid: Attribute | None = None,
) -> SSAValue:
    """The result of a kernel.

    Args:
        place: The operation before which it stands.
        rewriter: Writes operations.
        value: The tensor that is read.
        output: The tensor that is written, over the same number of blocks.
        written: What is written of a block.
        grid: The grid of cores; by default that of `output`.
    """
    shape = shape_of_grid(output.type)
    rank = len(shape)
    body = KernelBody(place, rewriter)
    body.finish(value, output, rank, written)
    identity = AffineMapAttr(AffineMap.identity(rank))
    properties = {
        "grid": kernel_grid(output, shape) if grid is None else grid,
        "block_factors": ArrayAttr([integer(1, i64)] * rank),
        "indexing_maps": ArrayAttr([identity, identity]),
        "iterator_types": ArrayAttr([iterator_type("parallel")] * rank),
        "threads": parsed("[#d2m.thread<unified>]"),
    }
    operands: dict[str, Given] = {"inputs": [value], "outputs": [output]}
    made = rewriter.create("d2m.generic", operands, properties, [output.type], place, [body.region])
    found: SSAValue = made.results[0]
    return found


def as_it_is(_: KernelBody, block: SSAValue) -> SSAValue:
    """What a kernel that copies writes."""
    return block


class KernelBody:
    """The region of a kernel of one thread.

    Args:
        place: The operation whose location its operations take.
        rewriter: Writes operations.

    Attributes:
        region: The region.
    """

    def __init__(self, place: Operation, rewriter: Rewriter) -> None:
        self.region = Region(Block())
        self._place, self._rewriter = place, rewriter
        self._output: SSAValue | None = None

    def finish(self, value: SSAValue, output: SSAValue, rank: int, written: Written) -> None:
        """Reads the core's block of `value`, and writes what `written` makes of it into that of `output`."""
        self._output = output
        indices = [self._add("d2m.block_index", {}, IndexType(), {"dim": integer(dim, i64)}) for dim in range(rank)]
        type_ = _shard_type(value.type)
        buffer = self._add("tensor.empty", {}, type_)
        block = self._add("d2m.remote_load", {"localBuffer": buffer, "memref": value, "indices": indices}, type_)
        made = written(self, block)
        operands: dict[str, Given] = {"memref": output, "indices": indices, "localBuffer": made}
        stored = self._add("d2m.remote_store", operands, output.type)
        self.region.block.add_op(self._rewriter.detached("d2m.yield", {"values": [stored]}, {}, [], self._place))

    def converted(self, name: str, block: SSAValue) -> SSAValue:
        """The tiles of a block of elements, or the elements of a block of tiles."""
        assert self._output is not None
        type_ = _shard_type(self._output.type)
        target = self._add("tensor.empty", {}, type_)
        return self._add(name, {"input": block, "output": target}, type_)

    def _add(
        self, name: str, operands: dict[str, Any], type_: Attribute, properties: dict[str, Attribute] | None = None
    ) -> SSAValue:
        op = self._rewriter.detached(name, operands, properties or {}, [type_], self._place)
        self.region.block.add_op(op)
        found: SSAValue = op.results[0]
        return found


def _shard_type(type_: Attribute) -> TensorType[Any]:
    """The type of the block of a core."""
    assert isinstance(type_, TensorType)
    shape = type_.get_shape()
    return TensorType(type_.element_type, shape[len(shape) // 2 :])
