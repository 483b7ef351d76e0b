"""The words of the process's random generator: the number of the next draw, and the seed."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from ttnn_jit.runtime.memory.buffer import HOST_POOL, Buffer
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, TensorSpec

DRAW, KEY = PARTS = ("random draw", "random key")
"""The number of the next draw, and the two words of the seed."""

_WORDS = {DRAW: 1, KEY: 2}
_SEED_BYTES = 8


@cache
def buffers() -> dict[str, Buffer]:
    """The memory of each part, seeded by the system."""
    return seeded_buffers(int.from_bytes(os.urandom(_SEED_BYTES), "little"))


def seeded_buffers(seed: int) -> dict[str, Buffer]:
    """The memory of each part of a generator with a seed."""
    made = {part: HOST_POOL.allocate(spec_of(part).nbytes) for part in PARTS}
    _write(made, seed)
    return made


def spec_of(part: str) -> TensorSpec:
    """The spec of a part."""
    return TensorSpec((_WORDS[part],), DataType.UINT32, Layout.ROW_MAJOR, MemoryConfig())


def _write(memory: dict[str, Buffer], seed: int) -> None:
    for part, numbers in ((DRAW, (0,)), (KEY, words_of(seed))):
        for index, number in enumerate(numbers):
            words(memory[part], part)[index] = number


def words(buffer: Buffer, part: str) -> ctypes.Array[ctypes.c_uint32]:
    """The words of a part in its memory."""
    return (ctypes.c_uint32 * _WORDS[part]).from_address(buffer.address)


def words_of(seed: int) -> tuple[int, int]:
    """The key of a seed of up to 64 bits."""
    return seed % (1 << 32), seed // (1 << 32)


def seed_all(seed: int) -> None:
    """Seed the generator and restart its draws."""
    _write(buffers(), seed)


def next_draw() -> int:
    """The number of the next draw."""
    return words(buffers()[DRAW], DRAW)[0]


def continue_from(number: int) -> None:
    """Number draws from `number` on."""
    words(buffers()[DRAW], DRAW)[0] = number % (1 << 32)


def state_words() -> list[int]:
    """The number of the next draw, and the words of the seed."""
    return [word for part in PARTS for word in words(buffers()[part], part)]


def continue_as(state: Sequence[int]) -> None:
    """Go on as the generator of another process, of which these are the words."""
    given = iter(state)
    for part in PARTS:
        for index in range(_WORDS[part]):
            words(buffers()[part], part)[index] = next(given)


@contextmanager
def drawing_from(number: int) -> Iterator[None]:
    """Number draws from `number` on inside the context; afterwards they continue as if it had not been entered."""
    after = next_draw()
    continue_from(number)
    try:
        yield
    finally:
        continue_from(after)
