"""Linked native code of a program: its launch table, and the function that runs it."""

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
from ttnn_jit.runtime.native.structures import FIELD_BYTES, TABLE, CopyParams, LaunchEntry, LaunchTable
from ttnn_jit.runtime.native.threads import HELPERS
from ttnn_jit.runtime.plans.launches import Launch, runs_of
from ttnn_jit.runtime.plans.plan import ProgramPlan

NO_PANELS: Mapping[int, PanelLayout] = {}

RELEASE_GIL_BYTES = 1 << 20
"""Programs that touch this many bytes release the GIL: their kernels run long enough to pay for releasing it, and for
acquiring it again, which takes up to Python's switch interval while another thread computes."""


@dataclass(frozen=True)
class NativeCall:
    """A program's native code, ready to be called.

    Attributes:
        function: Runs the kernels; its arguments are the address of the helper pool or 0, the address of the table, and
            the address of every buffer of the plan.
        table: Address of the launch table.
        is_parallel: Whether a launch has chunks for helper threads.
        releases_gil: Whether it releases the GIL while it runs.
        kernels: Number of launches in the table.
        keeps: The memory of the table, and of the arrays that it points to.
    """

    function: Callable[..., None]
    table: int
    is_parallel: bool
    releases_gil: bool
    kernels: int
    keeps: tuple[ctypes.Array[ctypes.c_int64], ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the table and of the arrays that it points to."""
        return sum(map(ctypes.sizeof, self.keeps))

    def run(self, addresses: Sequence[int]) -> None:
        """Run the kernels on the plan's buffers at these addresses."""
        self.function(HELPERS.pool_address() if self.is_parallel else 0, self.table, *addresses)


def link(
    plan: ProgramPlan,
    objects: Mapping[str, bytes],
    *,
    without: Collection[int] = (),
    in_panels: Mapping[int, PanelLayout] = NO_PANELS,
) -> NativeCall | None:
    """Load the kernels of `plan` and the other `objects`, which they call; None if it launches nothing.

    Launches whose index is in `without` are omitted. `in_panels` gives the layout of the inputs that are packed.
    """
    runs = [*runs_of([each for index, each in enumerate(plan.launches) if index not in without])]
    if not runs:
        return None
    called = {name: native.kernel_address(name, code) for name, code in objects.items() if name not in plan.kernels}
    addresses = {kernel: native.kernel_address(kernel, objects[kernel], called) for kernel in plan.kernels}
    widest = max(len(launch.operands) for launch, _ in runs)
    table = LaunchTable.int64s(kernels=len(runs), widest=widest)
    # Runs of a launch share an entry's arrays if their loops have equal extents.
    keys = [(id(launch), launch.params_in(rounds)) for launch, rounds in runs]
    entries: dict[object, _Entry] = {}
    for key, (launch, rounds) in zip(keys, runs, strict=True):
        if key not in entries:
            entries[key] = _entry_of(launch.in_round(rounds), plan, in_panels)
    keeps = [array for _, _, own in entries.values() for array in own]
    constants = _Constants(plan, LaunchTable.nbytes + len(runs) * LaunchEntry.nbytes)
    for key, (launch, rounds) in zip(keys, runs, strict=True):
        fields, itemsizes, _ = entries[key]
        moves = list(map(int.__mul__, launch.offsets_in(rounds), itemsizes))
        offsets = int64_array(constants.offsets(launch, moves))
        table += LaunchEntry.int64s(function=addresses[launch.kernel], offsets=ctypes.addressof(offsets), **fields)
        keeps.append(offsets)
    packed = int64_array([*table, *constants.words])
    every = [fields for fields, _, _ in entries.values()]
    releases_gil = any(each["wakes"] for each in every) or plan.bytes_touched >= RELEASE_GIL_BYTES
    is_parallel, function = any(each["chunks"] > 1 for each in every), entry(releases_gil=releases_gil)
    return NativeCall(function, ctypes.addressof(packed), is_parallel, releases_gil, len(runs), (packed, *keeps))


@dataclass(frozen=True)
class _Constants:
    """The constants of a plan, which lie behind its launch table in memory: a word of 64 bits for each.

    Attributes:
        plan: The plan.
        start: The bytes before them.
    """

    plan: ProgramPlan
    start: int

    @property
    def words(self) -> list[int]:
        """Their bits, in the lower bytes of words, which come first in memory."""
        return [constant.bits for constant in self.plan.constants]

    def offsets(self, launch: Launch, moves: list[int]) -> list[int]:
        """The offsets of a launch's operands in bytes, for moves from the first element of each."""
        if not self.plan.constants:
            return moves
        first = len(self.plan.buffers)
        return [
            move if index < first else self.start + (index - first) * FIELD_BYTES
            for index, move in zip(launch.operands, moves, strict=True)
        ]


_Entry = tuple[Mapping[str, int], Sequence[int], Sequence[ctypes.Array[ctypes.c_int64]]]


def _entry_of(as_planned: Launch, plan: ProgramPlan, in_panels: Mapping[int, PanelLayout]) -> _Entry:
    """Fields of the `LaunchEntry` that all runs of a launch share, bytes per stride of its operands, and its arrays."""
    launch, flagged = _with_panel_strides(as_planned, in_panels)
    specs = [plan.operands[index] for index in launch.operands]
    itemsizes = [spec.dtype.stride_bytes for spec in specs]
    chunks = chunks_of(launch, itemsizes, sum(spec.nbytes for spec in specs))
    indices = [index if index < len(plan.buffers) else TABLE for index in launch.operands]
    arrays = [int64_array(indices), int64_array(flagged(launch.params))]
    if chunks:
        arrays += map(int64_array, (flagged(chunks.params), flagged(chunks.last_params), chunks.steps))
    pointers = zip(("indices", "params", "chunk_params", "last_params", "steps"), arrays, strict=False)
    fields = _UNSHARED | {name: ctypes.addressof(each) for name, each in pointers}
    if chunks:
        fields |= {"chunks": chunks.count, "wakes": int(chunks.wakes)}
    return fields | {"operands": len(launch.operands)}, itemsizes, arrays


_UNSHARED = {"chunks": 1, "chunk_params": 0, "last_params": 0, "steps": 0, "wakes": 0}
"""Fields of the `LaunchEntry` of a launch that runs on one thread."""


def _with_panel_strides(
    launch: Launch, in_panels: Mapping[int, PanelLayout]
) -> tuple[Launch, Callable[[tuple[int, ...]], tuple[int, ...]]]:
    """The launch with the strides that `chunks_of` needs, and the function from its params to its kernel's."""
    layout = in_panels.get(launch.operands[launch.panels[0]]) if launch.panels else None
    if layout is None:
        return launch, tuple
    return replace(launch, params=without_flag(launch, layout)), partial(with_flag, launch)


@lru_cache(1024)
def copy_call(**fields: int) -> NativeCall:
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
    releases_gil = fields["batches"] * fields["target_batch"] >= RELEASE_GIL_BYTES
    keeps = packed, params, indices, offsets
    return NativeCall(entry(releases_gil=releases_gil), ctypes.addressof(packed), False, releases_gil, 1, keeps)


def int64_array(values: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    """An array of the numbers, with one extra element so that an empty list has an address too."""
    return (ctypes.c_int64 * (len(values) + 1))(*values)
