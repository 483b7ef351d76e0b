"""ttir-fold-full-to-scalar: tensors of one number hold one element."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.greedy import rewrite
from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.constant_operands import ONE_ELEMENT
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTIRFoldFullToScalar(TextPass):
    """`full`, `zeros` and `ones` that only elementwise operations read get one element, which these broadcast."""

    name = "ttir-fold-full-to-scalar"
    default_version = AUGUST

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Makes the tensors of a module small."""
        rewrite(module, ONE_ELEMENT, rewriter)
