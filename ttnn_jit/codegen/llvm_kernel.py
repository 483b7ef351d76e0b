"""The LLVM text of a kernel: one loop, a loop over a lookup table, or the stages of loop fission."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ttnn_jit.codegen.body_analysis import reduction_of_tile
from ttnn_jit.codegen.contracting import in_pairs
from ttnn_jit.codegen.host.forms import (
    Contracted,
    Form,
    InStrips,
    OneLoop,
    Repacked,
    Repeated,
    RoutineForm,
    RowsInStrips,
    Staged,
    Stepped,
    Swept,
    Tabulated,
    Transposed,
)
from ttnn_jit.codegen.host.tiers import Tier
from ttnn_jit.codegen.numba_module import PythonSource, numba_module
from ttnn_jit.codegen.routine_kernels import routine_source
from ttnn_jit.codegen.steps import Call, KernelBody, Reduced
from ttnn_jit.codegen.vector_loop import KERNEL
from ttnn_jit.kernels.contracting_blocks import BlockedContraction
from ttnn_jit.kernels.contracting_dots import DotContraction
from ttnn_jit.kernels.contracting_loops import ContractingLoops
from ttnn_jit.kernels.contracting_rows import FewRowsContraction
from ttnn_jit.kernels.contracting_windows import WindowContraction
from ttnn_jit.kernels.found_places import FoundPlaces
from ttnn_jit.kernels.gathered_rows import gathering_text
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_module import KernelModules, ModuleText
from ttnn_jit.kernels.lookup_table import lookup_table
from ttnn_jit.kernels.packing_loops import PackingLoops
from ttnn_jit.kernels.repeating_loops import RepeatingLoops
from ttnn_jit.kernels.row_folds import row_functions
from ttnn_jit.kernels.row_strips import RowStrips
from ttnn_jit.kernels.staged_loops import StageCall, staged_loops
from ttnn_jit.kernels.stepping_loops import SteppingLoops
from ttnn_jit.kernels.strip_loops import StripLoops
from ttnn_jit.kernels.swept_columns import SweptColumns, column_functions
from ttnn_jit.kernels.swept_loops import FoldCall, SweepCall, SweptLoops
from ttnn_jit.kernels.tile_copies import TileCopies
from ttnn_jit.kernels.transposing_loops import TransposingLoops
from ttnn_jit.nest.limits import ENTRIES
from ttnn_jit.nest.streams import InnerAccess
from ttnn_jit.ops.reduction import SHORT_ROW
from ttnn_jit.ops.routine import NativeLoop
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.runtime.host_costs import HOST_COSTS
from ttnn_jit.specs.dtypes import COMPUTE_TYPE


@dataclass(frozen=True)
class LlvmKernel:
    """A function ``void name(ptr pointers, ptr params)``; see `ttnn_jit.codegen.launch`.

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
def kernel_of(form: Form, isa: HostIsa) -> LlvmKernel:
    """The kernel of a body in its form."""
    if isinstance(form, RoutineForm):
        return _routine(form.body, isa)
    draft = _draft(form, isa)
    head = [f"; predicted: {round(draft.picoseconds)} ps per element", *draft.remarks]
    fast_isel = draft.tier is Tier.FAST_ISEL
    modules = draft.module.modules([*head, *draft.definitions], fast_isel=fast_isel)
    name = f"k_{hashlib.sha256(modules.whole.listing.encode()).hexdigest()[:16]}"
    return LlvmKernel(name, modules.renamed(KERNEL, name), max(1, round(draft.picoseconds)), draft.panels)


_ROUTINE_PICOSECONDS = 1000
"""Predicted arithmetic of a routine for every index of its loops: how many it has says nothing of what it does."""


def _routine(body: KernelBody, isa: HostIsa) -> LlvmKernel:
    """A kernel of a routine's loop, which numba makes of all but the simplest."""
    (call,) = (step for step in body.steps if isinstance(step, Call))
    rows = "at most" if call.has_short_rows else "more than"
    streams = ", ".join(f"{stream.dtype.mlir} {stream.access.value}" for stream in body.streams)
    made_for = f"{streams}; rows of {rows} {SHORT_ROW} elements"  # object code says so, and has the text's name
    if call.native is not None:
        module = ModuleText()
        modules = module.modules([f"; {made_for}", *_native_definitions(body, call, call.native, isa, module)])
        name = f"g_{hashlib.sha256(modules.whole.listing.encode()).hexdigest()[:16]}"
        return LlvmKernel(name, modules.renamed(KERNEL, name), _NATIVE_PICOSECONDS[call.native])
    source = f"# {made_for}\n{routine_source(body, call)}"
    name = f"r_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    modules = KernelModules.of(numba_module(name, PythonSource(source)))
    return LlvmKernel(name, modules, _ROUTINE_PICOSECONDS)


_NATIVE_PICOSECONDS = {NativeLoop.ROWS_GATHERED: _ROUTINE_PICOSECONDS, NativeLoop.PLACES_FOUND: 60}
"""Of routines' loops that are LLVM text."""


def _native_definitions(
    body: KernelBody, call: Call, native: NativeLoop, isa: HostIsa, module: ModuleText
) -> Sequence[str]:
    """The functions of a routine's loop, in a module."""
    first, *others = (stream.dtype for stream in body.streams)
    match native:
        case NativeLoop.ROWS_GATHERED:
            return [gathering_text(KERNEL, first, others[0], body.rank, module)]
        case NativeLoop.PLACES_FOUND:
            (largest,) = call.constants
            is_dense = body.streams[0].access is InnerAccess.CONTIGUOUS
            return FoundPlaces(KERNEL, first, body.rank, largest == str(True), is_dense, isa, module).definitions()


@dataclass(frozen=True)
class _Draft:
    """A kernel before it is named by a hash of its text.

    Attributes:
        definitions: Its functions.
        module: Declarations, tables and rare paths that they use.
        picoseconds: Predicted arithmetic per element.
        remarks: Comment lines for the head of the text.
        tier: How it is compiled.
        panels: As `Launch` has it.
    """

    definitions: Sequence[str]
    module: ModuleText
    picoseconds: float
    remarks: Sequence[str] = ()
    tier: Tier = Tier.OPTIMISED
    panels: tuple[int, ...] = ()


def _draft(form: Form, isa: HostIsa) -> _Draft:  # noqa: PLR0911 - one line for each form
    match form:
        case Repacked():
            return _repacked(form.body)
        case Transposed() | Stepped() | Repeated():
            return _moved(form)
        case Contracted():
            return _contracted(form, isa)
        case Swept():
            return _swept(form, isa)
        case Tabulated():
            return _tabulated(form)
        case Staged():
            return _staged(form)
        case InStrips():
            return _in_strips(form)
        case RowsInStrips():
            return _rows_in_strips(form, isa)
        case OneLoop():
            remarks = ["; code generator: level 0"] if form.tier is Tier.FAST_ISEL else []
            module = ModuleText()
            module.add(form.loop.module)
            return _Draft([form.definition], module, form.loop.picoseconds, remarks=remarks, tier=form.tier)
        case _:
            raise AssertionError("the loops of a body are chosen before its text is written")


def _repacked(body: KernelBody) -> _Draft:
    """A kernel that packs, unpacks or copies block floats."""
    module = ModuleText()
    read, written = (stream.dtype for stream in body.streams)
    if body.copies_tiles:
        copies = TileCopies(KERNEL, read, body.rank, module)
        return _Draft([copies.text()], module, _PICOSECONDS_OF_PACKING, remarks=[f"; stream: {read.mlir}"])
    nontemporal = body.streams[1].nontemporal
    loops = PackingLoops(KERNEL, read, written, body.numerics, module, body.rank, nontemporal)
    streams = f"; streams: {read.mlir}, {written.mlir}"
    return _Draft([loops.text()], module, _PICOSECONDS_OF_PACKING, remarks=[streams])


def _moved(form: Transposed | Stepped | Repeated) -> _Draft:
    """A kernel that copies elements which are turned around in registers."""
    body, module = form.body, ModuleText()
    written = body.streams[1]
    given = KERNEL, written.dtype, body.rank, form.lanes
    match form:
        case Transposed():
            text = TransposingLoops(*given, form.columns, module, written.nontemporal, form.together).text()
        case Stepped():
            text = SteppingLoops(*given, form.step, module, written.nontemporal).text()
        case Repeated():
            text = RepeatingLoops(*given, form.times, module).text()
    return _Draft([text], module, _PICOSECONDS_OF_MOVING, remarks=[_types_remark(body)])


_PICOSECONDS_OF_MOVING = 100
"""Of an element: what it takes from a cache is little beside the lines that are far apart."""
_PICOSECONDS_OF_PACKING = 100
"""Of an element: about 25 instructions for a group of 16."""


def _in_strips(form: InStrips) -> _Draft:
    """A loop over strips of tiles, and what unpacks and packs these."""
    body, module, name = form.body, ModuleText(), "ttnn_jit.loop"
    repackings = _repackings(form, module)
    names = {k: loops.name for k, loops in repackings.items()}
    kernel = StripLoops(KERNEL, body.streams, form.scratches, StageCall(name, form.operands), names, module)
    definitions = [kernel.text(), form.loop.define(name, module), *(loops.text() for loops in repackings.values())]
    picoseconds = form.loop.picoseconds + _PICOSECONDS_OF_PACKING * len(repackings)
    return _Draft(definitions, module, picoseconds, remarks=[_types_remark(body)])


def _types_remark(body: KernelBody) -> str:
    """A comment with the element types of the streams, so that kernels of different ones have different names."""
    return f"; streams: {', '.join(stream.dtype.mlir for stream in body.streams)}"


def _repackings(form: InStrips | RowsInStrips, module: ModuleText) -> dict[int, PackingLoops]:
    """By stream of block floats, what unpacks it, or packs it, in a module."""
    body, found = form.body, dict[int, PackingLoops]()
    places = [k for k, stream in enumerate(body.streams) if stream.dtype.is_block_float]
    for k, scratch in zip(places, form.scratches, strict=True):
        stream = body.streams[k]
        types = (scratch.dtype, stream.dtype) if stream.written else (stream.dtype, scratch.dtype)
        own = f"ttnn_jit.{'pack' if stream.written else 'unpack'}{k}"
        found[k] = PackingLoops(own, *types, body.numerics, module, is_internal=True)
    return found


def _rows_in_strips(form: RowsInStrips, isa: HostIsa) -> _Draft:
    """Sweeps over rows of tiles, and what unpacks and packs these."""
    name, body = "ttnn_jit.rows", form.body
    rows = _swept(form.rows, isa, name)
    repackings = _repackings(form, rows.module)
    names = {k: loops.name for k, loops in repackings.items()}
    kernel = RowStrips(KERNEL, body.streams, form.scratches, body.rank, name, names, rows.module)
    definitions = [kernel.text(), *rows.definitions, *(loops.text() for loops in repackings.values())]
    picoseconds = rows.picoseconds + _PICOSECONDS_OF_PACKING * len(repackings)
    return _Draft(definitions, rows.module, picoseconds, remarks=[*rows.remarks, _types_remark(body)])


def _tabulated(form: Tabulated) -> _Draft:
    """A kernel with a lookup table."""
    module, names = ModuleText(), ("ttnn_jit.look_up", "ttnn_jit.function")
    loops = [form.look_up.define(names[0], module), form.function.define(names[1], module)]
    definitions = [*loops, *lookup_table(KERNEL, *names, module)]
    picoseconds = form.direct.picoseconds - form.function.picoseconds + 1000 / HOST_COSTS.lookups_per_ns
    remark = f"; looked up, in tensors of {ENTRIES} elements and more: {', '.join(form.looked_up)}"
    return _Draft(definitions, module, picoseconds, remarks=[remark])


def _staged(form: Staged) -> _Draft:
    """A kernel of several loops."""
    fission, loops = form.fission, form.loops
    names = [f"ttnn_jit.part{k}" for k in range(len(loops))]
    calls = [StageCall(name, stage.operands) for name, stage in zip(names, fission.stages, strict=True)]
    module = ModuleText()
    definitions = [loop.define(name, module) for name, loop in zip(names, loops, strict=True)]
    kernel = staged_loops(KERNEL, module, form.body.streams, fission.scratches, calls, fission.block)
    return _Draft([kernel, *definitions], module, sum(loop.picoseconds for loop in loops))


def _swept(form: Swept, isa: HostIsa, symbol: str = KERNEL) -> _Draft:
    """A kernel that reduces its innermost loop, or, with another symbol than a kernel's, a function of its module."""
    body, parts = form.body, form.parts
    assert body.reduced is not None, "it reduces a loop"
    in_rows = body.reduced.loop == 0
    module, definitions, calls, picoseconds = ModuleText(), [], [], 0.0
    folds: dict[str, tuple[str, bool]] = {}
    for number, (sweep, loop) in enumerate(zip(parts.sweeps, form.loops, strict=True)):
        name = ""
        if loop is not None:
            name = f"ttnn_jit.part{number}"
            definitions.append(loop.define(name, module))
            picoseconds += loop.picoseconds if sweep.whole_row else 0
        picoseconds += 1000 * len(sweep.folds) / (isa.lanes * HOST_COSTS.vector_instructions_per_ns)
        reductions = []
        for fold in sweep.folds:
            of_words = fold.terms < len(body.streams) and body.streams[fold.terms].dtype.is_upper_half
            function = f"ttnn_jit.{fold.tile_name}{'.of_words' * of_words}"
            folds[function] = fold.tile_name, of_words
            any_order = reduction_of_tile(fold.tile_name).combined_by.laws.associative
            reductions.append(FoldCall(function, fold.terms, fold.result, fold.in_registers, any_order))
        calls.append(SweepCall(name, sweep.stage.operands, sweep.whole_row, tuple(reductions)))
    for function, (tile_name, of_words) in folds.items():
        operation = reduction_of_tile(tile_name)
        named = function, operation.combine, operation.identity, operation.combined_by.laws.associative
        functions = row_functions(*named, of_words, isa) if in_rows else column_functions(*named, isa)
        definitions += functions.definitions
        module.add(functions.module)
    given = symbol, body.streams, body.rank, calls, parts.buffers, module
    kernel = SweptLoops(*given, is_internal=symbol != KERNEL) if in_rows else SweptColumns(*given)
    remarks = [_rows_remark(body.reduced)]
    return _Draft([kernel.text(), *definitions], module, picoseconds, remarks=remarks)


def _rows_remark(reduced: Reduced | None) -> str:
    assert reduced is not None, "it reduces a loop"
    return f"; rows of {'at most' if reduced.is_short else 'more than'} {SHORT_ROW} elements"


def _contracted(form: Contracted, isa: HostIsa) -> _Draft:
    """A kernel that contracts the loop around its innermost one."""
    body, stage, loop = form.body, form.epilogue, form.loop
    module, name = ModuleText(), "ttnn_jit.epilogue"
    left, right = body.contracted_streams
    pairs, call = in_pairs(body), StageCall(name, stage.operands)
    assert body.reduced is not None, "it contracts"
    loops = body.reduced.count, body.reduced.row_loops
    arguments = (KERNEL, body.streams, body.rank, *loops, left, right, pairs, body.multiplication, call, isa, module)
    # What rounds sums tile by tile takes terms across the ends of loops, which few rows do not.
    rounds = body.multiplication is not None and body.multiplication.rounds_tiles
    rows = 0 if rounds and body.reduced.count > 1 else form.tile_rows
    in_place = body.multiplication is None and _reads_windows(body, left, pairs=pairs)
    whole = WindowContraction if in_place else BlockedContraction
    if body.reduced.is_dots:
        kernel: ContractingLoops = DotContraction(*arguments)
    else:
        kernel = FewRowsContraction(*arguments, tile=rows) if rows else whole(*arguments)
    definitions = [*kernel.definitions(), loop.define(name, module)]
    picoseconds = 1000 * _INSTRUCTIONS_OF_A_PRODUCT / (isa.lanes * HOST_COSTS.vector_instructions_per_ns)
    # What a launch must be like (runtime/launch_bounds.py) stands in the text, so that its hash says that too.
    accesses = ", ".join(f"{stream.dtype.mlir} {stream.access.value}" for stream in body.streams)
    remarks = [_rows_remark(body.reduced), f"; streams: {accesses}"]
    time = picoseconds / 2 if pairs else picoseconds
    panels = (right, *kernel.panels) if kernel.panels else ()
    return _Draft(definitions, module, time, remarks=remarks, panels=panels)


def _reads_windows(body: KernelBody, left: int, *, pairs: bool) -> bool:
    """Whether the words of the left operand are in memory as the microkernel reads them."""
    dtype = body.streams[left].dtype
    are_words = dtype.is_upper_half if pairs else dtype is COMPUTE_TYPE
    return body.reduced is not None and body.reduced.has_windows and are_words


_INSTRUCTIONS_OF_A_PRODUCT = 2
"""A fused multiply-add and its share of loads, for a vector of products or of pairs of them."""
