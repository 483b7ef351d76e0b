"""The `HostOps` of host functions outside programs: every call is an eager operation on tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.ops import Operation
from ttnn_jit.ops.host_ops import Draws, HostOps
from ttnn_jit.ops.selection.random_numbers import NEXT_DRAW
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.libraries import TTNN
from ttnn_jit.runtime.memory.random_words import PARTS
from ttnn_jit.runtime.programs.random_state import on_device, seeded, state
from ttnn_jit.runtime.tensors import tensor as storage
from ttnn_jit.runtime.tensors import tensors_from_host
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import MemoryConfig, TensorSpec, checked
from ttnn_jit.ttnn.calling import eager_functions
from ttnn_jit.ttnn.calling.eager_operation import InPlaceOperation

_NEXT_DRAW = InPlaceOperation("next_draw_", (NEXT_DRAW,))


class EagerOps(HostOps[Tensor]):
    """Eager operations on tensors; on tracers of a program these record calls of the program."""

    def __getattr__(self, name: str) -> Any:
        return getattr(eager_functions, name)

    def filled(self, number: float, spec: TensorSpec, device: Device | None = None) -> Any:
        """A tensor filled with one number."""
        return tensors_from_host.filled(number, spec, device)

    def made(
        self,
        _operation: Operation,
        _statics: Sequence[Any],
        spec: TensorSpec,
        device: Device | None,
        elements: Callable[[], Any],
    ) -> Tensor:
        """A tensor of the numbers that `elements` returns."""
        return tensors_from_host.from_numbers(elements(), spec, device)

    def drawn(
        self, seed: int | None, draws: Draws[Tensor], device: Device, config: MemoryConfig | None = None
    ) -> Tensor:
        """The tensor that `draws` makes; without a seed the shared generator advances to its next draw."""
        draw, key = seeded(seed, device) if seed else (on_device(state(part, TTNN), device) for part in PARTS)
        made = draws(draw, key, config)
        if not seed:
            _NEXT_DRAW(draw)
        return made

    def with_memory_config(self, call: Callable[..., Any], arguments: Sequence[Any], config: MemoryConfig) -> Tensor:
        """The result of a call in `config`."""
        made: Tensor = call(*arguments, memory_config=config)
        return made

    def with_layout(self, tensor: Tensor, spec: TensorSpec, device: Device | None, name: str) -> Tensor:
        """A copy of `tensor` with `spec` on `device`, or `tensor` itself if it is that already."""
        return storage.stored_as(tensor, checked(spec), device, name)

    def free(self, tensor: Tensor) -> None:
        """Deallocate at once."""
        tensor.deallocate()


EAGER = EagerOps()
"""The operations of calls outside programs."""


def in_requested_memory(
    result: Tensor, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None
) -> Tensor:
    """The result of several operations, copied into `memory_config` or `output_tensor` if one is given."""
    if memory_config is None and output_tensor is None:
        return result
    return eager_functions.identity(result, memory_config=memory_config, output_tensor=output_tensor)
