"""Every operation of TTNN that a binary has a table for is written and read with all of its attributes."""

from pathlib import Path

import pytest

from tests.table_modules import module_of_operation
from ttnn_jit.binaries.module_to_tables import ModuleWriter
from ttnn_jit.binaries.operation_rows import (
    operation_union,
    operations_of_schema,
    record_of,
    row_of,
    table_of_operation,
)
from ttnn_jit.binaries.tables_to_module import module_of_tree
from ttnn_jit.diagnostics.errors import CompileError, ProgramFormatError
from ttnn_jit.dialects.text_calls.op_calls import operation_in_text, text_operations
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.dialects.text_calls.unexecuted_operations import UNEXECUTED
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.schemas.flatbuffer_reader import FlatbufferReader
from ttnn_jit.schemas.flatbuffer_writer import FlatbufferWriter
from ttnn_jit.schemas.schema import VERSIONS, schema
from ttnn_jit.tools.binary_tables import with_tables

TYPES = schema()
NAMES = {
    version: sorted(
        name
        for name in tables.operation_names()
        if name.startswith("ttnn.") and any(version in row.versions for row in tables.operation_rows(name))
    )
    for version in VERSIONS
}
WITHOUT = {"ttnn.alloc", "ttnn.d2m_subgraph", "ttnn.distributed_layer_norm", "ttnn.tt_lang_op"}
"""Operations that no table of the schema is of."""
BY_OTHERS = {"ttnn.capture_or_execute_trace", "ttnn.generic", "ttnn.to_tensor_spec"}
"""Operations that need other functions, that are refused, and that are written as another one."""
OF_OTHERS = {
    "AnnotateOp", "BreakpointOp", "CaptureOrExecuteTraceOp", "CpuOp", "FuncCallOp", "GenericOp", "LoadCachedOp",
    "MemorySnapshotOp", "PrintOp", "RegionEndOp", "RegionStartOp",
}  # fmt: skip
"""Tables of operations of other dialects, and of `BY_OTHERS`."""


def fields_of(types, table):
    """Operand, attribute or result -> the field that holds it, also those of the unions that the operation chooses."""
    row, records = row_of(types, table.name), [record_of(types, table.variant)]
    for name, variant in table.variants.items():
        union = records[0].fields[name].type
        records.append(types.record(union.variants[union.tags[variant]][1]))
    return {table.source(field, row): field for record in records for field in record.fields.values()}


def test_operations_without_a_table_are_those_that_the_schema_lacks():
    names = {*NAMES[TYPES.version]}
    assert {name for name in names if table_of_operation(TYPES, name) is None} == WITHOUT
    reached = {table_of_operation(TYPES, name).variant for name in names - WITHOUT}
    assert {*operation_union(TYPES).tags} - reached | {"CaptureOrExecuteTraceOp", "GenericOp"} == OF_OTHERS


@pytest.mark.parametrize(
    ("version", "name"),
    [(version, name) for version in VERSIONS for name in NAMES[version] if name not in WITHOUT | BY_OTHERS],
)
def test_an_operation_is_read_as_it_was_written(version, name):
    types = schema(version)
    table = table_of_operation(types, name)
    module = module_of_operation(types, row_of(types, name), fields_of(types, table))
    data = FlatbufferWriter(types).write(ModuleWriter(module, types).tree(), "TTNN")
    read = module_of_tree(types, FlatbufferReader(types, data).read("TTNN"))
    (op, *_), (again, *_) = ([each for each in held.walk() if each.name == name][::-1] for held in (module, read))
    assert again.properties == op.properties
    assert [each.type for each in again.operands] == [each.type for each in op.operands]
    assert [each.type for each in again.results] == [each.type for each in op.results]


def test_a_generic_operation_is_refused_by_name():
    from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary

    kernel = "#ttnn.program<kernels = [], cbs = [], semaphores = []>"
    text = f"""func.func @main(%x: tensor<32x32xbf16>) -> tensor<32x32xbf16> {{
      "ttnn.generic"(%x) <{{program = {kernel}, operandSegmentSizes = array<i32: 1, 0>}}> : (tensor<32x32xbf16>) -> ()
      return %x : tensor<32x32xbf16>
    }}"""
    with pytest.raises(CompileError, match=r"program\.mlir:2:7: `ttnn\.generic` is not written .* kernels in C\+\+"):
        Binary.parse(text, "program.mlir").to_bytes()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("table", ["CpuOp", "GenericOp"])
def test_a_table_that_is_not_executed_is_refused_by_name(version, table):
    programs = [{"name": "main", "inputs": [], "outputs": [], "operations": [{"type_type": table, "type": {}}]}]
    with pytest.raises(ProgramFormatError, match=f"{table} is not executed here: it holds"):
        module_of_tree(schema(version), {"programs": programs})


@pytest.mark.parametrize("version", VERSIONS)
def test_every_operation_with_a_table_is_executed_or_has_a_reason_why_not(version):
    names = {each.name for each in operations_of_schema(schema(version))}
    assert {name for name in names if name not in text_operations()} - UNEXECUTED.keys() == {"func.call"}
    assert not [name for name in UNEXECUTED if name in text_operations()]


def test_an_operation_that_is_not_executed_says_why():
    text = """func.func @main() -> tensor<32x32xf32> {
      %0 = "ttnn.load_tensor"() <{file_path = "x.tensorbin"}> : () -> tensor<32x32xf32>
      return %0 : tensor<32x32xf32>
    }"""
    (module,) = parse_texts(text, "program.mlir")
    op = next(each for each in module.walk() if name_of(each) == "ttnn.load_tensor")
    with pytest.raises(CompileError, match=r"`ttnn\.load_tensor` is not executed here") as caught:
        operation_in_text(op)
    assert caught.value.help == UNEXECUTED["ttnn.load_tensor"]


def test_the_page_of_binaries_has_the_tables_as_they_are():
    page = Path("docs/binaries.md").read_text(encoding="utf-8")
    assert with_tables(page) == page
