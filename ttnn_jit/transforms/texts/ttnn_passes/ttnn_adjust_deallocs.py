"""ttnn-adjust-deallocs: what later calls read is not freed."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.freed_buffers import keep_arguments
from ttnn_jit.transforms.texts.passes.tt_populate_argument_types import argument_kind
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class TTNNAdjustDeallocs(TextPass):
    """A `ttnn.deallocate` of a parameter, a constant or a result of `ttcore.load_cached` is erased."""

    name = "ttnn-adjust-deallocs"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Keeps what the functions of a module read again."""
        for function in functions_of(module):
            arguments = function.body.block.args
            kept = {each for each in arguments if argument_kind(function, each.index) in {"parameter", "constant"}}
            keep_arguments(function, kept, rewriter)
