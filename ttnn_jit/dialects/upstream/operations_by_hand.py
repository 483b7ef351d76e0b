"""Operations whose assembly C++ parses: their parsers, and the printers of those that dumps hold often.

One without a printer is printed in generic form.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, FunctionType, IndexType, StringAttr, TensorType, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from ttnn_jit.dialects.upstream.attribute_kinds import implied_type
from ttnn_jit.dialects.upstream.emitted_syntax import EMITTED
from ttnn_jit.dialects.upstream.hand_syntax import (
    HandSyntax,
    operand_list,
    parts_of,
    resolved,
    segments,
    split_dictionary,
    type_list,
)
from ttnn_jit.dialects.upstream.operation_reader import Parts

# Constants.


def _parse_constant(parser: Parser) -> Parts:
    """``{attributes} dense<...> : type``; the result's type is that of the value. Once it was the generic form."""
    if parser.parse_optional_punctuation("(") is not None:
        parser.parse_punctuation(")")
        given = parser.parse_optional_properties_dict()
        found = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_of_all = parser.parse_function_type()
        return parts_of(result_types=type_of_all.outputs.data, **split_dictionary({**given, **found}, "value"))
    attributes = parser.parse_optional_attr_dict()
    start = parser.pos
    value = parser.parse_attribute()
    type_ = getattr(value, "type", None)
    if parser.parse_optional_punctuation(":") is not None:
        type_ = parser.parse_type()
    if type_ is None:
        parser.raise_error("expected elements with a type", start)
    return parts_of(result_types=(type_,), properties={"value": value}, attributes=attributes)


def _print_constant(op: Operation, printer: Printer) -> None:
    printer.print_string(" ")
    if op.attributes:
        printer.print_attr_dict(op.attributes)
        printer.print_string(" ")
    printer.print_attribute(op.properties["value"])
    if getattr(op.properties["value"], "type", None) != op.results[0].type:
        printer.print_string(" : ")
        printer.print_attribute(op.results[0].type)


# stablehlo.reduce and stablehlo.while.


def _parse_reduce(parser: Parser) -> Parts:
    """``(%x init: %i), ... applies stablehlo.add across dimensions = [...] : type``, or with a region."""
    start = parser.pos

    def pair() -> tuple[UnresolvedOperand, UnresolvedOperand]:
        with parser.in_parens():
            operand = parser.parse_unresolved_operand()
            parser.parse_keyword("init")
            parser.parse_punctuation(":")
            return operand, parser.parse_unresolved_operand()

    pairs = parser.parse_comma_separated_list(parser.Delimiter.NONE, pair)
    inner = None
    if parser.parse_optional_keyword("applies") is not None:
        inner = parser.parse_identifier()
    parser.parse_keyword("across")
    parser.parse_keyword("dimensions")
    parser.parse_punctuation("=")
    dimensions = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    type_ = parser.parse_function_type()
    names = [operand for operand, _ in pairs] + [init for _, init in pairs]
    operands = resolved(parser, names, type_.inputs.data, start)
    region = _reducer(parser) if inner is None else _applied(parser, inner, type_)
    properties = {"dimensions": DenseArrayBase.from_list(i64, dimensions)}
    return parts_of(
        operands=operands,
        result_types=type_.outputs.data,
        properties=properties,
        attributes=attributes,
        regions=(region,),
    )


def _reducer(parser: Parser) -> Region:
    """``reducer(%a: type, %b: type) ... { ... }``: elements first, then accumulators."""
    parser.parse_keyword("reducer")
    elements, accumulators = [], []
    while parser._current_token.text == "(":
        with parser.in_parens():
            elements.append(_argument(parser))
            parser.parse_punctuation(",")
            accumulators.append(_argument(parser))
    return parser.parse_region([*elements, *accumulators])


def _argument(parser: Parser) -> Any:
    argument = parser.parse_argument()
    argument.location = parser.parse_optional_location()
    return argument


def _applied(parser: Parser, name: str, type_: FunctionType) -> Region:
    """A region that applies one operation to its two arguments."""
    kind = parser.ctx.get_optional_op(name)
    if kind is None:
        parser.raise_error(f"Operation {name} is not registered")
    whole: Any = type_.inputs.data[0]
    scalar = TensorType(whole.get_element_type(), [])
    block = Block(arg_types=[scalar, scalar])
    inner = kind.create(operands=block.args, result_types=[scalar])
    last = parser.ctx.get_op(f"{name.partition('.')[0]}.return").create(operands=inner.results)
    block.add_ops([inner, last])
    return Region(block)


def _print_reduce(op: Operation, printer: Printer) -> None:
    half = len(op.operands) // 2
    for index in range(half):
        printer.print_string(", (" if index else "(")
        printer.print_ssa_value(op.operands[index])
        printer.print_string(" init: ")
        printer.print_ssa_value(op.operands[half + index])
        printer.print_string(")")
    inner = _applied_name(op)
    if inner is not None:
        printer.print_string(f" applies {inner}")
    dimensions = op.properties["dimensions"]
    assert isinstance(dimensions, DenseArrayBase)
    printer.print_string(f" across dimensions = [{', '.join(map(str, dimensions.get_values()))}]")
    if op.attributes:
        printer.print_string(" ")
        printer.print_attr_dict(op.attributes)
    printer.print_string(" : ")
    printer.print_attribute(FunctionType.from_lists([*op.operand_types], [*op.result_types]))
    if inner is None:
        _print_reducer(op, printer, half)


def _applied_name(op: Operation) -> str | None:
    """The operation that a reduction's region applies, if it is the compact form's."""
    block = op.regions[0].block
    ops = [*block.ops]
    if len(ops) != 2 or len(block.args) != 2 or len(op.operands) != 2 or ops[0].attributes or ops[0].properties:
        return None
    inner, last = ops
    element: Any = op.operands[0].type
    scalar = TensorType(element.get_element_type(), [])
    same = all(argument.type == scalar for argument in block.args) and [*inner.result_types] == [scalar]
    plain = tuple(inner.operands) == tuple(block.args) and tuple(last.operands) == tuple(inner.results)
    return inner.name if same and plain and inner.name in _COMMUTATIVE and not last.attributes else None


_COMMUTATIVE = {f"stablehlo.{name}" for name in ("add", "and", "maximum", "minimum", "multiply", "or", "xor")}


def _print_reducer(op: Operation, printer: Printer, half: int) -> None:
    printer.print_string("\n reducer")
    arguments = op.regions[0].block.args
    for index in range(half):
        printer.print_string("(")
        printer.print_block_argument(arguments[index])
        printer.print_string(", ")
        printer.print_block_argument(arguments[half + index])
        printer.print_string(") ")
    printer.print_region(op.regions[0], print_entry_block_args=False)


def _parse_while(parser: Parser) -> Parts:
    """``(%a = %x, ...) : types attributes {...} cond {...} do {...}``."""
    start = parser.pos

    def binding() -> tuple[Any, UnresolvedOperand]:
        name = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        return name, parser.parse_unresolved_operand()

    bindings = parser.parse_comma_separated_list(parser.Delimiter.PAREN, binding)
    types: list[Attribute] = []
    if bindings:
        parser.parse_punctuation(":")
        types = type_list(parser)
    if len(types) != len(bindings):
        parser.raise_error(f"expected {len(bindings)} types, got {len(types)}", start)
    operands = resolved(parser, [operand for _, operand in bindings], types, start)
    found = parser.parse_optional_attr_dict_with_keyword()
    arguments = [name.resolve(type_) for (name, _), type_ in zip(bindings, types, strict=True)]
    parser.parse_keyword("cond")
    condition = parser.parse_region(arguments)
    parser.parse_keyword("do")
    body = parser.parse_region(arguments)
    return parts_of(
        operands=operands,
        result_types=types,
        attributes={} if found is None else found.data,
        regions=(condition, body),
    )


# sdy and ttkernel.


def _parse_hardware_startup(parser: Parser) -> Parts:
    start = parser.pos
    with parser.in_parens():
        operands = operand_list(parser)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    type_ = parser.parse_function_type()
    if len(operands) not in {2, 3}:
        parser.raise_error("expected 2 or 3 operands", start)
    return parts_of(
        operands=resolved(parser, operands, type_.inputs.data, start),
        result_types=type_.outputs.data,
        attributes=attributes,
    )


def _print_hardware_startup(op: Operation, printer: Printer) -> None:
    with printer.in_parens():
        printer.print_list(op.operands, printer.print_ssa_value)
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_function_type([value.type for value in op.operands], op.result_types)


def _parse_accessor_arguments(parser: Parser) -> Parts:
    """``(%cta, %crta)`` or ``(prev = %args)``, then optional expressions; the types may follow, as in 2025."""
    start = parser.pos
    result = implied_type("!ttkernel.TensorAccessorArgs")
    assert result is not None
    with parser.in_parens():
        if previous := parser.parse_optional_keyword("prev"):
            parser.parse_punctuation("=")
        operands = operand_list(parser)
    properties: dict[str, Attribute] = {}
    for name in ("cta_expr", "crta_expr"):
        if parser.parse_optional_keyword(name) is not None:
            parser.parse_punctuation("=")
            properties[name] = StringAttr(parser.parse_str_literal())
    attributes = parser.parse_optional_attr_dict()
    if parser.parse_optional_punctuation(":") is not None:
        parser.parse_function_type()
    properties["operandSegmentSizes"] = segments(0, 0, 1) if previous else segments(1, 1, 0)
    types = [result] if previous else [i32, i32]
    found = resolved(parser, operands, types, start)
    return parts_of(operands=found, result_types=(result,), properties=properties, attributes=attributes)


def _print_accessor_arguments(op: Operation, printer: Printer) -> None:
    with printer.in_parens():
        if len(op.operands) == 1:
            printer.print_string("prev = ")
        printer.print_list(op.operands, printer.print_ssa_value)
    for name in ("cta_expr", "crta_expr"):
        if name in op.properties:
            printer.print_string(f" {name} = ")
            printer.print_attribute(op.properties[name])
    printer.print_op_attributes(op.attributes)


def _is_accessor_arguments_of_2026(op: Operation) -> bool:
    return "operandSegmentSizes" in op.properties and len(op.operands) in {1, 2}


# d2m.


def _parse_generic(parser: Parser) -> Parts:
    """``{...} ins(...) outs(...) additionalArgs(...) {...}, ... : types``."""
    start = parser.pos
    found = parser.parse_optional_attr_dict()
    operands: list[Any] = []
    sizes = []
    for keyword in ("ins", "outs", "additionalArgs"):
        if parser.parse_optional_keyword(keyword) is None:
            sizes.append(0)
            continue
        with parser.in_parens():
            names = operand_list(parser)
            types = type_list(parser) if parser.parse_optional_punctuation(":") is not None else []
        operands += resolved(parser, names, types, start)
        sizes.append(len(names))
    regions: list[Region] = []
    while (region := parser.parse_optional_region()) is not None:
        regions.append(region)
        if parser.parse_optional_punctuation(",") is None:
            break
    results = type_list(parser) if parser.parse_optional_punctuation(":") is not None else []
    split = split_dictionary(found, *_GENERIC_PROPERTIES)
    split["properties"]["operandSegmentSizes"] = segments(*sizes)
    return parts_of(operands=operands, result_types=results, regions=regions, **split)


_GENERIC_PROPERTIES = (
    "grid",
    "block_factors",
    "indexing_maps",
    "iterator_types",
    "threads",
    "scratch_inputs",
    "fabricConnectionConfig",
)


def _print_generic(op: Operation, printer: Printer) -> None:
    properties = {name: value for name, value in op.properties.items() if name != "operandSegmentSizes"}
    printer.print_string(" ")
    printer.print_attr_dict({**properties, **op.attributes})
    sizes = op.properties["operandSegmentSizes"]
    assert isinstance(sizes, DenseArrayBase)
    following = iter(op.operands)
    for keyword, size in zip(("ins", "outs", "additionalArgs"), sizes.get_values(), strict=True):
        values = [next(following) for _ in range(int(size))]
        if not values and keyword == "additionalArgs":
            continue
        printer.print_string(f"\n        {keyword}(")
        printer.print_list(values, printer.print_ssa_value)
        if values:
            printer.print_string(" : ")
            printer.print_list([value.type for value in values], printer.print_attribute)
        printer.print_string(") " if keyword == "additionalArgs" else ")")
    printer.print_string(" ")
    printer.print_list(op.regions, printer.print_region)
    if op.results:
        printer.print_string(" : ")
        printer.print_list(op.result_types, printer.print_attribute)


def _is_generic_of_2026(op: Operation) -> bool:
    """Whether the operands are in three groups: in December 2025 they are in two, and the assembly is the same."""
    segments = op.properties.get("operandSegmentSizes")
    return isinstance(segments, DenseArrayBase) and len(segments) == 3


def _parse_remote_load(parser: Parser) -> Parts:
    """``%buffer %memref[%i] into %cb mcore[...] mshape[...] mcast[...] : types``."""
    start = parser.pos
    first = parser.parse_unresolved_operand()
    second = parser.parse_optional_unresolved_operand()
    groups: dict[str, list[UnresolvedOperand]] = {
        "buffer": [first] if second is not None else [],
        "memref": [second or first],
        "indices": _in_brackets(parser),
        "cb": [],
    }
    if parser.parse_optional_keyword("into") is not None:
        groups["cb"] = [parser.parse_unresolved_operand()]
    for keyword in ("mcore", "mshape", "mcast"):
        groups[keyword] = _in_brackets(parser) if parser.parse_optional_keyword(keyword) is not None else []
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    types: dict[str, list[Attribute]] = {}
    if groups["buffer"]:
        types["buffer"] = [parser.parse_type()]
        parser.parse_punctuation(",")
    types["memref"] = [parser.parse_type()]
    if groups["cb"]:
        parser.parse_keyword("into")
        types["cb"] = [parser.parse_type()]
    results = [parser.parse_type()] if parser.parse_optional_punctuation("->") is not None else []
    operands = [
        value
        for name, names in groups.items()
        for value in resolved(parser, names, types.get(name, [IndexType()] * len(names)), start)
    ]
    properties = {"operandSegmentSizes": segments(*(len(names) for names in groups.values()))}
    return parts_of(operands=operands, result_types=results, properties=properties, attributes=attributes)


def _print_remote_load(op: Operation, printer: Printer) -> None:
    sizes = op.properties["operandSegmentSizes"]
    assert isinstance(sizes, DenseArrayBase)
    following = iter(op.operands)
    buffer, memref, indices, cb, *sent = ([next(following) for _ in range(int(size))] for size in sizes.get_values())
    for each in (*buffer, *memref):
        printer.print_string(" ")
        printer.print_ssa_value(each)
    printer.print_string("[")
    printer.print_list(indices, printer.print_ssa_value)
    printer.print_string("]")
    for each in cb:
        printer.print_string(" into ")
        printer.print_ssa_value(each)
    for keyword, values in zip(("mcore", "mshape", "mcast"), sent, strict=True):
        if values:
            printer.print_string(f" {keyword}[")
            printer.print_list(values, printer.print_ssa_value)
            printer.print_string("]")
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_list([each.type for each in (*buffer, *memref)], printer.print_attribute)
    for each in cb:
        printer.print_string(" into ")
        printer.print_attribute(each.type)
    if op.results:
        printer.print_string(" -> ")
        printer.print_attribute(op.results[0].type)


def _in_brackets(parser: Parser) -> list[UnresolvedOperand]:
    with parser.in_square_brackets():
        return operand_list(parser)


BY_HAND = {
    **EMITTED,
    "stablehlo.constant": HandSyntax(_parse_constant, _print_constant),
    "sdy.constant": HandSyntax(_parse_constant, _print_constant),
    "stablehlo.reduce": HandSyntax(_parse_reduce, _print_reduce),
    "stablehlo.while": HandSyntax(_parse_while),
    "ttkernel.compute_kernel_hw_startup": HandSyntax(_parse_hardware_startup, _print_hardware_startup),
    "ttkernel.TensorAccessorArgs": HandSyntax(
        _parse_accessor_arguments, _print_accessor_arguments, _is_accessor_arguments_of_2026
    ),
    "d2m.generic": HandSyntax(_parse_generic, _print_generic, _is_generic_of_2026),
    "d2m.remote_load": HandSyntax(_parse_remote_load, _print_remote_load),
}
"""Name of an operation -> its assembly."""
