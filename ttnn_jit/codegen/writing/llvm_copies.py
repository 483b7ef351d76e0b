"""The LLVM text of kernels that move or convert elements."""

from __future__ import annotations

from ttnn_jit.codegen.schedules.conversion import PICOSECONDS_OF_PACKING
from ttnn_jit.codegen.schedules.kernel import Copy, Repack, Repeated, ShortRows, Stepped, Transposed
from ttnn_jit.codegen.writing.llvm_nests import Draft, types_remark
from ttnn_jit.kernels.block_floats.packing_loops import PackingLoops
from ttnn_jit.kernels.block_floats.tile_copies import tile_copies
from ttnn_jit.kernels.llvm.llvm_module import KERNEL, ModuleText
from ttnn_jit.kernels.loops.repeating_loops import repeating_loops
from ttnn_jit.kernels.loops.short_row_copies import short_row_copies
from ttnn_jit.kernels.loops.stepping_loops import SteppingLoops
from ttnn_jit.kernels.loops.transposing_loops import TransposingLoops

_PICOSECONDS_OF_MOVING = 100
"""Predicted per element of a copy; scattered cache lines dominate the cost of cached data."""


def drafted_copy(copy: Copy) -> Draft:
    """A kernel that copies or converts elements."""
    module, rank, (read, written) = ModuleText(), copy.rank, copy.streams
    moved = KERNEL, written.dtype, rank
    match copy.move:
        case Repack.COPIED:
            text = tile_copies(*moved, module)
        case Repack():
            types = read.dtype, written.dtype
            packing = PackingLoops(KERNEL, *types, copy.numerics, module, rank, written.nontemporal)
            return Draft(packing.definitions(), module, PICOSECONDS_OF_PACKING, remarks=[types_remark(copy.streams)])
        case Transposed(lanes, columns, rows_per_vector):
            text = TransposingLoops(*moved, lanes, columns, module, written.nontemporal, rows_per_vector).text()
        case Stepped(lanes, step):
            text = SteppingLoops(*moved, lanes, step, module, written.nontemporal).text()
        case Repeated(lanes, times):
            text = repeating_loops(*moved, lanes, times, module)
        case ShortRows(lanes):
            text = short_row_copies(*moved, lanes, module)
    picoseconds = PICOSECONDS_OF_PACKING if isinstance(copy.move, Repack) else _PICOSECONDS_OF_MOVING
    return Draft([text], module, picoseconds, remarks=[types_remark(copy.streams)])
