"""What a launch runs: loops over elements, a product of matrices, a copy through registers, or a routine.

A kernel knows no extents: equal ones are one kernel, whatever the shapes. Its kind is its type, which reading gives it;
how its loops run is chosen by the host's compile (codegen/host/host_steps.py).
"""

from __future__ import annotations

import enum
from typing import TypeVar

from ttnn_jit.codegen.bodies.steps import KernelBody, Product
from ttnn_jit.codegen.schedules.conversion import Conversion
from ttnn_jit.codegen.schedules.nest_stage import NestStage
from ttnn_jit.codegen.schedules.stages import Stage
from ttnn_jit.codegen.schedules.sweep import Sweep
from ttnn_jit.codegen.schedules.vector_loop import VectorLoop
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.nest.buffers import Buffer, BufferKind
from ttnn_jit.nest.streams import Stream
from ttnn_jit.ops.families.reduction import SHORT_ROW
from ttnn_jit.ops.families.routine import NativeLoop
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.product_precision import Multiplication
from ttnn_jit.specs.target import Numerics

_T = TypeVar("_T")


class Loops(enum.Enum):
    """What a loop nest runs its stages over, one part after the other."""

    ELEMENTS = "all elements"
    BLOCKS = "blocks of elements"
    ROWS = "rows"
    COLUMNS = "columns"
    STRIPS = "strips of tiles beside each other"
    TILE_ROWS = "rows of tiles"


@dataclass(frozen=True, eq=False)
class Table:
    """Memory of a kernel's own, which every launch finds as the first one left it: f(x) of every bfloat16 x.

    Attributes:
        function: What fills it: a loop over bfloat16.
        operations: Names of those whose results come from it.
        picoseconds: Predicted of an element of a loop with look-ups.
    """

    function: Stage
    operations: tuple[str, ...]
    picoseconds: float


@dataclass(frozen=True, eq=False)
class _Computing:
    """A kernel of steps.

    Attributes:
        body: What is computed.
    """

    body: KernelBody

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Inputs, then outputs."""
        return self.body.streams


@dataclass(frozen=True, eq=False)
class LoopNest(_Computing):
    """Loops over elements, of which some may be reduced.

    Attributes:
        loops: What the stages run over.
        stages: In execution order; none until they are chosen.
        scratch: Memory of its own, numbered behind the streams: what crosses stages, strips of tiles, a table.
        block: Elements of a block.
        conversions: What unpacks streams of block floats before the stages, and packs them behind.
    """

    loops: Loops = Loops.ELEMENTS
    stages: tuple[NestStage | Sweep | LoopNest, ...] = ()
    scratch: tuple[Stream | Buffer | Table, ...] = ()
    block: int = 0
    conversions: tuple[Conversion, ...] = ()

    @staticmethod
    def over_elements(body: KernelBody, loop: VectorLoop | None) -> LoopNest:
        """All steps in one loop over all elements; None leaves it to another compiler."""
        return LoopNest(body, stages=(Stage(body, tuple(range(len(body.streams))), loop),))

    @property
    def one_loop(self) -> VectorLoop | None:
        """The loop over all elements that is all of it; None if it is several, or has a table."""
        if self.loops is not Loops.ELEMENTS or self.scratch:
            return None
        return next((stage.loop for stage in self.all_of(Stage)), None)

    def all_of(self, kind: type[_T]) -> list[_T]:
        """Its stages, for what knows this kind alone.

        Raises:
            InternalError: There is another, which would be left out.
        """
        other = next((each for each in self.stages if not isinstance(each, kind)), None)
        if other is not None:
            raise InternalError(f"loops over {self.loops.value} cannot hold a {type(other).__name__} as a stage")
        return [each for each in self.stages if isinstance(each, kind)]

    def scratch_of(self, kind: type[_T]) -> list[_T]:
        """What of its scratch is of a kind."""
        return [each for each in self.scratch if isinstance(each, kind)]

    @property
    def remark(self) -> str:
        """What was chosen, for a reader; "" for one loop over all elements."""
        match self.loops:
            case Loops.ELEMENTS:
                return "".join(f"a table of {' -> '.join(table.operations)}" for table in self.tables)
            case Loops.BLOCKS:
                return f"cut into {len(self.stages)} loops, over blocks of {self.block} elements"
            case Loops.ROWS | Loops.COLUMNS:
                kept = sum(each.kind is BufferKind.ROW for each in self.scratch_of(Buffer))
                sweeps = f"{_count(len(self.stages), 'sweep')} over {self.loops.value}"
                return f"{sweeps}, {_count(kept, 'row')} kept" if kept else sweeps
            case Loops.STRIPS:
                return f"block floats {self._conversions}"
            case Loops.TILE_ROWS:
                rows = "".join(stage.remark for stage in self.all_of(LoopNest))
                return f"{rows}, block floats {self._conversions}"

    @property
    def tables(self) -> list[Table]:
        """Its table, if it has one."""
        return self.scratch_of(Table)

    @property
    def _conversions(self) -> str:
        return " and ".join(dict.fromkeys(each.verb for each in self.conversions))


@dataclass(frozen=True, slots=True)
class ContractedLoops:
    """The loops of a product.

    Attributes:
        left: The number of the stream whose rows are multiplied.
        right: Of that whose columns are.
        is_short: Whether its launches have rows of at most `SHORT_ROW` terms.
        count: How many loops are contracted, from the one around the innermost outwards.
        row_loops: How many loops around those walk rows.
        tile_rows: Where there are few rows: 1, 2, 4 or 8, at least as many; else 0.
        has_windows: Whether the left operand is windows, whose terms lie beside each other along the innermost of
            several loops.
        is_dots: Whether both operands move along the innermost loop, so that each of its steps is a product of one row
            and one column.
    """

    left: int
    right: int
    is_short: bool
    count: int
    row_loops: int
    tile_rows: int
    has_windows: bool
    is_dots: bool


@dataclass(frozen=True, eq=False)
class Contract(_Computing):
    """A product of two operands, and what becomes of each row of it: one of its steps is a `Product`.

    Attributes:
        contracted: Its loops.
        epilogue: The steps behind the product, over a row of it; None until it is chosen.
    """

    contracted: ContractedLoops
    epilogue: Stage | None = None

    @property
    def factors(self) -> tuple[int, int]:
        """The numbers of the streams that are multiplied."""
        return self.contracted.left, self.contracted.right

    @property
    def multiplication(self) -> Multiplication | None:
        """How it multiplies; None: exactly."""
        return next(step.multiplication for step in self.body.steps if isinstance(step, Product))

    @property
    def in_pairs(self) -> bool:
        """Whether products are added up in pairs: those of bfloat16 and block floats are.

        Where a part of every product is left out, what remains is added one by one.
        """
        if self.multiplication is not None and self.multiplication.dropped is not None:
            return False
        return all(self.streams[k].dtype.unpacked.is_upper_half for k in self.factors)

    @property
    def remark(self) -> str:
        """How it multiplies; "" where another compiler chooses."""
        if self.epilogue is None or self.epilogue.loop is None:
            return ""
        if self.contracted.is_dots:
            return "dot products beside each other"
        rows = self.contracted.tile_rows
        return f"{_count(rows, 'row')} at a time" if rows else "operands packed, a microkernel"


class Repack(enum.Enum):
    """What becomes of tiles of block floats."""

    PACKED = "block floats packed"
    UNPACKED = "block floats unpacked"
    COPIED = "block floats copied"

    @property
    def remark(self) -> str:
        """For a reader."""
        return self.value


@dataclass(frozen=True)
class Transposed:
    """Blocks of a transpose.

    Attributes:
        lanes: Elements of a vector that is written.
        columns: That are read at once.
        rows_per_vector: Iterations of the loop around a block whose short rows a vector has side by side.
    """

    lanes: int
    columns: int
    rows_per_vector: int = 1
    remark = "transposed in registers"


@dataclass(frozen=True)
class Stepped:
    """Rows backwards, or every second element of them.

    Attributes:
        lanes: Elements of a vector.
        step: From one element that is read to the next.
    """

    lanes: int
    step: int

    @property
    def remark(self) -> str:
        """Which of the two."""
        return "reversed in registers" if self.step < 0 else "every second element, in registers"


@dataclass(frozen=True)
class Repeated:
    """Every element of rows several times side by side.

    Attributes:
        lanes: Elements of a vector.
        times: How often an element is repeated.
    """

    lanes: int
    times: int
    remark = "repeated in registers"


Move = Repack | Transposed | Stepped | Repeated


@dataclass(frozen=True)
class Copy:
    """What moves or converts elements, and computes nothing.

    Attributes:
        streams: What is read, and what is written.
        rank: Loops around the innermost one.
        numerics: How results are rounded.
        move: How.
    """

    streams: tuple[Stream, ...]
    rank: int
    numerics: Numerics
    move: Move

    @property
    def repacks(self) -> bool:
        """Whether it packs, or unpacks, tiles of block floats."""
        return self.move in {Repack.PACKED, Repack.UNPACKED}

    @property
    def remark(self) -> str:
        """How elements are moved."""
        return self.move.remark


@dataclass(frozen=True)
class Routine:
    """Loops around a routine, whose own are the innermost ones (ops/families/routine.py).

    Attributes:
        streams: Inputs, then outputs.
        rank: Loops around the innermost one.
        numerics: How results are rounded.
        name: Its operation's in TTIR.
        own: How many loops are its own.
        moves: Per stream, the own loops along which it moves, outermost first; 0 is the innermost.
        constants: Numbers that it gets, as Python writes them: 0.0 and -0.0 are two, and so are 1, 1.0 and True.
        has_short_rows: Whether its own loops have at most `SHORT_ROW` elements in its launches.
        native: What it does where that is compiled without numba.
        writes_rows: Whether it writes whole rows.
        loaded: The stream whose elements it loads as numbers.
    """

    streams: tuple[Stream, ...]
    rank: int
    numerics: Numerics
    name: str
    own: int
    moves: tuple[tuple[int, ...], ...]
    constants: tuple[str, ...]
    has_short_rows: bool
    native: NativeLoop | None = None
    writes_rows: bool = False
    loaded: int = 0

    @property
    def remark(self) -> str:
        """Whose loop it is, or what it does."""
        return self.native.value if self.native else "compiled by numba"


Kernel = LoopNest | Contract | Copy | Routine


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def rows_text(*, is_short: bool) -> str:
    """How long the rows are that a kernel is made for."""
    return f"rows of {'at most' if is_short else 'more than'} {SHORT_ROW} elements"
