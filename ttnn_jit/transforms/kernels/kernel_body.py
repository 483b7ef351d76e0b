"""Accessors of the parts of a `d2m.generic`, and the graph of its tile ops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.writing.editing import ops_of
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.tensor_spec import DataType
from ttnn_jit.transforms.function_bodies import function_blocks
from ttnn_jit.transforms.kernels.tile_graph import TileGraph


def generics(module: ModuleOp) -> Iterator[d2m.GenericOp]:
    """The kernels of the module's functions that are lowered, in program order.

    These are the canonical ones (`GenericOp.canonical_kernel`) without a known reading.
    """
    for block in function_blocks(module):
        for generic in generics_in(block):
            if generic.canonical_kernel is generic and generic.known_reading is None:
                yield generic


def generics_in(block: Block) -> list[d2m.GenericOp]:
    """Every kernel of a function's body, in program order."""
    return [op for op in ops_of(block) if isinstance(op, d2m.GenericOp)]


def linalg_of(generic: d2m.GenericOp) -> LinalgGenericOp:
    """The `linalg.generic` that holds the kernel's tile ops, at the top of the region or inside its loops.

    Raises:
        CompileError: There is none: the stage that lowers it has run, or the stage that makes it has not.
    """
    op = generic.body.block.last_op
    while op is not None:
        if type(op) is LinalgGenericOp:  # it has no subclasses, and isinstance is slower
            return op
        op = op.body.block.last_op if type(op) is scf.ForOp else op.prev_op
    raise CompileError("this d2m.generic holds no linalg.generic", location=location_of(generic))


def operation_names(ops: Iterable[Operation]) -> tuple[str, ...]:
    """The names of the user's operations among `ops`; casts and broadcasts that passes insert have none."""
    return tuple(name for op in ops if (name := d2m.source_operation(op)) is not None)


def tile_dtypes(values: Iterable[SSAValue]) -> list[DataType]:
    """The element types of the tiles among `values`, in order."""
    found: list[DataType] = []
    last: Attribute | None = None
    for value in values:
        if (type_ := value.type) is last:
            continue
        last = type_
        if isinstance(type_, TileType) and (dtype := type_.dtype) not in found:
            found.append(dtype)
    return found


def dst_dtype(dtypes: Sequence[DataType]) -> DataType:
    """The element type in DST of a kernel over tiles of `dtypes`, inputs first: its widest float, or its integer type.

    A cast from or to integers is always the last op of a kernel.
    """
    first = dtypes[0]
    if first.is_integer or len(dtypes) == 1:
        return first
    return max(dtypes, key=lambda dtype: (not dtype.is_integer, dtype.itemsize))


@memoized
def _accumulates(kind: type[Operation]) -> bool:
    return issubclass(kind, d2m.AccumulatingOp)


def tiles_read(op: Operation, numbers: Mapping[SSAValue, int]) -> tuple[int, ...]:
    """The numbers of the tiles that `op` reads in DST, in operand order; other operands have none.

    An accumulating op reads only its accumulator in DST. The accumulator is no value of the graph: it is in the slot of
    the result.
    """
    if _accumulates(type(op)):
        return ()
    found = [numbers.get(value, -1) for value in op.operands]
    return tuple([number for number in found if number >= 0])


@dataclass(frozen=True)
class TileBody:
    """A block of tile ops as a graph.

    Attributes:
        ops: The ops that make tiles, in order, without constants, conversions and the terminator.
        graph: Op number i is ``ops[i]``; input number i is the block's argument i.
        scalars: The constants.
        numbers: Tile of the block -> its number in the graph.
    """

    ops: tuple[Operation, ...]
    graph: TileGraph
    scalars: tuple[Operation, ...]
    numbers: Mapping[SSAValue, int]

    @staticmethod
    def of(block: Block, dst_tile: TileType | None = None) -> TileBody:
        """The graph of a `linalg.generic`'s body with one output.

        Args:
            block: The body.
            dst_tile: DST's tile type, if casts to and from it are conversions of loads and stores rather than ops.
        """
        inputs: Sequence[SSAValue] = block.args[:-1]
        numbers: dict[SSAValue, int] = {value: number for number, value in enumerate(inputs)}
        ops: list[Operation] = []
        scalars: list[Operation] = []
        operands: list[tuple[int, ...]] = []
        terminator = block.last_op
        assert isinstance(terminator, YieldOp), "the body of a linalg.generic ends with linalg.yield"
        yielded = terminator.operands[0]
        for op in ops_of(block)[:-1]:
            if not (op.results and isinstance((result := op.results[0]).type, TileType)):
                scalars.append(op)
                continue
            if result.first_use is None:
                raise CompileError(f"`{op.name}` makes a tile that nothing reads", location=location_of(op))
            if dst_tile is not None and _is_conversion(op, dst_tile, yielded):
                numbers[result] = numbers[op.operands[0]]
                continue
            numbers[result] = len(inputs) + len(ops)
            operands.append(tiles_read(op, numbers))
            ops.append(op)
        graph = TileGraph(len(inputs), tuple(operands), numbers[yielded])
        return TileBody(tuple(ops), graph, tuple(scalars), numbers)

    def dtype(self, block: Block) -> DataType:
        """The element type that DST must hold for this body in `block`."""
        return dst_dtype(tile_dtypes((*block.args, *(op.results[0] for op in self.ops))))


def _is_conversion(op: Operation, dst_tile: TileType, yielded: SSAValue) -> bool:
    """Whether a cast widens to DST's type, or narrows the result for its store."""
    if not isinstance(op, d2m.TileTypecastOp):
        return False
    return op.result.type == dst_tile or (op.result is yielded and op.result.has_one_use())
