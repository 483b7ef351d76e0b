"""Makes the tree of a binary of a module of TTNN."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.binaries.attribute_trees import DATA_TYPES, case_of, fitted, fitted_field, tree_of
from ttnn_jit.binaries.constants import number_of_chain, raw_elements
from ttnn_jit.binaries.operation_rows import (
    REFUSED_TABLES,
    OperationTable,
    record_of,
    row_of,
    rows_of,
    table_of_operation,
)
from ttnn_jit.binaries.system_trees import system_tree
from ttnn_jit.binaries.tensor_descriptions import data_type_of, description, known_fields, layout_of, memory_config_tree
from ttnn_jit.diagnostics.errors import CompileError, TtnnJitError
from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.spelling.naming import names_of
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.text_calls.op_calls import OF_UNCHECKED_ATTRIBUTES
from ttnn_jit.dialects.text_calls.text_attributes import name_of, symbol_of
from ttnn_jit.dialects.upstream.rewriting.attributes_of_values import default_of
from ttnn_jit.dialects.upstream.rewriting.rewriter import mesh_of
from ttnn_jit.dialects.upstream.table_operations import named_operands, named_results
from ttnn_jit.dialects.upstream.tables import OperationRow
from ttnn_jit.frontend.ir.texts import entries_of, functions_in
from ttnn_jit.schemas.schema import Field, Record, Schema, Union, Vector, schema

Tree = dict[str, Any]
_DEVICE, _SEMAPHORE = "!ttnn.device", "!ttnn.global_semaphore"
_HOST = "SystemMemory"


def has_tables(module: ModuleOp) -> bool:
    """Whether a binary has tables for all operations of the module's functions."""
    known = {"func.return"}
    return all(
        name_of(op) in known or table_of_operation(schema(), name_of(op)) is not None
        for function in functions_in(module).values()
        for op in function.body.block.ops
    )


def programs_of(module: ModuleOp) -> dict[str, FuncOp]:
    """The functions that become programs: entries first, then those that they call, by name."""
    entries, functions = entries_of(module), functions_in(module)
    return {name: functions[name] for name in entries} | functions


class ModuleWriter:
    """Makes the tree of a binary.

    Args:
        module: A module of TTNN.
        types: The schema; only the newest is one of files that are written.

    Raises:
        CompileError: A binary has no table for an operation, a type or an attribute of it.
    """

    def __init__(self, module: ModuleOp, types: Schema | None = None) -> None:
        self.schema = schema() if types is None else types
        self.functions = programs_of(module)
        self.indices = {name: index for index, name in enumerate(self.functions)}
        self.entries = {*entries_of(module)}
        self.with_operations = True
        self._module = module
        self._ids = 0

    def tree(self, debug_info: Tree | None = None, *, with_operations: bool = True) -> Tree:
        """The tree of the root table, without version and hashes.

        Args:
            debug_info: Goldens and texts of stages that every program has.
            with_operations: Whether programs have their operations, for which a binary needs tables.
        """
        self.with_operations = with_operations
        return {
            "system_desc": system_tree(self.schema, self._module),
            "mlir": {"name": "ttnn", "source": print_module(self._module, locations=True)},
            "programs": [_ProgramWriter(self, function).tree(debug_info) for function in self.functions.values()],
        }

    def next_id(self) -> int:
        """A number for a value that no other one has."""
        self._ids += 1
        return self._ids


class _ProgramWriter:
    """Makes the tree of one program."""

    def __init__(self, module: ModuleWriter, function: FuncOp) -> None:
        self.module, self.function, self.schema = module, function, module.schema
        self.mesh = mesh_of(function)
        self._names = names_of(function)
        self._references: dict[SSAValue, Tree] = {}

    def tree(self, debug_info: Tree | None) -> Tree:
        """The tree."""
        arguments, results = self.function.arg_attrs, self.function.res_attrs
        block = self.function.body.block
        given = [
            (value, self.reference(value, arguments.data[index].data if arguments else {}))
            for index, value in enumerate(block.args)
        ]
        operations = [self._opened(tree) for value, tree in given if str(value.type) == _DEVICE]
        outputs: list[Tree] = []
        for op in block.ops:
            if name_of(op) == "func.return":
                attributes: list[Any] = [each.data for each in results] if results else [{}] * len(op.operands)
                outputs = [self.reference(*each) for each in zip(op.operands, attributes, strict=True)]
            elif self.module.with_operations:
                operations.append(self._operation(op))
        rows, columns = ([1, 1, *self.mesh])[-2:]
        tree = {
            "name": self.function.sym_name.data,
            "inputs": [tree for value, tree in given if isinstance(value.type, TensorType)],
            "outputs": outputs,
            "operations": operations,
            "dylibs": [],
            "debug_info": debug_info or {"mlir_stages": [], "golden_info": {"golden_map": []}},
            "private": self.function.sym_name.data not in self.module.entries,
            "mesh_shape": {"y": rows, "x": columns},
        }
        for value, _ in given:
            if not isinstance(value.type, TensorType) and str(value.type) not in {_DEVICE, _SEMAPHORE}:
                raise CompileError(f"a binary has no input of {value.type}", location=location_of(self.function))
        semaphores = [tree for value, tree in given if str(value.type) == _SEMAPHORE]
        return known_fields(self.schema.record("ttnn.Program"), tree | {"semaphore_inputs": semaphores})

    def _opened(self, reference: Tree) -> Tree:
        """The operation that opens a device, for a function that gets it as an argument."""
        rows, columns = ([1, 1, *self.mesh])[-2:]
        mesh, chips = {"y": rows, "x": columns}, [*range(rows * columns)]
        opened = {"mesh": mesh, "offset": {"y": 0, "x": 0}, "chip_ids": chips, "out": reference}
        return {"type_type": "GetDeviceOp", "type": opened, "debug_info": "", "loc_info": "loc(unknown)"}

    def reference(self, value: SSAValue, attributes: Mapping[str, Attribute] | None = None) -> Tree:
        """The reference of a value: its number, and of a tensor its description."""
        found = self._references.get(value)
        if found is None:
            found = {"global_id": self.module.next_id()}
            if isinstance(value.type, TensorType):
                status, local = _sharding(attributes or {})
                found["desc"] = self._described(value, status, local)
            self._references[value] = found
        elif attributes and "desc" in found:
            status, local = _sharding(attributes)
            return found | {"desc": self._described(value, status, local)}
        return found

    def _described(self, value: SSAValue, status: str, local: Sequence[int] | None) -> Tree:
        """The description of a tensor.

        Raises:
            CompileError: Its layout contradicts its type.
        """
        try:
            return description(self.schema, value.type, self.mesh, status, local)
        except TtnnJitError:
            raise
        except OF_UNCHECKED_ATTRIBUTES as error:
            owner = value.owner if isinstance(value.owner, Operation) else self.function
            raise CompileError(f"a binary has no tensor of {value.type}", location=location_of(owner)) from error

    def _operation(self, op: Operation) -> Tree:
        name = name_of(op)
        table = table_of_operation(self.schema, name)
        try:
            if table is None:
                raise CompileError(f"a binary has no table for `{name}`")
            if table.variant in REFUSED_TABLES:
                raise CompileError(f"`{name}` is not written to a binary: it holds {REFUSED_TABLES[table.variant]}")
            tree = _OperationWriter(self, op, table).tree()
        except TtnnJitError as error:
            if error.location is not None:
                raise
            raise CompileError(error.message, location=location_of(op), help=error.help) from error
        except OF_UNCHECKED_ATTRIBUTES as error:
            said = f"`{name}`: its operands, attributes and results do not fit one another"
            raise CompileError(said, location=location_of(op)) from error
        return {
            "type_type": table.variant,
            "type": tree,
            "debug_info": op_text(op, locations=True, local_scope=True, names=self._names).strip(),
            "loc_info": str(op.location),
        }


def _sharding(attributes: Mapping[str, Attribute]) -> tuple[str, Sequence[int] | None]:
    """What attributes of an argument or result say of its parts on devices."""
    status = str(attributes.get("ttcore.shard_status", ""))
    local = getattr(attributes.get("ttcore.local_shape"), "value", lambda _: None)("localShape")
    shape = local.get_shape() if isinstance(local, TensorType) else None
    return "Presharded" if "presharded" in status else "Unsharded", shape


class _OperationWriter:
    """Makes the tree of one operation."""

    def __init__(self, program: _ProgramWriter, op: Operation, table: OperationTable) -> None:
        self.program, self.op, self.table, self.schema = program, op, table, program.schema
        self.row = _fitting_row(self.schema, op, table)
        self.operands = _named(self.row, op, "operands")
        self.results = _named(self.row, op, "results")
        self.attributes = {**op.attributes, **op.properties}

    def tree(self) -> Tree:
        """The tree."""
        return self._record(record_of(self.schema, self.table.variant))

    def _record(self, record: Record) -> Tree:
        found: Tree = {}
        for field in record.fields.values():
            part = self._field(field)
            # The host has no memory config.
            if not any(isinstance(each, dict) and each.get("buffer_type") == _HOST for each in part.values()):
                found |= part
        return found

    def _field(self, field: Field) -> Tree:
        if field.name == "type" and self.table.case:
            return {"type": self.table.case}
        if field.name in self.table.variants:
            variant = self.table.variants[field.name]
            assert isinstance(field.type, Union)
            table = self.schema.record(field.type.variants[field.type.tags[variant]][1])
            return {f"{field.name}_type": variant, field.name: self._record(table)}
        source = self.table.source(field, self.row)
        if source.startswith("@"):
            computed = self._computed(source, field)
            return {} if computed is None else {field.name: computed}
        for group in (self.operands, self.results):
            if source in group:
                return self._values(field, group[source])
        return fitted_field(self.schema, field.name, field.type, self._attribute(source)) if source else {}

    def _values(self, field: Field, values: Sequence[SSAValue]) -> Tree:
        """A field that holds operands or results."""
        if isinstance(field.type, Vector) and not isinstance(field.type.element, Union):
            return {field.name: [self.program.reference(value) for value in values]}
        if not values:
            return {}
        if isinstance(field.type, Vector):
            variants = ["TensorRef" if isinstance(each.type, TensorType) else "GlobalSemaphoreRef" for each in values]
            return {f"{field.name}_type": variants, field.name: [self.program.reference(value) for value in values]}
        if isinstance(field.type, Union):
            return self._quantity(field, values[0])
        return {field.name: self.program.reference(values[0])}

    def _quantity(self, field: Field, value: SSAValue) -> Tree:
        """A scale or a zero point: the number of a constant, else the tensor."""
        number = number_of_chain(value)
        assert isinstance(field.type, Union)
        per_tensor, per_axis = field.type.tags
        variant = per_axis if number is None else per_tensor
        table = self.schema.record(field.type.variants[field.type.tags[variant]][1])
        inner = next(iter(table.fields.values()))
        held = self.program.reference(value) if number is None else fitted(self.schema, inner.type, number)
        return {f"{field.name}_type": variant, field.name: {inner.name: held}}

    def _attribute(self, name: str) -> Any:
        found = self.attributes.get(name)
        if found is None:
            declared = next((each for each in self.row.attributes if each.name == name), None)
            stated = declared is not None and declared.default
            found = default_of(declared.default, declared.kind) if declared is not None and stated else None
        return None if found is None else tree_of(found)

    def _computed(self, source: str, field: Field) -> Any:
        name, _, argument = source[1:].rstrip(")").partition("(")
        return _COMPUTED[name](self, field, argument)

    def first_type(self) -> TensorType[Any] | None:
        """The type of the first result that is a tensor; of an operation without any, of its first operand."""
        values = [*self.op.results, *self.op.operands]
        return next((each.type for each in values if isinstance(each.type, TensorType)), None)

    def callee(self, name: str) -> str:
        """The function to which an attribute refers."""
        found = self.attributes.get(name)
        if found is None:
            raise CompileError(f"a binary has no `{name_of(self.op)}` without `{name}`", help=_NEWEST_FORM)
        assert isinstance(found, SymbolRefAttr)
        return symbol_of(found)

    def program_index(self, name: str) -> int:
        """The index of the program that an attribute refers to."""
        callee = self.callee(name)
        if callee not in self.program.module.indices:
            raise CompileError(f"a binary has no program for @{callee}, which has no body")
        return self.program.module.indices[callee]


_NEWEST_FORM = "binaries are those of August 2026: make the text with `--ir-version 2026-08`"


def _fitting_row(schema_: Schema, op: Operation, table: OperationTable) -> OperationRow:
    """The declaration of an operation that has all of its attributes, the schema's version first."""
    rows = rows_of(table.name)
    given = op.properties.keys() - {"operandSegmentSizes", "resultSegmentSizes"}
    fits = [row for row in rows if given <= {each.name for each in row.attributes}]
    newest = row_of(schema_, table.name)
    return newest if newest in fits or not fits else fits[0]


def _named(row: OperationRow, op: Operation, which: str) -> Mapping[str, Sequence[SSAValue]]:
    if row.name == "func.call":
        return {"inputs": op.operands} if which == "operands" else {"results": op.results}
    try:
        return named_operands(op) if which == "operands" else named_results(op)
    except ValueError as error:
        raise CompileError(str(error)) from error


def _stated_or(name: str, computed: Callable[[_OperationWriter, TensorType[Any], Field], Any]) -> Any:
    """What an attribute of December's form states, else what the type of the result says."""

    def find(writer: _OperationWriter, field: Field, _: str) -> Any:
        stated = writer.attributes.get(name)
        if stated is not None:
            return fitted(writer.schema, field.type, tree_of(stated))
        type_ = writer.first_type()
        return None if type_ is None else computed(writer, type_, field)

    return find


def _program_hash(writer: _OperationWriter, _: Field, argument: str) -> str:
    """A hash of a function's text: equal functions have equal results on equal tensors."""
    function = writer.program.module.functions[writer.callee(argument)]
    return hashlib.sha256(str(function.body).encode()).hexdigest()


_COMPUTED: Mapping[str, Callable[[_OperationWriter, Field, str], Any]] = {
    "memory_config": _stated_or(
        "memory_config", lambda writer, type_, _: memory_config_tree(writer.schema, layout_of(type_))
    ),
    "data_type": _stated_or("dtype", lambda _, type_, field: case_of(field.type, layout_of(type_).data_type)),
    "layout": _stated_or("layout", lambda _, type_, __: "Tile" if layout_of(type_).tile else "RowMajor"),
    "results": lambda writer, _, __: [writer.program.reference(each) for each in writer.op.results],
    "bytes": lambda writer, _, __: raw_elements(writer.attributes["value"]),
    "element": lambda writer, _, __: DATA_TYPES[data_type_of(writer.attributes["value"].type.element_type)],  # type: ignore[attr-defined]
    "chips": lambda writer, _, __: [*range(max(1, _volume(writer.program.mesh)))],
    "program": lambda writer, _, argument: writer.program_index(argument),
    "hash": _program_hash,
}
"""What is computed for a field -> how."""


def _volume(mesh: Sequence[int]) -> int:
    volume = 1
    for extent in mesh:
        volume *= extent
    return volume


__all__ = ["ModuleWriter", "has_tables", "programs_of"]
