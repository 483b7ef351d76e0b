"""Operations of emitpy, emitc and tosa whose assembly C++ parses."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from ttnn_jit.dialects.upstream.hand_syntax import (
    HandSyntax,
    operand_list,
    parts_of,
    resolved,
    split_dictionary,
)
from ttnn_jit.dialects.upstream.operation_reader import Parts

# emitpy.


def _parse_assign(parser: Parser) -> Parts:
    """``%target = %value : (types)``; in 2025 ``%value : function type``."""
    start = parser.pos
    operands = [parser.parse_unresolved_operand()]
    if parser.parse_optional_punctuation("=") is None:
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_function_type()
        found_operands = resolved(parser, operands, type_.inputs.data, start)
        return parts_of(operands=found_operands, result_types=type_.outputs.data, attributes=attributes)
    operands.append(parser.parse_unresolved_operand())
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    attributes = parser.parse_optional_attr_dict()
    return parts_of(operands=resolved(parser, operands, types, start), attributes=attributes)


def _parse_assign_global(parser: Parser) -> Parts:
    """``@name = %value : type``."""
    start = parser.pos
    name = parser.parse_symbol_name()
    parser.parse_punctuation("=", " after symbol name")
    operand = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    operands = resolved(parser, [operand], [parser.parse_type()], start)
    return parts_of(operands=operands, properties={"name": SymbolRefAttr(name)})


def _print_assign(op: Operation, printer: Printer) -> None:
    """``%target = %value : (types)``; an assignment of 2025 has a result."""
    printer.print_string(" ")
    if op.results:
        printer.print_ssa_value(op.operands[0])
        printer.print_op_attributes(op.attributes)
        printer.print_string(" : ")
        printer.print_function_type([op.operands[0].type], [op.results[0].type])
        return
    printer.print_list(op.operands, printer.print_ssa_value, " = ")
    printer.print_string(" : (")
    printer.print_list([each.type for each in op.operands], printer.print_attribute)
    printer.print_string(")")
    printer.print_op_attributes(op.attributes)


def _print_assign_global(op: Operation, printer: Printer) -> None:
    """``@name = %value : type``."""
    printer.print_string(" ")
    printer.print_attribute(op.properties["name"])
    printer.print_string(" = ")
    printer.print_ssa_value(op.operands[0])
    printer.print_string(" : ")
    printer.print_attribute(op.operands[0].type)


def _has_no_attributes(op: Operation) -> bool:
    return not op.attributes


def _parse_class(parser: Parser) -> Parts:
    """``@name(bases) attributes {...} {...}``."""
    properties: dict[str, Attribute] = {"sym_name": parser.parse_symbol_name()}
    bases = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_attribute)
    if bases:
        properties["base_classes"] = ArrayAttr(bases)
    found = parser.parse_optional_attr_dict_with_keyword()
    region = parser.parse_region()
    return parts_of(properties=properties, attributes={} if found is None else found.data, regions=(_nonempty(region),))


def _nonempty(region: Region) -> Region:
    if not region.blocks:
        region.add_block(Block())
    return region


def _parse_expression(parser: Parser) -> Parts:
    """``(%operands) {do_not_inline} : (types) -> type {...}``, of emitpy or emitc."""
    start = parser.pos
    operands: list[UnresolvedOperand] = []
    if parser._current_token.text == "(":
        with parser.in_parens():
            operands = operand_list(parser)
    found: dict[str, Attribute] = parser.parse_optional_attr_dict()
    if parser.parse_optional_keyword("noinline") is not None:
        found["do_not_inline"] = UnitAttr()
    parser.parse_punctuation(":")
    types: list[Attribute] = []
    if parser._current_token.text == "(":
        types = [*parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)]
    parser.parse_optional_punctuation("->")
    result = parser.parse_type()
    found_operands = resolved(parser, operands, types, start)
    split = split_dictionary(found, "do_not_inline")
    return parts_of(operands=found_operands, result_types=(result,), regions=(parser.parse_region(),), **split)


def _parse_import(parser: Parser) -> Parts:
    """``import "module" as "alias"`` or ``from "module" import "member" as "alias", ...``."""
    properties: dict[str, Attribute] = {}
    if parser.parse_optional_keyword("from") is None:
        parser.parse_keyword("import")
        properties["module_name"] = StringAttr(parser.parse_str_literal())
        if parser.parse_optional_keyword("as") is not None:
            properties["module_alias"] = StringAttr(parser.parse_str_literal())
        return parts_of(properties=properties)
    properties["module_name"] = StringAttr(parser.parse_str_literal())
    parser.parse_keyword("import")
    if parser.parse_optional_punctuation("*") is not None:
        properties["import_all"] = UnitAttr()
        return parts_of(properties=properties)

    def member() -> tuple[StringAttr, StringAttr]:
        name = StringAttr(parser.parse_str_literal())
        return name, StringAttr(parser.parse_str_literal() if parser.parse_optional_keyword("as") else "")

    members = parser.parse_comma_separated_list(parser.Delimiter.NONE, member)
    properties["members_to_import"] = ArrayAttr([name for name, _ in members])
    properties["member_aliases"] = ArrayAttr([alias for _, alias in members])
    return parts_of(properties=properties)


def _print_import(op: Operation, printer: Printer) -> None:
    """As `_parse_import` reads it."""
    found = op.properties
    module, members = found["module_name"], found.get("members_to_import")
    if "import_all" not in found and not isinstance(members, ArrayAttr):
        printer.print_string(" import ")
        printer.print_attribute(module)
        _print_alias(found.get("module_alias"), printer)
        return
    printer.print_string(" from ")
    printer.print_attribute(module)
    printer.print_string(" import ")
    if not isinstance(members, ArrayAttr):
        printer.print_string("*")
        return
    aliases: Any = found.get("member_aliases") or ArrayAttr([StringAttr("")] * len(members))
    for index, (member, alias) in enumerate(zip(members, aliases, strict=True)):
        printer.print_string(", " if index else "")
        printer.print_attribute(member)
        _print_alias(alias, printer)


def _print_alias(alias: Attribute | None, printer: Printer) -> None:
    if isinstance(alias, StringAttr) and alias.data:
        printer.print_string(" as ")
        printer.print_attribute(alias)


def _print_expression(op: Operation, printer: Printer) -> None:
    """As `_parse_expression` reads it."""
    if op.operands:
        printer.print_string(" (")
        printer.print_list(op.operands, printer.print_ssa_value)
        printer.print_string(")")
    printer.print_string(" {do_not_inline} : " if "do_not_inline" in op.properties else " : ")
    if op.operands:
        printer.print_string("(")
        printer.print_list([each.type for each in op.operands], printer.print_attribute)
        printer.print_string(") ")
    printer.print_string("-> ")
    printer.print_attribute(op.results[0].type)
    printer.print_string(" ")
    printer.print_region(op.regions[0])


# emitc and tosa.


def _parse_include(parser: Parser) -> Parts:
    """``<"header">`` or ``"header"``."""
    properties: dict[str, Attribute] = {}
    if parser.parse_optional_punctuation("<") is not None:
        properties["is_standard_include"] = UnitAttr()
    properties["include"] = StringAttr(parser.parse_str_literal())
    if "is_standard_include" in properties:
        parser.parse_punctuation(">")
    return parts_of(properties=properties)


def _parse_if(parser: Parser) -> Parts:
    """``%condition {...} else {...}``."""
    start = parser.pos
    operands = resolved(parser, [parser.parse_unresolved_operand()], [i1], start)
    regions = [parser.parse_region()]
    regions.append(parser.parse_region() if parser.parse_optional_keyword("else") is not None else Region())
    return parts_of(operands=operands, regions=regions, attributes=parser.parse_optional_attr_dict())


def _parse_for(parser: Parser) -> Parts:
    """``%i = %lower to %upper step %step : type {...}``."""
    start = parser.pos
    name = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    bounds = [parser.parse_unresolved_operand()]
    for keyword in ("to", "step"):
        parser.parse_keyword(keyword)
        bounds.append(parser.parse_unresolved_operand())
    type_: Any = IndexType()
    if parser.parse_optional_punctuation(":") is not None:
        type_ = parser.parse_type()
    operands = resolved(parser, bounds, [type_] * 3, start)
    region = parser.parse_region([name.resolve(type_)])
    return parts_of(operands=operands, regions=(region,), attributes=parser.parse_optional_attr_dict())


def _parse_function(parser: Parser) -> Parts:
    """``@name(arguments) -> results attributes {...} {...}``."""
    from xdsl.dialects.utils import parse_func_op_like

    name, inputs, outputs, region, found, arguments, results = parse_func_op_like(parser, reserved_attr_names=())
    type_ = FunctionType.from_lists(inputs, outputs)
    properties: dict[str, Attribute] = {"sym_name": StringAttr(name), "function_type": type_}
    properties |= {"arg_attrs": arguments} if arguments else {}
    properties |= {"res_attrs": results} if results else {}
    attributes = found.data if isinstance(found, DictionaryAttr) else {}
    return parts_of(properties=properties, attributes=attributes, regions=(region,))


def _parse_conditional(parser: Parser) -> Parts:
    """``%condition (%a = %x, ...) : types -> types {...} else {...}``."""
    start = parser.pos
    condition = parser.parse_unresolved_operand()
    bindings: list[tuple[Any, UnresolvedOperand]] = []
    if parser._current_token.text == "(":
        bindings = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _binding(parser))
    parser.parse_punctuation(":")
    first = parser.parse_type()
    inputs: list[Attribute] = []
    if parser._current_token.text == "(":
        inputs = [*parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)]
    outputs: list[Attribute] = []
    if parser.parse_optional_punctuation("->") is not None:
        found = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        outputs = [*found] if found is not None else [parser.parse_type()]
    names = [condition, *(operand for _, operand in bindings)]
    operands = resolved(parser, names, [first, *inputs], start)
    regions = [parser.parse_region()]
    parser.parse_keyword("else")
    regions.append(parser.parse_region())
    return parts_of(
        operands=operands, result_types=outputs, regions=regions, attributes=parser.parse_optional_attr_dict()
    )


def _binding(parser: Parser) -> tuple[Any, UnresolvedOperand]:
    name = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return name, parser.parse_unresolved_operand()


EMITTED = {
    "emitpy.assign": HandSyntax(_parse_assign, _print_assign),
    "emitpy.assign_global": HandSyntax(_parse_assign_global, _print_assign_global, _has_no_attributes),
    "emitpy.class": HandSyntax(_parse_class),
    "emitpy.expression": HandSyntax(_parse_expression, _print_expression, _has_no_attributes),
    "emitc.expression": HandSyntax(_parse_expression),
    "emitpy.import": HandSyntax(_parse_import, _print_import, _has_no_attributes),
    "emitc.include": HandSyntax(_parse_include),
    "emitc.if": HandSyntax(_parse_if),
    "emitc.for": HandSyntax(_parse_for),
    "emitc.func": HandSyntax(_parse_function),
    "tosa.cond_if": HandSyntax(_parse_conditional),
}
"""Name of an operation -> its assembly."""
