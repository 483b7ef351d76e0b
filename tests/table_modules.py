"""Modules of one operation of TTNN with all of its operands and attributes, made of its row in the tables."""

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, FunctionType, IntegerAttr, ModuleOp, f32, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from ttnn_jit.binaries.attribute_trees import attribute_text, snake
from ttnn_jit.binaries.constants import elements_attribute
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.rewriting.attributes_of_values import attribute_of_value
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed, parsed_type
from ttnn_jit.dialects.upstream.rewriting.rewriter import operation_kind
from ttnn_jit.dialects.upstream.segment_sizes import NAMES
from ttnn_jit.schemas.schema import Enum, Record, Scalar, Text, Union, Vector

LAYOUT = (
    "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<l1>>, "
    "<interleaved>>"
)
TENSOR = parsed_type(f"tensor<32x32xbf16, {LAYOUT}>")
SPECIAL = {
    "#ttnn.mesh_shape": "#ttnn<mesh_shape 1x1>",
    "#ttnn.mesh_offset": "#ttnn<mesh_offset 0x0>",
    "#ttnn.shape": "#ttnn.shape<32x32>",
    "#ttnn.memory_config": "#ttnn.memory_config<#ttnn.buffer_type<l1>, <interleaved>>",
    "#ttcore.supportedDataTypes": "#ttcore.supportedDataTypes<bf16>",
    "#ttnn.layout": "#ttnn.layout<tile>",
}


def value_of_type(schema, type_):
    """A value of a field, other than its default."""
    match type_:
        case Scalar(code="?"):
            return True
        case Scalar(code="f" | "d"):
            return 2.5
        case Scalar():
            return 3
        case Enum():
            return [*type_.numbers][-1]
        case Text():
            return "text"
        case Vector(element=element):
            return [value_of_type(schema, element)] * 2
        case Record():
            return {
                name: value_of_type(schema, field.type)
                for name, field in type_.fields.items()
                if not isinstance(field.type, Union)
            }


def attribute_of(schema, kind, field):
    """An attribute of a kind, which a field of the schema holds."""
    if kind in SPECIAL:
        return parsed(SPECIAL[kind])
    if kind.startswith("#"):
        rows = tables.attribute_rows(kind[1:], is_type=False)
        if field is not None and isinstance(field.type, Record):
            wanted = {snake(each.name) for each in rows[0].parameters}
            tree = value_of_type(schema, field.type)
            return parsed(attribute_text(kind[1:], tree)) if wanted else None
        return parsed(f"{kind}<{tables.enum_cases(rows[0].parameters[0].cpp_type, 'ttnn')[-1]}>")
    simple = {"c1": FloatAttr(2.5, f32), "c7": DenseArrayBase.from_list(i32, [2, 3]), "StrAttr": None}
    if simple.get(kind) is not None:
        return simple[kind]
    if kind == "ElementsAttr":
        return elements_attribute(bytes(range(256)) * 8, "bf16", (32, 32))
    value = "text" if kind == "StrAttr" else [1, 2] if "Array" in kind else 1
    return attribute_of_value(value, kind)


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


__all__ = ["IntegerAttr", "module_of_operation"]
