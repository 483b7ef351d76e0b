"""Addresses of the tensors of a function, by their lifetimes."""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, IntegerType, MemRefType, TensorType, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import LayoutView, has_layout
from ttnn_jit.process.dataclass import dataclass

ALIGNMENT = 32
"""Addresses are multiples of this many bytes, as both architectures' DRAM and L1 ask."""

_SPACES = {"dram": "dram", "l1": "l1", "l1_small": "l1"}
_FREED = {"ttnn.deallocate", "ttir.dealloc"}


@dataclass(frozen=True)
class Buffer:
    """A tensor in the memory of a device.

    Attributes:
        size: Bytes: of the whole tensor if it is interleaved, of a shard on each core if it is sharded.
        first: The number of the operation that makes it; -1 for an argument.
        last: The number of the last operation that reads it.
    """

    value: SSAValue
    space: str
    size: int
    first: int
    last: int


def allocate(function: FuncOp, bases: Mapping[str, int], rewriter: Rewriter) -> dict[str, int]:
    """Gives each tensor on a device an address; the peak of each memory space in bytes.

    An argument gets `ttcore.arg_alloc`; an operation `ttcore.result_allocs`, one entry for each result, and
    `ttir.empty` becomes `ttir.alloc`. Tensors that live at one time never overlap.

    Args:
        function: The function.
        bases: Memory space -> its first free address.
        rewriter: Writes operations.
    """
    buffers = _buffers(function)
    addresses, peaks = place(buffers, bases)
    _annotate_arguments(function, addresses, buffers)
    of_value = {buffer.value: buffer for buffer in buffers}
    for op in [*function.body.block.ops]:
        placed = [of_value.get(result) for result in op.results]
        if not any(placed):
            continue
        listed = [_attribute(addresses[each.value], each) if each else parsed("unit") for each in placed]
        if op.name == "ttir.empty" and placed[0] is not None:
            _replace_empty(op, placed[0], addresses[op.results[0]], rewriter)
        else:
            op.attributes["ttcore.result_allocs"] = ArrayAttr(listed)
    rewriter.changes += len(buffers)
    function.attributes["ttcore.peak_bytes"] = DictionaryAttr(
        {name: IntegerAttr(size, i64) for name, size in peaks.items()}
    )
    return peaks


def _buffers(function: FuncOp) -> list[Buffer]:
    block = function.body.block
    place_of = {op: number for number, op in enumerate(block.ops)}
    end = len(place_of)
    values: list[tuple[SSAValue, int]] = [(argument, -1) for argument in block.args]
    values += [(result, number) for op, number in place_of.items() for result in op.results]
    found = []
    for value, first in values:
        if not has_layout(value.type):
            continue
        view = LayoutView(value.type)
        if view.memory not in _SPACES:
            continue
        readers = [use.operation for use in value.uses]
        returned = any(isinstance(each, ReturnOp) for each in readers)
        freed = [place_of[each] for each in readers if each.name in _FREED and each in place_of]
        last = max((place_of.get(each, end) for each in readers), default=max(first, 0))
        # An argument is the caller's: it lives until it is freed, or to the end.
        if returned or (first < 0 and not freed):
            last = end
        found.append(Buffer(value, _SPACES[view.memory], byte_size(value.type), first, last))
    return found


def place(buffers: Sequence[Buffer], bases: Mapping[str, int]) -> tuple[dict[SSAValue, int], dict[str, int]]:
    """The address of each buffer, the lowest that is free during its life; the peak of each space in bytes."""
    addresses: dict[SSAValue, int] = {}
    living: dict[str, list[tuple[int, int, int]]] = {}  # by address: where each begins and ends, and its last reader
    peaks: dict[str, int] = {}
    for buffer in sorted(buffers, key=lambda each: (each.first, -each.size)):
        base = bases.get(buffer.space, 0)
        own = living[buffer.space] = [each for each in living.get(buffer.space, ()) if each[2] >= buffer.first]
        address = _aligned(base)
        for start, end, _ in own:
            if address + buffer.size <= start:
                break
            address = max(address, _aligned(end))
        addresses[buffer.value] = address
        bisect.insort(own, (address, address + buffer.size, buffer.last))
        peaks[buffer.space] = max(peaks.get(buffer.space, 0), address + buffer.size - base)
    return addresses, peaks


def _aligned(address: int) -> int:
    return math.ceil(address / ALIGNMENT) * ALIGNMENT


def byte_size(type_: Attribute) -> int:
    """The bytes of a tensor as its layout holds it: of a shard if it is sharded."""
    assert isinstance(type_, TensorType)
    layout: Any = type_.encoding
    memref = layout.memref if hasattr(layout, "memref") else layout.value("memref")
    assert isinstance(memref, MemRefType)
    element = memref.element_type
    if isinstance(element, TileType):
        each = element.nbytes
    elif isinstance(element, IntegerType):
        each = math.ceil(element.width.data / 8)
    else:
        each = int(getattr(element, "size", 4))
    return math.prod(memref.get_shape()) * each


def _attribute(address: int, buffer: Buffer) -> Attribute:
    return parsed(f"#ttcore.arg_alloc<{address}, {buffer.size}, {buffer.space}>")


def _annotate_arguments(function: FuncOp, addresses: Mapping[SSAValue, int], buffers: Sequence[Buffer]) -> None:
    arguments = function.body.block.args
    given = [*(function.arg_attrs or [DictionaryAttr({})] * len(arguments))]
    for buffer in buffers:
        if buffer.first < 0:
            assert isinstance(buffer.value, BlockArgument), "nothing else is there before the first operation"
            index = buffer.value.index
            alloc = _attribute(addresses[buffer.value], buffer)
            given[index] = DictionaryAttr({**given[index].data, "ttcore.arg_alloc": alloc})
    function.arg_attrs = ArrayAttr(given)


def _replace_empty(op: Operation, buffer: Buffer, address: int, rewriter: Rewriter) -> None:
    properties = {
        "address": IntegerAttr(address, i64),
        "size": IntegerAttr(buffer.size, i64),
        "memory_space": parsed(f"#ttcore.memory_space<{buffer.space}>"),
    }
    made = rewriter.value("ttir.alloc", {}, properties, op.results[0].type, op)
    rewriter.replace(op, [made])
