"""The host program of a scheduled module: its launches, and the buffers between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from ttnn_jit.codegen.bound_kernel import BoundKernel
from ttnn_jit.codegen.host.buffer_reuse import buffer_of
from ttnn_jit.codegen.host.host_plan import HostLaunch, HostPlan
from ttnn_jit.codegen.host.host_steps import HOST_STEPS
from ttnn_jit.codegen.host.in_place import written_in_place
from ttnn_jit.codegen.host.score_blocks import in_order, kept_specs
from ttnn_jit.codegen.host_kernels import has_kernels, kernels_of
from ttnn_jit.codegen.kernel_reader import launches_of
from ttnn_jit.codegen.llvm_kernel import LlvmKernel, kernel_of
from ttnn_jit.codegen.loops import refusal, refuse_packed
from ttnn_jit.codegen.module_reader import ModuleReader
from ttnn_jit.codegen.plan_value import PlanValue
from ttnn_jit.dialects.argument_notes import updates_of
from ttnn_jit.dialects.d2m import EmptyOp, GenericOp, MaskOp, ViewLayoutOp
from ttnn_jit.dialects.functions import the_function
from ttnn_jit.dialects.ttcore import system_desc_of
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.progress import LONG, counted
from ttnn_jit.runtime.l1 import in_l1
from ttnn_jit.runtime.plan import Launch, ProgramPlan


@dataclass(frozen=True)
class GeneratedProgram:
    """What codegen makes of a module.

    Attributes:
        plan: Buffers and launches.
        kernels: By name, every kernel of the plan.
        host: For every launch, what it runs and how.
    """

    plan: ProgramPlan
    kernels: dict[str, LlvmKernel]
    host: HostPlan


def generate(module: ModuleOp, isa: HostIsa) -> GeneratedProgram:
    """Plan and kernels of the module's one function, as ``d2m-insert-dst-register-access`` left it.

    Raises:
        CompileError: The module holds what is no scheduled kernel.
    """
    host = host_plan(module, isa)
    launches = counted(host.launches, len(host.launches), "compiling, launches", after=LONG)
    written = [kernel_of(launch.bound.kernel, isa) for launch in launches]
    panels = {kernel.name: kernel.panels for kernel in written}
    plan = program_plan(host, [(kernel.name, kernel.picoseconds) for kernel in written], panels)
    return GeneratedProgram(plan, {kernel.name: kernel for kernel in written}, host)


def host_plan(module: ModuleOp, isa: HostIsa | None) -> HostPlan:
    """The launches of a scheduled module after all steps; without `isa`, another compiler chooses their vectors.

    Raises:
        CompileError: The module holds what is no scheduled kernel.
    """
    plan = _as_written(the_function(module), ModuleReader(system_desc_of(module).numerics), isa)
    for step in HOST_STEPS:
        plan = step(plan)
    return plan


def _as_written(function: FuncOp, reader: ModuleReader, isa: HostIsa | None) -> HostPlan:
    """The plan before any step: a launch for every kernel of the function, in program order."""
    block = function.body.block
    own = (pair for op in block.ops for pair in _kernels(op, reader))
    launches = tuple(HostLaunch((op,), bound) for op, bound in own)
    returned = next((op.arguments for op in block.ops if isinstance(op, ReturnOp)), ())
    arguments, results = (tuple(map(reader.value, values)) for values in (block.args, returned))
    written = tuple(_written(launch.bound for launch in launches))
    read = {operand.value for launch in launches for operand in launch.bound.inputs}
    if not read.union(results) <= {*arguments, *written}:
        raise refusal(function, "a tensor is read that neither the caller passes nor a kernel writes")
    name = function.sym_name.data
    return HostPlan(name, launches, arguments, results, updates_of(function), written, isa)


def _kernels(op: Operation, reader: ModuleReader) -> Iterable[tuple[Operation, BoundKernel]]:
    refuse_packed(op)
    match op:
        case GenericOp():
            return launches_of(op, reader)
        case _ if has_kernels(op):
            return ((op, bound) for bound in kernels_of(op, reader))
        case EmptyOp() | ViewLayoutOp() | MaskOp() | ReturnOp():
            return ()
        case _:
            raise refusal(op, "it is no kernel", "run the stages up to `d2m-insert-dst-register-access`")


NO_PANELS: Mapping[str, tuple[int, ...]] = {}


def program_plan(
    host: HostPlan, named: Sequence[tuple[str, int]], panels: Mapping[str, tuple[int, ...]] = NO_PANELS
) -> ProgramPlan:
    """Buffers and launches of a program.

    Args:
        host: Its launches.
        named: Of every launch, its kernel's name, and the picoseconds that it is predicted to take for an element.
        panels: By kernel that has them, as `Launch` does.
    """
    kernels = [launch.bound for launch in host.launches]
    written = _written(kernels)
    outputs = [value for value in dict.fromkeys(host.results) if value in written]
    kept = kept_specs(host.launches)
    order_of_runs = tuple(in_order(host.launches))
    touched = [_values(kernels[place]) for place, _ in order_of_runs]
    between = {value: kept.get(value) or value.spec for value in written if value not in outputs}
    buffers = buffer_of(touched, between)
    order = [*host.arguments, *outputs, *dict.fromkeys(buffers.values())]
    index = {value: k for k, value in enumerate(order)}
    index |= {value: index[buffer] for value, buffer in buffers.items()}
    specs = [between.get(value) or value.spec for value in order]
    inputs, visible = len(host.arguments), len(host.arguments) + len(outputs)
    launches = tuple(
        Launch(
            named[place][0],
            tuple(index[value] for value in values),
            nest.params,
            named[place][1],
            len(kernels[place].outputs),
            nest.offsets,
            nest.reduced,
            panels.get(named[place][0], ()),
        )
        for (place, nest), values in zip(order_of_runs, touched, strict=True)
    )
    run_of = {place: run for run, (place, _) in reversed([*enumerate(order_of_runs)])}
    in_place = tuple(written_in_place(host))
    return ProgramPlan(
        name=host.name,
        inputs=tuple(specs[:inputs]),
        outputs=tuple(specs[inputs:visible]),
        intermediates=tuple(specs[visible:]),
        unstored=tuple(filter(in_l1, (value.spec for value in host.written if value not in index))),
        launches=launches,
        results=tuple(index[value] for value in host.results),
        updates=host.updates,
        in_place=tuple(each.argument for each in in_place),
        copies=tuple(run_of[each.copy] for each in in_place if each.copy is not None),
    )


def _values(kernel: BoundKernel) -> tuple[PlanValue, ...]:
    return tuple(each.value for each in (*kernel.inputs, *kernel.outputs))


def _written(kernels: Iterable[BoundKernel]) -> list[PlanValue]:
    return list(dict.fromkeys(output.value for kernel in kernels for output in kernel.outputs))
