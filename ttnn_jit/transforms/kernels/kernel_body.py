"""Accessors for the parts of a `d2m.generic`, and the graph of its tile ops."""

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
    """Every kernel of the module's functions that is lowered, in program order."""
    for block in function_blocks(module):
        for generic in generics_in(block):
            if generic.canonical_kernel is generic:
                yield generic


def generics_in(block: Block) -> list[d2m.GenericOp]:
    """Every kernel of a function's body, in program order."""
    return [op for op in ops_of(block) if isinstance(op, d2m.GenericOp)]


def linalg_of(generic: d2m.GenericOp) -> LinalgGenericOp:
    """The `linalg.generic` that holds the kernel's tile ops, at the top of the region or inside its loops.

    Raises:
        CompileError: There is none: the stage that lowers it has run already, or never ran.
    """
    op = generic.body.block.last_op
    while op is not None:
        if type(op) is LinalgGenericOp:  # nothing derives from these, and isinstance asks every base
            return op
        op = op.body.block.last_op if type(op) is scf.ForOp else op.prev_op
    raise CompileError("this d2m.generic holds no linalg.generic", location=location_of(generic))


def operation_names(ops: Iterable[Operation]) -> tuple[str, ...]:
    """The names of the operations among `ops`, which the user called; the casts and broadcasts of passes have none."""
    return tuple(name for op in ops if (name := d2m.source_operation(op)) is not None)


def tile_dtypes(values: Iterable[SSAValue]) -> list[DataType]:
    """The element types of the tiles among `values`, in the order in which they are met."""
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
    """What DST must hold for a kernel over tiles of `dtypes`, inputs first: its widest float, or the integers it reads.

    A cast from or to integers ends a kernel, where it is stored.
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

    What accumulates has its accumulator alone there, which is no value of the graph: the slot of the result.
    """
    if _accumulates(type(op)):
        return ()
    found = [numbers.get(value, -1) for value in op.operands]
    return tuple([number for number in found if number >= 0])


@dataclass(frozen=True)
class TileBody:
    """A block of tile ops as a graph.

    Attributes:
        ops: The ops that make tiles, in the block's order; constants, conversions and the terminator are left out.
        graph: Op number i is ``ops[i]``; input number i is the block's argument i.
        scalars: The other ops but the terminator: constants.
        numbers: The number in the graph of every tile of the block.
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
            dst_tile: What DST holds, where the casts to it and from it are conversions on the way and no ops.
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
    """Whether a cast widens to what DST holds anyway, or narrows what is stored next."""
    if not isinstance(op, d2m.TileTypecastOp):
        return False
    return op.result.type == dst_tile or (op.result is yielded and op.result.has_one_use())
