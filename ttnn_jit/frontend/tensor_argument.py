"""The arguments that a function is lowered for."""

from __future__ import annotations

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class TensorArgument:
    """A tensor among the arguments: its metadata stands for it. Everything else is passed as itself.

    Attributes:
        spec: Its metadata.
        tensor: What tells tensors apart that lie in the same memory from others; None: it is one of its own.
    """

    spec: TensorSpec
    tensor: int | None = None
