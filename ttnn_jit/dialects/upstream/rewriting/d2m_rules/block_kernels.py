"""Kernels that read a block of one tensor on each core, and write a block of another, in the forms of both versions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IndexType, TensorType, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ttnn_jit.dialects.ttcore import iterator_type
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.metal_types import DRAM, memory_of, shape_of_grid
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.virtual_grids import kernel_grid
from ttnn_jit.dialects.upstream.rewriting.made_attributes import integer, parsed, parsed_type
from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, DECEMBER, Given, Rewriter


def kernel(
    place: Operation,
    rewriter: Rewriter,
    value: SSAValue,
    output: SSAValue,
    conversion: str = "",
    grid: Attribute | None = None,
) -> SSAValue:
    """The result of a kernel.

    Args:
        place: The operation before which it stands.
        rewriter: Writes operations, in the form of its version.
        value: The tensor that is read.
        output: The tensor that is written, over the same number of blocks.
        conversion: The operation that converts a block; by default it is copied.
        grid: The grid of cores; by default that of `output`.
    """
    shape = shape_of_grid(output.type)
    rank = len(shape)
    body = _BODIES[rewriter.version](place, rewriter, value, output)
    thread = body.finish(rank, conversion)
    identity = AffineMapAttr(AffineMap.identity(rank))
    properties = {
        "grid": kernel_grid(output, shape) if grid is None else grid,
        "block_factors": ArrayAttr([integer(1, i64)] * rank),
        "indexing_maps": ArrayAttr([identity, identity]),
        "iterator_types": ArrayAttr([iterator_type("parallel")] * rank),
        "threads": parsed(f"[#d2m.thread<{thread}>]"),
    }
    operands: dict[str, Given] = {"inputs": [value], "outputs": [output]}
    # Its assembly is the same in both versions, and is read in the form of August.
    made = Rewriter(AUGUST).create("d2m.generic", operands, properties, [output.type], place, [body.region])
    found: SSAValue = made.results[0]
    return found


class KernelBody(ABC):
    """The region of a kernel.

    Args:
        place: The operation whose location its operations take.
        rewriter: Writes operations.
        value: The tensor that is read.
        output: The tensor that is written.

    Attributes:
        region: The region.
    """

    def __init__(self, place: Operation, rewriter: Rewriter, value: SSAValue, output: SSAValue) -> None:
        self.region = Region(Block())
        self._place, self._rewriter = place, rewriter
        self._value, self._output = value, output

    @abstractmethod
    def finish(self, rank: int, conversion: str) -> str:
        """Writes the operations, for a grid of `rank` dimensions; the kind of the thread."""

    def _add(
        self,
        name: str,
        operands: dict[str, Given],
        types: Sequence[Attribute],
        properties: dict[str, Attribute] | None = None,
    ) -> SSAValue | None:
        op = self._rewriter.detached(name, operands, properties or {}, types, self._place)
        self.region.block.add_op(op)
        return op.results[0] if op.results else None

    def _made(
        self, name: str, operands: dict[str, Given], type_: Attribute, properties: dict[str, Attribute] | None = None
    ) -> SSAValue:
        found = self._add(name, operands, [type_], properties)
        assert found is not None
        return found


class BodyOfAugust(KernelBody):
    """A region of one thread that loads a block into a buffer, and stores one."""

    def finish(self, rank: int, conversion: str) -> str:
        """Writes the operations."""
        indices = [self._made("d2m.block_index", {}, IndexType(), {"dim": integer(dim, i64)}) for dim in range(rank)]
        type_ = _shard_type(self._value.type)
        buffer = self._made("tensor.empty", {}, type_)
        loaded: dict[str, Given] = {"localBuffer": buffer, "memref": self._value, "indices": indices}
        block = self._made("d2m.remote_load", loaded, type_)
        if conversion:
            converted = _shard_type(self._output.type)
            target = self._made("tensor.empty", {}, converted)
            block = self._made(conversion, {"input": block, "output": target}, converted)
        stored: dict[str, Given] = {"memref": self._output, "indices": indices, "localBuffer": block}
        self._add("d2m.yield", {"values": [self._made("d2m.remote_store", stored, self._output.type)]}, [])
        return "unified"


class BodyOfDecember(KernelBody):
    """A region whose arguments are circular buffers: one thread converts a block, or another one moves it."""

    def finish(self, rank: int, conversion: str) -> str:
        """Writes the operations."""
        types = [_shard_type(each.type) for each in (self._value, self._output)]
        buffers = [self.region.block.insert_arg(parsed_type(f"!d2m.cb<{each}>"), at) for at, each in enumerate(types)]
        if conversion:
            block = self._made("d2m.wait", {"cb": buffers[0]}, types[0])
            target = self._made("d2m.reserve", {"cb": buffers[1]}, types[1])
            self._add(conversion, {"input": block, "output": target}, [])
            self._add("d2m.yield", {"values": [target]}, [])
            return "compute"
        identity = AffineMapAttr(AffineMap.identity(rank))
        transfer = parsed_type("!d2m.mem_tx")
        writes = memory_of(self._output.type) == DRAM
        local = self._made("d2m.reserve", {"cb": buffers[0 if writes else 1]}, types[0 if writes else 1])
        source, target = (local, self._output) if writes else (self._value, local)
        mapped = "dstAffineMap" if writes else "srcAffineMap"
        sent = self._made("d2m.dma", {"src": source, "dst": target}, transfer, {mapped: identity})
        self._add("d2m.dma_wait", {"mem_tx": sent}, [])
        self._add("d2m.yield", {"values": [local]}, [])
        return "datamovement"


_BODIES: dict[str, type[KernelBody]] = {AUGUST: BodyOfAugust, DECEMBER: BodyOfDecember}


def _shard_type(type_: Attribute) -> TensorType[Any]:
    """The type of the block of a core."""
    assert isinstance(type_, TensorType)
    shape = type_.get_shape()
    return TensorType(type_.element_type, shape[len(shape) // 2 :])
