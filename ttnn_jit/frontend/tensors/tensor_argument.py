"""The arguments that a function is lowered for."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class TensorArgument:
    """A tensor among the arguments: its metadata stands for it. Everything else is passed as itself.

    Attributes:
        spec: Its metadata.
        memory: What tells tensors apart that lie in the same memory from others; None: it is one of its own.
        tensor: The object itself, for functions that ask which tensors are one; None: nobody else has it.
    """

    spec: TensorSpec
    memory: int | None = None
    tensor: Any = field(default=None, repr=False, compare=False)
