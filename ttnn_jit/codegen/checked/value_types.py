"""Types of LLVM's dialect as types of the builder."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, IndexType, IntegerType
from xdsl.dialects.llvm import LLVMArrayType, LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.cpu_module.memory_layout import POINTER_BYTES, size_of
from ttnn_jit.kernels.llvm.types import BFLOAT, DOUBLE, FLOAT, I64, PTR, Type, array, struct, type_of

_SCALARS: Mapping[type[Attribute], Type] = {
    BFloat16Type: BFLOAT,
    Float16Type: type_of("half"),
    Float32Type: FLOAT,
    Float64Type: DOUBLE,
    IndexType: I64,
    LLVMPointerType: PTR,
}


def llvm_type(kind: Attribute) -> Type:
    """The type of values of a type of LLVM's dialect.

    Raises:
        CompileError: Values of this type are not computed here.
    """
    match kind:
        case LLVMStructType():
            return struct(*map(llvm_type, kind.types.data))
        case LLVMArrayType():
            return array(kind.size.data, llvm_type(kind.type))
        case IntegerType():
            size_of(kind)
            return type_of(f"i{kind.width.data}")
    found = _SCALARS.get(type(kind))
    if found is None:
        raise CompileError(f"values of {kind} are not computed on the host")
    return found


assert POINTER_BYTES == 8, "the words of a record hold addresses"
