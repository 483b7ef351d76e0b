"""The callable objects of the `ttnn` namespace: ``ttnn.exp(x)`` is a one-op program through the compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ttnn_jit.errors import ArgumentError, UnsupportedFunction
from ttnn_jit.ops import BoundCall, Operation, bind, nearest_names
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.program import Program
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.ttnn.call_key import scalar_key


class TtnnOperation:
    """One name of the namespace. Calls run eagerly, unless an argument says that it is being traced.

    An alias (``ttnn.mul``) is an object of its own name, because `@jit` refuses it under that name.

    Tensors must be on one device; the result lies where the first tensor does, with its dtype and layout.
    Programs are kept by the metadata of the arguments, never by their data.
    """

    def __init__(self, name: str, overloads: tuple[Operation, ...]) -> None:
        self.__name__ = f"ttnn.{name}"
        self.__ttnn_overloads__ = overloads
        self.__doc__ = _documentation(self.__ttnn_overloads__)
        self._programs: dict[tuple[object, ...], tuple[Program, tuple[int, ...]]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run eagerly, or record the call if an argument is a tracer.

        Raises:
            ArgumentError: The arguments do not fit the operation or each other.
            DeallocatedError: A tensor was deallocated.
        """
        for argument in (*args, *kwargs.values()):
            tracer = getattr(argument, "__ttnn_call__", None)
            if tracer is not None:
                return tracer(self, args, kwargs)
        return self._run(args, kwargs)

    def _run(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensor:
        bound = bind(self.__ttnn_overloads__, args, kwargs, lambda value: isinstance(value, Tensor))
        tensors = tuple(value for value in bound.operands if isinstance(value, Tensor))
        device = _one_device(self.__name__, tensors)
        key = (
            bound.operation,
            device.target,
            *(v.spec if isinstance(v, Tensor) else scalar_key(v) for v in bound.operands),
            *map(scalar_key, bound.attributes),
        )
        entry = self._programs.get(key)
        program = entry[0] if entry else self._compile(key, bound, device)
        result: Tensor = program(*tensors)
        return result

    def _compile(self, key: tuple[object, ...], bound: BoundCall, device: Device) -> Program:
        from ttnn_jit import compiler

        operands = tuple(value.spec if isinstance(value, Tensor) else value for value in bound.operands)
        program = compiler.compile_operation(bound.operation, operands, bound.attributes, device.target)
        self._programs[key] = (program, ())
        return program

    def __repr__(self) -> str:
        return f"<{self.__name__}>"


def _one_device(name: str, tensors: Sequence[Tensor]) -> Device:
    device = tensors[0].device()
    for tensor in tensors:
        other = tensor.device()
        if other is None:
            raise ArgumentError(
                f"{name}: a tensor is on the host",
                help="move it to a device: `ttnn.from_torch(..., device=device)` or `tensor.to(device)`",
            )
        if other is not device:
            raise ArgumentError(f"{name}: the tensors lie on different devices, {device} and {other}")
    assert device is not None
    return device


def _documentation(overloads: tuple[Operation, ...]) -> str:
    paragraphs = []
    for operation in overloads:
        dtypes = ", ".join(sorted(dtype.name for dtype in operation.dtypes))
        paragraphs.append(
            f"``ttnn.{operation.signature}``: {operation.summary}\n\n"
            f"Operands broadcast over size-1 dimensions; dtypes {dtypes}; the result has the dtype of "
            f"`{operation.operands[operation.dtype_from].name}`. Semantics: {operation.source}."
        )
    return "\n\n".join(paragraphs)


def unknown_name(name: str) -> AttributeError:
    """The error for a name that the namespace lacks, with the nearest that it has."""
    near = nearest_names(name)
    hint = f"; did you mean {' or '.join(f'`{n}`' for n in near)}?" if near else ""
    return AttributeError(f"module 'ttnn_jit.ttnn' has no attribute {name!r}{hint}", name=name)


__all__ = ["TtnnOperation", "UnsupportedFunction", "unknown_name"]
