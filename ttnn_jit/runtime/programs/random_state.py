"""The generator of random elements that every draw without a seed takes: one in a process, for tensors of any kind.

Its state is two tensors in memory of this package (ttnn_jit/ops/selection/random_numbers.py says what they are), and
the same words as ttnn's, torch's and numpy's tensors. ttnn's lie on no device, and programs on any device take them:
`on_device_of` gives them one.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ttnn_jit.guards.package_state import register
from ttnn_jit.runtime.libraries import LIBRARIES, NUMPY, TTNN, TensorLibrary
from ttnn_jit.runtime.memory.buffer import HOST_POOL, Buffer
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.runtime.device import Device

DRAW, KEY = PARTS = ("random draw", "random key")
"""The number of the next draw, and the two words of the seed."""

_WORDS = {DRAW: 1, KEY: 2}
_SEED_BYTES = 8


def name_of(part: str, library: TensorLibrary) -> str:
    """What paths call a part of the state as a tensor of `library`."""
    return f"{part}, {library.title}"


@cache
def _buffers() -> dict[str, Buffer]:
    """The memory of each part, seeded by the system where nobody did."""
    return _made(int.from_bytes(os.urandom(_SEED_BYTES), "little"))


def _made(seed: int) -> dict[str, Buffer]:
    made = {part: HOST_POOL.allocate(_spec(part).nbytes) for part in PARTS}
    _write(made, seed)
    return made


def _spec(part: str) -> TensorSpec:
    return TensorSpec((_WORDS[part],), DataType.UINT32, Layout.ROW_MAJOR, MemoryConfig())


def _write(buffers: dict[str, Buffer], seed: int) -> None:
    for part, numbers in ((DRAW, (0,)), (KEY, words_of(seed))):
        for index, number in enumerate(numbers):
            _words(buffers[part], part)[index] = number


def _words(buffer: Buffer, part: str) -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * _WORDS[part]).from_address(buffer.address)


def words_of(seed: int) -> tuple[int, int]:
    """The key of a seed of up to 64 bits."""
    return seed & 0xFFFFFFFF, seed >> 32


def seed_all(seed: int) -> None:
    """Have draws without a seed begin anew, as this one says."""
    _write(_buffers(), seed)


def next_draw() -> int:
    """The number of the next draw."""
    return _words(_buffers()[DRAW], DRAW)[0]


@contextmanager
def drawing_from(number: int) -> Iterator[None]:
    """In its body draws are numbered from `number` on; behind it they go on as if it had not been."""
    words, after = _words(_buffers()[DRAW], DRAW), next_draw()
    words[0] = number
    try:
        yield
    finally:
        words[0] = after


@cache
def state(part: str, library: TensorLibrary) -> Any:
    """A part of the state as a tensor of `library`, always the same one."""
    buffer = _buffers()[part]
    if library is TTNN:
        return Tensor(_spec(part), None, buffer)
    import numpy

    array = numpy.frombuffer(memoryview(_words(buffer, part)), numpy.uint32)
    if library is NUMPY:
        return array
    import torch

    return torch.from_numpy(array)


def seeded(seed: int, device: Device | None) -> tuple[Tensor, ...]:
    """Both parts of the state of a generator that was just seeded, on `device`."""
    return tuple(Tensor(_spec(part), device, buffer) for part, buffer in _made(seed).items())


def on_device_of(hidden: tuple[Any, ...], library: TensorLibrary, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """`hidden`, of which ttnn's tensors of the state lie on the device of `tensors`."""
    if library is not TTNN or not hidden:
        return hidden
    own = [id(state(part, TTNN)) for part in PARTS]
    return tuple(on_device(each, tensors[0].device()) if id(each) in own else each for each in hidden)


def on_device(tensor: Tensor, device: Device) -> Tensor:
    """The same memory as a tensor on `device`."""
    return Tensor(tensor.spec, device, tensor.memory("a draw"))


for _part in PARTS:
    for _library in LIBRARIES:
        register(name_of(_part, _library), partial(state, _part, _library))
