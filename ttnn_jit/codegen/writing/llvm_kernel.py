"""The LLVM text of a kernel, by its kind: a loop nest, a product, a copy, or a routine."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ttnn_jit.codegen.reading.routine_kernels import routine_source
from ttnn_jit.codegen.schedules.conversion import PICOSECONDS_OF_PACKING
from ttnn_jit.codegen.schedules.kernel import (
    Contract,
    Copy,
    Kernel,
    LoopNest,
    Repack,
    Repeated,
    Routine,
    Stepped,
    Transposed,
    rows_text,
)
from ttnn_jit.codegen.schedules.vector_loop import Tier
from ttnn_jit.codegen.writing.llvm_nests import Draft, drafted_nest, types_remark
from ttnn_jit.codegen.writing.numba_module import PythonSource, numba_module
from ttnn_jit.kernels.block_floats.packing_loops import PackingLoops
from ttnn_jit.kernels.block_floats.tile_copies import tile_copies
from ttnn_jit.kernels.contraction.contracting_blocks import BlockedContraction
from ttnn_jit.kernels.contraction.contracting_dots import DotContraction
from ttnn_jit.kernels.contraction.contracting_loops import ContractingLoops
from ttnn_jit.kernels.contraction.contracting_rows import FewRowsContraction
from ttnn_jit.kernels.contraction.contracting_windows import WindowContraction
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import KERNEL, KernelModules, ModuleText
from ttnn_jit.kernels.loops.argument_reduction import ArgumentReduction
from ttnn_jit.kernels.loops.gathered_rows import gathering_text
from ttnn_jit.kernels.loops.repeating_loops import repeating_loops
from ttnn_jit.kernels.loops.staged_loops import StageCall
from ttnn_jit.kernels.loops.stepping_loops import SteppingLoops
from ttnn_jit.kernels.loops.transposing_loops import TransposingLoops
from ttnn_jit.nest.streams import InnerAccess
from ttnn_jit.ops.families.routine import NativeLoop
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.runtime.plans.host_costs import HOST_COSTS
from ttnn_jit.specs.dtypes import COMPUTE_TYPE


@dataclass(frozen=True)
class LlvmKernel:
    """A function ``void name(ptr pointers, ptr params)``; see `ttnn_jit.codegen.schedules.launch`.

    Attributes:
        name: Its symbol, which ends in a hash of the text: equal names mean equal code.
        modules: The text.
        picoseconds: The predicted arithmetic per element on one thread, at least 1.
        panels: As `Launch` has it.
    """

    name: str
    modules: KernelModules
    picoseconds: int
    panels: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The whole module, as a reader is shown it."""
        return self.modules.whole.listing


@memoized(maxsize=1024)
def kernel_of(kernel: Kernel, isa: HostIsa) -> LlvmKernel:
    """The text of a kernel whose loops are chosen."""
    match kernel:
        case Routine():
            return _routine(kernel, isa)
        case Copy():
            return _named(_copy(kernel))
        case Contract():
            return _named(_product(kernel, isa))
        case LoopNest():
            return _named(drafted_nest(kernel, isa))


def _named(draft: Draft) -> LlvmKernel:
    head = [f"; predicted: {round(draft.picoseconds)} ps per element", *draft.remarks]
    fast_isel = draft.tier is Tier.FAST_ISEL
    name, modules = draft.module.kernel("k", head, draft.definitions, fast_isel=fast_isel)
    return LlvmKernel(name, modules, max(1, round(draft.picoseconds)), draft.panels)


_ROUTINE_PICOSECONDS = 1000
"""Predicted arithmetic of a routine for every index of its loops: how many it has says nothing of what it does."""


def _routine(routine: Routine, isa: HostIsa) -> LlvmKernel:
    """A kernel of a routine's loop, which numba makes of all but the simplest."""
    streams = ", ".join(f"{stream.dtype.mlir} {stream.access.value}" for stream in routine.streams)
    made_for = f"{streams}; {rows_text(is_short=routine.has_short_rows)}"  # which object code says in its name
    if routine.native is not None:
        module = ModuleText()
        functions = _native_functions(routine, routine.native, isa, module)
        name, modules = module.kernel("g", [f"; {made_for}"], functions)
        return LlvmKernel(name, modules, _NATIVE_PICOSECONDS[routine.native])
    source = f"# {made_for}\n{routine_source(routine)}"
    name = f"r_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    modules = KernelModules.of(numba_module(name, PythonSource(source)))
    return LlvmKernel(name, modules, _ROUTINE_PICOSECONDS)


_NATIVE_PICOSECONDS = {NativeLoop.ROWS_GATHERED: _ROUTINE_PICOSECONDS, NativeLoop.ARGUMENT_REDUCTION: 60}
"""Of routines' loops that are LLVM text."""


def _native_functions(routine: Routine, native: NativeLoop, isa: HostIsa, module: ModuleText) -> Sequence[str]:
    """The functions of a routine's loop, in a module."""
    first, *others = (stream.dtype for stream in routine.streams)
    given = KERNEL, first
    match native:
        case NativeLoop.ROWS_GATHERED:
            return [gathering_text(*given, others[0], routine.rank, module)]
        case NativeLoop.ARGUMENT_REDUCTION:
            (largest,) = routine.constants
            is_dense = routine.streams[0].access is InnerAccess.CONTIGUOUS
            return ArgumentReduction(*given, routine.rank, largest == str(True), is_dense, isa, module).definitions()


_PICOSECONDS_OF_MOVING = 100
"""Of an element: what it takes from a cache is little beside the lines that are far apart."""


def _copy(copy: Copy) -> Draft:
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
        case Transposed(lanes, columns, together):
            text = TransposingLoops(*moved, lanes, columns, module, written.nontemporal, together).text()
        case Stepped(lanes, step):
            text = SteppingLoops(*moved, lanes, step, module, written.nontemporal).text()
        case Repeated(lanes, times):
            text = repeating_loops(*moved, lanes, times, module)
    picoseconds = PICOSECONDS_OF_PACKING if isinstance(copy.move, Repack) else _PICOSECONDS_OF_MOVING
    return Draft([text], module, picoseconds, remarks=[types_remark(copy.streams)])


_INSTRUCTIONS_OF_A_PRODUCT = 2
"""A fused multiply-add and its share of loads, for a vector of products or of pairs of them."""


def _product(product: Contract, isa: HostIsa) -> Draft:
    """A kernel that contracts the loop around its innermost one."""
    body, loops, stage = product.body, product.contracted, product.epilogue
    assert stage is not None, "the loop behind a product is chosen before its text is written"
    module, name, pairs = ModuleText(), "ttnn_jit.epilogue", product.in_pairs
    call = StageCall(name, stage.operands)
    own = loops.count, loops.row_loops, loops.left, loops.right, pairs, product.multiplication
    arguments = (KERNEL, body.streams, body.rank, *own, call, isa, module)
    # What rounds sums tile by tile takes terms across the ends of loops, which few rows do not.
    rounds = product.multiplication is not None and product.multiplication.rounds_tiles
    rows = 0 if rounds and loops.count > 1 else loops.tile_rows
    whole = WindowContraction if _reads_windows(product) else BlockedContraction
    if loops.is_dots:
        kernel: ContractingLoops = DotContraction(*arguments)
    else:
        kernel = FewRowsContraction(*arguments, tile=rows) if rows else whole(*arguments)
    definitions = [*kernel.definitions(), *stage.functions(name, module)]
    picoseconds = 1000 * _INSTRUCTIONS_OF_A_PRODUCT / (isa.lanes * HOST_COSTS.vector_instructions_per_ns)
    # What a launch must be like (runtime/plans/launch_bounds.py) stands in the text, so that its hash says that too.
    accesses = ", ".join(f"{stream.dtype.mlir} {stream.access.value}" for stream in body.streams)
    remarks = [f"; {rows_text(is_short=loops.is_short)}", f"; streams: {accesses}"]
    time = picoseconds / 2 if pairs else picoseconds
    panels = (loops.right, *kernel.panels) if kernel.panels else ()
    return Draft(definitions, module, time, remarks=remarks, panels=panels)


def _reads_windows(product: Contract) -> bool:
    """Whether the words of the left operand are in memory as the microkernel reads them."""
    dtype = product.streams[product.contracted.left].dtype
    are_words = dtype.is_upper_half if product.in_pairs else dtype is COMPUTE_TYPE
    return product.multiplication is None and product.contracted.has_windows and are_words
