"""System descriptions of modules, targets and files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from ttnn_jit.binaries.attribute_reading import attribute_of_field
from ttnn_jit.binaries.attribute_trees import fitted, tree_of
from ttnn_jit.binaries.schema import Schema
from ttnn_jit.dialects.ttcore import SYSTEM_DESC, SystemDescAttr
from ttnn_jit.dialects.upstream.rewriting.system_descriptions import system_desc, system_desc_of
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute
from ttnn_jit.specs.target import SystemDesc


def system_tree(schema: Schema, module: ModuleOp) -> dict[str, Any]:
    """The system description of a module; that of one Wormhole if it names none."""
    modules = (each for each in module.walk() if isinstance(each, ModuleOp))  # also one inside a device module
    found = next((each.attributes[SYSTEM_DESC] for each in modules if SYSTEM_DESC in each.attributes), None)
    if isinstance(found, TableAttribute):
        return attribute_tree(schema, found)
    if isinstance(found, SystemDescAttr):
        return target_tree(schema, found.desc)
    return attribute_tree(schema, system_desc("wormhole_b0", (8, 8), 1))


def target_tree(schema: Schema, target: SystemDesc) -> dict[str, Any]:
    """The system description of a target."""
    chips = 1
    for extent in target.mesh:
        chips *= extent
    return attribute_tree(schema, system_desc_of(target, chips))


def attribute_tree(schema: Schema, attribute: Any) -> dict[str, Any]:
    """The description that ``#ttcore.system_desc<...>`` gives."""
    found: dict[str, Any] = fitted(schema, schema.record("SystemDesc"), tree_of(attribute))
    return found


def description_attribute(tree: Mapping[str, Any]) -> Attribute:
    """``#ttcore.system_desc<...>`` of a description.

    Raises:
        ProgramFormatError: It is no description of a system.
    """
    return attribute_of_field("#ttcore.system_desc", None, tree)
