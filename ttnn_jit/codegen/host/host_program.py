"""The host program of a scheduled module: its launches, and the buffers between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.codegen.host.buffer_reuse import buffer_of
from ttnn_jit.codegen.host.forms import Form
from ttnn_jit.codegen.host.host_plan import HostLaunch, HostPlan
from ttnn_jit.codegen.host.host_steps import HOST_STEPS
from ttnn_jit.codegen.host.in_place import written_in_place
from ttnn_jit.codegen.host.score_blocks import in_order, kept_specs
from ttnn_jit.codegen.host_kernels import has_kernels, kernels_of
from ttnn_jit.codegen.kernel import Kernel
from ttnn_jit.codegen.kernel_reader import launches_of
from ttnn_jit.codegen.llvm_kernel import LlvmKernel, kernel_of
from ttnn_jit.codegen.loops import refusal, refuse_packed
from ttnn_jit.codegen.reader_values import Reading
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.argument_notes import updates_of
from ttnn_jit.dialects.d2m import EmptyOp, GenericOp, MaskOp, ViewLayoutOp
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.ttcore import system_desc_of
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.progress import LONG, counted
from ttnn_jit.runtime.l1 import in_l1
from ttnn_jit.runtime.plan import Launch, ProgramPlan
from ttnn_jit.specs.target import Numerics


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
    written = [kernel_of(launch.form, isa) for launch in launches]
    panels = {kernel.name: kernel.panels for kernel in written}
    plan = program_plan(module, host, [(kernel.name, kernel.picoseconds) for kernel in written], panels)
    return GeneratedProgram(plan, {kernel.name: kernel for kernel in written}, host)


def host_plan(module: ModuleOp, isa: HostIsa | None) -> HostPlan:
    """The launches of a scheduled module after all steps; without `isa`, another compiler chooses their vectors.

    Raises:
        CompileError: The module holds what is no scheduled kernel.
    """
    launches = tuple(_launches(module))
    plan = HostPlan(launches, tuple(_written(launch.kernel for launch in launches)), isa)
    for step in HOST_STEPS:
        plan = step(plan)
    return plan


def _launches(module: ModuleOp) -> Iterator[HostLaunch]:
    """One for every kernel of the module, in program order."""
    numerics = system_desc_of(module).numerics
    readings: dict[GenericOp, Reading] = {}
    for op in the_function(module).body.block.ops:
        for own, kernel in _kernels(op, numerics, readings):
            yield HostLaunch((own,), kernel, Form(kernel.body))


def _kernels(
    op: Operation, numerics: Numerics, readings: dict[GenericOp, Reading]
) -> Iterable[tuple[Operation, Kernel]]:
    refuse_packed(op)
    match op:
        case GenericOp():
            return launches_of(op, numerics, readings)
        case _ if has_kernels(op):
            return ((op, kernel) for kernel in kernels_of(op, numerics))
        case EmptyOp() | ViewLayoutOp() | MaskOp() | ReturnOp():
            return ()
        case _:
            raise refusal(op, "it is no kernel", "run the stages up to `d2m-insert-dst-register-access`")


NO_PANELS: Mapping[str, tuple[int, ...]] = {}


def program_plan(
    module: ModuleOp,
    host: HostPlan,
    named: Sequence[tuple[str, int]],
    panels: Mapping[str, tuple[int, ...]] = NO_PANELS,
) -> ProgramPlan:
    """Buffers and launches of a module's program.

    Args:
        module: A scheduled one.
        host: Its launches.
        named: Of every launch, its kernel's name, and the picoseconds that it is predicted to take for an element.
        panels: By kernel that has them, as `Launch` does.

    Raises:
        CompileError: It reads a tensor that is nowhere.
    """
    function = the_function(module)
    block = function.body.block
    returned = next((op.arguments for op in block.ops if isinstance(op, ReturnOp)), ())
    kernels = [launch.kernel for launch in host.launches]
    written = _written(kernels)
    outputs = [value for value in dict.fromkeys(returned) if value in written]
    kept = kept_specs(host.launches)
    order_of_runs = tuple(in_order(host.launches))
    touched = [_values(kernels[place]) for place, _ in order_of_runs]
    between = {v: kept.get(v) or spec_of(v.type) for v in written if v not in outputs}
    buffers = buffer_of(touched, between)
    order = [*block.args, *outputs, *dict.fromkeys(buffers.values())]
    index = {value: k for k, value in enumerate(order)}
    index |= {value: index[buffer] for value, buffer in buffers.items()}
    specs = [between.get(value) or spec_of(value.type) for value in order]
    inputs, visible = len(block.args), len(block.args) + len(outputs)
    launches = tuple(
        Launch(
            named[place][0],
            tuple(_buffer(index, function, value) for value in values),
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
    updates = updates_of(function)
    in_place = tuple(written_in_place(block.args, returned, updates, host.launches))
    return ProgramPlan(
        name=function.sym_name.data,
        inputs=tuple(specs[:inputs]),
        outputs=tuple(specs[inputs:visible]),
        intermediates=tuple(specs[visible:]),
        unstored=tuple(filter(in_l1, (spec_of(value.type) for value in host.written if value not in index))),
        launches=launches,
        results=tuple(_buffer(index, function, value) for value in returned),
        updates=updates,
        in_place=tuple(each.argument for each in in_place),
        copies=tuple(run_of[each.copy] for each in in_place if each.copy is not None),
    )


def _values(kernel: Kernel) -> tuple[SSAValue, ...]:
    return tuple(each.value for each in (*kernel.inputs, *kernel.outputs))


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
