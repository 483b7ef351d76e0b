"""A batch of dot products: each product has one row and one column, and the batch is the innermost loop.

Both operands move along the innermost loop; each of its products is a lane. Two vectors of products are packed, some
terms at a time, and transposed in registers if their terms are contiguous. A step adds one product to every lane's
accumulator.

Bound: packing, with log2(lanes) shuffles for each vector of words.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.contraction.contracting_loops import LEFT, RIGHT, ContractingLoops, Product, rest_of
from ttnn_jit.kernels.contraction.contracting_tiles import Microkernel
from ttnn_jit.kernels.llvm.function import Parameter
from ttnn_jit.kernels.llvm.types import I1, I64, PTR, VOID
from ttnn_jit.kernels.llvm.values import Value, i64
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import TILE_WIDTH

DEPTH = 64
"""Steps that are packed at a time: with two vectors of both operands at most 16 KB, in the L1 cache."""
_VECTORS = 2


@dataclass(frozen=True)
class DotMicrokernel(Microkernel):
    """A microkernel of one row, in which every column has its own left factor."""

    def _left(self, b: LlvmVector, left: Value) -> list[Value]:
        return self._packed(b, left)

    def _factors(self, rows: Sequence[Value], columns: Sequence[Value]) -> list[tuple[Value, Value]]:
        return list(zip(rows, columns, strict=True))


@dataclass(frozen=True)
class DotContraction(ContractingLoops):
    """Products of one row and one column each."""

    def definitions(self) -> list[str]:
        """See the base class."""
        words, sides = self._steps * self._panel, (LEFT, RIGHT)
        kernel = self._kernel(self._panel, left_packed=words, right_packed=words, block=self._panel)
        return [kernel, self._tile(), *(self._packing(side, self._panel, self._steps) for side in sides)]

    @property
    def panels(self) -> None:
        """None: adjacent columns belong to different products."""

    @property
    def _panel(self) -> int:
        return _VECTORS * self.isa.lanes

    @property
    def _steps(self) -> int:
        return TILE_WIDTH // self._terms if self._rounds_tiles else DEPTH

    def _blocks(self, p: Product) -> None:
        with p.count("column", p.columns, step=self._panel) as column:
            width = rest_of(p, p.columns, column.index, self._panel)
            starts = {"left": p.column(self.left, column.index), "right": p.column(self.right, column.index)}
            with p.count("term", p.depth.steps) as depth:
                index = p.depth.index(depth.index)
                depth.step = run = p.depth.run(index, self._steps * self._terms)
                for name, k in (("left", self.left), ("right", self.right)):
                    source = p.moved(k, starts[name], p.depth.offset(index, k))
                    scalars = width, run, p.across[k], p.depth.strides[k][0]
                    p.call(VOID, f"ttnn_jit.pack_{name}", p.memory[f"{name}_packed"], source, *scalars)
                packed = p.memory["left_packed"], p.memory["right_packed"], p.memory["block"]
                p.call(VOID, "ttnn_jit.tile", *packed, p.compare("eq", depth.index, 0), self._steps_of(p, run))
            p.finish(i64(0), i64(1), column.index, width)

    def _tile(self) -> str:
        factors = (Parameter(name, PTR, "noalias readonly") for name in ("left", "right"))
        rest = Parameter("block", PTR, "noalias"), Parameter("is.first", I1), Parameter("steps", I64)
        b = self._function("tile", [*factors, *rest])
        self._microkernel((1, _VECTORS, self._panel, self._panel), kind=DotMicrokernel).over_steps(b, *b.parameters)
        return b.build()
