"""The module `ttnn.tracer`: the graph of operations, ttnn's and torch's, that produced a tensor."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dispatch.call_events import name_of
from ttnn_jit.dispatch.observers import Observer, is_observed_inside, observing
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.namespace.names_on_demand import host_function_names, submodule_getattr
from ttnn_jit.ttnn.observing.operation_graph import OperationGraph, tensors_in

__all__ = ["OperationGraph", *host_function_names("tracer")]  # noqa: PLE0604 - the names are the declarations'


class _Tracer(Observer):
    def __init__(self) -> None:
        self.graph = OperationGraph()

    def after(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        self.graph.add(name_of(operation), args, dict(kwargs), result)


_STACK: list[_Tracer] = []
_LAST: list[OperationGraph] = [OperationGraph()]
_ENABLED = ExitStack()


@host_function(name="tracer.trace", observed=False)
@contextmanager
def trace() -> Iterator[OperationGraph]:
    """Record the operations in the body of a ``with`` as a graph, torch's included (ttnn.tracer.trace).

    A call of a jitted function is one operation. `visualize` and `get_graph` read the graph of the last trace.
    """
    tracer = _Tracer()
    _STACK.append(tracer)
    _LAST[:] = [tracer.graph]
    try:
        with observing(tracer), _recording_torch(tracer.graph):
            yield tracer.graph
    finally:
        _STACK.remove(tracer)


@host_function(name="tracer.enable_tracing", observed=False)
def enable_tracing() -> None:
    """Start a `trace` that `disable_tracing` ends (ttnn.tracer.enable_tracing).

    Raises:
        ArgumentError: A trace is active.
    """
    if is_tracing_enabled():
        raise ArgumentError("tracing is enabled already", help="call `ttnn.tracer.disable_tracing()` first")
    _ENABLED.enter_context(trace())


@host_function(name="tracer.disable_tracing", observed=False)
def disable_tracing() -> None:
    """End the trace that `enable_tracing` started, if any (ttnn.tracer.disable_tracing)."""
    _ENABLED.close()


@host_function(name="tracer.is_tracing_enabled", observed=False)
def is_tracing_enabled() -> bool:
    """Whether a `trace` is active."""
    return bool(_STACK)


@host_function(name="tracer.get_graph", observed=False)
def get_graph(tensors: Any) -> OperationGraph:
    """The operations that produced these tensors (ttnn.tracer.get_graph).

    Args:
        tensors: A tensor, or nested containers of tensors.

    Raises:
        ArgumentError: There is no tensor in `tensors`, or no traced operation produced one of them.
    """
    return _LAST[0].of(tensors)


@host_function(name="tracer.visualize", observed=False)
def visualize(tensors: Any, *, file_name: str | Path | None = None) -> OperationGraph:
    """The operations that produced these tensors, which notebooks show as a picture (ttnn.tracer.visualize).

    Args:
        tensors: A tensor, or nested containers of tensors.
        file_name: The file to write: a picture (.svg), JSON (.json) or text for graphviz (.dot).

    Raises:
        ArgumentError: There is no tensor in `tensors`, no traced operation produced one of them, or the file name has
            another suffix.
    """
    graph = get_graph(tensors)
    if file_name is not None:
        graph.save(file_name)
    return graph


def _recording_torch(graph: OperationGraph) -> AbstractContextManager[Any]:
    """Record calls of torch functions in a ``with`` body; does nothing where torch is not loaded."""
    if "torch" not in sys.modules:
        return nullcontext()
    from torch.overrides import TorchFunctionMode, resolve_name

    class Mode(TorchFunctionMode):
        def __torch_function__(
            self, function: Any, _types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            result = function(*args, **(kwargs or {}))
            if not is_observed_inside() and tensors_in([result]):
                graph.add(resolve_name(function) or function.__name__, args, kwargs or {}, result)
            return result

    return Mode()


__getattr__ = submodule_getattr("tracer", __all__)
