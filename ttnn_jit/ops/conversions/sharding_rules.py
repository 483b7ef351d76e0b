"""The sharding rules of ops of StableHLO that are not elementwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ttnn_jit.ops.families.sharding_rule import Dimensions, Factors, Shape, ShardingRule, pointwise, whole

Shapes: TypeAlias = Sequence[Shape]

KINDS_OF_REDUCTIONS = {"ttir.sum": "sum", "ttir.prod": "prod", "ttir.max": "max", "ttir.min": "min"}
"""A reduction of TTIR -> the kind of the collective that combines parts of it."""


def kept_dimensions(whole_of: Callable[[Any, Shape], Sequence[int]]) -> Callable[..., ShardingRule]:
    """Of an op that moves or combines elements along some dimensions alone, ``whole_of(call, shape)``."""

    def rule(call: Any, operands: Shapes, results: Shapes) -> ShardingRule:
        factors = Factors()
        dimensions = factors.of(results[0], whole_of(call, results[0]))
        own = [dimensions if len(shape) == len(results[0]) else whole(shape) for shape in operands]
        return factors.rule(own, [dimensions] * len(results))

    return rule


def identical(_call: Any, operands: Shapes, results: Shapes) -> ShardingRule:
    """Of an op whose results are its operands."""
    factors = Factors()
    dimensions = [factors.of(shape) for shape in operands]
    return factors.rule(dimensions, dimensions[: len(results)])


def constant(call: Any, _operands: Shapes, results: Shapes) -> ShardingRule:
    """Of a constant: of one number in all places, parts are constants too."""
    splat = getattr(call.value, "splat", None)
    if splat is None:
        return Factors().rule([], [whole(results[0])])
    factors = Factors()

    def part(call: Any, _: Shapes, shapes: Shapes) -> dict[str, Any]:
        return {"value": type(call.value)(shapes[0], (splat,))}

    return factors.rule([], [factors.of(results[0])], local=part)


def transposed(call: Any, operands: Shapes, _results: Shapes) -> ShardingRule:
    """Of a transpose."""
    factors = Factors()
    own = factors.of(operands[0])
    return factors.rule([own], [tuple(own[axis] for axis in call.permutation)])


def broadcast(call: Any, operands: Shapes, results: Shapes) -> ShardingRule:
    """Of a broadcast: a dimension that is repeated is whole in the operand."""
    factors = Factors()
    own = factors.of(results[0])
    axes = call.broadcast_dimensions
    kept = (own[axis] if extent == results[0][axis] else () for axis, extent in zip(axes, operands[0], strict=True))
    return factors.rule([tuple(kept)], [own])


def product(axes_of: Callable[[Any], Sequence[Sequence[int]]]) -> Callable[..., ShardingRule]:
    """Of a product: batch dimensions of both operands and the contracted ones are those of ``axes_of(call)``."""

    def rule(call: Any, operands: Shapes, results: Shapes) -> ShardingRule:
        batch_left, batch_right, left, right = axes_of(call)
        factors = Factors()
        first, second = factors.of(operands[0]), [*factors.of(operands[1])]
        for own, other in zip((*batch_left, *left), (*batch_right, *right), strict=True):
            second[other] = first[own]
        rows = [first[axis] for axis in range(len(first)) if axis not in (*batch_left, *left)]
        columns = [second[axis] for axis in range(len(second)) if axis not in (*batch_right, *right)]
        result = (*(first[axis] for axis in batch_left), *rows, *columns)
        summed = {factor: "sum" for axis in left for factor in first[axis]}
        return factors.rule([first, tuple(second)], [result[: len(results[0])]], summed)

    return rule


def reduced(call: Any, operands: Shapes, results: Shapes) -> ShardingRule:
    """Of a reduction; along dimensions that are not summed, multiplied or compared, and from another start, whole."""
    factors = Factors()
    single = call.body.single
    kind = KINDS_OF_REDUCTIONS.get(single.reduction) if single is not None and len(results) == 1 else None
    start = call.number("init_values[0]")
    if kind is not None and (start is None or start != single.neutral(call.inputs[0])):
        kind = None
    own = factors.of(operands[0], () if kind else call.dimensions)
    result = tuple(dimension for axis, dimension in enumerate(own) if axis not in call.dimensions)
    combined = {own[axis][0]: kind for axis in call.dimensions} if kind else {}
    inputs = len(call.inputs)
    starts = [whole(shape) for shape in operands[inputs:]]
    return factors.rule([*[own] * inputs, *starts], [result] * len(results), combined)


def sliced(call: Any, operands: Shapes, results: Shapes) -> ShardingRule:
    """Of a slice: dimensions of which it takes all elements are cut."""
    factors = Factors()
    cut = [axis for axis, pair in enumerate(zip(operands[0], results[0], strict=True)) if pair[0] != pair[1]]
    own = factors.of(operands[0], [*cut, *(axis for axis, step in enumerate(call.strides) if step != 1)])

    def limits(call: Any, given: Shapes, _: Shapes) -> dict[str, Any]:
        ends = zip(call.limit_indices, operands[0], given[0], strict=True)
        return {"limit_indices": tuple(end if end != before else now for end, before, now in ends)}

    return factors.rule([own], [own], local=limits)


def sliced_at(_call: Any, operands: Shapes, results: Shapes) -> ShardingRule:
    """Of a slice at indices that the program computes."""
    factors = Factors()
    cut = [axis for axis, pair in enumerate(zip(operands[0], results[0], strict=True)) if pair[0] != pair[1]]
    own = factors.of(operands[0], cut)
    starts = [whole(shape) for shape in operands[1:]]
    return factors.rule([own, *starts], [own], local=lambda _, __, shapes: {"slice_sizes": shapes[0]})


def updated_at(_call: Any, operands: Shapes, _results: Shapes) -> ShardingRule:
    """Of an update of a slice."""
    factors = Factors()
    cut = [axis for axis, pair in enumerate(zip(operands[0], operands[1], strict=True)) if pair[0] != pair[1]]
    own = factors.of(operands[0], cut)
    return factors.rule([own, own, *map(whole, operands[2:])], [own])


def padded_dimensions(call: Any, shape: Shape) -> list[int]:
    """The dimensions that a pad makes longer, shorter or wider."""
    numbers = zip(call.edge_padding_low, call.edge_padding_high, call.interior_padding, strict=True)
    return [axis for axis, own in zip(range(len(shape)), numbers, strict=True) if any(own)]


def convolved(call: Any, operands: Shapes, results: Shapes) -> ShardingRule:
    """Of a convolution: images, and without groups features of results and of operands, are cut; space is not."""
    factors = Factors()
    numbers = call.dimension_numbers
    at: list[list[tuple[int, ...]]] = [[()] * len(shape) for shape in (*operands, *results)]

    def pair(size: int, *places: tuple[int, str]) -> int:
        factor = factors.new(size)
        for tensor, name in places:
            at[tensor][numbers.get(name, 0)] = (factor,)
        return factor

    summed = {}
    if call.batch_group_count == 1:
        images = operands[0][numbers.get("inputBatchDimension", 0)]
        pair(images, (0, "inputBatchDimension"), (2, "outputBatchDimension"))
        if call.feature_group_count == 1:
            features = operands[1][numbers.get("kernelOutputFeatureDimension", 0)]
            pair(features, (1, "kernelOutputFeatureDimension"), (2, "outputFeatureDimension"))
            depth = operands[0][numbers.get("inputFeatureDimension", 0)]
            summed[pair(depth, (0, "inputFeatureDimension"), (1, "kernelInputFeatureDimension"))] = "sum"
    first, second, result = map(tuple, at)
    return factors.rule([first, second], [result], summed)


def normalized(call: Any, operands: Shapes, results: Shapes) -> ShardingRule:
    """Of a batch norm with known means: vectors are cut with the features."""
    factors = Factors()
    own = factors.of(results[0])
    return factors.rule([own, *[(own[call.feature_index],)] * (len(operands) - 1)], [own])


def trained(call: Any, operands: Shapes, results: Shapes) -> ShardingRule:
    """Of a batch norm that computes its means: vectors are cut with the features, other dimensions are whole."""
    factors = Factors()
    axis = call.feature_index
    feature = (factors.new(operands[0][axis]),)

    def dimensions(shape: Shape) -> Dimensions:
        return (feature,) if len(shape) == 1 else tuple(feature if at == axis else () for at in range(len(shape)))

    return factors.rule([*map(dimensions, operands)], [*map(dimensions, results)])


def attended(_call: Any, operands: Shapes, results: Shapes) -> ShardingRule:
    """Of an attention: batches and heads are cut; heads of keys serve equally many of queries. With a sink, batches.

    Without a dimension of heads batches are cut that all tensors have, and with a mask of another rank nothing.
    """
    query, key, *_ = operands
    factors = Factors()
    batch = (factors.new(query[0]),)
    if len(query) != 4:
        if key[0] != query[0] or any(len(mask) != len(query) for mask in operands[3:4]):
            return factors.rule([*map(whole, operands)], [*map(whole, results)])
        rows = (batch, *[()] * (len(query) - 1))
        mask = [rows if shape[0] == query[0] else whole(shape) for shape in operands[3:4]]
        return factors.rule([rows, rows, rows, *mask, *map(whole, operands[4:])], [rows] * len(results))
    serving = (factors.new(key[1]),) if len(operands) < 5 and query[1] % key[1] == 0 else ()
    heads = (*serving, factors.new(query[1] // key[1])) if serving else ()
    asked = (batch, heads, (), ())
    mask = [
        tuple(own if extent == of_query else () for own, extent, of_query in zip(asked, shape, query, strict=True))
        for shape in operands[3:4]
    ]
    held = (batch, serving, (), ())
    return factors.rule([asked, held, held, *mask, *map(whole, operands[4:])], [asked] * len(results))


def gathered(call: Any, operands: Shapes, results: Shapes) -> ShardingRule:
    """Of a gather: index vectors are cut, and dimensions of which slices have all elements."""
    numbers = call.dimension_numbers
    factors = Factors()
    vector, offsets = numbers.get("indexVectorDim", 0), [*numbers.get("offsetDims", ())]
    own = [*numbers.get("operandBatchingDims", ())]
    gone = (*own, *numbers.get("collapsedSliceDims", ()))
    first: list[tuple[int, ...]] = [()] * len(operands[0])
    result: list[tuple[int, ...]] = [()] * len(results[0])
    kept = [axis for axis in range(len(first)) if axis not in gone]
    for axis, place in zip(kept, sorted(offsets), strict=True):
        if call.slice_sizes[axis] == operands[0][axis] and axis not in numbers.get("startIndexMap", ()):
            first[axis] = result[place] = (factors.new(operands[0][axis]),)
    index = [*factors.of(operands[1], (vector,))]
    batches = [axis for axis in range(len(index)) if axis != vector]
    for axis, place in zip(batches, (each for each in range(len(result)) if each not in offsets), strict=True):
        result[place] = index[axis]
    for axis, batch in zip(own, numbers.get("startIndicesBatchingDims", ()), strict=True):
        first[axis] = index[batch]

    def sizes(call: Any, given: Shapes, _: Shapes) -> dict[str, Any]:
        cut = zip(call.slice_sizes, operands[0], given[0], strict=True)
        return {"slice_sizes": tuple(size if size != before else now for size, before, now in cut)}

    return factors.rule([tuple(first), tuple(index)], [tuple(result)], local=sizes)


def scattered(call: Any, operands: Shapes, results: Shapes) -> ShardingRule:
    """Of a scatter: dimensions of the operand of which updates have all elements are cut."""
    numbers = call.scatter_dimension_numbers
    count = len(results)
    gone = {*numbers.get("insertedWindowDims", ()), *numbers.get("inputBatchingDims", ())}
    windows = [*numbers.get("updateWindowDims", ())]
    factors = Factors()
    own: list[tuple[int, ...]] = [()] * len(results[0])
    update: list[tuple[int, ...]] = [()] * len(operands[-1])
    kept = [axis for axis in range(len(own)) if axis not in gone]
    for axis, place in zip(kept, sorted(windows), strict=True):
        is_full = operands[-1][place] == results[0][axis]
        if is_full and axis not in numbers.get("scatterDimsToOperandDims", ()):
            own[axis] = update[place] = (factors.new(results[0][axis]),)
    inputs: list[Dimensions] = [tuple(own)] * count
    return factors.rule([*inputs, whole(operands[count]), *[tuple(update)] * count], inputs)


def same_rank(call: Any, operands: Shapes, results: Shapes) -> ShardingRule:
    """Of a cast of bits: elementwise, if elements have as many bits."""
    if operands[0] == results[0]:
        return pointwise(call, operands, results)
    return Factors().rule([whole(operands[0])], [whole(results[0])])
