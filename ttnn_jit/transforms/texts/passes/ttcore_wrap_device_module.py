"""ttcore-wrap-device-module: puts a module into `ttcore.device_module`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, operation_kind
from ttnn_jit.dialects.writing.editing import append, detach_all
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTCoreWrapDeviceModule(TextPass):
    """What the module holds goes into a module in a `ttcore.device_module`; its attributes are kept on both."""

    name = "ttcore-wrap-device-module"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Wraps a module that has no `ttcore.device_module`."""
        if any(each.name == "ttcore.device_module" for each in op.body.block.ops):
            return
        inner = Block()
        append(inner, detach_all(op.body.block))
        module = ModuleOp(Region(inner), attributes=dict(op.attributes))
        module.location = op.location
        wrapper = operation_kind("ttcore.device_module").create(regions=[Region(Block([module]))])
        wrapper.location = op.location
        op.body.block.add_op(wrapper)

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Does nothing: `apply` works on the outermost module."""
