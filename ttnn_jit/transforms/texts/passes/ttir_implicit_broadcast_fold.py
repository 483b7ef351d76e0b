"""ttir-implicit-broadcast-fold: elementwise operations broadcast their operands themselves."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.greedy import rewrite
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.broadcasts import FOLDED
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTIRImplicitBroadcastFold(TextPass):
    """A `ttir.broadcast` before an elementwise operation is left out; if all are, it follows the operation."""

    name = "ttir-implicit-broadcast-fold"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Folds the broadcasts of a module."""
        rewrite(module, FOLDED, rewriter)
