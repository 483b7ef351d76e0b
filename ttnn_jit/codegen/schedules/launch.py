"""The loops of a launch: extents and strides, and the params that pass them to the kernel.

A kernel holds no extent; one launch passes, as i64 numbers, strides counted in elements::

    innermost extent, outer extents [rank], then per operand: innermost stride, outer strides [rank]

Operands are the kernel's distinct inputs, then its outputs. ``rank`` counts the loops around the innermost one, which
are listed from the inside out; the kernel knows it. An empty tensor has innermost extent 0 and rank 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.nest.limits import LINE
from ttnn_jit.nest.streams import InnerAccess
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Const, Dim, Expr, bounds, substitute, times, total
from ttnn_jit.specs.access.strided_walk import NotStridedError, StridedWalk, walk
from ttnn_jit.specs.cores.sharding import dense_strides
from ttnn_jit.specs.dtypes import STRIDES_OF_A_TILE
from ttnn_jit.specs.extents.divisors import block_of, divisor_within
from ttnn_jit.specs.extents.extent import computed
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True, slots=True)
class LaunchLoops:
    """The loops of one launch.

    Attributes:
        extents: The extents of the loops, outermost first; there is at least one loop, and no extent is 1 unless there
            is a single element.
        strides: Per operand, its stride along each loop, in elements; 0 where the operand is broadcast.
        offsets: Per operand, the offset of its first element.
        reduced: The reduced loops, 0 being the innermost.
        whole: Other loops that may not be split, such as those of a block, a tile or a routine.
    """

    extents: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]
    offsets: tuple[int, ...]
    reduced: tuple[int, ...] = ()
    whole: tuple[int, ...] = ()

    @property
    def uncut(self) -> tuple[int, ...]:
        """The loops that may not be split."""
        return (*self.reduced, *self.whole)

    @property
    def accesses(self) -> tuple[InnerAccess, ...]:
        """The access of each operand along the innermost loop."""
        return tuple(_access_along(strides[-1]) for strides in self.strides)

    @property
    def rank(self) -> int:
        """The number of loops around the innermost one."""
        return len(self.extents) - 1

    def with_scalars(self, first: int, count: int) -> LaunchLoops:
        """The loops with `count` more operands from number `first` on, each of one element."""
        strides, offsets = list(self.strides), list(self.offsets)
        strides[first:first] = [(0,) * len(self.extents)] * count
        offsets[first:first] = [0] * count
        return replace(self, strides=tuple(strides), offsets=tuple(offsets))

    def moves_along(self, loop: int) -> tuple[bool, ...]:
        """Per operand, whether it moves along a loop; 0 is the innermost."""
        return tuple(bool(strides[-1 - loop]) for strides in self.strides)

    @property
    def params(self) -> tuple[int, ...]:
        """The launch arguments of the kernel, in the order that this module documents."""
        params = [*reversed(self.extents)]
        for strides in self.strides:
            params += reversed(strides)
        return tuple(params)


def _access_along(stride: int) -> InnerAccess:
    if stride == 1:
        return InnerAccess.CONTIGUOUS
    return InnerAccess.STRIDED if stride else InnerAccess.SCALAR


@dataclass(frozen=True, slots=True)
class View:
    """An operand of a kernel as a view of a tensor in memory.

    Attributes:
        spec: The tensor in memory.
        access: The map from the operand's elements to the tensor's; None for the identity.
    """

    spec: TensorSpec
    access: Access | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The operand's extents."""
        return tuple(self.spec.shape) if self.access is None else self.access.extents


@memoized(maxsize=4096)
def launch_loops_of(inputs: tuple[View, ...], outputs: tuple[View, ...]) -> LaunchLoops:
    """The loops over all elements of `outputs`, which have one shape that the inputs broadcast to.

    One loop if the logical elements of all operands are contiguous; else one loop over the stored elements, padding
    included, if all operands have the same layout; else one loop per logical dimension, split where views require it,
    with adjacent loops merged where the strides of every operand allow it.

    Raises:
        NotStridedError: No loops give strides for all views.
    """
    operands = (*inputs, *outputs)
    shape = outputs[0].shape
    if math.prod(shape) == 0:
        # A scalar is loaded before the loop, which must have an element.
        strides = tuple((0 if math.prod(each.shape) == 1 and each.spec.volume else 1,) for each in operands)
        return LaunchLoops((0,), strides, (0,) * len(operands))
    if any(operand.access is not None for operand in operands):
        walked = walk(shape, [_address(operand, shape) for operand in operands])
        return _merged(walked.extents, walked.strides, walked.offsets)
    specs = [operand.spec for operand in operands]
    logical = _merged(tuple(shape), tuple(broadcast_strides(spec, shape) for spec in specs), (0,) * len(specs))
    if len(logical.extents) == 1:
        return logical
    return _stored_run(specs, outputs[0].spec) or logical


@memoized(maxsize=4096)
def reduction_loops_of(operands: tuple[View, ...], shape: tuple[int, ...], axis: int) -> LaunchLoops:
    """The loops over `shape`, which the operands broadcast to, with the loop over `axis` reduced.

    The reduced loop is the innermost one or, if only another dimension is contiguous, the one around that. Results do
    not move along a dimension of extent 1; the other loops are as in `launch_loops_of`.

    Raises:
        NotStridedError: No loops give strides for all views without splitting the reduced dimension.
    """
    order = [dim for dim in range(len(shape)) if dim != axis] + [axis]
    extents = tuple(shape[dim] for dim in order)
    if math.prod(extents[:-1]) == 0:
        return LaunchLoops((0,), ((1,),) * len(operands), (0,) * len(operands))
    dims = [Dim(order.index(dim)) for dim in range(len(shape))]
    addresses = [substitute(_address(each, shape), dims) for each in operands]
    walked = walk((*extents[:-1], max(extents[-1], 1)), addresses)
    if walked.extents[-1] != max(extents[-1], 1):
        raise NotStridedError
    along = tuple(strides[-1] if extents[-1] != 1 else 0 for strides in walked.strides)
    outer = _merged(walked.extents[:-1], tuple(strides[:-1] for strides in walked.strides), walked.offsets)
    if math.prod(outer.extents) == 1:
        return LaunchLoops((extents[-1],), tuple((stride,) for stride in along), walked.offsets, (0,))
    loops = (*outer.extents, extents[-1])
    strides = tuple((*own, last) for own, last in zip(outer.strides, along, strict=True))
    if extents[-1] > 1 and _has_columns(outer, along):
        loops = (*loops[:-2], loops[-1], loops[-2])
        strides = tuple((*own[:-2], own[-1], own[-2]) for own in strides)
        return LaunchLoops(loops, strides, walked.offsets, (1,))
    return LaunchLoops(loops, strides, walked.offsets, (0,))


@memoized(maxsize=4096)
def contraction_loops_of(operands: tuple[View, ...], shape: tuple[int, ...], left: int, right: int) -> LaunchLoops:
    """The loops of a contraction over `shape`, which the operands broadcast to; its first dimension is contracted.

    From the innermost outwards: columns; the contracted loops, one unless an operand splits them; rows, which are the
    loops in which operand `right` is invariant, at least one of any extent; and the others. Operand `left` is invariant
    in columns, unless every output element is a dot product of its own: such elements form the columns.

    Raises:
        NotStridedError: No loops give strides for all views without splitting a pair of bfloat16.
    """
    if math.prod(shape[1:]) == 0:
        return LaunchLoops((0,), ((1,),) * len(operands), (0,) * len(operands))
    walked = walk(shape, [_address(each, shape) for each in operands])
    loops = range(len(walked.extents))
    contracted = next(k for k in loops if math.prod(walked.extents[: k + 1]) == shape[0]) + 1
    column = max(
        (k for k in loops[contracted:] if walked.strides[right][k] and not walked.strides[left][k]), default=None
    )
    if column is None:
        column = _dots(walked, operands, left, right, contracted)
    others = [k for k in loops[contracted:] if k != column]
    batches = _loops(walked, [k for k in others if walked.strides[right][k]])
    rows = _loops(walked, [k for k in others if not walked.strides[right][k]]) or _one_loop(operands)
    inner = _loops(walked, loops[:contracted]) or _one_loop(operands)
    in_pairs = all(operands[k].spec.dtype.is_upper_half for k in (left, right))
    if in_pairs and len(inner) > 1 and inner[-1][0] % 2:
        raise NotStridedError
    # A written stream is never a scalar along the innermost loop.
    columns = (column is not None and _loops(walked, [column])) or [(1, (1,) * len(operands))]
    reduced = tuple(range(1, 1 + len(inner)))
    return replace(_made_of([*batches, *rows, *inner, *columns], walked.offsets), reduced=reduced)


MIN_VECTORIZED_DOTS = 4
"""Least dot products that are vectorized with one lane each; fewer leave most lanes empty."""


def _dots(walked: StridedWalk, operands: Sequence[View], left: int, right: int, contracted: int) -> int | None:
    """The longest loop of many dot products, if there are no columns and no loop leaves an operand invariant."""
    loops = [k for k in range(contracted, len(walked.extents)) if walked.extents[k] > 1]
    # A chip rounds sums across the ends of several contracted loops.
    splits = sum(extent > 1 for extent in walked.extents[:contracted]) > 1
    if splits or any(operands[k].spec.dtype.is_block_float for k in (left, right)):
        return None
    if not all(walked.strides[k][loop] for loop in loops for k in (left, right)):
        return None
    longest = max(loops, key=walked.extents.__getitem__, default=None)
    return longest if longest is not None and walked.extents[longest] >= MIN_VECTORIZED_DOTS else None


NO_TILES = LaunchLoops((1, 1, 1, 0), ((0, 0, 0, 1),) * 2, (0, 0), whole=(0, 1))
"""The loops over the tiles of a tensor without elements."""


@memoized(maxsize=4096)
def tile_loops_of(dense: View, packed: View) -> LaunchLoops:
    """The loops over the tiles of block floats that are packed from `dense`, by whole tiles or within one.

    From the innermost outwards: columns of a tile, rows of a tile, horizontally adjacent tiles, and the others. Strides
    of the packed operand are tile strides.

    Raises:
        NotStridedError: The elements of a tile do not form rows.
    """
    if not math.prod(packed.shape):
        return NO_TILES
    rank = len(packed.spec.padded_shape)
    shape = (*(1,) * (rank - len(packed.shape)), *packed.shape)
    *batch, height, width = shape
    own = min(height, TILE_HEIGHT), min(width, TILE_WIDTH)
    grid = (*batch, -(-height // TILE_HEIGHT), -(-width // TILE_WIDTH))
    row = total((times(Dim(rank - 2), TILE_HEIGHT), Dim(rank)))
    column = total((times(Dim(rank - 1), TILE_WIDTH), Dim(rank + 1)))
    elements = substitute(_address(dense, shape), [*map(Dim, range(rank - 2)), row, column])
    walked = walk((*grid, *own), [elements, _address_of_tiles(packed)])
    along, down = walked.strides[0][-1], walked.strides[0][-2]
    if walked.extents[-2:] != own or (along != 1 and own[1] > 1):
        raise NotStridedError
    outer = _merged(walked.extents[:-3], tuple(strides[:-3] for strides in walked.strides), walked.offsets)
    strides = tuple((*around, last) for around, (*_, last, _, _) in zip(outer.strides, walked.strides, strict=True))
    extents = (*outer.extents, *walked.extents[-3:])
    return LaunchLoops(extents, ((*strides[0], down, 1), (*strides[1], 0, 0)), walked.offsets, whole=(0, 1))


def _address_of_tiles(packed: View) -> Expr:
    """The address of a tile by its indices, in the unit of tile strides."""
    *batch, height, width = packed.spec.padded_shape
    steps = dense_strides((*batch, height // TILE_HEIGHT, width // TILE_WIDTH))
    first = [0] * len(steps)
    if packed.access is not None:
        first = [bounds(expr, packed.access.extents)[0] for expr in packed.access.coordinates]
    first = [*first[:-2], first[-2] // TILE_HEIGHT, first[-1] // TILE_WIDTH]
    indices = (total((Dim(axis), Const(start))) for axis, start in enumerate(first))
    return total(times(index, step * STRIDES_OF_A_TILE) for index, step in zip(indices, steps, strict=True))


def row_loops(nest: LaunchLoops, right: int) -> int:
    """The number of row loops of a contraction, in which operand `right` is invariant."""
    strides = nest.strides[right][: -1 - len(nest.reduced)]
    return len(list(itertools.takewhile(lambda stride: not stride, reversed(strides))))


_Loop = tuple[int, tuple[int, ...]]
"""The extent of a loop, and every operand's stride along it."""


def _made_of(loops: Sequence[_Loop], offsets: tuple[int, ...]) -> LaunchLoops:
    strides = zip(*(own for _, own in loops), strict=True)
    return LaunchLoops(tuple(extent for extent, _ in loops), tuple(strides), offsets)


def _loops(walked: StridedWalk, chosen: Sequence[int]) -> list[_Loop]:
    """Some of the loops, without extents of 1, with adjacent loops merged where possible."""
    strides = tuple(tuple(own[k] for k in chosen) for own in walked.strides)
    merged = _merged(tuple(walked.extents[k] for k in chosen), strides, walked.offsets)
    found = list(zip(merged.extents, zip(*merged.strides, strict=True), strict=True))
    return [] if math.prod(merged.extents) == 1 else found


def _one_loop(operands: Sequence[View]) -> list[_Loop]:
    return [(1, (0,) * len(operands))]


MIN_COLUMNS = 16
"""Least elements of rows that are reduced as columns; shorter rows are gathered along the reduced dimension."""


def _has_columns(outer: LaunchLoops, along: Sequence[int]) -> bool:
    """Whether elements are contiguous along the innermost of the `outer` loops, not `along` the reduced one."""
    strided = any(stride not in (0, 1) for stride in along)
    across = [strides[-1] for strides in outer.strides]
    return strided and outer.extents[-1] >= MIN_COLUMNS and 1 in across and all(stride in (0, 1) for stride in across)


def _address(operand: View, shape: Sequence[int]) -> Expr:
    """The address of the operand's element that broadcasts to an element of `shape`."""
    spec, access = operand.spec, operand.access
    if access is None:
        return total(times(Dim(axis), stride) for axis, stride in enumerate(broadcast_strides(spec, shape)))
    missing = len(shape) - len(access.extents)
    indices = [Dim(missing + axis) if extent != 1 else Const(0) for axis, extent in enumerate(access.extents)]
    spread = Access(tuple(shape), tuple(substitute(expr, indices) for expr in access.coordinates))
    return spread.address(spec.shape, spec.element_strides)


def broadcast_strides(spec: TensorSpec, shape: Sequence[int]) -> tuple[int, ...]:
    """Element strides of `spec` along the dimensions of `shape`; 0 where it is broadcast.

    Raises:
        InternalError: `spec` does not broadcast to `shape`.
    """
    missing = len(shape) - len(spec.shape)
    if missing < 0 or any(own not in (1, full) for own, full in zip(spec.shape, tuple(shape)[missing:], strict=True)):
        raise InternalError(f"a tensor of shape {spec.shape} cannot be broadcast to {shape}")
    fitted = zip(spec.shape, spec.element_strides, tuple(shape)[missing:], strict=True)
    return (0,) * missing + tuple(0 if own != full else stride for own, stride, full in fitted)


def _stored_run(operands: Sequence[TensorSpec], output: TensorSpec) -> LaunchLoops | None:
    """One loop over the stored elements of `output`, if every operand has its layout or is a single element."""
    strides = []
    for spec in operands:
        if spec.shape == output.shape and spec.layout is output.layout and spec.strides is None:
            strides.append((1,))
        elif spec.volume == 1 and output.volume != 1:
            strides.append((0,))
        else:
            return None
    return LaunchLoops((math.prod(output.padded_shape),), tuple(strides), (0,) * len(strides))


BLOCK = 32
"""Rows and columns of the blocks of transposed loops; both extents are multiples of it."""
LEAST_BLOCKED_STRIDE = 512
"""Least stride along the innermost loop, in elements, for which loops are blocked: rows at larger strides lie in
different pages and map to few sets of the L1 cache (benchmarks/kernels/choices.py: `blocked loops`)."""


LEAST_TRANSPOSED = 4
"""Least rows and columns of a transpose that is blocked: a vector of 32-bit elements on every host."""
FEW_MATRICES = 8
"""Most matrices in memory that are transposed in an interleaved order of blocks, so that threads have enough parts."""


def in_transposed_blocks(nest: LaunchLoops, itemsize: int, *, far: bool) -> LaunchLoops | None:
    """The loops of a transposing copy, blocked to read and write whole cache lines; None if it is no transpose.

    The innermost loops are those of a block: along the contiguous dimension of the output, and around it along that of
    the input. Consecutive blocks follow the operand whose rows have the larger stride, so that few of its rows are in
    use at a time. For operands in memory (`far`) they follow the input, which is prefetched.
    """
    loops = list(zip(nest.extents, zip(*nest.strides, strict=True), strict=True))
    reading, writing = (
        [k for k, (extent, _) in enumerate(loops) if own[k] == 1 and extent > 1] for own in nest.strides
    )
    if len(reading) != 1 or len(writing) != 1 or reading == writing:
        return None
    (rows, down), (columns, along) = loops[writing[0]], loops[reading[0]]
    if min(rows, columns) < LEAST_TRANSPOSED:
        return None
    line = LINE // itemsize
    reads_on = far or abs(down[0]) > abs(along[1])
    high, wide = (2 * line, line) if far or not reads_on else (BLOCK, 2 * line)
    high, wide = computed(block_of, rows, high, line), computed(block_of, columns, wide, line)
    others = [loop for k, loop in enumerate(loops) if k not in {*writing, *reading}]
    by_rows = rows // high, tuple(high * step for step in down)
    by_columns = columns // wide, tuple(wide * step for step in along)
    first, last = (by_rows, by_columns) if reads_on else (by_columns, by_rows)
    few = far and math.prod(extent for extent, _ in others) < FEW_MATRICES
    around = [first, *others, last] if few else [*others, first, last]
    return _made_of([*(loop for loop in around if loop[0] != 1), (wide, along), (high, down)], nest.offsets)


def blocked(nest: LaunchLoops) -> LaunchLoops:
    """The loops, blocked if an operand is contiguous along another loop than the innermost, as in a transpose.

    Every cache line of that operand is used while it is in the cache. Bound: a strided load per element.
    """
    last = len(nest.extents) - 1
    across = next((k for k in range(last) if any(_crosses(own, k) for own in nest.strides)), None)
    if across is None or nest.extents[across] % BLOCK or nest.extents[last] % BLOCK:
        return nest
    others = [k for k in range(last) if k != across]
    extents = [nest.extents[k] // BLOCK if k in {across, last} else nest.extents[k] for k in (*others, across, last)]
    strides = [
        (*(own[k] for k in others), own[across] * BLOCK, own[last] * BLOCK, own[across], own[last])
        for own in nest.strides
    ]
    return LaunchLoops((*extents, BLOCK, BLOCK), tuple(strides), nest.offsets)


MOST_STEPS, MOST_APART = 8, 32
"""Interchange is for innermost loops of fewer iterations, whose start costs more than their elements, and for strides
up to this many elements, above which cache lines are hardly shared."""
LEAST_AROUND, MAX_REPEAT_DEPTH = 16, 1024
"""Iterations of the loop that becomes the innermost one: their data stays in the L1 cache."""


def interchanged(nest: LaunchLoops) -> LaunchLoops:
    """The loops with a short innermost loop interchanged with a part of the next one, if strides are small there.

    Bound: a strided load and store per element, instead of the start of a loop for a few elements.
    """
    if nest.rank == 0 or nest.extents[-1] >= MOST_STEPS:
        return nest
    if any(own[-2] == 0 or abs(own[-2]) > MOST_APART for own in nest.strides):
        return nest
    *around, across, short = nest.extents
    steps = computed(divisor_within, across, LEAST_AROUND, MAX_REPEAT_DEPTH)
    if steps < 1:
        return nest
    strides = ((*own[:-2], own[-2] * steps, own[-1], own[-2]) for own in nest.strides)
    whole = LaunchLoops((*around, across // steps, short, steps), tuple(strides), nest.offsets)
    return _merged(whole.extents, whole.strides, whole.offsets)


def _crosses(strides: Sequence[int], loop: int) -> bool:
    return strides[loop] == 1 and abs(strides[-1]) >= LEAST_BLOCKED_STRIDE


def _merged(extents: tuple[int, ...], strides: tuple[tuple[int, ...], ...], offsets: tuple[int, ...]) -> LaunchLoops:
    """Loops without extents of 1, merged with the next one if the outer stride is the inner stride times its extent."""
    columns = zip(*strides, strict=True) if extents else ()
    loops = [(extent, column) for extent, column in zip(extents, columns, strict=True) if extent != 1]
    merged: list[_Loop] = []
    for extent, column in loops:
        if merged and all(outer == inner * extent for outer, inner in zip(merged[-1][1], column, strict=True)):
            merged[-1] = (merged[-1][0] * extent, column)
        else:
            merged.append((extent, column))
    return _made_of(merged or [(1, (1,) * len(strides))], offsets)
