"""Ops that move elements, where their attributes are not those of a call."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall, text
from ttnn_jit.ops.language.axes import axis_of
from ttnn_jit.ops.movement.sequences import arange
from ttnn_jit.specs.tensor_spec import DataType


def _broadcast(ops: Ops, call: TextCall) -> Value:
    wanted = tuple(call.result.shape)
    made = tuple(extent * times for extent, times in zip(call.input.shape, call.broadcast_dimensions, strict=True))
    if made != wanted:
        raise ShapeError(f"`broadcast_dimensions` make a tensor of shape {list(made)}, not {list(wanted)}")
    return ops.expand(call.input, wanted)


BROADCAST = text(
    "ttir.broadcast",
    "input",
    _broadcast,
    lambda _, call: call.input.expand(tuple(call.result.shape)),
    broadcast_dimensions=REQUIRED,
    moves=True,
    takes_quantized=True,
)
REPEAT = text(
    "ttnn.repeat",
    "input",
    lambda ops, call: ops.repeat(call.input, call.repeat_dims),
    lambda _, call: call.input.repeat(call.repeat_dims),
    repeat_dims=REQUIRED,
)


def _pairs(numbers: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(numbers[at], numbers[at + 1]) for at in range(0, len(numbers), 2)]


def _padded(ops: Ops, call: TextCall) -> Value:
    """Numbers below 0 cut elements off."""
    x, pairs = call.input, _pairs(call.padding)
    for axis, (low, high) in enumerate(pairs):
        x = ops.part(x, axis, max(0, -low), x.shape[axis] - max(0, -high))
    wide = [(max(0, low), max(0, high)) for low, high in pairs]
    return x if pairs != wide and not any(map(any, wide)) else ops.pad(x, wide, call.value)


PAD = text(
    "ttir.pad ttnn.pad",
    "input",
    _padded,
    lambda torch, call: torch.nn.functional.pad(
        call.input, [each for pair in reversed(_pairs(call.padding)) for each in pair], value=call.value
    ),
    padding=REQUIRED,
    value=REQUIRED,
)


def _slice_ranges(call: TextCall) -> list[range]:
    """The indices along each dimension; a step below 0 goes backwards."""
    found = []
    for extent, begin, end, step in zip(call.input.shape, call.begins, call.ends, call.step, strict=True):
        first, beyond, by = slice(begin, end, step).indices(extent)
        found.append(range(first, beyond, by))
    return found


def _slice(ops: Ops, call: TextCall) -> Value:
    x, ranges = call.input, _slice_ranges(call)
    backwards = tuple(axis for axis, each in enumerate(ranges) if each.step < 0)
    x = ops.flip(x, backwards) if backwards else x
    ranges = [
        range(extent - 1 - each.start, extent - 1 - each.stop, -each.step) if each.step < 0 else each
        for each, extent in zip(ranges, x.shape, strict=True)
    ]
    begins, ends, steps = zip(*((each.start, each.stop, each.step) for each in ranges), strict=True)
    return ops.slice(x, begins, ends, steps)


def _slice_in_torch(torch: Any, call: TextCall) -> Any:
    found = call.input
    for axis, indices in enumerate(_slice_ranges(call)):
        found = found.index_select(axis, torch.tensor([*indices], dtype=torch.int64))
    return found


def _as_slice(call: TextCall) -> TextCall:
    """A slice along one dimension as one along all."""
    x = call.input
    begins, ends, steps = [0] * len(x.shape), [*x.shape], [1] * len(x.shape)
    axis = axis_of(call.dim, len(x.shape))
    begins[axis], ends[axis], steps[axis] = call.begin, call.end, call.step
    return TextCall({"input": x, "begins": begins, "ends": ends, "step": steps}, call.results)


INDEX = text(
    "ttir.index",
    "input",
    lambda ops, call: _slice(ops, _as_slice(call)),
    lambda torch, call: _slice_in_torch(torch, _as_slice(call)),
    dim=REQUIRED,
    begin=REQUIRED,
    end=REQUIRED,
    step=1,
)
SLICE = text(
    "ttir.slice_static ttnn.slice_static",
    "input",
    _slice,
    _slice_in_torch,
    begins=REQUIRED,
    ends=REQUIRED,
    step=REQUIRED,
    moves=True,
    takes_quantized=True,
)


def _chunk_starts(call: TextCall) -> tuple[int, range]:
    axis = axis_of(call.dim, len(call.input.shape))
    extent = call.input.shape[axis]
    begin = call.begin % extent
    return axis, range(begin, extent, call.stride or extent)


def _index_select(ops: Ops, call: TextCall) -> Value:
    axis, starts = _chunk_starts(call)
    parts = [ops.sliced(call.input, axis, start, start + call.length) for start in starts]
    return parts[0] if len(parts) == 1 else ops.concat(parts, axis)


def _index_select_in_torch(torch: Any, call: TextCall) -> Any:
    axis, starts = _chunk_starts(call)
    return torch.cat([call.input.narrow(axis, start, call.length) for start in starts], axis)


INDEX_SELECT = text(
    "ttir.index_select",
    "input",
    _index_select,
    _index_select_in_torch,
    dim=REQUIRED,
    begin=0,
    length=REQUIRED,
    stride=0,
)


def _slice_dynamic(ops: Ops, call: TextCall) -> Value:
    found: Value = call.input
    begins = ops.typecast(call.begins, DataType.INT32)
    steps = call.step or (1,) * len(found.shape)
    for axis, (count, step) in enumerate(zip(call.result.shape, steps, strict=True)):
        shape = [count if each == axis else 1 for each in range(len(found.shape))]
        first = ops.reshaped(ops.sliced(begins, 0, axis, axis + 1), (1,) * len(shape))
        index = ops.reshaped(arange(ops, count, found, 0, step, DataType.INT32), shape) + first
        wanted = (*found.shape[:axis], count, *found.shape[axis + 1 :])
        found = ops.gather(found, axis, ops.expand(index, wanted))
    return found


def _slice_dynamic_in_torch(torch: Any, call: TextCall) -> Any:
    found = call.input
    steps = call.step or (1,) * found.dim()
    for axis, (count, step) in enumerate(zip(call.result.shape, steps, strict=True)):
        index = torch.arange(count) * step + int(call.begins[axis])
        found = found.index_select(axis, index)
    return found


SLICE_DYNAMIC = text(
    "ttir.slice_dynamic ttnn.slice_dynamic",
    "input begins ends",
    _slice_dynamic,
    _slice_dynamic_in_torch,
    step=None,
    index_limits={
        "begins": lambda call: min(
            whole - (part - 1) * step
            for whole, part, step in zip(
                call.input.shape, call.result.shape, call.step or (1,) * len(call.input.shape), strict=True
            )
        )
    },
)


def _rows(shape: Any) -> tuple[int, int]:
    if math.prod(shape[:-2]) != 1:
        raise ShapeError(f"a table of rows has two dimensions, got {list(shape)}")
    return int(shape[-2]), int(shape[-1])


def _embedding(ops: Ops, call: TextCall) -> Value:
    index = call.input if call.input.spec.dtype.is_integer else ops.typecast(call.input, DataType.INT32)
    return ops.reshaped(ops.embedding(index, ops.reshaped(call.weight, _rows(call.weight.shape))), call.result.shape)


def _embedding_in_torch(_: Any, call: TextCall) -> Any:
    """An index that the program computes may be any number, and is held within the table."""
    rows = _rows(call.weight.shape)
    return call.in_result_shape(call.weight.reshape(rows)[call.input.long().clamp(0, rows[0] - 1)])


EMBEDDING = text(
    "ttir.embedding ttnn.embedding",
    "input weight",
    _embedding,
    _embedding_in_torch,
    index_limits={"input": lambda call: _rows(call.weight.shape)[0]},
    padding_idx=None,
)


def _gather(ops: Ops, call: TextCall) -> Value:
    if call.dim is None:
        return _gathered_slices(ops, call)
    if not _marks_missing(call):
        return ops.gather(call.input, call.dim, call.index)
    found = ops.gather(call.input, call.dim, ops.maximum(call.index, 0))
    return ops.where(ops.lt(call.index, 0), math.nan, found)


def _marks_missing(call: TextCall) -> bool:
    """Whether negative indices give NaN, as tt-mlir says of `ttnn.gather` of floats by signed integers."""
    types = call.element_types
    return types.get("index", "").startswith("si") and "i" not in types.get("input", "i")


def _gathered_slices(ops: Ops, call: TextCall) -> Value:
    """The gather of StableHLO: every index vector gives the first element of a slice of `slice_sizes`."""
    x, sizes, axes = call.input, call.slice_sizes, call.start_index_map
    if call.operand_batching_dims:
        raise ShapeError("operand_batching_dims are given, and none are executed")
    _require_slices(call)
    index = call.index
    if index.spec.dtype.itemsize >= 4 and not index.spec.dtype.compute.is_signed:
        index = ops.minimum(index, DataType.INT32.values[-1])  # larger ones would become negative
    index = ops.rounded(index, DataType.INT32)
    shape = index.shape
    vector = call.index_vector_dim
    if vector == len(shape):
        index, shape = ops.reshape(index, (*shape, 1)), (*shape, 1)
    batch = tuple(extent for axis, extent in enumerate(shape) if axis != vector)
    count = math.prod(batch)
    order = (*(axis for axis in range(len(shape)) if axis != vector), vector)
    index = ops.reshape(_permuted(ops, index, order), (count, shape[vector]))
    # The elements of `x` lie in rows; every slice is a number of elements at offsets from its first.
    offsets, first = None, None
    strides = [math.prod(x.shape[axis + 1 :]) for axis in range(len(x.shape))]
    for axis, size in enumerate(sizes):
        along = [size if each == axis else 1 for each in range(len(sizes))]
        own = ops.reshaped(arange(ops, size, x, 0, strides[axis], DataType.INT32), along)
        offsets = own if offsets is None else offsets + own
        if axis in axes:
            begin = ops.sliced(index, 1, axes.index(axis), axes.index(axis) + 1)
            begin = ops.minimum(ops.maximum(begin, 0), x.shape[axis] - size) * strides[axis]
            first = begin if first is None else first + begin
    assert offsets is not None, "a slice has a size"
    volume = math.prod(sizes)
    flat = ops.reshape(ops.expand(offsets, tuple(sizes)), (1, volume))
    flat = flat if first is None else flat + first
    taken = ops.gather(ops.reshape(x, (math.prod(x.shape),)), 0, ops.reshape(flat, (count * volume,)))
    kept = [size for axis, size in enumerate(sizes) if axis not in call.collapsed_slice_dims]
    whole = ops.reshape(taken, (*batch, *kept))
    # Batch dimensions and those of slices in the order of the result.
    rank = len(batch) + len(kept)
    others = [axis for axis in range(rank) if axis not in call.offset_dims]
    places = [*others, *call.offset_dims]
    return _permuted(ops, whole, [places.index(axis) for axis in range(rank)])


def _require_slices(call: TextCall) -> None:
    """Refuses slices and axes that the operand does not have."""
    shape = call.input.shape
    for name in ("start_index_map", "collapsed_slice_dims"):
        wrong = [axis for axis in getattr(call, name) if not 0 <= axis < len(shape)]
        if wrong:
            raise ShapeError(f"`{name}` has the dimension {wrong[0]}, and the operand has {len(shape)}")
    sizes = call.slice_sizes
    if len(sizes) != len(shape) or not all(0 < size <= extent for size, extent in zip(sizes, shape, strict=True)):
        raise ShapeError(f"`slice_sizes` {[*sizes]} are none of a tensor of shape {[*shape]}")


def _permuted(ops: Ops, x: Value, order: Any) -> Value:
    return x if [*order] == sorted(order) else ops.permute(x, tuple(order))


def _gather_in_torch(torch: Any, call: TextCall) -> Any:
    if call.dim is not None:
        index = call.index.long()
        if not _marks_missing(call):
            return torch.gather(call.input, call.dim, index)
        return torch.where(index < 0, math.nan, torch.gather(call.input, call.dim, index.clamp(min=0)))
    x, index, vector = call.input, call.index.long(), call.index_vector_dim
    index = index.unsqueeze(-1) if vector == index.dim() else index.movedim(vector, -1)
    result = x.new_zeros(tuple(call.result.shape))
    batch_axes = [axis for axis in range(result.dim()) if axis not in call.offset_dims]
    for place in itertools.product(*map(range, index.shape[:-1])):
        taken = x
        for axis, size in enumerate(call.slice_sizes):
            begin = 0
            if axis in call.start_index_map:
                begin = int(index[place][call.start_index_map.index(axis)])
            taken = taken.narrow(axis, min(max(begin, 0), x.shape[axis] - size), size)
        taken = taken.squeeze(tuple(call.collapsed_slice_dims)) if call.collapsed_slice_dims else taken
        where: list[Any] = [slice(None)] * result.dim()
        for axis, at in zip(batch_axes, place, strict=False):  # a scalar is written as a tensor of one element
            where[axis] = at
        result[tuple(where)] = taken
    return result


def _index_limit(call: TextCall) -> int:
    axes = call.start_index_map if call.dim is None else (call.dim,)
    return min(int(call.input.shape[axis]) for axis in axes)


GATHER = text(
    "ttir.gather ttnn.gather",
    "input index",
    _gather,
    _gather_in_torch,
    index_limits={"index": _index_limit},
    dim=None,
    offset_dims=(),
    collapsed_slice_dims=(),
    operand_batching_dims=(),
    start_indices_batching_dims=(),
    start_index_map=(),
    index_vector_dim=0,
    slice_sizes=(),
    indices_are_sorted=False,
)
_REDUCTIONS = {"invalid": None, "sum": "add", "prod": "multiply", "max": "amax", "min": "amin"}


def _scatter(ops: Ops, call: TextCall) -> Value:
    reduction = _REDUCTIONS[call.scatter_reduce_type]
    given = [call.input, call.dim, call.index, call.source]
    return ops.scatter(*given) if reduction is None else ops.scatter(*given, reduce=reduction)


def _scatter_in_torch(torch: Any, call: TextCall) -> Any:
    reduction = _REDUCTIONS[call.scatter_reduce_type]
    index = call.index.long()
    if reduction is None:
        return call.input.scatter(call.dim, index, call.source)
    named = {"add": "sum", "multiply": "prod"}.get(reduction, reduction)
    return torch.scatter_reduce(call.input, call.dim, index, call.source, named)


SCATTER = text(
    "ttir.scatter ttnn.scatter",
    "input index source",
    _scatter,
    _scatter_in_torch,
    index_limits={"index": lambda call: call.input.shape[call.dim]},
    dim=REQUIRED,
    scatter_reduce_type="invalid",
)


def _axes(text: str) -> list[list[str]]:
    """The axes of one side of a pattern: ``b (h w) c`` has [b], [h, w] and [c].

    Raises:
        ArgumentError: It is no list of names and groups of them.
    """
    groups = re.findall(r"\(([^()]*)\)|(\S+)", text)
    found = [group.split() if group or not name else [name] for group, name in groups]
    names = [name for group in found for name in group]
    if not all(name.isidentifier() or name == "1" for name in names):
        raise ArgumentError(f"{text!r} is no side of a pattern: names and groups of them are rearranged")
    return found


def rearrangement(pattern: str, shape: Sequence[int]) -> tuple[list[int], list[int]]:
    """The order of the axes, and the extents of the result, of a pattern ``b h w c -> b (h w) c``.

    Raises:
        ArgumentError: It is no pattern, or splits an axis, whose parts have no sizes, or is of other axes.
    """
    left, right = (_axes(side) for side in pattern.split("->"))
    if any(len(group) != 1 or group == ["1"] for group in left):
        raise ArgumentError(f"{pattern!r} splits an axis, and its parts have no sizes")
    names = [name for (name,) in left]
    wanted = [name for group in right for name in group if name != "1"]
    if sorted(wanted) != sorted(names) or len(names) != len(shape):
        raise ArgumentError(f"{pattern!r} is not of {len(shape)} axes that are the same on both sides")
    extents = dict(zip(names, shape, strict=True))
    merged = [math.prod(extents.get(name, 1) for name in group) for group in right]
    return [names.index(name) for name in wanted], merged


def _rearranged(ops: Ops, call: TextCall) -> Value:
    order, merged = rearrangement(call.pattern, call.input.shape)
    return ops.reshaped(_permuted(ops, call.input, order), tuple(merged))


def _rearranged_in_torch(torch: Any, call: TextCall) -> Any:
    left, right = call.pattern.split("->")
    letters = {name: chr(ord("a") + place) for place, name in enumerate(left.split())}
    order = "".join(letters[name] for name in re.findall(r"[^\W\d]\w*", right))
    return torch.einsum(f"{''.join(letters.values())}->{order}", call.input).reshape(tuple(call.result.shape))


REARRANGE = text(
    "ttir.rearrange",
    "input",
    _rearranged,
    _rearranged_in_torch,
    pattern=REQUIRED,
    moves=True,
)

TEXTS = (
    REARRANGE,
    BROADCAST,
    REPEAT,
    PAD,
    INDEX,
    SLICE,
    INDEX_SELECT,
    SLICE_DYNAMIC,
    EMBEDDING,
    GATHER,
    SCATTER,
)
