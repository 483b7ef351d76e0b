"""What codegen keeps while it reads a scheduled module: behind it no step knows the module's values."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ttnn_jit.codegen.reading.reader_values import Reading
from ttnn_jit.codegen.schedules.bound_kernel import Operand
from ttnn_jit.codegen.schedules.launch import View
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.dialects.d2m import GenericOp, MaskOp, ViewLayoutOp
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.target import Numerics


class ModuleReader:
    """The reading of one module.

    Args:
        numerics: Of its target.

    Attributes:
        numerics: As given.
        readings: What was read in kernels before.
    """

    def __init__(self, numerics: Numerics) -> None:
        self.numerics = numerics
        self.readings: dict[GenericOp, Reading] = {}
        self._values: dict[SSAValue, PlanValue] = {}

    def value(self, value: SSAValue) -> PlanValue:
        """The tensor that a value of the module is."""
        if value not in self._values:
            self._values[value] = PlanValue(spec_of(value.type))
        return self._values[value]

    def operand(self, value: SSAValue) -> Operand:
        """The tensor behind the views that `value` is of, and all of them as one; loops meet no padding, nor masks."""
        access: Access | None = None
        while isinstance(owner := value.owner, ViewLayoutOp | MaskOp):
            if isinstance(owner, ViewLayoutOp):
                access = owner.access if access is None else access.compose(owner.access)
            value = owner.input
        tensor = self.value(value)
        return Operand(tensor, View(tensor.spec, access))
