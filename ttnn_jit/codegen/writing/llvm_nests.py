"""The LLVM text of a loop nest, by its iteration space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ttnn_jit.codegen.bodies.body_analysis import REDUCTION_OF_TILE
from ttnn_jit.codegen.schedules.conversion import PICOSECONDS_OF_PACKING
from ttnn_jit.codegen.schedules.kernel import LoopNest, Loops, Table, rows_text
from ttnn_jit.codegen.schedules.nest_stage import NestStage
from ttnn_jit.codegen.schedules.sweep import Sweep
from ttnn_jit.codegen.schedules.vector_loop import Tier
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import KERNEL, ModuleText
from ttnn_jit.kernels.loops.row_folds import row_functions
from ttnn_jit.kernels.loops.row_strips import RowStrips
from ttnn_jit.kernels.loops.staged_loops import StageCall, staged_loops
from ttnn_jit.kernels.loops.strip_loops import StripLoops
from ttnn_jit.kernels.loops.swept_columns import SweptColumns, column_functions
from ttnn_jit.kernels.loops.swept_loops import FoldCall, SweepCall, SweptLoops
from ttnn_jit.kernels.vectors.lookup_table import lookup_table
from ttnn_jit.nest.buffers import Buffer
from ttnn_jit.nest.limits import ENTRIES
from ttnn_jit.nest.streams import Stream
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.plans.host_costs import HOST_COSTS


@dataclass(frozen=True)
class Draft:
    """A kernel without a name.

    Attributes:
        definitions: Its functions.
        module: Declarations, tables and rare paths that they use.
        picoseconds: Predicted arithmetic per element.
        remarks: Comment lines for the head of the text.
        tier: The compile tier.
        panels: As in `Launch`.
    """

    definitions: Sequence[str]
    module: ModuleText
    picoseconds: float
    remarks: Sequence[str] = ()
    tier: Tier = Tier.OPTIMISED
    panels: tuple[int, ...] = ()


def types_remark(streams: Iterable[Stream]) -> str:
    """A comment with the element types of the streams, so that kernels of different types have different names."""
    return f"; streams: {', '.join(stream.dtype.mlir for stream in streams)}"


def drafted_nest(nest: LoopNest, isa: HostIsa) -> Draft:
    """The text of a scheduled loop nest."""
    match nest.loops:
        case Loops.ELEMENTS:
            return _looked_up(nest, *nest.tables) if nest.tables else _one_loop(nest)
        case Loops.BLOCKS:
            return _in_blocks(nest)
        case Loops.ROWS | Loops.COLUMNS:
            return _swept(nest, isa, KERNEL)
        case Loops.STRIPS | Loops.TILE_ROWS:
            return _converting(nest, isa)


def _one_loop(nest: LoopNest) -> Draft:
    loop = nest.one_loop
    assert loop is not None, "the loops of a body are chosen before its text is written"
    remarks = ["; code generator: level 0"] if loop.tier is Tier.FAST_ISEL else []
    module, definition = ModuleText(), loop.kernel
    module.add(loop.module)
    return Draft([definition], module, loop.picoseconds, remarks=remarks, tier=loop.tier)


def _looked_up(nest: LoopNest, table: Table) -> Draft:
    """A loop with a lookup table, and the loop that fills the table."""
    module, names = ModuleText(), ("ttnn_jit.look_up", "ttnn_jit.function")
    stages = (*nest.all_of(NestStage), table.function)
    definitions = [line for name, stage in zip(names, stages, strict=True) for line in stage.functions(name, module)]
    remark = f"; looked up, in tensors of {ENTRIES} elements and more: {', '.join(table.operations)}"
    definitions += lookup_table(KERNEL, *names, module)
    return Draft(definitions, module, table.picoseconds, remarks=[remark])


def _in_blocks(nest: LoopNest) -> Draft:
    """Several loops over each block of elements."""
    module, calls, definitions = ModuleText(), [], []
    stages = nest.all_of(NestStage)
    for number, stage in enumerate(stages):
        name = f"ttnn_jit.part{number}"
        calls.append(StageCall(name, stage.operands))
        definitions += stage.functions(name, module)
    kernel = staged_loops(KERNEL, module, nest.streams, nest.scratch_of(Stream), calls, nest.block)
    return Draft([kernel, *definitions], module, sum(stage.picoseconds for stage in stages))


def _converting(nest: LoopNest, isa: HostIsa) -> Draft:
    """A loop over strips of tiles, or sweeps over rows of tiles, with the conversions of block floats."""
    conversions, scratches = nest.conversions, tuple(nest.scratch_of(Stream))
    names = {each.stream: each.symbol for each in conversions}
    if nest.loops is Loops.TILE_ROWS:
        (rows,) = nest.all_of(LoopNest)
        inner = _swept(rows, isa, "ttnn_jit.rows")
        text = RowStrips(KERNEL, nest.streams, scratches, nest.body.rank, "ttnn_jit.rows", names, inner.module).text()
    else:
        (inside,) = nest.all_of(NestStage)
        module, call = ModuleText(), StageCall("ttnn_jit.loop", inside.operands)
        inner = Draft(inside.functions("ttnn_jit.loop", module), module, inside.picoseconds)
        text = StripLoops(KERNEL, nest.streams, scratches, call, names, module).text()
    converting = [function for each in conversions for function in each.functions(inner.module)]
    picoseconds = inner.picoseconds + PICOSECONDS_OF_PACKING * len(conversions)
    remarks = [*inner.remarks, types_remark(nest.streams)]
    return Draft([text, *inner.definitions, *converting], inner.module, picoseconds, remarks=remarks)


def _swept(nest: LoopNest, isa: HostIsa, symbol: str) -> Draft:
    """A kernel that reduces a loop, or a function of its module if `symbol` is not a kernel's."""
    body, sweeps, in_rows = nest.body, nest.all_of(Sweep), nest.loops is Loops.ROWS
    assert body.reduced is not None, "it reduces a loop"
    module, definitions, calls, picoseconds = ModuleText(), [], [], 0.0
    folds: dict[str, tuple[str, bool]] = {}
    for number, sweep in enumerate(sweeps):
        name = f"ttnn_jit.part{number}"
        computing = sweep.stage.functions(name, module)
        definitions += computing
        picoseconds += sweep.stage.picoseconds if sweep.whole_row else 0
        picoseconds += 1000 * len(sweep.folds) / (isa.lanes * HOST_COSTS.vector_instructions_per_ns)
        reductions = []
        for fold in sweep.folds:
            reads_bf16 = fold.terms < len(body.streams) and body.streams[fold.terms].dtype.is_upper_half
            function = f"ttnn_jit.{fold.tile_name}{'.bf16' * reads_bf16}"
            folds[function] = fold.tile_name, reads_bf16
            any_order = REDUCTION_OF_TILE[fold.tile_name].combiner.algebra.associative
            reductions.append(FoldCall(function, fold.terms, fold.result, fold.in_registers, any_order))
        calls.append(SweepCall(name if computing else "", sweep.stage.operands, sweep.whole_row, tuple(reductions)))
    for function, (tile_name, reads_bf16) in folds.items():
        operation = REDUCTION_OF_TILE[tile_name]
        named = function, operation.combine, operation.identity, operation.combiner.algebra.associative
        functions = row_functions(*named, reads_bf16, isa) if in_rows else column_functions(*named, isa)
        definitions += functions.definitions
        module.add(functions.module)
    given = symbol, body.streams, body.rank, calls, tuple(nest.scratch_of(Buffer)), module
    kernel = SweptLoops(*given, is_internal=symbol != KERNEL) if in_rows else SweptColumns(*given)
    remarks = [f"; {rows_text(is_short=body.reduced.is_short)}"]
    return Draft([kernel.text(), *definitions], module, picoseconds, remarks=remarks)
