"""Gradients: an operation's inputs' from its result's, by a formula over other operations, in float32 and rounded once.

They are shorthands, so that a program has the operations of the formula. None of them is loaded before a name of ttnn's
that ends with ``_bw`` is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops import OVERLOADS, bind
from ttnn_jit.ops.operation import Example, Probe
from ttnn_jit.ops.parameter import CHOICE, NAME, TENSOR, Parameter
from ttnn_jit.ops.shorthand import Call, Shorthand, Value
from ttnn_jit.ops.typecast import TYPECAST
from ttnn_jit.ops.unary import ROUNDED_TWICE
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, FLOATS
from ttnn_jit.specs.tensor_spec import DataType

GRADIENT = Parameter("grad_tensor", TENSOR, aliases=("grad",))
INPUT = Parameter("input_tensor", TENSOR, aliases=("input_tensor_a", "input", "input_a"))
APPROXIMATE = Parameter("approximate", NAME, "none", aliases=("variant",))
OTHER = Parameter("other_tensor", TENSOR, aliases=("input_tensor_b", "other", "input_b"))


class Term:
    """A tensor in a formula: Python's operators on it are operations of float32."""

    def __init__(self, formula: Formula, value: Value) -> None:
        self.formula = formula
        self.value = value

    def __add__(self, other: Term | float) -> Term:
        return self.formula.add(self, other)

    def __radd__(self, other: float) -> Term:
        return self.formula.add(self, other)

    def __sub__(self, other: Term | float) -> Term:
        return self.formula.subtract(self, other)

    def __rsub__(self, other: float) -> Term:
        return self.formula.rsub(self, other)

    def __mul__(self, other: Term | float) -> Term:
        return self.formula.multiply(self, other)

    def __rmul__(self, other: float) -> Term:
        return self.formula.multiply(self, other)

    def __truediv__(self, other: Term | float) -> Term:
        return self.formula.divide(self, other)

    def __rtruediv__(self, other: float) -> Term:
        return self.formula.rdiv(self, other)

    def __neg__(self) -> Term:
        return self.formula.neg(self)

    def __gt__(self, other: Term | float) -> Term:
        return self.formula.gt(self, other)

    def __ge__(self, other: Term | float) -> Term:
        return self.formula.ge(self, other)

    def __lt__(self, other: Term | float) -> Term:
        return self.formula.lt(self, other)

    def __le__(self, other: Term | float) -> Term:
        return self.formula.le(self, other)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents."""
        return self.value.shape


class Formula:
    """Operations by name on terms: ``f.exp(x)`` is a call of `exp`."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def __getattr__(self, name: str) -> Callable[..., Term]:
        if name not in OVERLOADS:
            raise AttributeError(name)

        def apply(*args: Any, **chosen: Any) -> Term:
            bound = bind(OVERLOADS[name], args, chosen, _dtype_of)
            operands = [each.value if isinstance(each, Term) else each for each in bound.operands]
            return Term(self, self._call(bound.operation, operands, *bound.attributes))

        return apply

    def in_float32(self, value: Value) -> Term:
        """A tensor as formulas compute with it."""
        return Term(self, value if value.spec.dtype is COMPUTE_TYPE else self._call(TYPECAST, [value], COMPUTE_TYPE))

    def rounded(self, term: Term, dtype: DataType) -> Value:
        """A result, of the element type of its input."""
        return term.value if dtype is COMPUTE_TYPE else self._call(TYPECAST, [term.value], dtype)

    def summed_to(self, term: Term, shape: tuple[int, ...]) -> Term:
        """The gradient of a tensor of `shape` that was broadcast: the sums of those of its repetitions."""
        if term.shape == shape:
            return term
        extra = len(term.shape) - len(shape)
        own = (1,) * extra + shape
        axes = tuple(axis for axis, extent in enumerate(own) if extent == 1 != term.shape[axis])
        return self.reshape(self.sum(term, axes, True) if axes else term, shape)

    def zeros(self, term: Term) -> Term:
        """As many as `term` has elements."""
        return self.fill(term, 0.0)


def _dtype_of(value: Any) -> DataType | None:
    return value.value.spec.dtype if isinstance(value, Term) else None


def is_tanh(approximate: str | None) -> bool:
    """Whether a gelu is the one by `tanh`.

    Raises:
        ShapeError: It is neither that nor the exact one.
    """
    if approximate not in {None, "none", "tanh"}:
        raise ShapeError(f"`approximate` is 'none' or 'tanh', got {approximate!r}")
    return approximate == "tanh"


_FLAT = 32.0
"""Beyond it, the slope of gelu is 0 or 1 in float32."""


def gelu_slope(f: Formula, x: Term, approximate: str | None) -> Term:
    """The derivative of gelu."""
    x = f.clamp(x, -_FLAT, _FLAT)
    if is_tanh(approximate):
        steep = x * (math.sqrt(8.0 / math.pi) * (1.0 + 3 * 0.044715 * (x * x)))
        return _share(f, x) * (1.0 + steep * _share(f, -x))
    density = f.exp(-0.5 * (x * x)) * (1.0 / math.sqrt(2.0 * math.pi))
    return 0.5 * f.erfc(x * (-1.0 / math.sqrt(2.0))) + x * density


def _share(f: Formula, x: Term) -> Term:
    """What gelu by tanh multiplies x by, with the digits that it has in its left tail."""
    return f.where(f.eq(x, 0.0), 0.5, f.gelu(x, approximate="tanh") / x)


def by_autograd(forward: Callable[..., Any], inputs: int) -> Callable[..., list[Any]]:
    """The golden of a gradient: what torch's autograd makes of ``forward(torch, *inputs, *attributes)``."""

    def golden(torch: Any, grad: Any, *arguments: Any) -> list[Any]:
        leaves = [each.detach().clone().requires_grad_() for each in arguments[:inputs]]
        with torch.enable_grad():
            result = forward(torch, *leaves, *arguments[inputs:])
        if not result.requires_grad:
            return [torch.zeros_like(each) for each in leaves]
        found = torch.autograd.grad(result, leaves, grad.expand_as(result), allow_unused=True)
        return [torch.zeros_like(leaf) if each is None else each for leaf, each in zip(leaves, found, strict=True)]

    return golden


def gradient(
    name: str,
    summary: str,
    forward: Callable[..., Any],
    formula: Callable[..., Term | Sequence[Term]],
    *attributes: Parameter,
    inputs: Sequence[Parameter] = (INPUT,),
    values: tuple[Any, ...] = (),
    shapes: tuple[tuple[tuple[int, ...], ...], ...] = (),
    **tested: Any,
) -> Shorthand:
    """The declaration of ``ttnn.<name>_bw``.

    Args:
        name: Of the operation.
        summary: What it computes, behind "The gradient of".
        forward: It in torch.
        formula: ``formula(f, gradient, *inputs, *attributes)``: the gradient of its input, or of each of several.
        attributes: Its compile-time values.
        inputs: Its tensors.
        values: What its attributes are tested with; their defaults, if none are given.
        shapes: Shapes that it is tested with, that of the result's gradient first; if none are given, equal ones, and
            some of inputs that are broadcast.
        tested: What `Probe` says of the derivatives in float32. The domain is -3 to 3 if none is given; bounds hold at
            all numbers that bfloat16 has, and derivatives overflow where the exact ones do.
    """

    def calls(call: Call, grad: Value, *arguments: Any) -> list[Value]:
        f, tensors = Formula(call), arguments[: len(inputs)]
        terms = [f.in_float32(each) for each in tensors]
        found = formula(f, f.in_float32(grad), *terms, *arguments[len(inputs) :])
        listed = [found] if isinstance(found, Term) else found
        return [
            f.rounded(f.summed_to(each, tensor.shape), tensor.spec.dtype)
            for each, tensor in zip(listed, tensors, strict=True)
        ]

    statics = values or tuple(each.default for each in attributes if each.kind is not CHOICE)
    broadcast = ((2, 3, 40), (2, 3, 40), *((1, 40),) * (len(inputs) - 1))
    tried = shapes or (((3, 40),) * (1 + len(inputs)), *([broadcast] if len(inputs) > 1 else []))
    examples: tuple[Example, ...] = tuple((each, statics) for each in tried)
    return Shorthand(
        name=f"{name}_bw",
        parameters=(GRADIENT, *inputs, *attributes),
        summary=f"The gradient of {summary}, in a list.",
        source=f"ttnn.{name}_bw",
        calls=calls,
        collected_in=list,
        takes_dtypes=FLOATS,
        golden=by_autograd(forward, len(inputs)),
        probe=Probe(**{"domain": (-3.0, 3.0), "max_ulp_bf16": ROUNDED_TWICE, **tested}),
        examples=examples,
    )
