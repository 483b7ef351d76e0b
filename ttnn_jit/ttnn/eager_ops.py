"""What functions of the host API are written over outside programs: calls are eager ones, on tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops import Operation
from ttnn_jit.ops.host_ops import HostOps
from ttnn_jit.ops.random_numbers import NEXT_DRAW
from ttnn_jit.runtime import tensor as storage
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.families import TTNN
from ttnn_jit.runtime.random_state import PARTS, on_device, seeded, state
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, MemoryConfig, TensorSpec, checked
from ttnn_jit.ttnn import eager_functions
from ttnn_jit.ttnn.eager_operation import InPlaceOperation
from ttnn_jit.ttnn.mesh import over_meshes

_NEXT_DRAW = InPlaceOperation("next_draw_", (NEXT_DRAW,))


class EagerOps(HostOps[Tensor]):
    """Calls are eager ones of tensors, which are the values; of a program's tensors, calls of the program."""

    def __getattr__(self, name: str) -> Any:
        return getattr(eager_functions, name)

    def results(self, operation: Operation, operands: Sequence[Any], *statics: Any) -> list[Any]:
        """What the function of that name gives."""
        names = (each.name for each in (*operation.operands, *operation.attributes))
        values = (operands, *statics) if operation.is_variadic else (*operands, *statics)
        found = getattr(self, operation.name)(**dict(zip(names, values, strict=True)))
        return [found] if operation.gives_one_tensor else [*found]

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

    def generator(self, seed: int | None, device: Device) -> tuple[Tensor, Tensor]:
        """Its state, on the device."""
        parts = seeded(seed, device) if seed else (on_device(state(part, TTNN), device) for part in PARTS)
        draw, key = parts
        return draw, key

    def count_draw(self, draw: Tensor) -> None:
        """In place."""
        _NEXT_DRAW(draw)

    def made_by(self, call: Callable[..., Any], arguments: Sequence[Any], spec: TensorSpec) -> Tensor:
        """The call says where, but of what goes to the host then."""
        config = None if spec.memory_config == HOST_MEMORY_CONFIG else spec.memory_config
        made: Tensor = call(*arguments, memory_config=config)
        return made

    def requested(self, call: Callable[..., Any], arguments: Sequence[Any], config: MemoryConfig) -> Tensor:
        """The call says where."""
        made: Tensor = call(*arguments, memory_config=config)
        return made

    def brought(self, tensor: Tensor, device: Device, config: MemoryConfig | None) -> Tensor:
        """From wherever it lies."""
        return tensor.to(device, config)

    def laid_out(self, tensor: Tensor, spec: TensorSpec, device: Device | None, name: str) -> Tensor:
        """A tensor of its own, unless it is as wanted."""
        return storage.stored_as(tensor, checked(spec), device, name)

    def write_into(self, output: Tensor, tensor: Tensor, spec: TensorSpec, device: Device, name: str) -> Tensor:
        """`output`, which must be as the copy would be."""
        if output.spec is not spec or output.device() is not device:
            raise ShapeError(
                f"{name}: `output_tensor` is {output.spec} on {output.device()}, the result {spec} on {device}"
            )
        overwrite(output, tensor, name)
        return output

    def free(self, tensor: Tensor) -> None:
        """At once."""
        tensor.deallocate()


EAGER = EagerOps()
"""What calls outside programs are written over."""


@over_meshes
def overwrite(target: Tensor, source: Tensor, name: str) -> None:
    """Give `target` the elements of `source`, for the function `name`.

    Raises:
        ShapeError: Shape, dtype or layout differ.
    """
    for field in ("shape", "dtype", "layout"):
        ours, theirs = getattr(target, field), getattr(source, field)
        if ours != theirs:
            raise ShapeError(f"{name}: the tensors differ in {field}, {theirs} and {ours}")
    storage.write_elements(source, target, name)


def placed(result: Tensor, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None) -> Tensor:
    """What several operations give, in the place or the tensor that the call names; itself where it names none."""
    if memory_config is None and output_tensor is None:
        return result
    return eager_functions.identity(result, memory_config=memory_config, output_tensor=output_tensor)
