"""`ttir-to-ttmetal-pipeline` over texts of TTIR, as a pass of the command line and of pass managers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttnn_jit.compiler.texts.metal_programs import lower_to_d2m, require_options
from ttnn_jit.dialects.ttcore import SYSTEM_DESC
from ttnn_jit.dialects.upstream.rewriting.logical_tensors import drop_metal_layouts
from ttnn_jit.transforms.pipeline import TTMETAL_PIPELINE

_OF_DEVICE = ("system-desc-path", "mock-system-desc-arch", "mesh-shape", "mesh-topology")
"""Options that describe the device."""


def takes_texts(name: str, options: str) -> bool:
    """Whether a pass of that name is this one: without ``ttnn-mode=true``, which takes modules with layouts."""
    return name == TTMETAL_PIPELINE and "ttnn-mode=true" not in options.split()


@dataclass(frozen=True)
class MetalPipelineOfTexts(ModulePass):
    """Lowers a text of TTIR to scheduled kernels of d2m; a device is registered if none is.

    Attributes:
        options: The options, ``name=value name=value``.
    """

    name = TTMETAL_PIPELINE

    options: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lowers the functions of a module.

        Raises:
            ArgumentError: An option is unknown.
            CompileError: An op is not executed here.
        """
        from ttnn_jit.transforms.texts.registry import text_passes

        require_options(self.options)
        drop_metal_layouts(op)
        device = " ".join(each for each in self.options.split() if each.partition("=")[0] in _OF_DEVICE)
        registered = [] if SYSTEM_DESC in op.attributes else [("ttcore-register-device", device)]
        for name, given in (*registered, ("ttir-element-type-normalization", "")):
            for each in text_passes(name, given):
                each.apply(ctx, op)
        lower_to_d2m(op, _mesh_of(op))


def _mesh_of(module: ModuleOp) -> tuple[int, ...]:
    """The extents of the mesh that a module names; one device if it names none."""
    meshes: Any = module.attributes.get("ttcore.meshes")
    return (1,) if meshes is None else tuple(meshes.value("meshes")[0].value("shape"))
