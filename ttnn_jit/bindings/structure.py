"""Operations, values, blocks and regions, over those of xDSL. Two wrappers of one thing are equal."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

from xdsl import ir
from xdsl.dialects import builtin
from xdsl.dialects.func import FuncOp

from ttnn_jit.bindings.attributes import Attribute, NamedAttribute
from ttnn_jit.bindings.contexts import Context, Scope
from ttnn_jit.bindings.locations import Location
from ttnn_jit.bindings.types import Type
from ttnn_jit.bindings.wrapping import wrapped
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.context import UpstreamContext
from ttnn_jit.dialects.upstream.reading import parse_upstream
from ttnn_jit.dialects.upstream.verifying import verify_upstream
from ttnn_jit.dialects.verifier import InvalidModule


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


class _Held:
    """What stands for an object of xDSL."""

    def __init__(self, held: Any) -> None:
        self.held = held.held if isinstance(held, _Held) else held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)

    @property
    def context(self) -> Context:
        """The context."""
        return Context()


class Value(_Held):
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
        self.held._type = kind.held if hasattr(self.held, "_type") else None  # noqa: SLF001 - xDSL has no setter

    @property
    def owner(self) -> Any:
        """The operation, or the block, that defines it."""
        owner = self.held.owner
        return Block(owner) if isinstance(owner, ir.Block) else Operation(owner)

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

    def get_name(self, use_local_scope: bool = False) -> str:  # noqa: ARG002 - names are of the whole function
        """``%0``, as the text of its function has it."""
        from ttnn_jit.dialects.spelling.naming import names_of

        owner = self.held.owner
        top = owner if isinstance(owner, ir.Operation) else owner.parent_op()
        while top is not None and top.parent_op() is not None:
            top = top.parent_op()
        return f"%{names_of(top).values[self.held]}"


class OpOperand:
    """An operand of an operation."""

    def __init__(self, use: ir.Use) -> None:
        self._use = use

    @property
    def owner(self) -> Any:
        """The operation that reads."""
        return Operation(self._use.operation)

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


class Block(_Held):
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
    def operations(self) -> list[Any]:
        """Its operations."""
        return [view_of(op) for op in self.held.ops]

    @property
    def owner(self) -> Any:
        """The operation around it."""
        return view_of(self.held.parent_op())

    @property
    def region(self) -> Region:
        """The region around it."""
        return Region(self.held.parent_region())

    def append(self, op: _Held) -> None:
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


class Region(_Held):
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
        return self.blocks[index]

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


class OpAttributeMap:
    """The attributes of an operation, those that its declaration has and others."""

    def __init__(self, op: ir.Operation) -> None:
        self._op = op
        self._inherent = inherent_names(op.name)

    def _all(self) -> dict[str, ir.Attribute]:
        return {**self._op.properties, **self._op.attributes}

    def __contains__(self, name: object) -> bool:
        return name in self._op.properties or name in self._op.attributes

    def __len__(self) -> int:
        return len(self._all())

    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, int):
            name = [*self._all()][key]
            return NamedAttribute(name, wrapped(self._all()[name]))
        return wrapped(self._all()[key])

    def get(self, name: str, default: Any = None) -> Any:
        """The attribute of a name, or `default`."""
        return self[name] if name in self else default

    def __setitem__(self, name: str, attribute: Attribute) -> None:
        held = self._op.properties if name in self._inherent else self._op.attributes
        held[name] = attribute.held

    def __delitem__(self, name: str) -> None:
        held = self._op.properties if name in self._op.properties else self._op.attributes
        del held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def keys(self) -> list[str]:
        """The names."""
        return [*self._all()]

    def values(self) -> list[Any]:
        """The attributes."""
        return [wrapped(each) for each in self._all().values()]

    def items(self) -> list[tuple[str, Any]]:
        """Names and attributes."""
        return [(name, wrapped(each)) for name, each in self._all().items()]


def inherent_names(name: str) -> frozenset[str]:
    """The attributes that an operation's declaration has."""
    rows = tables.operation_rows(name)
    found = {each.name for row in rows for each in row.attributes}
    if name == "func.func":
        found |= {"sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"}
    return frozenset(found | {"operandSegmentSizes", "resultSegmentSizes"})


class Operation(_Held):
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
    def operands(self) -> OpResultList:
        """Its operands."""
        return OpResultList(value_of(each) for each in self.held.operands)

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
        """The text."""
        return op_text(
            self.held, locations=enable_debug_info, local_scope=use_local_scope, generic=print_generic_op_form
        ).removesuffix("\n")

    def print(self, file: Any = None, **options: Any) -> None:
        """Prints the text."""
        print(self.get_asm(**options), file=file)

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


_VIEWS: dict[str, type[OpView]] = {}
_MAKERS: list[Callable[[str], type[OpView] | None]] = []


def register_view(kind: type[OpView]) -> type[OpView]:
    """Makes a class that of its name."""
    _VIEWS[kind.OPERATION_NAME] = kind
    return kind


def makes_views(maker: Callable[[str], type[OpView] | None]) -> Callable[[str], type[OpView] | None]:
    """Registers what makes the class of a name that has none yet."""
    _MAKERS.append(maker)
    return maker


def view_class(name: str) -> type[OpView] | None:
    """The class of a name; None if there is no such operation."""
    if name not in _VIEWS:
        for maker in _MAKERS:
            if (made := maker(name)) is not None:
                return register_view(made)
    return _VIEWS.get(name)


def view_of(op: ir.Operation) -> Any:
    """An operation as its class shows it."""
    kind = view_class(op.name) or OpView
    made = kind.__new__(kind)
    _Held.__init__(made, op)
    return made


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

    def insert(self, op: _Held) -> None:
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


class Module(_Held):
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
        with open(path, encoding="utf-8") as file:
            return Module.parse(file.read(), context)

    @property
    def operation(self) -> Operation:
        """It as an operation."""
        return Operation(self.held)

    @property
    def body(self) -> Block:
        """Its block."""
        return Block(self.held.body.block)

    def dump(self) -> None:
        """Prints it."""
        print(self)

    def __str__(self) -> str:
        return str(self.operation)


def is_function(op: ir.Operation) -> bool:
    """Whether an operation is a function."""
    return isinstance(op, FuncOp)
