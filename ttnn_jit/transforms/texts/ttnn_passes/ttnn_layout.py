"""ttnn-layout: every tensor of a text gets a `#ttnn.ttnn_layout`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.composite_calls import is_decomposition
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.layout_assignment import assign_layouts
from ttnn_jit.transforms.texts.passes.tt_populate_argument_types import argument_kind
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class TTNNLayout(TextPass):
    """Tensors lie in DRAM, in tiles, interleaved, and `ttir.to_layout` stands where an operation needs another layout.

    Arguments of the kind `input` are row-major; what a `ttir.mesh_shard` reads and makes lies on the host.
    """

    name = "ttnn-layout"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Lays out the tensors of a module's functions."""
        for function in functions_of(module):
            count = len(function.body.block.args)
            inputs = {index for index in range(count) if argument_kind(function, index) == "input"}
            if is_decomposition(function):
                inputs = set()  # its composite passes tiles
            assign_layouts(function, inputs.__contains__, rewriter)
