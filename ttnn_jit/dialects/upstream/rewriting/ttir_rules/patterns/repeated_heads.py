"""A reshape, a broadcast of one dimension, and a reshape that merges it: what `repeat` and `repeat_interleave` say."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import dense_i64, integer, integers_in, shape_of, si32, ui32
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, has_one_user, owner_named

REPEATS = Rules()


@REPEATS.of("ttir.reshape")
def merged_copies(op: Operation, rewriter: Rewriter) -> bool:
    """Copies along a new dimension that is merged with the one before it, or with the one behind it."""
    copied = owner_named(op.operands[0], "ttir.broadcast")
    inserted = owner_named(copied.operands[0], "ttir.reshape") if copied is not None else None
    if copied is None or inserted is None or not has_one_user(copied.results[0]):
        return False
    if not has_one_user(inserted.results[0]):
        return False
    source, result = inserted.operands[0], op.results[0].type
    counts = integers_in(copied.properties["broadcast_dimensions"])
    places = [index for index, count in enumerate(counts) if count > 1]
    if len(places) != 1 or 0 in counts:
        return False
    (place,), shape = places, [*shape_of(source.type)]
    if [*shape_of(inserted.results[0].type)] != [*shape[:place], 1, *shape[place:]]:
        return False
    dim = _longer(shape, [*shape_of(result)], counts[place])
    if dim == place - 1:
        properties = {"repeats": integer(counts[place], ui32), "dim": integer(dim, si32)}
        value = rewriter.value("ttir.repeat_interleave", {"input": source}, properties, result, op)
    elif dim == place:
        repeats = [counts[place] if index == dim else 1 for index in range(len(shape))]
        value = rewriter.value("ttir.repeat", {"input": source}, {"repeat_dimensions": dense_i64(repeats)}, result, op)
    else:
        return False
    rewriter.replace(op, [value])
    return True


def _longer(shape: Sequence[int], result: Sequence[int], count: int) -> int | None:
    """The one dimension of a result that is `count` times that of a shape; None if others differ, or none."""
    if len(shape) != len(result):
        return None
    dims = [index for index, extent in enumerate(shape) if result[index] != extent]
    return dims[0] if len(dims) == 1 and result[dims[0]] == shape[dims[0]] * count else None
