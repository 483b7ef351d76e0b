"""What a lowered function of a text is: its module, and where each input of the program comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

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


Source: TypeAlias = Argument | Constant | KeptResult
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
    """

    module: ModuleOp
    inputs: tuple[Source, ...]
    specs: tuple[TensorSpec, ...]
    results: tuple[TensorSpec, ...]
    names: Mapping[SSAValue, str]
