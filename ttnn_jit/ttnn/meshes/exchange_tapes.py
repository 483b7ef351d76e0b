"""The steps of an eager collective, which the next call with such operands repeats without planning them again."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from ttnn_jit.runtime.memory.buffer import Buffer, address_of
from ttnn_jit.runtime.memory.replicas import own_memory
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.ranks.channel import Channel
from ttnn_jit.runtime.ranks.headers import Call, Data
from ttnn_jit.runtime.ranks.transport import Region
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.meshes.tensor_topology import TensorTopology

Step: TypeAlias = Callable[[Sequence[Tensor]], "Tensor | None"]
"""Makes a tensor of the tensors so far, by their index, or moves data between them."""


class Memory(NamedTuple):
    """A part of the memory of a tensor.

    Attributes:
        tensor: The index of the tensor.
        begin: The first byte.
        nbytes: The number of bytes.
    """

    tensor: int
    begin: int
    nbytes: int

    def region(self, buffers: Sequence[Buffer | None]) -> Region:
        """Where it is now, in these buffers of the tensors; the address may change until it is used."""
        buffer = buffers[self.tensor]
        assert buffer is not None, "the exchange uses it"
        return Region(int(address_of(buffer)) + self.begin, self.nbytes)


class Tape:
    """The steps of a collective so far, and the tensors that they have made.

    Args:
        operands: The tensors of this rank, operand after operand.
    """

    def __init__(self, operands: Sequence[Tensor]) -> None:
        self._tensors = [*operands]
        self._indices = {id(tensor): index for index, tensor in enumerate(operands)}
        self._steps: list[Step] = []

    def add(self, step: Step) -> Tensor:
        """Take a step that makes a tensor; returns that."""
        made = step(self._tensors)
        assert made is not None, "it makes a tensor"
        self._steps.append(step)
        self._indices[id(made)] = len(self._tensors)
        self._tensors.append(made)
        return made

    def exchange(self, step: ExchangeStep) -> None:
        """Take a step that exchanges with other ranks."""
        step(self._tensors)
        self._steps.append(step)

    def index_of(self, tensor: Tensor) -> int:
        """The index of a tensor: of one that a step made, an operand, or the output of a call that is not repeated."""
        found = self._indices.get(id(tensor))
        if found is None:
            found = self._indices[id(tensor)] = len(self._tensors)
            self._tensors.append(tensor)
        return found

    def memory_of(self, tensor: Tensor) -> Memory:
        """All of the memory of a tensor."""
        return Memory(self.index_of(tensor), 0, tensor.spec.nbytes)

    def repeated(self, results: Sequence[Tensor]) -> Repeated:
        """What repeats the steps; `results` are tensors of a mesh, or one of a device."""
        indices = []
        for each in results:
            parts = each.tensors if isinstance(each, MeshTensor) else (each,)
            topology = each.topology if isinstance(each, MeshTensor) else None
            indices.append((tuple(map(self.index_of, parts)), topology))
        return Repeated(tuple(self._steps), tuple(indices))


class Repeated:
    """The steps of a collective on a mesh, for operands of the same specs and placements.

    Args:
        steps: The steps, in order.
        results: The indices of the parts of each result, and its placement; None of a tensor of one device.
    """

    def __init__(self, steps: Sequence[Step], results: Sequence[tuple[tuple[int, ...], TensorTopology | None]]) -> None:
        self.steps = steps
        self.results = results

    def __call__(self, operands: Sequence[Tensor]) -> list[Tensor]:
        """The results for other operands."""
        first = operands[0]
        tensors: list[Tensor] = []
        for each in operands:
            tensors += each.tensors if isinstance(each, MeshTensor) else (each,)
        for step in self.steps:
            made = step(tensors)
            if made is not None:
                tensors.append(made)
        if not isinstance(first, MeshTensor):
            return [tensors[index] for (index,), _ in self.results]
        return [
            MeshTensor(first.mesh, [tensors[index] for index in indices], topology)
            for indices, topology in self.results
        ]


class ExchangeStep:
    """An exchange with other ranks.

    Args:
        channel: The ranks that share the mesh.
        call: What is called.
        sends: The rank, and what it gets.
        receives: The rank, and what comes from it.
        copies: Pairs of target and source within the rank.
    """

    def __init__(
        self,
        channel: Channel,
        call: Call,
        sends: Sequence[tuple[int, Memory]],
        receives: Sequence[tuple[int, Memory]],
        copies: Sequence[tuple[Memory, Memory]],
    ) -> None:
        self._channel, self._call = channel, call
        self._sends, self._receives, self._copies = sends, receives, copies
        self._written = tuple({memory.tensor for _, memory in receives} | {target.tensor for target, _ in copies})
        read = {memory.tensor for _, memory in sends} | {source.tensor for _, source in copies}
        self._used = tuple(sorted(read.union(self._written)))

    def __call__(self, tensors: Sequence[Tensor]) -> None:
        """Exchange, or record the exchange if the rank's devices record a trace."""
        buffers: list[Buffer | None] = [None] * len(tensors)
        for index in self._used:
            buffers[index] = tensors[index].memory("collective")
        device = tensors[self._used[0]].device() if self._used else tensors[0].device()
        recorder = None if device is None else device.recorder
        if recorder is None:
            self._run(buffers)
            return
        used = [(tensors[index].memory("collective"), tensors[index].spec) for index in self._used]
        recorder.exchange(lambda: self._run(buffers), used)

    def _run(self, buffers: Sequence[Buffer | None]) -> None:
        for index in self._written:
            written = buffers[index]
            assert written is not None, "the exchange uses it"
            own_memory(written)
        sends = [Data(rank, memory.region(buffers)) for rank, memory in self._sends]
        receives = [Data(rank, memory.region(buffers)) for rank, memory in self._receives]

        def copy_own_parts() -> None:
            for target, source in self._copies:
                ctypes.memmove(target.region(buffers).address, source.region(buffers).address, target.nbytes)

        self._channel.exchange(self._call, sends, receives, meanwhile=copy_own_parts)
