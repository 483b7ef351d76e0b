"""d2m-generic-fusion: fuses kernels as far as the target's rules allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Block, SSAValue

from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.writing.editing import ops_of
from ttnn_jit.ops import COPY
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.target import Numerics, SystemDesc
from ttnn_jit.transforms.kernels.fused_generic import fuse
from ttnn_jit.transforms.kernels.kernel_body import dst_dtype, generics_in, linalg_of, operation_names, tile_dtypes
from ttnn_jit.transforms.kernels.partition import FusionNode, Partition, partition
from ttnn_jit.transforms.kernels.pass_bases import FunctionPass
from ttnn_jit.transforms.passes.convert_ttir_to_d2m import NOT_HOISTED

NOT_FUSED = "d2m.not_fused"
"""On a producer: for each kernel that reads its result, the predicate that prevented fusion."""


@dataclass(frozen=True)
class D2MGenericFusion(FunctionPass):
    """Fuses groups of kernels by the predicates of transforms/kernels/partition.py.

    The inputs of a fused kernel are the tensors that its ops read, in source order: on targets that fuse trees only,
    one per use (a function argument that is read twice has two circular buffers), on the others one per tensor. Ops
    stay in source order. For every pair that is not fused, the producer's kernel has the attribute ``d2m.not_fused``.

    Attributes:
        fuse: False leaves one kernel per op, for comparison.
        fp32_dest_acc: Values between ops of a kernel are not rounded, under device numerics too.
    """

    name = "d2m-generic-fusion"

    fuse: bool = True
    fp32_dest_acc: bool = False

    def change(self, block: Block, target: SystemDesc) -> None:
        """Fuses in one function."""
        if self.fuse:
            fuse_block(block, target, keep_wide=self.fp32_dest_acc or target.numerics is Numerics.IEEE)


def fuse_block(block: Block, target: SystemDesc, *, keep_wide: bool) -> None:
    """Fuses the kernels of one function's body; `keep_wide` drops the roundings between fused ops."""
    kernels = generics_in(block)
    parted = partition(fusion_nodes(kernels, keep_wide=keep_wide), target)
    names = [operation_names(linalg_of(kernel).body.ops) or (COPY.name,) for kernel in kernels if parted.refusals]
    survivors = {
        group[-1]: fuse(
            [kernels[number] for number in group],
            share_inputs=target.fuses_multi_user_values,
            keep_wide=keep_wide,
        )
        for group in parted.groups
    }
    _record_refusals(parted, survivors, names)


def fusion_nodes(kernels: Sequence[d2m.GenericOp], *, keep_wide: bool) -> list[FusionNode]:
    """The kernels of one block as nodes of the partition; see `fuse_block`."""
    number_of: dict[SSAValue, int] = {kernel.results[0]: number for number, kernel in enumerate(kernels)}
    return [_fusion_node(kernel, number_of, keep_wide=keep_wide) for kernel in kernels]


def _fusion_node(kernel: d2m.GenericOp, number_of: dict[SSAValue, int], *, keep_wide: bool) -> FusionNode:
    grid = kernel.grid.data
    spaces = tuple(
        (indexing_map, grid, buffer.underlying.shape)  # what may depend on sizes comes last
        for buffer, indexing_map in zip(kernel.buffers, kernel.indexing_maps.data, strict=True)
    )
    body = linalg_of(kernel).body.block
    tiles = [*body.args, *(op.results[0] for op in ops_of(body) if op.results)]
    dtypes = tile_dtypes(tiles)
    dtype = dst_dtype(dtypes)
    users = [use.operation for use in kernel.results[0].uses]
    return FusionNode(
        # Tensors that no node defines get distinct negative numbers.
        operands=tuple(number_of.setdefault(value, -len(number_of) - 1) for value in kernel.operands[:-1]),
        operand_spaces=spaces[:-1],
        space=spaces[-1],
        users=len(users),
        returned=not all(isinstance(user, d2m.GenericOp) for user in users),
        wide=any(dtype.is_wide for dtype in dtypes),
        rounded=keep_wide and not all(dtype.is_wide for dtype in dtypes),
        integers=dtype if dtype.is_integer else None,
        hoisted=NOT_HOISTED not in kernel.attributes,
        elementwise=all(iterator.data == "parallel" for iterator in kernel.iterator_types),
    )


def _record_refusals(parted: Partition, survivors: dict[int, d2m.GenericOp], names: Sequence[tuple[str, ...]]) -> None:
    records: dict[int, list[DictionaryAttr]] = {}
    for refusal in parted.refusals:
        record = {
            "consumer": _string(names[refusal.consumer][-1]),
            "detail": _string(refusal.detail),
            "predicate": _string(refusal.predicate.value),
        }
        records.setdefault(refusal.producer, []).append(DictionaryAttr(record))
    for producer, entries in records.items():
        survivors[producer].attributes[NOT_FUSED] = ArrayAttr(entries)


@memoized
def _string(text: str) -> StringAttr:
    return StringAttr(text)
