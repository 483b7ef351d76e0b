"""A program's native code, mapped, and a run of it on whatever is given.

Runs that repeat take the functions of `ttnn_jit.runtime.warm_caller`, which do the same without a loop.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NoReturn

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime import native
from ttnn_jit.runtime.buffer import ALIGNMENT, HOST_POOL, POOLED_RESULT_BYTES
from ttnn_jit.runtime.chunks import chunks_of
from ttnn_jit.runtime.device import implicit_cpu_device
from ttnn_jit.runtime.entry import entry
from ttnn_jit.runtime.families import TTNN
from ttnn_jit.runtime.l1 import in_l1
from ttnn_jit.runtime.launch_symbols import COPY_SYMBOL
from ttnn_jit.runtime.launches import Launch, runs_of
from ttnn_jit.runtime.panels import PanelLayout, memory_of, with_flag, without_flag
from ttnn_jit.runtime.plan import ProgramPlan
from ttnn_jit.runtime.structures import CopyWords, LaunchEntry, LaunchTable
from ttnn_jit.runtime.tensor import Tensor, write_elements
from ttnn_jit.runtime.threads import HELPERS
from ttnn_jit.runtime.updates import after_updates, check_updates
from ttnn_jit.specs.tensor_spec import BufferType, TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.runtime.runnable import Runnable

NO_PANELS: Mapping[int, PanelLayout] = {}

RELEASE_GIL_BYTES = 1 << 20
"""Programs that touch this much let other Python threads run: their kernels run long enough to pay for giving the lock
away, and for the wait to get it back, up to Python's switch interval when another thread computes."""


@dataclass(frozen=True)
class NativeCall:
    """A program's native code, ready to be called.

    Attributes:
        function: Called with the words of launch_ir.py: the table's address, what helpers are lent, and the address of
            every buffer of the plan.
        table: Address of the launch table.
        shares: Whether it has chunks for helper threads.
        gives_lock_away: Whether other Python threads run meanwhile.
        kernels: How many there are in the table.
        keeps: The table, and what it points into.
    """

    function: Callable[..., None]
    table: int
    shares: bool
    gives_lock_away: bool
    kernels: int
    keeps: tuple[ctypes.Array[ctypes.c_int64], ...]

    @property
    def nbytes(self) -> int:
        """Of the table, and of what it points into."""
        return sum(map(ctypes.sizeof, self.keeps))

    def run(self, addresses: Sequence[int]) -> None:
        """Run the kernels on the plan's buffers at these addresses."""
        self.function(self.table, HELPERS.lend() if self.shares else 0, *addresses)


def link(
    plan: ProgramPlan,
    objects: Mapping[str, bytes],
    *,
    without: Collection[int] = (),
    in_panels: Mapping[int, PanelLayout] = NO_PANELS,
) -> NativeCall | None:
    """Load the kernels of `plan`, and the other `objects`, which they call; None if it launches nothing.

    Launches are left out whose index is one of `without`; the inputs `in_panels` are packed so.
    """
    runs = [*runs_of([each for place, each in enumerate(plan.launches) if place not in without])]
    if not runs:
        return None
    called = {name: native.kernel_address(name, code) for name, code in objects.items() if name not in plan.kernels}
    addresses = {kernel: native.kernel_address(kernel, objects[kernel], called) for kernel in plan.kernels}
    widest = max(len(launch.operands) for launch, _ in runs)
    table = LaunchTable.words(kernels=len(runs), widest=widest)
    # Runs of a launch share an entry's words where its loops are as long in all of them.
    keys = [(id(launch), launch.params_in(rounds)) for launch, rounds in runs]
    entries: dict[object, _Entry] = {}
    for key, (launch, rounds) in zip(keys, runs, strict=True):
        if key not in entries:
            entries[key] = _entry_of(launch.in_round(rounds), plan, in_panels)
    keeps = [words for _, _, own in entries.values() for words in own]
    for key, (launch, rounds) in zip(keys, runs, strict=True):
        fields, itemsizes, _ = entries[key]
        offsets = packed_words(list(map(int.__mul__, launch.offsets_in(rounds), itemsizes)))
        table += LaunchEntry.words(function=addresses[launch.kernel], offsets=ctypes.addressof(offsets), **fields)
        keeps.append(offsets)
    packed = packed_words(table)
    every = [fields for fields, _, _ in entries.values()]
    gives_lock_away = any(each["wakes"] for each in every) or plan.bytes_touched >= RELEASE_GIL_BYTES
    shares, function = any(each["chunks"] > 1 for each in every), entry(gives_lock_away=gives_lock_away)
    return NativeCall(function, ctypes.addressof(packed), shares, gives_lock_away, len(runs), (packed, *keeps))


_Entry = tuple[Mapping[str, int], Sequence[int], Sequence[ctypes.Array[ctypes.c_int64]]]


def _entry_of(as_planned: Launch, plan: ProgramPlan, in_panels: Mapping[int, PanelLayout]) -> _Entry:
    """What the `LaunchEntry` of all runs of a launch has in common, its operands' bytes per stride, what is kept."""
    launch, flagged = _as_packed(as_planned, in_panels)
    specs = [plan.buffers[index] for index in launch.operands]
    itemsizes = [spec.dtype.stride_bytes for spec in specs]
    chunks = chunks_of(launch, itemsizes, sum(spec.nbytes for spec in specs))
    words = [packed_words(launch.operands), packed_words(flagged(launch.params))]
    if chunks:
        words += map(packed_words, (flagged(chunks.params), flagged(chunks.last_params), chunks.steps))
    pointers = zip(("indices", "params", "chunk_params", "last_params", "steps"), words, strict=False)
    fields = _UNSHARED | {name: ctypes.addressof(each) for name, each in pointers}
    if chunks:
        fields |= {"chunks": chunks.count, "wakes": int(chunks.wakes)}
    return fields | {"operands": len(launch.operands)}, itemsizes, words


_UNSHARED = {"chunks": 1, "chunk_params": 0, "last_params": 0, "steps": 0, "wakes": 0}
"""Fields of the `LaunchEntry` of what runs on one thread."""


def _as_packed(
    launch: Launch, in_panels: Mapping[int, PanelLayout]
) -> tuple[Launch, Callable[[tuple[int, ...]], tuple[int, ...]]]:
    """The launch as it is cut, and what makes its kernel's words of those that it has."""
    layout = in_panels.get(launch.operands[launch.panels[0]]) if launch.panels else None
    if layout is None:
        return launch, tuple
    return replace(launch, params=without_flag(launch, layout)), partial(with_flag, launch)


@lru_cache(1024)
def copying(**words: int) -> NativeCall:
    """The call of the kernel that copies the first of two buffers to the second, with these `CopyWords`."""
    params, indices, offsets = packed_words(CopyWords.words(**words)), packed_words([0, 1]), packed_words([0, 0])
    launch = LaunchEntry.words(
        function=native.launch_address(COPY_SYMBOL),
        operands=2,
        indices=ctypes.addressof(indices),
        offsets=ctypes.addressof(offsets),
        params=ctypes.addressof(params),
        **_UNSHARED,
    )
    packed = packed_words([*LaunchTable.words(kernels=1, widest=2), *launch])
    gives_lock_away = words["batches"] * words["target_batch"] >= RELEASE_GIL_BYTES
    keeps = packed, params, indices, offsets
    return NativeCall(
        entry(gives_lock_away=gives_lock_away), ctypes.addressof(packed), False, gives_lock_away, 1, keeps
    )


def packed_words(values: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    """Words in memory, and one more, so that an empty list still has an address."""
    return (ctypes.c_int64 * (len(values) + 1))(*values)


def run_on_addresses(plan: ProgramPlan, call: NativeCall | None, addresses: Sequence[int]) -> None:
    """Run on inputs and outputs at these addresses, in order; the caller keeps both alive.

    Raises:
        ArgumentError: Too few or too many, or the memory of a big output is not aligned.
    """
    visible = [*plan.inputs, *plan.outputs]
    if len(addresses) != len(visible):
        wrong_count(plan, "addresses", len(visible), len(addresses))
    for i, spec in enumerate(plan.outputs):
        if spec.nbytes >= POOLED_RESULT_BYTES and addresses[len(plan.inputs) + i] % ALIGNMENT:
            _refuse_unaligned(plan.name, i)
    intermediates = [HOST_POOL.allocate(spec.nbytes) for spec in plan.intermediates]
    if call is not None:
        call.run([*addresses, *(buffer.address for buffer in intermediates)])


def run_on_tensors(program: Runnable, tensors: Sequence[Tensor], into: Tensor | None = None) -> Any:
    """Run on input tensors; the result, or the tuple of several, on the device of the first, else the implicit one.

    While that device records a trace the run becomes a part of it.

    Args:
        program: What runs.
        tensors: The inputs.
        into: Of the spec of the one result, which is made there and takes no room of its own; where an input shares its
            memory, the result is made beside and copied.

    Raises:
        ArgumentError: Too few or too many; one has another spec, is on the host, or on a device of another target.
        DeallocatedError: A tensor was deallocated.
        DeviceError: The device is closed.
        L1CapacityError: A result does not fit.
    """
    plan = program.plan
    if len(tensors) != len(plan.inputs):
        wrong_count(plan, "tensors", len(plan.inputs), len(tensors))
    _require_fitting(plan, tensors)
    check_updates(plan, TTNN, tensors)
    device = tensors[0]._device if tensors else implicit_cpu_device()
    assert device is not None  # or it would have been refused
    device.require_turn(plan.name)
    device.programs.add(plan.hash)
    # What shares memory with an input that is written was refused: new values may be made in place.
    in_place = plan.made_in_place if plan.has_warm_calls else {}
    factors = program.factors if device.recorder is None else {}
    owned = {i: plan.buffers[i] for i in range(len(plan.inputs), len(plan.buffers)) if i not in in_place}
    # A chip writes such an output where the input lies.
    written_over = plan.written_over_inputs if into is None else {*plan.results}
    placed = {i: spec for i, spec in owned.items() if in_l1(spec) and i not in written_over}
    leases = {i: device.l1.lease(spec) for i, spec in placed.items()}
    _unstored = [device.l1.lease(spec) for spec in plan.unstored]
    if any(map(in_l1, (*plan.buffers, *plan.unstored))):
        device.l1.require(program.circular_buffer_bytes, f"the circular buffers of {plan.name}")
    made = {i: Tensor(spec, device, device.memory_for(spec)) for i, spec in owned.items()}
    for i, lease in leases.items():
        made[i].memory(plan.name).lease = lease
    made |= {i: tensors[index] for i, index in in_place.items()}
    if into is not None and not any(TTNN.share_memory(into, each, into.spec, each.spec) for each in tensors):
        made |= dict.fromkeys(plan.results, into)
    every = [*tensors, *(made[i] for i in range(len(plan.inputs), len(plan.buffers)))]
    # Held: other threads may deallocate the tensors, or pack them.
    packed = {i: memory_of(every[i], factor) for i, factor in factors.items()}
    call = program.native_for(sum(bit for _, bit in packed.values()), in_place=bool(in_place))
    if device.recorder is not None:
        device.recorder.note_circular_buffers(program.circular_buffer_bytes)
    if call is not None:
        found = {i: buffer for i, (buffer, _) in packed.items()}
        buffers = [found.get(i) or tensor.memory(plan.name) for i, tensor in enumerate(every)]
        device.launch(plan.name, call, buffers, plan.buffers)
    results = after_updates(plan, TTNN, tensors, every)
    if into is not None and results[0] is not into:
        write_elements(results[0], into)
        return into
    return results[0] if len(results) == 1 else tuple(results)


def _require_fitting(plan: ProgramPlan, tensors: Sequence[Any]) -> None:
    for index, (tensor, spec) in enumerate(zip(tensors, plan.inputs, strict=True)):
        if not isinstance(tensor, Tensor):
            _refuse_foreign(plan, index, tensor)
        _require_usable(plan, index, tensor, spec)
    if any(tensor.device().target != tensors[0].device().target for tensor in tensors):
        named = dict.fromkeys(repr(tensor.device()) for tensor in tensors)
        raise ArgumentError(f"{plan.name}: the tensors lie on devices of different targets: {', '.join(named)}")


def _refuse_foreign(plan: ProgramPlan, index: int, value: object) -> NoReturn:
    kind = type_name(value)
    if plan.inputs[index].memory_config.buffer_type is BufferType.SYSTEM_MEMORY:
        raise ArgumentError(
            f"{plan.name}: argument {index} is a {kind}; the program was compiled for torch or numpy memory, of which "
            "it takes addresses only",
            help="call the jitted function itself, without `compile_only`; or give addresses to `Program.run`",
        )
    raise ArgumentError(
        f"{plan.name}: argument {index} is a {kind}, not a ttnn tensor",
        help="make it with `ttnn.from_torch(..., device=device)`",
    )


def _require_usable(plan: ProgramPlan, index: int, tensor: Tensor, spec: TensorSpec) -> None:
    if tensor.spec is not spec:
        raise ArgumentError(f"{plan.name}: argument {index} is {tensor.spec}; compiled for {spec}")
    if tensor.device() is None:
        raise ArgumentError(
            f"{plan.name}: argument {index} is on the host",
            help="move it to a device: `ttnn.from_torch(..., device=device)`",
        )
    tensor.check_usable(plan.name)


def _refuse_unaligned(name: str, index: int) -> NoReturn:
    raise ArgumentError(
        f"{name}: the memory for output {index} does not start at a multiple of {ALIGNMENT} bytes",
        help=f"kernels count on that from {POOLED_RESULT_BYTES} bytes on; `Program.allocate_outputs` gives such memory",
    )


def wrong_count(plan: ProgramPlan, what: str, expected: int, got: int) -> NoReturn:
    """Raise that a call has the wrong number of arguments."""
    raise ArgumentError(f"{plan.name} takes {expected} {what}, got {got}")
