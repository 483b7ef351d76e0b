"""ttnn's names of activations, and their operations."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from ttnn_jit.process.memoized import KEYS
from ttnn_jit.specs.extents.extent import is_of_trace
from ttnn_jit.specs.extents.float_functions import double_bits

if TYPE_CHECKING:
    from ttnn_jit.specs.configs.unary_op_type import UnaryOpType, UnaryWithParam

NAMES_OF_TYPES = {
    "RECIP": "reciprocal", "POWER": "pow", "LOGSIGMOID": "log_sigmoid", "CLAMP_TSS": "clamp",
    "ADD_UNARY_SFPU": "add", "SUB_UNARY_SFPU": "subtract", "MUL_UNARY_SFPU": "multiply", "DIV_UNARY_SFPU": "divide",
    "UNARY_NE": "ne", "UNARY_EQ": "eq", "UNARY_GT": "gt", "UNARY_LT": "lt", "UNARY_GE": "ge", "UNARY_LE": "le",
    "LOGICAL_NOT_UNARY": "logical_not", "PRELU_SFPU": "prelu",
}  # fmt: skip
"""Name of a `UnaryOpType` -> the operation's name in the IR, where that is not the lower-case name of the type."""

_TYPES_OF_KERNEL_VARIANTS = frozenset(
    {"EXP", "GELU", "GELU_TANH", "RSQRT", "SQRT", "SIGMOID", "ERF", "ERFC", "TANH", "LOG", "SILU"}
)
"""Types whose parameters choose the accuracy of a chip's kernel, and not the function."""

_KERNEL_ALIASES = {"gelu_approx": "gelu", "sigmoid_approx": "sigmoid", "recip": "reciprocal"}
"""Further name in ttnn, some of approximate kernels -> the operation."""


def function_named(name: str) -> str:
    """The name of the function of ttnn's activation `name`."""
    return _KERNEL_ALIASES.get(name, name)


def function_of_type(activation: UnaryWithParam) -> tuple[str, tuple[float, ...]]:
    """The IR's name of an activation's function, and the function's arguments after the tensor."""
    kind = activation.op_type.name
    return NAMES_OF_TYPES.get(kind, kind.lower()), () if kind in _TYPES_OF_KERNEL_VARIANTS else activation.params


class ActivationText(str):
    """The text of an activation with numbers, which may be numbers of a trace; the text then has their hints.

    Attributes:
        function: The IR's name of the function.
        numbers: Its arguments after the tensor.
    """

    __slots__ = ("function", "numbers")
    function: str
    numbers: tuple[float, ...]

    @classmethod
    def of(cls, function: str, numbers: tuple[float, ...]) -> ActivationText:
        """The text of a function with these numbers."""
        shown = ", ".join(repr(getattr(each, "hint", each)) for each in numbers)
        text = cls(f"{function}({shown})")
        text.function, text.numbers = function, numbers
        return text

    @property
    def _expressions(self) -> tuple[Hashable, ...]:
        """The numbers by their expressions or bits."""
        return self.function, *(_expression(each) for each in self.numbers)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ActivationText):
            return self._expressions == other._expressions
        return not any(map(is_of_trace, self.numbers)) and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        if any(map(is_of_trace, self.numbers)):
            KEYS.have_extents = True
        return str.__hash__(self)

    def __reduce__(self) -> Any:
        return ActivationText.of, (self.function, self.numbers)


def _expression(number: Any) -> Hashable:
    return ("number of a trace", number.atom) if is_of_trace(number) else double_bits(number)


def activation_value(text: str | None) -> UnaryWithParam | None:
    """The activation that a text in a property of the IR names; None of None."""
    from ttnn_jit.specs.configs.unary_op_type import UnaryOpType, UnaryWithParam

    if text is None:
        return None
    name, bracket, rest = text.partition("(")
    numbers = [float(each) for each in rest.removesuffix(")").split(",")] if bracket else []
    kinds = {function: kind for kind, function in NAMES_OF_TYPES.items()}
    return UnaryWithParam(UnaryOpType[kinds.get(name, name.upper())], *numbers)


def activation_text(activation: str | UnaryOpType | UnaryWithParam) -> str:
    """The text of an activation in a property of the IR: a function with its arguments after the tensor, if any."""
    from ttnn_jit.specs.configs.unary_op_type import UnaryOpType, UnaryWithParam

    if isinstance(activation, str):
        return function_named(activation)
    name, numbers = function_of_type(UnaryWithParam(activation) if isinstance(activation, UnaryOpType) else activation)
    return ActivationText.of(name, numbers) if numbers else name
