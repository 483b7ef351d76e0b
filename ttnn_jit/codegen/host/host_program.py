"""The host program of a scheduled module: its buffers, and one launch per ``d2m.generic``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.codegen.host.loop_fusion import fused_loops
from ttnn_jit.codegen.host_kernels import has_kernels, kernels_of
from ttnn_jit.codegen.kernel import Kernel
from ttnn_jit.codegen.kernel_reader import launches_of
from ttnn_jit.codegen.llvm_kernel import LlvmKernel, kernel_of
from ttnn_jit.codegen.loops import refusal
from ttnn_jit.codegen.steps import KernelBody
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.d2m import EmptyOp, GenericOp, ViewLayoutOp
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.ttcore import system_desc_of
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.runtime.l1 import in_l1
from ttnn_jit.runtime.plan import Launch, ProgramPlan


@dataclass(frozen=True)
class GeneratedProgram:
    """What codegen makes of a module.

    Attributes:
        plan: Buffers and launches.
        kernels: By name, every kernel of the plan.
        launched: For every launch, the kernel.
    """

    plan: ProgramPlan
    kernels: dict[str, LlvmKernel]
    launched: tuple[Kernel, ...]


def generate(module: ModuleOp, isa: HostIsa) -> GeneratedProgram:
    """Plan and kernels of the module's one function, as ``d2m-insert-dst-register-access`` left it.

    Raises:
        CompileError: The module holds what is no scheduled kernel.
    """
    written: dict[str, LlvmKernel] = {}

    def named(body: KernelBody) -> tuple[str, int]:
        kernel = kernel_of(body, isa)
        written[kernel.name] = kernel
        return kernel.name, kernel.picoseconds

    launched, plan_ = planned(module, named)
    return GeneratedProgram(plan_, written, tuple(launched))


def plan(module: ModuleOp, isa: HostIsa) -> ProgramPlan:
    """The plan alone; see `generate`."""
    return generate(module, isa).plan


def planned(module: ModuleOp, named: Callable[[KernelBody], tuple[str, int]]) -> tuple[list[Kernel], ProgramPlan]:
    """The launches of a scheduled module and its plan, in which `named` gives kernels their names and picoseconds.

    Raises:
        CompileError: The module holds what is no scheduled kernel.
    """
    function = the_function(module)
    block = function.body.block
    numerics = system_desc_of(module).numerics
    launched: list[tuple[Operation, Kernel]] = []
    returned: Sequence[SSAValue] = ()
    for op in block.ops:
        match op:
            case GenericOp():
                launched += launches_of(op, numerics)
            case _ if has_kernels(op):
                launched += ((op, kernel) for kernel in kernels_of(op, numerics))
            case ReturnOp():
                returned = op.arguments
            case EmptyOp() | ViewLayoutOp():
                pass
            case _:
                raise refusal(op, "it is no kernel", "run the stages up to `d2m-insert-dst-register-access`")
    kernels = fused_loops(launched)
    made = _written(kernel for _, kernel in launched)
    written = _written(kernels)
    outputs = [value for value in dict.fromkeys(returned) if value in written]
    order = [*block.args, *outputs, *(value for value in written if value not in outputs)]
    index = {value: k for k, value in enumerate(order)}
    specs = [spec_of(value.type) for value in order]
    inputs, visible = len(block.args), len(block.args) + len(outputs)
    launches = tuple(
        Launch(
            name,
            tuple(_buffer(index, function, each.value) for each in (*kernel.inputs, *kernel.outputs)),
            kernel.nest.params,
            picoseconds,
            len(kernel.outputs),
            kernel.nest.offsets,
            kernel.nest.reduced,
        )
        for kernel, (name, picoseconds) in ((kernel, named(kernel.body)) for kernel in kernels)
    )
    return kernels, ProgramPlan(
        name=function.sym_name.data,
        inputs=tuple(specs[:inputs]),
        outputs=tuple(specs[inputs:visible]),
        intermediates=tuple(specs[visible:]),
        unstored=tuple(filter(in_l1, (spec_of(value.type) for value in made if value not in index))),
        launches=launches,
        results=tuple(_buffer(index, function, value) for value in returned),
    )


def _written(kernels: Iterable[Kernel]) -> list[SSAValue]:
    return list(dict.fromkeys(output.value for kernel in kernels for output in kernel.outputs))


def _buffer(index: dict[SSAValue, int], function: FuncOp, value: SSAValue) -> int:
    if value not in index:
        raise refusal(function, "a tensor is read that neither the caller passes nor a kernel writes")
    return index[value]


def the_function(module: ModuleOp) -> FuncOp:
    """The one function with a body.

    Raises:
        CompileError: The module has none, or several.
    """
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp) and op.body.blocks]
    if len(functions) != 1:
        raise CompileError(f"a program is one function, the module has {len(functions)}", location=location_of(module))
    return functions[0]
