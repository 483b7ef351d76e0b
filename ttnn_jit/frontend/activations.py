"""Operations of one tensor that a call in a program applies to its operands and to its result: it rounds once."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.ops import HARDWARE_PARAMETERS, Elementwise, Operation
from ttnn_jit.ops.applied_unary import AppliedUnary
from ttnn_jit.ops.named_activations import activation_named
from ttnn_jit.ops.operation import OPERAND_PARAMETERS, RESULT_ACTIVATIONS
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import DataType

if TYPE_CHECKING:
    from ttnn_jit.frontend.proxy import Emitter

KEYWORDS = (*(parameter.name for parameter in OPERAND_PARAMETERS), RESULT_ACTIVATIONS)
"""Those that list operations to apply."""


@dataclass(frozen=True)
class Activations:
    """What a call applies.

    Attributes:
        operands: To each of the first operands, in order.
        result: To the result, in order.
    """

    operands: tuple[tuple[AppliedUnary, ...], ...]
    result: tuple[AppliedUnary, ...]

    def __bool__(self) -> bool:
        return bool(self.result) or any(self.operands)


def activations_of(given: Mapping[str, Any], own: Container[str], location: Callable[[], Location]) -> Activations:
    """What the keywords of a call say that are not the operation's `own`.

    Raises:
        CompileError: A config is of another kind, or something names no operation of one tensor that is here.
    """
    given = {name: value for name, value in given.items() if name not in own}
    try:
        configs = [
            each.kind.bind(given.get(each.name), None, f"`{each.name}`") for each in HARDWARE_PARAMETERS if given
        ]
        *of_operands, of_result = (_listed(name, given.get(name)) for name in KEYWORDS)
        fused = [getattr(config, "fused_activation", None) for config in configs]
        of_config = tuple(activation_named(each) for each in fused if each is not None)
    except ArgumentError as error:
        raise CompileError(error.message, location=location(), help=error.help) from None
    return Activations(tuple(of_operands), (*of_result, *of_config))


def _listed(name: str, given: Any) -> tuple[AppliedUnary, ...]:
    if not isinstance(given, list | tuple | None.__class__):
        raise ArgumentError(f"`{name}` must be a list of unary operations, got {given!r}")
    return tuple(map(activation_named, given or ()))


def activated(
    trace: Emitter,
    applied: Activations,
    dtype: DataType | None,
    overloads: Sequence[Operation],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    """What the call gives, in `dtype`, or in its first operand's."""
    args, kwargs = list(args), dict(kwargs)
    first = trace.known(args[0] if args else kwargs[overloads[0].parameter_names[0]])
    for place, activations in enumerate(applied.operands):
        if activations:
            _check_takes(overloads[0], place, trace.location)
            values, key = (args, place) if place < len(args) else (kwargs, overloads[0].parameter_names[place])
            values[key] = _through(trace, activations, trace.known(values[key]), COMPUTE_TYPE)
    wanted = dtype or first.dtype
    if not applied.result:
        return trace.emit_in(wanted, overloads, args, kwargs)
    return _through(trace, applied.result, trace.emit_in(COMPUTE_TYPE, overloads, args, kwargs), wanted)


def _check_takes(operation: Operation, place: int, location: Callable[[], Location]) -> None:
    if not isinstance(operation, Elementwise) or operation.arity < 2:
        name = OPERAND_PARAMETERS[place].name
        raise CompileError(
            f"`{name}` applies to a tensor of an elementwise operation of two",
            location=location(),
            help="apply the operation yourself, before the call",
        )


def _through(trace: Emitter, activations: Sequence[AppliedUnary], value: Any, dtype: DataType) -> Any:
    """`value` through operations, the last of which rounds it to `dtype`."""
    for place, each in enumerate(activations):
        wanted = dtype if place == len(activations) - 1 else COMPUTE_TYPE
        value = trace.emit_in(wanted, each.overloads, (value, *each.numbers), {})
    return value
