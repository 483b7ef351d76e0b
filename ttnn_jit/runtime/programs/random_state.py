"""The process's random generator, which every draw without a seed uses, for tensors of any library.

Its state is two arrays of 32-bit words in memory of this package (ttnn_jit/ops/selection/random_numbers.py defines
them), which are visible as ttnn, torch and numpy tensors. The ttnn tensors are on no device, because programs on any
device use them: `on_device_of` puts them on one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ttnn_jit.guards.package_state import register
from ttnn_jit.runtime.libraries import MESH, NUMPY, TORCH, TTNN, TensorLibrary
from ttnn_jit.runtime.memory.random_words import PARTS, buffers, seeded_buffers, spec_of, words
from ttnn_jit.runtime.tensors.tensor import Tensor

if TYPE_CHECKING:
    from ttnn_jit.runtime.device import Device


def name_of(part: str, library: TensorLibrary) -> str:
    """The name, in paths of guards, of a part of the state as a tensor of `library`."""
    return f"{part}, {library.title}"


@cache
def state(part: str, library: TensorLibrary) -> Any:
    """A part of the state as a tensor of `library`; always the same object."""
    buffer = buffers()[part]
    if library is TTNN:
        return Tensor(spec_of(part), None, buffer)
    import numpy

    array = numpy.frombuffer(memoryview(words(buffer, part)), numpy.uint32)
    if library is NUMPY:
        return array
    import torch

    return torch.from_numpy(array)


def seeded(seed: int, device: Device | None) -> tuple[Tensor, ...]:
    """Both parts of the state of a new generator with this seed, on `device`."""
    return tuple(Tensor(spec_of(part), device, buffer) for part, buffer in seeded_buffers(seed).items())


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
