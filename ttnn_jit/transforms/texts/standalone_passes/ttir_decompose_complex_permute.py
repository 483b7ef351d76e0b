"""ttir-decompose-complex-permute: permutations in steps that move the last dimension by one place at most."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.greedy import rewrite
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.movement_steps import PERMUTED_IN_STEPS
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTIRDecomposeComplexPermute(TextPass):
    """A `ttir.permute` becomes up to three, each of which swaps the last two dimensions or leaves the last one."""

    name = "ttir-decompose-complex-permute"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Rewrites the permutations of a module."""
        rewrite(module, PERMUTED_IN_STEPS, rewriter, erases_dead=False)
