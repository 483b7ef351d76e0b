"""The tensors of a program as codegen knows them: what launches read and write."""

from __future__ import annotations

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True, eq=False)
class PlanValue:
    """A tensor: an argument, or what launches write. Two are one only if they are one object.

    Attributes:
        spec: Its shape, element type and layout.
    """

    spec: TensorSpec
