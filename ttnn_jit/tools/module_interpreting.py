"""Modules in the tile interpreter, on tensors of torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ttnn_jit.diagnostics.errors import ArgumentError, LayoutError
from ttnn_jit.dialects.argument_notes import updates_of, whole_arguments_of
from ttnn_jit.dialects.functions import single_function
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.runtime.elements.numpy_elements import store_elements
from ttnn_jit.runtime.memory.buffer import HOST_POOL
from ttnn_jit.runtime.tensors.tensor import Tensor, torch_copy
from ttnn_jit.runtime.tensors.tensors_from_host import from_torch
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    import torch


def interpreted(module: ModuleOp, inputs: Sequence[torch.Tensor], devices: MeshDevices | None) -> list[torch.Tensor]:
    """The results of the only function of a scheduled module, on each device of a mesh one after the other."""
    from ttnn_jit.interpreters.mesh_interpreter import interpret_on_mesh
    from ttnn_jit.interpreters.tile_interpreter import interpret

    function = single_function(module)
    given, made = specs_of_function(function)
    if devices is None:
        return list(map(tensor_of_array, interpret(module, [*map(array_of_tensor, inputs, given)]), made))
    whole = whole_arguments_of(function)
    alone = {result for argument, result in updates_of(function) if argument in whole}
    on_each = [spec for at, spec in enumerate(given) for _ in range(1 if at in whole else len(devices))]
    of_each = [spec for at, spec in enumerate(made) for _ in range(1 if at in alone else len(devices))]
    arrays = interpret_on_mesh(module, devices, [*map(array_of_tensor, inputs, on_each)])
    return list(map(tensor_of_array, arrays, of_each))


def specs_of_function(function: FuncOp) -> tuple[list[TensorSpec], list[TensorSpec]]:
    """The specs of the arguments and of the results."""
    returned = function.body.block.last_op
    assert returned is not None, "a function ends with its return"
    return specs_of_arguments(function), [
        _spec_in(function, f"the result {index}", value) for index, value in enumerate(returned.operands)
    ]


def specs_of_arguments(function: FuncOp) -> list[TensorSpec]:
    """The specs of the arguments.

    Raises:
        ArgumentError: One has a type that no tensor of this compiler has.
    """
    return [_spec_in(function, f"the argument {each.index}", each) for each in function.body.block.args]


def _spec_in(function: FuncOp, what: str, value: SSAValue) -> TensorSpec:
    try:
        return spec_of(value.type)
    except LayoutError as error:
        name = function.sym_name.data
        raise ArgumentError(
            f"{what} of @{name}: {error.message}", location=location_of(function), help=error.help
        ) from error


def array_of_tensor(tensor: torch.Tensor, spec: TensorSpec) -> Any:
    """A tensor as an array of the interpreter."""
    import numpy
    import torch

    if spec.dtype.is_block_float:
        return numpy.frombuffer(from_torch(tensor, spec, None).stored_bytes(), numpy.uint8)
    array = (tensor.view(torch.uint16) if tensor.dtype is torch.bfloat16 else tensor).numpy()
    return array.view(spec.dtype.traits.numpy)  # the interpreter has floats of 16 bits as words


def tensor_of_array(array: Any, spec: TensorSpec) -> torch.Tensor:
    """The inverse of `array_of_tensor`."""
    import torch

    if not spec.dtype.is_block_float:
        return torch.from_numpy(array).view(spec.dtype.torch)
    buffer = HOST_POOL.allocate(spec.nbytes)
    store_elements(spec, buffer, array.tobytes())
    return torch_copy(Tensor(spec, None, buffer))
