"""LLVM IR text of a kernel that reduces the loop around its innermost one: sweeps over blocks of columns.

What lies beside each other belongs to different results, so that rows are combined with each other: row i into row i
mod 32 of the chains, a loop of kernels/tile_loop.py with two loops around it. The chains are folded by halving, and
blocks of rows pairwise, as in kernels/swept_loops.py, `COLUMNS` results at a time. Where the order makes no difference
all rows of a block are combined into one chain.

Bound: the bytes of the tensors; for every element a load and a store in the second cache, of one chain in the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_module import ModuleText
from ttnn_jit.kernels.llvm_vector import LlvmVector
from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.kernels.swept_loops import SweepCall
from ttnn_jit.nest.buffers import COLUMNS, LEVELS, Buffer, BufferKind
from ttnn_jit.nest.streams import Stream
from ttnn_jit.ops.reduction import BLOCK, CHAINS
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class SweptColumns:
    """The function ``void @name(ptr pointers, ptr params)`` that runs sweeps over every block of columns.

    Attributes:
        name: Its symbol.
        streams: The kernel's.
        rank: Loops around the innermost one; the first of them is reduced.
        sweeps: In execution order; those over whole columns are loops of rank 2.
        buffers: Numbered after the streams.
    """

    name: str
    streams: tuple[Stream, ...]
    rank: int
    sweeps: Sequence[SweepCall]
    buffers: Sequence[Buffer]

    def text(self) -> str:
        """The definition."""
        outer = OuterLoops(tuple(stream.dtype.traits.llvm for stream in self.streams), self.rank, innermost=2)
        parts = (self._entry(outer), outer.open(), self._columns(), outer.close(), ["  ret void", "}"])
        head = f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        return "\n".join([head, *(line for part in parts for line in part)])

    def _entry(self, outer: OuterLoops) -> Iterator[str]:
        yield "entry:"
        for k, buffer in enumerate(self.buffers, len(self.streams)):
            count = COLUMNS * (CHAINS if buffer.kind is BufferKind.TERMS else 1)
            yield f"  %at_{k} = alloca [{count} x {buffer.dtype.traits.llvm}], align 64"
        yield "  %n = load i64, ptr %params"
        yield from word("%rows", 1)
        for k, _ in enumerate(self.streams):
            yield from word(f"%across_{k}", outer.stride_index(k, 0))
            yield from word(f"%down_{k}", outer.stride_index(k, 1))
            yield f"  %group_{k} = mul i64 %down_{k}, {CHAINS}"
            yield f"  %pointer.at_{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %at{self.rank + 1}_{k} = load ptr, ptr %pointer.at_{k}"
        for number, sweep in enumerate(self.sweeps):
            yield f"  %operands{number} = alloca [{len(sweep.operands)} x ptr]"
            yield f"  %words{number} = alloca [{3 * (1 + len(sweep.operands))} x i64]"
            for fold, _ in enumerate(sweep.folds):
                yield f"  %levels{number}.{fold} = alloca [{LEVELS * COLUMNS} x float], align 64"
        yield f"  br label %{outer.first}"

    def _columns(self) -> Iterator[str]:
        yield "row:"
        yield "  br label %columns"
        yield "columns:"
        yield "  %first = phi i64 [0, %row], [%first.next, %columns.end]"
        yield "  %left = sub i64 %n, %first"
        yield f"  %last = icmp sle i64 %left, {COLUMNS}"
        yield f"  %count = select i1 %last, i64 %left, i64 {COLUMNS}"
        for k, stream in enumerate(self.streams):
            yield f"  %move_{k} = mul i64 %first, %across_{k}"
            yield f"  %at_{k} = getelementptr {stream.dtype.traits.llvm}, ptr %at2_{k}, i64 %move_{k}"
        for number, sweep in enumerate(self.sweeps):
            yield from self._sweep(number, sweep)
        yield "  br label %columns.end"
        yield "columns.end:"
        yield f"  %first.next = add i64 %first, {COLUMNS}"
        yield "  br i1 %last, label %close2, label %columns"

    def _sweep(self, number: int, sweep: SweepCall) -> Iterator[str]:
        if not sweep.whole_row:
            yield from self._call(f"one{number}", number, sweep, [("%count", self._across)], None)
        elif sweep.folds:
            yield from self._in_blocks(number, sweep)
        else:
            loops = [("%count", self._across), ("%rows", self._down), ("1", lambda _: "0")]
            yield f"  %some{number} = icmp sgt i64 %rows, 0"
            yield f"  br i1 %some{number}, label %whole{number}, label %swept{number}"
            yield f"whole{number}:"
            yield from self._call(f"all{number}", number, sweep, loops, "0")
            yield f"  br label %swept{number}"
            yield f"swept{number}:"

    def _in_blocks(self, number: int, sweep: SweepCall) -> Iterator[str]:
        name = f"%block{number}"
        yield f"  br label %blocks{number}.before"
        yield f"blocks{number}.before:"
        yield f"  br label %blocks{number}"
        yield f"blocks{number}:"
        yield f"  {name} = phi i64 [0, %blocks{number}.before], [{name}.next, %blocks{number}.end]"
        yield f"  {name}.at = mul i64 {name}, {BLOCK}"
        yield f"  {name}.left = sub i64 %rows, {name}.at"
        yield f"  {name}.last = icmp sle i64 {name}.left, {BLOCK}"
        yield f"  {name}.count = select i1 {name}.last, i64 {name}.left, i64 {BLOCK}"
        yield f"  {name}.groups = sdiv i64 {name}.count, {CHAINS}"
        yield f"  {name}.rest = srem i64 {name}.count, {CHAINS}"
        yield f"  {name}.done = mul i64 {name}.groups, {CHAINS}"
        yield f"  {name}.rest.at = add i64 {name}.at, {name}.done"
        for each in sweep.folds:
            yield f"  call void @{each.function}.fill(ptr %at_{each.terms})"
        for part, extent, groups, at in (
            ("groups", str(CHAINS), f"{name}.groups", f"{name}.at"),
            ("rest", f"{name}.rest", "1", f"{name}.rest.at"),
        ):
            yield f"  {name}.has.{part} = icmp sgt i64 {name}.{part}, 0"
            yield f"  br i1 {name}.has.{part}, label %{part}{number}, label %{part}{number}.end"
            yield f"{part}{number}:"
            loops = [("%count", self._across), (extent, self._down), (groups, self._group)]
            yield from self._call(f"{part}{number}", number, sweep, loops, at)
            yield f"  br label %{part}{number}.end"
            yield f"{part}{number}.end:"
        for fold, each in enumerate(sweep.folds):
            yield f"  call void @{each.function}.halve(ptr %at_{each.terms})"
            levels = f"ptr %levels{number}.{fold}"
            yield f"  call void @{each.function}.push({levels}, i64 {name}, ptr %at_{each.terms})"
        yield f"  br label %blocks{number}.end"
        yield f"blocks{number}.end:"
        yield f"  {name}.next = add i64 {name}, 1"
        yield f"  br i1 {name}.last, label %folded{number}, label %blocks{number}"
        yield f"folded{number}:"
        for fold, each in enumerate(sweep.folds):
            arguments = f"ptr %levels{number}.{fold}, i64 {name}.next, ptr %at_{each.result}"
            yield f"  call void @{each.function}.finish({arguments})"

    def _across(self, k: int) -> str:
        return f"%across_{k}" if k < len(self.streams) else "1"

    def _down(self, k: int) -> str:
        if k < len(self.streams):
            return f"%down_{k}"
        if any(fold.terms == k and fold.in_any_order for sweep in self.sweeps for fold in sweep.folds):
            return "0"
        return str(COLUMNS) if self.buffers[k - len(self.streams)].kind is BufferKind.TERMS else "0"

    def _group(self, k: int) -> str:
        return f"%group_{k}" if k < len(self.streams) else "0"

    def _call(
        self,
        name: str,
        number: int,
        sweep: SweepCall,
        loops: Sequence[tuple[str, Callable[[int], str]]],
        row: str | None,
    ) -> Iterator[str]:
        """A call over loops, each with its extent and the stride of every stream; from a row on, None has none."""
        words = [extent for extent, _ in loops]
        words += [stride(k) for k in sweep.operands for _, stride in loops]
        for place, value in enumerate(words):
            yield f"  %{name}.word{place} = getelementptr i64, ptr %words{number}, i64 {place}"
            yield f"  store i64 {value}, ptr %{name}.word{place}"
        for place, k in enumerate(sweep.operands):
            operand = f"%at_{k}"
            if row is not None and k < len(self.streams):
                operand = f"%{name}.from{place}"
                yield f"  {operand}.move = mul i64 {row}, %down_{k}"
                element = self.streams[k].dtype.traits.llvm
                yield f"  {operand} = getelementptr {element}, ptr %at_{k}, i64 {operand}.move"
            yield f"  %{name}.operand{place} = getelementptr ptr, ptr %operands{number}, i64 {place}"
            yield f"  store ptr {operand}, ptr %{name}.operand{place}"
        yield f"  call void @{sweep.function}(ptr %operands{number}, ptr %words{number})"


def column_functions(
    name: str, combine: Callable[..., str], identity: float, in_any_order: bool, isa: HostIsa, module: ModuleText
) -> Sequence[str]:
    """What the sweeps call for a reduction: ``fill`` chains, ``halve`` them, ``push`` a block's result, ``finish``.

    Args:
        name: Their symbols begin with it and a dot.
        combine: ``combine(b, x, y)`` over ops/emit.py.
        identity: What chains begin with.
        in_any_order: Whether there is one chain instead of `CHAINS`.
        isa: Decides the lanes of a vector.
        module: Gets the declarations that `combine` needs.
    """
    chains = 1 if in_any_order else CHAINS
    combining, filling = _vector_loops(name, combine, identity, chains, isa, module)
    return [combining, filling, _halve(name, chains), _push(name), _finish(name)]


def _vector_loops(
    name: str, combine: Callable[..., str], identity: float, chains: int, isa: HostIsa, module: ModuleText
) -> tuple[str, str]:
    """The functions ``combine`` of memory with other memory, and ``fill`` of the chains."""
    kind = f"<{isa.lanes} x float>"
    builder = LlvmVector(isa, module, prefix="r", block="vector")
    start = LlvmVector(isa, module, prefix="s", block="vector").const(identity)
    loop = [
        "entry:",
        "  br label %vector",
        "vector:",
        "  %at = phi i64 [0, %entry], [%at.next, %vector]",
        "  %to = getelementptr float, ptr %into, i64 %at",
    ]
    end = [
        f"  %at.next = add i64 %at, {isa.lanes}",
        "  %more = icmp slt i64 %at.next, %count",
        "  br i1 %more, label %vector, label %end",
        "end:",
        "  ret void",
        "}",
    ]
    result = combine(builder, "%x", "%y")
    combining = "\n".join(
        [
            f"define internal void @{name}.combine(ptr %into, ptr %from, i64 %count) nounwind {{",
            *loop,
            "  %source = getelementptr float, ptr %from, i64 %at",
            f"  %x = load {kind}, ptr %to, align 4",
            f"  %y = load {kind}, ptr %source, align 4",
            *builder.lines,
            f"  store {kind} {result}, ptr %to, align 4",
            *end,
        ]
    )
    filling = "\n".join(
        [
            f"define internal void @{name}.fill(ptr %into) nounwind {{",
            *loop,
            f"  store {kind} {start}, ptr %to, align 4",
            *(line.replace("%count", str(chains * COLUMNS)) for line in end),
        ]
    )
    return combining, filling


def _halve(name: str, chains: int) -> str:
    halves = [chains >> level for level in range(1, chains.bit_length())]
    return "\n".join(
        [
            f"define internal void @{name}.halve(ptr %chains) nounwind {{",
            "entry:",
            *(
                line
                for half in halves
                for line in (
                    f"  %upper{half} = getelementptr float, ptr %chains, i64 {half * COLUMNS}",
                    f"  call void @{name}.combine(ptr %chains, ptr %upper{half}, i64 {half * COLUMNS})",
                )
            ),
            "  ret void",
            "}",
        ]
    )


def _push(name: str) -> str:
    return "\n".join(
        [
            f"define internal void @{name}.push(ptr %levels, i64 %number, ptr %own) nounwind {{",
            "entry:",
            "  br label %level",
            "level:",
            "  %bits = phi i64 [%number, %entry], [%bits.next, %full]",
            "  %place = phi i64 [0, %entry], [%place.next, %full]",
            f"  %offset = mul i64 %place, {COLUMNS}",
            "  %at = getelementptr float, ptr %levels, i64 %offset",
            "  %bit = trunc i64 %bits to i1",
            "  br i1 %bit, label %full, label %free",
            "full:",
            f"  call void @{name}.combine(ptr %own, ptr %at, i64 {COLUMNS})",
            "  %bits.next = lshr i64 %bits, 1",
            "  %place.next = add i64 %place, 1",
            "  br label %level",
            "free:",
            f"  call void @llvm.memcpy.p0.p0.i64(ptr %at, ptr %own, i64 {4 * COLUMNS}, i1 false)",
            "  ret void",
            "}",
        ]
    )


def _finish(name: str) -> str:
    return "\n".join(
        [
            f"define internal void @{name}.finish(ptr %levels, i64 %blocks, ptr %result) nounwind {{",
            "entry:",
            "  %lowest = call i64 @llvm.cttz.i64(i64 %blocks, i1 true)",
            f"  %first = mul i64 %lowest, {COLUMNS}",
            "  %first.at = getelementptr float, ptr %levels, i64 %first",
            f"  call void @llvm.memcpy.p0.p0.i64(ptr %result, ptr %first.at, i64 {4 * COLUMNS}, i1 false)",
            "  br label %level",
            "level:",
            "  %place = phi i64 [%lowest, %entry], [%next, %more], [%next, %full]",
            "  %next = add i64 %place, 1",
            "  %left.bits = lshr i64 %blocks, %next",
            "  %some = icmp ne i64 %left.bits, 0",
            "  br i1 %some, label %more, label %done",
            "more:",
            "  %bit = trunc i64 %left.bits to i1",
            "  br i1 %bit, label %full, label %level",
            "full:",
            f"  %offset = mul i64 %next, {COLUMNS}",
            "  %at = getelementptr float, ptr %levels, i64 %offset",
            f"  call void @{name}.combine(ptr %result, ptr %at, i64 {COLUMNS})",
            "  br label %level",
            "done:",
            "  ret void",
            "}",
        ]
    )
