"""Weights in panels: the right factor of products, as their kernels pack it, in place of a tensor's plain elements.

A product of many rows packs its right factor in every call. One that stays is packed once instead: the panels take the
place of the tensor's memory, and whoever reads or writes its elements finds them unpacked. So no write is missed, and
there is one copy.

A tensor is packed only while nobody else holds its `Buffer`: no other tensor, no view of numpy's or torch's, no trace,
no call that runs in another thread. Each of these holds the object for as long as it uses the memory, or the very int
that is its address, which never changes; so counting references says who there is. That is done once an `InPanels` has
its place in the tensor: whoever asks this for an address meanwhile waits, and nobody comes to hold the buffer.

Panels lie one after the other, each step by step. A word of a step is a float32, or two bfloat16, the even term below
the odd one. Columns and terms beyond the last ones are zeros.
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
from ttnn_jit.runtime.memory.buffer import HOST_POOL, Buffer
from ttnn_jit.specs.tensor_spec import BufferType, TensorSpec

if TYPE_CHECKING:
    import numpy

    from ttnn_jit.runtime.plans.launches import Launch
    from ttnn_jit.runtime.plans.plan import ProgramPlan

MIN_BYTES = 1 << 16
"""Of a tensor that is packed: a smaller one stays in a cache, and its product takes microseconds."""
USES = 3
"""Products that read a factor, from which on it is one that stays."""
MORE_USES = 8
"""How many times as many, each time that the factor was unpacked."""
_FEW_BYTES = 8
"""One part in so many of a tensor's bytes is what columns that are no whole panel may take."""
_FLAG = 2
"""The loop along which the right factor does not move: that of rows."""

_LOCK: Any = compiling()
"""For which a fork waits: a child has every tensor plain or in panels, and none on its way."""


class _Moves:
    """What one thread at a time changes: which memory a tensor has."""

    def __init__(self) -> None:
        self.forget_other_threads()

    def forget_other_threads(self) -> None:
        """In a forked child: drop a lock that a thread of the parent may have held."""
        self.lock = threading.RLock()


_MOVES = _Moves()
os.register_at_fork(after_in_child=_MOVES.forget_other_threads)


@dataclass(frozen=True)
class PanelLayout:
    """How a product finds a tensor's elements, plain and in panels.

    Attributes:
        spec: Of the tensor.
        columns: Neighbours.
        depth: Terms.
        across: Elements from a plain column to the next.
        along: Elements from a plain term to the next.
        width: Columns of a panel.
        terms: Of a word.
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
        """Of the panels."""
        return self._panels * self.width * self.strides[0] * self.spec.dtype.itemsize

    @property
    def strides(self) -> tuple[int, int]:
        """Elements that a column, of the first of a panel, and a term stand for."""
        return self._steps * self.terms, self.width

    def pack(self, plain: Buffer, panels: Buffer) -> None:
        """Have `panels` hold what `plain` does."""
        whole = self._in_panels(panels)
        if self.depth % self.terms:
            whole[:, -1] = 0
        if self.columns % self.width:
            whole[-1] = 0
        for elements, packed in self._parts(plain, whole):
            packed[...] = elements

    def unpack(self, panels: Buffer, plain: Buffer) -> None:
        """The inverse; padding becomes zero."""
        zero_padding(self.spec, plain)
        for elements, packed in self._parts(plain, self._in_panels(panels)):
            elements[...] = packed

    @property
    def _word(self) -> str:
        return f"uint{8 * self.spec.dtype.itemsize}"

    def _in_panels(self, panels: Buffer) -> numpy.ndarray[Any, Any]:
        """Panel, step, column, term."""
        import numpy

        shape = (self._panels, self._steps, self.width, self.terms)
        return numpy.ndarray(shape, self._word, memoryview(owning_bytes(panels, self.nbytes)))

    def _parts(self, plain: Buffer, panels: numpy.ndarray[Any, Any]) -> Iterator[tuple[Any, Any]]:
        """The same elements in both: of whole panels, and of the rest, for each term of a word."""
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
        layout: Of these.
        bit: Of a mask of the inputs that are.
    """

    layout: PanelLayout
    bit: int


class Uses:
    """What is known of a block that is a factor of products.

    Attributes:
        layout: Of the panels that the last one would read.
        count: Products that read it.
        unpacked: How often its tensor was in panels before.
    """

    __slots__ = ("count", "layout", "unpacked")

    def __init__(self, layout: PanelLayout, unpacked: int = 0) -> None:
        self.layout = layout
        self.count = 0
        self.unpacked = unpacked

    @property
    def stays(self) -> bool:
        """Whether it was read so often that it is to be packed."""
        return bool(self.count >= USES * MORE_USES**self.unpacked)


class Owner(Protocol):
    """A tensor: what has memory that panels may take the place of."""

    _buffer: Buffer | InPanels | None


class InPanels:
    """What a tensor has in place of its buffer while its elements lie in panels.

    Attributes:
        uses: Of the buffer before.
        block: The panels; None until they are packed, and once they are unpacked.
    """

    __slots__ = ("_plain", "_taken", "_tensor", "block", "uses")

    def __init__(self, tensor: Owner, uses: Uses) -> None:
        self._tensor = weakref.ref(tensor)
        self._plain: Buffer | None = None
        self._taken: list[Buffer] = []
        self.uses = uses
        self.block: Buffer | None = None

    @property
    def address(self) -> int:
        """Of the elements, which are unpacked for whoever asks."""
        return self.plain().address

    def plain(self) -> Buffer:
        """The memory of the elements, which the tensor has from now on."""
        with _LOCK:
            if self._taken:  # this thread is packing it, and a finalizer of the user's or a signal came between
                self._give_back(self._taken[0])
            elif self._plain is None and self.block is not None:
                layout = self.uses.layout
                with interrupts_postponed():
                    buffer = HOST_POOL.allocate(layout.spec.nbytes)
                    layout.unpack(self.block, buffer)
                    buffer.uses = Uses(layout, self.uses.unpacked + 1)
                    self._give_back(buffer)
            return self._plain  # type: ignore[return-value]  # it is there by now

    def pack(self, taken: list[Buffer]) -> None:
        """Pack what a list holds, unless anybody else does too, or it must stay plain: then the tensor has it back."""
        try:
            if _is_free(taken[0]) and _nobody_holds(taken):
                with contextlib.suppress(MemoryError):  # there is no room for both, so that it stays plain
                    block = HOST_POOL.allocate(self.uses.layout.nbytes)
                    self.uses.layout.pack(taken[0], block)
                    self.block = block if self._plain is None else None
        finally:
            self._taken = []
            if self.block is None:
                self._give_back(taken[0])

    def _give_back(self, buffer: Buffer) -> None:
        self._plain, self.block = buffer, None
        tensor = self._tensor()
        if tensor is not None:
            with _MOVES.lock:
                if tensor._buffer is self:  # else it was deallocated
                    tensor._buffer = buffer


# --- Tensors ----------------------------------------------------------------------------------------------------------


def memory_of(tensor: Owner, factor: Factor) -> tuple[Buffer | None, int]:
    """What one call reads of a factor, and holds meanwhile; and its bit if these are panels, else 0.

    It is packed where it seems to stay. None if it was deallocated.
    """
    layout = factor.layout
    if isinstance(tensor._buffer, Buffer) and _seems_to_stay(tensor._buffer, layout):
        _pack(tensor)
    memory = tensor._buffer
    if type(memory) is InPanels and memory.uses.layout is layout and (block := memory.block) is not None:
        return block, factor.bit
    return plain_memory(tensor), 0


def _seems_to_stay(buffer: Buffer, layout: PanelLayout) -> bool:
    """Count a use of a block by a product."""
    uses: Any = getattr(buffer, "uses", None)
    if uses is None or uses.layout is not layout:
        uses = buffer.uses = Uses(layout, uses.unpacked if uses else 0)
    uses.count += 1
    return bool(uses.stays)


def _pack(tensor: Owner) -> None:
    """Have panels take the place of a tensor's memory, if that can be now."""
    if not _numpy_is_there() or not _LOCK.acquire(blocking=False):
        return  # no product waits: the next one will do it
    try:
        with interrupts_postponed():
            taken: list[Any] = []
            with _MOVES.lock:
                taken.append(tensor._buffer)
                if not isinstance(taken[0], Buffer):
                    return
                uses: Any = taken[0].uses
                uses.count = 0
                panels = InPanels(tensor, uses)
                panels._taken = taken
                tensor._buffer = panels
            panels.pack(taken)
    finally:
        _LOCK.release()


def plain_memory(tensor: Owner) -> Buffer | None:
    """The memory of a tensor's elements, unpacked where they lie in panels; None if it was deallocated."""
    memory = tensor._buffer
    return memory.plain() if type(memory) is InPanels else memory  # type: ignore[return-value]  # no subclasses


def taken_away(tensor: Owner) -> Buffer | InPanels | None:
    """What a tensor had, which is deallocated."""
    with _MOVES.lock:
        memory, tensor._buffer = tensor._buffer, None
    return memory


def _numpy_is_there() -> bool:
    """Whether elements can be moved: no operation needs numpy else."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        return False
    return True


def _is_free(buffer: Buffer) -> bool:
    """Whether a block belongs to nobody but its owners: no trace, no account, nobody who was told its address."""
    return not buffer.pool.is_of_a_trace and getattr(buffer, "lease", None) is None


def _nobody_holds(taken: list[Any]) -> bool:
    """Whether a list alone holds a buffer, and that alone the object that its address is."""
    return _references(taken) == _IN_A_LIST and _references([taken[0].address]) == _IN_A_LIST + 1


def _references(taken: list[Any]) -> int:
    """To the only item of a list."""
    return sys.getrefcount(taken[0])


_IN_A_LIST = _references([object()])
"""What that is where nobody else holds it."""
CAN_COUNT = getattr(sys, "_is_gil_enabled", lambda: True)() and sys.implementation.name == "cpython"
"""Whether nobody comes to hold an object while its references are counted."""


def is_packed(tensor: Owner) -> bool:
    """Whether its elements lie in panels."""
    return type(tensor._buffer) is InPanels


# --- Programs ---------------------------------------------------------------------------------------------------------


def factors_of(plan: ProgramPlan) -> Mapping[int, Factor]:
    """The inputs that may be in panels, by index.

    Every kernel that reads one is of a product whose right factor is all of it, in one and the same layout.
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
    return layout if layout.nbytes <= spec.nbytes + spec.nbytes // _FEW_BYTES else None


_interned = lru_cache(None)(PanelLayout)


def without_flag(launch: Launch, layout: PanelLayout) -> tuple[int, ...]:
    """The params of a launch with its factor in panels, but for the one that says so: strides by which it is cut."""
    params, first = list(launch.params), launch.loops * (1 + launch.panels[0])
    params[first : first + 2] = layout.strides
    return tuple(params)


def with_flag(launch: Launch, params: tuple[int, ...]) -> tuple[int, ...]:
    """Those params, or what chunks have of them, as kernels read them."""
    flagged = list(params)
    flagged[launch.loops * (1 + launch.panels[0]) + _FLAG] = 1
    return tuple(flagged)
