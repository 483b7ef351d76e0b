"""Making `d2m.generic` and `linalg.generic`, the properties of one shape of kernel built once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import AffineMapAttr, LocationAttr
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.ir import Attribute, Block, SSAValue

from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.builders import linalg_generic
from ttnn_jit.dialects.creation import SEGMENTS, create, empty_block, region_of, segments
from ttnn_jit.dialects.editing import append
from ttnn_jit.dialects.ttcore import GridAttr
from ttnn_jit.process.memoized import memoized

Maps = tuple[AffineMapAttr, ...]
"""Indexing maps, one per input and then the output's."""

Kinds = tuple[str, ...]
"""``parallel`` or ``reduction``, per dimension."""


def kernel_op(
    inputs: Sequence[SSAValue],
    output: SSAValue,
    buffers: Sequence[Attribute],
    body: Block,
    grid: GridAttr,
    maps: Maps,
    location: LocationAttr,
    kinds: Kinds | None = None,
) -> d2m.GenericOp:
    """A `d2m.generic` with one output; all its dimensions are parallel, or of these kinds.

    Its region waits for every input and reserves the output, and holds a `linalg.generic` of this body, which ends with
    `linalg.yield`.
    """
    block = empty_block(buffers)
    *waited, reserved = block.args
    accesses = [*(d2m.WaitOp.make(buffer, location) for buffer in waited), d2m.ReserveOp.make(reserved, location)]
    compute = create(
        LinalgGenericOp,
        operands=[access.results[0] for access in accesses],
        properties=compute_properties(maps, kinds),
        regions=(region_of(body),),
        location=location,
    )
    append(block, (*accesses, compute))
    return d2m.GenericOp.create(
        operands=(*inputs, output),
        result_types=(output.type,),
        properties=kernel_properties(grid, maps, kinds),
        regions=(region_of(block),),
        location=location,
    )


def kernel_properties(grid: GridAttr, maps: Maps, kinds: Kinds | None = None) -> dict[str, Attribute]:
    """The properties of `kernel_op`; not to be changed."""
    return _made_once(_kernel_properties, (grid, *maps), grid, maps, kinds)


def compute_properties(maps: Maps, kinds: Kinds | None = None) -> dict[str, Attribute]:
    """The properties of the `linalg.generic` in it; not to be changed."""
    return _made_once(_compute_properties, maps, maps, kinds)


_Properties = dict[str, Attribute]
_KNOWN: dict[tuple[object, ...], tuple[tuple[Attribute, ...], _Properties]] = {}
_MOST_KNOWN = 4096


def _made_once(make: Callable[..., _Properties], parts: tuple[Attribute, ...], *arguments: Any) -> _Properties:
    """What `make` gives, found again by the identity of `parts`, which are held: maps are slow to hash."""
    key = make, arguments[-1], *map(id, parts)
    known = _KNOWN.get(key)
    if known is None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        known = _KNOWN[key] = parts, make(*arguments)
    return known[1]


@memoized
def _kernel_properties(grid: GridAttr, maps: Maps, kinds: Kinds | None) -> _Properties:
    region = region_of(Block())
    model = d2m.GenericOp.make((), (), region, grid=grid, indexing_maps=maps, iterator_types=kinds, result_types=())
    return model.properties | {SEGMENTS: segments(len(maps) - 1, 1)}


@memoized
def _compute_properties(maps: Maps, kinds: Kinds | None) -> _Properties:
    return linalg_generic((), (), maps, Block(), kinds=kinds).properties | {SEGMENTS: segments(len(maps) - 1, 1)}
