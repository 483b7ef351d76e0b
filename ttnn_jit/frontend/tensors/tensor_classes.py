"""The class that a program observes of its tensors: that of the tensors of its calls."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import UnsupportedFunction
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.foreign.values import is_a
from ttnn_jit.runtime.libraries import NUMPY, TORCH, TTNN, TensorLibrary
from ttnn_jit.runtime.tensors.tensor import Tensor


def runtime_class(library: TensorLibrary | None) -> type:
    """The class of a library's tensors at run time."""
    if library is TORCH:
        return sys.modules["torch"].Tensor  # type: ignore[no-any-return]
    return sys.modules["numpy"].ndarray if library is NUMPY else Tensor


def reported_class(library: TensorLibrary | None) -> type:
    """The ``__class__`` of a proxy, which ``isinstance`` reads outside the interpreter.

    It is never the class of torch's tensors: torch's C code would interpret the proxy's memory as such a tensor.
    """
    return runtime_class(library) if library is NUMPY else Tensor


def may_query_class(value: Any) -> bool:
    """Whether a program without source that names `value` may query the class of a tensor with it."""
    torch = sys.modules.get("torch")
    if value is type or (torch is not None and value is torch.is_tensor):
        return True
    return is_a(value, type) and any(issubclass(value, runtime_class(library)) for library in _loaded_libraries())


def _loaded_libraries() -> list[TensorLibrary]:
    return [TTNN, *(library for library, name in ((TORCH, "torch"), (NUMPY, "numpy")) if name in sys.modules)]


def refuse_classes_without_source(named: Sequence[Any], library: TensorLibrary, location: Location | None) -> None:
    """Refuse a program that may observe that a proxy has another class than its tensor.

    Raises:
        UnsupportedFunction: A query with one of the values `named` would give another answer for the proxy.
    """
    queried = [value for value in named if value is not type]
    is_claimed = reported_class(library) is runtime_class(library)
    if queried and (type in named or not is_claimed):
        raise UnsupportedFunction(
            f"whether a tensor is a `{queried[0].__name__}` is not known in a trace without source",
            location=location,
            help="leave `graph_capture=True` out, or define the function in a file",
        )
