"""Reductions, windows and sorts of StableHLO: ops with a region that combines or compares scalars.

A region that is one op of a reduction of TTIR becomes that. Another one is lifted to tensors, and combines slices of
its operands pairwise, neighbours first: reducers are associative.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import DTypeError, ShapeError
from ttnn_jit.ops.conversions import sharding_rules
from ttnn_jit.ops.families.complex_parts import ComplexTensor
from ttnn_jit.ops.families.conversion_protocol import BOOL, ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.dialect_conversion import Conversion, RegionInText, conversion
from ttnn_jit.ops.families.text_operation import REQUIRED, DenseNumbers, TextCall

Tensors = list[Tensor]


def _folded_axis(ops: TtirOps, body: RegionInText, parts: Tensors, axis: int) -> Tensors:
    """The elements along a dimension combined into one, which stays."""
    while parts[0].shape[axis] > 1:
        extent = parts[0].shape[axis]
        even = extent - extent % 2
        firsts = [ops.part(each, axis, 0, even, 2) for each in parts]
        seconds = [ops.part(each, axis, 1, even, 2) for each in parts]
        found = body.convert(ops, *firsts, *seconds)
        if extent % 2:
            rest = [ops.part(each, axis, even, extent) for each in parts]
            found = [ops.concat([*pair], axis) for pair in zip(found, rest, strict=True)]
        parts = found
    return parts


def _starting_with(ops: TtirOps, call: ConversionCall, body: RegionInText, found: Tensors) -> Tensors:
    """`found` combined with the first values, unless these change nothing."""
    single = body.single
    if single is not None and single.neutral is not None:
        known = call.number("init_values[0]")
        if known is not None and known == single.neutral(found[0]):
            return found
    starts = [ops.spread(each, own.shape) for each, own in zip(call.init_values, found, strict=True)]
    return body.convert(ops, *starts, *found)


def _is_reduced_by(single: Conversion | None, x: Tensor) -> bool:
    """Whether TTIR has the reduction: on bits, only that of flags; on flags, only that."""
    if single is None or not single.reduction:
        return False
    return x.is_bool == (single.reduction in {"ttir.reduce_and", "ttir.reduce_or"})


def _reduced(ops: TtirOps, call: ConversionCall) -> Tensors:
    inputs, axes, body = call.inputs, tuple(call.dimensions), call.body
    if not axes:
        return _starting_with(ops, call, body, inputs)
    if 0 in inputs[0].shape:
        return [ops.spread(each, kind.shape) for each, kind in zip(call.init_values, call.results, strict=True)]
    if len(inputs) == 1 and _is_reduced_by(body.single, inputs[0]):
        return _starting_with(ops, call, body, [ops.reduced(body.single.reduction, inputs[0], axes)])
    found = inputs
    for axis in sorted(axes, reverse=True):
        found = _folded_axis(ops, body, found, axis)
    shapes = [kind.shape for kind in call.results]
    return _starting_with(ops, call, body, [ops.reshape(*pair) for pair in zip(found, shapes, strict=True)])


def _folded_in_torch(torch: Any, body: RegionInText, values: list[Any], elements: list[Any]) -> list[Any]:
    """`values` combined with the elements along the first dimension, one after the other."""
    single = body.single
    if single is not None and len(elements) == 1 and elements[0].is_floating_point() and elements[0].shape[0]:
        whole = {"ttir.sum": torch.sum, "ttir.prod": torch.prod, "ttir.max": torch.amax, "ttir.min": torch.amin}
        if single.reduction in whole:
            return body.golden(torch, *values, whole[single.reduction](elements[0], 0))
    count = elements[0].shape[0]
    if count > _LONG:
        # Blocks are combined beside each other, in order, and then their results.
        block = math.isqrt(count)
        blocks = [each[: count // block * block].unflatten(0, (-1, block)).transpose(0, 1) for each in elements]
        combined = _folded_in_torch(torch, body, [each[0] for each in blocks], [each[1:] for each in blocks])
        values = _folded_in_torch(torch, body, values, combined)
        elements = [each[count // block * block :] for each in elements]
    for index in range(elements[0].shape[0]):
        values = body.golden(torch, *values, *(each[index] for each in elements))
    return values


_LONG = 256
"""More elements than these are combined in blocks."""


def _reduced_in_torch(torch: Any, call: TextCall) -> list[Any]:
    axes, count = tuple(call.dimensions), len(call.inputs)
    rows = []
    for x in call.inputs:
        kept = [axis for axis in range(x.dim()) if axis not in axes]
        shape = [x.shape[axis] for axis in kept]
        rows.append(x.permute(*sorted(axes), *kept).reshape(math.prod(x.shape[axis] for axis in axes), *shape))
    starts = [each.expand(tuple(rows[0].shape[1:])) for each in call.init_values[:count]]
    return _folded_in_torch(torch, call.body, starts, rows)


def _sum_of_parts(ops: TtirOps, call: ConversionCall) -> ComplexTensor:
    """The sum of real and that of imaginary parts.

    Raises:
        DTypeError: Its region is no sum.
    """
    if call.body.single is None or call.body.single.reduction != "ttir.sum":
        raise DTypeError("complex numbers are summed, and not reduced otherwise")
    (x,), (start,) = call.inputs, call.init_values
    sums = [ops.reduced("ttir.sum", each, tuple(call.dimensions)) for each in x.parts]
    pairs = zip(sums, start.parts, strict=True)
    return ComplexTensor(*(ops.same("ttir.add", each, ops.spread(own, each.shape)) for each, own in pairs))


REDUCE = conversion(
    "stablehlo.reduce",
    "inputs* init_values*",
    _reduced,
    _reduced_in_torch,
    sharded_by=sharding_rules.reduced,
    reduced_axes=lambda _, call: call.dimensions,
    dimensions=REQUIRED,
    regions=("body",),
    in_float32=True,
    of_complex=_sum_of_parts,
)
MAP = conversion(
    "stablehlo.map",
    "inputs*",
    lambda ops, call: call.computation.convert(ops, *call.inputs),
    lambda torch, call: call.computation.golden(torch, *call.inputs),
    dimensions=REQUIRED,
    regions=("computation",),
)

# --- Windows ----------------------------------------------------------------------------------------------------------


def pairs(numbers: DenseNumbers | None, rank: int) -> list[tuple[int, int]]:
    """Padding before and after each dimension."""
    if numbers is None:
        return [(0, 0)] * rank
    values = numbers.numbers * (2 * rank) if numbers.splat is not None else numbers.numbers
    return [(int(values[2 * axis]), int(values[2 * axis + 1])) for axis in range(rank)]


def _ones(given: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    return (1,) * rank if given is None else tuple(given)


def _window_along(ops: TtirOps, body: RegionInText, parts: Tensors, axis: int, size: int, distance: int) -> Tensors:
    """At every place, the combination of `size` elements along a dimension, `distance` apart.

    Windows of 1, 2, 4... elements are combined from halves, and of them those that `size` is the sum of.
    """
    found: Tensors | None = None
    taken, width, power = 0, 1, parts
    while True:
        if size & width:
            count = parts[0].shape[axis] - (size - 1) * distance
            begin = taken * distance
            own = [ops.part(each, axis, begin, begin + count) for each in power]
            found = own if found is None else body.convert(ops, *found, *own)
            taken += width
        if taken == size:
            assert found is not None, "a window has an element"
            return found
        extent = power[0].shape[axis] - width * distance
        firsts = [ops.part(each, axis, 0, extent) for each in power]
        seconds = [ops.part(each, axis, width * distance, width * distance + extent) for each in power]
        power = body.convert(ops, *firsts, *seconds)
        width *= 2


def _with_padding(ops: TtirOps, x: Tensor, start: Tensor, number: float | None, call: TextCall) -> Tensor:
    """`x` with the first value between and around its elements."""
    spacing, padding = _ones(call.base_dilations, x.rank), pairs(call.padding, x.rank)
    low, high = zip(*padding, strict=True) if padding else ((), ())

    def arranged(each: Tensor, fill: float) -> Tensor:
        for axis, distance in enumerate(spacing):
            each = ops.spaced(each, axis, distance, fill)
        return ops.padded(each, low, high, fill)

    if number is not None:
        return arranged(x, number)
    data = arranged(x, 0)
    if data.shape == x.shape:
        return data
    flags = ops.cast(arranged(ops.filled(1, x.shape, "i32"), 0), BOOL)
    return ops.select(flags, data, ops.spread(start, data.shape))


def _in_windows(ops: TtirOps, call: ConversionCall) -> Tensors:
    """Sums and products of narrow floats are folded in float32, and rounded once."""
    single = call.body.single
    folds = single is not None and single.reduction in {"ttir.sum", "ttir.prod"}
    if not folds or not any(each.is_float and each.bits < _WIDE for each in call.inputs):
        return _folded_in_windows(ops, call)
    wide = {name: [ops.cast(each, "f32") for each in vars(call)[name]] for name in ("inputs", "init_values")}
    kinds = [Tensor(each.shape, "f32") for each in call.results]
    whole = ConversionCall.of({**vars(call), **wide, "results": tuple(kinds)}, kinds)
    pairs_of = zip(_folded_in_windows(ops, whole), call.results, strict=True)
    return [ops.cast(found, kind.element) for found, kind in pairs_of]


_WIDE = 32
"""The bits of floats in which windows are folded."""


def _folded_in_windows(ops: TtirOps, call: ConversionCall) -> Tensors:
    rank, body = call.inputs[0].rank, call.body
    found = [
        _with_padding(ops, each, start, call.number(f"init_values[{index}]"), call)
        for index, (each, start) in enumerate(zip(call.inputs, call.init_values, strict=True))
    ]
    distances, strides = _ones(call.window_dilations, rank), _ones(call.window_strides, rank)
    for axis in reversed(range(rank)):
        found = _window_along(ops, body, found, axis, call.window_dimensions[axis], distances[axis])
        found = [ops.part(each, axis, 0, each.shape[axis], strides[axis]) for each in found]
    return _starting_with(ops, call, body, found)


def _in_windows_in_torch(torch: Any, call: TextCall) -> list[Any]:
    rank, count = len(call.window_dimensions), len(call.inputs)
    spacing, padding = _ones(call.base_dilations, rank), pairs(call.padding, rank)
    distances, strides = _ones(call.window_dilations, rank), _ones(call.window_strides, rank)
    wide = []
    for x, start in zip(call.inputs, call.init_values, strict=True):
        spans = [slice(None, (extent - 1) * step + 1, step) for extent, step in zip(x.shape, spacing, strict=True)]
        shape = [
            max(0, low) + (extent - 1) * step + 1 + max(0, high)
            for extent, step, (low, high) in zip(x.shape, spacing, padding, strict=True)
        ]
        whole = start.expand(shape).clone()
        whole[tuple(slice(max(0, low), None) for low, _ in padding)][tuple(spans)] = x
        cuts = [slice(max(0, -low), each - max(0, -high)) for (low, high), each in zip(padding, shape, strict=True)]
        wide.append(whole[tuple(cuts)])
    extents = tuple(call.results[0].shape)
    taps = []
    for place in itertools.product(*map(range, call.window_dimensions)):
        begins = [index * distance for index, distance in zip(place, distances, strict=True)]
        where = tuple(
            slice(begin, begin + (extent - 1) * stride + 1, stride)
            for begin, extent, stride in zip(begins, extents, strides, strict=True)
        )
        taps.append([each[where] for each in wide])
    stacked = [torch.stack([tap[index] for tap in taps]) for index in range(count)]
    return _folded_in_torch(torch, call.body, [each.expand(extents) for each in call.init_values], stacked)


def _windowed_dimensions(call: ConversionCall, shape: Sequence[int]) -> list[int]:
    """The dimensions along which a window is longer than 1, moves by more than 1, or is padded."""
    rank = len(shape)
    steps = [_ones(each, rank) for each in (call.window_dimensions, call.window_strides, call.base_dilations)]
    padding = pairs(call.padding, rank)
    return [axis for axis in range(rank) if any(each[axis] != 1 for each in steps) or any(padding[axis])]


REDUCE_WINDOW = conversion(
    "stablehlo.reduce_window",
    "inputs* init_values*",
    _in_windows,
    _in_windows_in_torch,
    sharded_by=sharding_rules.kept_dimensions(_windowed_dimensions),
    regions=("body",),
    in_float32=True,
    window_dimensions=REQUIRED,
    window_strides=None,
    base_dilations=None,
    window_dilations=None,
    padding=None,
)


def _selected_and_added(ops: TtirOps, call: ConversionCall) -> Tensor:
    """Every element of the source is added where its window of the operand has the element that `select` chooses."""
    x, source, rank = call.operand, call.source, call.operand.rank
    single = call.scatter.single
    if single is None or single.reduction != "ttir.sum":
        raise ShapeError("its `scatter` does more than to add, and is not executed")
    sizes, strides = _ones(call.window_dimensions, rank), _ones(call.window_strides, rank)
    low, high = zip(*pairs(call.padding, rank), strict=True)
    data = ops.padded(x, low, high, 0)
    valid = ops.padded(ops.filled(1, x.shape, "i32"), low, high, 0)
    best: tuple[Tensor, Tensor, Tensor] | None = None
    places = [*itertools.product(*map(range, sizes))]
    for index, place in enumerate(places):
        ends = [
            begin + (extent - 1) * step + 1 for begin, extent, step in zip(place, source.shape, strides, strict=True)
        ]
        own = ops.slice(data, place, ends, strides)
        flags = ops.cast(ops.slice(valid, place, ends, strides), BOOL)
        number = ops.filled(index, source.shape, "i32")
        if best is None:
            best = own, flags, number
            continue
        (keeps,) = call.select.convert(ops, best[0], own)
        keeps = ops.same("ttir.logical_or", keeps, ops.same("ttir.logical_not", flags))
        keeps = ops.same("ttir.logical_and", keeps, best[1])
        best = (
            ops.select(keeps, best[0], own),
            ops.same("ttir.logical_or", best[1], flags),
            ops.select(keeps, best[2], number),
        )
    assert best is not None, "a window has an element"
    total: Tensor | None = None
    for index, place in enumerate(places):
        chosen = ops.compared("ttir.eq", best[2], ops.filled(index, source.shape, "i32"))
        own = ops.select(chosen, source, ops.like(source, 0))
        for axis, distance in enumerate(strides):
            own = ops.spaced(own, axis, distance, 0)
        rest = [whole - begin - part for whole, begin, part in zip(data.shape, place, own.shape, strict=True)]
        own = ops.padded(own, place, rest, 0)
        total = own if total is None else ops.same("ttir.add", total, own)
    assert total is not None, "a window has an element"
    found = ops.padded(total, [-each for each in low], [-each for each in high], 0)
    if call.number("init_value") == 0:
        return found
    return ops.same("ttir.add", found, ops.spread(call.init_value, found.shape))


def _selected_in_torch(torch: Any, call: TextCall) -> Any:
    x, source, rank = call.operand, call.source, call.operand.dim()
    sizes, strides = _ones(call.window_dimensions, rank), _ones(call.window_strides, rank)
    low = [each[0] for each in pairs(call.padding, rank)]
    found = call.init_value.expand(x.shape).clone()
    for place in itertools.product(*map(range, source.shape)):
        begins = [index * stride - first for index, stride, first in zip(place, strides, low, strict=True)]
        taps = itertools.product(
            *(
                range(max(0, begin), min(extent, begin + size))
                for begin, extent, size in zip(begins, x.shape, sizes, strict=True)
            )
        )
        chosen = next(taps, None)
        for tap in taps:
            if not call.select.golden(torch, x[chosen], x[tap])[0]:
                chosen = tap
        if chosen is not None:
            found[chosen] = call.scatter.golden(torch, found[chosen], source[place])[0]
    return found


SELECT_AND_SCATTER = conversion(
    "stablehlo.select_and_scatter",
    "operand source init_value",
    _selected_and_added,
    _selected_in_torch,
    regions=("select", "scatter"),
    in_float32=True,
    window_dimensions=None,
    window_strides=None,
    padding=None,
)

# --- Sorts ------------------------------------------------------------------------------------------------------------

MAX_COMPARED = 2048
"""A comparator of several operands compares every element with every other one: longer rows are refused."""


def _sorted(ops: TtirOps, call: ConversionCall) -> Tensors:
    inputs: Tensors = call.inputs
    axis = call.dimension % max(1, inputs[0].rank)
    if not inputs[0].rank or inputs[0].shape[axis] < 2:
        return inputs
    simple = call.comparator.compares()
    order = _order(ops, call, axis) if simple is None else None
    if simple is not None:
        key = inputs[simple[0]]
        key = ops.cast(key, "i32") if key.is_bool else key
        kinds = [Tensor(key.shape, key.element), Tensor(key.shape, "i32")]
        values, order = ops.results(
            "ttir.sort", [key], kinds, dim=axis, descending=simple[1] == "GT", stable=bool(call.is_stable)
        )
        if len(inputs) == 1 and key is inputs[0]:
            return [values]
    return [ops.op("ttir.gather", [each, order], each.shape, each.element, dim=axis) for each in inputs]


def _order(ops: TtirOps, call: ConversionCall, axis: int) -> Tensor:
    """For every place of the result the index of its element: those that come before are counted, and this inverted."""
    inputs, shape = call.inputs, call.inputs[0].shape
    extent = shape[axis]
    if extent > MAX_COMPARED:
        raise ShapeError(f"its comparator is no comparison of one operand, and {extent} elements are too many for it")
    wide = (*shape, extent)
    others = [each for each in range(len(shape)) if each != axis]
    # Elements vary along `axis`, those that they are compared with along the last dimension.
    own = [ops.along(each, range(len(shape)), wide) for each in inputs]
    beside = [ops.along(ops.permute(each, (*others, axis)), (*others, len(shape)), wide) for each in inputs]
    mixed = [each for pair in zip(beside, own, strict=True) for each in pair]
    (before,) = call.comparator.convert(ops, *mixed)
    mixed = [each for pair in zip(own, beside, strict=True) for each in pair]
    (behind,) = call.comparator.convert(ops, *mixed)
    index, other = ops.counted(wide, axis, "i32"), ops.counted(wide, len(shape), "i32")
    earlier = ops.compared("ttir.lt", other, index)
    ties = ops.same("ttir.logical_not", ops.same("ttir.logical_or", before, behind))
    counts = ops.same("ttir.logical_or", before, ops.same("ttir.logical_and", ties, earlier))
    place = ops.reduced("ttir.sum", ops.cast(counts, "f32"), (len(shape),))
    place = ops.cast(place, "i32")
    target = ops.filled(0, shape, "i32")
    source = ops.counted(shape, axis, "i32")
    return ops.op("ttir.scatter", [target, place, source], shape, "i32", dim=axis, scatter_reduce_type="invalid")


_COMPARED_AT_ONCE = 2**22
"""Comparisons of a golden of a sort that are one tensor."""


def _sorted_in_torch(torch: Any, call: TextCall) -> list[Any]:
    """The place of an element is the number of those before it: by the comparator, and of equal ones by their order."""
    inputs: list[Any] = call.inputs
    if not inputs[0].dim():
        return inputs
    axis = call.dimension % inputs[0].dim()
    moved = [each.movedim(axis, -1) for each in inputs]
    extent = moved[0].shape[-1]
    rows = [each.reshape(-1, extent) for each in moved]
    earlier = torch.arange(extent)[None, :] < torch.arange(extent)[:, None]
    order = torch.empty(rows[0].shape, dtype=torch.int64)
    step = max(1, _COMPARED_AT_ONCE // max(1, extent * extent))
    for begin in range(0, rows[0].shape[0], step):
        part = [each[begin : begin + step] for each in rows]
        own = [each[:, :, None].expand(-1, -1, extent) for each in part]
        other = [each[:, None, :].expand(-1, extent, -1) for each in part]
        before, behind = (
            call.comparator.golden(torch, *(each for pair in zip(*sides, strict=True) for each in pair))[0].bool()
            for sides in ((other, own), (own, other))
        )
        place = (before | (~behind & earlier)).sum(-1)
        order[begin : begin + step] = torch.argsort(place, -1)
    found = order.reshape(moved[0].shape)
    return [torch.gather(each, -1, found).movedim(-1, axis) for each in moved]


SORT = conversion(
    "stablehlo.sort",
    "inputs*",
    _sorted,
    _sorted_in_torch,
    sharded_by=sharding_rules.kept_dimensions(lambda call, shape: (call.dimension % len(shape),)),
    regions=("comparator",),
    dimension=-1,
    is_stable=False,
)

TEXTS = (REDUCE, MAP, REDUCE_WINDOW, SELECT_AND_SCATTER, SORT)
