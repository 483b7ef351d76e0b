"""ttnn-force-final-deallocs: a buffer of several values is freed once."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.freed_buffers import force_last
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class TTNNForceFinalDeallocs(TextPass):
    """Of several `ttnn.deallocate` of one buffer, which reshapes share, the last is forced, and the others go.

    A buffer that is returned, or that a convolution frees itself, is freed by none.
    """

    name = "ttnn-force-final-deallocs"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Frees the buffers of a module's functions."""
        for function in functions_of(module):
            force_last(function, rewriter)
