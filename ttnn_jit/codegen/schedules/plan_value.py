"""The values of a plan: the tensors that launches read and write."""

from __future__ import annotations

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True, eq=False)
class PlanValue:
    """A tensor: an argument, or the result of launches. Values compare by identity.

    Attributes:
        spec: Shape, element type and layout.
    """

    spec: TensorSpec
