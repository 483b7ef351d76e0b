"""Operations and modules, over those of xDSL, and where they are made."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from xdsl import ir
from xdsl.dialects import builtin

from ttnn_jit.dialects.spelling.naming import names_around
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.upstream.context import UpstreamContext
from ttnn_jit.dialects.upstream.reading import parse_upstream
from ttnn_jit.dialects.upstream.verifying import verify_upstream
from ttnn_jit.dialects.verifier import InvalidModule
from ttnn_jit.ttmlir.mlir_attributes import Attribute
from ttnn_jit.ttmlir.mlir_contexts import Context, Scope
from ttnn_jit.ttmlir.mlir_locations import Location
from ttnn_jit.ttmlir.mlir_types import Type
from ttnn_jit.ttmlir.mlir_values import Block, OpOperandList, OpResult, OpResultList, Region, Value, value_of
from ttnn_jit.ttmlir.mlir_views import Held, registers_plain, view_of
from ttnn_jit.ttmlir.operation_attributes import OpAttributeMap, inherent_names


class MLIRError(Exception):
    """A text or a module is invalid.

    Args:
        message: What is wrong.
        error_diagnostics: The errors, one here.
    """

    def __init__(self, message: str, error_diagnostics: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.error_diagnostics = list(error_diagnostics)


class WalkOrder(enum.Enum):
    """Whether a walk visits an operation before or after what is inside."""

    PRE_ORDER = 0
    POST_ORDER = 1


class WalkResult(enum.Enum):
    """How a walk goes on."""

    ADVANCE = 0
    INTERRUPT = 1
    SKIP = 2


class Operation(Held):
    """An operation, without what its declaration says."""

    @classmethod
    def create(  # noqa: PLR0913, PLR0917 - MLIR's arguments
        cls,
        name: str,
        results: Sequence[Type] | None = None,
        operands: Sequence[Value] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        successors: Sequence[Block] | None = None,
        regions: int = 0,
        loc: Location | None = None,
        ip: InsertionPoint | None = None,
        infer_type: bool = False,  # noqa: ARG003 - types are given
    ) -> Any:
        """A new operation at the insertion point."""
        kind = op_class(name)
        inherent = inherent_names(name)
        given = {key: each.held for key, each in (attributes or {}).items()}
        made = kind.create(
            operands=[each.held for each in operands or ()],
            result_types=[each.held for each in results or ()],
            properties={key: each for key, each in given.items() if key in inherent},
            attributes={key: each for key, each in given.items() if key not in inherent},
            successors=[each.held for each in successors or ()],
            regions=[ir.Region() for _ in range(regions)],
            location=(loc or Location.current_or_unknown()).held,
        )
        InsertionPoint.insert_there(made, ip)
        return cls(made)

    @staticmethod
    def parse(source: str, *, source_name: str = "<string>", context: Context | None = None) -> Any:  # noqa: ARG004
        """The first operation of a text.

        Raises:
            MLIRError: The text is invalid.
        """
        return view_of(Module.parse(source).held.body.block.first_op)

    @property
    def operation(self) -> Operation:
        """Itself, without what its declaration says."""
        return Operation(self.held)

    @property
    def opview(self) -> Any:
        """Itself, with what its declaration says."""
        return view_of(self.held)

    @property
    def name(self) -> Any:
        """``dialect.name``."""
        return self.held.name

    @property
    def location(self) -> Location:
        """Where it comes from."""
        return Location(self.held.location)

    @property
    def attributes(self) -> OpAttributeMap:
        """Its attributes."""
        return OpAttributeMap(self.held)

    @property
    def operands(self) -> OpOperandList:
        """Its operands."""
        return OpOperandList(value_of(each) for each in self.held.operands)

    @property
    def results(self) -> OpResultList:
        """Its results."""
        return OpResultList(OpResult(each) for each in self.held.results)

    @property
    def result(self) -> Any:
        """Its only result.

        Raises:
            ValueError: It has none, or several.
        """
        if len(self.held.results) != 1:
            raise ValueError(
                f"Cannot call .result on operation {self.held.name} which has {len(self.held.results)} results "
                "(it is only valid for operations with a single result)"
            )
        return OpResult(self.held.results[0])

    @property
    def regions(self) -> list[Region]:
        """Its regions."""
        return [Region(each) for each in self.held.regions]

    @property
    def successors(self) -> list[Block]:
        """The blocks that it may go to."""
        return [Block(each) for each in self.held.successors]

    @property
    def parent(self) -> Any:
        """The operation around it; None if there is none."""
        around = self.held.parent_op()
        return None if around is None else view_of(around)

    @property
    def block(self) -> Block:
        """The block that it stands in."""
        return Block(self.held.parent)

    def clone(self, ip: InsertionPoint | None = None) -> Any:
        """A copy at an insertion point."""
        made = self.held.clone()
        InsertionPoint.insert_there(made, ip)
        return view_of(made)

    def detach_from_parent(self) -> Any:
        """Itself, outside of its block."""
        self.held.detach()
        return self

    def erase(self) -> None:
        """Removes it from its block."""
        self.held.detach()
        self.held.erase()

    def move_before(self, other: Operation) -> None:
        """Moves it before another operation."""
        self.held.detach()
        other.held.parent.insert_op_before(self.held, other.held)

    def move_after(self, other: Operation) -> None:
        """Moves it behind another operation."""
        self.held.detach()
        other.held.parent.insert_op_after(self.held, other.held)

    def walk(self, callback: Callable[[Any], WalkResult], walk_order: WalkOrder = WalkOrder.POST_ORDER) -> WalkResult:
        """Calls `callback` with each operation inside, and with this one."""
        return _walked(self.held, callback, walk_order)

    def verify(self) -> bool:
        """True if it is valid.

        Raises:
            MLIRError: It is not.
        """
        try:
            verify_upstream(self.held)
        except InvalidModule as error:
            raise MLIRError(f"Verification failed:\n{error}", [error]) from error
        return True

    def get_asm(
        self,
        binary: bool = False,  # noqa: ARG002 - texts are str
        large_elements_limit: int | None = None,  # noqa: ARG002 - long lists are hexadecimal
        enable_debug_info: bool = False,
        pretty_debug_info: bool = False,  # noqa: ARG002 - there is one form
        print_generic_op_form: bool = False,
        use_local_scope: bool = False,
        **_: Any,
    ) -> str:
        """The text; that of an operation inside another has no aliases, and the names that values have there."""
        return op_text(
            self.held,
            locations=enable_debug_info,
            local_scope=use_local_scope or self.held.parent is not None,
            generic=print_generic_op_form,
            names=names_around(self.held),
        ).removesuffix("\n")

    def print(self, file: Any = None, **options: Any) -> None:
        """Writes the text to a file, by default stdout."""
        (file or sys.stdout).write(f"{self.get_asm(**options)}\n")

    def __str__(self) -> str:
        return self.get_asm()


def _walked(op: ir.Operation, callback: Callable[[Any], WalkResult], order: WalkOrder) -> WalkResult:
    if order is WalkOrder.PRE_ORDER and (found := callback(Operation(op))) in {WalkResult.INTERRUPT, WalkResult.SKIP}:
        return WalkResult.INTERRUPT if found is WalkResult.INTERRUPT else WalkResult.ADVANCE
    for inner in [each for region in op.regions for block in region.blocks for each in block.ops]:
        if _walked(inner, callback, order) is WalkResult.INTERRUPT:
            return WalkResult.INTERRUPT
    if order is WalkOrder.POST_ORDER and callback(Operation(op)) is WalkResult.INTERRUPT:
        return WalkResult.INTERRUPT
    return WalkResult.ADVANCE


class OpView(Operation):
    """An operation with what its declaration says: one class per name.

    Attributes:
        OPERATION_NAME: ``dialect.name``.
    """

    OPERATION_NAME: ClassVar[str] = ""

    @classmethod
    def parse(cls, source: str, *, source_name: str = "<string>", context: Context | None = None) -> Any:
        """The first operation of a text, which is of this class.

        Raises:
            MLIRError: It is of another.
        """
        found = Operation.parse(source, source_name=source_name, context=context)
        if cls is not OpView and not isinstance(found, cls):
            raise MLIRError(f"Expected a '{cls.OPERATION_NAME}' op, got: '{found.operation.name}'")
        return found


def op_class(name: str) -> type[ir.Operation]:
    """The class of xDSL of an operation.

    Raises:
        MLIRError: No dialect has it.
    """
    found = UpstreamContext.make().get_optional_op(name)
    if found is None:
        raise MLIRError(f"Operation '{name}' is unknown")
    return found


class InsertionPoint(Scope):
    """Where operations are made.

    Args:
        before: A block, whose end it is, or an operation, before which they come.
    """

    def __init__(self, before: Any) -> None:
        is_block = isinstance(before, Block)
        self._block: ir.Block = before.held if is_block else before.held.parent
        self._before: ir.Operation | None = None if is_block else before.held

    @classmethod
    def at_block_begin(cls, block: Block) -> Self:
        """The beginning of a block."""
        made = cls(block)
        made._before = block.held.first_op
        return made

    @classmethod
    def at_block_terminator(cls, block: Block) -> Self:
        """Before the last operation of a block."""
        made = cls(block)
        made._before = block.held.last_op
        return made

    @classmethod
    def after(cls, op: Operation) -> Self:
        """Behind an operation."""
        made = cls(Block(op.held.parent))
        made._before = op.held.next_op
        return made

    @property
    def block(self) -> Block:
        """The block."""
        return Block(self._block)

    def insert(self, op: Held) -> None:
        """Puts an operation there."""
        self._insert(op.held)

    def _insert(self, op: ir.Operation) -> None:
        if self._before is None:
            self._block.add_op(op)
        else:
            self._block.insert_op_before(op, self._before)

    @classmethod
    def insert_there(cls, op: ir.Operation, point: InsertionPoint | None) -> None:
        """Puts an operation at `point`, else at the current one if there is one."""
        there = point or cls.current_or_none()
        if there is not None:
            there._insert(op)

    current: ClassVar[Any]


class _Current:
    """The current one of a class.

    Raises:
        ValueError: There is none.
    """

    def __get__(self, instance: object, owner: type[Any]) -> Any:
        found = owner.current_or_none()
        if found is None:
            raise ValueError(f"No current {owner.__name__}")
        return found


InsertionPoint.current = _Current()
Location.current = _Current()  # type: ignore[attr-defined]


class Module(Held):
    """A module."""

    @staticmethod
    def create(loc: Location | None = None) -> Module:
        """An empty module."""
        made = builtin.ModuleOp([])
        made.location = (loc or Location.current_or_unknown()).held
        return Module(made)

    @staticmethod
    def parse(asm: str | bytes, context: Context | None = None) -> Module:
        """The module of a text.

        Raises:
            MLIRError: The text is invalid.
        """
        text = asm.decode() if isinstance(asm, bytes) else asm
        allow = (context or Context.current).allow_unregistered_dialects
        try:
            return Module(parse_upstream(text, "-", allow_unregistered=allow))
        except InvalidModule as error:
            raise MLIRError(f"Unable to parse module assembly:\n{error}", [error]) from error

    @staticmethod
    def parseFile(path: str, context: Context | None = None) -> Module:  # noqa: N802 - MLIR's name
        """The module of a file.

        Raises:
            MLIRError: The text is invalid.
        """
        return Module.parse(Path(path).read_text(encoding="utf-8"), context)

    @property
    def operation(self) -> Operation:
        """It as an operation."""
        return Operation(self.held)

    @property
    def body(self) -> Block:
        """Its block."""
        return Block(self.held.body.block)

    def dump(self) -> None:
        """Prints it on stderr."""
        sys.stderr.write(f"{self}\n")

    def __str__(self) -> str:
        return str(self.operation)


registers_plain(operation=Operation, view=OpView)
