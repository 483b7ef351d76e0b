"""Traces operations on hidden inputs: tensors of the user's world, which are no constants of the program.

A traced function handles these tensors themselves. Operations of ttnn and operators that take one are written into the
program, whatever the other operands are; jitted functions are inlined.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.foreign.pytrees import leaves
from ttnn_jit.frontend.python.wrapped_functions import wrapped_attribute
from ttnn_jit.frontend.tensors.creations import create
from ttnn_jit.frontend.tensors.emitter import Emitter
from ttnn_jit.frontend.tensors.movement_methods import movement_of_torch
from ttnn_jit.ops.host_ops import creation_of
from ttnn_jit.ops.traced_calls import flat_arguments, tracing


@contextlib.contextmanager
def tracing_hidden_inputs(emitter: Emitter) -> Iterator[None]:
    """Inside the context, `emitter` writes operations on tensors that are inputs of the program."""

    def called(operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if (creation := creation_of(operation)) is not None:
            return create(emitter, creation, args, kwargs)
        if not any(map(emitter.is_input, flat_arguments((*args, *kwargs.values())))):
            return NotImplemented
        jitted = wrapped_attribute(operation)
        return emitter.call(operation, args, kwargs) if jitted is None else getattr(operation, jitted)(*args, **kwargs)

    with tracing(called), _torch_operators(emitter):
        yield


def _torch_operators(emitter: Emitter) -> contextlib.AbstractContextManager[Any]:
    if "torch" not in sys.modules:
        return contextlib.nullcontext()
    from torch.overrides import TorchFunctionMode

    from ttnn_jit.foreign.torch_operators import operators

    table = operators()

    class Operators(TorchFunctionMode):
        """Forwards operators on tensors that are inputs of the program to the proxies of these."""

        def __torch_function__(
            self, function: Any, _types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
        ) -> Any:
            if not any(map(emitter.is_input, args)):
                return function(*args, **(kwargs or {}))
            meant = None if kwargs else table.get(function)
            if meant is not None:
                return meant(*map(emitter.resolve, args))
            name = getattr(function, "__name__", "")
            if name.endswith("_") and not name.endswith("__"):  # torch's names of in-place methods
                return getattr(emitter.resolve(args[0]), name)(*args[1:], **(kwargs or {}))
            moved = movement_of_torch(function)
            if moved is not None and emitter.is_input(args[0]):
                return moved(*map(emitter.resolve, args), **(kwargs or {}))
            result = function(*args, **(kwargs or {}))
            _refuse_views(emitter, result, args, name)
            return result

    return Operators()


def _refuse_views(emitter: Emitter, result: Any, args: Iterable[Any], name: str) -> None:
    """Refuse a tensor that aliases an input: a write into it would happen when the function is compiled.

    Raises:
        CompileError: The result of a function of torch's is such a tensor.
    """
    import torch

    inputs = {id(arg): arg.untyped_storage().data_ptr() for arg in args if emitter.is_input(arg)}
    for made in leaves([result]):
        if (
            isinstance(made, torch.Tensor)
            and id(made) not in inputs
            and made.untyped_storage().data_ptr() in inputs.values()
        ):
            raise CompileError(
                f"`{name.strip('_')}` returns a view of a tensor that the function finds, and a trace does not "
                "see writes into it",
                location=emitter.location(),
                help="pass that tensor as an argument, or leave `graph_capture=True` out",
            )
