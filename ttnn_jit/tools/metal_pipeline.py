"""`ttir-to-ttmetal-pipeline` over texts of TTIR, as a pass of the command line."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttnn_jit.transforms.pipeline import TTMETAL_PIPELINE

_OF_DEVICE = ("system-desc-path", "mock-system-desc-arch", "mesh-shape", "mesh-topology")
"""Options that describe the device."""


def is_metal_of_texts(name: str, options: str) -> bool:
    """Whether a pass of the command line is this one: without ``ttnn-mode=true``, which takes modules with layouts."""
    return name == TTMETAL_PIPELINE and "ttnn-mode=true" not in options.split()


@dataclass(frozen=True)
class MetalPipelineOfTexts(ModulePass):
    """Lowers a text of TTIR to scheduled kernels of d2m.

    Attributes:
        options: The options, ``name=value name=value``.
    """

    name = TTMETAL_PIPELINE

    options: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lowers the functions of a module."""
        from ttnn_jit.compiler.texts.metal_programs import lower_to_d2m, require_options
        from ttnn_jit.tools.texts.run_text import mesh_of
        from ttnn_jit.transforms.texts.registry import text_passes

        require_options(self.options)
        device = " ".join(each for each in self.options.split() if each.partition("=")[0] in _OF_DEVICE)
        for name, given in (("ttcore-register-device", device), ("ttir-element-type-normalization", "")):
            for each in text_passes(name, given):
                each.apply(ctx, op)
        lower_to_d2m(op, mesh_of(None, op))
