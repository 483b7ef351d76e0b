"""Gathers and scatters of StableHLO."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.conversions import sharding_rules
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.dialect_conversion import conversion
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall


def _vectors(ops: TtirOps, index: Tensor, vector: int) -> Tensor:
    """Index vectors as the last dimension, in i32."""
    if vector == index.rank:
        index = ops.reshape(index, (*index.shape, 1))
    order = [axis for axis in range(index.rank) if axis != vector]
    index = ops.permute(index, [*order, vector])
    if index.element == "ui32" or index.bits > 32:
        index = ops.same("ttir.minimum", index, ops.like(index, 2**31 - 1))
    if index.bits > 32:
        index = ops.same("ttir.maximum", index, ops.like(index, -(2**31)))
    return ops.cast(index, "i32")


def _with_batches(ops: TtirOps, index: Tensor, batches: Sequence[int]) -> Tensor:
    """Index vectors with the numbers of batch dimensions in front."""
    shape = (*index.shape[:-1], 1)
    return ops.concat([*(ops.counted(shape, axis, "i32") for axis in batches), index], index.rank - 1)


def _without(axes: Sequence[int], vector: int) -> list[int]:
    """Dimensions of index tensors, counted without that of the vectors."""
    return [axis - (axis > vector) for axis in axes]


# --- Gather -----------------------------------------------------------------------------------------------------------


def _gathered(ops: TtirOps, call: ConversionCall) -> Tensor:
    numbers = call.dimension_numbers
    vector = numbers.get("indexVectorDim", 0)
    index = _vectors(ops, call.start_indices, vector)
    own, batches = numbers.get("operandBatchingDims", ()), numbers.get("startIndicesBatchingDims", ())
    index = _with_batches(ops, index, _without(batches, vector)) if batches else index
    return ops.op(
        "ttir.gather",
        [call.operand, index],
        call.result.shape,
        call.result.element,
        offset_dims=numbers.get("offsetDims", ()),
        collapsed_slice_dims=tuple(sorted((*own, *numbers.get("collapsedSliceDims", ())))),
        operand_batching_dims=(),
        start_indices_batching_dims=(),
        start_index_map=(*own, *numbers.get("startIndexMap", ())),
        index_vector_dim=index.rank - 1,
        slice_sizes=call.slice_sizes,
        indices_are_sorted=bool(call.indices_are_sorted),
    )


def _index_vectors(index: Any, vector: int) -> Any:
    """Index vectors as the last dimension."""
    return index.unsqueeze(-1) if vector == index.dim() else index.movedim(vector, -1)


def _counts_along(torch: Any, extent: int, axis: int, rank: int) -> Any:
    """The index along one of `rank` dimensions."""
    return torch.arange(extent).reshape([-1 if each == axis else 1 for each in range(rank)])


def _gathered_in_torch(torch: Any, call: TextCall) -> Any:
    """The index along every dimension of the operand, of each element of the result."""
    numbers, x = call.dimension_numbers, call.operand
    vector, offsets = numbers.get("indexVectorDim", 0), numbers.get("offsetDims", ())
    own, batches = numbers.get("operandBatchingDims", ()), numbers.get("startIndicesBatchingDims", ())
    collapsed = (*own, *numbers.get("collapsedSliceDims", ()))
    index = _index_vectors(call.start_indices, vector)
    batch, rank = index.dim() - 1, index.dim() - 1 + x.dim() - len(collapsed)
    starts = dict(zip(numbers.get("startIndexMap", ()), index.unbind(-1), strict=True))
    found, window = [], batch
    for axis, size in enumerate(call.slice_sizes):
        start = starts.get(axis, torch.zeros((), dtype=torch.int64)).clamp(0, x.shape[axis] - size)
        place = start.reshape((*start.shape, *(1,) * (rank - start.dim()))) if start.dim() else start
        if axis in own:
            along = _without(batches, vector)[list(own).index(axis)]
            place = place + _counts_along(torch, x.shape[axis], along, rank)
        if axis not in collapsed:
            place = place + _counts_along(torch, size, window, rank)
            window += 1
        found.append(place)
    shape = [*index.shape[:-1], *(size for axis, size in enumerate(call.slice_sizes) if axis not in collapsed)]
    whole = x[tuple(each.expand(shape) for each in found)] if found else x.expand(shape)
    others = [axis for axis in range(rank) if axis not in offsets]
    places = [*others, *sorted(offsets)]
    return whole.permute([places.index(axis) for axis in range(rank)])


GATHER = conversion(
    "stablehlo.gather",
    "operand start_indices",
    _gathered,
    _gathered_in_torch,
    sharded_by=sharding_rules.gathered,
    dimension_numbers=REQUIRED,
    slice_sizes=REQUIRED,
    indices_are_sorted=False,
    acts_on_parts=True,
)

# --- Scatter ----------------------------------------------------------------------------------------------------------

_REDUCTIONS = {"ttir.sum": "sum", "ttir.prod": "prod", "ttir.max": "max", "ttir.min": "min"}


class _Places:
    """Where the elements of updates go.

    Attributes:
        windows: Dimensions of the updates that run over a window, each with that of the operand.
        batches: The other dimensions of the updates.
    """

    def __init__(self, call: TextCall) -> None:
        numbers = call.scatter_dimension_numbers
        self.vector: int = numbers.get("indexVectorDim", 0)
        self.own = tuple(numbers.get("inputBatchingDims", ()))
        self.of_batches = _without(numbers.get("scatterIndicesBatchingDims", ()), self.vector)
        self.axes = tuple(numbers.get("scatterDimsToOperandDims", ()))
        inserted = (*numbers.get("insertedWindowDims", ()), *self.own)
        rank = len(call.inputs[0].shape)
        kept = [axis for axis in range(rank) if axis not in inserted]
        self.windows = [*zip(sorted(numbers.get("updateWindowDims", ())), kept, strict=True)]
        window_axes = {axis for axis, _ in self.windows}
        self.batches = [axis for axis in range(len(call.updates[0].shape)) if axis not in window_axes]


def _scattered(ops: TtirOps, call: ConversionCall) -> list[Tensor]:
    """Updates at their places in the flattened operand; one more element takes those that lie outside."""
    if not call.inputs[0].rank or 0 in call.updates[0].shape:
        return _scattered_into_one(ops, call)
    places, shape = _Places(call), call.inputs[0].shape
    index = _vectors(ops, call.scatter_indices, places.vector)
    index = _with_batches(ops, index, places.of_batches) if places.own else index
    wide = call.updates[0].shape
    position, inside = ops.filled(0, wide, "i32"), ops.filled(1, wide, "i1")
    for axis in range(len(shape)):
        along = _index_along(ops, index, places, axis, wide)
        if along is None:
            continue
        is_inside = ops.op(
            "ttir.logical_and",
            [
                ops.compared("ttir.ge", along, ops.like(along, 0)),
                ops.compared("ttir.lt", along, ops.like(along, shape[axis])),
            ],
            wide,
            "i1",
        )
        inside = ops.same("ttir.logical_and", inside, is_inside)
        stride = ops.like(along, math.prod(shape[axis + 1 :]))
        position = ops.same("ttir.add", position, ops.same("ttir.multiply", along, stride))
    volume, count = math.prod(shape), math.prod(wide)
    position = ops.reshape(ops.select(inside, position, ops.like(position, volume)), (count,))
    return [_placed(ops, call, number, position) for number in range(len(call.inputs))]


def _index_along(ops: TtirOps, index: Tensor, places: _Places, axis: int, wide: Sequence[int]) -> Tensor | None:
    """For every element of the updates its index along a dimension of the operand; None where it is always 0."""
    found = None
    window = next((own for own, target in places.windows if target == axis), None)
    if window is not None and wide[window] > 1:
        found = ops.counted(wide, window, "i32")
    targets = (*places.own, *places.axes)
    if axis in targets:
        number = targets.index(axis)
        starts = ops.reshape(ops.part(index, index.rank - 1, number, number + 1), index.shape[:-1])
        starts = ops.along(starts, places.batches, wide)
        found = starts if found is None else ops.same("ttir.add", found, starts)
    return found


def _placed(ops: TtirOps, call: ConversionCall, number: int, position: Tensor) -> Tensor:
    x, update, body = call.inputs[number], call.updates[number], call.update_computation
    volume, count = math.prod(x.shape), position.shape[0]
    flat = ops.padded(ops.reshape(x, (volume,)), (0,), (1,), 0)
    source = ops.reshape(update, (count,))
    kind = _REDUCTIONS.get(body.single.reduction) if body.single is not None else None
    if body.returned_argument(number) == len(call.inputs) + number:
        kind = "invalid"
    if kind is None:
        if not call.unique_indices:
            raise ShapeError("its `update_computation` is no sum, product, maximum, minimum or replacement")
        old = ops.op("ttir.gather", [flat, position], (count,), x.element, dim=0)
        source, kind = body.convert(ops, old, source)[number], "invalid"
    found = ops.op("ttir.scatter", [flat, position, source], flat.shape, x.element, dim=0, scatter_reduce_type=kind)
    return ops.reshape(ops.part(found, 0, 0, volume), x.shape)


def _scattered_into_one(ops: TtirOps, call: ConversionCall) -> list[Tensor]:
    """Into an operand without dimensions, or of updates without elements."""
    if 0 in call.updates[0].shape:
        return list(call.inputs)
    if math.prod(call.updates[0].shape) > 1:
        raise ShapeError("several updates of one number are not executed")
    updates = [ops.reshape(each, ()) for each in call.updates]
    found: list[Tensor] = call.update_computation.convert(ops, *call.inputs, *updates)
    return found


def _scattered_in_torch(torch: Any, call: TextCall) -> list[Any]:
    places, updates = _Places(call), call.updates[0]
    index = _index_vectors(call.scatter_indices, places.vector)
    rank, shape = updates.dim(), call.inputs[0].shape
    targets = []
    starts = dict(zip(places.axes, index.unbind(-1), strict=True))
    for axis in range(len(shape)):
        target = torch.zeros((1,) * rank, dtype=torch.int64)
        if axis in starts:
            along = [updates.shape[each] if each in places.batches else 1 for each in range(rank)]
            target = target + starts[axis].reshape(along)
        if axis in places.own:
            batch = places.batches[places.of_batches[places.own.index(axis)]]
            target = target + _counts_along(torch, updates.shape[batch], batch, rank)
        target = target + sum(
            _counts_along(torch, updates.shape[own], own, rank) for own, each in places.windows if each == axis
        )
        targets.append(target.expand(updates.shape).reshape(-1))
    inside = torch.ones(updates.numel(), dtype=torch.bool)
    for target, extent in zip(targets, shape, strict=True):
        inside &= (target >= 0) & (target < extent)
    found = [each.clone() for each in call.inputs]
    where = [each[inside] for each in targets]
    given = [each.reshape(-1)[inside] for each in call.updates]
    _combine_at(torch, call, found, where, given)
    return found


def _combine_at(torch: Any, call: TextCall, found: list[Any], where: list[Any], given: list[Any]) -> None:
    """Combines updates with the elements at their places: at once, if no two of them have one place."""
    body = call.update_computation
    single = body.single
    if single is not None and single.reduction == "ttir.sum" and found[0].dtype is not torch.bool and where:
        found[0].index_put_(tuple(where), given[0], accumulate=True)
        return
    names = torch.stack(where, -1) if where else torch.zeros((given[0].numel(), 0), dtype=torch.int64)
    if where and len(names) and len(torch.unique(names, dim=0)) == len(names):
        new = body.golden(torch, *(each[tuple(where)] for each in found), *given)
        for own, each in zip(found, new, strict=True):
            own[tuple(where)] = each
        return
    for number, place in enumerate(names.tolist()):
        at = tuple(place)
        new = body.golden(torch, *(each[at] for each in found), *(each[number] for each in given))
        for own, each in zip(found, new, strict=True):
            own[at] = each


SCATTER = conversion(
    "stablehlo.scatter",
    "inputs* scatter_indices updates*",
    _scattered,
    _scattered_in_torch,
    sharded_by=sharding_rules.scattered,
    regions=("update_computation",),
    in_float32=True,
    scatter_dimension_numbers=REQUIRED,
    indices_are_sorted=False,
    unique_indices=False,
)

TEXTS = (GATHER, SCATTER)
