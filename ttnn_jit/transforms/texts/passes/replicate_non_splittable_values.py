"""replicate-non-splittable-values: what differs from device to device is held whole by each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Operation

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import integers_in, parsed, shape_of
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.transforms.texts.text_pass import TextPass

_SHARDING = "sdy.sharding"


@dataclass(frozen=True)
class ReplicateNonSplittableValues(TextPass):
    """Constants, iotas and slices whose parts are no constants, iotas and slices of a device are replicated.

    A sharded constant stays so if the parts of all devices are equal, an iota if its own dimension is whole, a slice if
    it takes all of a sharded dimension, or every n-th element to its end where n divides a part.
    """

    name = "replicate-non-splittable-values"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:  # noqa: ARG002 - nothing is rewritten
        """Changes shardings.

        Raises:
            CompileError: The module has several meshes.
        """
        meshes = [op for op in module.walk() if name_of(op) == "sdy.mesh"]
        if len(meshes) > 1:
            raise CompileError(
                "Pass currently only supports a single shardy mesh op in the module", location=location_of(meshes[1])
            )
        for op in module.walk() if meshes else ():
            sharding = op.attributes.get(_SHARDING)
            if name_of(op) in _SPLITTABLE and sharding is not None:
                _change(op, _axes(meshes[0]))


def _axes(mesh: Operation) -> dict[str, int]:
    """Name of an axis of a mesh -> its size."""
    found: Any = mesh.properties["mesh"]
    return {each.value("name"): each.value("size") for each in found.value("axes") or ()}


def _change(op: Operation, axes: dict[str, int]) -> None:
    """Replicates the result of an operation whose parts are no operations of its kind."""
    sharding: Any = op.attributes[_SHARDING]
    first = sharding.value("shardings")[0]
    dims = first.value("dim_shardings") or ()
    parts = [math.prod(_size(axis, axes) for axis in each.value("axes") or ()) for each in dims]
    if max(parts, default=1) > 1 and not _SPLITTABLE[name_of(op)](op, parts):
        name = first.value("mesh_or_ref").root_reference.data
        replicated = ", ".join(["{}"] * len(dims))
        op.attributes[_SHARDING] = parsed(f"#sdy.sharding_per_value<[<@{name}, [{replicated}]>]>")


def _size(axis: Any, axes: dict[str, int]) -> int:
    """The number of devices along an axis, or along a part of it."""
    part = axis.value("sub_axis_info")
    return int(part.value("size")) if part is not None else axes[axis.value("name")]


def _has_equal_parts(op: Operation, parts: Sequence[int]) -> bool:
    """Whether the parts of a constant are equal; those of a splat are."""
    value = op.properties["value"]
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return True
    numbers = np.asarray(value.get_values(), dtype=object).reshape(shape_of(op.results[0].type))
    for dim, count in enumerate(parts):
        if numbers.shape[dim] % count:
            return False
        pieces = np.split(numbers, count, axis=dim)
        if any(not np.array_equal(pieces[0], each) for each in pieces[1:]):
            return False
    return True


def _is_iota_of_whole(op: Operation, parts: Sequence[int]) -> bool:
    """Whether the dimension along which numbers grow is whole."""
    (dim,) = integers_in(op.properties["iota_dimension"])
    return dim >= len(parts) or parts[dim] == 1


def _is_slice_of_parts(op: Operation, parts: Sequence[int]) -> bool:
    """Whether the slice of a sharded dimension is the slices of its parts, one after the other."""
    names = ("start_indices", "limit_indices", "strides")
    bounds = zip(*(integers_in(op.properties[each]) for each in names), strict=True)
    for size, count, (start, limit, stride) in zip(shape_of(op.operands[0].type), parts, bounds, strict=False):
        is_whole = (start, limit, stride) == (0, size, 1)
        is_every_nth = stride > 1 and start < stride and limit == size
        divides = size % count == 0 and size // count % stride == 0
        if count > 1 and not is_whole and not (is_every_nth and divides):
            return False
    return True


_SPLITTABLE = {
    "stablehlo.constant": _has_equal_parts,
    "stablehlo.iota": _is_iota_of_whole,
    "stablehlo.slice": _is_slice_of_parts,
}
"""Operations -> whether a sharded one is the same operation on each device."""
