"""ttir-reduction-force-keep-dim: reductions keep their dimensions, and a reshape drops them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.greedy import rewrite
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.fusions import KEPT_DIMENSIONS
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTIRReductionForceKeepDim(TextPass):
    """A reduction without `keep_dim` has it, and `ttir.reshape` drops its dimensions; the inverse of a fusion."""

    name = "ttir-reduction-force-keep-dim"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Rewrites the reductions of a module."""
        rewrite(module, KEPT_DIMENSIONS.by_name, rewriter)
