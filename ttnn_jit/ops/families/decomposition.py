"""Operations in terms of others, and the protocol of their decompositions.

A declaration's ``decompose(ops, *operands, *attributes)`` calls other operations through `ops`. The implementation of
`ops` decides what the calls produce: specs of results (`SpecOps`), or ops of a function
(`ttnn_jit/dialects/function_builder.py`), of TTNN in a frontend and of TTIR in a pass. Eager calls are programs of one
operation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from ttnn_jit.diagnostics.errors import OperandError, ShapeError
from ttnn_jit.ops.families.movement import OPERAND, CanonicalCall, Movement
from ttnn_jit.ops.language.binding import bind
from ttnn_jit.ops.language.operation import OperandSpec, Operation
from ttnn_jit.ops.language.parameter import Parameter
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, FLOATS, MOVABLE
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

# --- The protocol -----------------------------------------------------------------------------------------------------


def _operator(name: str) -> Callable[..., Value]:
    return lambda value, *others: getattr(value.ops, name)(value, *others)


class Value:
    """A tensor in a decomposition; Python's operators on it, except ``==`` and ``!=``, are calls too.

    Attributes:
        ops: The protocol that made it.
        spec: The tensor's spec.
        handle: The protocol's own representation.
    """

    __slots__ = ("handle", "ops", "spec")

    def __init__(self, ops: Ops, spec: TensorSpec, handle: Any = None) -> None:
        self.ops, self.spec, self.handle = ops, spec, handle

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's extents."""
        return tuple(self.spec.shape)

    __neg__ = _operator("neg")
    __add__ = __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("subtract"), _operator("rsub")
    __mul__ = __rmul__ = _operator("multiply")
    __truediv__, __rtruediv__ = _operator("divide"), _operator("rdiv")
    __gt__, __ge__, __lt__, __le__ = map(_operator, ("gt", "ge", "lt", "le"))


Operand: TypeAlias = Value | float | None


class Ops(ABC):
    """The protocol of decompositions: ``ops.exp(x)`` as `ttnn.exp(x)`, or ``ops.call(OPERATION, [x], *attributes)``."""

    @abstractmethod
    def results(self, operation: Operation, operands: Sequence[Operand], *statics: Any) -> list[Value]:
        """The results of a call of `operation`; operands are one list.

        Raises:
            CompileError: The operands do not fit the operation or each other.
        """

    @abstractmethod
    def filled(self, number: float, spec: TensorSpec) -> Value:
        """A tensor of `spec` with `number` in every element."""

    def call(self, operation: Operation, operands: Sequence[Operand], *statics: Any) -> Value:
        """The result of a call of an operation with one result."""
        (result,) = self.results(operation, operands, *statics)
        return result

    def __getattr__(self, name: str) -> Callable[..., Value]:
        overloads = BY_NAME.get(name)
        if overloads is None:
            raise AttributeError(f"there is no operation {name!r} to call", name=name)

        def call(*args: Any, **kwargs: Any) -> Any:
            bound = bind(overloads, args, kwargs, _dtype_of)
            return bound.operation.packed(self.results(bound.operation, bound.operands, *bound.attributes))

        return call

    def rounded(self, x: Value, dtype: DataType) -> Value:
        """`x` cast to `dtype`; `x` itself if it has that dtype."""
        return x if x.spec.dtype is dtype else self.typecast(x, dtype)

    def reshaped(self, x: Value, shape: Sequence[int]) -> Value:
        """`x` reshaped to `shape`; `x` itself if it has that shape."""
        return x if x.shape == tuple(shape) else self.reshape(x, tuple(shape))

    def part(self, x: Value, axis: int, begin: int, end: int) -> Value:
        """The elements [begin, end) along a dimension; `x` itself if these are all."""
        return x if (begin, end) == (0, x.shape[axis]) else self.sliced(x, axis, begin, end)

    def sliced(self, x: Value, axis: int, begin: int, end: int) -> Value:
        """The elements [begin, end) along a dimension."""
        begins, ends = [0] * len(x.shape), list(x.shape)
        begins[axis], ends[axis] = begin, end
        return self.slice(x, tuple(begins), tuple(ends))


class SpecOps(Ops):
    """The protocol that computes only the specs of results."""

    def values(self, specs: Iterable[OperandSpec], handle: Any = None) -> list[Operand]:
        """Operands of a decomposition with these specs."""
        return [Value(self, spec, handle) if isinstance(spec, TensorSpec) else spec for spec in specs]

    def results(self, operation: Operation, operands: Sequence[Operand], *statics: Any) -> list[Value]:
        """Values without a handle."""
        return [Value(self, spec) for spec in operation.results(specs_of(operands), statics)]

    def filled(self, number: float, spec: TensorSpec) -> Value:  # noqa: ARG002 - a spec alone
        """A value of that spec."""
        return Value(self, spec)


class _RequantizationCount(SpecOps):
    """The protocol that counts requantizations of block floats.

    The handle of a value is the number of movements that may change which elements share an exponent, on the longest
    path to it; None if it is computed, and not only moved.
    """

    def results(self, operation: Operation, operands: Sequence[Operand], *statics: Any) -> list[Value]:
        specs = specs_of(operands)
        counts = [each.handle for each in operands if isinstance(each, Value)]
        count = None
        if None not in counts and operation.only_moves(specs, statics):
            requantizes = not isinstance(operation, Movement) or operation.requantizes(specs, statics)
            count = max(counts, default=0) + requantizes
        return [Value(self, spec, count) for spec in operation.results(specs, statics)]


def specs_of(operands: Iterable[Operand]) -> list[OperandSpec]:
    """The spec of each operand; numbers and None unchanged."""
    return [each.spec if isinstance(each, Value) else each for each in operands]


BY_NAME: dict[str, tuple[Operation, ...]] = {}
"""Name -> overloads, for calls by name. `ttnn_jit.ops` fills it: this module cannot import the declarations."""


def _dtype_of(value: Any) -> DataType | None:
    return value.spec.dtype if isinstance(value, Value) else None


# --- The families -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Decomposed(Operation):
    """An operation in terms of others.

    Attributes:
        decompose: ``decompose(ops, *operands, *attributes)``: the result, or several, by calls of `ops`. Operands are
            `Value` objects, None for omitted ones; a variadic operation gets one list of its tensors. Raises ShapeError
            where they do not fit.
        takes_dtypes: The element types that its operands may have.
        operand_dtypes: The element types of each operand, where they differ; they replace `takes_dtypes`.
    """

    decompose: Callable[..., Any]
    takes_dtypes: frozenset[DataType]
    operand_dtypes: tuple[frozenset[DataType], ...] = ()

    @property
    def dtypes(self) -> frozenset[DataType]:
        """The union of the element types of its operands."""
        return frozenset().union(*self.operand_dtypes) if self.operand_dtypes else self.takes_dtypes

    def decomposed(self, ops: Ops, operands: Sequence[Operand], statics: Sequence[Any]) -> list[Value]:
        """The results, by calls of `ops`.

        Raises:
            CompileError: The operands do not fit the operation or each other.
        """
        return [*self._calls(ops, operands, statics)]

    def _calls(self, ops: Ops, operands: Sequence[Operand], statics: Sequence[Any]) -> Iterator[Value]:
        arguments = [[*operands]] if self.is_variadic else operands
        try:
            found = self.decompose(ops, *arguments, *statics)
            yield from [found] if isinstance(found, Value) else found
        except ShapeError as error:
            raise OperandError.of(self.name, error) from None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Composite(Decomposed):
    """A decomposed operation with an op in the dialects: it contains a reduction or a product, computed in float32.

    Elementwise functions have one `emit` instead.

    Attributes:
        canonicalize: ``canonicalize(*shapes, *attributes)``: the canonical attributes, or None if they are canonical
            already (a function that only checks them). The shape of an omitted tensor is None. Raises ShapeError where
            they do not fit. None: attributes are canonical as given.
        result: ``result(*specs, *attributes)``: the result spec, whose strides are ignored; a tuple for several
            results. By default that of the first operand.
        kernel_of: The reduction or product that it is, apart from an elementwise epilogue; a chip target's rules for
            that operation's operands apply to its own.
    """

    canonicalize: Callable[..., tuple[Any, ...] | None] | None = None
    result: Callable[..., TensorSpec | tuple[TensorSpec, ...]] = lambda x, *_: x
    takes_dtypes: frozenset[DataType] = FLOATS
    kernel_of: Operation | None = None

    def canonicalized(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[Composite, tuple[Any, ...]]:
        """The operation and the canonical attributes of a call.

        Raises:
            CompileError: The attributes do not fit the operands, or these each other, or have other element types.
        """
        if self.operand_dtypes:
            self.check_operands(specs, self.operand_dtypes)
        if self.canonicalize is None:
            return self, tuple(statics)
        tensors = (spec for spec in specs if not isinstance(spec, float | int))
        shapes = (None if spec is None else tuple(spec.shape) for spec in tensors)
        try:
            canonical = self.canonicalize(*shapes, *statics)
        except ShapeError as error:
            raise OperandError.of(self.name, error) from None
        return self, tuple(statics) if canonical is None else canonical

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """The result specs by `result`, with dense strides.

        Raises:
            CompileError: The attributes do not fit the operands, or these each other.
        """
        _, canonical = self.canonicalized(specs, statics)
        found = self.result(*specs, *canonical)
        return tuple(each.with_() for each in (found if isinstance(found, tuple) else (found,)))

    @property
    def rules(self) -> str:
        """Sentences for docstrings that hold for every operation of the family."""
        return "The result has the operand's dtype and layout; it is computed in float32, and rounded once."


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MacroOperation(Decomposed):
    """A decomposed operation without an op in the dialects: frontends and eager calls expand it into its calls.

    Attributes:
        result_container: The type of a call's return value, a list or a tuple of any number of results; None: the one
            result.
        in_float32: Operands are cast to float32, and each result is rounded once to the element type of its operand,
            counted from `dtype_operand`; else each call rounds its result.
    """

    in_float32: bool = False
    takes_dtypes: frozenset[DataType] = MOVABLE
    result_container: type[list[Any]] | type[tuple[Any, ...]] | None = None
    rounds_intermediates: bool = True

    @property
    def gives_one_tensor(self) -> bool:
        """Whether a call returns a tensor."""
        return self.result_container is None and super().gives_one_tensor

    def packed(self, results: Sequence[Any]) -> Any:
        """The results as a list or tuple, or the one result."""
        return super().packed(results) if self.result_container is None else self.result_container(results)

    def decomposed(self, ops: Ops, operands: Sequence[Operand], statics: Sequence[Any]) -> list[Value]:
        """The results by calls of `ops`; an operand that `decompose` returns is copied, as in eager calls.

        Block floats that would be requantized several times are moved as float32: each requantization rounds.

        Raises:
            CompileError: The operands do not fit the operation or each other.
        """
        given, dtypes = [*operands], self._dtypes_of_results(operands, statics)
        for index in sorted(range(len(given)), key=lambda index: index < self.dtype_operand) if dtypes else ():
            each = given[index]
            if isinstance(each, Value) and (self.in_float32 or each.spec.dtype.is_block_float):
                given[index] = ops.rounded(each, COMPUTE_TYPE)
        called = self._calls(ops, given, statics)
        found = [ops.rounded(*each) for each in zip(called, dtypes, strict=True)] if dtypes else [*called]
        return [ops.reshape(each, each.shape) if each in operands else each for each in found]

    def _dtypes_of_results(self, operands: Sequence[Operand], statics: Sequence[Any]) -> list[DataType]:
        """The element types to round the results to, if operands are cast to float32 first; else empty."""
        if self.in_float32:
            return [each.spec.dtype for each in operands[self.dtype_operand :] if isinstance(each, Value)]
        specs = specs_of(operands)
        is_packed = any(isinstance(each, TensorSpec) and each.dtype.is_block_float for each in specs)
        if not is_packed or (self._requantizations(specs, statics) or 0) < 2:
            return []
        ops = SpecOps()
        return [value.spec.dtype for value in self._calls(ops, ops.values(specs), statics)]

    def _requantizations(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> int | None:
        """The most requantizations on a path to a result; None if calls do more than move."""
        ops = _RequantizationCount()
        counts = [value.handle for value in self._calls(ops, ops.values(specs, 0), statics)]
        return None if None in counts else max(counts, default=0)

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """The specs of the results of its calls.

        Raises:
            CompileError: The operands do not fit the operation or each other.
        """
        ops = SpecOps()
        return tuple(value.spec for value in self.decomposed(ops, ops.values(specs), statics))

    def only_moves(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> bool:
        """Whether all operations that it calls only move."""
        return self._requantizations(specs, statics) is not None

    @property
    def rules(self) -> str:
        """Sentences for docstrings that hold for every operation of the family."""
        return "The IR has the operations that it calls; results have their dtypes and layouts."


def movement_alias(
    name: str, *parameters: Parameter, canonicalize: Callable[..., CanonicalCall], **fields: Any
) -> MacroOperation:
    """A macro operation that is one movement, which ``canonicalize(shape, *attributes)`` returns."""

    def decompose(ops: Ops, x: Value, *statics: Any) -> Value:
        operation, canonical = canonicalize(x.shape, *statics)
        return ops.call(operation, [x], *canonical)

    examples = tuple(((shape,), statics) for shape, statics in fields.pop("examples"))
    return MacroOperation(
        name=name,
        parameters=(OPERAND, *parameters),
        decompose=decompose,
        examples=examples,
        **fields,
    )
