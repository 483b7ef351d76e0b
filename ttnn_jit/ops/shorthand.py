"""The family of operations that the IR writes as calls of others: a split is slices, a stack a concatenation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import OperandError, ShapeError
from ttnn_jit.ops.data_movement import RESHAPE
from ttnn_jit.ops.movement import OPERAND, Movement, Spelling
from ttnn_jit.ops.operation import Example, OperandSpec, Operation
from ttnn_jit.ops.parameter import Parameter
from ttnn_jit.ops.typecast import TYPECAST
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import MOVABLE
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor among the calls of a shorthand.

    Attributes:
        spec: What it is.
        handle: What it is to whoever writes the calls.
    """

    spec: TensorSpec
    handle: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents."""
        return tuple(self.spec.shape)


@dataclass(frozen=True)
class Call:
    """``call(operation, operands, *attributes)``: the one result of `operation`.

    Operands are a list of values and numbers, however many they are.

    Attributes:
        results: Called likewise, what an operation of several results gives.
    """

    results: Callable[..., list[Value]]

    def __call__(self, operation: Operation, operands: Sequence[Value | float | None], *statics: Any) -> Value:
        """The one result."""
        (result,) = self.results(operation, operands, *statics)
        return result


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Shorthand(Operation):
    """An operation that is written as calls of others, in both frontends and eagerly: one program, rounded as they are.

    Attributes:
        calls: ``calls(call, *operands, *attributes)``: the result, or a list of them, by `call`. Operands are `Value`
            objects; the tensors of a variadic operation come as one list. Raises ShapeError where they do not fit.
        collected_in: A call gives a list or a tuple, however many results it has; None: the one result.
        takes_dtypes: The element types that it takes: all.
    """

    calls: Callable[..., Value | list[Value]]
    examples: tuple[Example, ...]
    collected_in: type[list[Any]] | type[tuple[Any, ...]] | None = None
    takes_dtypes: frozenset[DataType] = MOVABLE
    rounds_steps: bool = True

    @property
    def dtypes(self) -> frozenset[DataType]:
        """The element types that it takes."""
        return self.takes_dtypes

    @property
    def gives_one_tensor(self) -> bool:
        """Whether a call gives a tensor."""
        return self.collected_in is None and super().gives_one_tensor

    def packed(self, results: Sequence[Any]) -> Any:
        """A list or tuple of them, or the one."""
        return super().packed(results) if self.collected_in is None else self.collected_in(results)

    def written_out(self, call: Call, operands: Sequence[Value | float | None], statics: Sequence[Any]) -> list[Value]:
        """The results, every one of them made by `call`: an operand that is one is copied, as eager calls do.

        Block floats that are grouped anew several times move as float32: each encoding would round anew.

        Raises:
            CompileError: The operands do not fit the operation or each other.
        """
        if not any(_is_packed(x) for x in operands) or not self._regroups_in_steps(operands, statics):
            return self._called(call, operands, statics)
        dtypes = [value.spec.dtype for value in self._called(Call(_specified), operands, statics)]
        unpacked = [call(TYPECAST, [x], DataType.FLOAT32) if _is_packed(x) else x for x in operands]
        results = self._called(call, unpacked, statics)
        return [call(TYPECAST, [each], dtype) for each, dtype in zip(results, dtypes, strict=True)]

    def _called(self, call: Call, operands: Sequence[Value | float | None], statics: Sequence[Any]) -> list[Value]:
        try:
            arguments = [[*operands]] if self.is_variadic else operands
            found = self.calls(call, *arguments, *statics)
        except ShapeError as error:
            raise OperandError.of(self.name, error) from None
        results = found if isinstance(found, list) else [found]
        return [call(RESHAPE, [each], each.shape) if each in operands else each for each in results]

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """What the calls result in.

        Raises:
            CompileError: The operands do not fit the operation or each other.
        """
        return tuple(value.spec for value in self.written_out(Call(_specified), _values(specs), statics))

    def only_moves(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> bool:
        """Whether all that it stands for does."""
        return _groupings(self, _values(specs), statics) is not None

    def _regroups_in_steps(self, operands: Sequence[Value | float | None], statics: Sequence[Any]) -> bool:
        """Whether it only moves, and groups elements of a result anew more than once."""
        return (_groupings(self, operands, statics) or 0) > 1

    @property
    def rules(self) -> str:
        """What is true of every operation of the family, for docstrings."""
        return "The IR has the operations that it stands for; results have their dtypes and layouts."


def respelled(name: str, *parameters: Parameter, spelled: Callable[..., Spelling], **fields: Any) -> Shorthand:
    """A movement of one tensor that is another by ``spelled(shape, *attributes)``."""

    def calls(call: Call, x: Value, *statics: Any) -> Value:
        operation, written = spelled(x.shape, *statics)
        return call(operation, [x], *written)

    examples = tuple(((shape,), statics) for shape, statics in fields.pop("examples"))
    return Shorthand(
        name=name,
        parameters=(OPERAND, *parameters),
        source=f"ttnn.{name}",
        calls=calls,
        examples=examples,
        **fields,
    )


def _groupings(shorthand: Shorthand, operands: Sequence[Value | float | None], statics: Sequence[Any]) -> int | None:
    """How often, one after the other, elements of a result are grouped anew; None if the calls do more than move."""
    steps = dict.fromkeys((each for each in operands if isinstance(each, Value)), 0)
    moves: list[bool] = []

    def noted(operation: Operation, given: Sequence[Value | float | None], *own: Any) -> list[Value]:
        moves.append(operation.only_moves(_specs(given), own))
        made = _specified(operation, given, *own)
        anew = not isinstance(operation, Movement) or operation.regroups(_specs(given), own)
        steps.update(dict.fromkeys(made, anew + max((steps[x] for x in given if isinstance(x, Value)), default=0)))
        return made

    shorthand._called(Call(noted), operands, statics)
    return max(steps.values()) if all(moves) else None


def _is_packed(operand: Value | float | None) -> bool:
    return isinstance(operand, Value) and operand.spec.dtype.is_block_float


def _values(specs: Sequence[OperandSpec]) -> list[Value | float | None]:
    return [Value(spec) if isinstance(spec, TensorSpec) else spec for spec in specs]


def _specified(operation: Operation, operands: Sequence[Value | float | None], *statics: Any) -> list[Value]:
    """What the results of a call are, and no more."""
    return [Value(spec) for spec in operation.results(_specs(operands), statics)]


def _specs(operands: Sequence[Value | float | None]) -> list[OperandSpec]:
    return [each.spec if isinstance(each, Value) else each for each in operands]
