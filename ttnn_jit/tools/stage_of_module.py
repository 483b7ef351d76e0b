"""Detects the last stage that a module has gone through, and runs the remaining stages before codegen."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import ForOp

from ttnn_jit.dialects import ttnn, verify
from ttnn_jit.dialects.d2m import AcquireDstOp, GenericOp
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.transforms import pipeline
from ttnn_jit.transforms.passes.inline import reduce_to_entry_point
from ttnn_jit.transforms.passes.inline_kernels import inline_kernels


def schedule(module: ModuleOp, after: str | None = None, entry: str | None = None) -> None:
    """Reduces `module` to one program, and runs the stages before codegen that it has not gone through.

    Args:
        module: A module after any stage.
        after: That stage; None: it is detected from the ops.
        entry: The entry point; None: the only one.

    Raises:
        CompileError: There is no such entry point, or several and no name is given; or a stage refuses the module.
    """
    has_launches = any(isinstance(op, ttnn.GenericOp) for op in module.walk())
    if has_launches:
        inline_kernels(module)
    reduce_to_entry_point(module, entry)
    verify(module)
    stage = pipeline.SCHEDULED if has_launches else after or stage_of(module)
    if stage != pipeline.SCHEDULED:
        pipeline.run(module, CompileOptions(), start_after=stage, until=pipeline.SCHEDULED)


def stage_of(module: ModuleOp) -> str:
    """The last stage that a module has gone through, detected from its ops.

    If several stages are possible, it is the latest whose successors may run again: stages after fusion are idempotent.
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
