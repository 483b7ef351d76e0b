"""Block floats that a loop over elements unpacks, and packs, strip by strip: no launches of their own do it.

They are converted as those launches do, so that no result changes.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from ttnn_jit.codegen.bound_kernel import SHARE_OF_LAST_CACHE, BoundKernel, Operand
from ttnn_jit.codegen.conversion import conversions_of
from ttnn_jit.codegen.host.host_plan import HostLaunch, HostPlan, Readers
from ttnn_jit.codegen.kernel import Copy, LoopNest, Loops
from ttnn_jit.codegen.launch import LaunchLoops
from ttnn_jit.codegen.plan_value import PlanValue
from ttnn_jit.codegen.stages import Stage
from ttnn_jit.codegen.steps import KernelBody
from ttnn_jit.codegen.vector_loop import vector_loop
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.nest.limits import strips_fit_stack
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.runtime.host_costs import last_cache_bytes
from ttnn_jit.specs.dtypes import STRIDES_OF_A_TILE
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH
from ttnn_jit.specs.tensor_spec import TensorSpec

_OWN_LOOPS = (0, 1)
"""Columns and rows of a tile."""


def convert_in_loops(plan: HostPlan) -> HostPlan:
    """The launches without those that unpack for one loop alone, or pack what it writes."""
    around = conversions_by_value(plan.launches)
    if plan.isa is None or not around:
        return plan
    joined: dict[int, HostLaunch] = {}
    converted: set[int] = set()
    readers = plan.readers
    for loop in plan.launches:
        nest = loop.bound.kernel
        if isinstance(nest, LoopNest) and nest.one_loop and _walks_storage(loop.bound):
            found = _own_conversions(loop, around, converted, readers)
            if found:
                joined[id(loop)] = _joined(loop, nest.body, found, plan.isa)
                converted |= set(map(id, found.values()))
    launches = (joined.get(id(each), each) for each in plan.launches if id(each) not in converted)
    return replace(plan, launches=tuple(launches))


def conversions_by_value(launches: Sequence[HostLaunch]) -> dict[PlanValue, list[HostLaunch]]:
    """What packs and unpacks, by what it reads and by what it writes."""
    found: dict[PlanValue, list[HostLaunch]] = {}
    for each in launches:
        if isinstance(each.bound.kernel, Copy) and each.bound.kernel.repacks:
            for operand in (*each.bound.inputs, *each.bound.outputs):
                found.setdefault(operand.value, []).append(each)
    return found


def _walks_storage(bound: BoundKernel) -> bool:
    """Whether it is one loop over all that is stored."""
    operands = (*bound.inputs, *bound.outputs)
    return (
        bound.loops.rank == 0
        and not any(bound.loops.offsets)
        and not any(each.view.access is not None for each in operands)
        and not any(stream.access is InnerAccess.STRIDED for stream in bound.kernel.streams)
    )


def _own_conversions(
    loop: HostLaunch, conversions: Mapping[PlanValue, Sequence[HostLaunch]], taken: Container[int], readers: Readers
) -> dict[int, HostLaunch]:
    """The conversions that `loop` can do itself, by the place of its operand; none that are `taken`, by their ids."""
    bound = loop.bound
    found: dict[int, HostLaunch] = {}
    for place, operand in enumerate((*bound.inputs, *bound.outputs)):
        near = conversions.get(operand.value, ())
        around = [each for each in near if id(each) not in taken and _is_alike(each.bound, bound)]
        conversion = _conversion_of(operand, loop, around, readers, written=place >= len(bound.inputs))
        if conversion is not None and bound.kernel.streams[place].access is InnerAccess.CONTIGUOUS:
            found[place] = conversion
    kept = [bound.kernel.streams[place] for place in found]
    return found if found and strips_fit_stack(kept) and not exceeds_last_cache(bound, found) else {}


def exceeds_last_cache(bound: BoundKernel, converted: Container[int]) -> bool:
    """Whether what stays as it is comes from memory, which is as fast as rows are long, and strips have short ones."""
    operands = enumerate((*bound.inputs, *bound.outputs))
    nbytes = sum(each.view.spec.nbytes for place, each in operands if place not in converted)
    return nbytes > SHARE_OF_LAST_CACHE * last_cache_bytes()


def _is_alike(conversion: BoundKernel, loop: BoundKernel) -> bool:
    """Whether a conversion is of as many elements as are stored of what a loop walks, in the same order."""
    (source,), (result,) = conversion.inputs, conversion.outputs
    if source.view.access or result.view.access or conversion.loops.extents[-2:] != (TILE_HEIGHT, TILE_WIDTH):
        return False  # tiles that are not whole are packed without what a loop leaves in their padding
    shapes = {tuple(each.view.spec.padded_shape) for each in (source, result)}
    return len(shapes) == 1 and loop.loops.extents == (math.prod(shapes.pop()),) != (0,)


def _conversion_of(
    operand: Operand, loop: HostLaunch, around: Sequence[HostLaunch], readers: Readers, *, written: bool
) -> HostLaunch | None:
    """The launch that unpacks an operand for `loop` alone, or alone reads it, to pack it; None if there is none."""
    for each in around:
        own = each.bound.inputs if written else each.bound.outputs
        alone = (each if written else loop).ops[-1]
        if own[0] == operand and readers(operand.value) <= {alone} and own[0].view.spec.strides is None:
            return each
    return None


def _joined(loop: HostLaunch, body: KernelBody, conversions: dict[int, HostLaunch], isa: HostIsa) -> HostLaunch:
    bound = loop.bound
    count = len(bound.inputs)
    packed = {
        place: (each.bound.outputs if place >= count else each.bound.inputs)[0] for place, each in conversions.items()
    }
    operands = [packed.get(place, each) for place, each in enumerate((*bound.inputs, *bound.outputs))]
    streams = tuple(
        replace(stream, dtype=packed[place].view.spec.dtype, access=InnerAccess.SCALAR, nontemporal=False)
        if place in packed
        else replace(stream, nontemporal=False)
        for place, stream in enumerate(body.streams)
    )
    nest = _nest_of_tiles(next(iter(packed.values())).view.spec, streams)
    whole = replace(body, streams=streams, rank=nest.rank, joined=True)
    converted = conversions_of(whole, [body.streams[place].dtype for place in packed])
    strip = replace(body, streams=tuple(replace(stream, nontemporal=False) for stream in body.streams), rank=1)
    stage = Stage(strip, _numbers(whole, len(packed)), vector_loop(strip, isa))
    kernel = LoopNest(whole, Loops.STRIPS, (stage, *converted), tuple(each.scratch for each in converted))
    ops = [each.ops for place, each in conversions.items() if place < count]
    ops += [loop.ops, *(each.ops for place, each in conversions.items() if place >= count)]
    made = BoundKernel(kernel, tuple(operands[:count]), tuple(operands[count:]), nest)
    return HostLaunch(tuple(dict.fromkeys(op for own in ops for op in own)), made)


def _numbers(body: KernelBody, scratches: int) -> tuple[int, ...]:
    """What the loop over a strip has as its streams: the kernel's, or those of scratch buffers behind these."""
    behind = iter(range(len(body.streams), len(body.streams) + scratches))
    return tuple(next(behind) if stream.dtype.is_block_float else k for k, stream in enumerate(body.streams))


def _nest_of_tiles(spec: TensorSpec, streams: Sequence[Stream]) -> LaunchLoops:
    """Rows of tiles, tiles in a row, and in each its rows and columns."""
    *batch, height, width = spec.padded_shape
    columns = width // TILE_WIDTH
    dense = (TILE_HEIGHT * width, TILE_WIDTH, width, 1)
    packed = (columns * STRIDES_OF_A_TILE, STRIDES_OF_A_TILE, 0, 0)
    strides = tuple(
        packed if stream.dtype.is_block_float else (0, 0, 0, 0) if stream.access is InnerAccess.SCALAR else dense
        for stream in streams
    )
    extents = (math.prod(batch) * (height // TILE_HEIGHT), columns, TILE_HEIGHT, TILE_WIDTH)
    return LaunchLoops(extents, strides, (0,) * len(streams), _OWN_LOOPS)
