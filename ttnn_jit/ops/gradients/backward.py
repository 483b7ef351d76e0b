"""The declaration of a gradient: a formula from the gradient of an operation's result to those of its inputs.

The formula is computed in float32, and its result is rounded once. Gradients are macro operations: a program contains
the operations of the formula. They are imported at the first use of a name of ttnn's that ends with ``_bw``.
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


def _unbroadcast(ops: Ops, found: Value, like: Value) -> Value:
    """The adjoint of a broadcast: `found` summed to the shape of `like`."""
    if found.shape == like.shape:
        return found
    own = (1,) * (len(found.shape) - len(like.shape)) + like.shape
    axes = tuple(axis for axis, extent in enumerate(own) if extent == 1 != found.shape[axis])
    return ops.reshape(ops.sum(found, axes, True) if axes else found, like.shape)


def is_tanh(approximate: str | None) -> bool:
    """Whether `approximate` selects gelu by `tanh`.

    Raises:
        ShapeError: It is neither 'none' nor 'tanh'.
    """
    if approximate not in {None, "none", "tanh"}:
        raise ShapeError(f"`approximate` is 'none' or 'tanh', got {approximate!r}")
    return approximate == "tanh"


_SATURATED = 32.0
"""Inputs beyond this magnitude, where the slope of gelu is 0 or 1 in float32, are clamped."""


def gelu_slope(f: Ops, x: Value, approximate: str | None) -> Value:
    """The derivative of gelu."""
    x = f.clamp(x, -_SATURATED, _SATURATED)
    if is_tanh(approximate):
        steep = x * (math.sqrt(8.0 / math.pi) * (1.0 + 3 * 0.044715 * (x * x)))
        return _gelu_tanh_factor(f, x) * (1.0 + steep * _gelu_tanh_factor(f, -x))
    density = f.exp(-0.5 * (x * x)) * (1.0 / math.sqrt(2.0 * math.pi))
    return 0.5 * f.erfc(x * (-1.0 / math.sqrt(2.0))) + x * density


def _gelu_tanh_factor(f: Ops, x: Value) -> Value:
    """The factor gelu(x) / x of gelu by `tanh`, accurate in its left tail."""
    return f.where(f.eq(x, 0.0), 0.5, f.gelu(x, approximate="tanh") / x)


def autograd_golden(forward: Callable[..., Any], inputs: int) -> Callable[..., list[Any]]:
    """The golden of a gradient: torch's autograd of ``forward(torch, *inputs, *attributes)``."""

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
    **probe_fields: Any,
) -> MacroOperation:
    """The declaration of ``ttnn.<name>_bw``.

    Args:
        name: The name of the operation.
        summary: What the operation is; it completes "The gradient of".
        forward: The operation in torch.
        formula: ``formula(f, gradient, *inputs, *attributes)``: the gradient of the input, or of each input.
        attributes: The compile-time attributes.
        inputs: The tensors.
        values: The attributes of the tests; by default the defaults.
        shapes: The shapes of the tests, the shape of the result's gradient first; by default equal shapes, and with
            several inputs also shapes that broadcast.
        probe_fields: Fields of the `Probe` of the derivatives in float32. The domain is -3 to 3 by default. Bounds
            hold at all numbers of bfloat16; derivatives overflow where the exact ones do.
    """

    def decompose(ops: Ops, *arguments: Any) -> Iterator[Value]:
        found = formula(ops, *arguments)
        listed = [found] if isinstance(found, Value) else found
        return (_unbroadcast(ops, *each) for each in zip(listed, arguments[1 : 1 + len(inputs)], strict=True))

    statics = values or tuple(each.default for each in attributes if each.kind is not CHOICE)
    broadcast = ((2, 3, 40), (2, 3, 40), *((1, 40),) * (len(inputs) - 1))
    example_shapes = shapes or (((3, 40),) * (1 + len(inputs)), *([broadcast] if len(inputs) > 1 else []))
    examples: tuple[Example, ...] = tuple((each, statics) for each in example_shapes)
    return MacroOperation(
        name=f"{name}_bw",
        parameters=(GRADIENT, *inputs, *attributes, *GRADIENT_PARAMETERS),
        summary=f"The gradient of {summary}, in a list.",
        decompose=decompose,
        result_container=list,
        in_float32=True,
        dtype_operand=1,
        takes_dtypes=FLOATS,
        golden=autograd_golden(forward, len(inputs)),
        probe=Probe(**{"domain": (-3.0, 3.0), "max_ulp_bf16": ROUNDED_TWICE, **probe_fields}),
        examples=examples,
    )
