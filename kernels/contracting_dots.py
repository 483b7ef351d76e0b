"""A batch of dot products: products of one row and one column each, many of them beside each other.

Both operands move along the innermost loop, whose products are lanes. As many of them as two vectors hold are packed
some terms at a time, transposed in registers where their terms lie beside each other, and a step adds one product to
every lane's chain.

Bound: that of packing, a shuffle for each bit of a lane's number and vector of words.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.contracting_loops import ContractingLoops, Product, part
from ttnn_jit.kernels.contracting_packing import Packing
from ttnn_jit.kernels.contracting_tiles import Microkernel
from ttnn_jit.kernels.llvm.function import Parameter
from ttnn_jit.kernels.llvm.types import I1, I64, PTR, VOID
from ttnn_jit.kernels.llvm.values import Value, i64
from ttnn_jit.kernels.llvm_vector import LlvmVector
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import TILE_WIDTH

DEPTH = 64
"""Steps that are packed at a time: with two vectors of both operands 16 KB at most, in the first cache."""
_VECTORS = 2


@dataclass(frozen=True)
class DotMicrokernel(Microkernel):
    """A row of results each of which has a left factor of its own."""

    def _left(self, b: LlvmVector, left: Value) -> list[Value]:
        return self._packed(b, left)

    def _factors(self, rows: Sequence[Value], columns: Sequence[Value]) -> list[tuple[Value, Value]]:
        return list(zip(rows, columns, strict=True))


@dataclass(frozen=True)
class DotContraction(ContractingLoops):
    """Products of one row and one column each."""

    def definitions(self) -> list[str]:
        """See the base class."""
        packing = (self._side("left", self.left), self._side("right", self.right))
        return [self._kernel(), self._tile(), *(each.definition() for each in packing)]

    @property
    def panels(self) -> None:
        """None: columns of different products lie side by side."""

    @property
    def _panel(self) -> int:
        return _VECTORS * self.isa.lanes

    @property
    def _steps(self) -> int:
        return TILE_WIDTH // self._terms if self._rounds_tiles else DEPTH

    @property
    def _rows_kept(self) -> int:
        return 1

    @property
    def _left_width(self) -> int:
        return self._panel

    @property
    def pitch(self) -> int:
        """See the base class."""
        return self._panel

    @property
    def memory(self) -> dict[str, int]:
        """See the base class."""
        words = self._steps * self._panel
        return {"left.packed": words, "right.packed": words, "block": self._panel}

    def _side(self, name: str, k: int) -> Packing:
        own = self._panel, self.in_pairs, self._steps * self._panel, self.module, self.isa.lanes
        return Packing(f"ttnn_jit.pack_{name}", self.element(k), *own, cut=self._cut(name))

    def _blocks(self, p: Product) -> None:
        with p.count("column", p.columns, step=self._panel) as column:
            width = part(p, p.columns, column.index, self._panel)
            starts = {"left": p.column(self.left, column.index), "right": p.column(self.right, column.index)}
            with p.loop("depth", ("term", i64(0))) as depth:
                (term,) = depth.values
                index = p.depth.index(term)
                run = p.depth.run(index, self._steps * self._terms)
                for name, k in (("left", self.left), ("right", self.right)):
                    source = p.moved(k, starts[name], p.depth.offset(index, k))
                    words = width, run, p.across[k], p.depth.strides[k][0]
                    p.call(VOID, f"ttnn_jit.pack_{name}", p.memory[f"{name}.packed"], source, *words)
                packed = p.memory["left.packed"], p.memory["right.packed"], p.memory["block"]
                p.call(VOID, "ttnn_jit.tile", *packed, p.compare("eq", term, 0), self._steps_of(p, run))
                following = p.add(term, run)
                depth.again_if(p.compare("slt", following, p.depth.steps), following)
            p.finish(i64(0), i64(1), column.index, width)

    def _tile(self) -> str:
        factors = (Parameter(name, PTR, "noalias readonly") for name in ("left", "right"))
        rest = Parameter("block", PTR, "noalias"), Parameter("is.first", I1), Parameter("steps", I64)
        b = self._function("tile", [*factors, *rest])
        left, right, block, is_first, steps = b.parameters
        self._microkernel_of(1, _VECTORS, kind=DotMicrokernel).over_steps(b, left, right, block, is_first, steps)
        b.give_back()
        return b.text
