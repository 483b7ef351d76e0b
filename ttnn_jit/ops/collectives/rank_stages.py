"""The exchanges of a collective between ranks, as one of them sees it: what it sends, what it receives, and where.

A collective has one stage, or two: a large reduction among more than two ranks is folded in parts, which are gathered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from ttnn_jit.ops.collectives.rank_partition import RankPart, has_partial_sums, in_two_stages, parts_of_ranks
from ttnn_jit.ops.families.collective import Extents, Join, Received, Results, Slice, Source, shape_of
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import FACE, TILE_HEIGHT
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec


class Gather(NamedTuple):
    """A join whose parts lie one after the other in its memory: they are received, or copied, where they belong.

    Attributes:
        join: The expression.
        number: The device whose result it is.
        spec: The spec of the result, interleaved.
        offsets: The first byte of each part, and the end of the last.
    """

    join: Join
    number: int
    spec: TensorSpec
    offsets: tuple[int, ...]


class Stage(NamedTuple):
    """One exchange of a collective.

    Attributes:
        part: The values that the rank sends, and the results on its devices.
        received: The values that it receives in order, and their specs.
        gathers: The joins that are received in place.
        is_exchange: Whether any rank receives anything.
        shapes: The extents of each operand on a device: in a second stage, those of the first one's results come last.
    """

    part: RankPart
    received: tuple[tuple[Received, TensorSpec], ...]
    gathers: tuple[Gather, ...]
    is_exchange: bool
    shapes: tuple[Extents, ...]


STAGED_BYTES = 1 << 20
"""The bytes of partial sums that each of more than two ranks would receive, from which on a reduction has two stages.

Two ranks receive as many bytes in one stage as in two."""


def stages_of(
    expansion: Mapping[int, Results],
    operand: TensorSpec,
    shapes: Sequence[Extents],
    owners: Sequence[int],
    rank: int,
) -> tuple[Stage, ...]:
    """The stages of a collective; in all but the last, a device of each rank has one result, an operand of the next.

    Args:
        expansion: The results on each device, by its number.
        operand: The spec of the first operand on a device.
        shapes: The extents of each operand.
        owners: The rank of each device.
        rank: The rank that evaluates its part.
    """
    ranks = len({owners[number] for number in expansion})
    stages = None
    if ranks > 2 and operand.nbytes * (ranks - 1) >= STAGED_BYTES:
        stages = in_two_stages(expansion, owners, len(shapes), partial(_equal_parts, operand))
    if stages is None:
        return (_stage(expansion, operand, shapes, owners, rank),)
    ((piece, *_), *_) = stages.first.values()
    more = [*shapes, shape_of(piece, shapes)]
    return (
        _stage(stages.first, operand, shapes, owners, rank),
        _stage(stages.second, operand, more, owners, rank),
    )


def _stage(
    expansion: Mapping[int, Results],
    operand: TensorSpec,
    shapes: Sequence[Extents],
    owners: Sequence[int],
    rank: int,
) -> Stage:
    parts = parts_of_ranks(expansion, shapes, owners, FACE if operand.dtype.is_block_float else 1)
    part = parts.get(rank) or RankPart({}, (), ())
    received = tuple((source, spec_of_value(source, operand, shapes)) for source in part.receives)
    is_exchange = any(each.receives for each in parts.values())
    return Stage(part, received, tuple(_gathers(part, operand, shapes)), is_exchange, tuple(shapes))


def _equal_parts(spec: TensorSpec, count: int) -> tuple[int, int] | None:
    """The outermost dimension of a tensor and the extent of `count` equal parts of its memory; None without such."""
    shape = tuple(spec.shape)
    dim = next((dim for dim, extent in enumerate(shape) if extent > 1), None)
    if dim is None or shape[dim] % count:
        return None
    part = spec.with_(shape=(*shape[:dim], shape[dim] // count, *shape[dim + 1 :]))
    return (dim, shape[dim] // count) if is_contiguous(dim, [part]) else None


def _gathers(part: RankPart, operand: TensorSpec, shapes: Sequence[Extents]) -> Iterator[Gather]:
    """The joins with received parts that lie one after the other, each once, of values that no other join has."""
    found = dict[int, tuple[int, Join]]()
    for number, results in part.results.items():
        for result in results:
            if isinstance(result, Join):
                found.setdefault(id(result), (number, result))
    uses = Counter(id(each) for _, join in found.values() for each in join.parts if isinstance(each, Received))
    for number, join in found.values():
        received = [each for each in join.parts if isinstance(each, Received)]
        if not received or any(uses[id(each)] > 1 or has_partial_sums(each) for each in received):
            continue
        whole = operand.interleaved.with_(shape=shape_of(join, shapes))
        parts = [whole.with_(shape=shape_of(each, shapes)) for each in join.parts]
        if is_contiguous(join.dim, parts):
            yield Gather(join, number, whole, tuple(accumulate((each.nbytes for each in parts), initial=0)))


def is_contiguous(dim: int, parts: Sequence[TensorSpec]) -> bool:
    """Whether a join along a dimension is its parts in memory, one after the other."""
    shape = tuple(parts[0].shape)
    if any(extent != 1 for extent in shape[:dim]):
        return False
    if parts[0].layout is Layout.ROW_MAJOR or dim < len(shape) - 2:
        return True
    return dim == len(shape) - 2 and not any(tuple(part.shape)[dim] % TILE_HEIGHT for part in parts)


def bytes_of_slice(window: Slice, whole: TensorSpec, shapes: Sequence[Extents]) -> tuple[int, int] | None:
    """The first byte and the number of bytes of a slice of a tensor; None if it does not lie in one piece."""
    own = whole.with_(shape=shape_of(window, shapes))
    before = whole.with_(shape=shape_of(window._replace(begin=0, end=window.begin), shapes))
    return (before.nbytes, own.nbytes) if is_contiguous(window.dim, [before, own]) else None


def spec_of_value(source: Source, operand: TensorSpec, shapes: Sequence[Extents]) -> TensorSpec:
    """The spec of a value that travels between ranks."""
    dtype = partial_dtype(operand.dtype) if has_partial_sums(source) else operand.dtype
    return operand.interleaved.with_(shape=shape_of(source, shapes), dtype=dtype)


def partial_dtype(dtype: DataType) -> DataType:
    """The element type of partial sums: integers keep their low bits, floats are added in float32."""
    return dtype if dtype.is_integer else COMPUTE_TYPE
