"""The host program of a scheduled module: its launches, and the buffers between them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from ttnn_jit.codegen.fusion.buffer_reuse import Demand, Runs, buffer_of, storage_of
from ttnn_jit.codegen.fusion.in_place import written_in_place
from ttnn_jit.codegen.host.host_steps import HOST_STEPS
from ttnn_jit.codegen.reading.host_kernels import kernels_of
from ttnn_jit.codegen.reading.kernel_reader import launches_of
from ttnn_jit.codegen.reading.module_reader import ModuleReader
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel
from ttnn_jit.codegen.schedules.device_exchange import OperandPiece, RankExchange
from ttnn_jit.codegen.schedules.host_plan import HostLaunch, HostPlan, RepeatedRounds, Rounds
from ttnn_jit.codegen.schedules.launch import LaunchLoops
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.codegen.writing.llvm_kernel import LlvmKernel, kernel_of
from ttnn_jit.dialects.argument_notes import shared_blocks_of, updates_of, whole_arguments_of
from ttnn_jit.dialects.d2m import EmptyOp, GenericOp, MaskOp, ViewLayoutOp
from ttnn_jit.dialects.functions import single_function
from ttnn_jit.dialects.meshes import mesh_devices_of
from ttnn_jit.dialects.region_loops import refusal, refuse_packed
from ttnn_jit.dialects.ttcore import system_desc_of
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.process.progress import SHOW_AFTER, with_progress
from ttnn_jit.runtime.memory.l1 import in_l1
from ttnn_jit.runtime.plans.launches import Launch, Repeat
from ttnn_jit.runtime.plans.plan import PlanConstant, ProgramPlan
from ttnn_jit.runtime.plans.rank_exchanges import Copied, Piece, PlanExchange, Transfer
from ttnn_jit.specs.extents.extent import is_symbolic
from ttnn_jit.specs.extents.partial_comparisons import hint_of
from ttnn_jit.specs.spec_forms import sizes_in, with_sizes
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class GeneratedProgram:
    """The result of codegen for a module.

    Attributes:
        plan: Buffers and launches.
        kernels: Every kernel of the plan, by name.
        host: The schedule of every launch.
    """

    plan: ProgramPlan
    kernels: dict[str, LlvmKernel]
    host: HostPlan


def generate(module: ModuleOp, isa: HostIsa) -> GeneratedProgram:
    """Plan and kernels of the module's one function, as ``d2m-insert-dst-register-access`` left it.

    Raises:
        CompileError: The module holds an op that is no scheduled kernel.
    """
    host = host_plan(module, isa)
    own = host.launches_with_code
    launches = with_progress(own, len(own), "compiling, launches", after=SHOW_AFTER)
    written = [kernel_of(launch.bound.kernel, isa) for launch in launches]
    plan = program_plan(host, [(kernel.name, kernel.picoseconds, kernel.panels) for kernel in written])
    return GeneratedProgram(plan, {kernel.name: kernel for kernel in written}, host)


def host_plan(module: ModuleOp, isa: HostIsa | None) -> HostPlan:
    """The launches of a scheduled module after all steps; without `isa`, another compiler chooses their vectors.

    Raises:
        CompileError: The module holds an op that is no scheduled kernel.
    """
    devices = mesh_devices_of(module)
    reader = ModuleReader(system_desc_of(module).numerics, devices)
    plan = replace(_initial_plan(single_function(module), reader, isa), devices=devices)
    for step in HOST_STEPS:
        plan = step(plan)
    return plan


def _initial_plan(function: FuncOp, reader: ModuleReader, isa: HostIsa | None) -> HostPlan:
    """The plan before any step: a launch for every kernel of the function, in program order."""
    block = function.body.block
    own = (pair for op in block.ops for pair in _kernels(op, reader))
    returned = next((op.arguments for op in block.ops if isinstance(op, ReturnOp)), ())
    arguments, results = (tuple(map(reader.value, values)) for values in (block.args, returned))
    launches = _read([HostLaunch((op,), bound) for op, bound in own], results)
    written = tuple(_written(launch.bound for launch in launches))
    read = {operand.value for launch in launches for operand in launch.bound.inputs}
    if not read.union(results) <= {*arguments, *written}:
        raise refusal(function, "a tensor is read that neither the caller passes nor a kernel writes")
    name = function.sym_name.data
    whole = frozenset(whole_arguments_of(function))
    return HostPlan(
        name,
        launches,
        arguments,
        results,
        updates_of(function),
        written,
        isa,
        numerics=reader.numerics,
        whole=whole,
        blocks=shared_blocks_of(function),
    )


def _read(launches: Sequence[HostLaunch], results: Iterable[PlanValue]) -> tuple[HostLaunch, ...]:
    """The launches that results depend on; a module's text may hold others."""
    read, kept = {*results}, []
    for launch in reversed(launches):
        if any(output.value in read for output in launch.bound.outputs):
            read.update(operand.value for operand in launch.bound.inputs)
            kept.append(launch)
    return tuple(reversed(kept))


def _kernels(op: Operation, reader: ModuleReader) -> Iterable[tuple[Operation, BoundKernel]]:
    refuse_packed(op)
    match op:
        case GenericOp():
            return launches_of(op, reader)
        case EmptyOp() | ViewLayoutOp() | MaskOp() | ReturnOp():
            return ()
        case _ if (kernels := kernels_of(op, reader)) is not None:
            return ((op, bound) for bound in kernels)
        case _:
            raise refusal(op, "it is no kernel", "run the stages up to `d2m-insert-dst-register-access`")


def program_plan(host: HostPlan, named: Sequence[tuple[str, int, tuple[int, ...]]]) -> ProgramPlan:
    """Buffers and launches of a program.

    Args:
        host: The plan of its launches.
        named: Per launch that has code, the kernel's name, its predicted picoseconds per element, and its panels as in
            `Launch`.
    """
    groups = [[*group] for _, group in itertools.groupby(enumerate(host.launches), _blocks_or_index)]
    names = iter(named)
    written = _written(launch.bound for launch in host.launches)
    outputs = [value for value in dict.fromkeys(host.results) if value in written]
    between = _distinguished(host, [value for value in written if value not in outputs])
    # Values that the next round of blocks reads must outlive this round; two rounds show the live ranges of all.
    runs = itertools.chain.from_iterable(group * (1 if group[0][1].blocks is None else 2) for group in groups)
    touched = [tuple(each.value for each in launch.bound.operands) for _, launch in runs]
    buffers = buffer_of(touched, between)
    own_buffers = list(dict.fromkeys(buffers.values()))
    order = [*host.arguments, *outputs, *own_buffers]
    index = {value: k for k, value in enumerate(order)}
    index |= {value: index[buffer] for value, buffer in buffers.items()}
    index |= {value: k for k, value in enumerate(host.constants, len(order))}
    inputs, visible = len(host.arguments), len(host.arguments) + len(outputs)

    launches: list[Launch | Repeat] = []
    exchanges: list[PlanExchange] = []
    first_run = {}
    for group in groups:
        first_run[group[0][0]] = len(launches)
        if isinstance(group[0][1].bound.kernel, RankExchange):
            exchanges.append(_exchange(group[0][1].bound, group[0][1].bound.kernel, len(launches), index))
            continue
        own = [_launch(each.bound, *next(names), index) for _, each in group]
        launches += _round_by_round(
            [_runs(run, each.bound.loops, each.rounds) for run, (_, each) in zip(own, group, strict=True)]
        )
    specs = [value.spec for value in order]
    in_place = tuple(written_in_place(host))
    return ProgramPlan(
        name=host.name,
        inputs=tuple(specs[:inputs]),
        outputs=tuple(specs[inputs:visible]),
        intermediates=tuple(specs[visible:]),
        elided=tuple(filter(in_l1, (value.spec for value in host.written if value not in index))),
        launches=tuple(launches),
        results=tuple(index[value] for value in host.results),
        updates=host.updates,
        in_place=tuple(each.argument for each in in_place),
        copies=tuple(first_run[each.copy] for each in in_place if each.copy is not None),
        constants=tuple(PlanConstant(value.spec.dtype, each.bits) for value, each in host.constants.items()),
        devices=host.devices,
        positions=tuple(host.positions.get(value, 0) for value in order) if host.devices else (),
        whole=_whole_inputs(host),
        exchanges=tuple(exchanges),
        storages=_storages(host, touched, buffers, own_buffers),
    )


LEAST_SHARED_BYTES = 64 << 10
"""Buffers of fewer bytes have a storage of their own.

Together they take little, and short launches that share no memory are groups, which threads share.
"""


def _storages(
    host: HostPlan, touched: Runs, buffers: Mapping[PlanValue, PlanValue], order: Sequence[PlanValue]
) -> tuple[int, ...]:
    """The number of the storage of each buffer of `order`; () if each has its own.

    A value in L1 has its own: its device charges the bytes of its shards to cores.
    """
    demands = {
        each: Demand(nbytes, host.positions.get(each))
        for each in order
        if not in_l1(each.spec) and (nbytes := _bytes_of(each.spec)) is not None
    }
    found = storage_of(touched, buffers, demands)
    numbers = {storage: number for number, storage in enumerate(dict.fromkeys(map(found.__getitem__, order)))}
    return tuple(numbers[found[each]] for each in order) if len(numbers) < len(order) else ()


def _bytes_of(spec: TensorSpec) -> int | None:
    """The bytes of a buffer, None if they are few; of a spec with extents, which may grow, those of the compiled size.

    A template so has the storages of the size that was compiled; each has the bytes of its largest buffer at any size.
    """
    sizes = sizes_in(spec)
    if is_symbolic(sizes):
        return with_sizes(spec, tuple(map(hint_of, sizes))).nbytes
    return spec.nbytes if spec.nbytes >= LEAST_SHARED_BYTES else None


SMALL_BYTES = 256 << 10
"""Values between launches of so many bytes per device fit in the caches of each processor."""


def _distinguished(host: HostPlan, values: Sequence[PlanValue]) -> dict[PlanValue, tuple[TensorSpec, int | None]]:
    """The spec of each value between launches, and the device whose values alone may have its memory, if any.

    Small values of several devices are kept apart, so that threads can share the launches of the devices.
    """
    count = len(host.devices) if host.devices else 1
    are_small = count > 1 and sum(value.spec.nbytes for value in values) <= SMALL_BYTES * count
    return {
        value: (value.spec, host.positions.get(value) if are_small else _device_in_l1(host, value)) for value in values
    }


def _device_in_l1(host: HostPlan, value: PlanValue) -> int | None:
    """The position of the device in whose L1 a value is; None if it is in no L1, or the program runs on one device."""
    return host.positions.get(value) if in_l1(value.spec) else None


def _whole_inputs(host: HostPlan) -> tuple[int, ...]:
    """The indices of the arguments of a mesh's plan that are one tensor for the whole mesh."""
    if host.devices is None:
        return ()
    found, start = [], 0
    for index in range(len(host.whole) + (len(host.arguments) - len(host.whole)) // len(host.devices)):
        if index in host.whole:
            found.append(start)
        start += 1 if index in host.whole else len(host.devices)
    return tuple(found)


def _blocks_or_index(each: tuple[int, HostLaunch]) -> object:
    """A key that is equal for launches of the same blocks."""
    launch_index, launch = each
    return launch.blocks or launch_index


def _exchange(bound: BoundKernel, kernel: RankExchange, before: int, index: Mapping[PlanValue, int]) -> PlanExchange:
    """The exchange with other ranks before a launch of the plan."""
    operands = [index[each.value] for each in bound.operands]

    def piece(own: OperandPiece) -> Piece:
        return Piece(operands[own.operand], own.begin, own.nbytes)

    sends, receives = (
        tuple(Transfer(rank, piece(own)) for rank, own in each) for each in (kernel.sends, kernel.receives)
    )
    copies = tuple(Copied(piece(target), piece(source)) for target, source in kernel.copies)
    return PlanExchange(before, kernel.call, sends, receives, copies)


def _launch(
    bound: BoundKernel, name: str, picoseconds: int, panels: tuple[int, ...], index: Mapping[PlanValue, int]
) -> Launch:
    operands, nest, written = tuple(index[each.value] for each in bound.operands), bound.loops, len(bound.outputs)
    return Launch(
        name, operands, nest.params, picoseconds, written, nest.offsets, nest.reduced, panels=panels, whole=nest.whole
    )


def _runs(
    launch: Launch, nest: LaunchLoops, rounds: Rounds, around: tuple[RepeatedRounds, ...] = ()
) -> tuple[Launch | Repeat, ...]:
    """The plan's launches of a kernel over `nest`, within the repeats `around` it."""
    steps = tuple(each.steps for each in around)
    growth = tuple(each.growth[::-1] or (0,) * len(nest.extents) for each in around)
    grown = growth if any(map(any, growth)) else ()
    return tuple(
        Repeat(each.count, _runs(launch, nest, each.rounds, (*around, each)))
        if isinstance(each, RepeatedRounds)
        else replace(launch, params=each.params, offsets=each.offsets, steps=steps, growth=grown)
        for each in rounds or (nest,)
    )


def _round_by_round(of_each_launch: Iterable[Sequence[Launch | Repeat]]) -> Iterator[Launch | Repeat]:
    """The rounds of several launches, interleaved: the first round of each comes first."""
    for own in zip(*of_each_launch, strict=True):
        repeats = [each for each in own if isinstance(each, Repeat)]
        if repeats:
            yield Repeat(repeats[0].count, tuple(_round_by_round(each.launches for each in repeats)))
        else:
            yield from own


def _written(kernels: Iterable[BoundKernel]) -> list[PlanValue]:
    return list(dict.fromkeys(output.value for kernel in kernels for output in kernel.outputs))
