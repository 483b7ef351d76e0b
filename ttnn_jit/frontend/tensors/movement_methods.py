"""Methods and functions of torch and numpy that move a tensor's elements, in programs.

They become operations of ttnn (ops/foreign_movements.py), and give views where their library does.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ttnn_jit.frontend.tensors.program_tensor import ProgramTensor, View, root_of
from ttnn_jit.frontend.tensors.tensor_metadata import metadata_function, table_entry
from ttnn_jit.frontend.tensors.views import is_number
from ttnn_jit.ops import COPY
from ttnn_jit.ops.foreign_movements import (
    FUNCTIONS,
    METHODS_OF_NUMPY,
    METHODS_OF_TORCH,
    METHODS_OF_TTNN,
    PROPERTIES,
    ForeignMovement,
)
from ttnn_jit.ops.movement.view_rules import are_dense
from ttnn_jit.runtime.libraries import NUMPY, TORCH, TTNN
from ttnn_jit.specs.cores.sharding import dense_strides

_METHODS: dict[Any, dict[str, ForeignMovement]] = {
    TORCH: METHODS_OF_TORCH,
    NUMPY: METHODS_OF_NUMPY,
    TTNN: METHODS_OF_TTNN,
}


def apply_movement(movement: ForeignMovement, tensor: ProgramTensor, *args: Any, **kwargs: Any) -> ProgramTensor:
    """The result of `movement` on `tensor`.

    Raises:
        CompileError: The arguments do not fit the tensor, or a required view is impossible.
    """
    found = _contiguous(tensor) if movement.starts_contiguous else tensor
    if movement.canonicalize is not None:
        operation, statics = movement.canonicalize(tuple(tensor.spec.shape), *args, **kwargs)
        found = tensor.emitter.emit((operation,), (found, *statics), {})
    if movement.must_be_view:
        _require_view(tensor, found)
    if movement.copies or movement.copies_densely:
        found = copy_of(found, densely=movement.copies_densely)
    if found is not tensor:
        found.is_copy = found.view_of is None and not is_number(tensor)
    return found


def _require_view(tensor: ProgramTensor, made: ProgramTensor) -> None:
    if made.view_of is None:
        tensor.refuse(
            f"a tensor with strides {list(tensor.strides_in_elements or ())} has no view of shape {list(made.shape)}",
            "`.reshape(...)` copies it",
        )
    made.view_of.is_certain = True  # otherwise torch refuses


def copy_of(tensor: ProgramTensor, *, densely: bool = False) -> ProgramTensor:
    """A copy of `tensor` in memory of its own; `densely` gives it the strides of its shape."""
    made: ProgramTensor = tensor.emitter.emit((COPY,), (tensor,), {})
    if densely:
        made.strides_in_elements = dense_strides(made.spec.shape)
    return made


def _contiguous(tensor: ProgramTensor) -> ProgramTensor:
    if are_dense(tuple(tensor.spec.shape), tensor.strides_in_elements):
        return tensor
    made = copy_of(tensor, densely=True)
    if tensor.strides_in_elements is None:
        made.view_of = View(tensor, (), tensor.emitter.location(), root_of(tensor).writes, is_certain=False)
    return made


def movement_attribute(tensor: ProgramTensor, name: str) -> Any:
    """The bound movement method, or the value of the movement property, `name`; None if the library has none."""
    methods = _METHODS.get(tensor.emitter.library)
    if methods is None:
        return None
    if name in PROPERTIES and tensor.emitter.library is not TTNN:
        return apply_movement(PROPERTIES[name], tensor)
    return types.MethodType(partial(apply_movement, methods[name]), tensor) if name in methods else None


def movement_function(function: Any, args: Sequence[Any]) -> Callable[..., Any] | None:
    """The implementation, on tensors of the program, of a movement or metadata function of torch's or numpy's.

    None for other functions.
    """
    is_given_tensor = bool(args) and hasattr(type(args[0]), "__ttnn_call__")
    return (_moving(function) or metadata_function(function)) if is_given_tensor else None


def movement_of_torch(function: Any) -> Callable[..., ProgramTensor] | None:
    """The implementation, on tensors of the program, of a movement of torch's; None for other functions."""
    name = getattr(function, "__name__", None)
    if name in METHODS_OF_TORCH and getattr(sys.modules["torch"].Tensor, name, None) is function:
        return partial(apply_movement, METHODS_OF_TORCH[name])
    return _moving(function)


def _moving(function: Any) -> Callable[..., ProgramTensor] | None:
    movement = table_entry(function, FUNCTIONS)
    return None if movement is None else partial(apply_movement, movement)
