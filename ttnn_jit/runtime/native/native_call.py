"""A program's native code, mapped: its launch table, and the function that runs it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native import native
from ttnn_jit.runtime.native.chunks import chunks_of
from ttnn_jit.runtime.native.entry import entry
from ttnn_jit.runtime.native.launch_symbols import COPY_SYMBOL
from ttnn_jit.runtime.native.panels import PanelLayout, with_flag, without_flag
from ttnn_jit.runtime.native.structures import CopyParams, LaunchEntry, LaunchTable
from ttnn_jit.runtime.native.threads import HELPERS
from ttnn_jit.runtime.plans.launches import Launch, runs_of
from ttnn_jit.runtime.plans.plan import ProgramPlan

NO_PANELS: Mapping[int, PanelLayout] = {}

RELEASE_GIL_BYTES = 1 << 20
"""Programs that touch this much let other Python threads run: their kernels run long enough to pay for giving the lock
away, and for the wait to get it back, up to Python's switch interval when another thread computes."""


@dataclass(frozen=True)
class NativeCall:
    """A program's native code, ready to be called.

    Attributes:
        function: Called with the arguments of launch_ir.py: the table's address, what helpers are lent, and the address
            of every buffer of the plan.
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
    runs = [*runs_of([each for index, each in enumerate(plan.launches) if index not in without])]
    if not runs:
        return None
    called = {name: native.kernel_address(name, code) for name, code in objects.items() if name not in plan.kernels}
    addresses = {kernel: native.kernel_address(kernel, objects[kernel], called) for kernel in plan.kernels}
    widest = max(len(launch.operands) for launch, _ in runs)
    table = LaunchTable.int64s(kernels=len(runs), widest=widest)
    # Runs of a launch share an entry's arrays where its loops are as long in all of them.
    keys = [(id(launch), launch.params_in(rounds)) for launch, rounds in runs]
    entries: dict[object, _Entry] = {}
    for key, (launch, rounds) in zip(keys, runs, strict=True):
        if key not in entries:
            entries[key] = _entry_of(launch.in_round(rounds), plan, in_panels)
    keeps = [array for _, _, own in entries.values() for array in own]
    for key, (launch, rounds) in zip(keys, runs, strict=True):
        fields, itemsizes, _ = entries[key]
        offsets = int64_array(list(map(int.__mul__, launch.offsets_in(rounds), itemsizes)))
        table += LaunchEntry.int64s(function=addresses[launch.kernel], offsets=ctypes.addressof(offsets), **fields)
        keeps.append(offsets)
    packed = int64_array(table)
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
    arrays = [int64_array(launch.operands), int64_array(flagged(launch.params))]
    if chunks:
        arrays += map(int64_array, (flagged(chunks.params), flagged(chunks.last_params), chunks.steps))
    pointers = zip(("indices", "params", "chunk_params", "last_params", "steps"), arrays, strict=False)
    fields = _UNSHARED | {name: ctypes.addressof(each) for name, each in pointers}
    if chunks:
        fields |= {"chunks": chunks.count, "wakes": int(chunks.wakes)}
    return fields | {"operands": len(launch.operands)}, itemsizes, arrays


_UNSHARED = {"chunks": 1, "chunk_params": 0, "last_params": 0, "steps": 0, "wakes": 0}
"""Fields of the `LaunchEntry` of what runs on one thread."""


def _as_packed(
    launch: Launch, in_panels: Mapping[int, PanelLayout]
) -> tuple[Launch, Callable[[tuple[int, ...]], tuple[int, ...]]]:
    """The launch as it is cut, and what makes its kernel's params of those that it has."""
    layout = in_panels.get(launch.operands[launch.panels[0]]) if launch.panels else None
    if layout is None:
        return launch, tuple
    return replace(launch, params=without_flag(launch, layout)), partial(with_flag, launch)


@lru_cache(1024)
def copying(**fields: int) -> NativeCall:
    """The call of the kernel that copies the first of two buffers to the second, with these `CopyParams`."""
    params, indices, offsets = int64_array(CopyParams.int64s(**fields)), int64_array([0, 1]), int64_array([0, 0])
    launch = LaunchEntry.int64s(
        function=native.launch_address(COPY_SYMBOL),
        operands=2,
        indices=ctypes.addressof(indices),
        offsets=ctypes.addressof(offsets),
        params=ctypes.addressof(params),
        **_UNSHARED,
    )
    packed = int64_array([*LaunchTable.int64s(kernels=1, widest=2), *launch])
    gives_lock_away = fields["batches"] * fields["target_batch"] >= RELEASE_GIL_BYTES
    keeps = packed, params, indices, offsets
    return NativeCall(
        entry(gives_lock_away=gives_lock_away), ctypes.addressof(packed), False, gives_lock_away, 1, keeps
    )


def int64_array(values: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    """Numbers in memory, and one more, so that an empty list still has an address."""
    return (ctypes.c_int64 * (len(values) + 1))(*values)
