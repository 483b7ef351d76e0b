"""ttir-fold-constant-reshape-broadcast: movements of one number are constants."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.constant_operands import fold_moved_constants
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTIRFoldConstantReshapeBroadcast(TextPass):
    """Reshapes and broadcasts of a constant of one number become constants, before arithmetic and broadcasts."""

    name = "ttir-fold-constant-reshape-broadcast"
    default_version = AUGUST

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Folds the movements of a module."""
        fold_moved_constants(module, rewriter)
