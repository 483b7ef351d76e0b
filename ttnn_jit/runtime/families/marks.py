"""What a guard knows of a tensor that a compiled function finds in the user's world: a hidden input."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.guards.tensor_mark import TensorMark
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.families.family import Family
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class FamilyMark(TensorMark):
    """Metadata of a tensor; the text names them the same way in every process.

    Attributes:
        title: Of its family.
        spec: Its spec.
    """

    title: str
    spec: TensorSpec
    family: Family = field(repr=False, compare=False)

    def holds(self, value: Any) -> bool:
        """Whether it is of that family and spec."""
        if not self.family.holds(value):
            return False
        try:
            return self.family.spec_of(value) is self.spec
        except TtnnJitError:
            return False
