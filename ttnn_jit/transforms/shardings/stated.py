"""The mesh of a text, and the shardings that it states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError, TtnnJitError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.meshes_of_texts import mesh_of_text
from ttnn_jit.dialects.text_calls.text_attributes import attributes_of, name_of, value_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.rewriting.rewriter import operation_kind
from ttnn_jit.dialects.writing.editing import insert_before
from ttnn_jit.events.listeners import remark
from ttnn_jit.ops.conversions.shardings import axes_of_tiling, tiling_of_text
from ttnn_jit.ops.families.dialect_conversion import Conversion
from ttnn_jit.ops.families.text_operation import Role, TextOperation
from ttnn_jit.transforms.shardings.mesh_axes import Mesh, Sharding
from ttnn_jit.transforms.shardings.propagation import Stated

_AXES = ("x", "y", "z")
"""The axes of a mesh that the text does not name."""

SHARDINGS = ("sdy.sharding", "mhlo.sharding")
"""Attributes of arguments, results and ops that say how they are cut among devices."""


def mesh_in(module: ModuleOp, extents: Sequence[int]) -> Mesh | None:
    """The mesh of a module's `sdy.mesh`, or of its shardings of XLA, which then becomes one.

    Args:
        module: The module.
        extents: The extents that are meant instead; empty for the module's.

    Raises:
        CompileError: Its meshes differ, or `extents` has another rank.
    """
    found: dict[str, dict[str, int]] = {}
    for op in module.body.block.ops:
        if name_of(op) == "sdy.mesh":
            stated = attributes_of(op)["mesh"]
            axes = {each["name"]: int(each["size"]) for each in stated.get("axes", ())}
            if axes and any(axes != each for each in found.values()):
                raise CompileError("the module has several meshes", location=location_of(op))
            if axes:
                found[attributes_of(op)["sym_name"]] = axes
    if not found:
        return _made_mesh(module, extents or mesh_of_text(module))
    name, axes = next(iter(found.items()))
    if len(axes) == 1:
        axes = _with_two_axes(module, axes)
    if extents and len(extents) != len(axes):
        raise CompileError(f"mesh-shape has {len(extents)} extents, and the mesh @{name} has {len(axes)} axes")
    return Mesh(name, dict(zip(axes, extents, strict=True)) if extents else axes)


def _with_two_axes(module: ModuleOp, axes: Mapping[str, int]) -> dict[str, int]:
    """A mesh of one axis as one of two, the first of one device, as those of ttnn are."""
    (own,) = axes
    wide = {f"{own}_aux": 1, **axes}
    for op in module.body.block.ops:
        if name_of(op) == "sdy.mesh" and attributes_of(op)["mesh"].get("axes", ()):
            op.properties["mesh"] = _mesh_of(wide)
    return wide


def _mesh_of(sizes: Mapping[str, int]) -> Attribute:
    axes = ", ".join(f'"{name}"={size}' for name, size in sizes.items())
    return parsed(f"#sdy.mesh<[{axes}]>")


def _made_mesh(module: ModuleOp, extents: Sequence[int]) -> Mesh | None:
    """A new `sdy.mesh`; None of one device."""
    first = module.body.block.first_op
    if not extents or first is None:
        return None
    sizes = dict(zip(_AXES, (*(1,) * (2 - len(extents)), *extents), strict=False))
    properties = {"sym_name": StringAttr("mesh"), "mesh": _mesh_of(sizes)}
    made = operation_kind("sdy.mesh").create(properties=properties)
    made.location = module.location
    insert_before(made, first)
    return Mesh("mesh", sizes)


class StatedShardings:
    """The shardings that a function states.

    Args:
        function: The function.
        mesh: The mesh of its module.

    Attributes:
        values: Value -> what the text says of it.
        results: Of each result of the function, what the text says, or None.
    """

    def __init__(self, function: FuncOp, mesh: Mesh) -> None:
        self._mesh = mesh
        self.values: dict[SSAValue, Stated] = {}
        for value, noted in zip(function.body.block.args, _notes(function.arg_attrs, function.args), strict=True):
            self._state(value, self._of_notes(value.type, noted, function))
        last = function.body.block.last_op
        assert last is not None, "a function ends with its return"
        returned = last.operands
        notes = _notes(function.res_attrs, returned)
        self.results = [self._of_notes(value.type, each, function) for value, each in zip(returned, notes, strict=True)]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is cut."""
        every = [*self.values.values(), *filter(None, self.results)]
        return not any(any(each.sharding) for each in every)

    def read(self, op: Operation, operation: TextOperation | None) -> None:
        """Reads what an op of the function says of its results.

        Raises:
            CompileError: It cuts a manual computation unevenly, or along an axis that the mesh has not.
        """
        attributes = attributes_of(op)
        if operation is not None and operation.role is Role.SHARDS:
            for value, each in zip(op.results, attributes["out_shardings"].get("shardings", ()), strict=True):
                self._state(value, self._of_axes(value.type, each, op)._replace(is_open=(False,) * _rank(value.type)))
            return
        names = operation.states_parts if isinstance(operation, Conversion) else ()
        single = next((attributes[name] for name in names if name in attributes), None)
        if "sdy.sharding" not in attributes and single is not None:
            self._state(op.results[0], self._of_notes(op.results[0].type, {_kind(single): single}, op))
        elif "sdy.sharding" in attributes:
            listed = attributes["sdy.sharding"].get("shardings", ())
            for value, each in zip(op.results, listed, strict=False):
                self._state(value, self._of_axes(value.type, each, op))
        elif "mhlo.sharding" in attributes and len(op.results) == 1:
            self._state(op.results[0], self._of_notes(op.results[0].type, attributes, op))

    def _state(self, value: SSAValue, stated: Stated | None) -> None:
        if stated is not None:
            self.values[value] = stated

    def _of_notes(self, type_: Attribute, notes: Mapping[str, Any], op: Operation) -> Stated | None:
        """What attributes of a value say."""
        if not isinstance(type_, TensorType):
            return None
        if "sdy.sharding" in notes:
            return self._of_axes(type_, notes["sdy.sharding"], op)
        if "mhlo.sharding" in notes:
            return self._of_tiles(type_, notes["mhlo.sharding"], op)
        return None

    def of_axes(self, type_: Attribute, stated: Mapping[str, Any], op: Operation) -> Sharding:
        """The sharding that a `#sdy.sharding` of a value of this type is."""
        return self._of_axes(type_, stated, op).sharding

    def _of_axes(self, type_: Attribute, stated: Mapping[str, Any], op: Operation) -> Stated:
        if not isinstance(stated, Mapping):  # a body that did not parse
            raise CompileError(f"{stated} is no sharding", location=location_of(op))
        dimensions = stated.get("dim_shardings", ())
        found = []
        for each in dimensions:
            for axis in each.get("axes", ()):
                if axis["name"] not in self._mesh.sizes:
                    raise CompileError(f"the mesh has no axis {axis['name']!r}", location=location_of(op))
            found.append(tuple(axis["name"] for axis in each.get("axes", ())))
        is_open = tuple(not each.get("is_closed", False) for each in dimensions)
        return self._checked(type_, Stated(tuple(found), is_open), op)

    def _of_tiles(self, type_: TensorType[Attribute], text: str, op: Operation) -> Stated:
        rank = len(type_.get_shape())
        try:
            tiling = tiling_of_text(text, rank, self._mesh.devices)
            axes = [{"name": name, "size": size} for name, size in self._mesh.sizes.items()]
            found = axes_of_tiling(tiling, axes)
        except TtnnJitError as error:
            raise CompileError(error.message, location=location_of(op)) from error
        return self._checked(type_, Stated(found, (False,) * rank), op)

    def _checked(self, type_: Attribute, stated: Stated, op: Operation) -> Stated:
        """What is stated, without the axes that do not cut a dimension evenly, and those inside them."""
        assert isinstance(type_, TensorType)
        shape = type_.get_shape()
        if len(shape) != len(stated.sharding):
            raise CompileError(
                f"`{name_of(op)}`: its sharding has {len(stated.sharding)} dimensions, and its tensor {len(shape)}",
                location=location_of(op),
            )
        even = tuple(self._mesh.even(extent, axes) for extent, axes in zip(shape, stated.sharding, strict=True))
        if even == stated.sharding:
            return stated
        if name_of(op) == "sdy.manual_computation":
            raise CompileError(
                f"`{name_of(op)}`: its sharding does not cut {list(shape)} evenly", location=location_of(op)
            )
        left = sorted({axis for own, kept in zip(stated.sharding, even, strict=True) for axis in own[len(kept) :]})
        remark(
            name_of(op),
            location_of(op),
            f"`{name_of(op)}`: its sharding does not cut {list(shape)} evenly: it is not cut along {', '.join(left)}",
        )
        return stated._replace(sharding=even)


def _kind(sharding: Any) -> str:
    return "mhlo.sharding" if isinstance(sharding, str) else "sdy.sharding"


def _rank(type_: Attribute) -> int:
    return len(type_.get_shape()) if isinstance(type_, TensorType) else 0


def _notes(attributes: ArrayAttr[DictionaryAttr] | None, values: Sequence[Any]) -> list[dict[str, Any]]:
    """Of each argument or result, the values of its attributes."""
    if attributes is None:
        return [{} for _ in values]
    return [
        {name: value_of(each[name]) for name in SHARDINGS if name in each}
        for each in (own.data for own in attributes.data)
    ]
