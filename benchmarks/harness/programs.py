"""The programs that benchmarks run, each over a namespace of operations: torch's or ttnn's."""

from __future__ import annotations

import linecache
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


def torch_operations() -> types.ModuleType:
    """The operations of torch under the names in the programs."""
    import torch

    functional = torch.nn.functional
    return _module(
        "torch_operations",
        {name: getattr(torch, name) for name in (*SHARED_NAMES, "mul", "sub")}
        | {"silu": functional.silu, "gelu": functional.gelu},
    )


def ttnn_operations() -> types.ModuleType:
    """The operations of ttnn under the names in the programs."""
    from ttnn_jit import ttnn

    return _module(
        "ttnn_operations",
        {name: getattr(ttnn, name) for name in (*SHARED_NAMES, "silu", "gelu")}
        | {"mul": ttnn.multiply, "sub": ttnn.subtract},
    )


SHARED_NAMES = ("exp", "neg", "add", "tanh", "sigmoid", "abs", "sin", "reciprocal", "log", "clamp", "softmax")


def _module(name: str, functions: Mapping[str, Any]) -> types.ModuleType:
    # A module has a stable identity across processes, its name, so that programs are stored on disk.
    module = types.ModuleType(name)
    vars(module).update(functions)
    return module


@dataclass(frozen=True)
class Workload:
    """A program and its number of tensors; `function` takes these and then the operations.

    Attributes:
        above_one: Whether its arguments must be above 1.
    """

    function: Callable[..., Any]
    inputs: int
    above_one: bool = False

    def over(self, ops: Any) -> Callable[..., Any]:
        """The function with the tensors as its only parameters, for a compiler."""
        names = ", ".join(f"a{i}" for i in range(self.inputs))
        name = self.function.__name__
        text = f"def {name}({names}):\n    return function({names}, ops)\n"
        file = f"<benchmark {name} of {self.inputs}>"
        # Compilers read the source from linecache; a time of None marks a source without a file.
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        scope = {"function": self.function, "ops": ops}
        exec(compile(text, file, "exec"), scope)
        compiled: Callable[..., Any] = scope[name]
        return compiled


def copy(x: Any, ops: Any) -> Any:
    """The bytes of a copy with minimal arithmetic."""
    return ops.abs(x)


def cosh(x: Any, ops: Any) -> Any:
    """The document's cosh."""
    return ops.mul(ops.add(ops.exp(x), ops.exp(ops.neg(x))), 0.5)


def unary_chain(x: Any, ops: Any) -> Any:
    """abs, sin, neg, exp."""
    return ops.exp(ops.neg(ops.sin(ops.abs(x))))


def add_mul_exp_sigmoid(a: Any, b: Any, ops: Any) -> Any:
    """Two inputs, two transcendentals."""
    return ops.sigmoid(ops.exp(ops.mul(ops.add(a, b), 0.25)))


def add_tree_8(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, ops: Any) -> Any:  # noqa: PLR0913, PLR0917
    """Eight inputs, pure memory."""
    left = ops.add(ops.add(a, b), ops.add(c, d))
    return ops.add(left, ops.add(ops.add(e, f), ops.add(g, h)))


def tree30(x: Any, y: Any, ops: Any) -> Any:
    """Thirty ops, twelve of them transcendental."""
    value = x
    for _ in range(4):
        left = ops.tanh(ops.mul(value, 0.5))
        right = ops.sigmoid(ops.add(value, y))
        value = ops.exp(ops.neg(ops.add(ops.mul(left, right), 0.25)))
    return ops.add(ops.mul(value, 2.0), y)


def gate_up(gate: Any, up: Any, ops: Any) -> Any:
    """GPT-OSS's activation: a clamped gate times its sigmoid, times the clamped other half plus one."""
    gate = ops.clamp(gate, max=7.0)
    up = ops.clamp(up, min=-7.0, max=7.0)
    return ops.mul(ops.add(up, 1.0), ops.mul(gate, ops.sigmoid(ops.mul(gate, 1.702))))


def digamma(x: Any, ops: Any) -> Any:
    """The asymptotic series, for x > 1: log x - 1/2x - 1/12x^2 + 1/120x^4 - 1/252x^6."""
    inverse = ops.reciprocal(x)
    square = ops.mul(inverse, inverse)
    series = ops.add(ops.mul(square, -1 / 252), 1 / 120)
    series = ops.sub(ops.mul(series, square), 1 / 12)
    return ops.add(ops.sub(ops.log(x), ops.mul(inverse, 0.5)), ops.mul(series, square))


def add_ladder_31(*operands: Any) -> Any:
    """Thirty-one inputs, one after the other."""
    *tensors, ops = operands
    total = tensors[0]
    for tensor in tensors[1:]:
        total = ops.add(total, tensor)
    return total


def swiglu(gate: Any, up: Any, ops: Any) -> Any:
    """Silu of one input times the other."""
    return ops.mul(ops.silu(gate), up)


def gelu_chain(x: Any, ops: Any) -> Any:
    """Four times gelu, scaled and shifted."""
    for _ in range(4):
        x = ops.add(ops.mul(ops.gelu(x), 1.5), 0.25)
    return x


COPY = Workload(copy, 1)
ELEMENTWISE = {
    "cosh": Workload(cosh, 1),
    "unary chain": Workload(unary_chain, 1),
    "add-mul-exp-sigmoid": Workload(add_mul_exp_sigmoid, 2),
    "add tree of 8": Workload(add_tree_8, 8),
}
NAMED = {
    "gate-up activation": Workload(gate_up, 2),
    "digamma series": Workload(digamma, 1, above_one=True),
    "add ladder of 31": Workload(add_ladder_31, 31),
    "swiglu": Workload(swiglu, 2),
    "gelu chain": Workload(gelu_chain, 1),
}
