"""Files of SYSTEM_DESC_PATH: our JSON, the JSON of the vendor's tools, and invalid ones."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.specs.target import PRESETS, SYSTEMS, SystemDesc, read_target, resolve_target

FIELDS = [field.name for field in fields(SystemDesc)]
WORMHOLE = PRESETS["wormhole_b0"]


def write_file(folder, value, name="desc.json"):
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)


def chip(**changed):
    """A chip as tt-mlir's system descriptions spell it in JSON."""
    return {
        "arch": "Wormhole_b0",
        "grid_size": {"y": 8, "x": 8},
        "coord_translation_offsets": {"y": 18, "x": 18},
        "l1_size": 1499136,
        "num_dram_channels": 12,
        "dram_channel_size": 1073741824,
        "l1_unreserved_base": 130016,
        "supported_data_types": ["Float32", "BFloat16"],
        "supported_tile_sizes": [{"y": 32, "x": 32}],
        "dst_physical_size_tiles": 16,
        "num_cbs": 32,
        **changed,
    }


def system(*chips, **more):
    return {"cpu_descs": [{"role": "Host"}], "chip_descs": list(chips), "chip_desc_indices": [0], **more}


def refusal(path):
    with pytest.raises(ArgumentError) as raised:
        read_target(path)
    assert path in str(raised.value)
    assert "__init__" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize("preset", (PRESETS | SYSTEMS).values(), ids=lambda desc: desc.name)
def test_the_printed_form_of_a_target_parses_to_the_same_target(tmp_path, preset):
    assert read_target(write_file(tmp_path, preset.to_json())) is preset


@pytest.mark.parametrize("name", [field for field in FIELDS if field not in {"dram_bytes", "mesh"}])
def test_a_missing_field_is_named_with_the_file_and_the_fields_there_are(tmp_path, name):
    described = json.loads(WORMHOLE.to_json())
    del described[name]
    text = refusal(write_file(tmp_path, described))
    assert f"it has no `{name}`" in text
    assert all(field in text for field in FIELDS)


def test_a_description_of_an_earlier_version_has_the_dram_of_the_host(tmp_path):
    described = json.loads(WORMHOLE.to_json())
    del described["dram_bytes"]
    assert read_target(write_file(tmp_path, described)) == replace(WORMHOLE, dram_bytes=None)


@pytest.mark.parametrize("name", ["l1_byte", "Grid", "extra", ""])
def test_an_unknown_field_is_named_with_the_file_and_the_fields_there_are(tmp_path, name):
    text = refusal(write_file(tmp_path, {**json.loads(WORMHOLE.to_json()), name: 1}))
    assert f"`{name}` is no field of one" in text
    assert all(field in text for field in FIELDS)


def test_an_error_about_a_misspelt_field_names_the_written_one(tmp_path):
    misspelt = WORMHOLE.to_json().replace('"l1_bytes"', '"l1_byte"')
    assert "`l1_byte` is no field of one" in refusal(write_file(tmp_path, misspelt))


@given(name=st.sampled_from(FIELDS), value=st.sampled_from([[], {}, -1, 0, 1.5, [8], [8, 0], [8, "8"], "much", ["a"]]))
def test_a_field_of_another_kind_is_named_with_its_value(tmp_path_factory, name, value):
    if value == "much" and name in {"name", "arch"}:
        return
    path = write_file(tmp_path_factory.getbasetemp(), {**json.loads(WORMHOLE.to_json()), name: value})
    assert f"`{name}` is {value!r}" in refusal(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '"grid"', "[1, 2]"])
def test_a_file_that_is_no_json_object_is_reported(tmp_path, text):
    assert "is not a system description: it is no JSON object" in refusal(write_file(tmp_path, text))


def test_a_missing_file_is_named(tmp_path, monkeypatch):
    path = str(tmp_path / "none.json")
    assert "cannot be read: No such file or directory" in refusal(path)
    monkeypatch.setenv("SYSTEM_DESC_PATH", path)
    with pytest.raises(ArgumentError, match=r"none\.json cannot be read"):
        resolve_target(None)


@pytest.mark.parametrize("data", [b"\x10\0\0\0TTSY\0\0", b"\x90\x01\0\0\x10\0\0\0TTSY\0\0", b"\xff\xfe\0", b"TTSY\x80"])
def test_errors_about_the_vendors_flatbuffer_and_other_binary_files_show_an_alternative(tmp_path, data):
    path = tmp_path / "system_desc.ttsys"
    path.write_bytes(data)
    text = refusal(str(path))
    assert "is no flatbuffer of tt-mlir" in text or "is damaged" in text
    assert "ttnn-jit query --target wormhole_b0 -o system.ttsys" in text


@pytest.mark.parametrize("arch", ["wormhole_b0", "Wormhole_b0", 1])
@pytest.mark.parametrize("wrap", [lambda d: d, lambda d: {"version": {"major": 0}, "system_desc": d}])
def test_the_json_of_the_vendors_tools_is_read(tmp_path, arch, wrap):
    path = write_file(tmp_path, wrap(system(chip(arch=arch, grid_size={"y": 7, "x": 8}, l1_size=1400000))))
    assert read_target(path) == replace(WORMHOLE, grid=(7, 8), l1_bytes=1400000 - 130016, dram_bytes=12 << 30)


def test_a_blackhole_of_the_vendors_tools_is_read(tmp_path):
    path = write_file(tmp_path, system(chip(arch="Blackhole", grid_size={"y": 10, "x": 13}, num_cbs=64)))
    memory = {"l1_bytes": 1369120, "dram_bytes": 12 << 30}
    expected = replace(PRESETS["blackhole"], grid=(10, 13), max_circular_buffers=64, **memory)
    assert read_target(path) == expected


def test_limits_that_an_older_description_lacks_are_those_of_its_chip(tmp_path):
    newer = {"num_cbs", "dst_physical_size_tiles", "num_dram_channels", "dram_channel_size"}
    older = {name: value for name, value in chip().items() if name not in newer}
    assert read_target(write_file(tmp_path, system(older))) is WORMHOLE


def test_equal_chips_are_one_target_and_different_ones_are_refused(tmp_path):
    assert read_target(write_file(tmp_path, system(chip(), chip()))) is WORMHOLE
    text = refusal(write_file(tmp_path, system(chip(), chip(arch="Blackhole"))))
    assert "its chips differ" in text


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"arch": "Grayskull"}, "`arch` is 'Grayskull'"),
        ({"arch": 7}, "`arch` is 7"),
        ({"arch": None}, "`arch` is None"),
        ({"grid_size": [8, 8]}, "`grid_size` is [8, 8]"),
        ({"grid_size": {"x": 8}}, "`grid_size` is {'x': 8}"),
        ({"grid_size": {"x": 8, "y": 0}}, "`grid_size` is {'x': 8, 'y': 0}"),
        ({"l1_size": "1.5 MB"}, "`l1_size` is '1.5 MB'"),
        ({"l1_size": 100}, "`l1_size` is 100"),
        ({"num_cbs": -1}, "`num_cbs` is -1"),
        ({"l1_unreserved_base": None}, "`l1_unreserved_base` is None"),
    ],
)
def test_an_impossible_field_of_a_chip_is_named(tmp_path, change, text):
    assert text in refusal(write_file(tmp_path, system(chip(**change))))


@pytest.mark.parametrize("chips", [[], {}, "x", [1], None])
def test_a_description_without_chips_is_refused(tmp_path, chips):
    assert "`chip_descs`" in refusal(write_file(tmp_path, {"chip_descs": chips}))


def test_a_chip_without_a_needed_field_is_refused(tmp_path):
    for name in ("arch", "grid_size", "l1_size"):
        without = {key: value for key, value in chip().items() if key != name}
        assert f"`{name}`" in refusal(write_file(tmp_path, system(without)))
