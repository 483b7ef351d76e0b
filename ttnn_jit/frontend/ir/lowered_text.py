"""What a lowered function of a text is: its module, and where each input of the program comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.ir import SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.text_attributes import symbol_of
from ttnn_jit.ops.families.text_operation import DenseNumbers
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class Argument:
    """An argument of the function."""

    index: int


@dataclass(frozen=True)
class Constant:
    """A tensor of the text."""

    numbers: DenseNumbers


@dataclass(frozen=True)
class KeptResult:
    """A result of a function that runs once.

    Attributes:
        callee: Its name.
        operands: Its arguments: inputs of the function that calls it.
        index: Which result.
    """

    callee: str
    operands: tuple[Source, ...]
    index: int


@dataclass(frozen=True)
class PartResult:
    """A result of an earlier part of the program.

    Attributes:
        part: Which part.
        index: Which result.
    """

    part: int
    index: int


@dataclass(frozen=True)
class HostResult:
    """A result of a function of the host's module, which runs between two parts of the program.

    Attributes:
        call: The call of the function.
        operands: Its arguments: inputs of the program, and results of earlier parts and of such functions.
        index: Which result.
    """

    call: CallOp
    operands: tuple[Source, ...]
    index: int


Source: TypeAlias = Argument | Constant | KeptResult | PartResult | HostResult
"""What an input of a program is."""


@dataclass(frozen=True)
class LoweredText:
    """A function of a text as a module of this package.

    Attributes:
        module: The module, of one function.
        inputs: Its inputs: the function's arguments, then others.
        specs: The spec of each input.
        results: The spec of each result.
        names: The text's name of a value; of others, the text has a number.
        parts: What runs before `module`, in order: the ops that compute the operands of functions of the host's module.
    """

    module: ModuleOp
    inputs: tuple[Source, ...]
    specs: tuple[TensorSpec, ...]
    results: tuple[TensorSpec, ...]
    names: Mapping[SSAValue, str]
    parts: tuple[LoweredText, ...] = ()

    @property
    def arguments(self) -> tuple[TensorSpec, ...]:
        """The specs of the function's arguments."""
        first = self.parts[0] if self.parts else self
        pairs = zip(first.inputs, first.specs, strict=True)
        return tuple(spec for source, spec in pairs if isinstance(source, Argument))

    def require_no_host_calls(self, what: str) -> None:
        """Refuse a program that calls functions of the host's module.

        Args:
            what: What such a program has none of.

        Raises:
            CompileError: It calls one.
        """
        sources = [each for part in (*self.parts, self) for each in part.inputs]
        call = next((each.call for each in sources if isinstance(each, HostResult)), None)
        if call is not None:
            raise CompileError(
                f"@{symbol_of(call.callee)} of the host's module is native code, which has no {what}",
                location=location_of(call),
            )
