"""ttnn-resolve-composites: composites become operations of TTNN, or those of their functions."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects.upstream.rewriting.composite_calls import COMPOSITE, erase_unused, inline, promote
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.transforms.texts.text_pass import TextPass

_RESOLUTIONS = ("auto", "inline", "force-promote")


@dataclass(frozen=True)
class TTNNResolveComposites(TextPass):
    """The operations of its function replace a `ttcore.composite`, or one of TTNN with its name does.

    Attributes:
        composite_resolution: `auto` and `inline`: the function's operations; `force-promote`: the operation of its
            name, if there is one.
    """

    name = "ttnn-resolve-composites"

    composite_resolution: str = "auto"

    def __post_init__(self) -> None:
        """Refuses an unknown resolution, and `validate`."""
        super().__post_init__()
        if self.composite_resolution == "validate":
            raise ArgumentError("`composite-resolution=validate` is not run here: it asks a model of the chip")
        if self.composite_resolution not in _RESOLUTIONS:
            raise ArgumentError(
                f"`composite-resolution={self.composite_resolution}`", help=f"it is one of {', '.join(_RESOLUTIONS)}"
            )

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Resolves the composites of a module."""
        promotes = self.composite_resolution == "force-promote"
        for op in [each for each in module.walk() if each.name == COMPOSITE]:
            if not promotes or not promote(op, rewriter):
                inline(op, rewriter)
        erase_unused(module)
