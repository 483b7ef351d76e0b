"""The arguments that a function is lowered for."""

from __future__ import annotations

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class TensorArgument:
    """A tensor among the arguments: its metadata stands for it. Everything else is passed as itself."""

    spec: TensorSpec
