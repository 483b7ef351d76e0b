"""ttnn-decompose-layouts: a `ttnn.to_layout` that changes several things becomes one operation for each."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.layout_steps import decompose_layout
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class TTNNDecomposeLayouts(TextPass):
    """Layout, memory, data type and place become `ttnn.to_layout`, `to_memory_config`, `typecast`, `to_device` ...."""

    name = "ttnn-decompose-layouts"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Decomposes the layouts of a module's functions."""
        for function in functions_of(module):
            for op in [*function.walk()]:
                if op.name == "ttnn.to_layout" and "memory_config" in op.properties:
                    rewriter.replace(op, [decompose_layout(op, rewriter)])
