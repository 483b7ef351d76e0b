"""System descriptions are written and read as flatbuffers."""

import json
from dataclasses import replace

import pytest

from ttnn_jit.binaries.system_trees import attribute_tree, description_attribute
from ttnn_jit.diagnostics.errors import ArgumentError, ProgramFormatError
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.rewriting.system_descriptions import system_desc
from ttnn_jit.schemas.flatbuffer_writer import FlatbufferWriter
from ttnn_jit.schemas.schema import schema
from ttnn_jit.specs.target import PRESETS, SYSTEMS, read_target
from ttnn_jit.tools.cli import main
from ttnn_jit.ttmlir.ttmlir_runtime.described_systems import SystemDescription, load_system_desc_from_path

CHIPS = {name: target for name, target in (PRESETS | SYSTEMS).items() if target.arch != "cpu"}


@pytest.mark.parametrize("name", CHIPS)
def test_query_writes_a_flatbuffer_that_describes_the_same_system(name, tmp_path):
    path = tmp_path / "system.ttsys"
    assert main(["query", "--target", name, "-o", str(path)]) == 0
    assert read_target(str(path)) == replace(CHIPS[name], name=CHIPS[name].arch)
    described = load_system_desc_from_path(str(path))
    assert json.loads(described.as_json())["product_identifier"] == CHIPS[name].name
    described.store(tmp_path / "copy.ttsys")
    assert (tmp_path / "copy.ttsys").read_bytes() == path.read_bytes()


def test_query_writes_json_under_any_other_suffix(tmp_path):
    path = tmp_path / "system.json"
    assert main(["query", "--target", "n300", "-o", str(path)]) == 0
    flatbuffer = load_system_desc_from_path(str(path))
    assert json.loads(flatbuffer.as_json())["system_desc"]["chip_desc_indices"] == [0, 0]
    assert read_target(str(path)) == SYSTEMS["n300"]


def test_a_cpu_is_no_system_of_chips(tmp_path, capsys):
    assert main(["query", "--target", "cpu", "-o", str(tmp_path / "system.ttsys")]) == 1
    assert "is one of chips, and cpu is none" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []


def test_a_description_of_another_schema_is_refused_unless_that_is_ignored():
    tree = SystemDescription.of_target(SYSTEMS["n150"]).tree | {"schema_hash": "abc", "ttmlir_git_hash": "0123456"}
    data = FlatbufferWriter(schema()).write(tree, "TTSY")
    with pytest.raises(ProgramFormatError, match=r"x is of version 0\.1\.0, of 0123456, of the schema abc, a schema"):
        SystemDescription(data, "x")
    assert SystemDescription(data, "x", ignore_version=True).tree == tree


def test_an_architecture_of_december_keeps_its_name_in_a_file_of_unknown_schema(tmp_path):
    chip = SystemDescription.of_target(SYSTEMS["n150"]).tree["system_desc"]["chip_descs"][0]
    chip = {name: value for name, value in chip.items() if name != "dram_grid_size"}
    system = {"chip_descs": [chip], "chip_desc_indices": [0]}
    tree = {"schema_hash": "of tt-mlir", "system_desc": system}
    (tmp_path / "system.ttsys").write_bytes(FlatbufferWriter(schema("1")).write(tree, "TTSY"))
    assert read_target(str(tmp_path / "system.ttsys")).arch == "wormhole_b0"


def test_a_binary_is_no_system_description(tmp_path):
    path = tmp_path / "system.ttsys"
    path.write_bytes(FlatbufferWriter(schema()).write({"schema_hash": schema().hash}, "TTNN"))
    with pytest.raises(ArgumentError, match="is a binary of ttnn, and a system description is read"):
        read_target(str(path))


def test_a_system_of_a_text_is_read_as_it_was_written():
    chip = str(system_desc("wormhole_b0", (8, 8), 2)).replace(
        "num_datamovement_threads = 2",
        "num_datamovement_threads = 2, dram_grid = 1x12, dram_bank_to_logical_worker_noc0 = [(7, 3), (0, 0)], "
        "dram_bank_to_logical_worker_noc1 = [(7, 3), (1, 1)]",
    )
    tree = attribute_tree(schema(), parsed(chip))
    assert tree["chip_descs"][0]["dram_bank_to_logical_worker_noc0"] == [{"y": 7, "x": 3}, {"y": 0, "x": 0}]
    assert attribute_tree(schema(), description_attribute(tree)) == tree
