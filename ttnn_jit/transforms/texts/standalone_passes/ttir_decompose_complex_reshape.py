"""ttir-decompose-complex-reshape: reshapes that give or take a last dimension of 1 swap it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.greedy import rewrite
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.movement_steps import RESHAPED_IN_STEPS
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTIRDecomposeComplexReshape(TextPass):
    """A reshape that gives or takes a last dimension of 1 becomes a swap of the last two dimensions and a reshape."""

    name = "ttir-decompose-complex-reshape"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Rewrites the reshapes of a module."""
        rewrite(module, RESHAPED_IN_STEPS, rewriter, erases_dead=False)
