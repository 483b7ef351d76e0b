"""ttnn-ccl-activation-dtype-lowering: activations go between devices as block floats."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.activation_types import narrow_activations
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTNNCCLActivationDtypeLowering(TextPass):
    """Products before collectives and a residual, or a gate, give bfp_bf8; the sum with the residual keeps its type."""

    name = "ttnn-ccl-activation-dtype-lowering"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Narrows the activations of a module."""
        narrow_activations(module, rewriter)
