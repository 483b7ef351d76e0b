"""Which stage a module in a file comes from, and what the stages behind it, up to codegen, make of it."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import ForOp

from ttnn_jit.dialects import ttnn, verify
from ttnn_jit.dialects.d2m import AcquireDstOp, GenericOp
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.transforms import pipeline
from ttnn_jit.transforms.passes.inline import leave_entry_point
from ttnn_jit.transforms.passes.inline_kernels import inline_kernels


def schedule(module: ModuleOp, after: str | None = None, entry: str | None = None) -> None:
    """Leave of `module` one program, and run the stages before codegen that it has not gone through.

    Args:
        module: A module of any stage.
        after: The stage that left it; None: its ops tell.
        entry: The entry point that is the program; None: the one that there is.

    Raises:
        CompileError: There is no such entry point, or several and no name; or a stage refuses the module.
    """
    has_launches = any(isinstance(op, ttnn.GenericOp) for op in module.walk())
    if has_launches:
        inline_kernels(module)
    leave_entry_point(module, entry)
    verify(module)
    stage = pipeline.SCHEDULED if has_launches else after or stage_of(module)
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
    in_ttnn = any(op.name.startswith("ttnn.") for op in ops)
    return pipeline.FRONTEND if in_ttnn else "convert-ttnn-to-ttir"
