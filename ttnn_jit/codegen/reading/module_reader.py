"""The state of reading a scheduled module; later steps do not see the module's values."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ttnn_jit.codegen.reading.reader_values import Reading
from ttnn_jit.codegen.schedules.bound_kernel import Operand
from ttnn_jit.codegen.schedules.launch import View
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.dialects.d2m import GenericOp, MaskOp, ViewLayoutOp
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.meshes.mesh_devices import ONE_DEVICE, MeshDevices
from ttnn_jit.specs.target import Numerics


class ModuleReader:
    """The reading of one module.

    Attributes:
        numerics: The numerics of the module's target.
        devices: The devices that run the program; those of a mesh of one if the module states none.
        readings: The kernels read so far.
        program: The hash of the program that ranks agree on; None before it is known.
        collectives: The number of collectives read so far.
    """

    def __init__(self, numerics: Numerics, devices: MeshDevices | None = None) -> None:
        self.numerics = numerics
        self.devices = devices or ONE_DEVICE
        self.readings: dict[GenericOp, Reading] = {}
        self.program: str | None = None
        self.collectives = 0
        self._values: dict[SSAValue, PlanValue] = {}

    def value(self, value: SSAValue) -> PlanValue:
        """The plan value of a value of the module."""
        if value not in self._values:
            self._values[value] = PlanValue(spec_of(value.type))
        return self._values[value]

    def operand(self, value: SSAValue) -> Operand:
        """The tensor behind a chain of views, with the views composed; loops visit neither padding nor masks."""
        access: Access | None = None
        while isinstance(owner := value.owner, ViewLayoutOp | MaskOp):
            if isinstance(owner, ViewLayoutOp):
                access = owner.access if access is None else access.compose(owner.access)
            value = owner.input
        tensor = self.value(value)
        return Operand(tensor, View(tensor.spec, access))
