"""``stablehlo.rng_bit_generator``: the generators ThreeFry 2x32 and Philox 4x32 of Random123, with XLA's use of them.

Salmon, Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3 (2011). A state holds a key and a counter of
64 or 128 bits. XLA encrypts consecutive counters (xla/hlo/builder/lib/prng.cc): ThreeFry's two words are neighbours
along the first even dimension, or else the longest one; Philox's four words are neighbours in row-major order. Numbers
of 8 and 16 bits are the lowest bits of one word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import DTypeError, ShapeError
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.dialect_conversion import conversion
from ttnn_jit.ops.families.text_operation import REQUIRED, DenseNumbers, TextCall

_WORD, _LONG = "ui32", "ui64"
_PARITY = 0x1BD11BDA
_ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_STEPS = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
THREE_FRY, PHILOX = "THREE_FRY", "PHILOX"


def _plus(ops: TtirOps, x: Tensor, y: Tensor) -> Tensor:
    return ops.same("ttir.add", x, y)


def _xor(ops: TtirOps, x: Tensor, y: Tensor) -> Tensor:
    return ops.same("ttir.bitwise_xor", x, y)


def _shifted(ops: TtirOps, x: Tensor, bits: int, direction: str) -> Tensor:
    return ops.same(f"ttir.logical_{direction}_shift", x, ops.like(x, bits))


def _words(ops: TtirOps, x: Tensor) -> tuple[Tensor, Tensor]:
    """The low and the high halves of integers of 64 bits."""
    return ops.cast(x, _WORD), ops.cast(_shifted(ops, x, 32, "right"), _WORD)


def _joined(ops: TtirOps, low: Tensor, high: Tensor) -> Tensor:
    return _plus(ops, ops.cast(low, _LONG), _shifted(ops, ops.cast(high, _LONG), 32, "left"))


def _three_fry(ops: TtirOps, key: Sequence[Tensor], counter: Sequence[Tensor]) -> list[Tensor]:
    """Twenty rounds; every four of them, the next two of three keys are added."""
    last = _xor(ops, _xor(ops, key[0], key[1]), ops.like(key[0], _PARITY))
    keys = [*key, last]
    x, y = (_plus(ops, own, each) for own, each in zip(counter, key, strict=True))
    for group in range(5):
        for bits in _ROTATIONS[group % 2]:
            x = _plus(ops, x, y)
            rotated = _plus(ops, _shifted(ops, y, bits, "left"), _shifted(ops, y, 32 - bits, "right"))
            y = _xor(ops, x, rotated)
        x = _plus(ops, x, keys[(group + 1) % 3])
        y = _plus(ops, _plus(ops, y, keys[(group + 2) % 3]), ops.like(y, group + 1))
    return [x, y]


def _philox(ops: TtirOps, key: Sequence[Tensor], counter: Sequence[Tensor]) -> list[Tensor]:
    first, second, third, fourth = counter
    own, other = key
    for _ in range(_ROUNDS):
        products = [
            ops.same("ttir.multiply", ops.cast(each, _LONG), ops.filled(factor, each.shape, _LONG))
            for each, factor in zip((first, third), _MULTIPLIERS, strict=True)
        ]
        (low, high), (low_other, high_other) = (_words(ops, each) for each in products)
        first, second = _xor(ops, _xor(ops, high_other, second), own), low_other
        third, fourth = _xor(ops, _xor(ops, high, fourth), other), low
        own, other = (_plus(ops, each, ops.like(each, step)) for each, step in zip((own, other), _STEPS, strict=True))
    return [first, second, third, fourth]


def _split_axis(shape: Sequence[int]) -> int:
    """The dimension along which two words of ThreeFry are neighbours."""
    even = [axis for axis, extent in enumerate(shape) if extent % 2 == 0]
    return even[0] if even else max(range(len(shape)), key=lambda axis: shape[axis])


def _spread(ops: TtirOps, state: Tensor, index: int, count: int) -> Tensor:
    return ops.expand(ops.part(state, 0, index, index + 1), (count,))


def _advanced(ops: TtirOps, state: Tensor, count: int) -> Tensor:
    """The state after `count` counters, whose lower word overflows into the upper one, if there is one."""
    size = state.shape[0]
    parts = [ops.part(state, 0, index, index + 1) for index in range(size)]
    low = _plus(ops, parts[1], ops.like(parts[1], count))
    if size == 2:
        return ops.concat([parts[0], low], 0)
    carry = ops.cast(ops.cast(ops.compared("ttir.lt", low, parts[1]), _WORD), _LONG)
    return ops.concat([parts[0], low, _plus(ops, parts[2], carry)], 0)


def _counters(ops: TtirOps, state: Tensor, count: int) -> list[Tensor]:
    """The four words of `count` counters of 128 bits; of a state of two numbers, the key is their upper half."""
    index = ops.cast(ops.counted((count,), 0, _WORD), _LONG)
    begin = _spread(ops, state, 1, count)
    low = _plus(ops, begin, index)
    carry = ops.cast(ops.cast(ops.compared("ttir.lt", low, begin), _WORD), _LONG)
    high = _plus(ops, _spread(ops, state, 2 if state.shape[0] == 3 else 0, count), carry)
    return [*_words(ops, low), *_words(ops, high)]


def _bits_of_three_fry(ops: TtirOps, state: Tensor, shape: Sequence[int], is_long: bool) -> tuple[Tensor, int]:
    """Words of 32 bits, or numbers of 64, and the number of counters."""
    count = math.prod(shape)
    axis, halves = 0, [*shape]
    if not is_long and shape:
        axis = _split_axis(shape)
        halves[axis] = (shape[axis] + 1) // 2
        count = math.prod(halves)
    key = _words(ops, _spread(ops, state, 0, count))
    words = _three_fry(ops, key, _counters(ops, state, count)[:2])
    if is_long:
        return ops.reshape(_joined(ops, *words), shape), count
    if not shape:
        return ops.reshape(words[0], ()), count
    apart = [*halves[: axis + 1], 1, *halves[axis + 1 :]]
    pairs = ops.concat([ops.reshape(each, apart) for each in words], axis + 1)
    whole = [*halves]
    whole[axis] *= 2
    return ops.part(ops.reshape(pairs, whole), axis, 0, shape[axis]), count


def _bits_of_philox(ops: TtirOps, state: Tensor, shape: Sequence[int], is_long: bool) -> tuple[Tensor, int]:
    """As `_bits_of_three_fry`."""
    wanted = math.prod(shape)
    count = (wanted * (2 if is_long else 1) + 3) // 4
    found = _philox(ops, _words(ops, _spread(ops, state, 0, count)), _counters(ops, state, count))
    if is_long:
        found = [_joined(ops, *found[:2]), _joined(ops, *found[2:])]
    rows = ops.concat([ops.reshape(each, (count, 1)) for each in found], 1)
    flat = ops.reshape(rows, (count * len(found),))
    return ops.reshape(ops.part(flat, 0, 0, wanted), shape), count


def _generated(ops: TtirOps, call: ConversionCall) -> list[Tensor]:
    kind, state = call.results[1], call.initial_state
    _require_states(call, kind.is_float or kind.is_bool)
    if not math.prod(kind.shape):
        return [state, ops.constant(DenseNumbers(kind.shape, ()), kind.element)]
    is_long = kind.bits == 64
    bits_of = _bits_of_three_fry if call.rng_algorithm == THREE_FRY else _bits_of_philox
    bits, count = bits_of(ops, state, kind.shape, is_long)
    return [_advanced(ops, state, count), ops.cast(bits, kind.element)]


def _require_states(call: TextCall | ConversionCall, is_no_integer: bool) -> None:
    sizes = {THREE_FRY: (2,)}.get(call.rng_algorithm, (2, 3))
    if call.initial_state.shape[0] not in sizes:
        raise ShapeError(
            f"the state has {call.initial_state.shape[0]} numbers, and {sizes[-1]} are its key and counter"
        )
    if is_no_integer:
        raise DTypeError("bits of integers are drawn, and of no other numbers")


# --- In numpy ---------------------------------------------------------------------------------------------------------


def _golden(torch: Any, call: TextCall) -> list[Any]:
    import numpy

    shape, dtype = tuple(call.results[1].shape), call.results[1].dtype
    key, *counter = (int(each) % 2**64 for each in call.initial_state.tolist())
    begin = sum(each << 64 * index for index, each in enumerate(counter))
    width = 64 * len(counter)
    words = 2 if dtype.itemsize == 8 else 1
    if call.rng_algorithm == THREE_FRY:
        numbers, count = _three_fry_in_numpy(numpy, key, begin, shape, words)
    else:
        upper = key << 64 if len(counter) == 1 else 0
        numbers, count = _philox_in_numpy(numpy, key, begin + upper, math.prod(shape), words)
    after = (begin + count) % (1 << width)
    state = [key, *((after >> 64 * index) % 2**64 for index in range(len(counter)))]
    signed = [(each + 2**63) % 2**64 - 2**63 for each in state]
    found = torch.from_numpy(numbers.reshape(shape).astype(numpy.uint64).view(numpy.int64))
    bits = 8 * dtype.itemsize
    found = found if bits == 64 else found % 2**bits
    if dtype.compute.is_signed and bits < 64:
        found = torch.where(found >= 2 ** (bits - 1), found - 2**bits, found)
    return [torch.tensor(signed), found]


def _three_fry_in_numpy(numpy: Any, key: int, begin: int, shape: Sequence[int], words: int) -> tuple[Any, int]:
    axis = _split_axis(shape) if shape else 0
    halves = [*shape]
    if words == 1 and shape:
        halves[axis] = -(-shape[axis] // 2)
    count = math.prod(halves)
    counters = [(begin + index) % 2**64 for index in range(count)]
    x, y = (numpy.array([each >> shift for each in counters], dtype=object) % 2**32 for shift in (0, 32))
    keys = [key % 2**32, key >> 32]
    keys.append(keys[0] ^ keys[1] ^ _PARITY)
    x, y = (x + keys[0]) % 2**32, (y + keys[1]) % 2**32
    for number in range(20):
        bits = _ROTATIONS[number // 4 % 2][number % 4]
        x = (x + y) % 2**32
        y = (y << bits) % 2**32 + (y >> 32 - bits)
        y = y ^ x
        if number % 4 == 3:
            injected = number // 4 + 1
            x = (x + keys[injected % 3]) % 2**32
            y = (y + keys[(injected + 1) % 3] + injected) % 2**32
    if words == 2:
        return x + (y << 32), count
    if not shape:
        return x, count
    pairs = numpy.stack([x.reshape(halves), y.reshape(halves)], axis + 1)
    whole = [*halves]
    whole[axis] *= 2
    return pairs.reshape(whole).take(range(shape[axis]), axis), count


def _philox_in_numpy(numpy: Any, key: int, begin: int, wanted: int, words: int) -> tuple[Any, int]:
    count = -(-wanted * words // 4)
    counters = [(begin + index) % 2**128 for index in range(count)]
    state = [numpy.array([each >> 32 * word for each in counters], dtype=object) % 2**32 for word in range(4)]
    own, other = key % 2**32, key >> 32
    for number in range(_ROUNDS):
        keys = [(each + number * step) % 2**32 for each, step in zip((own, other), _STEPS, strict=True)]
        product, other_product = (each * factor for each, factor in zip(state[::2], _MULTIPLIERS, strict=True))
        state = [
            (other_product >> 32) ^ state[1] ^ keys[0],
            other_product % 2**32,
            (product >> 32) ^ state[3] ^ keys[1],
            product % 2**32,
        ]
    found = state if words == 1 else [state[0] + (state[1] << 32), state[2] + (state[3] << 32)]
    return numpy.stack(found, 1).reshape(-1)[:wanted], count


RNG_BITS = conversion(
    "stablehlo.rng_bit_generator",
    "initial_state",
    _generated,
    _golden,
    rng_algorithm=REQUIRED,
)

TEXTS = (RNG_BITS,)
