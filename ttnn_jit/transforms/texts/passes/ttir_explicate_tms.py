"""ttir-explicate-tms: implicit broadcasts and reshapes of elementwise operations become operations."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.greedy import rewrite
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.broadcasts import EXPLICIT
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTIRExplicateTMs(TextPass):
    """Operands of elementwise operations get the shape of the result, by `ttir.reshape` and `ttir.broadcast`."""

    name = "ttir-explicate-tms"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Makes the tensor manipulations of a module explicit."""
        rewrite(module, EXPLICIT, rewriter, erases_dead=False)
