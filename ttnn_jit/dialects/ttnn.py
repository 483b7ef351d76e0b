"""The ttnn dialect: the ops on tensors that the frontends build, with the syntax of the ttnn.jit document."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import LocationAttr, SymbolRefAttr, TensorType, UnitAttr
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.dialects.builders import number_attr
from ttnn_jit.dialects.deallocation import DeallocateOp
from ttnn_jit.dialects.declared_ops import TensorOp
from ttnn_jit.dialects.derive import derive_opaque, derive_tensor_ops
from ttnn_jit.dialects.ttcore import DataTypeAttr, data_type_attr
from ttnn_jit.dialects.ttnn_attributes import (
    BufferTypeAttr,
    CoreRangeAttr,
    DeviceType,
    LayoutAttr,
    MeshOffsetAttr,
    MeshShapeAttr,
    ProgramAttr,
    ShapeAttr,
    TTNNLayoutAttr,
    layout_attr,
    shape_attr,
)
from ttnn_jit.dialects.writing.creation import QuickOperation
from ttnn_jit.dialects.writing.direct_access import op_definition
from ttnn_jit.dialects.writing.filling import FillingOp
from ttnn_jit.specs.tensor_spec import TensorSpec

__all__ = [
    "DEVICE",
    "HOIST",
    "HOISTED",
    "OP_OF",
    "TTNN",
    "DeallocateOp",
    "DeviceType",
    "FullOp",
    "GenericOp",
    "GetDeviceOp",
    "ProgramAttr",
    "TensorOp",
]

HOIST = "ttnn.hoist_generic_via_d2m"
"""The unit attribute of a compute op that D2M may fuse (ttnn.jit document, step 1)."""

HOISTED: dict[str, Attribute] = {HOIST: UnitAttr()}
"""The attribute dictionary that holds `HOIST` alone, to build ops with."""

DEVICE = DeviceType()
_GET_DEVICE_PROPERTIES: dict[str, Attribute] = {
    "mesh_offset": MeshOffsetAttr((0, 0)),
    "mesh_shape": MeshShapeAttr((1, 1)),
}
"""A program runs on one device: a call on a mesh is a call on each of its devices."""


@op_definition
class GetDeviceOp(QuickOperation, IRDLOperation):
    """``"ttnn.get_device"()``: the device that created tensors live on."""

    name = "ttnn.get_device"

    mesh_offset = prop_def(MeshOffsetAttr)
    mesh_shape = prop_def(MeshShapeAttr)
    device = result_def(DeviceType)
    traits = traits_def(Pure())

    @staticmethod
    def make(location: LocationAttr | None = None) -> GetDeviceOp:
        """The device of a 1x1 mesh."""
        return GetDeviceOp.create(result_types=(DEVICE,), properties=_GET_DEVICE_PROPERTIES, location=location)

    def verify_(self) -> None:
        """Refuses any device but that of a 1x1 mesh at 0x0."""
        if self.properties != _GET_DEVICE_PROPERTIES:
            shape, offset = ("x".join(map(str, attribute.data)) for attribute in (self.mesh_shape, self.mesh_offset))
            raise VerifyException(f"{self.name} gives the device of a 1x1 mesh at 0x0, got one of {shape} at {offset}")


@op_definition
class FullOp(FillingOp):
    """``"ttnn.full"(%device)``: a tensor filled with one number."""

    name = "ttnn.full"

    device = operand_def(DeviceType)
    dtype = prop_def(DataTypeAttr)
    layout = prop_def(LayoutAttr)
    shape = prop_def(ShapeAttr)

    @staticmethod
    def make(
        device: SSAValue, value: float, spec: TensorSpec, result_type: Attribute, location: LocationAttr | None = None
    ) -> FullOp:
        """A tensor of `spec`, whose type is `result_type`, filled with `value`."""
        return FullOp.create(
            operands=(device,),
            result_types=(result_type,),
            properties={
                "dtype": data_type_attr(spec.dtype),
                "fill_value": number_attr(value),
                "layout": layout_attr(spec.layout),
                "shape": shape_attr(*spec.shape),
            },
            location=location,
        )


@op_definition
class GenericOp(QuickOperation, IRDLOperation):
    """``"ttnn.generic"(%inputs..., %output) <{program = ...}>``: one kernel launch."""

    name = "ttnn.generic"

    io_tensors = var_operand_def(TensorType)
    program = prop_def(ProgramAttr)
    outputs = var_result_def(TensorType)

    @staticmethod
    def make(
        io_tensors: Sequence[SSAValue],
        program: ProgramAttr,
        result_types: Sequence[Attribute] = (),
        location: LocationAttr | None = None,
    ) -> GenericOp:
        """A launch of `program` on `io_tensors`, inputs first."""
        return GenericOp.create(
            operands=io_tensors, result_types=result_types, properties={"program": program}, location=location
        )

    @property
    def kernel(self) -> str:
        """The symbol of the launched function."""
        symbol = self.program.fields.data.get("kernel")
        if not isinstance(symbol, SymbolRefAttr):
            raise VerifyException(f"the program of {self.name} names its kernel, `kernel = @name`, got {symbol}")
        return symbol.root_reference.data

    def verify_(self) -> None:
        """Refuses a program without a kernel, and result types that are not those of the last tensors."""
        _ = self.kernel
        if self.results and [*self.result_types] != [value.type for value in self.operands[-len(self.results) :]]:
            raise VerifyException(f"the results of {self.name} have the types of its last tensors")


OP_OF = derive_tensor_ops("ttnn", "ttnn_name")
"""Declared operation -> its op class in this dialect."""

TTNN = Dialect(
    "ttnn",
    [GetDeviceOp, FullOp, GenericOp, DeallocateOp, *OP_OF.classes(), *derive_opaque("ttnn")],
    [
        BufferTypeAttr,
        CoreRangeAttr,
        DeviceType,
        LayoutAttr,
        MeshOffsetAttr,
        MeshShapeAttr,
        ProgramAttr,
        ShapeAttr,
        TTNNLayoutAttr,
    ],
)
