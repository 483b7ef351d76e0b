"""ttnn-fusing: activations become attributes of the products and convolutions before them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.greedy import rewrite
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.ttnn_fusions import FUSIONS
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTNNFusing(TextPass):
    """`ttnn.relu`, `relu6`, `silu` and `sigmoid` after a convolution, `silu` and `sigmoid` after a product."""

    name = "ttnn-fusing"
    refused = {"enable-op-constraints": "it asks a model of the chip"}  # noqa: RUF012

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Fuses the activations of a module."""
        rewrite(module, FUSIONS, rewriter)
