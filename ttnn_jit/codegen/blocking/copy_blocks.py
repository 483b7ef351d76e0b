"""Copies that only a product reads, as its rows, computed one block at a time inside the product's row loop.

Without blocks, windows of few channels, which no product loop can walk, and padded images would go through memory. A
block of them stays in a cache between the launches that copy it and the one that multiplies it; the padding value is
written once. The bits are those of the whole, since an element of a product depends only on its row and column.

Bound: that of the product, plus two launches per block.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from ttnn_jit.codegen.fusion.copy_folding import only_copies, only_moves
from ttnn_jit.codegen.schedules.bound_kernel import Operand
from ttnn_jit.codegen.schedules.host_plan import (
    Blocks,
    HostLaunch,
    HostPlan,
    RepeatedRounds,
    Rounds,
    launch_indices,
    of_several,
)
from ttnn_jit.codegen.schedules.kernel import Contract
from ttnn_jit.codegen.schedules.launch import View
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.runtime.plans.host_costs import last_cache_bytes
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Const, Dim, Expr, divided, remainder, substitute, times, total
from ttnn_jit.specs.access.strided_walk import NotStridedError, walk
from ttnn_jit.specs.cores.sharding import dense_strides
from ttnn_jit.specs.tensor_spec import TensorSpec

# --- Cost -------------------------------------------------------------------------------------------------------------

MOST_BYTES = 1 << 20
"""Bytes of a block of rows, which stays in a core's L2 cache; up to twice as many are not split
(benchmarks/kernels/convolution.py)."""

SHARE = 3
"""Tensors that share the last-level cache: the images, the source of the copy and the result
(benchmarks/kernels/convolution.py)."""

MOST_BLOCKS = 64
"""Most blocks of a copy: a launch costs a microsecond."""


@dataclass(frozen=True)
class _Cut:
    """A split of a tensor into blocks.

    Attributes:
        axis: The dimension that is split, counted from the last one, which is -1.
        count: The number of blocks, at least two, of equal size.
        unit: The name of what a block holds, for reports.
    """

    axis: int
    count: int
    unit: str


def _worthwhile(copied: TensorSpec, *, padded: bool) -> Iterator[_Cut]:
    """The profitable splits, the best first: by images, or else by rows of one matrix, the most rows that fit first.

    Where that makes too many blocks, splits into larger blocks follow.
    """
    images, *_ = extents = tuple(copied.shape)
    if padded:
        if 1 < images <= MOST_BLOCKS and SHARE * copied.nbytes > last_cache_bytes():
            yield _Cut(-len(extents), images, "images")
        return
    *batch, rows, columns = (1, 1, *extents)
    nbytes = rows * columns * copied.dtype.itemsize
    if math.prod(batch) != 1 or nbytes <= 2 * MOST_BYTES:
        return
    wanted = min(-(-nbytes // MOST_BYTES), MOST_BLOCKS)
    for count in (*range(wanted, MOST_BLOCKS + 1), *range(wanted - 1, 1, -1)):
        if rows % count == 0:
            yield _Cut(-2, count, "rows")


# --- Legality ---------------------------------------------------------------------------------------------------------


@of_several
def block_copies(plan: HostPlan) -> HostPlan:
    """The plan with copies that only a product reads, as its rows, split into blocks."""
    if plan.isa is None:
        return plan
    launches: list[HostLaunch] = []
    readers = plan.readers
    _, writers = launch_indices(plan.launches)
    for launch in plan.launches:
        copies = _copies_for(launch, launches)
        copied = copies[0].bound.outputs[0] if copies else None
        if copied and len(readers(copied.value)) == 1 and len(writers[copied.value]) == len(copies):
            launches[-len(copies) :] = _in_blocks(copies, copied, launch)
        else:
            launches.append(launch)
    return plan.with_launches(launches)


def _copies_for(product: HostLaunch, before: Sequence[HostLaunch]) -> list[HostLaunch]:
    """The launches before a product that only write its left operand, the padding fill first."""
    if not isinstance(product.bound.kernel, Contract):
        return []
    left = product.bound.inputs[product.bound.product.contracted.left].value
    found = [*itertools.takewhile(lambda each: [own.value for own in each.bound.outputs] == [left], reversed(before))]
    are_copies = [bool(each.bound.inputs) for each in reversed(found)]
    moves = all(only_moves(each.bound) or not each.bound.inputs for each in found)
    alone = [each.value for each in product.bound.inputs].count(left) == 1
    # The padding that the copies write around stays valid for all blocks.
    return found[::-1] if moves and alone and any(are_copies) and are_copies == sorted(are_copies) else []


def _in_blocks(copies: Sequence[HostLaunch], copied: Operand, product: HostLaunch) -> list[HostLaunch]:
    """Copies and product in the first profitable split that loops can walk; unchanged if there is none."""
    for cut in _worthwhile(copied.view.spec, padded=not only_copies(copies[0].bound)):
        try:
            return _repeated(copies, copied, product, cut)
        except NotStridedError:
            continue
    return [*copies, product]


def _repeated(copies: Sequence[HostLaunch], copied: Operand, product: HostLaunch, cut: _Cut) -> list[HostLaunch]:
    """Launches with the loops of one block, repeated for every block.

    Raises:
        NotStridedError: No loops walk a block or the sequence of blocks, or they are not blocks of the copied value.
    """
    whole = copied.view.spec
    extents = _divided(tuple(whole.shape), cut.axis, cut.count)
    block = PlanValue(TensorSpec(extents, whole.dtype))
    axes = [cut.axis] * len(copies) + [-2]
    parts = [
        _Part(each, copied.value, block, axis, cut.axis, cut.count)
        for each, axis in zip((*copies, product), axes, strict=True)
    ]
    rounds = _rounds(parts)
    names = tuple(each.name for each in copies if each.bound.inputs)
    blocks = Blocks(names, product.name, cut.unit, extents[cut.axis], cut.count)
    return [
        replace(part.first, blocks=blocks, rounds=own) if part.launch.bound.inputs else part.first
        for part, own in zip(parts, rounds, strict=True)
    ]


def _divided(extents: Sequence[int], axis: int, count: int) -> tuple[int, ...]:
    """The extents with that of `axis` divided by `count`.

    Raises:
        NotStridedError: The extent is no multiple of `count`.
    """
    found = list(extents)
    if found[axis] % count:
        raise NotStridedError
    found[axis] //= count
    return tuple(found)


@dataclass(frozen=True)
class _Part:
    """A launch that is split into blocks.

    Attributes:
        launch: The launch for the whole.
        copied: The value that is computed block by block.
        block: The buffer of one block that replaces it.
        axis: The split dimension of the shape that operands broadcast to, counted from the last one.
        axis_of_copied: The split dimension of the copied value, counted likewise.
        count: The number of blocks.
    """

    launch: HostLaunch
    copied: PlanValue
    block: PlanValue
    axis: int
    axis_of_copied: int
    count: int

    def moves(self, operand: Operand) -> bool:
        """Whether an operand differs by block; other operands are broadcast along blocks."""
        own, whole = operand.view.shape, self.launch.bound.outputs[0].view.shape
        return len(own) >= -self.axis and own[self.axis] == whole[self.axis]

    def access(self, operand: Operand) -> Access:
        """The access of the first block of an operand that moves."""
        whole = operand.access
        return Access(_divided(whole.extents, self.axis, self.count), whole.coordinates)

    @property
    def first(self) -> HostLaunch:
        """The launch for the first block."""
        bound = self.launch.bound
        operands = tuple(self._of_first(each) if self.moves(each) else each for each in self.launch.bound.operands)
        read, written = operands[: len(bound.inputs)], operands[len(bound.inputs) :]
        return HostLaunch(self.launch.ops, bound.over(read, written))

    def _of_first(self, operand: Operand) -> Operand:
        access, block = self.access(operand), self.block
        if operand.value is not self.copied:
            return operand.viewed(access)
        if not access.stays_inside(block.spec.shape):
            raise NotStridedError
        return Operand(block, View(block.spec, access if operand.view.access else None))

    def address(self, operand: Operand, first: int) -> Expr:
        """The address of an operand's element by block number and the indices within the block, dims from `first` on.

        The copied value is addressed as if its blocks lay one after the other.
        """
        if not self.moves(operand):
            return Const(0)
        spec, own = operand.view.spec, self.access(operand)
        indices: list[Expr] = [Dim(first + k) for k, _ in enumerate(own.extents)]
        indices[self.axis] = total((times(Dim(0), own.extents[self.axis]), indices[self.axis]))
        coordinates = [substitute(expr, indices) for expr in own.coordinates]
        if operand.value is not self.copied:
            return Access(own.extents, tuple(coordinates)).address(spec.shape, spec.element_strides)
        shape, axis = tuple(self.block.spec.shape), self.axis_of_copied
        number, coordinates[axis] = divided(coordinates[axis], shape[axis]), remainder(coordinates[axis], shape[axis])
        stacked = (self.count, *shape)
        return Access(own.extents, (number, *coordinates)).address(stacked, dense_strides(stacked))


def _rounds(parts: Sequence[_Part]) -> list[Rounds]:
    """Per launch, its loops inside the loops over blocks, which all launches share.

    Raises:
        NotStridedError: No loops are shared, or the blocks are not those of the copied value.
    """
    extents, addresses = [parts[0].count], list[Expr]()
    operands = [(part, operand) for part in parts for operand in part.launch.bound.operands]
    for part, operand in operands:
        addresses.append(part.address(operand, len(extents)))
        extents += part.access(operand).extents if part.moves(operand) else ()
    walked = walk(extents, addresses)
    depth = next(k for k, _ in enumerate(walked.extents) if math.prod(walked.extents[: k + 1]) == parts[0].count) + 1
    blocks = dense_strides((*walked.extents[:depth], *parts[0].block.spec.shape))[:depth]
    moves: dict[int, list[tuple[int, ...]]] = {}
    for (part, operand), own in zip(operands, walked.strides, strict=True):
        if operand.value is part.copied and own[:depth] != blocks:
            raise NotStridedError
        moves.setdefault(id(part), []).append((0,) * depth if operand.value is part.copied else own[:depth])
    found: list[Rounds] = [()] * len(parts)
    for loop in reversed(range(depth)):
        steps = [tuple(each[loop] for each in moves[id(part)]) for part in parts]
        found = [(RepeatedRounds(walked.extents[loop], *inner),) for inner in zip(steps, found, strict=True)]
    return found
