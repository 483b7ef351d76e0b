"""Kernels that move elements and compute nothing, of ops that no `d2m.generic` holds."""

from __future__ import annotations

from ttnn_jit.codegen.kernel_reader import Kernel, Operand, kernel_over
from ttnn_jit.codegen.launch import View
from ttnn_jit.codegen.steps import Load, Store
from ttnn_jit.dialects.d2m import EmptyOp
from ttnn_jit.dialects.declared_ops import MovementOp
from ttnn_jit.dialects.layout import spec_of, tensor_type
from ttnn_jit.specs.access import NotStridedError
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import Layout, MemoryConfig

_COPY = (Load(0, None), Store(0, 1))


def copying_kernels(op: MovementOp, numerics: Numerics) -> list[Kernel]:
    """The launches that `op` stands for: one, or two where loops only walk a dense copy of its operand."""
    source, result = Operand.of(op.operands[0]), Operand.of(op.results[0])
    access = op.access if source.view.access is None else op.access.after(source.view.access)
    viewed = Operand(source.value, View(source.view.spec, access))
    try:
        return [kernel_over((viewed,), (result,), _COPY, numerics)]
    except NotStridedError:
        dense = spec_of(op.operands[0].type).with_(layout=Layout.ROW_MAJOR, memory_config=MemoryConfig())
        copied = Operand.of(EmptyOp.make(tensor_type(dense)).results[0])
        moved = Operand(copied.value, View(dense, op.access))
        return [
            kernel_over((source,), (copied,), _COPY, numerics),
            kernel_over((moved,), (result,), _COPY, numerics),
        ]
