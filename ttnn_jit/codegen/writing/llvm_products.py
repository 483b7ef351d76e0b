"""The LLVM text of products."""

from __future__ import annotations

from ttnn_jit.codegen.schedules.kernel import Contract, rows_text
from ttnn_jit.codegen.writing.llvm_nests import Draft
from ttnn_jit.kernels.contraction.contracting_blocks import BlockedContraction
from ttnn_jit.kernels.contraction.contracting_dots import DotContraction
from ttnn_jit.kernels.contraction.contracting_loops import ContractingLoops
from ttnn_jit.kernels.contraction.contracting_rows import FewRowsContraction
from ttnn_jit.kernels.contraction.contracting_windows import WindowContraction
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import KERNEL, ModuleText
from ttnn_jit.kernels.loops.staged_loops import StageCall
from ttnn_jit.runtime.plans.host_costs import HOST_COSTS
from ttnn_jit.specs.dtypes import COMPUTE_TYPE

_INSTRUCTIONS_OF_A_PRODUCT = 2
"""A fused multiply-add and its share of loads, for a vector of products or of pairs of them."""


def drafted_product(product: Contract, isa: HostIsa) -> Draft:
    """A kernel that contracts the loop around its innermost one."""
    body, loops, stage = product.body, product.contracted, product.epilogue
    assert stage is not None, "the loop behind a product is chosen before its text is written"
    module, name, pairs = ModuleText(), "ttnn_jit.epilogue", product.in_pairs
    call = StageCall(name, stage.operands)
    own = loops.count, loops.row_loops, loops.left, loops.right, pairs, product.multiplication
    arguments = (KERNEL, body.streams, body.rank, *own, call, isa, module)
    # Rounding by tile counts terms across the ends of loops, which the few-rows kernel does not.
    rounds = product.multiplication is not None and product.multiplication.rounds_tiles
    rows = 0 if rounds and loops.count > 1 else loops.tile_rows
    whole = WindowContraction if _reads_windows(product) else BlockedContraction
    if loops.is_dots:
        kernel: ContractingLoops = DotContraction(*arguments)
    else:
        kernel = FewRowsContraction(*arguments, tile=rows) if rows else whole(*arguments)
    definitions = [*kernel.definitions(), *stage.functions(name, module)]
    picoseconds = 1000 * _INSTRUCTIONS_OF_A_PRODUCT / (isa.lanes * HOST_COSTS.vector_instructions_per_ns)
    # The requirements on launches (runtime/plans/launch_bounds.py) are part of the text and so of its hash.
    accesses = ", ".join(f"{stream.dtype.mlir} {stream.access.value}" for stream in body.streams)
    remarks = [f"; {rows_text(is_short=loops.is_short)}", f"; streams: {accesses}"]
    time = picoseconds / 2 if pairs else picoseconds
    panels = (loops.right, *kernel.panels) if kernel.panels else ()
    return Draft(definitions, module, time, remarks=remarks, panels=panels)


def _reads_windows(product: Contract) -> bool:
    """Whether the microkernel can read the left operand's words from memory without packing."""
    dtype = product.streams[product.contracted.left].dtype
    are_words = dtype.is_upper_half if product.in_pairs else dtype is COMPUTE_TYPE
    return product.multiplication is None and product.contracted.has_windows and are_words
