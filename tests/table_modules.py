"""Modules of one operation of TTNN with all of its operands and attributes, made of its row in the tables."""

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, FunctionType, ModuleOp, f32, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from ttnn_jit.binaries.attribute_trees import attribute_text, keyword_of
from ttnn_jit.binaries.constants import elements_attribute
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.rewriting.attributes_of_values import attribute_of_value
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed, parsed_type
from ttnn_jit.dialects.upstream.rewriting.rewriter import operation_kind
from ttnn_jit.dialects.upstream.segment_sizes import NAMES
from ttnn_jit.schemas.schema import Enum, Record, Union, Vector

LAYOUT = (
    "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<l1>>, "
    "<interleaved>>"
)
TENSOR = parsed_type(f"tensor<32x32xbf16, {LAYOUT}>")
SPECIAL = {
    "#ttnn.mesh_shape": parsed("#ttnn<mesh_shape 1x1>"),
    "#ttnn.mesh_offset": parsed("#ttnn<mesh_offset 0x0>"),
    "#ttnn.shape": parsed("#ttnn.shape<32x32>"),
    "#ttnn.memory_config": parsed("#ttnn.memory_config<#ttnn.buffer_type<l1>, <interleaved>>"),
    "#ttcore.supportedDataTypes": parsed("#ttcore.supportedDataTypes<bf16>"),
    "#ttnn.layout": parsed("#ttnn.layout<tile>"),
    "c1": FloatAttr(2.5, f32),
    "c7": DenseArrayBase.from_list(i32, [2, 3]),
    "I64ElementsAttr": attribute_of_value([[0, 1], [1, 0]], "I64ElementsAttr"),
    "ElementsAttr": elements_attribute(bytes(range(256)) * 8, "bf16", (32, 32)),
}
"""Kind of an attribute -> the attribute, of which the rest of an operation depends."""


def value_of_type(schema, type_):
    """A value of a field, other than its default."""
    match type_:
        case Enum():
            return [*type_.numbers][-1]
        case Vector(element=element):
            return [value_of_type(schema, element)] * 2
        case Record():
            fields = type_.fields.values()
            return {each.name: value_of_type(schema, each.type) for each in fields if not isinstance(each.type, Union)}
        case _:
            return {"?": True, "f": 2.5, "d": 2.5}.get(getattr(type_, "code", ""), 3)


def attribute_of(schema, kind, field):
    """An attribute of a kind, which a field of the schema holds."""
    if kind in SPECIAL:
        return SPECIAL[kind]
    if kind.startswith("#"):
        return dialect_attribute(schema, kind[1:], field)
    if field is not None and isinstance(field.type, Union):
        variant, table = [*field.type.variants.values()][-1]
        (name, _) = tables.attribute_of_class(f"{variant}Attr", "ttnn")
        return parsed(attribute_text(name, value_of_type(schema, schema.record(table))))
    return attribute_of_value("text" if kind == "StrAttr" else [1, 2] if "Array" in kind else 1, kind)


def dialect_attribute(schema, name, field):
    """An attribute of several parameters, or a case of an enum."""
    if field is not None and isinstance(field.type, Record):
        return parsed(attribute_text(name, value_of_type(schema, field.type)))
    cpp_type = tables.attribute_rows(name, is_type=False)[0].parameters[0].cpp_type
    if field is not None and isinstance(field.type, Enum):
        return parsed(f"#{name}<{keyword_of([*field.type.numbers][-1], cpp_type, 'ttnn')}>")
    return parsed(f"#{name}<{tables.enum_cases(cpp_type, 'ttnn')[1]}>")


def module_of_operation(schema, row, fields):
    """The module of one operation.

    Args:
        schema: The schema.
        row: Its row.
        fields: Attribute -> the field that holds it.
    """
    block = Block()
    groups = []
    for each in row.operands:
        group = []
        for _ in range(2 if each.count == "*" else 1):
            type_ = parsed_type(each.constraint) if each.constraint.startswith("!") else TENSOR
            if str(type_) == "!ttnn.device":
                device = operation_kind("ttnn.get_device").create(result_types=[type_])
                block.add_op(device)
                group.append(device.results[0])
            else:
                group.append(block.insert_arg(type_, len(block.args)))
        groups.append(group)
    properties = {each.name: attribute_of(schema, each.kind, fields.get(each.name)) for each in row.attributes}
    results = [
        parsed_type(each.constraint) if each.constraint.startswith("!") else TENSOR
        for each in row.results
        for _ in range(2 if each.count == "*" else 1)
    ]
    if row.has("AttrSizedOperandSegments"):
        properties[NAMES["operands"]] = DenseArrayBase.from_list(i32, [len(group) for group in groups])
    if row.has("AttrSizedResultSegments"):
        properties[NAMES["results"]] = DenseArrayBase.from_list(i32, [1] * len(row.results))
    made = operation_kind(row.name).create(
        operands=[value for group in groups for value in group], result_types=results, properties=properties
    )
    block.add_op(made)
    returned = [each for each in made.results if each.type == TENSOR]
    block.add_op(ReturnOp(*returned))
    types = FunctionType.from_lists([each.type for each in block.args], [each.type for each in returned])
    return ModuleOp([FuncOp("main", types, Region(block))])
