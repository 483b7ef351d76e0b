"""The interpreter of ops over whole tensors, by family: without tiles, strides or loops of codegen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ttnn_jit.dialects.declared_ops import ContractionOp, MovementOp, ReductionOp, RoutineOp, TensorOp, TypecastOp
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.kernels.block_floats.block_floats import packed, unpacked
from ttnn_jit.kernels.numba.compiled_routine import written_in_rows
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.ops import Reduction
from ttnn_jit.ops.families.contraction import Labels
from ttnn_jit.ops.families.reduction import BLOCK, CHAINS
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Expr, dims_of, evaluated
from ttnn_jit.specs.cores.sharding import dense_strides
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, DataType
from ttnn_jit.specs.product_precision import Multiplication, multiplication
from ttnn_jit.specs.target import TILE_WIDTH, Numerics
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Tensor:
    """The logical elements of a tensor, in their compute type; `fill`: the value of masked padding, or None."""

    values: Array
    spec: TensorSpec
    fill: float | None = None


def results_of(op: TensorOp, operands: Sequence[Tensor], math: NumpyVector, numerics: Numerics) -> Sequence[Array]:
    """The elements of an op's results, in row-major order of any shape, in their compute types."""
    compute = next(compute for family, compute in _RESULTS.items() if isinstance(op, family))
    return compute(op, operands, math, numerics)


def _movement(op: MovementOp, operands: Sequence[Tensor], math_: NumpyVector, numerics: Numerics) -> Sequence[Array]:
    spec = spec_of(op.results[0].type)
    values = np.full(tuple(spec.shape), op.background.number if op.background else 0, spec.dtype.compute.numpy)
    if not spec.dtype.is_integer:
        values = math_.round_to(values, spec.dtype, numerics)
    for operand, part in zip(operands, op.parts, strict=True):
        slices = tuple(slice(each.start, each.stop, each.step) for each in part.intervals)
        values[slices] = gathered(operand.values, part.access)
    return [values]


def _routine(op: RoutineOp, operands: Sequence[Tensor], math_: NumpyVector, numerics: Numerics) -> Sequence[Array]:
    results = [spec_of(result.type) for result in op.results]
    if not any(spec.volume for spec in results):
        return [np.zeros(0, spec.dtype.compute.numpy) for spec in results]  # no loop runs: there is no first element
    shapes = [*(each.values.shape for each in operands), *(tuple(spec.shape) for spec in results)]
    shapes = [*map(op.operation.loop_shape, shapes)]
    loops = op.operation.loops(*shapes[: len(operands)], *op.statics)
    arrays = [np.array(each.values).reshape(-1) for each in operands]
    flat = [_as_numbers(values, each.spec.dtype) for values, each in zip(arrays, operands, strict=True)]
    if op.operation.updates:
        made, flat, shapes = arrays[:1], [*flat[1:], flat[0]], shapes[1:]
    else:
        made = [np.zeros(math.prod(spec.shape), spec.dtype.compute.numpy) for spec in results]
        flat += [_as_numbers(values, spec.dtype) for values, spec in zip(made, results, strict=True)]
    addresses = [
        access.address(shape, dense_strides(shape)) for access, shape in zip(loops.accesses, shapes, strict=True)
    ]
    outer = len(loops.extents) - loops.inner
    stored = _stored_as(results[0].dtype, math_, numerics)
    elements = (written_in_rows(_loaded, stored),) if op.operation.writes_rows else (_loaded, stored)
    loop, constants = op.operation.loop(*elements), op.operation.constants(*op.statics)
    used_dims = [frozenset().union(*map(dims_of, access.coordinates)) for access in loops.accesses]
    for index in np.ndindex(*loops.extents[:outer]):
        windows = (_loop_arguments(*each, index, loops.inner) for each in zip(flat, addresses, used_dims, strict=True))
        loop(*(part for window in windows for part in window), *loops.extents[outer:], *constants)
    if op.packs_rows:
        (spec,), (values,) = results, made
        return [packed_numbers(values.reshape(spec.shape), spec.dtype, numerics)]
    return made


def _as_numbers(values: Array, dtype: DataType) -> Array:
    """A view of the memory as numbers of `dtype`: arrays of unsigned elements hold their bits as signed ones."""
    return values if dtype.compute.is_signed else values.view(f"uint{dtype.compute.bits}")


def _loaded(element: Any) -> Any:
    """An element as a Python number, which does not overflow: an int, or a float64."""
    return element.item()


def _stored_as(dtype: DataType, math_: NumpyVector, numerics: Numerics) -> Callable[[Any], Any]:
    """The conversion of a number to `dtype`: the nearest float, or the low bits as an integer."""
    if dtype.is_integer:
        first, last = dtype.values[0], dtype.values[-1]
        return lambda number: (int(number) - first) % (last + 1 - first) + first  # `len` of 2**64 numbers overflows
    return lambda number: math_.round_to(np.full(1, number, dtype.compute.numpy), dtype, numerics)[0]


def _reduced(op: ReductionOp, operands: Sequence[Tensor], math: NumpyVector, numerics: Numerics) -> Sequence[Array]:
    values = operands[0].values
    for axis in reversed(op.axes):
        values = reduced(op.operation, math, values, axis)
    return [math.round_to(values, spec_of(op.results[0].type).dtype, numerics)]


def _contracted(
    op: ContractionOp, operands: Sequence[Tensor], math: NumpyVector, numerics: Numerics
) -> Sequence[Array]:
    spec = spec_of(op.results[0].type)
    left, right = operands
    named, _ = op.operation.extents([left.values.shape, right.values.shape], op.statics)
    order = (*named.result, named.contracted)
    pairs = left.spec.dtype.is_upper_half and right.spec.dtype.is_upper_half
    rows, columns = _aligned(left.values, named.left, order), _aligned(right.values, named.right, order)
    multiplied = multiplication(op.operation.precision(op.statics), left.spec.dtype, right.spec.dtype)
    values = contracted(math, rows, columns, multiplied, pairs=pairs)
    return [math.typecast(values, COMPUTE_TYPE, spec.dtype, numerics)]


def _repacked(op: TypecastOp, operands: Sequence[Tensor], _: NumpyVector, numerics: Numerics) -> Sequence[Array]:
    """A cast from block floats, whose values it keeps, or to block floats, which rounds."""
    (operand,), dtype = operands, spec_of(op.results[0].type).dtype
    if not dtype.is_block_float:
        return [operand.values]
    return [packed_numbers(operand.values, dtype, numerics)]


def packed_numbers(values: Array, dtype: DataType, numerics: Numerics) -> Array:
    """The values after they are packed to block floats and unpacked; packing them again changes nothing."""
    if numerics is Numerics.DEVICE:
        values = np.where(np.isnan(values), np.float32(np.inf), values)
    return unpacked_array(packed_array(values, dtype), values.shape, dtype)


def packed_array(values: Array, dtype: DataType) -> Array:
    """The bytes of a tensor in block floats; the padding is zero."""
    padded = np.zeros(_padded_shape(values.shape), np.float32)
    padded[_logical_slices(values.shape)] = values
    return packed(padded, dtype)


def unpacked_array(stored: Array, shape: tuple[int, ...], dtype: DataType) -> Array:
    """The elements of a tensor of block floats that is stored in tiles."""
    return unpacked(stored, _padded_shape(shape), dtype)[_logical_slices(shape)].reshape(shape)


def _padded_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    return TensorSpec(shape, COMPUTE_TYPE, Layout.TILE).padded_shape


def _logical_slices(shape: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(slice(extent) for extent in (1,) * (2 - len(shape)) + tuple(shape))


_RESULTS: dict[type[TensorOp], Callable[..., Sequence[Array]]] = {
    MovementOp: _movement,
    RoutineOp: _routine,
    ReductionOp: _reduced,
    ContractionOp: _contracted,
    TypecastOp: _repacked,
}

WHOLE_TENSOR_OPS = tuple(_RESULTS)
"""The families of ops that `results_of` executes."""


def _loop_arguments(
    values: Array, address: Expr, used_dims: frozenset[int], outer: tuple[int, ...], own: int
) -> Iterator[Any]:
    """The arguments of a routine's loop for an operand: its elements from the first on, its strides along own loops."""
    start = evaluated(address, (*outer, *(0 for _ in range(own))))
    yield values[start:]
    for loop in range(own):
        if len(outer) + loop in used_dims:
            indices = [int(other == loop) for other in range(own)]
            yield evaluated(address, (*outer, *indices)) - start


def reduced(operation: Reduction, math: NumpyVector, values: Array, axis: int) -> Array:
    """`values` reduced along `axis`, which keeps the extent 1, in the order that ops/families/reduction.py defines."""
    terms = np.moveaxis(values, axis, 0)
    blocks = [_block(operation, math, terms[at : at + BLOCK]) for at in range(0, max(1, len(terms)), BLOCK)]
    while len(blocks) > 1:
        pairs = zip(blocks[::2], blocks[1::2], strict=False)
        blocks = [operation.combine(math, *pair) for pair in pairs] + blocks[len(blocks) & ~1 :]
    return np.moveaxis(blocks[0][np.newaxis], 0, axis)


def _block(operation: Reduction, math: NumpyVector, terms: Array) -> Array:
    chains = np.full((CHAINS, *terms.shape[1:]), operation.identity, np.float32)
    for at in range(0, len(terms), CHAINS):
        row = terms[at : at + CHAINS]
        chains[: len(row)] = operation.combine(math, chains[: len(row)], row)
    while len(chains) > 1:
        half = len(chains) // 2
        chains = operation.combine(math, chains[:half], chains[half:])
    block: Array = chains[0]
    return block


def contracted(
    math: NumpyVector, left: Array, right: Array, multiplied: Multiplication | None, *, pairs: bool
) -> Array:
    """The sum of products along the last dimension, as ops/families/contraction.py defines, or rounded as on a chip."""
    how = multiplied or Multiplication((_ALL_BITS, _ALL_BITS), None, rounds_tiles=False)
    left, right = (_truncated(values, bits) for values, bits in zip((left, right), how.kept, strict=True))
    pairs = pairs and how.dropped is None
    shape, extent = np.broadcast_shapes(left.shape[:-1], right.shape[:-1]), left.shape[-1]
    total: Array = np.zeros(shape, np.float32)
    for k in range(0, extent, 2 if pairs else 1):
        if pairs:
            total = math.add_products(total, _bf16_pair(math, left, k), _bf16_pair(math, right, k))
        elif how.dropped:
            total = math.add(total, _product_without(math, (left[..., k], right[..., k]), how.dropped))
        else:
            total = math.fma(left[..., k], right[..., k], total)
        following = k + (2 if pairs else 1)
        if how.rounds_tiles and (following >= extent or following % TILE_WIDTH == 0):
            total = math.round_bfloat16(total, Numerics.IEEE)
    return total


_ALL_BITS = COMPUTE_TYPE.mantissa_bits


def _truncated(values: Array, bits: int) -> Array:
    """Numbers truncated toward zero to `bits` of mantissa; NaN stays NaN."""
    kept: Array = (values.view(np.int32) & np.int32(-(1 << (_ALL_BITS - bits)))).view(np.float32)
    return np.where(np.isnan(values), values, kept)


def _product_without(math: NumpyVector, factors: tuple[Array, Array], bits: tuple[int, int]) -> Array:
    high = [_truncated(factor, each) for factor, each in zip(factors, bits, strict=True)]
    low = [np.where(f == h, np.float32(0), math.sub(f, h)) for f, h in zip(factors, high, strict=True)]
    found: Array = math.fma(*factors, math.neg(math.mul(*low)))
    return found


def _bf16_pair(math: NumpyVector, values: Array, k: int) -> Array:
    """32-bit words of bfloat16 elements k (low half) and k + 1 (high half), which is zero beyond the last element."""
    low: Array = np.right_shift(math.bits(values[..., k]), 16) & 0xFFFF
    return low | math.bits(values[..., k + 1]) if k + 1 < values.shape[-1] else low


def _aligned(values: Array, labels: Labels, order: Labels) -> Array:
    """`values` transposed to the dimensions `order`, with extent 1 along those that it lacks."""
    moved = np.transpose(values, [labels.index(label) for label in order if label in labels])
    return np.ascontiguousarray(moved).reshape(
        [values.shape[labels.index(each)] if each in labels else 1 for each in order]
    )


def gathered(values: Array, access: Access) -> Array:
    """The elements at the coordinates of `access`."""
    indices = [*np.indices(access.extents)]
    at = tuple(np.broadcast_to(evaluated(expr, indices), access.extents) for expr in access.coordinates)
    gathered: Array = values[at].reshape(access.extents)
    return gathered
