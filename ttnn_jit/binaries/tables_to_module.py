"""Makes a module of TTNN of the tables of a binary.

Only tables are read: the text of the module that a binary also holds has no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, FunctionType, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttnn_jit.binaries.attribute_reading import attribute_of_field
from ttnn_jit.binaries.constants import elements_attribute
from ttnn_jit.binaries.location_texts import location_of_text
from ttnn_jit.binaries.operation_rows import REFUSED_TABLES, operations_by_table, record_of, row_of
from ttnn_jit.binaries.system_trees import description_attribute
from ttnn_jit.binaries.tensor_descriptions import TRACE_NUMBER, element_of, tensor_type
from ttnn_jit.diagnostics.errors import ProgramFormatError, TtnnJitError
from ttnn_jit.dialects.ttcore import SYSTEM_DESC
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed, parsed_type
from ttnn_jit.dialects.upstream.rewriting.rewriter import operation_kind
from ttnn_jit.dialects.upstream.segment_sizes import NAMES
from ttnn_jit.dialects.upstream.tables import OperationRow
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.schemas.schema import Field, Record, Schema, Union

Tree = Mapping[str, Any]
HELD_NUMBER = "ttnn_jit.held_number"
"""Marks the operation that is made of a number in the table of its user, and has no table of its own."""
_DEVICE, _SEMAPHORE = "!ttnn.device", "!ttnn.global_semaphore"


def module_of_tree(schema: Schema, tree: Tree) -> ModuleOp:
    """The module of the programs of a binary.

    Args:
        schema: The schema that the tree is of.
        tree: The root table.

    Raises:
        ProgramFormatError: The tables are no program: a value is read before it is made, a field is missing, an index
            names no program.
    """
    programs = tree.get("programs", [])
    names = [each.get("name", "") for each in programs]
    if len({*names}) != len(names) or "" in names:
        raise ProgramFormatError("programs have no names, or two have one")
    functions: list[Operation] = []
    for index, program in enumerate(programs):
        try:
            functions.append(_ProgramReader(schema, names, program).function())
        except TtnnJitError as error:
            raise ProgramFormatError(f"program {index}: {error.message}") from error
    module = ModuleOp(functions)
    if "system_desc" in tree:
        module.attributes[SYSTEM_DESC] = description_attribute(tree["system_desc"])
    meshes = {(each["y"], each["x"]) for program in programs if (each := program.get("mesh_shape")) is not None}
    if len(meshes) == 1 and meshes != {(1, 1)}:
        rows, columns = meshes.pop()
        module.attributes["ttcore.meshes"] = _mesh(rows, columns)
    return module


_MAX_DEVICES = 2**12
"""More devices than any system has: a damaged number of them would be as many steps of every operation."""


def _mesh(rows: int, columns: int) -> Attribute:
    if min(rows, columns) < 1:
        raise ProgramFormatError(f"a mesh has the shape {rows}x{columns}")
    if rows * columns > _MAX_DEVICES:
        raise ProgramFormatError(f"a mesh has {rows}x{columns} devices, and at most {_MAX_DEVICES} are executed")
    return parsed(f'#ttcore.meshes<[<"mesh" = {rows}x{columns}>]>')


@dataclass(frozen=True)
class _Held:
    """A value of a field that has a source.

    Attributes:
        field: The field.
        value: Its value.
        variant: That of a union.
    """

    field: Field
    value: Any
    variant: Any


class _ProgramReader:
    """Makes the function of one program."""

    def __init__(self, schema: Schema, names: Sequence[str], program: Tree) -> None:
        self.schema, self.names, self._program = schema, names, program
        self._values: dict[tuple[str, int], SSAValue] = {}
        self._described: dict[int, tuple[list[int], str]] = {}
        self._block = Block()
        made = (each.get("type", {}) for each in program.get("operations", []))
        numbers = (each["trace_id"] for each in made if isinstance(each.get("trace_id"), Mapping))
        self._traces = {each.get("global_id") for each in numbers}

    def function(self) -> FuncOp:
        """The function."""
        program = self._program
        for tree in program.get("inputs", []):
            self._define("tensor", tree, self._block.insert_arg(self.tensor(tree), len(self._block.args)))
        for tree in program.get("semaphore_inputs", []):
            self._define("semaphore", tree, self._block.insert_arg(parsed_type(_SEMAPHORE), len(self._block.args)))
        for index, operation in enumerate(program.get("operations", [])):
            try:
                self._block.add_op(_OperationReader(self, operation).operation())
            except TtnnJitError as error:
                raise ProgramFormatError(f"operation {index}: {error.message}") from error
        results = [self.value("tensor", tree) for tree in program.get("outputs", [])]
        self._block.add_op(ReturnOp(*results))
        types = FunctionType.from_lists([each.type for each in self._block.args], [each.type for each in results])
        visibility = StringAttr("private") if program.get("private") else None
        return FuncOp(program["name"], types, Region(self._block), visibility=visibility)

    def tensor(self, tree: Tree) -> Attribute:
        """The type of a tensor."""
        if "desc" not in tree:
            raise ProgramFormatError(f"tensor {tree['global_id']} has no description")
        found = tensor_type(tree["desc"])
        is_number = tree.get("global_id") in self._traces and str(found).startswith("tensor<ui32,")
        return TRACE_NUMBER if is_number else found

    def _define(self, space: str, tree: Tree, value: SSAValue) -> None:
        number = tree["global_id"]
        if (space, number) in self._values:
            raise ProgramFormatError(f"{space} {number} is made twice")
        self._values[space, number] = value
        if space == "tensor":
            self._described[number] = _outline(tree)

    def define(self, values: Sequence[tuple[str, Tree]], made: Sequence[SSAValue]) -> None:
        """Names the results of an operation."""
        for (space, tree), value in zip(values, made, strict=True):
            self._define(space, tree, value)

    def value(self, space: str, tree: Tree) -> SSAValue:
        """The value of a reference."""
        number = tree["global_id"]
        found = self._values.get((space, number))
        if found is None:
            raise ProgramFormatError(f"{space} {number} is read before it is made")
        if space == "tensor" and "desc" in tree and _outline(tree) != self._described[number]:
            raise ProgramFormatError(f"tensor {number} has two descriptions")
        return found


def _outline(tree: Tree) -> tuple[list[int], str]:
    """Shape and data type of a tensor."""
    desc = tree["desc"]
    return desc.get("shape", []), desc.get("layout", {}).get("memory_desc", {}).get("data_type", "")


class _OperationReader:
    """Makes one operation."""

    def __init__(self, program: _ProgramReader, operation: Tree) -> None:
        self.program, self.schema = program, program.schema
        variant, tree = operation.get("type_type"), operation.get("type")
        if not isinstance(variant, str) or tree is None:
            raise ProgramFormatError("it has no type")
        if variant in REFUSED_TABLES:
            raise ProgramFormatError(f"{variant} is not executed here: it holds {REFUSED_TABLES[variant]}")
        case = tree.get("type") if isinstance(tree.get("type"), str) else ""
        table = operations_by_table(self.schema).get((variant, case or ""))
        if table is None:
            raise ProgramFormatError(f"{variant}{f' of {case}' if case else ''} is no operation that is executed here")
        self.table, self.name = table, table.name
        self._location = operation.get("loc_info", "")
        self.row: OperationRow = row_of(self.schema, table.name)
        self.held = dict(self._sources(record_of(self.schema, variant), tree))

    def _sources(self, record: Record, tree: Tree) -> Iterator[tuple[str, _Held]]:
        """Name of an operand, attribute or result -> what the fields hold for it."""
        for field in record.fields.values():
            value = tree.get(field.name)
            variant = tree.get(f"{field.name}_type", "")
            if field.name in self.table.variants and value is not None:
                assert isinstance(field.type, Union)
                if variant != self.table.variants[field.name]:
                    raise ProgramFormatError(f"{record.name} has {variant} for {field.name}")
                yield from self._sources(self.schema.record(field.type.variants[field.type.tags[variant]][1]), value)
                continue
            source = self.table.source(field, self.row)
            if source and value is not None:
                yield source, _Held(field, value, variant)

    def operation(self) -> Operation:
        """The operation."""
        groups = [self._operands(each.name, each.count, each.constraint) for each in self.row.operands]
        references = self._results()
        properties = dict(self._properties())
        if self.row.has("AttrSizedOperandSegments"):
            properties[NAMES["operands"]] = DenseArrayBase.from_list(i32, [len(group) for group in groups])
        if self.row.has("AttrSizedResultSegments"):
            sizes = [int(each.name in self.held) for each in self.row.results]
            properties[NAMES["results"]] = DenseArrayBase.from_list(i32, sizes)
        made = operation_kind(self.name).create(
            operands=[value for group in groups for value in group],
            result_types=[self._type(space, tree) for space, tree in references],
            properties=properties,
        )
        made.location = location_of_text(self._location)
        self.program.define(references, made.results)
        return made

    def _type(self, space: str, tree: Tree) -> Attribute:
        if space == "tensor":
            return self.program.tensor(tree)
        return parsed_type(_DEVICE if space == "device" else _SEMAPHORE)

    def _operands(self, name: str, count: str, constraint: str) -> list[SSAValue]:
        held = self.held.get(name)
        if held is None:
            if count == "" and constraint == _DEVICE:
                return [self._device()]
            if count == "":
                raise ProgramFormatError(f"`{self.name}` has no {name}")
            return []
        values = held.value if isinstance(held.value, list) else [held.value]
        if held.variant and not isinstance(held.variant, list):
            return [self._quantity(held)]
        if count != "*" and len(values) != 1:
            raise ProgramFormatError(f"`{self.name}` has {len(values)} values for {name}")
        space = _space(constraint)
        variants = held.variant if isinstance(held.variant, list) else [space] * len(values)
        spaces = ["semaphore" if each == "GlobalSemaphoreRef" else space for each in variants]
        return [self.program.value(*each) for each in zip(spaces, values, strict=True)]

    def _device(self) -> SSAValue:
        """The device of an operation whose table does not name it."""
        found = next((value for (space, _), value in self.program._values.items() if space == "device"), None)
        if found is None:
            raise ProgramFormatError(f"`{self.name}` needs a device, and none is opened before it")
        return found

    def _quantity(self, held: _Held) -> SSAValue:
        """The tensor of a scale or a zero point, which a binary may hold as a number."""
        inner = next(iter(held.value.values()))
        if isinstance(inner, Mapping):
            return self.program.value("tensor", inner)
        is_float = isinstance(inner, float)
        type_ = parsed_type(f"tensor<1x{'f32' if is_float else 'si32'}>")
        kind, value = ("F32Attr", inner) if is_float else ("I32Attr", inner)
        properties = {
            "shape": parsed("#ttnn.shape<1>"),
            "fill_value": attribute_of_field(kind, held.field.type.variants, value),
        }
        made = operation_kind("ttnn.full").create(result_types=[type_], properties=properties)
        made.attributes[HELD_NUMBER] = UnitAttr()
        self.program._block.add_op(made)
        return made.results[0]

    def _results(self) -> list[tuple[str, Tree]]:
        """The references of the results, with what kind of value they are."""
        if "@results" in self.held:
            return [("tensor", each) for each in self.held["@results"].value]
        found = []
        for each in self.row.results:
            held = self.held.get(each.name)
            if held is None and each.count == "":
                raise ProgramFormatError(f"`{self.name}` has no {each.name}")
            if held is not None:
                found.append((_space(each.constraint), held.value))
        return found

    def _properties(self) -> Iterator[tuple[str, Attribute]]:
        """The attributes."""
        for each in self.row.attributes:
            held = self.held.get(each.name) or self.held.get(_STATED.get(each.name, ""))
            program = self.held.get(f"@program({each.name})")
            if program is not None:
                yield each.name, SymbolRefAttr(self._program_name(program.value, held))
            elif each.name == "value" and "@bytes" in self.held:
                yield each.name, self._constant()
            elif held is not None:
                yield each.name, attribute_of_field(each.kind, held.field.type, held.value, held.variant)
            elif not each.is_optional and each.kind == "#ttnn.memory_config":
                yield each.name, parsed("#ttnn.memory_config<#ttnn.buffer_type<system_memory>>")
            elif not each.is_optional and not each.default and each.kind != "UnitAttr":
                raise ProgramFormatError(f"`{self.name}` has no {each.name}")

    def _program_name(self, index: int, stated: _Held | None) -> str:
        if index >= len(self.program.names):
            raise ProgramFormatError(f"`{self.name}` names program {index} of {len(self.program.names)}")
        name = self.program.names[index]
        if stated is not None and stated.value != name:
            raise ProgramFormatError(f"`{self.name}` names the program @{stated.value}, and @{name} by its index")
        return name

    def _constant(self) -> Attribute:
        element = element_of(self.held["@element"].value)
        shape = self.held["result"].value.get("desc", {}).get("shape", [])
        return elements_attribute(self.held["@bytes"].value, element, tuple(shape))


_STATED = {"memory_config": "@memory_config", "dtype": "@data_type", "layout": "@layout"}
"""Attribute of December's form -> what a field holds for it under another name."""


def _space(constraint: str) -> str:
    return {_DEVICE: "device", _SEMAPHORE: "semaphore"}.get(constraint, "tensor")
