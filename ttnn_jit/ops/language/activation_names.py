"""The names that ttnn has for activations, and the operations that they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_jit.specs.configs.unary_op_type import UnaryOpType, UnaryWithParam

NAMES_OF_TYPES = {
    "RECIP": "reciprocal", "POWER": "pow", "LOGSIGMOID": "log_sigmoid", "CLAMP_TSS": "clamp",
    "ADD_UNARY_SFPU": "add", "SUB_UNARY_SFPU": "subtract", "MUL_UNARY_SFPU": "multiply", "DIV_UNARY_SFPU": "divide",
    "UNARY_NE": "ne", "UNARY_EQ": "eq", "UNARY_GT": "gt", "UNARY_LT": "lt", "UNARY_GE": "ge", "UNARY_LE": "le",
    "LOGICAL_NOT_UNARY": "logical_not", "PRELU_SFPU": "prelu",
}  # fmt: skip
"""Type of ttnn -> the operation's name in the IR, where that is not the type's in small letters."""

_CHOOSES_A_KERNEL = frozenset(
    {"EXP", "GELU", "GELU_TANH", "RSQRT", "SQRT", "SIGMOID", "ERF", "ERFC", "TANH", "LOG", "SILU"}
)
"""Types whose numbers choose how exactly a chip computes, and say nothing of what."""

_OF_KERNELS = {"gelu_approx": "gelu", "sigmoid_approx": "sigmoid", "recip": "reciprocal"}
"""Further names of ttnn's, some for how exactly a chip computes -> the operation."""


def function_named(name: str) -> str:
    """The function that ttnn's activation `name` computes."""
    return _OF_KERNELS.get(name, name)


def function_of_type(activation: UnaryWithParam) -> tuple[str, tuple[float, ...]]:
    """The function of a type, by its name in the IR, and the numbers behind its tensor."""
    kind = activation.op_type.name
    return NAMES_OF_TYPES.get(kind, kind.lower()), () if kind in _CHOOSES_A_KERNEL else activation.params


def activation_text(activation: str | UnaryOpType | UnaryWithParam) -> str:
    """An activation as a property of the IR has it: the call of a function, with numbers behind the tensor if any."""
    from ttnn_jit.specs.configs.unary_op_type import UnaryOpType, UnaryWithParam

    if isinstance(activation, str):
        return function_named(activation)
    name, numbers = function_of_type(UnaryWithParam(activation) if isinstance(activation, UnaryOpType) else activation)
    return f"{name}({', '.join(map(repr, numbers))})" if numbers else name
