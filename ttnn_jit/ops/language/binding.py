"""A call's arguments to the parameters of one of the declarations that share its name."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.ops.language.kinds import TensorsKind
from ttnn_jit.ops.language.operation import OperandSpec, Operation
from ttnn_jit.ops.language.parameter import Parameter
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import BOOLS, DataType


@dataclass(frozen=True)
class BoundCall:
    """A call resolved to one declaration: operands are the caller's tensors or numbers, attributes are bound values.

    A number is an int beside tensors of integers, and a float beside others.
    """

    operation: Operation
    operands: tuple[Any, ...]
    attributes: tuple[Any, ...]

    def key(self, specs: Sequence[OperandSpec]) -> Iterator[Hashable]:
        """What decides the program beside the operation, with `specs` for the operands, each as its kind says."""
        return (key for _, _, key in self.keys(specs))

    def keys(self, specs: Sequence[OperandSpec]) -> Iterator[tuple[Parameter, Any, Hashable]]:
        """Likewise, with each parameter, and its value or spec."""
        operands = self.operation.operands
        kinds = operands * len(specs) if self.operation.is_variadic else operands
        for parameter, value in zip((*kinds, *self.operation.attributes), (*specs, *self.attributes), strict=True):
            yield parameter, value, parameter.kind.key(value)


def with_precision(bound: BoundCall, precision: Callable[[str | None], str | None]) -> BoundCall:
    """`bound` with another precision, if its operation has one: what `precision` makes of the caller's."""
    index = bound.operation.precision_index
    if index is None:
        return bound
    attributes = [*bound.attributes]
    attributes[index] = precision(attributes[index])
    return replace(bound, attributes=tuple(attributes))


def bind(
    overloads: Iterable[Operation],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    dtype_of: Callable[[Any], DataType | None],
) -> BoundCall:
    """The first declaration in `overloads` that takes these arguments.

    Args:
        overloads: Declarations that share a Python name, in order of preference.
        args: Positional arguments, tensors (in the caller's sense) or numbers.
        kwargs: Keyword arguments, by operand and attribute name.
        dtype_of: The dtype of the caller's tensors; None of everything else.

    Raises:
        ArgumentError: None fits; the text says why, and what the operation takes.
    """
    of_names: list[ArgumentError] = []
    of_values: list[ArgumentError] = []
    of_dtypes: list[BoundCall] = []
    for operation in overloads:
        try:
            given = _by_name(operation, args, kwargs)
        except ArgumentError as error:
            of_names.append(error.with_traceback(None))  # which else would hold the caller's frames, and they it
            continue
        try:
            bound = _bind_one(operation, given, dtype_of)
        except OverflowError as error:
            raise ArgumentError(f"a number among the arguments of `{operation.name}` has no float: {error}") from None
        except ArgumentError as error:
            of_values.append(error.with_traceback(None))
            continue
        if all(dtype is None or operation.accepts(dtype) for dtype in map(dtype_of, bound.operands)):
            return bound
        of_dtypes.append(bound)
    if of_dtypes:
        return of_dtypes[0]  # whoever writes the operation refuses it, at its location
    signatures = " or ".join(f"`{operation.call_text}`" for operation in overloads)
    fixed = "; parameters with a default are fixed where it is defined" if operation.body else ""
    # The declaration whose keywords fit is the one that was meant.
    meant = [*of_values, *of_names][0]
    raise ArgumentError(meant.message, help=meant.help or f"the call is written {signatures}{fixed}")


def _bind_one(operation: Operation, given: Mapping[str, Any], dtype_of: Callable[[Any], DataType | None]) -> BoundCall:
    found: list[_Operand] = []
    for operand in operation.operands:
        value = given.get(operand.name)
        what = f"`{operand.name}` of `{operation.name}`"
        if value is None and operand.is_required:
            missing = f"`{operation.name}` misses its argument `{operand.name}`"
            raise ArgumentError(f"{what} is None" if operand.name in given else missing)
        if value is None:
            found.append(_Operand(operand, None, None, what))
            continue
        for each, named in _each(operand, value, what):
            dtype = dtype_of(each)
            found.append(_Operand(operand, operand.kind.bind(each, dtype, named), dtype, named))
    in_order = [*found[operation.dtype_from :], *found]
    first = next((each.dtype for each in in_order if each.dtype is not None), None)
    if first is None:
        raise ArgumentError(f"`{operation.name}` needs a tensor among its arguments")
    exact = first.is_integer and first in operation.dtypes
    operands = tuple(each.bound(first, operation, exact=exact) for each in found)
    return BoundCall(operation, operands, _attributes(operation, given, first))


class _Operand(NamedTuple):
    """What is given for an operand: a tensor of `dtype`, a number, or None, which is the default."""

    parameter: Parameter
    value: Any
    dtype: DataType | None
    what: str

    def bound(self, beside: DataType, operation: Operation, *, exact: bool) -> Any:
        """A tensor, or none, as it is; a number as a float, or where integers are `exact`, one that `beside` has.

        Beside what torch and numpy alone have, what promotes leaves a float one, and what computes takes no integer
        for a truth.
        """
        if self.dtype is not None or (self.value is None and self.parameter.is_optional):
            return self.value
        value = self.parameter.default_of(beside) if self.value is None else self.value
        if beside.is_foreign and ((isinstance(value, float) and operation.promotes) or not exact):
            return value
        if beside in BOOLS and operation.computes and not isinstance(value, bool):
            raise ArgumentError(
                f"{self.what} is {value!r} beside a tensor of bools, which torch would compute in int64",
                help="cast the tensor first: `ttnn.typecast(x, ttnn.int32)`",
            )
        return beside.checked_integer(value, self.what) if exact else float(value)


def _each(operand: Parameter, value: Any, what: str) -> Iterator[tuple[Any, str]]:
    """The tensors that are given for an operand, and what errors call each."""
    if not isinstance(operand.kind, TensorsKind):
        yield value, what
        return
    if not isinstance(value, (list, tuple)) or not value:
        got = "an empty one" if isinstance(value, (list, tuple)) else type_name(value)
        raise ArgumentError(f"{what} must be a list or tuple of tensors, got {got}")
    for index, each in enumerate(value):
        yield each, f"element {index} of {what}"


def _attributes(operation: Operation, given: Mapping[str, Any], dtype: DataType) -> tuple[Any, ...]:
    values = []
    for attribute in operation.attributes:
        value = given.get(attribute.name)
        if value is None and attribute.is_required:
            raise ArgumentError(f"`{operation.name}` misses its argument `{attribute.name}`")
        value = attribute.default_of(dtype) if value is None else value
        values.append(attribute.kind.bind(value, None, f"`{attribute.name}` of `{operation.name}`"))
    return tuple(values)


def _by_name(operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    names = operation.parameter_names
    if len(args) > len(names):
        raise ArgumentError(f"`{operation.name}` takes at most {len(names)} arguments, got {len(args)}")
    given = dict(zip(names, args, strict=False))
    may_be: dict[str, tuple[str, ...]] = {}
    for keyword, value in kwargs.items():
        meant = operation.named_by.get(keyword, ())
        if not meant or meant[0] not in operation.chosen_by:
            may_be[keyword] = meant
        elif value != operation.chosen_by[meant[0]]:
            raise ArgumentError(f"`{operation.name}` has no form for {keyword}={value!r}")
    for keyword in sorted(may_be, key=lambda keyword: len(may_be[keyword])):
        if not (meant := may_be[keyword]):
            raise ArgumentError(f"`{operation.name}` has no argument `{keyword}`")
        left = [name for name in meant if name not in given]
        if not left:
            raise ArgumentError(f"`{operation.name}` got two values for `{meant[0]}`")
        given[left[0]] = kwargs[keyword]
    return given
