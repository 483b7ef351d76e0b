"""Builds `d2m.generic` and `linalg.generic`; the properties of equal kernel shapes are cached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IntegerAttr, LocationAttr, i64
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.ttcore import GridAttr, iterator_type
from ttnn_jit.dialects.writing.creation import SEGMENTS, create, empty_block, region_of, segments
from ttnn_jit.dialects.writing.editing import append
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.transforms.kernels.iteration_space import TileBroadcast

Maps = tuple[AffineMapAttr, ...]
"""Indexing maps, one per input and then the output's."""

IteratorTypes = tuple[str, ...]
"""``parallel`` or ``reduction``, per dimension."""


OperandLoops = tuple[int | None, ...]
"""Per dimension of an operand, the loop that indexes it; None for index 0. The last two are tile rows and columns."""


@memoized
def index_map(follows: OperandLoops, loops: int) -> AffineMapAttr:
    """The indexing map of an operand in a kernel of `loops` loops."""
    results = (AffineConstantExpr(0) if loop is None else AffineDimExpr(loop) for loop in follows)
    return AffineMapAttr(AffineMap(loops, 0, tuple(results)))


@dataclass(frozen=True)
class KernelShape:
    """The parameters of a `d2m.generic` besides its ops.

    Attributes:
        grid: The grid of cores that it runs on.
        maps: Indexing maps.
        buffers: The circular buffers, one per input and then the output's.
        kinds: Iterator types; None if all dimensions are parallel.
        broadcasts: Per input of an elementwise kernel, its broadcast within a tile.
    """

    grid: GridAttr
    maps: Maps
    buffers: tuple[d2m.CBType, ...]
    kinds: IteratorTypes | None = None
    broadcasts: tuple[TileBroadcast | None, ...] = ()

    @property
    def tiles(self) -> list[Attribute]:
        """The types of the tiles in the buffers."""
        return [buffer.underlying.element_type for buffer in self.buffers]


def kernel_op(
    inputs: Sequence[SSAValue], output: SSAValue, shape: KernelShape, body: Block, location: LocationAttr
) -> d2m.GenericOp:
    """A `d2m.generic` of this shape with one output.

    Its region waits for every input, reserves the output, and contains a `linalg.generic` with this body, which ends
    with `linalg.yield`.
    """
    block = empty_block(shape.buffers)
    *waited, reserved = block.args
    accesses = [*(d2m.WaitOp.make(buffer, location) for buffer in waited), d2m.ReserveOp.make(reserved, location)]
    compute = create(
        LinalgGenericOp,
        operands=[access.results[0] for access in accesses],
        properties=compute_properties(shape.maps, shape.kinds),
        regions=(region_of(body),),
        location=location,
    )
    append(block, (*accesses, compute))
    return d2m.GenericOp.create(
        operands=(*inputs, output),
        result_types=(output.type,),
        properties=kernel_properties(shape.grid, shape.maps, shape.kinds),
        regions=(region_of(block),),
        location=location,
    )


def kernel_properties(grid: GridAttr, maps: Maps, kinds: IteratorTypes | None = None) -> dict[str, Attribute]:
    """The properties of a `kernel_op`; callers must not mutate them."""
    return _cached_by_id(_kernel_properties, (grid, *maps), grid, maps, kinds)


def compute_properties(maps: Maps, kinds: IteratorTypes | None = None) -> dict[str, Attribute]:
    """The properties of its `linalg.generic`; callers must not mutate them."""
    return _cached_by_id(_compute_properties, maps, maps, kinds)


_Properties = dict[str, Attribute]
_CACHE: dict[tuple[object, ...], tuple[tuple[Attribute, ...], _Properties]] = {}
_MAX_CACHED = 4096


def _cached_by_id(make: Callable[..., _Properties], parts: tuple[Attribute, ...], *arguments: Any) -> _Properties:
    """The result of `make`, cached by the ids of `parts`, which the cache keeps alive: maps are slow to hash."""
    key = make, arguments[-1], *map(id, parts)
    known = _CACHE.get(key)
    if known is None:
        if len(_CACHE) >= _MAX_CACHED:
            _CACHE.clear()
        known = _CACHE[key] = parts, make(*arguments)
    return known[1]


_COMPUTE_THREAD = ArrayAttr([d2m.ThreadAttr("compute")])


@memoized
def _kernel_properties(grid: GridAttr, maps: Maps, kinds: IteratorTypes | None) -> _Properties:
    rank = maps[0].data.num_dims
    return {
        "block_factors": ArrayAttr([IntegerAttr(1, i64)] * rank),
        "grid": grid,
        "indexing_maps": ArrayAttr(maps),
        "iterator_types": ArrayAttr([iterator_type(kind) for kind in kinds or ("parallel",) * rank]),
        "threads": _COMPUTE_THREAD,
        SEGMENTS: segments(len(maps) - 1, 1),
    }


@memoized
def _compute_properties(maps: Maps, kinds: IteratorTypes | None) -> _Properties:
    kinds = kinds or ("parallel",) * maps[0].data.num_dims
    return {
        "indexing_maps": ArrayAttr(maps),
        "iterator_types": ArrayAttr([IteratorTypeAttr(IteratorType(kind)) for kind in kinds]),
        SEGMENTS: segments(len(maps) - 1, 1),
    }
