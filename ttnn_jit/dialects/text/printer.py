"""The printer; its output is that of mlir-opt.

It differs from xDSL's printer in: attribute aliases at the top, numbered by stem; names of values and blocks; the
default dialect of a region, which is omitted from op names; sorted dictionaries; ``[1]`` for arrays of i64; floats and
affine maps; locations as aliases at the bottom. Only this module, creation.py, direct_access.py and editing.py use
private names of xDSL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    FusedLoc,
    IntegerAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    UnitAttr,
    UnknownLoc,
    UnregisteredOp,
    f64,
    i1,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.utils import print_func_op_like
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

from ttnn_jit.dialects.spelling.affine_text import affine_map_text
from ttnn_jit.dialects.spelling.float_text import float_text
from ttnn_jit.dialects.spelling.naming import Names, names_of
from ttnn_jit.process.dataclass import dataclass

_DEFAULT_DIALECTS = {"builtin.module": "builtin", "func.func": "func"}
_INDENT = "  "
_MAX_LISTED = 100  # elements; more are printed as a hexadecimal string


@dataclass(eq=False)
class _Alias:
    """The alias of an attribute that the text contains.

    `depth` is 0 for an attribute without nested aliases, else one more than the deepest of them: an alias is defined
    after the aliases that it uses.
    """

    attribute: Attribute
    stem: str
    depth: int
    deferred: bool
    inner: list[_Alias]
    name: str = ""


class MLIRPrinter(Printer):
    """Prints one op and its regions with given names and aliases."""

    def __init__(self, names: Names, aliases: Mapping[Attribute, str], *, locations: bool) -> None:
        super().__init__(print_debuginfo=locations)
        self.chunks: list[str] = []
        self.is_generic = False  # whether every op is printed in generic form
        self.names = names
        self.aliases = aliases
        # Attributes are kept alive beside their text: the id of a freed one could be reused.
        self._texts: dict[int, tuple[Attribute, str]] = {}
        self._default_dialects = ["builtin"]

    def text(self) -> str:
        """The printed text."""
        return "".join(self.chunks)

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        """Prints `text`, with the indentation after each newline."""
        if "\n" in text:
            text = text.replace("\n", "\n" + _INDENT * (self._indent if indent is None else indent))
        self.chunks.append(text)

    def _print_new_line(self, indent: int | None = None, print_message: bool = True) -> None:  # noqa: ARG002 - xDSL's signature
        self.chunks.append("\n" + _INDENT * (self._indent if indent is None else indent))

    def print_ssa_value(self, value: SSAValue) -> str:
        """The name of `value`; a value defined outside the printed op has none."""
        name = self.names.values.get(value)
        if name is None:
            self.print_string("<<UNKNOWN SSA VALUE>>")
            return ""
        self.print_string(f"%{name}")
        return name

    def print_block_name(self, block: Block) -> str:
        """``^bb0``."""
        name = self.names.blocks[block]
        self.print_string(f"^{name}")
        return name

    def print_block_argument(self, arg: BlockArgument, print_type: bool = True) -> None:
        """``%arg0: type``, and with locations its location in full, as MLIR does for arguments."""
        self.print_ssa_value(arg)
        if not print_type:
            return
        self.print_string(": ")
        self.print_attribute(arg.type)
        if self.print_debuginfo:
            self.print_string(" ")
            self.print_in_full(arg.location)

    def print_block(self, block: Block, print_block_args: bool = True, print_block_terminator: bool = True) -> None:
        """The label on a line of its own, then the ops, indented."""
        if print_block_args:
            self._print_new_line()
            self.print_block_name(block)
            if block.args:
                with self.in_parens():
                    self.print_list(block.args, self.print_block_argument)
            self.print_string(":")
        with self.indented():
            for op in block.ops:
                if print_block_terminator or not op.has_trait(IsTerminator, value_if_unregistered=False):
                    self._print_new_line()
                    self.print_op(op)

    def print_region(
        self,
        region: Region,
        print_entry_block_args: bool = True,
        print_empty_block: bool = True,
        print_block_terminators: bool = True,
    ) -> None:
        """``{ blocks }``; the entry block's label only if it has arguments, or neither arguments nor ops."""
        self.print_string("{")
        parent = region.parent
        self._default_dialects.append(_DEFAULT_DIALECTS.get(parent.name, "") if parent else "")
        for index, block in enumerate(region.blocks):
            labelled = index > 0 or (bool(block.args) and print_entry_block_args)
            labelled = labelled or (index == 0 and not block.ops and print_empty_block)
            self.print_block(block, labelled, print_block_terminators)
        self._default_dialects.pop()
        self._print_new_line()
        self.print_string("}")

    def print_op(self, op: Operation) -> None:
        """``%results = op``, in custom or generic syntax, and with `locations` its location."""
        self._print_result_names(op.results)
        if isinstance(op, UnregisteredOp):
            self._print_unregistered(op)
            return
        if self.is_generic or type(op).print is Operation.print or getattr(op, "is_printed_generic", False):
            self.print_string(f'"{op.name}"')
            self.print_op_with_default_format(op)
            return
        dialect, _, rest = op.name.partition(".")
        self.print_string(rest if dialect == self._default_dialects[-1] and "." not in rest else op.name)
        if isinstance(op, FuncOp):
            _print_function(op, self)
        else:
            op.print(self)
        if self.print_debuginfo:
            self.print_string(" ")
            self.print_attribute(op.location)

    def _print_unregistered(self, op: UnregisteredOp) -> None:
        """``"dialect.name"(...)``; the name is an attribute of the op, which is not printed."""
        spelled = op.op_name.data
        name = op.attributes.pop("op_name__")
        try:
            self.print_string_literal(spelled)
            self.print_op_with_default_format(op)
        finally:
            op.attributes["op_name__"] = name

    def _print_result_names(self, results: Sequence[SSAValue]) -> None:
        if not results:
            return
        groups = Counter(self.names.values[each].partition("#")[0] for each in results)
        shown = (f"%{name}:{count}" if count > 1 else f"%{name}" for name, count in groups.items())
        self.print_string(f"{', '.join(shown)} = ")

    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        """``{a = 1 : i64, b}``, sorted by name."""
        with self.in_braces():
            self.print_list(sorted(attr_dict.items()), self._print_named_attribute)

    def _print_named_attribute(self, item: tuple[str, Attribute]) -> None:
        name, attribute = item
        self.print_identifier_or_string_literal(name)
        if not isinstance(attribute, UnitAttr):
            self.print_string(" = ")
            self.print_attribute(attribute)

    def print_float(self, value: float, type: AnyFloat) -> None:  # noqa: A002 - xDSL's signature
        """The number as MLIR prints it."""
        self.print_string(float_text(value, type))

    def print_attribute(self, attribute: Attribute) -> None:
        """The alias of `attribute` if it has one, else its text."""
        found = self._texts.get(id(attribute))
        if found is not None:
            self.chunks.append(found[1])
        elif isinstance(attribute, LocationAttr):
            self._print_location(attribute)
        else:
            text = self._text_of(attribute)
            self._texts[id(attribute)] = (attribute, text)
            self.chunks.append(text)

    def print_alias_or(self, attribute: Attribute, body: Callable[[], None]) -> None:
        """The alias of a parameter if it has one, else what `body` prints: its text without its name."""
        alias = self.aliases.get(attribute)
        if alias is None:
            body()
        else:
            self.chunks.append(alias)

    def _text_of(self, attribute: Attribute) -> str:
        alias = self.aliases.get(attribute)
        if alias is not None:
            return alias
        start = len(self.chunks)
        self.print_in_full(attribute)
        text = "".join(self.chunks[start:])
        del self.chunks[start:]
        return text

    def _print_location(self, location: Attribute) -> None:
        alias = self.aliases.get(location)
        if alias is None:
            self.print_in_full(location)
        else:
            self.print_string(alias if self.printing_location else f"loc({alias})")

    def print_in_full(self, attribute: Attribute) -> None:
        """Prints `attribute` itself, not its alias; nested attributes are printed by alias."""
        match attribute:
            case ArrayAttr():
                with self.in_square_brackets():
                    self.print_list(attribute.data, self._print_element)
            case FusedLoc(locations=ArrayAttr() as fused, metadata=NoneAttr()):
                # Printed directly: an array attribute would count as a level of nesting.
                with self.in_location():
                    self.print_string("fused")
                    with self.in_square_brackets():
                        self.print_list(fused, self.print_attribute)
            case NameLoc(location=UnknownLoc()):
                with self.in_location():
                    self.print_string_literal(attribute.desc.data)
            case DenseIntOrFPElementsAttr() if attribute.get_element_type() == i1 and not attribute.is_splat():
                self._print_booleans(attribute)
            case AffineMapAttr():
                self.print_string(f"affine_map<{affine_map_text(attribute.data)}>")
            case _:
                super().print_attribute(attribute)

    def _print_booleans(self, attribute: DenseIntOrFPElementsAttr) -> None:
        """Many booleans are eight in a byte of a hexadecimal string; xDSL gives each a byte."""
        values = [*attribute.get_values()]
        if len(values) <= _MAX_LISTED:
            super().print_attribute(attribute)
            return
        packed = bytearray((len(values) + 7) // 8)
        for at, value in enumerate(values):
            packed[at // 8] |= bool(value) << (at % 8)
        self.print_string(f'dense<"0x{packed.hex().upper()}"> : ')
        self.print_attribute(attribute.type)

    def _print_element(self, attribute: Attribute) -> None:
        match attribute:
            case IntegerAttr() if attribute.type == i64:
                self.print_string(str(attribute.value.data))
            case FloatAttr() if attribute.type == f64:
                self.print_float(attribute.value.data, f64)
            case _:
                self.print_attribute(attribute)


def _print_function(op: FuncOp, printer: MLIRPrinter) -> None:
    """A function in MLIR's syntax, which omits an empty list of results."""
    if op.sym_visibility:
        printer.print_string(f" {op.sym_visibility.data}")
    print_func_op_like(
        printer,
        op.sym_name,
        op.function_type,
        op.body,
        op.attributes,
        arg_attrs=op.arg_attrs,
        res_attrs=op.res_attrs,
        reserved_attr_names=(),
        print_empty_outputs=False,
    )


class _AliasCollector(MLIRPrinter):
    """A dry run that collects, in MLIR's order, the attributes that the text will contain."""

    def __init__(self, names: Names, *, locations: bool) -> None:
        super().__init__(names, {}, locations=locations)
        self.found: dict[Attribute, _Alias] = {}
        self._found_by_id: dict[int, _Alias] = {}
        self._open: list[_Alias] = [_Alias(UnitAttr(), "", 0, deferred=False, inner=[])]

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        """Prints nothing: the dry run only visits attributes."""

    def _print_new_line(self, indent: int | None = None, print_message: bool = True) -> None:
        pass

    def print_op(self, op: Operation) -> None:
        """Visits the op's location first: it is numbered before the locations of nested ops."""
        if self.print_debuginfo:
            self._visit(op.location, deferred=True)
        super().print_op(op)

    def print_attribute(self, attribute: Attribute) -> None:
        """Visits `attribute`, unless it is the op's location, which was visited first."""
        if self.printing_location or not isinstance(attribute, LocationAttr):
            self._visit(attribute, deferred=self._open[-1].deferred)

    def print_alias_or(self, attribute: Attribute, body: Callable[[], None]) -> None:
        """Visits an attribute that has an alias."""
        if _stem(attribute):
            self.print_attribute(attribute)
        else:
            body()

    def print_block_argument(self, arg: BlockArgument, print_type: bool = True) -> None:
        """Visits type and location."""
        if print_type:
            self.print_attribute(arg.type)
            if self.print_debuginfo:
                self._visit(arg.location, deferred=False)

    def _visit(self, attribute: Attribute, *, deferred: bool) -> None:
        entry = self._found_by_id.get(id(attribute)) or self.found.get(attribute)
        if entry is None:
            stem = _stem(attribute)
            entry = self.found[attribute] = _Alias(attribute, stem, 1 if stem else 0, deferred, [])
            self._open.append(entry)
            self.print_in_full(attribute)
            self._open.pop()
            if deepest := max((inner.depth for inner in entry.inner), default=0):
                entry.depth = deepest + 1
        elif not deferred:
            _define_at_top(entry)
        self._found_by_id[id(attribute)] = entry
        self._open[-1].inner.append(entry)


def _define_at_top(entry: _Alias) -> None:
    if entry.deferred:
        entry.deferred = False
        for inner in entry.inner:
            _define_at_top(inner)


def _stem(attribute: Attribute) -> str:
    """The stem of the alias that MLIR gives `attribute`; "" for none."""
    if isinstance(attribute, LocationAttr):
        return "loc"
    if isinstance(attribute, AffineMapAttr):
        return "map"
    if isinstance(attribute, AffineSetAttr):
        return "set"
    own_stem = getattr(attribute, "alias_stem", None)
    return str(own_stem()) if own_stem is not None else ""


def _numbered(found: Iterable[_Alias]) -> list[_Alias]:
    """The aliases in order of definition, with their names set."""
    counts: dict[str, int] = {}
    ordered = sorted((entry for entry in found if entry.stem), key=lambda entry: (entry.depth, entry.stem))
    for entry in ordered:
        count = counts.get(entry.stem, 0)
        counts[entry.stem] = count + 1
        separator = "_" if entry.stem[-1].isdigit() else ""
        entry.name = f"#{entry.stem}{separator}{count}" if count else f"#{entry.stem}"
    return ordered


def _definitions(aliases: Iterable[_Alias], printer: MLIRPrinter) -> str:
    for alias in aliases:
        printer.print_string(f"{alias.name} = ")
        printer.print_in_full(alias.attribute)
        printer.print_string("\n")
    return printer.text()


def op_text(
    op: Operation,
    *,
    locations: bool = False,
    local_scope: bool = False,
    generic: bool = False,
    names: Names | None = None,
) -> str:
    """`op` as mlir-opt prints it: aliases, the op, aliases of locations.

    Args:
        op: The op.
        locations: Whether locations are printed.
        local_scope: Whether attributes are printed in full, without aliases.
        generic: Whether every op is printed in generic form.
        names: The names of values; None: those that they have where only `op` is printed.
    """
    names = names or names_of(op)
    collector = _AliasCollector(names, locations=locations)
    collector.is_generic = generic
    collector.print_op(op)
    aliases = [] if local_scope else _numbered(collector.found.values())
    alias_names = {alias.attribute: alias.name for alias in aliases}

    def printer() -> MLIRPrinter:
        made = MLIRPrinter(names, alias_names, locations=locations)
        made.is_generic = generic
        return made

    body = printer()
    body.print_op(op)
    top = _definitions([alias for alias in aliases if not alias.deferred], printer())
    bottom = _definitions([alias for alias in aliases if alias.deferred], printer())
    return f"{top}{body.text()}\n{bottom}"
