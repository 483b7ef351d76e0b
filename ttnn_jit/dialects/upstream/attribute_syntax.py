"""The bodies of attributes and types that C++ parses: each has a parser and a printer here."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import f64
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttnn_jit.dialects.spelling.float_text import float_text
from ttnn_jit.dialects.upstream.attribute_directives import dimensions_text
from ttnn_jit.dialects.upstream.parameter_syntax import print_body, print_stripped, syntax_of
from ttnn_jit.process.dataclass import dataclass

Values = dict[str, Any]


@dataclass(frozen=True)
class BodySyntax:
    """The body of an attribute or type.

    Attributes:
        parse: The values of its parameters.
        print: Prints them.
    """

    parse: Callable[[AttrParser], Values]
    print: Callable[[Printer, Values], None]


def _parse_memory_config(parser: AttrParser) -> Values:
    """``<buffer type, memory layout, shard spec>``, all but the first optional."""
    values: Values = {}
    with parser.in_angle_brackets():
        values["bufferType"] = syntax_of("BufferTypeAttr", "ttnn").parse(parser)
        while parser.parse_optional_punctuation(",") is not None:
            if parser.parse_optional_keyword("ndShardSpec") is not None:
                parser.parse_punctuation("=")
                values["ndShardSpec"] = syntax_of("NDShardSpecAttr", "ttnn").parse(parser)
            elif "tensorMemoryLayout" not in values and _is_memory_layout(parser):
                values["tensorMemoryLayout"] = syntax_of("TensorMemoryLayoutAttr", "ttnn").parse(parser)
            else:
                values["shardSpec"] = syntax_of("ShardSpecAttr", "ttnn").parse(parser)
    return values


def _is_memory_layout(parser: AttrParser) -> bool:
    """Whether ``<keyword>`` or an attribute of memory layouts follows."""
    start = parser.pos
    try:
        found = syntax_of("TensorMemoryLayoutAttr", "ttnn").parse(parser)
    except Exception:  # noqa: BLE001 - xDSL raises various errors for invalid texts
        return False
    finally:
        parser._resume_from(start)
    return bool(found.name == "ttnn.tensor_memory_layout")


def _print_memory_config(printer: Printer, values: Values) -> None:
    with printer.in_angle_brackets():
        print_stripped(printer, values["bufferType"])
        for name in ("tensorMemoryLayout", "shardSpec"):
            if name in values:
                printer.print_string(", ")
                print_stripped(printer, values[name])
        if "ndShardSpec" in values:
            printer.print_string(", ndShardSpec = ")
            print_stripped(printer, values["ndShardSpec"])


def _parse_thread(parser: AttrParser) -> Values:
    """``<kind, @kernel, dm_core = N>``; the kernel and the core are optional."""
    values: Values = {}
    with parser.in_angle_brackets():
        values["threadType"] = syntax_of("ThreadType", "d2m").parse(parser)
        while parser.parse_optional_punctuation(",") is not None:
            if parser.parse_optional_keyword("dm_core") is not None:
                parser.parse_punctuation("=")
                values["dmCoreIndex"] = parser.parse_integer()
            else:
                values["kernelSymbol"] = parser.parse_attribute()
    return values


def _print_thread(printer: Printer, values: Values) -> None:
    with printer.in_angle_brackets():
        printer.print_string(values["threadType"])
        if "kernelSymbol" in values:
            printer.print_string(", ")
            printer.print_attribute(values["kernelSymbol"])
        if "dmCoreIndex" in values:
            printer.print_string(f", dm_core = {values['dmCoreIndex']}")


_CONVOLUTION_KEYS = (("input", "b", "f"), ("kernel", "o", "i"), ("output", "b", "f"))
_ROLES = {"input": ("Batch", "Feature"), "kernel": ("OutputFeature", "InputFeature"), "output": ("Batch", "Feature")}


def parse_convolution_dimensions(parser: AttrParser) -> Values:
    """``[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]``: the dimension of each role."""
    values: Values = {}
    for part, first, second in _CONVOLUTION_KEYS:
        if part == "kernel":
            parser.parse_characters("x")
        elif part == "output":
            parser.parse_characters("->")
        words = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _dimension_role(parser))
        spatial = {word: at for at, word in enumerate(words) if isinstance(word, int)}
        others = {word: at for at, word in enumerate(words) if not isinstance(word, int)}
        if others.keys() != {first, second} or sorted(spatial) != [*range(len(spatial))]:
            parser.raise_error(f"Expected dimensions {first}, {second} and the spatial ones in {words}")
        for role, key in zip(_ROLES[part], (first, second), strict=True):
            values[f"{part}{role}Dimension"] = others[key]
        if spatial:
            values[f"{part}SpatialDimensions"] = tuple(spatial[number] for number in sorted(spatial))
    return values


def _dimension_role(parser: AttrParser) -> int | str:
    number = parser.parse_optional_integer(allow_boolean=False)
    return parser.parse_characters(parser._current_token.text) if number is None else number


def convolution_dimensions_text(values: Values) -> str:
    """``[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]``."""
    parts = []
    for part, first, second in _CONVOLUTION_KEYS:
        spatial = values.get(f"{part}SpatialDimensions", ())
        words = {at: str(number) for number, at in enumerate(spatial)}
        for role, key in zip(_ROLES[part], (first, second), strict=True):
            words[values[f"{part}{role}Dimension"]] = key
        parts.append(f"[{', '.join(words[at] for at in sorted(words))}]")
    return f"{parts[0]}x{parts[1]}->{parts[2]}"


def _parse_convolution(parser: AttrParser) -> Values:
    with parser.in_angle_brackets():
        if parser._current_token.text == "raw":
            parser.raise_error("the raw form of convolution dimensions is not read")
        return parse_convolution_dimensions(parser)


def _print_convolution(printer: Printer, values: Values) -> None:
    printer.print_string(f"<{convolution_dimensions_text(values)}>")


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def _named_numbers(*names: str) -> BodySyntax:
    """``<lhs_dims = [0], index_dim = 1>``: parameters that are numbers or lists, by their names in snake case."""
    by_key = {_snake_case(name): name for name in names}

    def parse(parser: AttrParser) -> Values:
        found: Values = {}

        def entry() -> None:
            position = parser.pos
            key = parser.parse_identifier()
            if key not in by_key or by_key[key] in found:
                parser.raise_error(f"expected one of {', '.join(by_key)}, got {key!r}", position)
            parser.parse_punctuation("=")
            numbers = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
            found[by_key[key]] = parser.parse_integer() if numbers is None else tuple(numbers)

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, entry)
        return {name: found[name] for name in names if name in found and found[name] != ()}

    def show(printer: Printer, values: Values) -> None:
        texts = (
            f"{_snake_case(name)} = {[*value] if isinstance(value, tuple) else value}" for name, value in values.items()
        )
        printer.print_string(f"<{', '.join(texts)}>")

    return BodySyntax(parse, show)


def _parse_mapped_types(parser: AttrParser) -> Values:
    """``<key type, value type>``, each of which may be ``Any``; or nothing."""
    if parser._current_token.text != "<":
        return {}
    with parser.in_angle_brackets():
        key = _type_or_any(parser)
        parser.parse_punctuation(",")
        return {"keyType": key, "valueType": _type_or_any(parser)}


def _type_or_any(parser: AttrParser) -> Any:
    return "Any" if parser.parse_optional_keyword("Any") is not None else parser.parse_type()


def _print_mapped_types(printer: Printer, values: Values) -> None:
    if not values:
        return
    with printer.in_angle_brackets():
        printer.print_list(values.values(), lambda each: _print_type_or_any(printer, each))


def _print_type_or_any(printer: Printer, value: Any) -> None:
    if isinstance(value, str):
        printer.print_string(value)
    else:
        printer.print_attribute(value)


def _parse_array_type(parser: AttrParser) -> Values:
    with parser.in_angle_brackets():
        shape, element = parser.parse_ranked_shape()
    return {"shape": tuple(shape), "elementType": element}


def _print_array_type(printer: Printer, values: Values) -> None:
    printer.print_string(f"<{dimensions_text(values['shape'])}x")
    printer.print_attribute(values["elementType"])
    printer.print_string(">")


_DOT = ("lhsBatchingDimensions", "rhsBatchingDimensions", "lhsContractingDimensions", "rhsContractingDimensions")
_GATHER = (
    "offsetDims",
    "collapsedSliceDims",
    "operandBatchingDims",
    "startIndicesBatchingDims",
    "startIndexMap",
    "indexVectorDim",
)
_SCATTER = (
    "updateWindowDims",
    "insertedWindowDims",
    "inputBatchingDims",
    "scatterIndicesBatchingDims",
    "scatterDimsToOperandDims",
    "indexVectorDim",
)


def _parse_dimension_sharding(parser: AttrParser) -> Values:
    """``{"a", "b", ?}p1``: axes, whether more may follow, a priority."""
    axes: list[Any] = []
    values: Values = {"is_closed": True}
    one = syntax_of("AxisRefAttr", "sdy")
    with parser.in_braces():
        while parser._current_token.text != "}":
            if axes:
                parser.parse_punctuation(",")
            if parser.parse_optional_punctuation("?") is not None:
                values["is_closed"] = False
                break
            axes.append(one.parse(parser))
    position, priority = parser.pos, parser.parse_optional_identifier()
    if priority is not None:
        if re.fullmatch(r"p(0|[1-9]\d*)", priority) is None:
            parser.raise_error(f"expecting priority in format 'p<number>', got: {priority}", position)
        values["priority"] = int(priority[1:])
    return ({"axes": tuple(axes)} if axes else {}) | values


def _print_dimension_sharding(printer: Printer, values: Values) -> None:
    axes = values.get("axes", ())
    with printer.in_braces():
        printer.print_list(axes, lambda axis: print_body(printer, axis))
        if not values["is_closed"]:
            printer.print_string(", ?" if axes else "?")
    if "priority" in values:
        printer.print_string(f"p{values['priority']}")


def _parse_dimension_mapping(parser: AttrParser) -> Values:
    factors = parser.parse_optional_identifier()
    return {"factor_indices": factors} if factors else {}


def _print_dimension_mapping(printer: Printer, values: Values) -> None:
    printer.print_string(values.get("factor_indices", ""))


def _parse_uniform(parser: AttrParser) -> Values:
    """``<i8<-128:127>:f32:1, {0.1:0, 0.2}>``: storage, expressed type, axis, scales and zero points."""
    values: Values = {}
    with parser.in_angle_brackets():
        values["storageType"] = parser.parse_type()
        if parser.parse_optional_punctuation("<") is not None:
            low = parser.parse_integer()
            parser.parse_punctuation(":")
            values["range"] = (low, parser.parse_integer())
            parser.parse_punctuation(">")
        parser.parse_punctuation(":")
        values["expressedType"] = parser.parse_type()
        if parser.parse_optional_punctuation(":") is not None:
            values["axis"] = parser.parse_integer()
        parser.parse_punctuation(",")
        if parser._current_token.text == "{":
            pairs = parser.parse_comma_separated_list(parser.Delimiter.BRACES, lambda: _scale_and_zero(parser))
            values["quantization"] = tuple(pairs)
        else:
            values["quantization"] = (_scale_and_zero(parser),)
    return values


def _scale_and_zero(parser: AttrParser) -> tuple[float, int]:
    scale = float(parser.parse_number())
    return scale, parser.parse_integer() if parser.parse_optional_punctuation(":") is not None else 0


def _print_uniform(printer: Printer, values: Values) -> None:
    printer.print_string("<")
    printer.print_attribute(values["storageType"])
    if "range" in values:
        printer.print_string("<{}:{}>".format(*values["range"]))
    printer.print_string(":")
    printer.print_attribute(values["expressedType"])
    if "axis" in values:
        printer.print_string(f":{values['axis']}")
    pairs = [f"{float_text(scale, f64)}" + (f":{zero}" if zero else "") for scale, zero in values["quantization"]]
    is_list = "axis" in values
    printer.print_string(f", {'{' if is_list else ''}{', '.join(pairs)}{'}' if is_list else ''}>")


BY_HAND = {
    ("quant.uniform", True): BodySyntax(_parse_uniform, _print_uniform),
    ("sdy.dimension_sharding", False): BodySyntax(_parse_dimension_sharding, _print_dimension_sharding),
    ("sdy.dim_mapping", False): BodySyntax(_parse_dimension_mapping, _print_dimension_mapping),
    ("stablehlo.dot", False): _named_numbers(*_DOT),
    ("stablehlo.gather", False): _named_numbers(*_GATHER),
    ("stablehlo.scatter", False): _named_numbers(*_SCATTER),
    ("stablehlo.conv", False): BodySyntax(_parse_convolution, _print_convolution),
    ("emitpy.dict", True): BodySyntax(_parse_mapped_types, _print_mapped_types),
    ("emitc.array", True): BodySyntax(_parse_array_type, _print_array_type),
    ("ttnn.memory_config", False): BodySyntax(_parse_memory_config, _print_memory_config),
    ("d2m.thread", False): BodySyntax(_parse_thread, _print_thread),
}
"""Name, and whether it is a type -> the syntax of its body."""
