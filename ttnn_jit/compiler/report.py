"""Reports of compiles: kernels, their ops and use of DST, and the reasons why pairs of ops were not fused.

A report is made from the module after ``d2m-insert-dst-register-access``, so that a dump has one too.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ttnn_jit.process.dataclass import dataclass, replace

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from ttnn_jit.codegen.bodies.steps import KernelBody
    from ttnn_jit.codegen.schedules.host_plan import HostPlan
    from ttnn_jit.compiler.link_costs import LinkCosts
    from ttnn_jit.dialects.d2m import GenericOp
    from ttnn_jit.specs.target import SystemDesc
    from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class KernelReport:
    """One kernel.

    Attributes:
        ops: Python names of its operations, in scheduled order.
        inputs: Circular buffers that it reads; an argument used twice counts twice on a chip target.
        views: The number of inputs that it reads through a view: permuted, sliced, reshaped.
        dst_peak_source_order: DST tiles that the source order would need.
        dst_peak: DST tiles that the schedule needs.
        dst_capacity: DST tiles that the target has for elements of this width; on a chip half of DST, since packer and
            math alternate.
        init_calls: Set-ups of a core for tile ops.
        init_calls_every_run: Set-ups if one preceded each run of a tile op.
        dst_slots: Per operation with two tile operands or more: the slots it reads, then the slot it writes.
        location: ``file:line`` of its last operation.
        tile_ops: For each user-defined operation, whether it was traced, and if not, why.
    """

    ops: tuple[str, ...]
    inputs: int
    views: int
    dst_peak_source_order: int
    dst_peak: int
    dst_capacity: int
    init_calls: int
    init_calls_every_run: int
    dst_slots: tuple[tuple[int, ...], ...]
    location: str
    tile_ops: tuple[str, ...] = ()


@dataclass(frozen=True)
class LaunchReport:
    """One launch of the host: a loop nest.

    Attributes:
        ops: Python names of its operations, over all kernels that it fuses.
        kernels: The number of these kernels; an operation outside kernels counts as one.
        loops: Its loops, outermost first, with reduction loops marked; "" of an exchange with other ranks.
        nbytes: Bytes of the tensors that it reads and writes, each counted once.
        schedule: The transformations of its loops; "" for one loop over all elements.
        repeats: The number of the first launch that does the same on another device of the mesh; None: it is the first.
    """

    ops: tuple[str, ...]
    kernels: int
    loops: str
    nbytes: int
    schedule: str = ""
    repeats: int | None = None


@dataclass(frozen=True)
class NotFused:
    """A producer and a consumer that were not fused, and the predicate that failed.

    Attributes:
        producer: The last operation of its kernel.
        consumer: The operation that reads it.
        predicate: The name of the predicate.
        detail: A sentence about the failure.
        launch: The number of the host's launch that fuses both kernels nevertheless; None if there is none.
    """

    producer: str
    consumer: str
    predicate: str
    detail: str
    launch: int | None = None


@dataclass(frozen=True)
class Report:
    """The kernels of a program, the pairs that were not fused, and the operations outside kernels.

    Attributes:
        name: The function's name.
        target: The target's name.
        kernels: The kernels in order.
        not_fused: The pairs that were not fused.
        host_operations: Python names of the operations outside kernels.
        launches: The host's launches, in order.
        hidden_inputs: Paths and specs of the tensors that the function reads besides its arguments.
        updates: The indices of arguments that it updates, hidden inputs after the others; and whether in place.
        runs_launches: Whether the target is the host itself: then texts show launches first, and of the pairs that were
            not fused only those in two launches.
        refused_before: The operations that tt-mlir refused until August 2026, a sentence each.
        links: The collectives on the links of a machine; None if none was asked for.
    """

    name: str
    target: str
    kernels: tuple[KernelReport, ...]
    not_fused: tuple[NotFused, ...]
    host_operations: tuple[str, ...] = ()
    launches: tuple[LaunchReport, ...] = ()
    hidden_inputs: tuple[tuple[str, TensorSpec], ...] = ()
    updates: tuple[tuple[int, bool], ...] = ()
    runs_launches: bool = False
    refused_before: tuple[str, ...] = ()
    links: LinkCosts | None = None

    def __str__(self) -> str:
        lines = [self._head(), *(f"  {text}" for text in self._launches() if self.runs_launches)]
        for number, kernel in enumerate(self.kernels):
            lines.append(f"  kernel {number}  {chain_text(kernel.ops)}")
            lines.append(
                f"            {_count(kernel.inputs, 'input')}{_viewed(kernel)}, "
                f"peak {kernel.dst_peak} of {kernel.dst_capacity} DST tiles "
                f"({kernel.dst_peak_source_order} in source order)  {kernel.location}"
            )
            lines.append(
                f"            {_count(kernel.init_calls, 'init call')} a core "
                f"({kernel.init_calls_every_run} with one for every tile)"
            )
            lines += [f"            tile_op {text}" for text in kernel.tile_ops]
        return "\n".join([*lines, *(f"  {note}" for note in self._notes())])

    def _notes(self) -> Iterator[str]:
        """The lines that belong to no kernel."""
        yield from (f"hidden input {name}: {spec}" for name, spec in self.hidden_inputs)
        yield from (f"writes argument {index}{' where it lies' if lies else ''}" for index, lies in self.updates)
        yield from (f"beside kernels: {name}" for name in self.host_operations)
        yield from self.refused_before
        yield from self.links.lines() if self.links is not None else ()
        if not self.runs_launches:
            yield from self._launches()
        for pair in self.not_fused:
            if pair.launch is None or not self.runs_launches:
                yield f"not fused: {pair.producer} into {pair.consumer}: {pair.predicate}, {pair.detail}{_joined(pair)}"

    def _launches(self) -> Iterator[str]:
        more = Counter(launch.repeats for launch in self.launches)
        for number, launch in enumerate(self.launches):
            if launch.repeats is None:
                others = f" and {more[number]} more" if more[number] else ""
                yield f"launch {number}{others}: {_launch_text(launch)}"

    def _repr_html_(self) -> str:
        """HTML for notebooks: a row for each kernel, then the remaining lines of `str`."""
        rows = [_html_row(_html_cells(number, kernel)) for number, kernel in enumerate(self.kernels)]
        table = f"<table>{_html_row(_COLUMNS, 'th')}{''.join(rows)}</table>" if rows else ""
        notes = [*(f"tile_op {text}" for kernel in self.kernels for text in kernel.tile_ops), *self._notes()]
        first = [self._head(), *(self._launches() if self.runs_launches else ())]
        above, below = ("".join(f"<div>{html.escape(text)}</div>" for text in texts) for texts in (first, notes))
        return f"<div>{above}{table}{below}</div>"

    def _head(self) -> str:
        ops = sum(len(kernel.ops) for kernel in self.kernels)
        return f"{self.name} on {self.target}: {_count(ops, 'op')} in {_count(len(self.kernels), 'kernel')}"


_COLUMNS = (
    "kernel", "ops", "inputs", "DST peak, tiles", "in source order, tiles", "DST capacity, tiles", "init calls a core",
    "with one for every tile", "location",
)  # fmt: skip


def _html_row(cells: Iterable[object], tag: str = "td") -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(str(cell))}</{tag}>' for cell in cells)}</tr>"


def _html_cells(number: int, kernel: KernelReport) -> tuple[object, ...]:
    peaks = kernel.dst_peak, kernel.dst_peak_source_order, kernel.dst_capacity
    inits = kernel.init_calls, kernel.init_calls_every_run
    return number, chain_text(kernel.ops), f"{kernel.inputs}{_viewed(kernel)}", *peaks, *inits, kernel.location


def _launch_text(launch: LaunchReport) -> str:
    if not launch.loops:
        return f"{chain_text(launch.ops)}  (an exchange: {launch.schedule})"
    joined = f"{launch.kernels} kernels as one, " if launch.kernels > 1 else ""
    schedule = f"; {launch.schedule}" if launch.schedule else ""
    return f"{chain_text(launch.ops)}  ({joined}loops {launch.loops}, {launch.nbytes:,} bytes{schedule})"


def chain_text(ops: Sequence[str]) -> str:
    """Operations in order; repetitions are abbreviated, ``(tanh -> add) x 100``."""
    written: list[str] = []
    index = 0
    while index < len(ops):
        length, times = _repetition(ops, index)
        text = " -> ".join(ops[index : index + length])
        written.append(text if times == 1 else f"({text}) x {times}" if length > 1 else f"{text} x {times}")
        index += length * times
    return " -> ".join(written)


def _repetition(ops: Sequence[str], start: int) -> tuple[int, int]:
    """Length and count of the most frequent repetition from `start` on; the count is at least three, or one."""
    for length in range(1, min(_LONGEST_REPEATED, (len(ops) - start) // 3) + 1):
        part, times = ops[start : start + length], 1
        while ops[start + length * times : start + length * (times + 1)] == part:
            times += 1
        if times >= 3:
            return length, times
    return 1, 1


_LONGEST_REPEATED = 8


def _joined(pair: NotFused) -> str:
    return "" if pair.launch is None else f"; launch {pair.launch} runs both as one"


def _viewed(kernel: KernelReport) -> str:
    return f" ({kernel.views} through a view)" if kernel.views else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def report_of(module: ModuleOp, host: HostPlan) -> Report:
    """The report of a module that ``d2m-insert-dst-register-access`` left, and of its host plan."""
    from xdsl.dialects.func import FuncOp

    from ttnn_jit.codegen.reading.kernel_reader import read_kernels
    from ttnn_jit.dialects import system_desc_of
    from ttnn_jit.dialects.argument_notes import hidden_inputs_of
    from ttnn_jit.dialects.d2m import GenericOp
    from ttnn_jit.dialects.declared_ops import TensorOp
    from ttnn_jit.specs.target import Numerics

    generics = [op for op in module.walk() if isinstance(op, GenericOp)]
    function = next(op for op in module.walk() if isinstance(op, FuncOp))
    target = system_desc_of(module)
    return Report(
        function.sym_name.data,
        target.name,
        tuple(_kernel(generic, body, target) for generic, body in zip(generics, read_kernels(module), strict=True)),
        tuple(pair for generic in generics for pair in _not_fused(generic, host)),
        tuple(op.operation.name for op in module.walk() if isinstance(op, TensorOp)),
        tuple(_launches(host)),
        hidden_inputs_of(function),
        tuple(_updates(host)),
        runs_launches=target.numerics is Numerics.IEEE,
        refused_before=tuple(_refused_before(module, target)),
    )


def _refused_before(module: ModuleOp, target: SystemDesc) -> Iterator[str]:
    """The reductions of arguments that the compiler of the ttnn.jit document refused."""
    from xdsl.ir import BlockArgument

    from ttnn_jit.dialects.declared_ops import TensorOp
    from ttnn_jit.dialects.layout import spec_of
    from ttnn_jit.ops import Reduction
    from ttnn_jit.specs.target_rules import is_of_whole_tiles, is_reducible_since_2026

    for op in module.walk() if target.tile_aligned_only else ():
        if not isinstance(op, TensorOp) or not isinstance(op.operation, Reduction):
            continue
        value = op.operands[0]
        spec = spec_of(value.type)
        if isinstance(value, BlockArgument) and is_of_whole_tiles(spec) and is_reducible_since_2026(spec):
            memory = "ND sharded" if spec.memory_config.is_nd_sharded() else "interleaved in DRAM"
            yield f"{op.operation.name} of argument {value.index}, {memory}: refused by tt-mlir before August 2026"


def _updates(host: HostPlan) -> Iterator[tuple[int, bool]]:
    from ttnn_jit.codegen.fusion.in_place import written_in_place

    in_place = {each.argument for each in written_in_place(host)}
    yield from ((argument, argument in in_place) for argument, _ in host.updates)


def _launches(host: HostPlan) -> Iterator[LaunchReport]:
    """The launches; of a mesh, those of the same operations with the same kernel are one and its repetitions."""
    from ttnn_jit.codegen.host.host_text import bytes_of, loops_text
    from ttnn_jit.codegen.schedules.device_exchange import RankExchange

    first: dict[object, int] = {}
    for number, launch in enumerate(host.launches):
        is_exchange = isinstance(launch.bound.kernel, RankExchange)
        loops, nbytes = "" if is_exchange else loops_text(launch.bound.loops), bytes_of(launch.bound)
        key = (tuple(map(id, launch.ops)), launch.bound.kernel, loops, nbytes) if host.devices else number
        same = first.setdefault(key, number)
        repeats = None if same == number else same
        yield LaunchReport(launch.operations, len(launch.ops), loops, nbytes, launch.remark, repeats)


def _kernel(generic: GenericOp, body: KernelBody, target: SystemDesc) -> KernelReport:
    from ttnn_jit.codegen.reading.init_calls import init_calls
    from ttnn_jit.dialects.d2m import ViewLayoutOp
    from ttnn_jit.dialects.locations import locations_of
    from ttnn_jit.ops import COPY

    inits = init_calls(generic.body.block)
    ops = _operations(generic)
    locations = [location for op in [op for op, _ in ops] or [generic] for location in locations_of(op)]
    return KernelReport(
        ops=tuple(name for _, name in ops) or (COPY.name,),
        inputs=len(generic.inputs),
        views=sum(isinstance(value.owner, ViewLayoutOp) for value in generic.inputs),
        dst_peak_source_order=_integer(generic, "d2m.dst_peak_source_order"),
        dst_peak=_integer(generic, "d2m.dst_peak"),
        dst_capacity=_dst_capacity(generic, target),
        init_calls=inits.hoisted,
        init_calls_every_run=inits.every_run,
        dst_slots=tuple((*read, written) for read, written in body.slots),
        tile_ops=_tile_ops(op for op, _ in ops),
        location=f"{locations[-1].file}:{locations[-1].line}" if locations else "",
    )


def _dst_capacity(generic: GenericOp, target: SystemDesc) -> int:
    from ttnn_jit.dialects.d2m import AcquireDstOp
    from ttnn_jit.dialects.layout import dtype_of

    dst = next(op for op in generic.walk() if isinstance(op, AcquireDstOp))
    return target.dst_capacity(wide=dtype_of(dst.results[0].type).is_compute_type)


def _operations(generic: GenericOp) -> list[tuple[Operation, str]]:
    from ttnn_jit.dialects.d2m import source_operation

    return [(op, name) for op in generic.walk() if (name := source_operation(op)) is not None]


def _tile_ops(ops: Iterable[Operation]) -> tuple[str, ...]:
    from ttnn_jit.dialects import operation_of

    declared = [operation for op in ops if (operation := operation_of(op)) is not None and operation.body]
    return tuple(dict.fromkeys(f"{operation.name}: {operation.source}" for operation in declared))


def _not_fused(generic: GenericOp, host: HostPlan) -> list[NotFused]:
    from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr

    from ttnn_jit.ops import COPY

    recorded = generic.attributes.get("d2m.not_fused")
    if not isinstance(recorded, ArrayAttr):
        return []
    producer = ([COPY.name] + [name for _, name in _operations(generic)])[-1]
    pairs = []
    for entry in recorded.data:
        assert isinstance(entry, DictionaryAttr)
        fields = {name: value.data for name, value in entry.data.items() if isinstance(value, StringAttr)}
        launch = _launch_of_both(generic, fields["consumer"], host)
        pairs.append(NotFused(producer, fields["consumer"], fields["predicate"], fields["detail"], launch))
    return pairs


def _launch_of_both(generic: GenericOp, consumer: str, host: HostPlan) -> int | None:
    """The number of the launch that runs a kernel and then an operation named `consumer` of another kernel."""
    for number, launch in enumerate(host.launches):
        if generic in launch.ops:
            later = replace(launch, ops=launch.ops[launch.ops.index(generic) + 1 :])
            return number if later.ops and consumer in later.operations else None
    return None


def _integer(generic: GenericOp, name: str) -> int:
    from xdsl.dialects.builtin import IntegerAttr

    attribute = generic.attributes[name]
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data
