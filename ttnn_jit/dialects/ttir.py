"""The ttir dialect: ops on tensors, independent of devices."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, LocationAttr, TensorType, i32
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import prop_def, result_def, traits_def
from xdsl.traits import Pure

from ttnn_jit.dialects.builders import number_attr
from ttnn_jit.dialects.declared_ops import ContractionOp, MovementOp, ReductionOp, TensorElementwiseOp, TensorOp
from ttnn_jit.dialects.derive import derive_opaque, derive_tensor_ops
from ttnn_jit.dialects.symbolic import number_array
from ttnn_jit.dialects.writing.direct_access import op_definition
from ttnn_jit.dialects.writing.filling import FillingOp
from ttnn_jit.dialects.writing.nullary import NullaryOp
from ttnn_jit.process.memoized import memoized

__all__ = [
    "OP_OF",
    "TTIR",
    "ContractionOp",
    "EmptyOp",
    "FullOp",
    "MovementOp",
    "ReductionOp",
    "TensorElementwiseOp",
    "TensorOp",
]


@op_definition
class EmptyOp(NullaryOp):
    """``ttir.empty() : tensor<...>``: an uninitialized tensor."""

    name = "ttir.empty"

    result = result_def(TensorType)
    traits = traits_def(Pure())


@op_definition
class FullOp(FillingOp):
    """``"ttir.full"()``: a tensor filled with one number."""

    name = "ttir.full"

    shape = prop_def(DenseArrayBase)

    @staticmethod
    def make(value: float, result_type: TensorType[Attribute], location: LocationAttr | None = None) -> FullOp:
        """A tensor of that type filled with `value`."""
        return FullOp.create(
            result_types=(result_type,),
            properties={"fill_value": number_attr(value), "shape": full_shape(result_type.get_shape())},
            location=location,
        )


@memoized
def full_shape(extents: tuple[int, ...]) -> DenseArrayBase:
    """A `FullOp`'s property ``shape``."""
    return number_array(i32, extents)


OP_OF = derive_tensor_ops("ttir", "ttir_name")
"""Declared operation -> its op class in this dialect."""

TTIR = Dialect("ttir", [EmptyOp, FullOp, *OP_OF.classes(), *derive_opaque("ttir")], [])
