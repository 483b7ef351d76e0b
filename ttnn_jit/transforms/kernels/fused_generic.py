"""Fuses several `d2m.generic` ops, producers and consumers, into one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import BlockArgument, SSAValue

from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.builders import linalg_yield
from ttnn_jit.dialects.locations import fused_location
from ttnn_jit.dialects.writing.creation import empty_block
from ttnn_jit.dialects.writing.editing import append, detach_all, erase, insert_before, replace_uses
from ttnn_jit.transforms.kernels.kernel_body import linalg_of
from ttnn_jit.transforms.kernels.kernel_ops import KernelShape, kernel_op

_Key = tuple[SSAValue, AffineMapAttr]


def fuse(group: Sequence[d2m.GenericOp], *, share_inputs: bool, keep_wide: bool) -> d2m.GenericOp:
    """Fuses `group` into one kernel, which replaces its last member; all members are erased.

    Args:
        group: Kernels in program order; only members read the results of all but the last.
        share_inputs: Whether reads of one tensor by equal maps share one input; otherwise each has its own.
        keep_wide: Whether a narrowing for a store and the widening after its load are elided between members.
    """
    if len(group) == 1 and not (share_inputs and _reads_twice(group[0])):
        return group[0]
    return _Fusion(group, share_inputs=share_inputs, keep_wide=keep_wide).build()


def _reads_twice(kernel: d2m.GenericOp) -> bool:
    keys = _operand_keys(kernel)
    return len(set(keys)) < len(keys)


def _operand_keys(kernel: d2m.GenericOp) -> list[_Key]:
    return list(zip(kernel.operands[:-1], kernel.indexing_maps.data, strict=False))


class _Fusion:
    """One fused kernel under construction: inputs are collected while the members' ops are moved."""

    def __init__(self, group: Sequence[d2m.GenericOp], *, share_inputs: bool, keep_wide: bool) -> None:
        self._group = group
        self._share_inputs = share_inputs
        self._keep_wide = keep_wide
        self._inputs: list[SSAValue] = []
        self._maps: list[AffineMapAttr] = []
        self._buffers: list[d2m.CBType] = []
        self._tiles: dict[_Key, SSAValue] = {}
        self._body = empty_block()

    def build(self) -> d2m.GenericOp:
        """Builds the kernel, replaces the last member by it and erases the members."""
        produced: dict[SSAValue, SSAValue] = {}
        for member in self._group:
            produced[member.results[0]] = self._move_ops(member, produced)
        root = self._group[-1]
        result = produced.pop(root.results[0])
        if self._keep_wide:
            _erase_unused_casts(value for value in produced.values() if value is not result)
        root_body = linalg_of(root)
        location = fused_location(member.location for member in self._group)
        self._body.insert_arg(root_body.body.block.args[-1].type, len(self._body.args))
        append(self._body, (linalg_yield((result,), root_body.location),))
        self._buffers.append(root.buffers[-1])
        self._maps.append(root.indexing_maps.data[-1])
        shape = KernelShape(root.grid, tuple(self._maps), tuple(self._buffers))
        fused = kernel_op(self._inputs, root.operands[-1], shape, self._body, location)
        self._replace_group(fused)
        return fused

    def _move_ops(self, member: d2m.GenericOp, produced: dict[SSAValue, SSAValue]) -> SSAValue:
        """Moves a member's tile ops to the fused body and returns the tile that it yields."""
        block = linalg_of(member).body.block
        for argument, key, buffer in zip(block.args, _operand_keys(member), member.buffers, strict=False):
            tile = produced.get(key[0])
            if tile is None:
                tile = self._input_tile(argument, key, buffer)
            elif self._keep_wide:
                _skip_rounding(argument, tile)
            replace_uses(argument, tile)
        *ops, terminator = detach_all(block)
        assert isinstance(terminator, YieldOp), "the body of a linalg.generic ends with linalg.yield"
        result = terminator.operands[0]
        erase(terminator)
        append(self._body, ops)
        return result

    def _input_tile(self, argument: BlockArgument, key: _Key, buffer: d2m.CBType) -> SSAValue:
        if self._share_inputs and key in self._tiles:
            return self._tiles[key]
        self._inputs.append(key[0])
        self._maps.append(key[1])
        self._buffers.append(buffer)
        tile = self._body.insert_arg(argument.type, len(self._body.args))
        self._tiles[key] = tile
        return tile

    def _replace_group(self, fused: d2m.GenericOp) -> None:
        root = self._group[-1]
        insert_before(fused, root)
        replace_uses(root.results[0], fused.results[0])
        for member in reversed(self._group):
            empty = member.operands[-1].owner
            erase(member)
            if isinstance(empty, d2m.EmptyOp) and empty.results[0].first_use is None:
                erase(empty)


def _skip_rounding(argument: SSAValue, value: SSAValue) -> None:
    """Replaces a widening of `argument` by the value that its producer narrowed to `value`, unless the user cast it."""
    narrowing = value.owner
    if not isinstance(narrowing, d2m.TileTypecastOp) or narrowing.is_called:
        return
    wide = narrowing.operands[0]
    for use in list(argument.uses):
        widening = use.operation
        if isinstance(widening, d2m.TileTypecastOp) and widening.results[0].type == wide.type:
            replace_uses(widening.results[0], wide)
            erase(widening)


def _erase_unused_casts(values: Iterable[SSAValue]) -> None:
    for value in values:
        if isinstance(value.owner, d2m.TileTypecastOp) and value.first_use is None:
            erase(value.owner)
