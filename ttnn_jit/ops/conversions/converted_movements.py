"""Ops of StableHLO that make tensors, and that move elements to places known from the text."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.conversions import sharding_rules
from ttnn_jit.ops.families.complex_parts import ComplexTensor
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.dialect_conversion import conversion
from ttnn_jit.ops.families.sharding_rule import reshaped
from ttnn_jit.ops.families.text_operation import REQUIRED, DenseNumbers, TextCall, numbers_in_torch


def _constant(ops: TtirOps, call: ConversionCall) -> Tensor:
    if not isinstance(call.value, DenseNumbers):
        raise ShapeError("the numbers of the constant are not in the text", help="dense numbers are read")
    return ops.constant(call.value, call.result.element)


def _constant_in_torch(torch: Any, call: TextCall) -> Any:
    numbers = numbers_in_torch(torch, call.value.numbers, is_integer=call.result.dtype.is_integer)
    shape = tuple(call.result.shape)
    return numbers[0].expand(shape) if call.value.splat is not None else numbers.reshape(shape)


def _complex_constant(ops: TtirOps, call: ConversionCall) -> ComplexTensor:
    if not isinstance(call.value, DenseNumbers):
        raise ShapeError("the numbers of the constant are not in the text", help="dense numbers are read")
    real, imag = zip(*call.value.numbers, strict=True) if call.value.numbers else ((), ())
    parts = (ops.constant(DenseNumbers(call.value.shape, each), call.result.element) for each in (real, imag))
    return ComplexTensor(*parts)


CONSTANT = conversion(
    "stablehlo.constant chlo.constant sdy.constant",
    "",
    _constant,
    _constant_in_torch,
    sharded_by=sharding_rules.constant,
    value=REQUIRED,
    is_elementwise=True,
    of_complex=_complex_constant,
)


def _iota(ops: TtirOps, call: ConversionCall) -> Tensor:
    return ops.counted(call.result.shape, call.iota_dimension, call.result.element)


def _iota_in_torch(torch: Any, call: TextCall) -> Any:
    shape, axis = tuple(call.result.shape), call.iota_dimension
    along = [-1 if each == axis else 1 for each in range(len(shape))]
    return torch.arange(shape[axis]).reshape(along).expand(shape)


IOTA = conversion(
    "stablehlo.iota",
    "",
    _iota,
    _iota_in_torch,
    sharded_by=sharding_rules.kept_dimensions(lambda call, _: (call.iota_dimension,)),
    iota_dimension=REQUIRED,
)
DYNAMIC_IOTA = conversion("stablehlo.dynamic_iota", "output_shape", _iota, _iota_in_torch, iota_dimension=REQUIRED)


def _extent(call: TextCall) -> int:
    return int(call.operand.shape[call.dimension])


DIMENSION_SIZE = conversion(
    "stablehlo.get_dimension_size",
    "operand",
    lambda ops, call: ops.op(
        "ttir.get_dimension_size", [call.operand], call.result.shape, call.result.element, dimension=call.dimension
    ),
    lambda torch, call: torch.full(tuple(call.result.shape), _extent(call)),
    dimension=REQUIRED,
)


def _in_dimensions(ops: TtirOps, call: ConversionCall) -> Tensor:
    return ops.along(call.operand, call.broadcast_dimensions, call.result.shape)


def _in_dimensions_in_torch(_: Any, call: TextCall) -> Any:
    x, axes, shape = call.operand, call.broadcast_dimensions, tuple(call.result.shape)
    order = sorted(range(x.dim()), key=lambda each: axes[each])
    placed = [1] * len(shape)
    for each in order:
        placed[axes[each]] = x.shape[each]
    return x.permute(order).reshape(placed).expand(shape)


BROADCAST = conversion(
    "stablehlo.broadcast_in_dim",
    "operand",
    _in_dimensions,
    _in_dimensions_in_torch,
    sharded_by=sharding_rules.broadcast,
    broadcast_dimensions=REQUIRED,
    keeps_number=True,
    moves=True,
    takes_quantized=True,
    acts_on_parts=True,
)
DYNAMIC_BROADCAST = conversion(
    "stablehlo.dynamic_broadcast_in_dim",
    "operand output_dimensions",
    _in_dimensions,
    _in_dimensions_in_torch,
    broadcast_dimensions=REQUIRED,
    known_expanding_dimensions=None,
    known_nonexpanding_dimensions=None,
    acts_on_parts=True,
)
LEADING = conversion(
    "stablehlo.broadcast",
    "operand",
    lambda ops, call: ops.along(
        call.operand, range(len(call.broadcast_sizes), len(call.result.shape)), call.result.shape
    ),
    lambda _, call: call.operand.expand(tuple(call.result.shape)),
    broadcast_sizes=REQUIRED,
    acts_on_parts=True,
)
RESHAPE = conversion(
    "stablehlo.reshape",
    "operand",
    lambda ops, call: ops.reshape(call.operand, call.result.shape),
    lambda _, call: call.operand.reshape(tuple(call.result.shape)),
    sharded_by=reshaped,
    keeps_number=True,
    moves=True,
    takes_quantized=True,
    acts_on_parts=True,
)
DYNAMIC_RESHAPE = conversion(
    "stablehlo.dynamic_reshape",
    "operand output_shape",
    lambda ops, call: ops.reshape(call.operand, call.result.shape),
    lambda _, call: call.operand.reshape(tuple(call.result.shape)),
    acts_on_parts=True,
)
TRANSPOSE = conversion(
    "stablehlo.transpose",
    "operand",
    lambda ops, call: ops.permute(call.operand, call.permutation),
    lambda _, call: call.operand.permute(call.permutation),
    sharded_by=sharding_rules.transposed,
    permutation=REQUIRED,
    keeps_number=True,
    moves=True,
    takes_quantized=True,
    acts_on_parts=True,
)
SLICE = conversion(
    "stablehlo.slice",
    "operand",
    lambda ops, call: ops.slice(call.operand, call.start_indices, call.limit_indices, call.strides),
    lambda _, call: call.operand[
        tuple(slice(*each) for each in zip(call.start_indices, call.limit_indices, call.strides, strict=True))
    ],
    sharded_by=sharding_rules.sliced,
    start_indices=REQUIRED,
    limit_indices=REQUIRED,
    strides=REQUIRED,
    moves=True,
    takes_quantized=True,
    acts_on_parts=True,
)
CONCATENATE = conversion(
    "stablehlo.concatenate",
    "inputs*",
    lambda ops, call: ops.concat(call.inputs, call.dimension),
    lambda torch, call: torch.cat(call.inputs, call.dimension),
    sharded_by=sharding_rules.kept_dimensions(lambda call, _: (call.dimension,)),
    dimension=REQUIRED,
    moves=True,
    acts_on_parts=True,
)
REVERSE = conversion(
    "stablehlo.reverse",
    "operand",
    lambda ops, call: (
        ops.same("ttir.reverse", call.operand, dimensions=call.dimensions) if call.dimensions else call.operand
    ),
    lambda torch, call: torch.flip(call.operand, tuple(call.dimensions)),
    sharded_by=sharding_rules.kept_dimensions(lambda call, _: call.dimensions),
    dimensions=REQUIRED,
    moves=True,
    acts_on_parts=True,
)
BARRIER = conversion(
    "stablehlo.optimization_barrier",
    "operand*",
    lambda _, call: call.operand,
    lambda _, call: call.operand,
    sharded_by=sharding_rules.identical,
    moves=True,
)


def _padded(ops: TtirOps, call: ConversionCall) -> Tensor:
    low, high, interior = call.edge_padding_low, call.edge_padding_high, call.interior_padding
    numbers = call.number("padding_value")
    if numbers is not None:
        return _padded_by(ops, call.operand, numbers, low, high, interior)
    # The number is known only when the program runs: it is chosen where no element of the operand stands.
    x = call.operand
    data = _padded_by(ops, x, 0, low, high, interior)
    ones = _padded_by(ops, ops.filled(1, x.shape, "i32"), 0, low, high, interior)
    return ops.select(ops.cast(ones, "i1"), data, ops.spread(call.padding_value, data.shape))


def _padded_by(ops: TtirOps, x: Tensor, number: float, low: Any, high: Any, interior: Any) -> Tensor:
    for axis, distance in enumerate(interior):
        x = ops.spaced(x, axis, distance + 1, number)
    return ops.padded(x, low, high, number)


def _padded_in_torch(_: Any, call: TextCall) -> Any:
    x, low, high = call.operand, call.edge_padding_low, call.edge_padding_high
    steps = [each + 1 for each in call.interior_padding]
    whole = [
        max(0, first) + max(0, (extent - 1) * step + 1) + max(0, last)
        for extent, step, first, last in zip(x.shape, steps, low, high, strict=True)
    ]
    found = x.new_empty(whole)
    found[...] = call.padding_value
    if x.numel():
        places = [slice(max(0, each), None) for each in low]
        spans = [slice(None, (extent - 1) * step + 1, step) for extent, step in zip(x.shape, steps, strict=True)]
        found[tuple(places)][tuple(spans)] = x
    begins = [max(0, -each) for each in low]
    ends = [extent - max(0, -each) for extent, each in zip(whole, high, strict=True)]
    return found[tuple(slice(*each) for each in zip(begins, ends, strict=True))]


PAD = conversion(
    "stablehlo.pad",
    "operand padding_value",
    _padded,
    _padded_in_torch,
    sharded_by=sharding_rules.kept_dimensions(sharding_rules.padded_dimensions),
    edge_padding_low=REQUIRED,
    edge_padding_high=REQUIRED,
    interior_padding=REQUIRED,
    acts_on_parts=True,
)

# --- Places that the program computes ---------------------------------------------------------------------------------


def _starts(ops: TtirOps, starts: list[Tensor], extents: Any, sizes: Any) -> Tensor:
    """The first indices of a slice, held within the operand, as one tensor of i32."""
    kind = Tensor((1,), starts[0].element)
    found = ops.concat([ops.reshape(each, (1,)) for each in starts], 0)
    limits = tuple(extent - size for extent, size in zip(extents, sizes, strict=True))
    if kind.is_unsigned or kind.bits > 32:
        # Unsigned indices are cut off at the top before they could turn negative.
        found = ops.same("ttir.minimum", found, ops.constant(_numbers(limits), kind.element))
    found = ops.cast(found, "i32")
    zero, upper = ops.filled(0, found.shape, "i32"), ops.constant(_numbers(limits), "i32")
    return ops.same("ttir.minimum", ops.same("ttir.maximum", found, zero), upper)


def _numbers(values: tuple[int, ...]) -> DenseNumbers:
    return DenseNumbers((len(values),), values[:1] if len({*values}) == 1 else values)


def _sliced_at(ops: TtirOps, call: ConversionCall) -> Tensor:
    x: Tensor = call.operand
    sizes = call.slice_sizes
    if not x.rank:
        return x
    begins = _starts(ops, call.start_indices, x.shape, sizes)
    ends = ops.same("ttir.add", begins, ops.constant(_numbers(tuple(sizes)), "i32"))
    return ops.op("ttir.slice_dynamic", [x, begins, ends], sizes, x.element)


def _places_in_torch(call: TextCall, sizes: Any) -> tuple[slice, ...]:
    limits = [extent - size for extent, size in zip(call.operand.shape, sizes, strict=True)]
    begins = [min(max(int(each), 0), limit) for each, limit in zip(call.start_indices, limits, strict=True)]
    return tuple(slice(begin, begin + size) for begin, size in zip(begins, sizes, strict=True))


DYNAMIC_SLICE = conversion(
    "stablehlo.dynamic_slice",
    "operand start_indices*",
    _sliced_at,
    lambda _, call: call.operand[_places_in_torch(call, call.slice_sizes)],
    sharded_by=sharding_rules.sliced_at,
    slice_sizes=REQUIRED,
    acts_on_parts=True,
)


def _updated(ops: TtirOps, call: ConversionCall) -> Tensor:
    """Every element of the result is of the operand, or of the update at its index less the first one."""
    x: Tensor = call.operand
    update: Tensor = call.update
    if x.shape == update.shape:
        return update
    begins = _starts(ops, call.start_indices, x.shape, update.shape)
    inside = None
    for axis, (extent, size) in enumerate(zip(x.shape, update.shape, strict=True)):
        if extent == size:
            continue
        begin = ops.part(begins, 0, axis, axis + 1)
        index = ops.same("ttir.subtract", ops.counted((extent,), 0, "i32"), ops.spread(begin, (extent,)))
        zero, last = ops.like(index, 0), ops.like(index, size - 1)
        near = ops.same("ttir.minimum", ops.same("ttir.maximum", index, zero), last)
        flags = ops.along(ops.compared("ttir.eq", near, index), (axis,), x.shape)
        inside = flags if inside is None else ops.same("ttir.logical_and", inside, flags)
        wanted = (*update.shape[:axis], extent, *update.shape[axis + 1 :])
        update = ops.op("ttir.gather", [update, ops.along(near, (axis,), wanted)], wanted, x.element, dim=axis)
    assert inside is not None, "the shapes differ"
    return ops.select(inside, update, x)


def _updated_in_torch(_: Any, call: TextCall) -> Any:
    found = call.operand.clone()
    found[_places_in_torch(call, call.update.shape)] = call.update
    return found


DYNAMIC_UPDATE = conversion(
    "stablehlo.dynamic_update_slice",
    "operand update start_indices*",
    _updated,
    _updated_in_torch,
    sharded_by=sharding_rules.updated_at,
    acts_on_parts=True,
)


def _selected(ops: TtirOps, call: ConversionCall) -> Tensor:
    """Rows of the operand along a dimension by indices, batch by batch."""
    x, index, axis, batch = call.operand, call.index, call.dim, call.batch_dims
    rows = math.prod(index.shape[batch:])
    wanted = [*x.shape]
    wanted[axis] = rows
    flat = ops.reshape(index, (*index.shape[:batch], rows))
    places = ops.along(ops.cast(flat, "i32"), (*range(batch), axis), wanted)
    found = ops.op("ttir.gather", [x, places], wanted, x.element, dim=axis)
    return ops.reshape(found, call.result.shape)


def _selected_in_torch(torch: Any, call: TextCall) -> Any:
    x, index, axis, batch = call.operand, call.index.long(), call.dim, call.batch_dims
    flat = index.reshape(*index.shape[:batch], -1)
    shape = [flat.shape[each] if each < batch else 1 for each in range(x.dim())]
    shape[axis] = flat.shape[-1]
    wanted = [*x.shape]
    wanted[axis] = flat.shape[-1]
    return torch.gather(x, axis, flat.reshape(shape).expand(wanted)).reshape(tuple(call.result.shape))


INDEX_SELECT = conversion(
    "stablehlo.torch_index_select",
    "operand index",
    _selected,
    _selected_in_torch,
    index_limits={"index": lambda call: call.operand.shape[call.dim]},
    dim=REQUIRED,
    batch_dims=0,
    acts_on_parts=True,
)

TEXTS = (
    CONSTANT,
    IOTA,
    DYNAMIC_IOTA,
    DIMENSION_SIZE,
    BROADCAST,
    DYNAMIC_BROADCAST,
    LEADING,
    RESHAPE,
    DYNAMIC_RESHAPE,
    TRANSPOSE,
    SLICE,
    CONCATENATE,
    REVERSE,
    BARRIER,
    PAD,
    DYNAMIC_SLICE,
    DYNAMIC_UPDATE,
    INDEX_SELECT,
)
