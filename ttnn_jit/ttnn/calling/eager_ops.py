"""What functions of the host API are written over outside programs: calls are eager ones, on tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.ops import Operation
from ttnn_jit.ops.host_ops import Draws, HostOps
from ttnn_jit.ops.selection.random_numbers import NEXT_DRAW
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.libraries import TTNN
from ttnn_jit.runtime.programs.random_state import PARTS, on_device, seeded, state
from ttnn_jit.runtime.tensors import tensor as storage
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import MemoryConfig, TensorSpec, checked
from ttnn_jit.ttnn.calling import eager_functions
from ttnn_jit.ttnn.calling.eager_operation import InPlaceOperation

_NEXT_DRAW = InPlaceOperation("next_draw_", (NEXT_DRAW,))


class EagerOps(HostOps[Tensor]):
    """Calls are eager ones of tensors, which are the values; of a program's tensors, calls of the program."""

    def __getattr__(self, name: str) -> Any:
        return getattr(eager_functions, name)

    def filled(self, number: float, spec: TensorSpec, device: Device | None = None) -> Any:
        """A tensor of one number."""
        return storage.filled(number, spec, device)

    def made(
        self,
        _operation: Operation,
        _statics: Sequence[Any],
        spec: TensorSpec,
        device: Device | None,
        elements: Callable[[], Any],
    ) -> Tensor:
        """A tensor of these elements."""
        return storage.of_numbers(elements(), spec, device)

    def drawn(
        self, seed: int | None, draws: Draws[Tensor], device: Device, config: MemoryConfig | None = None
    ) -> Tensor:
        """The generator that calls share is left at its next draw."""
        draw, key = seeded(seed, device) if seed else (on_device(state(part, TTNN), device) for part in PARTS)
        made = draws(draw, key, config)
        if not seed:
            _NEXT_DRAW(draw)
        return made

    def with_memory_config(self, call: Callable[..., Any], arguments: Sequence[Any], config: MemoryConfig) -> Tensor:
        """The call says where."""
        made: Tensor = call(*arguments, memory_config=config)
        return made

    def laid_out(self, tensor: Tensor, spec: TensorSpec, device: Device | None, name: str) -> Tensor:
        """A tensor of its own, unless it is as wanted."""
        return storage.stored_as(tensor, checked(spec), device, name)

    def free(self, tensor: Tensor) -> None:
        """At once."""
        tensor.deallocate()


EAGER = EagerOps()
"""What calls outside programs are written over."""


def in_requested_memory(
    result: Tensor, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None
) -> Tensor:
    """What several operations give, in the memory or the tensor that the call names; itself where it names none."""
    if memory_config is None and output_tensor is None:
        return result
    return eager_functions.identity(result, memory_config=memory_config, output_tensor=output_tensor)
