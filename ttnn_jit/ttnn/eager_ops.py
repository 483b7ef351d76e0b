"""What decompositions call where functions of the host API write them: eager functions, on tensors of programs too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.ops import Operation
from ttnn_jit.ops.created_tensors import maker
from ttnn_jit.ops.decomposition import Ops
from ttnn_jit.runtime import tensor as storage
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.specs.tensor_spec import MemoryConfig, TensorSpec
from ttnn_jit.ttnn import eager_functions


def place_of(tensor: Any) -> Device | None:
    """Where what is made beside a tensor lies: None on the host, and in a program, which is made for no device."""
    return None if maker() is not None else tensor.device()


class EagerOps(Ops):
    """Calls are eager ones of tensors, which are the values; of a program's tensors, calls of the program.

    Args:
        device: Where tensors are that are made of no others; None: on the host.
    """

    def __init__(self, device: Device | None = None) -> None:
        self._device = device

    def __getattr__(self, name: str) -> Any:
        return getattr(eager_functions, name)

    def results(self, operation: Operation, operands: Sequence[Any], *statics: Any) -> list[Any]:
        """What the function of that name gives."""
        names = (each.name for each in (*operation.operands, *operation.attributes))
        values = (operands, *statics) if operation.is_variadic else (*operands, *statics)
        found = getattr(self, operation.name)(**dict(zip(names, values, strict=True)))
        return [found] if operation.gives_one_tensor else [*found]

    def filled(self, number: float, spec: TensorSpec) -> Any:
        """A tensor of one number."""
        program = maker()
        return storage.filled(number, spec, self._device) if program is None else program.filled(number, spec)


def placed(result: Tensor, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None) -> Tensor:
    """What several operations give, in the place or the tensor that the call names; itself where it names none."""
    if memory_config is None and output_tensor is None:
        return result
    return eager_functions.identity(result, memory_config=memory_config, output_tensor=output_tensor)
