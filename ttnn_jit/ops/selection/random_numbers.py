"""Random elements of a counter-based generator: every element is a function of the draw and of its index.

A draw reads two tensors: `draw`, a number of which each draw has its own two values (the number and its successor), and
`key`, two words from a seed. So elements can be computed where they are used, in any order, and the same two tensors
repeat a call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.elementwise.bitwise import LOGICAL_RIGHT_SHIFT
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.families.reduction import with_layout
from ttnn_jit.ops.language.parameter import ELEMENT_TYPE, EXTENTS, FLOAT, LAYOUT, TENSOR, Parameter
from ttnn_jit.ops.movement.data_movement import CONCAT
from ttnn_jit.ops.movement.sequences import arange
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, FLOATS, DataType
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

Shape = Sequence[int]

STATE_TYPE = DataType.UINT32
"""The element type of both tensors."""
STATE_WORD = TensorSpec((1,), STATE_TYPE)
"""One word of the state, on a device."""
NUMBERS_OF_A_DRAW = 2
"""The increment of a generator's counter per draw."""
WORD = 1 << 32
MAX_ELEMENTS = 1 << 30
"""Most elements of one draw: `arange` can represent twice as many indices, which `randn` uses."""
RESOLUTION = 24
"""Bits of a uniform element, the upper ones of its word: float32 has all multiples of 2**-24 below 1."""

# --- Words ------------------------------------------------------------------------------------------------------------

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
"""Threefry's constant for the third word of a key, Skein's for words of 32 bits."""


def _rotated(b: Any, x: Any, count: int) -> Any:
    return b.bitwise_or(b.shift_left(x, b.const(count)), b.shift_right_zero(x, b.const(32 - count)))


def _random_word(b: Any, index: Any, low: Any, high: Any) -> Any:
    keys = (low, high, b.bitwise_xor(b.bitwise_xor(low, high), b.const(_PARITY)))
    x, y = b.add(index, low), high
    for group in range(5):
        for count in _ROTATIONS[group % 2]:
            x = b.add(x, y)
            y = b.bitwise_xor(_rotated(b, y, count), x)
        x = b.add(x, keys[(group + 1) % 3])
        y = b.add(b.add(y, keys[(group + 2) % 3]), b.const(group + 1))
    return x


def threefry(counter: tuple[Any, Any], low: Any, high: Any) -> tuple[Any, Any]:
    """Both words of Threefry-2x32-20, of torch tensors or ints: an independent statement, round by round."""
    schedule = (low, high, low ^ high ^ _PARITY)
    first, second = (counter[0] + low) % WORD, (counter[1] + high) % WORD
    for round_number in range(20):
        first = (first + second) % WORD
        rotated = second * (1 << _ROTATIONS[round_number // 4 % 2][round_number % 4])
        second = (rotated % WORD + rotated // WORD) ^ first
        if round_number % 4 == 3:
            passed = round_number // 4 + 1
            first = (first + schedule[passed % 3]) % WORD
            second = (second + schedule[(passed + 1) % 3] + passed) % WORD
    return first, second


def _word_golden(torch: Any, index: Any, low: Any, high: Any) -> Any:
    index, low, high = (each.to(torch.int64) % WORD for each in (index, low, high))
    return threefry((index, 0), low, high)[0]


RANDOM_WORD = Elementwise(
    name="random_word",
    parameters=tuple(Parameter(name, TENSOR) for name in ("index", "low", "high")),
    summary="The first word of Threefry-2x32-20, of the counter (index, 0) under the key (low, high).",
    source="Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (2011)",
    emit=_random_word,
    golden=_word_golden,
)

# --- Elements ---------------------------------------------------------------------------------------------------------

_STATE = (Parameter("draw", TENSOR), Parameter("key", TENSOR))
_NEW = (Parameter("shape", EXTENTS), Parameter("dtype", ELEMENT_TYPE), Parameter("layout", LAYOUT))


def _uniform(ops: Ops, draw: Any, key: Any, shape: Shape, offset: int = 0) -> Any:
    """Numbers in [0, 1) at the indices from `behind` on; the key of the draw is derived from both tensors."""
    columns, rows = (shape[-1] if shape else 1), math.prod(shape[:-1])
    row = ops.reshape(arange(ops, rows, draw, offset, max(columns, 1), STATE_TYPE), (*shape[:-1], 1))
    index = row + arange(ops, columns, draw, dtype=STATE_TYPE)
    words = [ops.sliced(key, 0, word, word + 1) for word in range(2)]
    draw_key = [ops.call(RANDOM_WORD, [each, *words]) for each in (draw, draw + 1)]
    fraction = ops.call(LOGICAL_RIGHT_SHIFT, [ops.call(RANDOM_WORD, [index, *draw_key]), 32 - RESOLUTION])
    return ops.typecast(ops.reshape(fraction, shape), COMPUTE_TYPE) * 2.0 ** (-RESOLUTION)


def _golden_uniform(torch: Any, draw: Any, key: Any, shape: Shape, offset: int = 0) -> Any:
    indices = torch.arange(offset, offset + math.prod(shape)).reshape(tuple(shape))
    low, high = (key.to(torch.int64) % WORD).tolist()
    (number,) = (draw.to(torch.int64) % WORD).tolist()
    draw_key = [threefry((each % WORD, 0), low, high)[0] for each in (number, number + 1)]
    return (threefry((indices, 0), *draw_key)[0] >> (32 - RESOLUTION)).double() / (1 << RESOLUTION)


def check_count(shape: Shape) -> None:
    """Check the number of elements of a draw.

    Raises:
        ShapeError: `shape` has more than `MAX_ELEMENTS`.
    """
    if math.prod(shape) > MAX_ELEMENTS:
        raise ShapeError(f"a draw has at most {MAX_ELEMENTS} elements, and {list(shape)} has {math.prod(shape)}")


def _canonical_new(_draw: Shape, _key: Shape, shape: Shape, *attributes: Any) -> tuple[Any, ...]:
    check_count(shape)
    return (tuple(shape), *attributes)


def _new(draw: TensorSpec, _key: TensorSpec, shape: Shape, dtype: DataType, layout: Layout, *_: Any) -> TensorSpec:
    return with_layout(draw.interleaved, layout).with_(shape=tuple(shape), dtype=dtype)


def representable_bounds(low: float, high: float, dtype: DataType) -> tuple[float, float]:
    """The smallest and the largest number of `dtype` in [low, high).

    Raises:
        ShapeError: There is none.
    """
    first_step, last_step = (_spacing(at, dtype) for at in (low, math.nextafter(high, -math.inf)))
    first, last = math.ceil(low / first_step) * first_step, (math.ceil(high / last_step) - 1) * last_step
    if first > last:
        raise ShapeError(f"{dtype.name} has no number in [{low}, {high})", help="give a wider range")
    return first, last


def _spacing(value: float, dtype: DataType) -> float:
    """The unit in the last place of `dtype` at `value`; chips flush subnormal BFLOAT16 to zero."""
    least = -149 if dtype is COMPUTE_TYPE else -126
    return math.ldexp(1.0, max(math.frexp(value)[1] - dtype.mantissa_bits - 1, least))


def scaled_within(ops: Ops, drawn: Any, dtype: DataType, low: float, high: float) -> Any:
    """Numbers in [0, 1) scaled to [low, high) and clamped to numbers of `dtype`: rounding alone may give `high`."""
    spread = drawn if (low, high) == (0.0, 1.0) else ops.mac(drawn, high - low, low)
    return (
        drawn
        if spread is drawn and dtype is COMPUTE_TYPE
        else ops.clamp(spread, *representable_bounds(low, high, dtype))
    )


def _rand(ops: Ops, draw: Any, key: Any, shape: Shape, dtype: DataType, _: Any, low: float, high: float) -> Any:
    return scaled_within(ops, _uniform(ops, draw, key, shape), dtype, low, high)


def _canonical_rand(
    draw: Shape, key: Shape, shape: Shape, dtype: DataType, layout: Layout, low: float, high: float
) -> tuple[Any, ...]:
    representable_bounds(low, high, dtype)
    return _canonical_new(draw, key, shape, dtype, layout, low, high)


RAND = Composite(
    name="rand",
    parameters=(*_STATE, *_NEW, Parameter("low", FLOAT, 0.0), Parameter("high", FLOAT, 1.0)),
    summary="Random elements, uniform in [low, high).",
    decompose=_rand,
    canonicalize=_canonical_rand,
    result=_new,
    takes_dtypes=frozenset({STATE_TYPE}),
    golden=lambda torch, draw, key, shape, _dtype, _layout, low, high: (
        _golden_uniform(torch, draw, key, shape) * (high - low) + low
    ),
)


def _randn(ops: Ops, draw: Any, key: Any, shape: Shape, *_: Any) -> Any:
    """By the Box-Muller transform; the argument of the logarithm is in [2**-24, 1]."""
    above = ops.subtract(1.0, _uniform(ops, draw, key, shape))
    radius = ops.sqrt(ops.log(above) * -2.0)
    angle = _uniform(ops, draw, key, shape, math.prod(shape)) * (2.0 * math.pi)
    return radius * ops.cos(angle)


def _golden_randn(torch: Any, draw: Any, key: Any, shape: Shape, *_: Any) -> Any:
    radius = torch.sqrt(-2.0 * torch.log(1.0 - _golden_uniform(torch, draw, key, shape)))
    return radius * torch.cos(2.0 * math.pi * _golden_uniform(torch, draw, key, shape, math.prod(shape)))


RANDN = Composite(
    name="randn",
    parameters=(*_STATE, *_NEW),
    summary="Random elements of the standard normal distribution.",
    decompose=_randn,
    canonicalize=_canonical_new,
    result=_new,
    takes_dtypes=frozenset({STATE_TYPE}),
    golden=_golden_randn,
)


_WITH_STATE = (FLOATS, frozenset({STATE_TYPE}), frozenset({STATE_TYPE}))


def _check_like(shape: Shape, *_: Any) -> None:
    check_count(shape)


BERNOULLI = Composite(
    name="bernoulli",
    parameters=(Parameter("input", TENSOR), *_STATE, Parameter("dtype", ELEMENT_TYPE)),
    summary="1 with the probability in the element, else 0.",
    decompose=lambda ops, x, draw, key, _: _uniform(ops, draw, key, x.shape) < x,
    canonicalize=_check_like,
    result=lambda x, _draw, _key, dtype: x.with_(dtype=dtype),
    operand_dtypes=_WITH_STATE,
    golden=lambda torch, x, draw, key, _: (_golden_uniform(torch, draw, key, x.shape) < x).double(),
)

DROPOUT = Composite(
    name="dropout",
    parameters=(Parameter("input_tensor", TENSOR), *_STATE, Parameter("probability", FLOAT), Parameter("scale", FLOAT)),
    summary="Elements times `scale`, or 0 with probability `probability`.",
    source="ttnn.experimental.dropout",
    decompose=lambda ops, x, draw, key, probability, scale: ops.where(
        _uniform(ops, draw, key, x.shape) >= probability, x * scale, 0.0
    ),
    canonicalize=_check_like,
    operand_dtypes=_WITH_STATE,
    golden=lambda torch, x, draw, key, probability, scale: torch.where(
        _golden_uniform(torch, draw, key, x.shape) >= probability, x * scale, 0.0
    ),
)

NEXT_DRAW = Composite(
    name="next_draw",
    parameters=(Parameter("draw", TENSOR),),
    summary="The number of the draw after `draw`.",
    source="ttnn_jit",
    decompose=lambda _, draw: draw + NUMBERS_OF_A_DRAW,
    takes_dtypes=frozenset({STATE_TYPE}),
    golden=lambda torch, draw: (draw.to(torch.int64) + NUMBERS_OF_A_DRAW) % WORD,
)

KEY_OF_WORDS = CONCAT
"""The operation that makes a key of two tensors of one word."""

OPERATIONS = (NEXT_DRAW, RANDOM_WORD, RAND, RANDN, BERNOULLI, DROPOUT)
