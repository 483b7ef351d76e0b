"""Binding of a call: overload resolution, and the arguments of each parameter."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.ops.language.activation_names import ActivationText
from ttnn_jit.ops.language.kinds import FloatsKind, TensorsKind, as_float
from ttnn_jit.ops.language.operation import OperandSpec, Operation
from ttnn_jit.ops.language.parameter import Parameter
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import BOOLS, DataType
from ttnn_jit.specs.spec_forms import form_of
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class BoundCall:
    """A call resolved to one declaration: operands are the caller's tensors or numbers, attributes are bound values.

    A number operand is an int if the tensors are of integers, else a float.
    """

    operation: Operation
    operands: tuple[Any, ...]
    attributes: tuple[Any, ...]

    def key(self, specs: Sequence[OperandSpec]) -> Iterator[Hashable]:
        """The parts of a cache key beside the operation, one per parameter; `specs` are those of the operands."""
        return (key for _, _, key in self.keys(specs))

    def key_without_sizes(self, specs: Sequence[OperandSpec]) -> Iterator[Hashable]:
        """As `key`, without what templates leave open: shapes of tensors, floats, and ints that `may_be_open`."""
        for parameter, value, part in self.keys(specs):
            if isinstance(value, TensorSpec):
                yield form_of(value)
                continue
            kind: Any = type(value)
            if kind is float or (kind is int and parameter.may_be_open):
                yield kind
            elif kind is ActivationText:
                yield value.function, len(value.numbers)
            else:
                yield tuple(map(type, value)) if isinstance(parameter.kind, FloatsKind) else part

    def keys(self, specs: Sequence[OperandSpec]) -> Iterator[tuple[Parameter, Any, Hashable]]:
        """As `key`, each part after its parameter and its value or spec."""
        operands = self.operation.operands
        kinds = operands * len(specs) if self.operation.is_variadic else operands
        for parameter, value in zip((*kinds, *self.operation.attributes), (*specs, *self.attributes), strict=True):
            yield parameter, value, parameter.kind.key(value)


def with_precision(bound: BoundCall, precision: Callable[[str | None], str | None]) -> BoundCall:
    """`bound` with its precision mapped by `precision`; `bound` itself if its operation has none."""
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
    """Bind arguments to the first declaration in `overloads` that accepts them.

    Args:
        overloads: Declarations that share a Python name, in order of preference.
        args: Positional arguments, tensors (in the caller's sense) or numbers.
        kwargs: Keyword arguments, by operand and attribute name.
        dtype_of: The dtype of a tensor of the caller; None for everything else.

    Raises:
        ArgumentError: No declaration fits; the text says why, and lists the signatures.
    """
    name_errors: list[ArgumentError] = []
    value_errors: list[ArgumentError] = []
    wrong_dtypes: list[BoundCall] = []
    for operation in overloads:
        try:
            given = _by_name(operation, args, kwargs)
        except ArgumentError as error:
            name_errors.append(error.with_traceback(None))  # the traceback would make a cycle with the caller's frames
            continue
        try:
            bound = _bind_one(operation, given, dtype_of)
        except OverflowError as error:
            raise ArgumentError(f"a number in a call of `{operation.name}` is out of range of float: {error}") from None
        except ArgumentError as error:
            value_errors.append(error.with_traceback(None))
            continue
        if all(dtype is None or operation.accepts(dtype) for dtype in map(dtype_of, bound.operands)):
            return bound
        wrong_dtypes.append(bound)
    if wrong_dtypes:
        return wrong_dtypes[0]  # the builder of the op reports the dtype, with the op's location
    signatures = " or ".join(f"`{operation.call_text}`" for operation in overloads)
    note = "; parameters with a default are fixed where it is defined" if operation.body else ""
    # A declaration whose keywords fit gives the better error.
    meant = [*value_errors, *name_errors][0]
    raise ArgumentError(meant.message, help=meant.help or f"the call is written {signatures}{note}")


def _bind_one(operation: Operation, given: Mapping[str, Any], dtype_of: Callable[[Any], DataType | None]) -> BoundCall:
    found: list[_Operand] = []
    for operand in operation.operands:
        value = given.get(operand.name)
        what = f"`{operand.name}` of `{operation.name}`"
        if value is None and operand.is_required:
            missing = f"`{operation.name}` lacks its argument `{operand.name}`"
            raise ArgumentError(f"{what} is None" if operand.name in given else missing)
        if value is None:
            found.append(_Operand(operand, None, None, what))
            continue
        for each, named in _tensors_of(operand, value, what):
            dtype = dtype_of(each)
            found.append(_Operand(operand, operand.kind.bind(each, dtype, named), dtype, named))
    in_order = [*found[operation.dtype_operand :], *found]
    first = next((each.dtype for each in in_order if each.dtype is not None), None)
    if first is None:
        raise ArgumentError(f"`{operation.name}` needs a tensor among its arguments")
    exact = first.is_integer and first in operation.dtypes
    operands = tuple(each.bound(first, operation, exact=exact) for each in found)
    return BoundCall(operation, operands, _attributes(operation, given, first))


class _Operand(NamedTuple):
    """The argument of an operand: a tensor of `dtype`, a number, or None for the default."""

    parameter: Parameter
    value: Any
    dtype: DataType | None
    what: str

    def bound(self, beside: DataType, operation: Operation, *, exact: bool) -> Any:
        """A tensor or None unchanged; a number as a float, or as an integer of dtype `beside` if `exact`.

        Beside dtypes of torch and numpy alone, a promoting operation keeps a float, and an operation that computes
        refuses an integer beside bools.
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
        return beside.checked_integer(value, self.what) if exact else as_float(value)


def _tensors_of(operand: Parameter, value: Any, what: str) -> Iterator[tuple[Any, str]]:
    """The tensors in the argument of an operand, each with its name in errors."""
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
            raise ArgumentError(f"`{operation.name}` lacks its argument `{attribute.name}`")
        value = attribute.default_of(dtype) if value is None else value
        values.append(attribute.kind.bind(value, None, f"`{attribute.name}` of `{operation.name}`"))
    return tuple(values)


def _by_name(operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    names = operation.parameter_names
    if len(args) > len(names):
        raise ArgumentError(f"`{operation.name}` takes at most {len(names)} arguments, got {len(args)}")
    given = dict(zip(names, args, strict=False))
    candidates: dict[str, tuple[str, ...]] = {}
    for keyword, value in kwargs.items():
        meant = operation.keyword_parameters.get(keyword, ())
        if not meant or meant[0] not in operation.fixed_keywords:
            candidates[keyword] = meant
        elif value != operation.fixed_keywords[meant[0]]:
            raise ArgumentError(f"`{operation.name}` does not support {keyword}={getattr(value, 'hint', value)!r}")
    for keyword in sorted(candidates, key=lambda keyword: len(candidates[keyword])):
        if not (meant := candidates[keyword]):
            raise ArgumentError(f"`{operation.name}` has no argument `{keyword}`")
        unset = [name for name in meant if name not in given]
        if not unset:
            raise ArgumentError(f"`{operation.name}` got two values for `{meant[0]}`")
        given[unset[0]] = kwargs[keyword]
    return given
