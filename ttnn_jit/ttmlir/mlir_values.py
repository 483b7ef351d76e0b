"""Values, blocks and regions, over those of xDSL. Two wrappers of one thing are equal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xdsl import ir

from ttnn_jit.dialects.spelling.naming import names_of
from ttnn_jit.ttmlir.mlir_locations import Location
from ttnn_jit.ttmlir.mlir_types import Type
from ttnn_jit.ttmlir.mlir_views import Held, operation_of, view_of
from ttnn_jit.ttmlir.wrapping import wrapped


class Value(Held):
    """A result of an operation or an argument of a block."""

    @staticmethod
    def isinstance(other: object) -> bool:
        """Whether it is a value."""
        return isinstance(other, Value)

    @property
    def type(self) -> Any:
        """Its type."""
        return wrapped(self.held.type)

    def set_type(self, kind: Type) -> None:
        """Gives it another type."""
        self.held._type = kind.held

    @property
    def owner(self) -> Any:
        """The operation, or the block, that defines it."""
        owner = self.held.owner
        return Block(owner) if isinstance(owner, ir.Block) else operation_of(owner)

    @property
    def location(self) -> Location:
        """Where it comes from; unknown of arguments of blocks."""
        owner = self.held.owner
        return Location(owner.location) if isinstance(owner, ir.Operation) else Location.unknown()

    @property
    def uses(self) -> Iterator[OpOperand]:
        """Where it is read."""
        return (OpOperand(use) for use in self.held.uses)

    def replace_all_uses_with(self, value: Value) -> None:
        """Lets all its readers read another value."""
        self.held.replace_all_uses_with(value.held)

    def get_name(self, use_local_scope: bool | AsmState = False) -> str:
        """``%0``, as the text of its function has it; a state has the names of a whole module at hand."""
        if isinstance(use_local_scope, AsmState):
            return use_local_scope.name_of(self)
        owner = self.held.owner
        top = owner if isinstance(owner, ir.Operation) else owner.parent_op()
        while top is not None and top.parent_op() is not None:
            top = top.parent_op()
        return AsmState.of(top).name_of(self)


class AsmState:
    """The names of all values of an operation.

    Args:
        value: The operation.
        use_local_scope: Of no effect: names are of the whole operation.
    """

    def __init__(self, value: Held, use_local_scope: bool = False) -> None:  # noqa: ARG002 - as MLIR has it
        self._names = names_of(value.held).values

    @classmethod
    def of(cls, op: ir.Operation) -> AsmState:
        """The names inside an operation of xDSL."""
        made = cls.__new__(cls)
        made._names = names_of(op).values
        return made

    def name_of(self, value: Value) -> str:
        """``%0``."""
        return f"%{self._names[value.held]}"


class OpOperand:
    """An operand of an operation."""

    def __init__(self, use: ir.Use) -> None:
        self._use = use

    @property
    def owner(self) -> Any:
        """The operation that reads."""
        return operation_of(self._use.operation)

    @property
    def operand_number(self) -> int:
        """The index of the operand."""
        return self._use.index


class OpResult(Value):
    """A result of an operation."""

    @property
    def result_number(self) -> int:
        """Its index."""
        return int(self.held.index)


class BlockArgument(Value):
    """An argument of a block."""

    @property
    def arg_number(self) -> int:
        """Its index."""
        return int(self.held.index)


def value_of(held: ir.SSAValue) -> Any:
    """The wrapper of a value."""
    return BlockArgument(held) if isinstance(held, ir.BlockArgument) else OpResult(held)


class OpResultList(list[Any]):
    """Several values."""

    @property
    def types(self) -> list[Any]:
        """Their types."""
        return [value.type for value in self]


class OpOperandList(OpResultList):
    """Operands of an operation."""


class OperationList(list[Any]):
    """The operations of a block."""


class Block(Held):
    """A block."""

    @staticmethod
    def create_at_start(
        parent: Region,
        arg_types: Sequence[Type] = (),
        arg_locs: Sequence[Location] | None = None,  # noqa: ARG004 - arguments have no locations here
    ) -> Block:
        """A new first block of a region."""
        made = ir.Block(arg_types=[each.held for each in arg_types])
        parent.held.insert_block(made, 0)
        return Block(made)

    @property
    def arguments(self) -> OpResultList:
        """Its arguments."""
        return OpResultList(BlockArgument(each) for each in self.held.args)

    @property
    def operations(self) -> OperationList:
        """Its operations."""
        return OperationList(view_of(op) for op in self.held.ops)

    @property
    def owner(self) -> Any:
        """The operation around it."""
        return view_of(self.held.parent_op())

    @property
    def region(self) -> Region:
        """The region around it."""
        return Region(self.held.parent_region())

    def append(self, op: Held) -> None:
        """Moves an operation to its end."""
        held = op.held
        if held.parent is not None:
            held.detach()
        self.held.add_op(held)

    def add_argument(self, kind: Type, loc: Location | None = None) -> BlockArgument:  # noqa: ARG002
        """A new last argument."""
        return BlockArgument(self.held.insert_arg(kind.held, len(self.held.args)))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.operations)


class Region(Held):
    """A region."""

    @property
    def blocks(self) -> _Blocks:
        """Its blocks."""
        return _Blocks(self.held)

    @property
    def owner(self) -> Any:
        """The operation around it."""
        return view_of(self.held.parent)

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def __getitem__(self, index: int) -> Block:
        return Block(self.held.blocks[index])

    def __len__(self) -> int:
        return len(self.held.blocks)


class _Blocks(Sequence[Block]):
    def __init__(self, region: ir.Region) -> None:
        self._region = region

    def append(self, *arg_types: Type, arg_locs: Sequence[Location] | None = None) -> Block:  # noqa: ARG002
        """A new last block."""
        made = ir.Block(arg_types=[each.held for each in arg_types])
        self._region.add_block(made)
        return Block(made)

    def __getitem__(self, index: Any) -> Any:
        return Block(self._region.blocks[index])

    def __len__(self) -> int:
        return len(self._region.blocks)
