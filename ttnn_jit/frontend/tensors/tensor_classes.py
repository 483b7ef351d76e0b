"""What a program is told of the class of its tensors: it is that of the tensors of its calls."""

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
    """The class of the tensors of a library."""
    if library is TORCH:
        return sys.modules["torch"].Tensor  # type: ignore[no-any-return]
    return sys.modules["numpy"].ndarray if library is NUMPY else Tensor


def reported_class(library: TensorLibrary | None) -> type:
    """What a stand-in says of its class to whoever asks by ``isinstance`` without the interpreter.

    Never that of torch's tensors: C of torch's would take the stand-in's memory for that of one.
    """
    return runtime_class(library) if library is NUMPY else Tensor


def may_query_class(value: Any) -> bool:
    """Whether a program without source that names `value` may ask with it for the class of a tensor."""
    torch = sys.modules.get("torch")
    if value is type or (torch is not None and value is torch.is_tensor):
        return True
    return is_a(value, type) and any(issubclass(value, runtime_class(library)) for library in _loaded_libraries())


def _loaded_libraries() -> list[TensorLibrary]:
    return [TTNN, *(library for library, name in ((TORCH, "torch"), (NUMPY, "numpy")) if name in sys.modules)]


def refuse_classes_without_source(named: Sequence[Any], library: TensorLibrary, location: Location | None) -> None:
    """Refuse the program if what stands for its tensors would say another class than they do.

    Raises:
        UnsupportedFunction: It would, to whoever asks for one of those `named`.
    """
    asks = [value for value in named if value is not type]
    is_claimed = reported_class(library) is runtime_class(library)
    if asks and (type in named or not is_claimed):
        raise UnsupportedFunction(
            f"a tensor in a trace without source does not say whether it is a `{asks[0].__name__}`",
            location=location,
            help="leave `graph_capture=True` out, or define the function in a file",
        )
