"""Linked native code of a program: its launch table, and the function that runs it."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache, partial
from typing import TypeAlias

from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.runtime.native import native
from ttnn_jit.runtime.native.chunks import chunks_of, nanoseconds_of
from ttnn_jit.runtime.native.entry import entry
from ttnn_jit.runtime.native.launch_groups import Memories, TimedLaunch, groups_of
from ttnn_jit.runtime.native.launch_symbols import COPY_SYMBOL
from ttnn_jit.runtime.native.launch_table import UNSHARED, Arrays, LaunchTableWriter, TableEntry, int64_array
from ttnn_jit.runtime.native.panels import PanelLayout, with_flag, without_flag
from ttnn_jit.runtime.native.structures import CopyParams, LaunchEntry, LaunchTable
from ttnn_jit.runtime.native.threads import HELPERS
from ttnn_jit.runtime.plans.launches import Launch, runs_of
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.specs.tensor_spec import TensorSpec

NO_PANELS: Mapping[int, PanelLayout] = {}

RELEASE_GIL_BYTES = 1 << 20
"""Programs that touch this many bytes release the GIL: their kernels run long enough to pay for releasing it, and for
acquiring it again, which takes up to Python's switch interval while another thread computes."""


@dataclass(frozen=True)
class NativeCall:
    """A program's native code, ready to be called.

    Attributes:
        function: Runs the kernels; its arguments are the address of the helper pool or 0, the address of the table, and
            the address of all memory of the plan.
        table: Address of the launch table.
        is_parallel: Whether a launch has chunks for helper threads.
        releases_gil: Whether it releases the GIL while it runs.
        kernels: Number of launches in the table.
        keeps: The memory of the table, with the plan's constants at its end, and of the arrays that it points to.
    """

    function: Callable[..., None]
    table: int
    is_parallel: bool
    releases_gil: bool
    kernels: int
    keeps: tuple[ctypes.Array[ctypes.c_int64] | array[int], ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the table and of the arrays that it points to."""
        return sum(memoryview(each).nbytes for each in self.keeps)

    def with_constants(self, bits: Sequence[int]) -> NativeCall:
        """The code of a program that differs in its constants alone."""
        packed, *arrays = self.keeps
        assert isinstance(packed, ctypes.Array), "the table is an array of ctypes"
        copied = type(packed).from_buffer_copy(packed)
        copied[-len(bits) - 1 : -1] = [*bits]  # before the extra element
        table, kept = ctypes.addressof(copied), (copied, *arrays)
        return NativeCall(self.function, table, self.is_parallel, self.releases_gil, self.kernels, kept)

    def run(self, addresses: Sequence[int]) -> None:
        """Run the kernels on the plan's memory at these addresses."""
        self.function(HELPERS.pool_address() if self.is_parallel else 0, self.table, *addresses)


NativeCalls: TypeAlias = "tuple[NativeCall | None, ...]"
"""The code of a program: a call before each of its exchanges with other ranks, and one after the last; None where
nothing is launched."""


def link(
    plan: ProgramPlan,
    objects: Mapping[str, bytes],
    *,
    part: range | None = None,
    without: Collection[int] = (),
    in_panels: Mapping[int, PanelLayout] = NO_PANELS,
) -> NativeCall | None:
    """Load the kernels of `plan` and the other `objects`, which they call; None if it launches nothing.

    The launches are those of `part`, or all of them; those whose index is in `without` are omitted. `in_panels` gives
    the layout of the inputs that are packed.
    """
    chosen = range(len(plan.launches)) if part is None else part
    runs = [*runs_of([plan.launches[index] for index in chosen if index not in without])]
    if not runs:
        return None
    called = {name: native.kernel_address(name, code) for name, code in objects.items() if name not in plan.kernels}
    addresses = {kernel: native.kernel_address(kernel, objects[kernel], called) for kernel in plan.kernels}
    arrays = Arrays()
    specs = plan.operands
    # Launches that differ only in which buffers they take, as those of the layers of a model, share their parameters.
    entries: dict[object, TableEntry] = {}
    found = []
    for launch, rounds in runs:
        params, operands = launch.params_in(rounds), [specs[index] for index in launch.operands]
        layout = in_panels.get(launch.operands[launch.panels[0]]) if launch.panels and in_panels else None
        key = (launch.kernel, params, layout, launch.picoseconds, launch.reduced, launch.whole, *operands)
        if key not in entries:
            address = addresses[launch.kernel]
            entries[key] = _entry_of(launch.in_round(rounds) if rounds else launch, address, operands, layout, arrays)
        found.append(entries[key])
    timed = [
        TimedLaunch(*run, own.nanoseconds if plan.positions or not own.is_cut else 0.0, own.is_cut)
        for run, own in zip(runs, found, strict=True)
    ]
    groups = [*groups_of(timed, Memories.of(plan))]
    packed = LaunchTableWriter(plan, runs, found, arrays).table(groups)
    wakes = any(own.fields["wakes"] for own in found) or any(group.wakes for group in groups)
    releases_gil = wakes or plan.bytes_touched >= RELEASE_GIL_BYTES
    is_parallel = bool(groups) or any(own.is_cut for own in found)
    function = entry(releases_gil=releases_gil)
    return NativeCall(
        function, ctypes.addressof(packed), is_parallel, releases_gil, len(runs), (packed, *arrays.kept())
    )


def _entry_of(
    as_planned: Launch, address: int, specs: Sequence[TensorSpec], layout: PanelLayout | None, arrays: Arrays
) -> TableEntry:
    """What a launch shares with others.

    Args:
        as_planned: The launch.
        address: The address of its kernel.
        specs: The specs of its operands.
        layout: The layout of the operand that is packed in panels; None if none is.
        arrays: The arrays of the table.
    """
    launch, flagged = _with_panel_strides(as_planned, layout)
    dtypes = [spec.dtype for spec in specs]
    itemsizes = [dtype.stride_bytes for dtype in dtypes]
    nbytes = sum([spec.nbytes for spec in specs])
    time = nanoseconds_of(launch, itemsizes, nbytes)
    chunks = chunks_of(launch, itemsizes, nbytes, time)
    if any(dtype.is_block_float for dtype in dtypes):  # strides of tiles are not of elements
        time = 0.0
    own = {"function": address, "operands": len(launch.operands)}
    fields = UNSHARED | own | {"params": arrays.address(flagged(launch.params))}
    if chunks:
        shared = (flagged(chunks.params), flagged(chunks.last_params), chunks.steps)
        fields |= zip(("chunk_params", "last_params", "steps"), map(arrays.address, shared), strict=True)
        fields |= {"chunks": chunks.count, "wakes": int(chunks.wakes)}
    return TableEntry(fields, itemsizes, time)


def _with_panel_strides(
    launch: Launch, layout: PanelLayout | None
) -> tuple[Launch, Callable[[tuple[int, ...]], tuple[int, ...]]]:
    """The launch with the strides that `chunks_of` needs, and the function from its params to its kernel's."""
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
        **UNSHARED,
    )
    packed = int64_array([*LaunchTable.int64s(kernels=1, widest=2), *launch])
    releases_gil = fields["batches"] * fields["target_batch"] >= RELEASE_GIL_BYTES
    keeps = packed, params, indices, offsets
    return NativeCall(entry(releases_gil=releases_gil), ctypes.addressof(packed), False, releases_gil, 1, keeps)
