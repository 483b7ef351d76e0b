"""The target of a module is in its text."""

from dataclasses import replace

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.dialects import InvalidModule, parse_module, print_module, set_system_desc, system_desc_of
from ttnn_jit.specs.target import PRESETS, SystemDesc


@pytest.mark.parametrize("target", [*PRESETS.values(), replace(PRESETS["cpu"], name="mine", dst_tiles=5)])
def test_a_module_round_trips_its_target(target: SystemDesc) -> None:
    module = ModuleOp([])
    set_system_desc(module, target)
    assert system_desc_of(module) == target
    assert system_desc_of(parse_module(print_module(module))) == target


def test_an_untagged_module_means_wormhole() -> None:
    module = ModuleOp([])
    set_system_desc(module, PRESETS["cpu"])
    set_system_desc(module, PRESETS["wormhole_b0"])
    assert print_module(module) == "module {\n}\n"
    assert system_desc_of(module) is PRESETS["wormhole_b0"]


def test_the_target_prints_as_a_dictionary_of_its_fields() -> None:
    module = ModuleOp([])
    set_system_desc(module, PRESETS["blackhole"])
    assert print_module(module) == (
        '#system_desc = #ttcore.system_desc<{arch = "blackhole", dram_bytes = 34225520640 : i64, '
        "dst_double_buffered = true, "
        "dst_halved_when_wide = true, dst_tiles = 16 : i64, fuses_multi_user_values = false, grid = [8, 8], "
        "l1_bytes = 1499136 : i64, max_circular_buffers = 32 : i64, max_wide_inputs = 7 : i64, "
        'name = "blackhole", numerics = "device", tile_aligned_only = true}>\n'
        "module attributes {ttcore.system_desc = #system_desc} {\n}\n"
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("{}", "a system description has exactly the fields of SystemDesc; look at "),
        ('{speed = "fast"}', "a system description has exactly the fields of SystemDesc; look at "),
    ],
)
def test_a_dictionary_that_is_no_target_is_refused(fields: str, message: str) -> None:
    with pytest.raises(InvalidModule) as caught:
        parse_module(f"module attributes {{ttcore.system_desc = #ttcore.system_desc<{fields}>}} {{\n}}")
    assert caught.value.message.startswith(message)


def test_a_target_of_another_kind_is_refused() -> None:
    with pytest.raises(VerifyException, match=r"ttcore\.system_desc must be a #ttcore\.system_desc"):
        system_desc_of(parse_module('module attributes {ttcore.system_desc = "cpu"} {\n}'))


@pytest.mark.parametrize("name", ["tt", "ttcore"])
def test_lists_of_chips_are_refused_with_the_supported_form(name):
    """N19e: the specification has descriptions of four lists and of five."""
    lists = f"[<#{name}.arch<wormhole_b0>, #{name}.grid<8x8>>], [0], [<pcie|host_mmio>], [<0, 0, 0, 0>]"
    with pytest.raises(InvalidModule, match=r"a dictionary here, no lists of chips: `ttnn-jit query`"):
        parse_module(f"module attributes {{{name}.system_desc = #{name}.system_desc<{lists}>}} {{\n}}")
