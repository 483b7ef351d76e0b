"""How a kernel's body runs on the host: in which loops, and how LLVM compiles them."""

from __future__ import annotations

from dataclasses import field

from ttnn_jit.codegen.body_analysis import operation_of_tile
from ttnn_jit.codegen.host.fission import Fission
from ttnn_jit.codegen.host.lookup import LookupSplit
from ttnn_jit.codegen.host.sweeps import SweptBody
from ttnn_jit.codegen.host.tiers import Tier
from ttnn_jit.codegen.stages import Stage
from ttnn_jit.codegen.steps import Apply, Call, KernelBody
from ttnn_jit.codegen.vector_loop import VectorLoop
from ttnn_jit.nest.buffers import BufferKind
from ttnn_jit.nest.streams import Stream
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True, eq=False)
class Form:
    """A body whose loops are not chosen yet, or are left to another compiler.

    Attributes:
        body: What runs.
    """

    body: KernelBody

    @property
    def remark(self) -> str:
        """What was chosen, for a reader; "" if nothing was."""
        return ""


@dataclass(frozen=True, eq=False)
class RoutineForm(Form):
    """The loop of a routine."""

    @property
    def remark(self) -> str:
        """Whose loop it is, or what it does."""
        (call,) = (step for step in self.body.steps if isinstance(step, Call))
        return call.native.value if call.native else "compiled by numba"


@dataclass(frozen=True, eq=False)
class Repacked(Form):
    """Loops over tiles that are packed or unpacked, a group of 16 elements at a time, or copied."""

    @property
    def remark(self) -> str:
        """Which of the three."""
        if self.body.copies_tiles:
            return "block floats copied"
        return "block floats packed" if self.body.streams[1].dtype.is_block_float else "block floats unpacked"


@dataclass(frozen=True, eq=False)
class Transposed(Form):
    """Loops over blocks of a transpose.

    Attributes:
        lanes: Elements of a vector that is written.
        columns: That are read at once.
        together: Rounds of the loop around a block whose short rows a vector has side by side.
    """

    lanes: int
    columns: int
    together: int = 1

    @property
    def remark(self) -> str:
        """How they are moved."""
        return "transposed in registers"


@dataclass(frozen=True, eq=False)
class Stepped(Form):
    """Rows that are copied backwards, or every second element of them.

    Attributes:
        lanes: Elements of a vector.
        step: From one element that is read to the next.
    """

    lanes: int
    step: int

    @property
    def remark(self) -> str:
        """How they are moved."""
        return "reversed in registers" if self.step < 0 else "every second element, in registers"


@dataclass(frozen=True, eq=False)
class Repeated(Form):
    """Rows of which every element is copied several times side by side.

    Attributes:
        lanes: Elements of a vector.
        times: How often an element is repeated.
    """

    lanes: int
    times: int

    @property
    def remark(self) -> str:
        """How they are moved."""
        return "repeated in registers"


@dataclass(frozen=True, eq=False)
class Contracted(Form):
    """A product of packed operands, and a loop over each of its rows.

    Attributes:
        epilogue: What becomes of a row.
        loop: The epilogue's.
    """

    epilogue: Stage
    loop: VectorLoop

    @property
    def tile_rows(self) -> int:
        """Rows of a tile where there are few rows; 0 where blocks are packed."""
        assert self.body.reduced is not None, "it contracts a loop"
        return self.body.reduced.tile_rows

    @property
    def remark(self) -> str:
        """What it is."""
        assert self.body.reduced is not None, "it contracts a loop"
        if self.body.reduced.is_dots:
            return "dot products beside each other"
        return f"{_count(self.tile_rows, 'row')} at a time" if self.tile_rows else "operands packed, a microkernel"


@dataclass(frozen=True, eq=False)
class Swept(Form):
    """Sweeps over rows, or over columns.

    Attributes:
        parts: The sweeps.
        loops: Of each, what it computes element by element; None of one that only reduces.
    """

    parts: SweptBody
    loops: tuple[VectorLoop | None, ...]

    @property
    def remark(self) -> str:
        """How many there are, and what crosses them."""
        assert self.body.reduced is not None, "it reduces a loop"
        over = "rows" if self.body.reduced.loop == 0 else "columns"
        kept = sum(buffer.kind is BufferKind.ROW for buffer in self.parts.buffers)
        sweeps = f"{_count(len(self.loops), 'sweep')} over {over}"
        return f"{sweeps}, {_count(kept, 'row')} kept" if kept else sweeps


@dataclass(frozen=True, eq=False)
class InStrips(Form):
    """A loop over strips of tiles, before which block floats are unpacked, and behind which they are packed.

    Attributes:
        scratches: What holds a strip of each stream of block floats, in order.
        operands: For each stream of the loop, the number of the body's, or, above those, of a scratch buffer.
        loop: Over the rows of a strip.
    """

    scratches: tuple[Stream, ...]
    operands: tuple[int, ...]
    loop: VectorLoop

    @property
    def remark(self) -> str:
        """What it does beside the loop."""
        return f"block floats {_conversions(self.body)} strip by strip"


@dataclass(frozen=True, eq=False)
class RowsInStrips(Form):
    """Sweeps over the rows of a row of tiles, which block floats are unpacked for before, and packed from behind.

    Attributes:
        scratches: What holds the rows of each stream of block floats, in order.
        rows: The sweeps, over rows of elements.
    """

    scratches: tuple[Stream, ...]
    rows: Swept

    @property
    def remark(self) -> str:
        """What it does beside the sweeps."""
        return f"{self.rows.remark}, block floats {_conversions(self.body)} for 32 rows at a time"


@dataclass(frozen=True, eq=False)
class OneLoop(Form):
    """One loop over all elements.

    Attributes:
        loop: In chunks of vectors.
        tier: How it is compiled.
        definition: Its text; "" until the tier is chosen.
    """

    loop: VectorLoop
    tier: Tier = Tier.OPTIMISED
    definition: str = field(default="", repr=False)


@dataclass(frozen=True, eq=False)
class Tabulated(Form):
    """A loop with look-ups in a table, which another loop fills.

    Attributes:
        direct: The loop without a table.
        split: What is looked up, and the rest.
        function: The loop that fills the table.
        look_up: The loop of the rest.
    """

    direct: VectorLoop
    split: LookupSplit
    function: VectorLoop
    look_up: VectorLoop

    @property
    def looked_up(self) -> tuple[str, ...]:
        """Names of the operations whose results come from the table."""
        steps = (step for step in self.split.function.steps if isinstance(step, Apply))
        return tuple(operation_of_tile(step.tile_name).name for step in steps)

    @property
    def remark(self) -> str:
        """What is looked up."""
        return f"a table of {' -> '.join(self.looked_up)}"


@dataclass(frozen=True, eq=False)
class Staged(Form):
    """Several loops over a block of elements, one after the other.

    Attributes:
        fission: Where the body is cut.
        loops: One for each stage.
    """

    fission: Fission
    loops: tuple[VectorLoop, ...]

    @property
    def remark(self) -> str:
        """How many there are."""
        return f"cut into {len(self.loops)} loops, over blocks of {self.fission.block} elements"


def _conversions(body: KernelBody) -> str:
    """What becomes of block floats: "unpacked", "packed", or both."""
    written = {stream.written for stream in body.streams if stream.dtype.is_block_float}
    return " and ".join(name for name, packs in (("unpacked", False), ("packed", True)) if packs in written)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
