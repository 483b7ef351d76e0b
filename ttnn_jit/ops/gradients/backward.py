"""Gradients: an operation's inputs' from its result's, by a formula over other operations, in float32 and rounded once.

They are macro operations, so that a program has the operations of the formula. None of them is loaded before a name of
ttnn's that ends with ``_bw`` is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.elementwise.unary import ROUNDED_TWICE
from ttnn_jit.ops.families.decomposition import MacroOperation, Ops, Value
from ttnn_jit.ops.language.operation import Example, Probe
from ttnn_jit.ops.language.parameter import CHOICE, NAME, TENSOR, Parameter
from ttnn_jit.ops.result_options import GRADIENT_PARAMETERS
from ttnn_jit.specs.dtypes import FLOATS

GRADIENT = Parameter("grad_tensor", TENSOR, aliases=("grad",))
INPUT = Parameter("input_tensor", TENSOR, aliases=("input_tensor_a", "input", "input_a"))
APPROXIMATE = Parameter("approximate", NAME, "none", aliases=("variant",))
OTHER = Parameter("other_tensor", TENSOR, aliases=("input_tensor_b", "other", "input_b"))


def _summed_to(ops: Ops, found: Value, like: Value) -> Value:
    """The gradient of a tensor that was broadcast: the sums of those of its repetitions."""
    if found.shape == like.shape:
        return found
    own = (1,) * (len(found.shape) - len(like.shape)) + like.shape
    axes = tuple(axis for axis, extent in enumerate(own) if extent == 1 != found.shape[axis])
    return ops.reshape(ops.sum(found, axes, True) if axes else found, like.shape)


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


def gelu_slope(f: Ops, x: Value, approximate: str | None) -> Value:
    """The derivative of gelu."""
    x = f.clamp(x, -_FLAT, _FLAT)
    if is_tanh(approximate):
        steep = x * (math.sqrt(8.0 / math.pi) * (1.0 + 3 * 0.044715 * (x * x)))
        return _share(f, x) * (1.0 + steep * _share(f, -x))
    density = f.exp(-0.5 * (x * x)) * (1.0 / math.sqrt(2.0 * math.pi))
    return 0.5 * f.erfc(x * (-1.0 / math.sqrt(2.0))) + x * density


def _share(f: Ops, x: Value) -> Value:
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
    formula: Callable[..., Value | Sequence[Value]],
    *attributes: Parameter,
    inputs: Sequence[Parameter] = (INPUT,),
    values: tuple[Any, ...] = (),
    shapes: tuple[tuple[tuple[int, ...], ...], ...] = (),
    **tested: Any,
) -> MacroOperation:
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

    def decompose(ops: Ops, *arguments: Any) -> Iterator[Value]:
        found = formula(ops, *arguments)
        listed = [found] if isinstance(found, Value) else found
        return (_summed_to(ops, *each) for each in zip(listed, arguments[1 : 1 + len(inputs)], strict=True))

    statics = values or tuple(each.default for each in attributes if each.kind is not CHOICE)
    broadcast = ((2, 3, 40), (2, 3, 40), *((1, 40),) * (len(inputs) - 1))
    tried = shapes or (((3, 40),) * (1 + len(inputs)), *([broadcast] if len(inputs) > 1 else []))
    examples: tuple[Example, ...] = tuple((each, statics) for each in tried)
    return MacroOperation(
        name=f"{name}_bw",
        parameters=(GRADIENT, *inputs, *attributes, *GRADIENT_PARAMETERS),
        summary=f"The gradient of {summary}, in a list.",
        decompose=decompose,
        result_container=list,
        in_float32=True,
        dtype_operand=1,
        takes_dtypes=FLOATS,
        golden=by_autograd(forward, len(inputs)),
        probe=Probe(**{"domain": (-3.0, 3.0), "max_ulp_bf16": ROUNDED_TWICE, **tested}),
        examples=examples,
    )
