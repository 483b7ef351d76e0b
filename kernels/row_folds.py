"""LLVM IR text of the functions that make one number of a row: of blocks, and of their results (ops/reduction.py).

Bound: a load of every element, and `CHAINS` chains of what combines two numbers, or more where any order will do.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

from ttnn_jit.kernels.chunk_folds import halved
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_float import LlvmFloat
from ttnn_jit.kernels.llvm_module import ModuleText
from ttnn_jit.kernels.llvm_vector import LlvmVector
from ttnn_jit.kernels.tail_copies import TailCopies
from ttnn_jit.ops.reduction import CHAINS
from ttnn_jit.process.dataclass import dataclass

_CHAINS_AT_ONCE = 8
"""Vectors of chains that hide the latency of what combines two numbers, where these may meet in any order."""


@dataclass(frozen=True)
class RowFold:
    """Three functions: ``float @name(ptr terms, i64 count)`` folds a block of at most `BLOCK` elements.

    ``void @name.push(ptr levels, i64 number, float value)`` takes the result of block `number`, in order from 0, and
    ``float @name.finish(ptr levels, i64 blocks)`` gives that of all: neighbours are folded as soon as both are there.

    Attributes:
        name: Their symbol.
        combine: ``combine(b, x, y)`` over ops/emit.py.
        identity: What chains begin with.
        in_any_order: Whether the order makes no difference: then there are more chains where that is faster.
        of_words: Whether elements are bfloat16, not float32.
        isa: Decides the lanes of a vector.
        module: Gets the declarations that `combine` needs.
    """

    name: str
    combine: Callable[..., str]
    identity: float
    in_any_order: bool
    of_words: bool
    isa: HostIsa
    module: ModuleText

    def definitions(self) -> Sequence[str]:
        """The functions."""
        return [self._fold(), *_levels(self.name, self.combine, self.isa, self.module)]

    @property
    def _vectors(self) -> int:
        own = CHAINS // self.isa.lanes
        return max(own, _CHAINS_AT_ONCE) if self.in_any_order else own

    def _builder(self, prefix: str, block: str) -> LlvmVector:
        return LlvmVector(self.isa, self.module, prefix=prefix, block=block)

    def _fold(self) -> str:
        vectors, lanes = self._vectors, self.isa.lanes
        step, kind = vectors * lanes, f"<{lanes} x float>"
        element, itemsize = ("i16", 2) if self.of_words else ("float", 4)
        start = LlvmFloat.const(self._builder("s", "entry"), self.identity)
        chains = [f"%chain{k}" for k in range(vectors)]
        lines = [f"define internal float @{self.name}(ptr %terms, i64 %n) nounwind {{", "entry:"]
        lines += [f"  %scratch = alloca [{step} x {element}], align 64", f"  %main = and i64 %n, {-step}"]
        lines += ["  %some = icmp ne i64 %main, 0", "  br i1 %some, label %chunk, label %after", "chunk:"]
        lines += ["  %at = phi i64 [0, %entry], [%at.next, %chunk]"]
        lines += [f"  {chain} = phi {kind} [{start}, %entry], [{chain}.next, %chunk]" for chain in chains]
        lines += self._combined("c", "%terms", "%at", chains)
        lines += [f"  %at.next = add i64 %at, {step}", "  %more = icmp slt i64 %at.next, %main"]
        lines += ["  br i1 %more, label %chunk, label %after", "after:"]
        lines += [f"  %sum{k} = phi {kind} [{start}, %entry], [%chain{k}.next, %chunk]" for k in range(vectors)]
        lines += ["  %rest = sub i64 %n, %main", "  %has.rest = icmp sgt i64 %rest, 0"]
        lines += ["  br i1 %has.rest, label %tail, label %folding", "tail:"]
        lines += [f"  %rest.at = getelementptr {element}, ptr %terms, i64 %main"]
        copies = TailCopies(element, itemsize, lanes, vectors, self.isa.avx512)
        self.module.declarations |= dict.fromkeys(copies.declarations)
        lines += copies.gather("%rest.copy", "%rest.at", "%scratch", self._filling(start))
        lines += self._combined("t", "%scratch", "0", [f"%sum{k}" for k in range(vectors)])
        lines += ["  br label %folding", "folding:"]
        lines += [f"  %all{k} = phi {kind} [%sum{k}, %after], [%sum{k}.next, %tail]" for k in range(vectors)]
        builder = self._builder("f", "folding")
        value = halved(builder, self.combine, [f"%all{k}" for k in range(vectors)])
        lines += builder.lines
        return "\n".join([*lines, f"  %result = extractelement {kind} {value}, i64 0", "  ret float %result", "}"])

    def _filling(self, start: str) -> str:
        """A vector of identities."""
        if not self.of_words:
            return start
        (bits,) = struct.unpack("<i", struct.pack("<f", self.identity))
        return f"splat (i16 {bits >> 16})"

    def _combined(self, prefix: str, source: str, at: str, into: list[str]) -> list[str]:
        """One vector of `source` combined into each chain; the results are ``<chain>.next``."""
        lanes = self.isa.lanes
        element, kind = "i16" if self.of_words else "float", f"<{lanes} x float>"
        builder = self._builder(f"{prefix}.r", "")
        lines, loaded = [], []
        for k, _ in enumerate(into):
            lines += [f"  %{prefix}.at{k} = getelementptr {element}, ptr {source}, i64 {at}"]
            lines += [f"  %{prefix}.v{k} = getelementptr <{lanes} x {element}>, ptr %{prefix}.at{k}, i64 {k}"]
            align = 2 if self.of_words else 4
            lines += [f"  %{prefix}.x{k} = load <{lanes} x {element}>, ptr %{prefix}.v{k}, align {align}"]
            loaded.append(f"%{prefix}.x{k}")
        values = [builder.load_bf16(words) for words in loaded] if self.of_words else loaded
        results = [self.combine(builder, chain, value) for chain, value in zip(into, values, strict=True)]
        lines += builder.lines
        named = zip(into, results, strict=True)
        return lines + [f"  {chain}.next = bitcast {kind} {result} to {kind}" for chain, result in named]


def _levels(name: str, combine: Callable[..., str], isa: HostIsa, module: ModuleText) -> Iterator[str]:
    """Binary counting: level i holds the result of 2**i neighbouring blocks where bit i of their number is set."""
    yield _push(name, _both("p", combine, isa, module))
    yield _finish(name, _both("f", combine, isa, module))


def _both(prefix: str, combine: Callable[..., str], isa: HostIsa, module: ModuleText) -> list[str]:
    """``%<prefix>.both`` of the floats ``%left`` and ``%own``, computed in the first lane."""
    builder = LlvmVector(isa, module, prefix=f"{prefix}.", block="")
    kind = f"<{isa.lanes} x float>"
    single = f"insertelement {kind} zeroinitializer, float"
    vectors = [f"  %{prefix}.operand{k} = {single} {value}, i64 0" for k, value in enumerate(("%left", "%own"))]
    result = combine(builder, f"%{prefix}.operand0", f"%{prefix}.operand1")
    return [*vectors, *builder.lines, f"  %{prefix}.both = extractelement {kind} {result}, i64 0"]


def _push(name: str, both: Sequence[str]) -> str:
    return "\n".join(
        [
            f"define internal void @{name}.push(ptr %levels, i64 %number, float %value) nounwind {{",
            "entry:",
            "  br label %level",
            "level:",
            "  %bits = phi i64 [%number, %entry], [%bits.next, %full]",
            "  %place = phi i64 [0, %entry], [%place.next, %full]",
            "  %own = phi float [%value, %entry], [%p.both, %full]",
            "  %at = getelementptr float, ptr %levels, i64 %place",
            "  %bit = trunc i64 %bits to i1",
            "  br i1 %bit, label %full, label %free",
            "full:",
            "  %left = load float, ptr %at",
            *both,
            "  %bits.next = lshr i64 %bits, 1",
            "  %place.next = add i64 %place, 1",
            "  br label %level",
            "free:",
            "  store float %own, ptr %at",
            "  ret void",
            "}",
        ]
    )


def _finish(name: str, both: Sequence[str]) -> str:
    return "\n".join(
        [
            f"define internal float @{name}.finish(ptr %levels, i64 %blocks) nounwind {{",
            "entry:",
            "  %lowest = call i64 @llvm.cttz.i64(i64 %blocks, i1 true)",
            "  %first.at = getelementptr float, ptr %levels, i64 %lowest",
            "  %first = load float, ptr %first.at",
            "  br label %level",
            "level:",
            "  %place = phi i64 [%lowest, %entry], [%next, %skip], [%next, %full]",
            "  %own = phi float [%first, %entry], [%own, %skip], [%f.both, %full]",
            "  %next = add i64 %place, 1",
            "  %left.bits = lshr i64 %blocks, %next",
            "  %some = icmp ne i64 %left.bits, 0",
            "  br i1 %some, label %more, label %done",
            "more:",
            "  %bit = trunc i64 %left.bits to i1",
            "  br i1 %bit, label %full, label %skip",
            "skip:",
            "  br label %level",
            "full:",
            "  %at = getelementptr float, ptr %levels, i64 %next",
            "  %left = load float, ptr %at",
            *both,
            "  br label %level",
            "done:",
            "  ret float %own",
            "}",
        ]
    )
