"""Methods and functions of torch's and numpy's that move a tensor's elements, as their libraries have them.

What a program calls is written as operations of ttnn, and is a view where it is one there (views.py).
"""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.foreign.values import is_python_class
from ttnn_jit.frontend.views import View, root_of
from ttnn_jit.ops import COPY, OVERLOADS
from ttnn_jit.ops.view_rules import are_dense
from ttnn_jit.runtime.families import NUMPY, TORCH
from ttnn_jit.specs.sharding import dense_strides

if TYPE_CHECKING:
    from ttnn_jit.frontend.proxy import ProxyTensor

Method = Callable[..., Any]


def _emitted(tensor: ProxyTensor, name: str, *statics: Any) -> ProxyTensor:
    made: ProxyTensor = tensor.emitter.emit(OVERLOADS[name], (tensor, *statics), {})
    return made


def _listed(values: Sequence[Any]) -> tuple[Any, ...]:
    """Numbers that are given one by one, or in one tuple or list."""
    return tuple(values[0]) if len(values) == 1 and isinstance(values[0], tuple | list) else tuple(values)


# --- Other shapes ---------------------------------------------------------------------------------------------------


def _reshape(tensor: ProxyTensor, *shape: Any) -> ProxyTensor:
    return _emitted(tensor, "reshape", _listed(shape))


def _view(tensor: ProxyTensor, *shape: Any) -> ProxyTensor:
    made = _reshape(tensor, *shape)
    if made.view_of is None:
        tensor.refuse(
            f"a tensor with strides {list(tensor.strides or ())} has no view of shape {list(made.shape)}",
            "`.reshape(...)` copies it",
        )
    made.view_of.is_certain = True  # or torch would refuse
    return made


def _flatten(tensor: ProxyTensor, start_dim: int = 0, end_dim: int = -1) -> ProxyTensor:
    shape = tuple(tensor.shape) or (1,)
    first, last = start_dim % len(shape), end_dim % len(shape)
    return _reshape(tensor, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


def _ravel(tensor: ProxyTensor) -> ProxyTensor:
    return _reshape(_contiguous(tensor), -1)


def _unsqueeze(tensor: ProxyTensor, dim: int) -> ProxyTensor:
    return _emitted(tensor, "unsqueeze", dim)


def _squeeze(tensor: ProxyTensor, dim: Any = None) -> ProxyTensor:
    return _emitted(tensor, "squeeze", dim)


def _squeeze_axis(tensor: ProxyTensor, axis: Any = None) -> ProxyTensor:
    return _squeeze(tensor, axis)


def _expand_dims(tensor: ProxyTensor, axis: int) -> ProxyTensor:
    return _unsqueeze(tensor, axis)


def _expand(tensor: ProxyTensor, *sizes: Any) -> ProxyTensor:
    return _emitted(tensor, "expand", _listed(sizes))


# --- Other orders ---------------------------------------------------------------------------------------------------


def _permute(tensor: ProxyTensor, *dims: Any) -> ProxyTensor:
    return _emitted(tensor, "permute", _listed(dims))


def _transpose(tensor: ProxyTensor, dim0: int, dim1: int) -> ProxyTensor:
    return _emitted(tensor, "transpose", dim0, dim1)


def _reversed(tensor: ProxyTensor) -> ProxyTensor:
    return _permute(tensor, tuple(reversed(range(len(tensor.shape)))))


def _swapaxes(tensor: ProxyTensor, axis1: int, axis2: int) -> ProxyTensor:
    return _transpose(tensor, axis1, axis2)


def _transpose_all(tensor: ProxyTensor, *axes: Any) -> ProxyTensor:
    return _permute(tensor, *axes) if axes and axes != (None,) else _reversed(tensor)


def _transposed_matrix(tensor: ProxyTensor) -> ProxyTensor:
    if len(tensor.shape) > 2:
        tensor.refuse(f"`t` transposes tensors of at most two dimensions, got {list(tensor.shape)}", "write `.mT`")
    return _reversed(tensor)


def _last_two(tensor: ProxyTensor) -> ProxyTensor:
    return _transpose(tensor, -2, -1)


# --- Copies ---------------------------------------------------------------------------------------------------------


def _clone(tensor: ProxyTensor) -> ProxyTensor:
    made: ProxyTensor = tensor.emitter.emit((COPY,), (tensor,), {})
    return made


def _dense_copy(tensor: ProxyTensor) -> ProxyTensor:
    made = _clone(tensor)
    made.strides = dense_strides(made.shape)
    return made


def _contiguous(tensor: ProxyTensor) -> ProxyTensor:
    if are_dense(tuple(tensor.shape), tensor.strides):
        return tensor
    made = _dense_copy(tensor)
    if tensor.strides is None:
        made.view_of = View(tensor, (), tensor.emitter.location(), root_of(tensor).writes, is_certain=False)
    return made


_OF_BOTH: dict[str, Method] = {"ravel": _ravel, "reshape": _reshape, "swapaxes": _swapaxes}
_OF_TORCH: dict[str, Method] = {
    "view": _view, "flatten": _flatten, "unsqueeze": _unsqueeze, "squeeze": _squeeze, "expand": _expand,
    "permute": _permute, "transpose": _transpose, "swapdims": _transpose, "t": _transposed_matrix,
    "clone": _clone, "contiguous": _contiguous,
}  # fmt: skip
_OF_NUMPY: dict[str, Method] = {
    "transpose": _transpose_all, "squeeze": _squeeze_axis, "copy": _dense_copy,
    "flatten": lambda tensor: _dense_copy(_ravel(tensor)),
}  # fmt: skip
_METHODS = {TORCH: _OF_BOTH | _OF_TORCH, NUMPY: _OF_BOTH | _OF_NUMPY}
_PROPERTIES: dict[str, Method] = {"T": _reversed, "mT": _last_two}
_FUNCTIONS: dict[str, dict[str, Method]] = {
    "torch": {name: method for name, method in _METHODS[TORCH].items() if name not in {"view", "expand", "contiguous"}},
    "numpy": {
        **{name: method for name, method in _METHODS[NUMPY].items() if name != "flatten"},
        "transpose": lambda x, axes=None: _transpose_all(x, axes),
        "expand_dims": _expand_dims,
    },
}


def movement_attribute(tensor: ProxyTensor, name: str) -> Any:
    """The method `name` of a tensor of torch's or numpy's, bound, or what its property gives; None if it has none."""
    family = tensor.emitter.family
    if family is TORCH or family is NUMPY:
        if name in _PROPERTIES:
            return _PROPERTIES[name](tensor)
        if name in _METHODS[family]:
            return types.MethodType(_METHODS[family][name], tensor)
    return None


def movement_function(function: Any, args: Sequence[Any]) -> Method | None:
    """What a function of torch's or numpy's that moves elements does with a tensor of the program; None of others."""
    is_given_tensor = bool(args) and hasattr(type(args[0]), "__ttnn_call__")
    return _moving(function) if is_given_tensor else None


def movement_of_torch(function: Any) -> Method | None:
    """What a function or method of torch's does with a tensor of the program if it moves elements; None of others."""
    name = getattr(function, "__name__", None)
    if name in _METHODS[TORCH] and getattr(sys.modules["torch"].Tensor, name, None) is function:
        return _METHODS[TORCH][name]
    return _moving(function)


def _moving(function: Any) -> Method | None:
    if is_python_class(type(function)):
        return None  # and may answer to any name
    name = getattr(function, "__name__", None)
    for library, table in _FUNCTIONS.items():
        if name in table and getattr(sys.modules.get(library), name, None) is function:
            return table[name]
    return None
