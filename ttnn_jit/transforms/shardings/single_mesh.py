"""A module whose shardings name several meshes, parts of axes or permuted devices gets one mesh of whole axes.

The devices of the new mesh are in order: those of groups and pairs of collectives get the numbers of their places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from ttnn_jit.diagnostics.errors import CompileError, ShapeError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.attribute_writer import dense_attribute
from ttnn_jit.dialects.text_calls.text_attributes import attributes_of, name_of, value_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute
from ttnn_jit.ops.conversions.shardings import renumbered
from ttnn_jit.ops.families.text_operation import DenseNumbers
from ttnn_jit.transforms.shardings.mesh_axes import Axes
from ttnn_jit.transforms.shardings.mesh_refinement import NamedMesh, Part, Refinement, mesh_of_sizes

_LISTS_OF_DEVICES = ("replica_groups", "source_target_pairs")
_NUMBERS_OF_DEVICES = ("stablehlo.partition_id", "stablehlo.replica_id")


def unify_meshes(module: ModuleOp) -> None:
    """Gives a module one mesh, of which its shardings name whole axes, and whose devices are in order.

    A module that has such a mesh stays as it is.

    Raises:
        CompileError: Its meshes have other devices, or their axes consist of no common parts; or an op asks for the
            number of its device, and the devices are permuted.
    """
    ops = [op for op in module.body.block.ops if name_of(op) == "sdy.mesh" and _axes_of(op)]
    if not ops:
        return
    try:
        stated = {attributes_of(op)["sym_name"]: _mesh_of(attributes_of(op)["mesh"]) for op in ops}
        inline: dict[str, NamedMesh] = {}
        parts = _parts_in(module, inline)
        every = {**stated, **inline}
        if _is_one(every, parts):
            return
        used = {each.mesh for each in parts} or {next(iter(stated))}
        meshes = {name: each for name, each in every.items() if name in used}
        meshes = dict(sorted(meshes.items(), key=lambda item: not item[1].is_in_order))
        refinement = Refinement(meshes, parts)
    except ShapeError as error:
        raise CompileError(error.message, location=location_of(ops[0])) from error
    _Rewriting(module, meshes, refinement).rewrite(ops)


def _is_one(meshes: dict[str, NamedMesh], parts: set[Part]) -> bool:
    """Whether all meshes are equal, in order, and named by whole axes."""
    first = next(iter(meshes.values()))
    equal = all([*each.sizes.items()] == [*first.sizes.items()] and each.is_in_order for each in meshes.values())
    return equal and all(each == Part(each.mesh, each.axis, 1, meshes[each.mesh].sizes[each.axis]) for each in parts)


def _axes_of(op: Operation) -> Sequence[Any]:
    found: Sequence[Any] = attributes_of(op)["mesh"].get("axes", ())
    return found


def _mesh_of(stated: Any) -> NamedMesh:
    axes = {each["name"]: int(each["size"]) for each in stated.get("axes", ())}
    return mesh_of_sizes(axes, [int(each) for each in stated.get("device_ids", ())])


# --- Reading ----------------------------------------------------------------------------------------------------------


def _parts_in(module: ModuleOp, inline: dict[str, NamedMesh]) -> set[Part]:
    """The parts of axes that the shardings of a module name; meshes that stand in a sharding are added to `inline`."""
    stated = {attributes_of(op)["sym_name"]: op for op in module.body.block.ops if name_of(op) == "sdy.mesh"}
    sizes = {name: _mesh_of(attributes_of(op)["mesh"]).sizes for name, op in stated.items() if _axes_of(op)}
    found: set[Part] = set()

    def read(sharding: TableAttribute, op: Operation) -> TableAttribute:
        name = _mesh_name(sharding)
        if name not in stated and isinstance(sharding.value("mesh_or_ref"), TableAttribute):
            mesh = _mesh_of(value_of(sharding)["mesh_or_ref"])
            if not mesh.sizes:
                return sharding
            inline[name] = mesh
            sizes[name] = mesh.sizes
        for axis in _axis_references(sharding):
            if name in sizes and axis["name"] not in sizes[name]:
                raise CompileError(f"the mesh has no axis {axis['name']!r}", location=location_of(op))
            if name in sizes:
                found.add(_part(name, axis, sizes[name][axis["name"]]))
        return sharding

    _each_sharding(module, read)
    return found


def _mesh_name(sharding: TableAttribute) -> str:
    """The symbol of a sharding's mesh, or the text of the mesh itself."""
    mesh = sharding.value("mesh_or_ref")
    return str(value_of(mesh)) if isinstance(mesh, SymbolRefAttr) else str(mesh)


def _part(mesh: str, axis: Any, size: int) -> Part:
    part = axis.get("sub_axis_info") or {"pre_size": 1, "size": size}
    pre, own = int(part["pre_size"]), int(part["size"])
    if pre < 1 or own < 1 or size % (pre * own):
        raise ShapeError(f"the axis {axis['name']!r} of {size} devices has no part ({pre}){own}")
    return Part(mesh, axis["name"], pre, own)


def _axis_references(value: Any) -> list[Any]:
    """The axes that an attribute names."""
    if isinstance(value, TableAttribute):
        if value.name == "sdy.axis_ref":
            return [value_of(value)]
        if value.name == "sdy.mesh":
            return []
        value = tuple(each for _, each in value.data)
    return [found for each in value for found in _axis_references(each)] if isinstance(value, tuple) else []


Rewrite = Callable[[TableAttribute, Operation], TableAttribute]


def _each_sharding(module: ModuleOp, rewrite: Rewrite) -> None:
    """Replaces every `#sdy.sharding` of a module, alone or of several values, by what `rewrite` gives."""

    def restated(attribute: Attribute, op: Operation) -> Attribute:
        if not isinstance(attribute, TableAttribute):
            return attribute
        if attribute.name == "sdy.sharding":
            return rewrite(attribute, op)
        if attribute.name == "sdy.sharding_per_value":
            listed = tuple(attribute.value("shardings") or ())
            unread = next((each for each in listed if not isinstance(each, TableAttribute)), None)
            if unread is not None:
                raise CompileError(f"{unread} is no sharding", location=location_of(op))
            listed = tuple(rewrite(each, op) for each in listed)
            return type(attribute)((("shardings", listed),) if listed else ())
        return attribute

    for op in module.walk():
        for held in (op.attributes, op.properties):
            for name, each in [*held.items()]:
                held[name] = restated(each, op)
        if isinstance(op, FuncOp):
            op.arg_attrs = _of_values(op.arg_attrs, partial(restated, op=op))
            op.res_attrs = _of_values(op.res_attrs, partial(restated, op=op))


def _of_values(
    attributes: ArrayAttr[DictionaryAttr] | None, change: Callable[[Attribute], Attribute]
) -> ArrayAttr[DictionaryAttr] | None:
    """The attributes of arguments or results, changed."""
    if attributes is None:
        return None
    return ArrayAttr(DictionaryAttr({name: change(each) for name, each in own.data.items()}) for own in attributes)


# --- Rewriting --------------------------------------------------------------------------------------------------------


class _Rewriting:
    """Rewrites a module for another mesh.

    Args:
        module: The module.
        meshes: Its meshes by name; the new one stands in the place of the first.
        refinement: The axes of the new mesh.
    """

    def __init__(self, module: ModuleOp, meshes: Mapping[str, NamedMesh], refinement: Refinement) -> None:
        self._module = module
        self._meshes = meshes
        self._refinement = refinement
        base, self._mesh = next(iter(meshes.items()))
        self._name = base if base.isidentifier() else "mesh"
        self._place = {device: index for index, device in enumerate(self._mesh.devices)}
        self._replaced: set[str] = set()

    def rewrite(self, ops: Sequence[Operation]) -> None:
        """Replaces the meshes `ops` by one, and what names axes and devices of them."""
        for op in self._module.walk():
            self._rename_manual_axes(op)
            if not self._mesh.is_in_order:
                self._renumber(op)
        self._replaced = {attributes_of(op)["sym_name"] for op in ops}
        _each_sharding(self._module, self._restated)
        axes = ", ".join(f'"{name}"={size}' for name, size in self._refinement.sizes.items())
        kept, *others = ops
        kept.properties["mesh"] = parsed(f"#sdy.mesh<[{axes}]>")
        kept.properties["sym_name"] = StringAttr(self._name)
        for op in others:
            block = op.parent
            assert block is not None, "the op is in the module"
            block.erase_op(op)

    # --- Axes ---------------------------------------------------------------------------------------------------------

    def _axes(self, mesh: str, axis: Any) -> Axes:
        return self._refinement.axes(_part(mesh, axis, self._meshes[mesh].sizes[axis["name"]]))

    def _restated(self, sharding: TableAttribute, op: Operation) -> TableAttribute:  # noqa: ARG002 - as `Rewrite`
        name = _mesh_name(sharding)
        if name not in self._meshes and name not in self._replaced:
            return sharding
        changed = self._renamed(sharding, name)
        data = [(key, SymbolRefAttr(self._name) if key == "mesh_or_ref" else each) for key, each in changed.data]
        return type(sharding)(tuple(data))

    def _renamed(self, attribute: TableAttribute, mesh: str) -> TableAttribute:
        """An attribute with other axes; lists of axes that are empty have no entry."""
        data = ((key, self._renamed_value(each, mesh)) for key, each in attribute.data)
        return type(attribute)(tuple((key, each) for key, each in data if each != ()))

    def _renamed_value(self, value: Any, mesh: str) -> Any:
        if isinstance(value, TableAttribute) and value.name != "sdy.mesh":
            return self._renamed(value, mesh)
        if not isinstance(value, tuple):
            return value
        found: list[Any] = []
        for each in value:
            if isinstance(each, TableAttribute) and each.name == "sdy.axis_ref":
                found += [type(each)((("name", name),)) for name in self._axes(mesh, value_of(each))]
            else:
                found.append(self._renamed_value(each, mesh))
        return tuple(found)

    def _rename_manual_axes(self, op: Operation) -> None:
        """The axes of a manual computation are those of the mesh of its shardings."""
        manual = op.properties.get("manual_axes")
        if not isinstance(manual, TableAttribute) or not manual.value("value"):
            return
        given = [op.properties[name] for name in ("in_shardings", "out_shardings")]
        listed = [each.value("shardings") or () for each in given if isinstance(each, TableAttribute)]
        names = [_mesh_name(each) for shardings in listed for each in shardings]
        mesh = next((each for each in names if each in self._meshes), next(iter(self._meshes)))
        axes_before = manual.value("value")
        unknown = next((each.data for each in axes_before if each.data not in self._meshes[mesh].sizes), None)
        if unknown is not None:
            raise CompileError(f"the mesh has no axis {unknown!r}", location=location_of(op))
        axes = [StringAttr(axis) for each in axes_before for axis in self._axes(mesh, {"name": each.data})]
        op.properties["manual_axes"] = type(manual)((("value", (*axes,)),) if axes else ())

    # --- Devices ------------------------------------------------------------------------------------------------------

    def _renumber(self, op: Operation) -> None:
        """Devices get the numbers of their places."""
        if name_of(op) in _NUMBERS_OF_DEVICES:
            raise CompileError(
                f"`{name_of(op)}` asks for the number of its device, and those of the mesh are permuted",
                location=location_of(op),
            )
        for name in _LISTS_OF_DEVICES:
            if name in op.properties:
                op.properties[name] = self._renumbered(op.properties[name])
        tiles = op.attributes.get("mhlo.sharding")
        if isinstance(tiles, StringAttr):
            op.attributes["mhlo.sharding"] = StringAttr(renumbered(tiles.data, self._place))

    def _renumbered(self, devices: Attribute) -> Attribute:
        numbers = value_of(devices)
        if not isinstance(numbers, DenseNumbers):
            return devices
        found = tuple(self._place.get(int(each), int(each)) for each in numbers.numbers)
        return dense_attribute(DenseNumbers(numbers.shape, found), i64)
