"""``ttmlir.ir``."""

from __future__ import annotations

from ttnn_jit.bindings import op_views as op_views  # noqa: PLC0414 - makes the classes of operations
from ttnn_jit.bindings.affine import (
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineMapAttr,
    AffineSymbolExpr,
)
from ttnn_jit.bindings.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseBoolArrayAttr,
    DenseElementsAttr,
    DenseF32ArrayAttr,
    DenseF64ArrayAttr,
    DenseFPElementsAttr,
    DenseI8ArrayAttr,
    DenseI16ArrayAttr,
    DenseI32ArrayAttr,
    DenseI64ArrayAttr,
    DenseIntElementsAttr,
    DictAttr,
    FlatSymbolRefAttr,
    FloatAttr,
    IntegerAttr,
    NamedAttribute,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
)
from ttnn_jit.bindings.contexts import Context
from ttnn_jit.bindings.locations import Location
from ttnn_jit.bindings.structure import (
    Block,
    BlockArgument,
    InsertionPoint,
    MLIRError,
    Module,
    Operation,
    OpOperand,
    OpResult,
    OpView,
    Region,
    Value,
    WalkOrder,
    WalkResult,
)
from ttnn_jit.bindings.types import (
    BF16Type,
    ComplexType,
    F16Type,
    F32Type,
    F64Type,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    NoneType,
    RankedTensorType,
    ShapedType,
    Type,
)

__all__ = [
    "AffineConstantExpr", "AffineDimExpr", "AffineExpr", "AffineMap", "AffineMapAttr", "AffineSymbolExpr", "ArrayAttr",
    "Attribute", "BF16Type", "Block", "BlockArgument", "BoolAttr", "ComplexType", "Context", "DenseBoolArrayAttr",
    "DenseElementsAttr", "DenseF32ArrayAttr", "DenseF64ArrayAttr", "DenseFPElementsAttr", "DenseI16ArrayAttr",
    "DenseI32ArrayAttr", "DenseI64ArrayAttr", "DenseI8ArrayAttr", "DenseIntElementsAttr", "DictAttr", "F16Type",
    "F32Type", "F64Type", "FlatSymbolRefAttr", "FloatAttr", "FloatType", "FunctionType", "IndexType", "InsertionPoint",
    "IntegerAttr", "IntegerType", "Location", "MLIRError", "MemRefType", "Module", "NamedAttribute", "NoneType",
    "OpOperand", "OpResult", "OpView", "Operation", "RankedTensorType", "Region", "ShapedType", "StringAttr",
    "SymbolRefAttr", "Type", "TypeAttr", "UnitAttr", "Value", "WalkOrder", "WalkResult",
]  # fmt: skip
