"""Which table of a binary holds an operation, and which fields its operands, attributes and results.

Names decide: `ttnn.matmul` is the table MatmulOp, `ttnn.relu` the case Relu of EltwiseUnaryOp, and the attribute
`numericStable` the field `numeric_stable`. `operations.tsv` has a row where they do not agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from ttnn_jit.binaries.attribute_trees import snake
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.tables import Attribute, OperationRow, Value
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.schemas.schema import Enum, Field, Record, Schema, Union

_ROWS = Path(__file__).parent / "operations.tsv"
_EVERYWHERE = {"in": "input", "out": "result", "output": "result", "in0": "input"}
"""Field -> the name that an operation has for it, if it has none of the field's."""
_DIALECTS = {"ttnn", "debug", "func", "ttcore"}
REFUSED_TABLES = {
    "CpuOp": "a function of the host, whose code is a library that another compiler made",
    "GenericOp": "kernels in C++, which tt-metal compiles for the cores of a chip",
}
"""Table that is neither written nor read -> what it holds."""


@dataclass(frozen=True)
class OperationTable:
    """The table of an operation.

    Attributes:
        name: The operation.
        variant: The table, as the union of operations names it.
        case: The case of the field ``type``; "" without one.
        sources: Field -> name of an operand, an attribute or a result, or what is computed, with ``@`` before it.
        variants: Field that is a union -> variant, where the operation decides it.
    """

    name: str
    variant: str
    case: str
    sources: Mapping[str, str]
    variants: Mapping[str, str]

    def source(self, field: Field, row: OperationRow) -> str:
        """The name whose value a field has; "" if the operation has none."""
        stated = self.sources.get(field.name)
        if stated is not None:
            return stated
        names = names_of(row)
        for wanted in (field.name, _EVERYWHERE.get(field.name, "")):
            if wanted in names:
                return names[wanted]
        return _derived(field, row)


@cache
def names_of(row: OperationRow) -> Mapping[str, str]:
    """The names of operands, attributes and results of a row, by their form in fields."""
    return {snake(each.name): each.name for part in (row.results, row.attributes, row.operands) for each in part}


def _derived(field: Field, row: OperationRow) -> str:
    """What is computed for a field that has no name in the operation."""
    name = getattr(field.type, "name", "")
    match name:
        case "ttnn.MemoryConfig":
            return "@memory_config"
        case "DataType" if field.name in {"dtype", "output_dtype"}:
            return "@data_type"
        case "TensorLayout":
            return "@layout"
        case "DeviceRef":
            devices = [each.name for each in row.operands if each.constraint == "!ttnn.device"]
            return devices[0] if devices else ""
        case _ if field.name in {"outputs", "outs"}:
            return "@results"
        case _:
            return ""


@cache
def _stated() -> dict[str, tuple[str, str, dict[str, str]]]:
    """The rows of the table: operation -> variant, case and sources."""
    found = {}
    for line in _ROWS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, variant, case, sources = ([*line.split("\t"), "", ""])[:4]
            found[name] = variant, case, dict(each.split("=") for each in sources.split())
    return found


@cache
def _cases(schema: Schema) -> dict[str, tuple[str, str]]:
    """Case of a field ``type``, in lower case -> the variant that has it, and the case."""
    found: dict[str, tuple[str, str]] = {}
    for variant, table in operation_union(schema).variants.values():
        field = schema.record(table).fields.get("type")
        if field is not None and isinstance(field.type, Enum):
            found |= {case.lower(): (variant, case) for case in field.type.numbers}
    return found


def operation_union(schema: Schema) -> Union:
    """The union of the operations' tables."""
    found = schema.type("ttnn.OpType")
    assert isinstance(found, Union)
    return found


@cache
def table_of_operation(schema: Schema, name: str) -> OperationTable | None:
    """The table of an operation; None if a binary has none for it."""
    if name.partition(".")[0] not in _DIALECTS:
        return None
    union = operation_union(schema)
    variant, case, sources = _stated().get(name, ("", "", {}))
    class_name = tables.operation_class_name(name)
    if class_name in union.tags:
        variant = class_name
    elif not variant:
        found = _cases(schema).get(class_name.removesuffix("Op").lower()) or _cases(schema).get(class_name.lower())
        if found is None:
            return None
        variant, case = found
    if variant not in union.tags:
        return None
    record = record_of(schema, variant)
    variants = {
        field.name: chosen
        for field in record.fields.values()
        if isinstance(field.type, Union) and (chosen := sources.get(f"{field.name}_type") or _by_case(field.type, case))
    }
    plain = {field: source for field, source in sources.items() if not field.endswith("_type")}
    return OperationTable(name, variant, case, plain, variants)


def _by_case(union: Union, case: str) -> str:
    return next((variant for variant in union.tags if case and variant.startswith(case)), "")


def record_of(schema: Schema, variant: str) -> Record:
    """The table of a variant of the union of operations."""
    union = operation_union(schema)
    return schema.record(union.variants[union.tags[variant]][1])


@cache
def operations_by_table(schema: Schema) -> dict[tuple[str, str], OperationTable]:
    """Variant and case -> the operation, of those that tt-mlir's version of the schema has."""
    found: dict[tuple[str, str], OperationTable] = {}
    for table in sorted(operations_of_schema(schema), key=lambda table: table.name not in _FIRST):
        found.setdefault((table.variant, table.case), table)
    return found


_FIRST = {"func.call", "ttnn.to_layout"}
"""Operations that stand for a table which several have."""


_CALL = OperationRow(
    "func.call",
    "12",
    (Value("inputs", "*", "AnyType"),),
    (Attribute("callee", False, "FlatSymbolRefAttr", ""),),
    (Value("results", "*", "AnyType"),),
    (),
    (),
    "",
    (),
)
"""xDSL has the class of `func.call`, and the tables no row."""


def rows_of(name: str) -> tuple[OperationRow, ...]:
    """The declarations of an operation, the newest first; empty if there are none."""
    return (_CALL,) if name == _CALL.name else tables.operation_rows(name)


def operations_of_schema(schema: Schema) -> Iterator[OperationTable]:
    """The table of every operation that tt-mlir's version of the schema has one for."""
    for name in (*tables.operation_names(), _CALL.name):
        if name.partition(".")[0] not in _DIALECTS:
            continue
        if any(schema.version in row.versions for row in rows_of(name)):
            table = table_of_operation(schema, name)
            if table is not None:
                yield table


def row_of(schema: Schema, name: str) -> OperationRow:
    """The declaration of an operation in the schema's version, else the newest."""
    rows = rows_of(name)
    return next((row for row in rows if schema.version in row.versions), rows[0])
