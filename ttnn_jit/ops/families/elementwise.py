"""The family of elementwise operations: one rounding, whatever the body does inside; operands broadcast."""

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
    """Implementations of an operation beside `emit`, for where they take less work: no target has one of its own.

    Attributes:
        bfloat16: ``bfloat16(b, x, *attributes)`` for a bfloat16 x whose result is rounded to bfloat16 next: less work
            than `emit`, and of all 65,536 arguments the bfloat16 that rounding makes of `emit`, under either numerics.
        both_signs: ``both_signs(b, x)`` is (f(x), f(-x)) in the bits of `emit`, where they share work.
        power: The power of x that it is, of -1, -1/2 and 1/2 (kernels/math/bfloat16_powers.py).
    """

    bfloat16: Callable[..., Any] | None = None
    both_signs: Callable[..., tuple[Any, Any]] | None = None
    power: float | None = None


@dataclass(frozen=True)
class Laws:
    """What is true of an operation whatever its operands, so that passes need no name to make use of it.

    Attributes:
        neutral: The number that, as the second operand, gives back the first bit for bit (any NaN equals any NaN).
        commutative: The operands may be swapped.
        associative: Of several operands any two may meet first, and the result is the same bit for bit.
        copies: The result is the operand.
        negates: The result is the operand with its sign bit flipped.
        chooses: The result is always an operand, perhaps with another sign, or an integer of up to two digits, and
            never a NaN where no operand is one: it needs no rounding that its operands had.
        propagates_nan: A NaN in any tensor gives a NaN, which may so be looked for in the result of a chain of such.
        monotone: Where all operands but one stay, the result only rises, or only falls, as that one rises below 0, and
            above 0; roundings aside.
    """

    neutral: float | None = None
    commutative: bool = False
    associative: bool = False
    copies: bool = False
    negates: bool = False
    chooses: bool = False
    propagates_nan: bool = False
    monotone: bool = False


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Elementwise(Operation):
    """An elementwise operation.

    Attributes:
        emit: The tile body: ``emit(b, *operands, *attributes)`` over ops/language/emit.py; returns a value. What it
            asks of `b` decides which element types the operation takes.
        implementations: Others than `emit`, where they take less work.
        laws: What is true of it.
        keeps_first: The result has the first operand's element type, whatever is beside it.
    """

    emit: Callable[..., Any]
    implementations: Implementations = field(default_factory=Implementations)
    laws: Laws = field(default_factory=Laws)
    keeps_first: bool = False

    def max_ulp(self, operand: DataType, result: DataType) -> float | None:
        """What the declaration states; of a user's own nothing."""
        if self.body:
            return None
        if result is COMPUTE_TYPE:
            return self.probe.max_ulp or 0.5
        rounded = 0.5 + self.probe.max_ulp * 2.0 ** (result.unpacked.mantissa_bits - COMPUTE_TYPE.mantissa_bits)
        return max(rounded, self.probe.max_ulp_bf16) if operand.unpacked is result.unpacked else rounded

    @cached_property
    def dtypes(self) -> frozenset[DataType]:
        """The element types on whose arithmetic `emit` runs; attributes and a user's tile operations are of floats.

        Raises:
            TypeError: `emit` has a bare number where an element is wanted.
        """
        if self.body:
            return FLOATS
        attributes = self.tested_attributes
        found = dtypes_of(lambda b, *operands: self.emit(b, *operands, *attributes), self.arity)
        return found & FLOATS if attributes else found

    @property
    def promotes(self) -> bool:
        """Unless the type of the first stays."""
        return not self.keeps_first

    @property
    def computes(self) -> bool:
        """Whether its law is not to choose."""
        return not self.laws.chooses

    @property
    def rules(self) -> str:
        """How operands meet, and what the result is."""
        named = self.operands[self.dtype_from].name
        return f"Operands broadcast over size-1 dimensions; the result has the dtype of `{named}`."

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:  # noqa: ARG002 - no number changes a shape
        """Layout of the first tensor, dtype of the operand that the declaration names, the broadcast shape.

        Raises:
            CompileError: The shapes or element types do not fit, numbers per channel would be spread along the
                columns, the first tensor is sharded and would be broadcast, or the result is larger than any tensor.
        """
        tensors = [spec for spec in specs if isinstance(spec, TensorSpec)]
        if all(spec is tensors[0] for spec in tensors):  # equal specs are one object
            return (tensors[0].with_(),)
        self._check_dtypes(tensors)
        self._check_channels(specs)
        try:
            shape = broadcast([spec.shape for spec in tensors])
        except ShapeError as error:
            raise OperandShapeError(f"`{self.name}` got {error.message}", help=error.help) from None
        naming = [spec for spec in specs[self.dtype_from :] if isinstance(spec, TensorSpec)]
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
        """Refuses integers beside numbers of another type."""
        dtypes = {spec.dtype for spec in tensors}
        if len(dtypes) > 1 and any(dtype.is_integer for dtype in dtypes):
            named = " and ".join(sorted(dtype.name for dtype in dtypes))
            raise OperandDTypeError(
                f"`{self.name}` got tensors of {named}", help="cast them to one dtype first, with `ttnn.typecast`"
            )

    def _check_channels(self, specs: Sequence[OperandSpec]) -> None:
        """Refuses numbers per channel that broadcasting would spread along the columns."""
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
    """A declaration: `emit` and `golden` are the functions of its `aten`, or else its name, unless given."""
    named = fields.setdefault("aten", name) or name
    fields.setdefault("emit", lambda b, *values: getattr(b, named)(*values))
    fields.setdefault("golden", torch_function(named))
    return Elementwise(name=name, parameters=tuple(parameters), **fields)
