"""The placements of a mesh program's results, from those of its inputs, operation by operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.specs.meshes.mesh_devices import MeshDevices, MeshPlacement
from ttnn_jit.specs.meshes.tensor_topology import TensorTopology, replicated_on, topology_of_result, topology_to_json

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import SSAValue


def result_topologies(module: ModuleOp, devices: MeshDevices, placements: Sequence[MeshPlacement | None]) -> list[Any]:
    """The topology of each result of the module's one function as JSON values; None of a tensor of the whole mesh.

    Args:
        module: The module of a frontend.
        devices: The devices that run it.
        placements: Per argument its placement; None of a tensor of the whole mesh.
    """
    from xdsl.dialects.func import ReturnOp

    from ttnn_jit.dialects.argument_notes import updates_of, whole_arguments_of
    from ttnn_jit.dialects.functions import single_function

    function = single_function(module)
    block = function.body.block
    inputs = zip(block.args, placements, strict=True)
    found: dict[SSAValue, TensorTopology] = {
        value: each.topology.on(devices.coordinates) for value, each in inputs if each is not None
    }
    results: Sequence[SSAValue] = ()
    for op in block.ops:
        if isinstance(op, ReturnOp):
            results = op.operands
            continue
        found.update(dict.fromkeys(op.results, _topology(op, found, devices)))
    whole = {result for argument, result in updates_of(function) if argument in whole_arguments_of(function)}
    return [
        None if index in whole else topology_to_json(found.get(value) or replicated_on(devices.shape))
        for index, value in enumerate(results)
    ]


def _topology(op: Any, known: dict[SSAValue, TensorTopology], devices: MeshDevices) -> TensorTopology:
    """The topology of the results of an operation."""
    from ttnn_jit.dialects.declared_ops import CollectiveOp
    from ttnn_jit.dialects.layout import spec_of

    operands = tuple(known[value] for value in op.operands if value in known)
    if not operands:
        return replicated_on(devices.shape).on(devices.coordinates)
    if isinstance(op, CollectiveOp):
        return op.operation.topology(operands[0], spec_of(op.operands[0].type), op.statics)
    return topology_of_result(operands, devices.coordinates)
