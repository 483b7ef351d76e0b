"""ttcore-unwrap-device-module: takes a module out of `ttcore.device_module`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, device_module
from ttnn_jit.dialects.writing.editing import append, detach, detach_all, discard
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTCoreUnwrapDeviceModule(TextPass):
    """The module of the device replaces the outermost one; the module of the CPU is erased."""

    name = "ttcore-unwrap-device-module"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Unwraps a module that has a `ttcore.device_module`."""
        inner = device_module(op)
        if inner is op:
            return
        held = detach_all(inner.body.block)
        attributes = dict(inner.attributes)
        for each in [*op.body.block.ops]:
            if each.name in {"ttcore.device_module", "ttcore.cpu_module"}:
                detach(each)
                discard(each)
        append(op.body.block, held)
        for name, value in attributes.items():
            op.attributes.setdefault(name, value)

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Does nothing: `apply` works on the outermost module."""
