"""Which stage a module in a file comes from, and what the stages behind it, up to codegen, make of it."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import ForOp

from ttnn_jit.dialects import operation_of, ttnn, verify
from ttnn_jit.dialects.d2m import AcquireDstOp, GenericOp
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.transforms import pipeline
from ttnn_jit.transforms.inline_kernels import inline_kernels


def schedule(module: ModuleOp, after: str | None = None) -> None:
    """Run the stages before codegen that `module` has not gone through; its ops tell which, or `after` does."""
    stage = after or stage_of(module)
    if any(isinstance(op, ttnn.GenericOp) for op in module.walk()):
        inline_kernels(module)
        verify(module)
        stage = pipeline.SCHEDULED
    if stage != pipeline.SCHEDULED:
        pipeline.run(module, CompileOptions(), start_after=stage, until=pipeline.SCHEDULED)


def stage_of(module: ModuleOp) -> str:
    """The stage that must have left a module, judged by the ops in it.

    Where several could have, the latest whose successors do no harm: stages after fusion change nothing that is done.
    """
    ops = list(module.walk())
    if any(isinstance(op, AcquireDstOp) for op in ops):
        return pipeline.SCHEDULED
    generics = [op for op in ops if isinstance(op, GenericOp)]
    if generics:
        if all("d2m.dst_peak" in op.attributes for op in generics):
            return "d2m-op-scheduler"
        return "d2m-generic-tile-compute-loops" if any(isinstance(op, ForOp) for op in ops) else "convert-ttir-to-d2m"
    in_ttnn = any(op.name.startswith("ttnn.") and operation_of(op) for op in ops)
    return pipeline.FRONTEND if in_ttnn else "convert-ttnn-to-ttir"
