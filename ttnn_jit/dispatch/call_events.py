"""The event of a call of an operation, of a function of the host API, or of a jitted function."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter_ns
from typing import Any

from ttnn_jit.diagnostics.tracebacks import user_location
from ttnn_jit.events.listeners import emit_since, error_text
from ttnn_jit.events.run_events import Collective, EagerOperation, Event, JittedCall, TensorInfo, tensor_info
from ttnn_jit.foreign.pytrees import leaves
from ttnn_jit.ops.host_ops import EXCHANGES
from ttnn_jit.runtime.libraries import is_library_tensor, tensor_library_of
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.tensors.tensor import Tensor


class _Depth(threading.local):
    """How many measured calls the thread is in."""

    count = 0


_DEPTH = _Depth()


def name_of(operation: Any) -> str:
    """The name of an operation, a function of the host API or a jitted function."""
    return str(getattr(operation, "python_fully_qualified_name", None) or operation.__name__)


def is_jitted(operation: Any) -> bool:
    """Whether an operation is a jitted function."""
    return hasattr(operation, "__ttnn_jit_wrapped__")


def measured_call(call: Callable[..., Any], operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """``call(*args, **kwargs)``, whose event is emitted when it is over."""
    tensors = _tensors_in((args, kwargs))
    operands, device, location = tuple(map(_info, tensors)), _device_of(tensors), str(user_location() or "")
    results: list[Any] = []
    error, started = "", perf_counter_ns()
    _DEPTH.count += 1
    try:
        result = call(*args, **kwargs)
        results = _tensors_in(result)
        return result
    except BaseException as raised:
        error = error_text(raised)
        raise
    finally:
        _DEPTH.count -= 1
        emit_since(
            _kind(operation),
            started,
            name=name_of(operation),
            location=location,
            operands=operands,
            results=tuple(map(_info, results)),
            device=device or _device_of(results),
            depth=_DEPTH.count,
            error=error,
        )


def _kind(operation: Any) -> type[Event]:
    if is_jitted(operation):
        return JittedCall
    return Collective if getattr(operation, EXCHANGES, False) else EagerOperation


def _tensors_in(values: Any) -> list[Any]:
    """The tensors in nested containers, of any library."""
    return [leaf for leaf in leaves(values) if is_library_tensor(leaf)]


def _info(tensor: Any) -> TensorInfo:
    library = tensor_library_of(tensor)
    assert library is not None, "it is a tensor"
    return tensor_info(library.spec_of(tensor), len(tensor.tensors) if isinstance(tensor, MeshTensor) else 1)


def _device_of(tensors: Sequence[Any]) -> str:
    """The device of the first tensor that is on one, as it prints."""
    own = (tensor for tensor in tensors if isinstance(tensor, Tensor))
    devices = (tensor.mesh if isinstance(tensor, MeshTensor) else tensor.device() for tensor in own)
    return next((str(device) for device in devices if device is not None), "")
