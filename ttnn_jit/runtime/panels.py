"""Weights in panels: the right factor of products, as their kernels pack it, in place of a tensor's plain elements.

A product of many rows packs its right factor in every call. One that stays is packed once instead: the panels take the
place of the tensor's memory, and whoever reads or writes its elements finds them unpacked. So no write is missed, and
there is one copy.

A tensor is packed only while nobody else holds its `Buffer`: no other tensor, no view of numpy's or torch's, no trace,
no call that runs in another thread. Each of these holds the object for as long as it uses the memory, and its address
never changes; so counting references says who there is. What is taken out of the tensor first, `_buffer`, nobody can
come to hold meanwhile: whoever asks for it waits in `plain_memory`.

Panels lie one after the other, each step by step. A word of a step is a float32, or two bfloat16, the even term below
the odd one. Columns and terms beyond the last ones are zeros.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ttnn_jit.process.compile_lock import compiling, interrupts_postponed
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.buffer import HOST_POOL, Buffer
from ttnn_jit.runtime.tensor_words import owning_bytes, zero_padding
from ttnn_jit.specs.tensor_spec import BufferType, TensorSpec

if TYPE_CHECKING:
    import numpy

    from ttnn_jit.runtime.plan import Launch, ProgramPlan
    from ttnn_jit.runtime.tensor import Tensor

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


class Packing:
    """What is known of a tensor that is a factor of products.

    Attributes:
        layout: Of the panels.
        uses: Products that read it since it was made, or unpacked.
        unpacked: How often it was.
        block: The panels; None while its elements are plain.
    """

    __slots__ = ("block", "layout", "unpacked", "uses")

    def __init__(self, layout: PanelLayout, unpacked: int) -> None:
        self.layout = layout
        self.uses = 0
        self.unpacked = unpacked
        self.block: Buffer | None = None


# --- Tensors ----------------------------------------------------------------------------------------------------------


def memory_of(tensor: Tensor, factor: Factor) -> tuple[Buffer | None, int]:
    """What one call reads of a factor, and holds meanwhile; and its bit if these are panels, else 0.

    It is packed where it seems to stay. None if it was deallocated.
    """
    state, layout = tensor._panels, factor.layout
    if state is not None and state.layout is layout and (block := state.block) is not None:
        return block, factor.bit
    if _LOCK.acquire(blocking=False):  # no product waits: the next one will count
        try:
            if block := _counted(tensor, layout):
                return block, factor.bit
        finally:
            _LOCK.release()
    return tensor._buffer, 0


def _counted(tensor: Tensor, layout: PanelLayout) -> Buffer | None:
    """The panels of a tensor that is used once more; None where it is plain."""
    state = tensor._panels
    if state is None or state.layout is not layout:
        if state is not None and state.block is not None:
            plain_memory(tensor)
        state = tensor._panels = Packing(layout, state.unpacked if state else 0)
    state.uses += 1
    if state.block is None and state.uses >= USES * MORE_USES**state.unpacked:
        state.uses = 0
        with interrupts_postponed():
            _pack(tensor, state)
    return state.block


def _pack(tensor: Tensor, state: Packing) -> None:
    """Have panels take the place of a tensor's memory, unless anybody else holds that, or it must stay plain."""
    if not _numpy_is_there():
        return
    taken = [tensor._buffer]
    del tensor._buffer
    try:
        if taken[0] is not None and _is_free(taken[0]) and _references(taken) == _ONE:
            block = HOST_POOL.allocate(state.layout.nbytes)
            state.layout.pack(taken[0], block)
            state.block = block
    finally:
        if state.block is None:
            tensor._buffer = taken[0]


def _numpy_is_there() -> bool:
    """Whether elements can be moved: no operation needs numpy else."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        return False
    return True


def _is_free(buffer: Buffer) -> bool:
    """Whether a block belongs to nobody but its owners: no trace, no account, nobody who was told its address."""
    return buffer.pool is HOST_POOL and getattr(buffer, "lease", None) is None


def _references(taken: list[Any]) -> int:
    """To the only item of a list."""
    return sys.getrefcount(taken[0])


_ONE = _references([object()])
"""What that is where nobody else holds it."""
CAN_COUNT = getattr(sys, "_is_gil_enabled", lambda: True)() and sys.implementation.name == "cpython"
"""Whether nobody comes to hold an object while its references are counted."""


def plain_memory(tensor: Tensor) -> Buffer | None:
    """The memory of a tensor whose `_buffer` is not there: its elements, unpacked; None if it was deallocated.

    Raises:
        AttributeError: It never had any.
    """
    with _LOCK:
        state = tensor._panels
        if state is None or state.block is None:
            return object.__getattribute__(tensor, "_buffer")  # type: ignore[no-any-return]
        with interrupts_postponed():
            buffer = HOST_POOL.allocate(state.layout.spec.nbytes)
            state.layout.unpack(state.block, buffer)
            state.unpacked += 1
            state.block = None
            tensor._buffer = buffer
        return buffer


def is_packed(tensor: Tensor) -> bool:
    """Whether its elements lie in panels."""
    state = tensor._panels
    return state is not None and state.block is not None


def storage_of(tensor: Any) -> Buffer | None:
    """What holds a tensor's elements, plain or in panels; None of anything else."""
    state = getattr(tensor, "_panels", None)
    block = state.block if isinstance(state, Packing) else None
    return getattr(tensor, "_buffer", None) if block is None else block


def release(tensor: Tensor) -> bool:
    """Free the panels of a tensor that is deallocated; False if it has none."""
    with _LOCK:
        if not is_packed(tensor):
            return False
        with interrupts_postponed():
            tensor._panels, tensor._buffer = None, None
        return True


# --- Programs ---------------------------------------------------------------------------------------------------------


def factors_of(plan: ProgramPlan) -> Mapping[int, Factor]:
    """The inputs that may be in panels, by index.

    Every kernel that reads one is of a product whose right factor is all of it, in one and the same layout.
    """
    if not CAN_COUNT:
        return {}
    found: dict[int, set[PanelLayout | None]] = {}
    for launch in plan.launches:
        for place, index in enumerate(launch.operands):
            if index < len(plan.inputs):
                found.setdefault(index, set()).add(_layout_of(launch, place, plan.inputs[index]))
    changed = {*plan.results, *(index for index, _ in plan.updates)}
    alike = [(index, next(iter(each))) for index, each in sorted(found.items()) if len(each) == 1]
    usable = [(index, layout) for index, layout in alike if layout is not None and index not in changed]
    return {index: Factor(layout, 1 << k) for k, (index, layout) in enumerate(usable)}


def _layout_of(launch: Launch, place: int, spec: TensorSpec) -> PanelLayout | None:
    if not launch.panels or launch.panels[0] != place or launch.offsets[place] or not _may_be_packed(spec):
        return None
    _, width, terms = launch.panels
    (columns, depth), loops = launch.params[:2], launch.loops
    across, along, *others = launch.params[loops * (1 + place) : loops * (2 + place)]
    if any(others) or columns * depth != spec.volume or across < 1 or along < 1:
        return None
    layout = _interned(spec, columns, depth, across, along, width, terms)
    return layout if layout.nbytes <= spec.nbytes + spec.nbytes // _FEW_BYTES else None


@lru_cache(None)
def _interned(*fields: Any) -> PanelLayout:
    return PanelLayout(*fields)


def _may_be_packed(spec: TensorSpec) -> bool:
    in_dram = spec.memory_config.buffer_type is BufferType.DRAM
    return in_dram and spec.strides is None and spec.nbytes >= MIN_BYTES


def without_flag(launch: Launch, layout: PanelLayout) -> tuple[int, ...]:
    """The words of a launch with its factor in panels, but for the one that says so: strides by which it is cut."""
    words, first = list(launch.params), launch.loops * (1 + launch.panels[0])
    words[first : first + 2] = layout.strides
    return tuple(words)


def with_flag(launch: Launch, params: tuple[int, ...]) -> tuple[int, ...]:
    """Those words, or what chunks have of them, as kernels read them."""
    words = list(params)
    words[launch.loops * (1 + launch.panels[0]) + _FLAG] = 1
    return tuple(words)
