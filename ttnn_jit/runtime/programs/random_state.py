"""The process's random generator, which every draw without a seed uses, for tensors of any library.

Its state is two arrays of 32-bit words in memory of this package (ttnn_jit/ops/selection/random_numbers.py defines
them), which are visible as ttnn, torch and numpy tensors. The ttnn tensors are on no device, because programs on any
device use them: `on_device_of` puts them on one.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ttnn_jit.guards.package_state import register
from ttnn_jit.runtime.libraries import MESH, NUMPY, TORCH, TTNN, TensorLibrary
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
    """The name, in paths of guards, of a part of the state as a tensor of `library`."""
    return f"{part}, {library.title}"


@cache
def _buffers() -> dict[str, Buffer]:
    """The memory of each part, seeded by the system."""
    return _seeded_buffers(int.from_bytes(os.urandom(_SEED_BYTES), "little"))


def _seeded_buffers(seed: int) -> dict[str, Buffer]:
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
    return seed % (1 << 32), seed // (1 << 32)


def seed_all(seed: int) -> None:
    """Seed the generator and restart its draws."""
    _write(_buffers(), seed)


def next_draw() -> int:
    """The number of the next draw."""
    return _words(_buffers()[DRAW], DRAW)[0]


@contextmanager
def drawing_from(number: int) -> Iterator[None]:
    """Number draws from `number` on inside the context; afterwards they continue as if it had not been entered."""
    words, after = _words(_buffers()[DRAW], DRAW), next_draw()
    words[0] = number
    try:
        yield
    finally:
        words[0] = after


@cache
def state(part: str, library: TensorLibrary) -> Any:
    """A part of the state as a tensor of `library`; always the same object."""
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
    """Both parts of the state of a new generator with this seed, on `device`."""
    return tuple(Tensor(_spec(part), device, buffer) for part, buffer in _seeded_buffers(seed).items())


def on_device_of(hidden: tuple[Any, ...], library: TensorLibrary, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """`hidden`, with the ttnn tensors of the state replaced by ones on the device of `tensors`."""
    if library not in {TTNN, MESH} or not hidden:
        return hidden
    own = [id(state(part, TTNN)) for part in PARTS]
    first, *_ = tensors[0].device().members()
    return tuple(on_device(each, first) if id(each) in own else each for each in hidden)


def on_device(tensor: Tensor, device: Device) -> Tensor:
    """A tensor on `device` that shares the memory of `tensor`."""
    return Tensor(tensor.spec, device, tensor.memory("a draw"))


for _part in PARTS:
    for _library in (TTNN, TORCH, NUMPY):
        register(name_of(_part, _library), partial(state, _part, _library))
