"""Kernels: loops over elements, products of matrices, copies through registers, and routines.

A kernel holds no extents, so that launches of different shapes share it. Reading the module decides its kind, which is
its type; the host's compile schedules its loops (codegen/host/host_steps.py).
"""

from __future__ import annotations

import enum
from typing import TypeVar

from ttnn_jit.codegen.bodies.steps import KernelBody, Product, SymbolicConstant
from ttnn_jit.codegen.schedules.conversion import Conversion
from ttnn_jit.codegen.schedules.device_exchange import Exchange, RankExchange
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
    """The iteration space of a loop nest's stages, visited part by part."""

    ELEMENTS = "all elements"
    BLOCKS = "blocks of elements"
    ROWS = "rows"
    COLUMNS = "columns"
    STRIPS = "strips of tiles beside each other"
    TILE_ROWS = "rows of tiles"


@dataclass(frozen=True, eq=False)
class Table:
    """A lookup table in memory of the kernel: f(x) of every bfloat16 x. The first launch fills it, and it persists.

    Attributes:
        function: The loop over bfloat16 that fills it.
        operations: The names of the operations whose results it holds.
        picoseconds: Predicted per element of a loop with lookups.
    """

    function: Stage
    operations: tuple[str, ...]
    picoseconds: float


@dataclass(frozen=True, eq=False)
class _Computing:
    """A kernel that computes: its body is a list of steps over one element of each stream.

    Attributes:
        body: The steps.
    """

    body: KernelBody

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Inputs, then outputs."""
        return self.body.streams


@dataclass(frozen=True, eq=False)
class LoopNest(_Computing):
    """Loops over elements, some of which may be reduced.

    Attributes:
        loops: The iteration space of the stages.
        stages: The stages in execution order; empty until the host's compile schedules them.
        scratch: Kernel-local memory, numbered behind the streams: values between stages, strips of tiles, a table.
        block: Elements of a block.
        conversions: The conversions that unpack block-float streams before the stages and pack them behind.
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
        """Its only loop, over all elements; None if it has several loops, or a table."""
        if self.loops is not Loops.ELEMENTS or self.scratch:
            return None
        return next((stage.loop for stage in self.all_of(Stage)), None)

    def all_of(self, kind: type[_T]) -> list[_T]:
        """Its stages, all of which must be of one kind.

        Raises:
            InternalError: A stage is of another kind.
        """
        other = next((each for each in self.stages if not isinstance(each, kind)), None)
        if other is not None:
            raise InternalError(f"loops over {self.loops.value} cannot hold a {type(other).__name__} as a stage")
        return [each for each in self.stages if isinstance(each, kind)]

    def scratch_of(self, kind: type[_T]) -> list[_T]:
        """The scratch memory of one kind."""
        return [each for each in self.scratch if isinstance(each, kind)]

    @property
    def remark(self) -> str:
        """The schedule, for reports; "" for one loop over all elements."""
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
        return " and ".join(dict.fromkeys(each.direction for each in self.conversions))


@dataclass(frozen=True, slots=True)
class ContractedLoops:
    """The loops of a product.

    Attributes:
        left: The stream number of the left operand, whose rows are multiplied.
        right: The stream number of the right operand, whose columns are multiplied.
        is_short: Whether rows have at most `SHORT_ROW` terms.
        count: The number of contracted loops, from the one around the innermost outwards.
        row_loops: The number of loops over rows around those.
        tile_rows: Rows of the register tile, 1, 2, 4 or 8, if there are few rows; else 0.
        has_windows: Whether the left operand consists of windows, whose terms are contiguous along the innermost of
            several loops.
        is_dots: Whether both operands move along the innermost loop, so that each iteration is a dot product.
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
    """A product of two operands with an epilogue over its rows; one of its steps is a `Product`.

    Attributes:
        contracted: The loops.
        epilogue: The steps behind the product, over a row of it; None until the host's compile schedules them.
    """

    contracted: ContractedLoops
    epilogue: Stage | None = None

    @property
    def factors(self) -> tuple[int, int]:
        """The stream numbers of the factors."""
        return self.contracted.left, self.contracted.right

    @property
    def multiplication(self) -> Multiplication | None:
        """The precision of its multiplications; None: exact."""
        return next(step.multiplication for step in self.body.steps if isinstance(step, Product))

    @property
    def in_pairs(self) -> bool:
        """Whether products are accumulated in pairs, as those of bfloat16 and block floats are.

        Products of reduced fidelity, which drop partial products, are accumulated one by one.
        """
        if self.multiplication is not None and self.multiplication.dropped is not None:
            return False
        return all(self.streams[k].dtype.unpacked.is_upper_half for k in self.factors)

    @property
    def remark(self) -> str:
        """The schedule, for reports; "" where another compiler chooses."""
        if self.epilogue is None or self.epilogue.loop is None:
            return ""
        if self.contracted.is_dots:
            return "dot products beside each other"
        rows = self.contracted.tile_rows
        return f"{_count(rows, 'row')} at a time" if rows else "operands packed, a microkernel"


class Repack(enum.Enum):
    """Copies of block-float tiles."""

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
        lanes: Elements of a written vector.
        columns: Columns that are read at once.
        rows_per_vector: Iterations of the loop around a block whose short rows share a vector.
    """

    lanes: int
    columns: int
    rows_per_vector: int = 1
    remark = "transposed in registers"


@dataclass(frozen=True)
class Stepped:
    """Reversed rows, or every second element of rows.

    Attributes:
        lanes: Elements of a vector.
        step: The stride of reads, in elements.
    """

    lanes: int
    step: int

    @property
    def remark(self) -> str:
        """Which of the two, for reports."""
        return "reversed in registers" if self.step < 0 else "every second element, in registers"


@dataclass(frozen=True)
class Repeated:
    """Rows whose elements are repeated.

    Attributes:
        lanes: Elements of a vector.
        times: Repetitions of each element.
    """

    lanes: int
    times: int
    remark = "repeated in registers"


@dataclass(frozen=True)
class ShortRows:
    """Contiguous rows of one vector each.

    Attributes:
        lanes: Elements of a row.
    """

    lanes: int
    remark = "a vector per row"


Move = Repack | Transposed | Stepped | Repeated | ShortRows


@dataclass(frozen=True)
class Copy:
    """A kernel that moves or converts elements and computes nothing.

    Attributes:
        streams: The input and the output.
        rank: The number of loops around the innermost one.
        numerics: The rounding of results.
        move: The way in which elements move.
    """

    streams: tuple[Stream, ...]
    rank: int
    numerics: Numerics
    move: Move

    @property
    def repacks(self) -> bool:
        """Whether it packs or unpacks block floats."""
        return self.move is Repack.PACKED or self.move is Repack.UNPACKED

    @property
    def remark(self) -> str:
        """The way in which elements move, for reports."""
        return self.move.remark


@dataclass(frozen=True)
class Routine:
    """Loops around a routine, which has the innermost loops itself (ops/families/routine.py).

    Attributes:
        streams: Inputs, then outputs.
        rank: The number of loops around the innermost one.
        numerics: The rounding of results.
        name: The name of its operation in TTIR.
        own: The number of loops in the routine.
        moves: Per stream, the routine's loops along which it moves, outermost first; 0 is the innermost.
        constants: Its constants as Python literals, so that 0.0 and -0.0 differ, as do 1, 1.0 and True; a number of a
            trace; or the number of the stream whose one element it is.
        has_short_rows: Whether its own loops have at most `SHORT_ROW` elements.
        native: The LLVM loop that implements it without numba; None if there is none.
        writes_rows: Whether it writes whole rows.
        loaded: The stream whose elements it loads as numbers.
    """

    streams: tuple[Stream, ...]
    rank: int
    numerics: Numerics
    name: str
    own: int
    moves: tuple[tuple[int, ...], ...]
    constants: tuple[str | SymbolicConstant | int, ...]
    has_short_rows: bool
    native: NativeLoop | None = None
    writes_rows: bool = False
    loaded: int = 0

    @property
    def remark(self) -> str:
        """The routine or its native loop, for reports."""
        return self.native.value if self.native else "compiled by numba"


Kernel = LoopNest | Contract | Copy | Routine | Exchange | RankExchange
"""An `Exchange` is in plans of one device only: `mesh_expansion` replaces it. A `RankExchange` has no code."""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def rows_text(*, is_short: bool) -> str:
    """The row length class of a kernel, for reports."""
    return f"rows of {'at most' if is_short else 'more than'} {SHORT_ROW} elements"
