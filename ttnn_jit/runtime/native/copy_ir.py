"""The kernel that copies a tensor, in this layout or another, in native code: what a trace has for such a step.

Bound: reads and writes every row once.
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import PTR
from ttnn_jit.runtime.native.launch_symbols import COPY_SYMBOL
from ttnn_jit.runtime.native.native_record import NativeRecord
from ttnn_jit.runtime.native.structures import CopyParams


def copy_function(module: ModuleText) -> str:
    """The function ``void copy(ptr operands, ptr params)`` of `CopyParams`."""
    parameters = Parameter("operands", PTR), Parameter("params", PTR)
    f = FunctionBuilder(COPY_SYMBOL, module, parameters, attributes="")
    operands, start = f.parameters
    params = NativeRecord(f, start)
    source, target = f.load(PTR, operands, hint="source"), f.load(PTR, f.element(operands, PTR, 1), hint="target")
    batches, rows = params.load(CopyParams.batches, "batches"), params.load(CopyParams.rows, "rows")
    row_bytes = params.load(CopyParams.row_bytes, "row.bytes")
    source_row, source_batch = params.load(CopyParams.source_row), params.load(CopyParams.source_batch)
    target_row, target_batch = params.load(CopyParams.target_row), params.load(CopyParams.target_batch)
    beside = f.sub(target_row, row_bytes, "beside")
    below = f.sub(target_batch, f.mul(target_row, rows), "below")
    with f.count("batch", batches, ("from", source), ("to", target)) as batch:
        read, written = batch.values
        with f.count("row", rows, ("read", read), ("write", written)) as row:
            source_address, target_address = row.values
            f.move_bytes(target_address, source_address, row_bytes)
            f.clear_bytes(f.bytes_on(target_address, row_bytes), beside)
            row.carry(f.bytes_on(source_address, source_row), f.bytes_on(target_address, target_row))
        f.clear_bytes(row.values[1], below)
        batch.carry(f.bytes_on(read, source_batch), f.bytes_on(written, target_batch))
    return f.ended()
