"""The LLVM text of a kernel: one loop, a loop over a lookup table, or the stages of loop fission."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ttnn_jit.codegen.body_analysis import operation_of_tile, reduction_of_tile
from ttnn_jit.codegen.contracting import epilogue, in_pairs
from ttnn_jit.codegen.host.fission import Fission, fission_of
from ttnn_jit.codegen.host.lookup import LookupSplit, lookup_candidates
from ttnn_jit.codegen.host.sweeps import swept
from ttnn_jit.codegen.host.tiers import Tier, choose_tier
from ttnn_jit.codegen.numba_module import numba_module
from ttnn_jit.codegen.routine_kernels import routine_source
from ttnn_jit.codegen.steps import Apply, Call, KernelBody, Reduced, SizeClass
from ttnn_jit.codegen.vector_loop import KERNEL, VectorLoop, vector_loop
from ttnn_jit.kernels.contracting_loops import Contraction
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_module import KernelModules, ModuleText
from ttnn_jit.kernels.lookup_table import ENTRIES, lookup_table
from ttnn_jit.kernels.staged_loops import StageCall, staged_loops
from ttnn_jit.kernels.swept_columns import SweptColumns, column_functions
from ttnn_jit.kernels.swept_loops import DECLARATIONS, FoldCall, SweepCall, SweptLoops, fold_functions
from ttnn_jit.ops.reduction import SHORT_ROW
from ttnn_jit.runtime.host_costs import HOST_COSTS


@dataclass(frozen=True)
class LlvmKernel:
    """A function ``void name(ptr pointers, ptr params)``; see `ttnn_jit.codegen.launch`.

    Attributes:
        name: Its symbol, which ends in a hash of the text: equal names mean equal code.
        modules: The text.
        picoseconds: The predicted arithmetic per element on one thread, at least 1.
        tier: How it is compiled.
        looked_up: Names of the operations whose results come from a lookup table.
        stages: Number of loops.
    """

    name: str
    modules: KernelModules
    picoseconds: int
    tier: Tier
    looked_up: tuple[str, ...]
    stages: int

    @property
    def text(self) -> str:
        """The whole module, as a reader is shown it."""
        return self.modules.whole.listing


@lru_cache(maxsize=1024)
def kernel_of(body: KernelBody, isa: HostIsa) -> LlvmKernel:
    """The kernel of a body."""
    (first, *_) = body.steps
    if isinstance(first, Call):
        return _routine(body, first)
    draft = _draft(body, isa)
    head = [f"; predicted: {round(draft.picoseconds)} ps per element", *draft.remarks]
    fast_isel = draft.tier is Tier.FAST_ISEL
    modules = draft.module.modules([*head, *draft.definitions], draft.after, fast_isel=fast_isel)
    name = f"k_{hashlib.sha256(modules.whole.listing.encode()).hexdigest()[:16]}"
    picoseconds = max(1, round(draft.picoseconds))
    return LlvmKernel(
        name, modules.renamed(KERNEL, name), picoseconds, draft.tier, draft.looked_up, stages=draft.stages
    )


_ROUTINE_PICOSECONDS = 1000
"""Predicted arithmetic of a routine for every index of its loops: how many it has says nothing of what it does."""


def _routine(body: KernelBody, call: Call) -> LlvmKernel:
    """A kernel that numba makes of a routine's loop."""
    source = routine_source(body, call)
    name = f"r_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    modules = KernelModules.of(numba_module(name, source))
    return LlvmKernel(name, modules, _ROUTINE_PICOSECONDS, Tier.OPTIMISED, (), stages=1)


@dataclass(frozen=True)
class _Draft:
    """A kernel before it is named by a hash of its text.

    Attributes:
        definitions: Its functions.
        module: Declarations, tables and rare paths that they use.
        picoseconds: Predicted arithmetic per element.
        after: Functions printed after what `module` holds.
        remarks: Comment lines for the head of the text.
        tier: How it is compiled.
        looked_up: Names of operations.
        stages: Number of loops.
    """

    definitions: Sequence[str]
    module: ModuleText
    picoseconds: float
    after: Sequence[str] = ()
    remarks: Sequence[str] = ()
    tier: Tier = Tier.OPTIMISED
    looked_up: tuple[str, ...] = ()
    stages: int = 1


def _draft(body: KernelBody, isa: HostIsa) -> _Draft:
    if body.contraction is not None:
        return _contracted(body, isa)
    if body.reduced is not None:
        return _swept(body, isa)
    direct = vector_loop(body, isa)
    table = _lookup(body, isa) if body.size_class is SizeClass.LARGE else None
    if table is not None:
        return _with_lookup(direct, table, isa)
    fission = fission_of(body, direct.instructions, direct.loop.unroll)
    if fission is not None:
        return _staged(fission, body, isa)
    tier, definition = choose_tier(body, direct, isa)
    remarks = ["; code generator: level 0"] if tier is Tier.FAST_ISEL else []
    return _Draft([definition], _shared([direct]), direct.picoseconds, remarks=remarks, tier=tier)


@dataclass(frozen=True)
class _Lookup:
    """A candidate for a lookup table: the split body, and the loop that fills the table."""

    split: LookupSplit
    function: VectorLoop


def _lookup(body: KernelBody, isa: HostIsa) -> _Lookup | None:
    """The longest part of a body whose lookup is profitable."""
    tables = [_Lookup(split, vector_loop(split.function, isa)) for split in lookup_candidates(body)]
    return max(filter(_is_profitable, tables), key=lambda table: table.function.picoseconds, default=None)


def _is_profitable(table: _Lookup) -> bool:
    # A user's scalar function need not be pure: it may count its calls, or draw random numbers.
    lanes = table.function.loop.lanes
    least = _BREAK_EVEN_INSTRUCTIONS[lanes] * (1 if table.split.is_whole else _lookup_overhead(table.split, lanes))
    return table.function.weighed_instructions >= least and not table.function.module.scalar_functions


def _lookup_overhead(split: LookupSplit, lanes: int) -> float:
    """The cost of lookups beside other steps, relative to a loop of lookups alone."""
    return (
        _OVERHEAD_BESIDE_TWO_VECTORS
        if split.looks_up_loaded_words and lanes >= _MIN_CHUNK_WORDS
        else _OVERHEAD_BESIDE_OTHER_STEPS
    )


_BREAK_EVEN_INSTRUCTIONS = {16: 24, 8: 22, 4: 16}
"""By lanes: instructions of a vector from which on looking up is faster, with part of the table in the second cache.
This and the next three are fitted by benchmarks/choices.py, `lookup table`, and benchmarks/vector_math.py."""
_OVERHEAD_BESIDE_OTHER_STEPS = 1.25
"""Of lookups of words that the loop computes."""
_OVERHEAD_BESIDE_TWO_VECTORS = 0.85
"""Of lookups of loaded words in chunks of two vectors, whose arithmetic overlaps with the lookups."""
_MIN_CHUNK_WORDS = 16
"""Words of a chunk that is looked up. Smaller chunks are slower; larger ones are faster only where loaded words are
looked up beside other steps."""


def _with_lookup(direct: VectorLoop, table: _Lookup, isa: HostIsa) -> _Draft:
    """A kernel with a lookup table."""
    beside = table.split.looks_up_loaded_words and not table.split.is_whole
    unroll = 2 if beside or isa.lanes < _MIN_CHUNK_WORDS else 1
    look_up = vector_loop(table.split.rest, isa, unroll)
    definitions = [look_up.loop.definition("ttnn_jit.look_up"), table.function.loop.definition("ttnn_jit.function")]
    chosen = lookup_table(KERNEL, "ttnn_jit.look_up", "ttnn_jit.function")
    picoseconds = direct.picoseconds - table.function.picoseconds + 1000 / HOST_COSTS.lookups_per_ns
    ops = [operation_of_tile(step.tile_name) for step in table.split.function.steps if isinstance(step, Apply)]
    names = tuple(operation.name for operation in ops)
    remark = f"; looked up, in tensors of {ENTRIES} elements and more: {', '.join(names)}"
    shared = _shared([look_up, table.function])
    return _Draft(definitions, shared, picoseconds, after=[chosen], remarks=[remark], looked_up=names)


def _staged(fission: Fission, body: KernelBody, isa: HostIsa) -> _Draft:
    """A kernel of several loops."""
    names = [f"ttnn_jit.part{k}" for k in range(len(fission.stages))]
    calls = [StageCall(name, stage.operands) for name, stage in zip(names, fission.stages, strict=True)]
    loops = [vector_loop(stage.body, isa, fission.vectors, fences=False) for stage in fission.stages]
    kernel = staged_loops(KERNEL, body.streams, fission.scratches, calls, fission.block)
    definitions = [kernel, *(loop.loop.definition(name) for name, loop in zip(names, loops, strict=True))]
    picoseconds = sum(loop.picoseconds for loop in loops)
    return _Draft(definitions, _shared(loops), picoseconds, stages=len(loops))


def _swept(body: KernelBody, isa: HostIsa) -> _Draft:
    """A kernel that reduces its innermost loop."""
    assert body.reduced is not None, "it reduces a loop"
    in_rows = body.reduced.loop == 0
    loops, functions = (SweptLoops, fold_functions) if in_rows else (SweptColumns, column_functions)
    parts = swept(body)
    module, definitions, calls, picoseconds = ModuleText(), [], [], 0.0
    folds = dict.fromkeys(fold.tile_name for sweep in parts.sweeps for fold in sweep.folds)
    for number, sweep in enumerate(parts.sweeps):
        name = ""
        if sweep.stage.body.steps:
            loop = vector_loop(sweep.stage.body, isa)
            name = f"ttnn_jit.part{number}"
            definitions.append(loop.loop.definition(name))
            module.add(loop.module, loop.loop.declarations)
            picoseconds += loop.picoseconds if sweep.whole_row else 0
        picoseconds += 1000 * len(sweep.folds) / (isa.lanes * HOST_COSTS.vector_instructions_per_ns)
        reductions = tuple(FoldCall(f"ttnn_jit.{fold.tile_name}", fold.terms, fold.result) for fold in sweep.folds)
        calls.append(SweepCall(name, sweep.stage.operands, sweep.whole_row, reductions))
    for tile_name in folds:
        operation = reduction_of_tile(tile_name)
        name = f"ttnn_jit.{tile_name}"
        definitions += functions(name, operation.combine, operation.identity, isa, module)
    module.declarations.update(dict.fromkeys(DECLARATIONS))
    kernel = loops(KERNEL, body.streams, body.rank, calls, parts.buffers).text()
    remarks = [_rows_remark(body.reduced)]
    return _Draft([kernel, *definitions], module, picoseconds, remarks=remarks, stages=len(calls))


def _rows_remark(reduced: Reduced | None) -> str:
    assert reduced is not None, "it reduces a loop"
    return f"; rows of {'at most' if reduced.is_short else 'more than'} {SHORT_ROW} elements"


def _contracted(body: KernelBody, isa: HostIsa) -> _Draft:
    """A kernel that contracts the loop around its innermost one."""
    stage, module = epilogue(body), ModuleText()
    loop, name = vector_loop(stage.body, isa), "ttnn_jit.epilogue"
    left, right = body.contracted_streams
    pairs, call = in_pairs(body), StageCall(name, stage.operands)
    kernel = Contraction(KERNEL, body.streams, body.rank, left, right, pairs, call, isa, module)
    definitions = [*kernel.definitions(), loop.loop.definition(name)]
    module.add(loop.module, loop.loop.declarations)
    picoseconds = 1000 * _INSTRUCTIONS_OF_A_PRODUCT / (isa.lanes * HOST_COSTS.vector_instructions_per_ns)
    # What a launch must be like (runtime/launch_bounds.py) stands in the text, so that its hash says that too.
    accesses = ", ".join(f"{stream.dtype.mlir} {stream.access.value}" for stream in body.streams)
    remarks = [_rows_remark(body.reduced), f"; streams: {accesses}"]
    return _Draft(definitions, module, picoseconds / 2 if pairs else picoseconds, remarks=remarks, stages=2)


_INSTRUCTIONS_OF_A_PRODUCT = 2
"""A fused multiply-add and its share of loads, for a vector of products or of pairs of them."""


def _shared(loops: Sequence[VectorLoop]) -> ModuleText:
    """The declarations, tables and rare paths of all loops, each once."""
    module = ModuleText()
    for own in loops:
        module.add(own.module, own.loop.declarations)
    return module
