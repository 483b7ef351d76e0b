"""Python's operators on tensors, from the operations that declare one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.diagnostics.tracebacks import warn_user
from ttnn_jit.ops import (
    ABSENT_OPERATORS,
    COPY,
    FILL,
    OPERATIONS,
    OPERATOR_METHODS,
    REFLECTED_METHODS,
    RESHAPE,
    SLICE,
    SLICE_WRITE,
    indexed,
)
from ttnn_jit.ops.foreign_movements import METHODS_OF_TTNN, ForeignMovement
from ttnn_jit.ops.movement.part_writes import fits
from ttnn_jit.ttnn.calling.eager_operation import TtnnOperation

_TRUTH = (
    "a ttnn tensor is true whatever its elements are, as any object of Python's is to `if`, `and`, `or`, `not`, `in`, "
    "`max` and `min`; write `x is None`, `ttnn.where`, `ttnn.logical_and` or `ttnn.maximum`, or ask `ttnn.to_torch(x)` "
    "(this is said once)"
)


def attach_operators(cls: type, operations: Mapping[str, TtnnOperation]) -> None:
    """Add to `cls` the operators that operations declare, reflected forms included; others and conversions raise.

    Instances stay hashable by identity, since `__eq__` is set outside the class body.
    """
    for symbol, name in ((each.operator, each.name) for each in OPERATIONS if each.operator):
        setattr(cls, OPERATOR_METHODS[symbol], _method(operations[name], compares=symbol in {"==", "!="}))
        if symbol in REFLECTED_METHODS:
            setattr(cls, REFLECTED_METHODS[symbol], _reflected(operations[name]))
    setattr(cls, "__getitem__", _indexing(operations))  # noqa: B010 - beside the others
    setattr(cls, "__setitem__", _assignment(operations))  # noqa: B010 - beside the others
    for name, movement in METHODS_OF_TTNN.items():
        setattr(cls, name, _moving(operations, movement))
    for absent in ABSENT_OPERATORS:
        for name in absent.methods:
            setattr(cls, name, _raising(f"the operator `{absent.symbol}` is not supported on tensors", absent.instead))
    setattr(cls, "__iter__", _slices)  # noqa: B010 - beside the others
    setattr(cls, "__bool__", truth_with_warning())  # noqa: B010 - beside the others
    for conversion in ("float", "int", "complex"):
        refused = _raising(f"`{conversion}()` of a ttnn tensor is not supported", "write `ttnn.to_torch(x).item()`")
        setattr(cls, f"__{conversion}__", refused)


def _method(operation: TtnnOperation, *, compares: bool = False) -> Callable[..., Any]:
    def method(self: Any, *other: Any) -> Any:
        if compares and (other[0] is None or isinstance(other[0], str)):
            return NotImplemented  # Python compares a tensor with None or a str by identity
        return operation(self, *other)

    return method


def _reflected(operation: TtnnOperation) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return operation(other, self)

    return method


def _moving(operations: Mapping[str, TtnnOperation], movement: ForeignMovement) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **keywords: Any) -> Any:
        assert movement.canonicalize is not None, "it moves elements"
        operation, statics = movement.canonicalize(tuple(self.shape), *args, **keywords)
        return operations[operation.name](self, *statics)

    return method


def _indexing(operations: Mapping[str, TtnnOperation]) -> Callable[[Any, object], Any]:
    def method(self: Any, index: object) -> Any:
        for operation, statics in tuple(indexed(tuple(self.shape), index)) or ((COPY, ()),):
            self = operations[operation.name](self, *statics)
        return self

    return method


def _assignment(operations: Mapping[str, TtnnOperation]) -> Callable[[Any, object, Any], None]:
    def method(self: Any, index: object, value: Any) -> None:
        chain = tuple(indexed(tuple(self.shape), index))
        part = self
        for operation, statics in chain:
            part = operations[operation.name](part, *statics)
        value = _broadcast_to_part(operations, part, value)
        slices = [statics for operation, statics in chain if operation is SLICE]
        if not slices:
            operations[COPY.name](operations[RESHAPE.name](value, tuple(self.shape)), output_tensor=self)
            return
        extents = tuple(len(range(*bounds)) for bounds in zip(*slices[0], strict=True))
        operations[SLICE_WRITE.name](self, operations[RESHAPE.name](value, extents), *slices[0], output_tensor=self)

    return method


def _broadcast_to_part(operations: Mapping[str, TtnnOperation], part: Any, value: Any) -> Any:
    """`value`, cast to the dtype of `part` and broadcast to its shape."""
    if isinstance(value, type(part)):
        extra = len(value.shape) - len(part.shape)
        if extra > 0 and set(value.shape[:extra]) == {1}:
            value = operations[RESHAPE.name](value, tuple(value.shape[extra:]))
        if value.dtype is not part.dtype:
            value = operations[COPY.name](value, dtype=part.dtype)
        if not fits(value.shape, part.shape):
            raise ShapeError(
                f"a tensor of shape {list(value.shape)} does not broadcast to a part of {list(part.shape)}"
            )
    return operations[FILL.name](part, value)


def _slices(tensor: Any) -> Iterator[Any]:
    """The slices along the first dimension, index by index."""
    if not tuple(tensor.shape):
        raise ArgumentError("a tensor of no dimensions has no parts", help="write `ttnn.to_torch(x).item()`")
    return (tensor[index] for index in range(tensor.shape[0]))


def truth_with_warning() -> Callable[[object], bool]:
    """The `__bool__` of tensors: True, since ttnn defines none; the first call warns."""
    has_warned = False

    def truth(_: object) -> bool:
        nonlocal has_warned
        if not has_warned:
            has_warned = True
            warn_user(_TRUTH)
        return True

    return truth


def _raising(message: str, help_text: str) -> Callable[..., NoReturn]:
    def method(*_: Any) -> NoReturn:
        raise ArgumentError(message, help=help_text)

    return method
