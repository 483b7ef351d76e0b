"""ttir-erase-inverse-ops: permutes and reshapes move until inverse ones meet and are erased."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.upstream.rewriting.greedy import rewrite
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.commuting import DOWNWARDS, UPWARDS, is_move
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class TTIREraseInverseOps(TextPass):
    """`ttir.permute` and `ttir.reshape` move above and below other operations, by turns, until their number stays.

    Attributes:
        enable_commute_upwards: Whether they move above.
        enable_commute_downwards: Whether they move below.
        force: Whether functions without a flattened convolution or pool are rewritten too.
        max_iterations: How many turns there may be.
    """

    name = "ttir-erase-inverse-ops"

    enable_commute_upwards: bool = True
    enable_commute_downwards: bool = True
    force: bool = False
    max_iterations: int = 100

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Rewrites the functions of a module."""
        for function in functions_of(module):
            if self.force or any("flattened_compat_info" in op.properties for op in function.walk()):
                self._erase(function, rewriter)

    def _erase(self, function: FuncOp, rewriter: Rewriter) -> None:
        before = (-1, -1)
        for _ in range(self.max_iterations):
            if self.enable_commute_upwards:
                rewrite(function, UPWARDS, rewriter)
            above = _moves(function)
            if self.enable_commute_downwards:
                rewrite(function, DOWNWARDS, rewriter)
            counts = above, _moves(function)
            if counts == before:
                if counts[0] < counts[1] and self.enable_commute_upwards:
                    rewrite(function, UPWARDS, rewriter)
                return
            before = counts
        raise CompileError(
            f"EraseInverseOps: TM count has not converged after {self.max_iterations} iterations.",
            location=location_of(function),
        )


def _moves(function: FuncOp) -> int:
    return sum(map(is_move, function.walk()))
