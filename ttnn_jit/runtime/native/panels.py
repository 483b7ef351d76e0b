"""Weights in panels: a tensor that is the right factor of products keeps its elements in their kernels' packed form.

A product of many rows packs its right factor in every call. A factor that is used often is packed once instead: the
panels replace the tensor's memory, and any other read or write of its elements unpacks them first. So no write is
missed, and there is one copy.

A tensor is packed only while nothing else holds its `Buffer`: no other tensor, no view of numpy or torch, no trace, no
call in another thread. Each of these holds a reference to the buffer, or to the int object that is its address, for as
long as it uses the memory. So reference counts tell whether the buffer is shared. They are read after an `InPanels` has
replaced the buffer in the tensor: a thread that asks for the address then waits, so no new reference appears.

Panels are contiguous, each stored step by step. A word of a step is a float32, or two bfloat16 with the even term in
the low half. Columns and terms beyond the last ones are zeros.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from ttnn_jit.process.compile_lock import compiling, interrupts_postponed
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.elements.numpy_elements import owning_bytes, zero_padding
from ttnn_jit.runtime.memory.buffer import Buffer
from ttnn_jit.specs.tensor_spec import BufferType, TensorSpec

if TYPE_CHECKING:
    import numpy

    from ttnn_jit.runtime.plans.launches import Launch
    from ttnn_jit.runtime.plans.plan import ProgramPlan

MIN_BYTES = 1 << 16
"""The least bytes of a tensor that is packed: a smaller one stays in a cache, and its product takes microseconds."""
USES = 3
"""The number of products that read a factor before it is packed."""
USES_GROWTH = 8
"""That number is multiplied by this each time the factor was unpacked."""
_PADDING_SHARE = 8
"""Padding of the last panel may take one part in so many of a tensor's bytes."""
_FLAG = 2
"""The loop over rows, along which the right factor does not move: its stride is the flag that says it is packed."""

_LOCK: Any = compiling()
"""A fork waits for this lock, so in a child every tensor is plain or in panels, and none is being packed."""


class _Moves:
    """The lock under which a tensor's memory is replaced."""

    def __init__(self) -> None:
        self.forget_other_threads()

    def forget_other_threads(self) -> None:
        """In a forked child: replace a lock that a thread of the parent may have held."""
        self.lock = threading.RLock()


_MOVES = _Moves()
os.register_at_fork(after_in_child=_MOVES.forget_other_threads)


@dataclass(frozen=True)
class PanelLayout:
    """The layout of a factor's elements, plain and in panels.

    Attributes:
        spec: The spec of the tensor.
        columns: Number of columns.
        depth: Number of terms.
        across: Plain stride between columns, in elements.
        along: Plain stride between terms, in elements.
        width: Columns of a panel.
        terms: Terms of a word.
    """

    spec: TensorSpec
    columns: int
    depth: int
    across: int
    along: int
    width: int
    terms: int

    @property
    def _panels(self) -> int:
        return -(-self.columns // self.width)

    @property
    def _steps(self) -> int:
        return -(-self.depth // self.terms)

    @property
    def nbytes(self) -> int:
        """Bytes of the panels."""
        return self._panels * self.width * self.strides[0] * self.spec.dtype.itemsize

    @property
    def strides(self) -> tuple[int, int]:
        """Strides in panels, in elements: per column, for the first column of a panel, and per term."""
        return self._steps * self.terms, self.width

    def pack(self, plain: Buffer, panels: Buffer) -> None:
        """Pack the elements of `plain` into `panels`."""
        whole = self._in_panels(panels)
        if self.depth % self.terms:
            whole[:, -1] = 0
        if self.columns % self.width:
            whole[-1] = 0
        for elements, packed in self._parts(plain, whole):
            packed[...] = elements

    def unpack(self, panels: Buffer, plain: Buffer) -> None:
        """The inverse of `pack`; padding becomes zero."""
        zero_padding(self.spec, plain)
        for elements, packed in self._parts(plain, self._in_panels(panels)):
            elements[...] = packed

    @property
    def _word(self) -> str:
        return f"uint{8 * self.spec.dtype.itemsize}"

    def _in_panels(self, panels: Buffer) -> numpy.ndarray[Any, Any]:
        """A view with the dimensions panel, step, column, term."""
        import numpy

        shape = (self._panels, self._steps, self.width, self.terms)
        return numpy.ndarray(shape, self._word, memoryview(owning_bytes(panels, self.nbytes)))

    def _parts(self, plain: Buffer, panels: numpy.ndarray[Any, Any]) -> Iterator[tuple[Any, Any]]:
        """Pairs of views of the same elements: for each term of a word, of the whole panels and of the last one."""
        import numpy

        memory, item = memoryview(owning_bytes(plain, self.spec.nbytes)), self.spec.dtype.itemsize
        whole, rest = divmod(self.columns, self.width)
        for term in range(self.terms):
            steps = len(range(term, self.depth, self.terms))
            for first, count, width in ((0, whole, self.width), (whole, 1, rest)):
                if steps and count and width:
                    start = term * self.along + first * self.width * self.across
                    strides = (self.width * self.across, self.terms * self.along, self.across)
                    within = (count, steps, width), self._word, memory
                    elements: numpy.ndarray[Any, Any] = numpy.ndarray(
                        *within, offset=start * item, strides=tuple(stride * item for stride in strides)
                    )
                    yield elements, panels[first : first + count, :steps, :width, term]


@dataclass(frozen=True)
class Factor:
    """An input of a program that may be in panels.

    Attributes:
        layout: The layout of the panels.
        bit: Its bit in masks of the inputs that are in panels.
    """

    layout: PanelLayout
    bit: int


class Uses:
    """Statistics of a block's uses as a factor of products.

    Attributes:
        layout: The layout of the panels that the last product would read.
        count: Number of products that read it.
        unpacked: How often its tensor was unpacked before.
    """

    __slots__ = ("count", "layout", "unpacked")

    def __init__(self, layout: PanelLayout, unpacked: int = 0) -> None:
        self.layout = layout
        self.count = 0
        self.unpacked = unpacked

    @property
    def is_hot(self) -> bool:
        """Whether it was read often enough to be packed."""
        return bool(self.count >= USES * USES_GROWTH**self.unpacked)


class Owner(Protocol):
    """A tensor whose memory panels may replace."""

    _buffer: Buffer | InPanels | None


class InPanels:
    """Replaces the buffer of a tensor while its elements are in panels.

    Attributes:
        uses: The statistics of the replaced buffer.
        block: The panels; None before packing and after unpacking.
    """

    __slots__ = ("_detached", "_plain", "_tensor", "block", "uses")

    def __init__(self, tensor: Owner, uses: Uses) -> None:
        self._tensor = weakref.ref(tensor)
        self._plain: Buffer | None = None
        self._detached: list[Buffer] = []
        self.uses = uses
        self.block: Buffer | None = None

    @property
    def address(self) -> int:
        """The address of the elements, which are unpacked first."""
        return self.plain().address

    def plain(self) -> Buffer:
        """Unpack the elements into a buffer, which becomes the tensor's again."""
        with _LOCK:
            if self._detached:  # a finalizer or a signal handler of the user interrupted packing in this thread
                self._give_back(self._detached[0])
            elif self._plain is None and self.block is not None:
                layout = self.uses.layout
                with interrupts_postponed():
                    buffer = self.block.pool.allocate(layout.spec.nbytes)
                    layout.unpack(self.block, buffer)
                    buffer.uses = Uses(layout, self.uses.unpacked + 1)
                    self._give_back(buffer)
            return self._plain  # type: ignore[return-value]  # it is set by now

    def pack(self, detached: list[Buffer]) -> None:
        """Pack the buffer that the list holds; if it is shared or must stay plain, return it to the tensor.

        The panels are in the buffer's own pool, so the memory that one tensor leaves holds the panels of the next.
        """
        try:
            if _is_movable(detached[0]) and _is_unreferenced(detached):
                with contextlib.suppress(MemoryError):  # without room for both, it stays plain
                    block = detached[0].pool.allocate(self.uses.layout.nbytes)
                    self.uses.layout.pack(detached[0], block)
                    self.block = block if self._plain is None else None
        finally:
            self._detached = []
            if self.block is None:
                self._give_back(detached[0])

    def _give_back(self, buffer: Buffer) -> None:
        self._plain, self.block = buffer, None
        tensor = self._tensor()
        if tensor is not None:
            with _MOVES.lock:
                if tensor._buffer is self:  # otherwise it was deallocated
                    tensor._buffer = buffer


# --- Tensors ----------------------------------------------------------------------------------------------------------


def memory_of(tensor: Owner, factor: Factor) -> tuple[Buffer | None, int]:
    """The memory that a call reads and holds for a factor, and its bit if that is panels, else 0.

    Counts the use, and packs a factor that is used often. The memory is None if the tensor was deallocated.
    """
    layout = factor.layout
    if isinstance(tensor._buffer, Buffer) and _count_use(tensor._buffer, layout):
        _pack(tensor)
    memory = tensor._buffer
    if type(memory) is InPanels and memory.uses.layout is layout and (block := memory.block) is not None:
        return block, factor.bit
    return plain_memory(tensor), 0


def _count_use(buffer: Buffer, layout: PanelLayout) -> bool:
    """Count a use of a block by a product; returns whether the block should be packed."""
    uses: Any = getattr(buffer, "uses", None)
    if uses is None or uses.layout is not layout:
        uses = buffer.uses = Uses(layout, uses.unpacked if uses else 0)
    uses.count += 1
    return bool(uses.is_hot)


def _pack(tensor: Owner) -> None:
    """Replace a tensor's memory by panels, if that is possible now."""
    if not _has_numpy() or not _LOCK.acquire(blocking=False):
        return  # no product waits for the lock: a later one packs
    try:
        with interrupts_postponed():
            detached: list[Any] = []
            with _MOVES.lock:
                detached.append(tensor._buffer)
                if not isinstance(detached[0], Buffer):
                    return
                uses: Any = detached[0].uses
                uses.count = 0
                panels = InPanels(tensor, uses)
                panels._detached = detached
                tensor._buffer = panels
            panels.pack(detached)
    finally:
        _LOCK.release()


def plain_memory(tensor: Owner) -> Buffer | None:
    """The memory of a tensor's elements, unpacked if they are in panels; None if the tensor was deallocated."""
    memory = tensor._buffer
    return memory.plain() if type(memory) is InPanels else memory  # type: ignore[return-value]  # no subclasses


def detach_memory(tensor: Owner) -> Buffer | InPanels | None:
    """Remove and return the memory of a tensor that is deallocated."""
    with _MOVES.lock:
        memory, tensor._buffer = tensor._buffer, None
    return memory


def _has_numpy() -> bool:
    """Whether numpy, which packs elements, can be imported; operations do not need it otherwise."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        return False
    return True


def _is_movable(buffer: Buffer) -> bool:
    """Whether a block may move: it belongs to no trace, has no L1 lease, and its address is not known to the user."""
    return not buffer.pool.is_of_a_trace and getattr(buffer, "lease", None) is None


def _is_unreferenced(detached: list[Any]) -> bool:
    """Whether the list has the only reference to a buffer, and the buffer the only one to its address object."""
    return _references(detached) == _IN_A_LIST and _references([detached[0].address]) == _IN_A_LIST + 1


def _references(detached: list[Any]) -> int:
    """The reference count of the only item of a list."""
    return sys.getrefcount(detached[0])


_IN_A_LIST = _references([object()])
"""The count if the list has the only reference."""
CAN_COUNT = getattr(sys, "_is_gil_enabled", lambda: True)() and sys.implementation.name == "cpython"
"""Whether reference counts are reliable: the interpreter is CPython with the GIL."""


def is_packed(tensor: Owner) -> bool:
    """Whether the elements of a tensor are in panels."""
    return type(tensor._buffer) is InPanels


# --- Programs ---------------------------------------------------------------------------------------------------------


def factors_of(plan: ProgramPlan) -> Mapping[int, Factor]:
    """The inputs that may be in panels, by index.

    Every kernel that reads such an input is a product whose right factor is the whole input, in the same layout.
    """
    if not CAN_COUNT:
        return {}
    found: dict[int, set[PanelLayout | None]] = {}
    for launch in plan.each_launch:
        for operand, index in enumerate(launch.operands):
            if index < len(plan.inputs):
                found.setdefault(index, set()).add(_layout_of(launch, operand, plan.inputs[index]))
    changed = {*plan.results, *(index for index, _ in plan.updates)}
    alike = [(index, next(iter(each))) for index, each in sorted(found.items()) if len(each) == 1]
    usable = [(index, layout) for index, layout in alike if layout is not None and index not in changed]
    return {index: Factor(layout, 1 << k) for k, (index, layout) in enumerate(usable)}


def _layout_of(launch: Launch, operand: int, spec: TensorSpec) -> PanelLayout | None:
    if not launch.panels or launch.panels[0] != operand or launch.offsets[operand] or launch.growth:
        return None
    if spec.memory_config.buffer_type is not BufferType.DRAM or spec.strides is not None or spec.nbytes < MIN_BYTES:
        return None
    _, width, terms = launch.panels
    (columns, depth), loops = launch.params[:2], launch.loops
    across, along, *others = launch.params[loops * (1 + operand) : loops * (2 + operand)]
    if any(others) or columns * depth != spec.volume or across < 1 or along < 1:
        return None
    layout = _interned(spec, columns, depth, across, along, width, terms)
    return layout if layout.nbytes <= spec.nbytes + spec.nbytes // _PADDING_SHARE else None


_interned = lru_cache(None)(PanelLayout)


def without_flag(launch: Launch, layout: PanelLayout) -> tuple[int, ...]:
    """The params of a launch whose factor is in panels, without the flag: the strides that chunking needs."""
    params, first = list(launch.params), launch.loops * (1 + launch.panels[0])
    params[first : first + 2] = layout.strides
    return tuple(params)


def with_flag(launch: Launch, params: tuple[int, ...]) -> tuple[int, ...]:
    """The params of `without_flag`, or of a chunk of that launch, with the flag that kernels read."""
    flagged = list(params)
    flagged[launch.loops * (1 + launch.panels[0]) + _FLAG] = 1
    return tuple(flagged)
