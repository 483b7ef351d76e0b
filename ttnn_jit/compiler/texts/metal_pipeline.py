"""`ttir-to-ttmetal-pipeline` and `d2m-to-ttmetal-pipeline` over texts, as passes of the command line and managers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttnn_jit.compiler.texts.metal_programs import lower_to_d2m, require_options
from ttnn_jit.diagnostics.errors import RefusalError
from ttnn_jit.dialects.ttcore import SYSTEM_DESC
from ttnn_jit.dialects.upstream.rewriting.logical_tensors import drop_metal_layouts, moves_alone, to_moves_of_d2m
from ttnn_jit.dialects.upstream.rewriting.rewriter import device_module
from ttnn_jit.transforms.pipeline import TTMETAL_PIPELINE
from ttnn_jit.transforms.texts.d2m_passes.d2m_lower_to_layout import D2MLowerToLayout

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
        has_moves = moves_alone(op)
        if not has_moves:
            drop_metal_layouts(op)
        device = " ".join(each for each in self.options.split() if each.partition("=")[0] in _OF_DEVICE)
        registered = [] if SYSTEM_DESC in op.attributes else [("ttcore-register-device", device)]
        for name, given in (*registered, ("ttir-element-type-normalization", "")):
            for each in text_passes(name, given):
                each.apply(ctx, op)
        if has_moves:
            to_moves_of_d2m(op)
            D2MLowerToLayout().apply(ctx, op)
        lower_to_d2m(op, _mesh_of(op))


# --- From d2m ---------------------------------------------------------------------------------------------------------

FROM_D2M = "d2m-to-ttmetal-pipeline"

STAGES_ON_CORES = {
    "ttir-bufferization-pipeline": "tensors become buffers",
    "d2m-insert-scratch-buffers": "kernels get buffers for intermediate tiles",
    "d2m-generic-apply-interchange": "loops over blocks are exchanged",
    "d2m-generate-outer-loops": "loops over blocks are written out",
    "d2m-reblock-generics": "blocks get other sizes",
    "d2m-decompose-masking": "masks become loops over tiles",
    "d2m-mark-synchronized-buffers": "buffers that threads share are marked",
    "d2m-allocate": "buffers get addresses",
    "d2m-lower-multicast-loads": "one core reads a block for several",
    "d2m-generic-lower-to-explicit-form": "loads and stores name circular buffers",
    "d2m-be-pipeline": "threads of a core are split, and tiles go through DST",
    "d2m-to-ttkernel-pipeline": "threads become functions of ttkernel",
}
"""Stages between `d2m-lower-to-layout` and `d2m-to-ttmetal-pipeline` on a chip -> what they decide there.

They place blocks, buffers and threads on cores. The kernels of a CPU have none of these, and `d2m-to-ttmetal-pipeline`
makes them of the module as it is before. No such stage runs alone.
"""


def with_stages_merged(named: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Passes without the stages that `d2m-to-ttmetal-pipeline`, which follows them, is.

    Raises:
        ArgumentError: A stage has an unknown option.
        RefusalError: A stage has no `d2m-to-ttmetal-pipeline` behind it.
    """
    kept: list[tuple[str, str]] = []
    ends = [at for at, (name, _) in enumerate(named) if name == FROM_D2M]
    for at, (name, options) in enumerate(named):
        if name not in STAGES_ON_CORES:
            kept.append((name, options))
            continue
        require_options(options)
        if not any(end > at for end in ends):
            raise RefusalError(
                f"`{name}` is not run alone here ({STAGES_ON_CORES[name]})",
                help=f"it is a stage of `{FROM_D2M}`, which makes kernels for a CPU: name that behind it",
            )
    return kept


@dataclass(frozen=True)
class MetalPipelineOfD2M(ModulePass):
    """Lowers a text of d2m, whose layouts have been lowered, to scheduled kernels."""

    name = FROM_D2M

    options: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Lowers the functions of a module.

        Raises:
            ArgumentError: An option is unknown.
            CompileError: An op is not executed here.
        """
        require_options(self.options)
        module = device_module(op)
        if module is not op:
            op.attributes |= module.attributes
        lower_to_d2m(op, _mesh_of(op))


def _mesh_of(module: ModuleOp) -> tuple[int, ...]:
    """The extents of the mesh that a module names; one device if it names none."""
    meshes: Any = module.attributes.get("ttcore.meshes")
    return (1,) if meshes is None else tuple(meshes.value("meshes")[0].value("shape"))


METAL_PIPELINES = (MetalPipelineOfTexts, MetalPipelineOfD2M)
"""The passes that leave scheduled kernels."""
