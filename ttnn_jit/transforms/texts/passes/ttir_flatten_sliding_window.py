"""ttir-flatten-sliding-window: convolutions and pools read flattened images, as TTNN's do."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.greedy import rewrite
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliding_windows import FLATTENED
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTIRFlattenSlidingWindow(TextPass):
    """Images of (N, H, W, C) become (1, 1, N * H * W, C) before convolutions and pools, and their results again."""

    name = "ttir-flatten-sliding-window"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Flattens the images of a module."""
        rewrite(module, FLATTENED, rewriter, erases_dead=False)
