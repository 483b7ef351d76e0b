"""Ways to distribute a module over devices: one module for each mesh and each choice of shardings of its arguments."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from ttnn_jit.module_builders.base.star_names import star_name
from ttnn_jit.ttmlir.dialect_modules import dialect_module
from ttnn_jit.ttmlir.mlir_attributes import ArrayAttr, DictAttr
from ttnn_jit.ttmlir.mlir_functions import FuncOp
from ttnn_jit.ttmlir.mlir_operations import InsertionPoint, MLIRError, Module, Operation
from ttnn_jit.ttmlir.mlir_types import RankedTensorType

_SDY = dialect_module("sdy", "ttmlir.dialects.sdy")
_AXES = ("x", "y")
_COLLECTIVES = frozenset(
    f"sdy.{name}"
    for name in ("all_gather", "all_reduce", "all_slice", "all_to_all", "collective_permute", "reduce_scatter")
)


def find_mesh_permutations(num_devices: int) -> list[OrderedDict[str, int]]:
    """The meshes of two axes that have this number of devices."""
    wide = [x for x in range(1, int(num_devices**0.5) + 1) if num_devices % x == 0]
    pairs = [pair for x in wide for pair in dict.fromkeys([(x, num_devices // x), (num_devices // x, x)])]
    return [OrderedDict(zip(_AXES, pair, strict=True)) for pair in pairs]


def generate_sharding_permutations(
    ranked_tensor_type: RankedTensorType, mesh_name: str, axes_list: Sequence[str]
) -> list[Any]:
    """The shardings of a tensor that give at least one axis of the mesh a dimension, and no two axes the same."""
    dims = range(ranked_tensor_type.rank)
    found = []
    for count in range(1, len(axes_list) + 1):
        for chosen in itertools.combinations(dims, count):
            for axes in itertools.permutations(axes_list, count):
                at = dict(zip(chosen, axes, strict=True))
                named = [[_SDY.AxisRefAttr.get(at[dim])] if dim in at else [] for dim in dims]
                parts = [_SDY.DimensionShardingAttr.get(each, False) for each in named]
                found.append(_SDY.TensorShardingAttr.get(mesh_name, parts))
    return found


def find_module_permutations(module: Module, num_devices: int) -> list[Module]:
    """A module for each mesh of `num_devices`, and each choice of the shardings of all arguments."""
    functions = _functions(module)
    choices = [generate_sharding_permutations(each, "mesh", _AXES) for own in functions for each in own.type.inputs]
    found = []
    for mesh in find_mesh_permutations(num_devices):
        for chosen in itertools.product(*choices):
            made = Module.parse(str(module), module.context)
            axes = [_SDY.MeshAxisAttr.get(name, extent) for name, extent in mesh.items()]
            with InsertionPoint.at_block_begin(made.body), made.context:
                _SDY.MeshOp("mesh", _SDY.MeshAttr.get(axes))
            remaining = iter(chosen)
            for own in _functions(made):
                own.arg_attrs = ArrayAttr.get(
                    [DictAttr.get(_named(each) | {"sdy.sharding": next(remaining)}) for each in own.arg_attrs]
                )
            found.append(made)
    return found


def _functions(module: Module) -> list[FuncOp]:
    return [each for each in module.body.operations if isinstance(each, FuncOp)]


def _named(attributes: DictAttr) -> dict[str, Any]:
    return {each.name: each.attr for each in attributes}


def optimal_module_least_num_collectives(module_permutations: Sequence[Module]) -> list[Module]:
    """The modules that need the fewest collectives, behind `stablehlo-pipeline`, which changes all of them.

    Modules that the pipeline refuses, such as those whose extents the devices do not divide, are left out.
    """
    lowered = []
    for module in module_permutations:
        try:
            star_name("stablehlo_pipeline")(module)
        except MLIRError:
            continue
        lowered.append((_count(module), module))
    fewest = min((count for count, _ in lowered), default=0)
    return [module for count, module in lowered if count == fewest]


def _count(module: Module) -> int:
    """The number of collectives of a module."""
    names: list[str] = []
    for each in module.held.walk():
        names.append(str(Operation(each).name))
    return sum(name in _COLLECTIVES for name in names)


__all__ = [
    "find_mesh_permutations",
    "find_module_permutations",
    "generate_sharding_permutations",
    "optimal_module_least_num_collectives",
]
