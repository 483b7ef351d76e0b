"""All directives of operations; here those of LLVM, Shardy and emitted code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    i32,
    i64,
)
from xdsl.parser import UnresolvedOperand

from ttnn_jit.dialects.upstream.directives.directive import (
    OperationDirective,
    OperationReader,
    OperationWriter,
    names_of,
    numbers,
)
from ttnn_jit.dialects.upstream.directives.stablehlo_directives import OF_STABLEHLO
from ttnn_jit.dialects.upstream.directives.type_directives import TYPES
from ttnn_jit.dialects.upstream.formats import Element
from ttnn_jit.dialects.upstream.parameter_syntax import print_body, syntax_of
from ttnn_jit.dialects.upstream.table_attributes import attribute_class


def _parse_stripped_shardings(reader: OperationReader, arguments: Sequence[Element]) -> None:
    """``[<@mesh, ...>, ...]``: a sharding per value without its brackets."""
    parser = reader.parser
    kind = attribute_class("sdy.sharding_per_value", is_type=False)
    assert kind is not None
    one = syntax_of("TensorShardingAttr", "sdy")
    found = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: one.parse(parser))
    reader.attributes[names_of(arguments)[0]] = kind((("shardings", tuple(found)),) if found else ())


def _print_stripped_shardings(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    attribute: Any = writer.attribute(names_of(arguments)[0])
    with writer.printer.in_square_brackets():
        writer.printer.print_list(attribute.value("shardings") or (), lambda each: print_body(writer.printer, each))


def _parse_region_without_label(reader: OperationReader, arguments: Sequence[Element]) -> None:
    parser = reader.parser
    found = parser.parse_comma_separated_list(parser.Delimiter.PAREN, _argument(parser))
    reader.set_regions(names_of(arguments)[0], [parser.parse_region(found)])


def _argument(parser: Any) -> Callable[[], Any]:
    def parse() -> Any:
        argument = parser.parse_argument()
        argument.location = parser.parse_optional_location()
        return argument

    return parse


def _print_region_without_label(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    region = writer.regions_of(names_of(arguments)[0])[0]
    with writer.printer.in_parens():
        writer.printer.print_list(region.block.args, writer.printer.print_block_argument)
    writer.printer.print_string(" ")
    writer.printer.print_region(region, print_entry_block_args=False)


def _parse_initial_value(reader: OperationReader, arguments: Sequence[Element]) -> None:
    reader.parser.parse_punctuation("=", " after symbol name")
    reader.attributes[names_of(arguments)[-1]] = reader.parser.parse_attribute()
    if reader.parser.parse_optional_punctuation(":") is not None:
        reader.parser.parse_type()  # MLIR reads one behind an attribute of a dialect, and this attribute keeps none


def _print_initial_value(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    writer.printer.print_string("= ")
    value = writer.attribute(names_of(arguments)[-1])
    assert value is not None
    writer.printer.print_attribute(value)


def _parse_type_and_value(reader: OperationReader, arguments: Sequence[Element]) -> None:
    type_name, value_name = names_of(arguments)
    found = reader.parser.parse_type()
    reader.attributes[type_name] = found
    if reader.parser.parse_optional_punctuation("=") is None:
        return
    value = reader.parser.parse_attribute()
    if isinstance(value, IntegerAttr) and value.type == i64:
        integer_type: Any = found
        value = IntegerAttr(value.value.data, integer_type)
    reader.attributes[value_name] = value


def _print_type_and_value(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    type_, value = (writer.attribute(name) for name in names_of(arguments))
    assert type_ is not None
    writer.printer.print_attribute(type_)
    if value is not None:
        writer.printer.print_string(" = ")
        writer.printer.print_attribute(value)


_NO_WRAP_FLAGS = {"inbounds": 3, "nusw": 2, "nuw": 4}
"""Flag of ``llvm.getelementptr`` -> its bits; what is in bounds does not wrap."""


def _parse_no_wrap_flags(reader: OperationReader, arguments: Sequence[Element]) -> None:
    found = 0
    for flag, bits in _NO_WRAP_FLAGS.items():
        if reader.parser.parse_optional_keyword(flag) is not None:
            found |= bits
            reader.parser.parse_optional_punctuation("|")
    (name,) = names_of(arguments)
    reader.attributes[name] = IntegerAttr(found, i32)


def _print_no_wrap_flags(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    found = writer.attribute(names_of(arguments)[0])
    value = found.value.data if isinstance(found, IntegerAttr) else 0
    flags = [flag for flag, bits in _NO_WRAP_FLAGS.items() if value & bits == bits]
    writer.printer.print_string("|".join(flags[:1] + flags[2:] if "inbounds" in flags else flags))


_GIVEN_BY_OPERAND = -(2**31)
"""The constant index that stands for an operand."""


def _parse_pointer_indices(reader: OperationReader, arguments: Sequence[Element]) -> None:
    operands, constants = names_of(arguments)
    found: list[UnresolvedOperand] = []
    values = []
    while True:
        if (operand := reader.parser.parse_optional_unresolved_operand()) is not None:
            found.append(operand)
            values.append(_GIVEN_BY_OPERAND)
        else:
            values.append(reader.parser.parse_integer())
        if reader.parser.parse_optional_punctuation(",") is None:
            break
    reader.operands[operands] = found
    reader.attributes[constants] = DenseArrayBase.from_list(i32, values)


def _print_pointer_indices(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    operands, constants = names_of(arguments)
    values = iter(writer.operands_of(operands))
    for position, number in enumerate(numbers(writer.attribute(constants))):
        if position:
            writer.printer.print_string(", ")
        if number == _GIVEN_BY_OPERAND:
            writer.printer.print_ssa_value(next(values))
        else:
            writer.printer.print_string(str(number))


DIRECTIVES = (
    TYPES
    | OF_STABLEHLO
    | {
        "GEPFlags": OperationDirective(_parse_no_wrap_flags, _print_no_wrap_flags),
        "GEPIndices": OperationDirective(_parse_pointer_indices, _print_pointer_indices),
        "StrippedTensorShardingPerValueAttr": OperationDirective(_parse_stripped_shardings, _print_stripped_shardings),
        "SingleBlockRegionNoBlockId": OperationDirective(_parse_region_without_label, _print_region_without_label),
        "EmitPyGlobalOpInitialValue": OperationDirective(_parse_initial_value, _print_initial_value),
        "EmitCGlobalOpTypeAndInitialValue": OperationDirective(_parse_type_and_value, _print_type_and_value),
    }
)
"""Name of a directive -> its parser and printer."""
