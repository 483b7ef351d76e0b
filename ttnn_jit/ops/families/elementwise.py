"""The family of elementwise operations: the result of the body is rounded once, and operands broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from ttnn_jit.diagnostics.errors import OperandDTypeError, OperandError, OperandShapeError, ShapeError
from ttnn_jit.ops.language.arithmetic import dtypes_of
from ttnn_jit.ops.language.axes import broadcast
from ttnn_jit.ops.language.kinds import TensorKind
from ttnn_jit.ops.language.operation import OperandSpec, Operation, torch_function
from ttnn_jit.ops.language.parameter import Parameter
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, FLOATS
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec


@dataclass(frozen=True)
class Implementations:
    """Cheaper implementations of an operation beside `emit`, for all targets.

    Attributes:
        bfloat16: ``bfloat16(b, x, *attributes)`` for a bfloat16 x whose result is rounded to bfloat16 next. For all
            65,536 arguments the rounded result equals that of `emit`, under either numerics.
        both_signs: ``both_signs(b, x)`` is (f(x), f(-x)) with the bits of `emit`; the two share work.
        power: The exponent, if the operation is a power of x of -1, -1/2 or 1/2 (kernels/math/bfloat16_powers.py).
    """

    bfloat16: Callable[..., Any] | None = None
    both_signs: Callable[..., tuple[Any, Any]] | None = None
    power: float | None = None


@dataclass(frozen=True)
class AlgebraicProperties:
    """Algebraic properties of an operation that hold for all operands; passes query them in place of names.

    Attributes:
        right_identity: The number that as the second operand returns the first bit for bit (any NaN equals any NaN).
        commutative: The operands may be swapped.
        associative: Operands may be combined in any order, with the same result bit for bit.
        copies: The result is the operand.
        negates: The result is the operand with its sign bit flipped.
        selects_operand: The result is an operand, perhaps with another sign, or an integer of up to two digits; it is
            NaN only if an operand is. If the operands are rounded, the result needs no rounding.
        propagates_nan: A NaN in any tensor makes the result NaN, so a check for NaN may test the end of a chain.
        monotone: In each operand, with the others fixed, the result is monotone below 0 and monotone above 0, apart
            from rounding.
    """

    right_identity: float | None = None
    commutative: bool = False
    associative: bool = False
    copies: bool = False
    negates: bool = False
    selects_operand: bool = False
    propagates_nan: bool = False
    monotone: bool = False


@dataclass(frozen=True)
class TurningPoints:
    """Points between which a function of one tensor is monotone: where it turns, or jumps.

    Other points do no harm. An end of its domain is such a point. -1, 0, 1 and numbers of attributes go without saying.

    Attributes:
        points: Such points.
        period: If it is not 0, ``point + k * period`` are such points, too, also for a point that goes without saying.
    """

    points: tuple[float, ...] = ()
    period: float = 0.0


@dataclass(frozen=True)
class DerivedNumbers:
    """A tile body over numbers that are computed from the attributes before a kernel is written.

    A kernel may load numbers as operands, so its body can only make constants of them. What else depends on them is
    computed here, by functions that numbers of a trace have (`applied`); a choice is a number that is 0 or 1.

    Attributes:
        numbers: ``numbers(*attributes)``: the numbers.
        emit: The tile body: ``emit(b, *operands, *numbers)``; returns a value.
    """

    numbers: Callable[..., tuple[float, ...]]
    emit: Callable[..., Any]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Elementwise(Operation):
    """An elementwise operation.

    Attributes:
        emit: The tile body: ``emit(b, *operands, *attributes)`` over ops/language/emit.py; returns a value. The
            functions of `b` that it calls determine the operation's element types.
        derived: The same body over numbers that are derived from the attributes; None: its numbers are the attributes.
        implementations: Cheaper implementations.
        algebra: Its algebraic properties.
        keeps_first_dtype: The result has the first operand's element type, without promotion.
        turns: Of a function of one tensor, its turning points; None: they are not stated.
    """

    emit: Callable[..., Any]
    derived: DerivedNumbers | None = None
    implementations: Implementations = field(default_factory=Implementations)
    algebra: AlgebraicProperties = field(default_factory=AlgebraicProperties)
    keeps_first_dtype: bool = False
    turns: TurningPoints | None = field(default_factory=TurningPoints)

    def max_ulp(self, operand: DataType, result: DataType) -> float | None:
        """The declared bound; None for a user's tile operation."""
        if self.body:
            return None
        if result is COMPUTE_TYPE:
            return self.probe.max_ulp or 0.5
        rounded = 0.5 + self.probe.max_ulp * 2.0 ** (result.unpacked.mantissa_bits - COMPUTE_TYPE.mantissa_bits)
        return max(rounded, self.probe.max_ulp_bf16) if operand.unpacked is result.unpacked else rounded

    @cached_property
    def dtypes(self) -> frozenset[DataType]:
        """The element types whose arithmetic has all of `emit`; only floats with attributes, and for users' operations.

        Raises:
            TypeError: `emit` passes a bare number where a value is necessary.
        """
        if self.body:
            return FLOATS
        attributes = self.tested_attributes
        found = dtypes_of(lambda b, *operands: self.emit(b, *operands, *attributes), self.arity)
        return found & FLOATS if attributes else found

    def numbers_of(self, attributes: Sequence[Any]) -> tuple[float, ...]:
        """The numbers of a kernel's steps, by the attributes."""
        return tuple(attributes) if self.derived is None else self.derived.numbers(*attributes)

    @property
    def emit_numbers(self) -> Callable[..., Any]:
        """The tile body over these numbers: ``emit_numbers(b, *operands, *numbers)``."""
        return self.emit if self.derived is None else self.derived.emit

    @property
    def promotes(self) -> bool:
        """True, unless the result keeps the first operand's type."""
        return not self.keeps_first_dtype

    @property
    def wide_in_texts(self) -> bool:
        """Whether only texts call it with elements of 64 bits: programs of ttnn move and cast them."""
        return not self.algebra.copies

    @property
    def computes(self) -> bool:
        """Whether it does more than choose an operand."""
        return not self.algebra.selects_operand

    @property
    def rules(self) -> str:
        """The rules of broadcasting and of the result's dtype."""
        named = self.operands[self.dtype_operand].name
        return f"Operands broadcast over size-1 dimensions; the result has the dtype of `{named}`."

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:  # noqa: ARG002 - no number changes a shape
        """The layout of the first tensor, the dtype of operand `dtype_operand`, and the broadcast shape.

        Raises:
            CompileError: The shapes or element types do not fit, a vector per channel would broadcast along columns,
                the first tensor is sharded and would be broadcast, or the result is larger than any tensor.
        """
        tensors = [spec for spec in specs if isinstance(spec, TensorSpec)]
        if all(spec == tensors[0] for spec in tensors):
            return (tensors[0].with_(),)
        self._check_dtypes(tensors)
        self._check_channels(specs)
        try:
            shape = broadcast([spec.shape for spec in tensors])
        except ShapeError as error:
            raise OperandShapeError(f"`{self.name}` got {error.message}", help=error.help) from None
        naming = [spec for spec in specs[self.dtype_operand :] if isinstance(spec, TensorSpec)]
        first = tensors[0]
        if first.memory_config.is_sharded() and tuple(first.shape) != shape:
            raise OperandShapeError(
                f"`{self.name}` would broadcast its first tensor, which is sharded, from {list(first.shape)} to "
                f"{list(shape)}",
                help="the result is laid out as the first tensor: put the larger one first, or use DRAM interleaved",
            )
        try:
            return (first.with_(shape=shape, dtype=(naming or tensors)[0].dtype),)
        except ShapeError as error:
            raise OperandError.of("", error) from None

    def _check_dtypes(self, tensors: Sequence[TensorSpec]) -> None:
        """Refuse integers together with another element type."""
        dtypes = {spec.dtype for spec in tensors}
        if len(dtypes) > 1 and any(dtype.is_integer for dtype in dtypes):
            named = " and ".join(sorted(dtype.name for dtype in dtypes))
            raise OperandDTypeError(
                f"`{self.name}` got tensors of {named}", help="cast them to one dtype first, with `ttnn.typecast`"
            )

    def _check_channels(self, specs: Sequence[OperandSpec]) -> None:
        """Refuse a vector per channel that would broadcast along columns."""
        first = specs[0]
        for operand, spec in zip(self.operands, specs, strict=True):
            per_channel = isinstance(operand.kind, TensorKind) and operand.kind.per_channel
            if not per_channel or not isinstance(spec, TensorSpec) or not isinstance(first, TensorSpec):
                continue
            rank = len(first.shape)
            if 2 < rank != len(spec.shape) and spec.volume > 1:
                raise OperandShapeError(
                    f"`{operand.name}` of `{self.name}` has shape {list(spec.shape)}: it holds a number per channel, "
                    f"which is dimension 1 of {list(first.shape)}",
                    help=f"reshape it to {[1, spec.volume, *[1] * (rank - 2)]} before the call",
                )


def elementwise(name: str, parameters: Sequence[Parameter], **fields: Any) -> Elementwise:
    """A declaration; `emit` and `golden` default to the functions named `aten`, or else `name`."""
    named = fields.setdefault("aten", name) or name
    if (derived := fields.get("derived")) is not None:
        arity = sum(parameter.is_operand for parameter in parameters)
        fields["emit"] = lambda b, *values: derived.emit(b, *values[:arity], *derived.numbers(*values[arity:]))
    fields.setdefault("emit", lambda b, *values: getattr(b, named)(*values))
    fields.setdefault("golden", torch_function(named))
    return Elementwise(name=name, parameters=tuple(parameters), **fields)
