"""System descriptions of modules, targets and files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from ttnn_jit.binaries.attribute_reading import attribute_of_field
from ttnn_jit.binaries.attribute_trees import fitted, tree_of
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects.ttcore import SYSTEM_DESC, SystemDescAttr
from ttnn_jit.dialects.upstream.rewriting.system_descriptions import system_desc
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute
from ttnn_jit.schemas.binary_file import write_file
from ttnn_jit.schemas.schema import Schema, schema
from ttnn_jit.specs.target import SystemDesc


def system_tree(types: Schema, module: ModuleOp) -> dict[str, Any]:
    """The system description of a module; that of one Wormhole if it names none."""
    found = module.attributes.get(SYSTEM_DESC)
    if isinstance(found, TableAttribute):
        return attribute_tree(types, found)
    if isinstance(found, SystemDescAttr) and found.desc.arch != "cpu":
        return target_tree(types, found.desc)
    return attribute_tree(types, system_desc("wormhole_b0", (8, 8), 1))


def target_tree(types: Schema, target: SystemDesc) -> dict[str, Any]:
    """The system description of a target, whose chips are equal.

    Raises:
        ArgumentError: The target is no system of chips.
    """
    if target.arch not in {"wormhole_b0", "blackhole"}:
        raise ArgumentError(f"a system description of tt-mlir is one of chips, and {target.name} is none")
    count = math.prod(target.mesh)
    found = attribute_tree(types, system_desc(target.arch, target.grid, count))
    chip = found["chip_descs"][0]
    chip |= {"l1_size": target.l1_bytes + chip["l1_unreserved_base"], "dst_physical_size_tiles": target.dst_tiles}
    if target.dram_bytes is not None:
        chip["dram_channel_size"] = target.dram_bytes // chip["num_dram_channels"]
    if target.max_circular_buffers is not None:
        chip["num_cbs"] = target.max_circular_buffers
    return found | {"chip_descs": [chip], "chip_desc_indices": [0] * count}


def system_file(target: SystemDesc) -> bytes:
    """The bytes of a ``.ttsys`` file of a target; see `target_tree`."""
    return write_file({"product_identifier": target.name, "system_desc": target_tree(schema(), target)}, "TTSY")


def attribute_tree(types: Schema, attribute: Any) -> dict[str, Any]:
    """The description that ``#ttcore.system_desc<...>`` gives; without a grid of DRAM its banks are in one row."""
    found: dict[str, Any] = fitted(types, types.record("SystemDesc"), tree_of(attribute))
    for chip in found["chip_descs"]:
        if "dram_grid_size" in types.record("ChipDesc").fields:
            chip.setdefault("dram_grid_size", {"y": 1, "x": chip["num_dram_channels"]})
    return found


def description_attribute(tree: Mapping[str, Any]) -> Attribute:
    """``#ttcore.system_desc<...>`` of a description.

    Raises:
        ProgramFormatError: It is no description of a system.
    """
    return attribute_of_field("#ttcore.system_desc", None, tree)
