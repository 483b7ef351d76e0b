"""Meshes and shardings of Shardy, and its operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl import ir

from ttnn_jit.dialects.text_calls.text_attributes import value_of as python_value
from ttnn_jit.module_builders.base.debug_methods import DebugMethods
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor
from ttnn_jit.ops.conversions.shardings import Tiling, narrowed, tilings_of_values
from ttnn_jit.ttmlir.dialect_modules import dialect_module
from ttnn_jit.ttmlir.mlir_attributes import Attribute, StringAttr
from ttnn_jit.ttmlir.mlir_operations import InsertionPoint
from ttnn_jit.ttmlir.mlir_types import RankedTensorType
from ttnn_jit.ttmlir.mlir_values import Block, Value, value_of

_SDY = dialect_module("sdy", "ttmlir.dialects.sdy")
_MPMD = dialect_module("mpmd", "ttmlir.dialects.mpmd")


class ShardingMethods(DebugMethods):
    """Attributes and operations of Shardy."""

    def mesh_axis_attr(self, name: str, size: int) -> Any:
        """An axis of a mesh."""
        return _SDY.MeshAxisAttr.get(name, size)

    def mesh_attr(self, axes: Sequence[Any]) -> Any:
        """A mesh."""
        return _SDY.MeshAttr.get([*axes])

    def axis_ref_attr(self, name: str, sub_axis_info_attr: Any = None) -> Any:
        """An axis, or a part of one, by which a dimension is cut."""
        return _SDY.AxisRefAttr.get(name, sub_axis_info_attr)

    def dimension_sharding_attr(self, axes: Sequence[Any], is_closed: bool, priority: int | None = None) -> Any:
        """How a dimension is cut."""
        return _SDY.DimensionShardingAttr.get([*axes], is_closed, priority)

    def tensor_sharding_attr(
        self,
        mesh_name: str,
        dimension_shardings: Sequence[Any],
        replicated_axes: Sequence[Any] = (),
        unreduced_axes: Sequence[Any] = (),
    ) -> Any:
        """How a tensor is cut."""
        others = [*replicated_axes], [*unreduced_axes]
        return _SDY.TensorShardingAttr.get(mesh_name, [*dimension_shardings], *others)

    def tensor_sharding_per_value_attr(self, shardings: Sequence[Any]) -> Any:
        """How several tensors are cut."""
        return _SDY.TensorShardingPerValueAttr.get([*shardings])

    def create_sharding_attr_from_tuples(
        self,
        mesh_name: str,
        shardings: Sequence[tuple[str, bool]],
        replicated_axes: Sequence[Any] = (),
        unreduced_axes: Sequence[Any] = (),
    ) -> Any:
        """How one tensor is cut: of each dimension the axis, or "" for none, and whether no other axis may cut it."""
        parts = [
            self.dimension_sharding_attr(axes=[self.axis_ref_attr(name=axis)] if axis else [], is_closed=is_closed)
            for axis, is_closed in shardings
        ]
        return self.tensor_sharding_per_value_attr(
            [self.tensor_sharding_attr(mesh_name, parts, replicated_axes, unreduced_axes)]
        )

    def manual_axes_attr(self, manual_axes: Sequence[str]) -> Any:
        """The axes along which a computation is written for one device."""
        return _SDY.ManualAxesAttr.get([StringAttr.get(each) for each in manual_axes])

    def axes_ref_list_attr(self, axis_ref_list: Sequence[Any]) -> Any:
        """Axes of one dimension."""
        return _SDY.AxisRefListAttr.get([*axis_ref_list])

    def list_of_axis_ref_lists_attr(self, list_of_axis_ref_lists: Sequence[Any]) -> Any:
        """Axes of each dimension."""
        return _SDY.ListOfAxisRefListsAttr.get([*list_of_axis_ref_lists])

    def experimental_named_mesh_attr(self, name: str, mesh_attr: Attribute) -> Any:
        """A mesh with a name, of a topology."""
        return _MPMD.NamedMeshAttr.get(name, mesh_attr)

    def experimental_topology_attr(self, meshes: Sequence[Attribute]) -> Any:
        """Several meshes."""
        return _MPMD.TopologyAttr.get([*meshes])

    def experimental_user_origin_attr(self, user_name: str, transpose_count: int = 0) -> Any:
        """The name that a user gave a computation."""
        return _MPMD.UserOriginAttr.get(user_name=user_name, transpose_count=transpose_count)

    def experimental_origin_attr(self, origin_label: str) -> Any:
        """Where an operation comes from."""
        return _MPMD.OriginAttr.get(origin_label=origin_label)

    def mesh(self, mesh_name: str, mesh_attr: Attribute, block: Block | None = None) -> Any:
        """Declares a mesh, at the current place or at the end of a block."""
        point = None if block is None else InsertionPoint(block)
        return _SDY.MeshOp(sym_name=mesh_name, mesh=mesh_attr, ip=point)

    def sharding_constraint(self, in0: Value, tensor_sharding_attr: Attribute, loc: Any = None) -> Any:
        """The tensor, which must be cut so."""
        return self._unchanged("sdy.sharding_constraint", "input", in0, loc, sharding=tensor_sharding_attr)

    def reshard(self, in0: Value, tensor_sharding_attr: Attribute, loc: Any = None) -> Any:
        """The tensor, cut anew."""
        return self._unchanged("sdy.reshard", "input", in0, loc, sharding=tensor_sharding_attr)

    def sdy_all_gather(self, in0: Value, gathering_axes: Attribute, out_sharding: Attribute, loc: Any = None) -> Any:
        """The tensor, not cut along some axes any more."""
        attributes = {"gathering_axes": gathering_axes, "out_sharding": out_sharding}
        return self._unchanged("sdy.all_gather", "tensor", in0, loc, **attributes)

    def _unchanged(self, name: str, operand: str, value: Value, loc: Any, **attributes: Attribute) -> Any:
        """The result of an operation that changes where elements are, and none of them."""
        held = {key: each.held for key, each in attributes.items()}
        made = self.emit(name, {operand: value}, held, types=[value.type], loc=loc, computes=False)
        self._set_golden_tensor(made, self._get_golden_tensor(value))
        return made

    def manual_computation(
        self,
        nested_func: Callable[..., Any],
        original_inputs: Sequence[Value],
        in_shardings: Sequence[Attribute],
        out_shardings: Sequence[Attribute],
        manual_axes: Sequence[str],
        loc: Any = None,
    ) -> Any:
        """The results of a function of the part of each device.

        Args:
            nested_func: ``nested_func(*parts, builder)``.
            original_inputs: The tensors that are cut.
            in_shardings: How each of them is.
            out_shardings: How each result is.
            manual_axes: The axes along which they are cut.
            loc: The location.
        """
        given, wanted = (self._tilings(each, manual_axes) for each in (in_shardings, out_shardings))
        parts = [self._part_type(value, tiling) for value, tiling in zip(original_inputs, given, strict=True)]
        block = ir.Block(arg_types=[each.held for each in parts])
        for value, argument, tiling in zip(original_inputs, block.args, given, strict=True):
            self._set_golden_tensor(value_of(argument), self._cut(self._get_golden_tensor(value), tiling))
        with InsertionPoint(Block(block)):
            found = nested_func(*map(value_of, block.args), self)
            outputs = [*found] if isinstance(found, list | tuple) else [found]
            _SDY.ReturnOp(outputs)
        types = []
        for output, tiling in zip(outputs, wanted, strict=True):
            shape = [extent * count for extent, count in zip(self.get_shape(output), tiling.counts, strict=True)]
            types.append(RankedTensorType.get(shape, self.get_type(output)))
        attributes = {
            "in_shardings": self.tensor_sharding_per_value_attr(in_shardings).held,
            "out_shardings": self.tensor_sharding_per_value_attr(out_shardings).held,
            "manual_axes": self.manual_axes_attr(manual_axes).held,
        }
        operands = {"tensors": [*original_inputs]}
        return self.emit(
            "sdy.manual_computation", operands, attributes, types=types, loc=loc, regions=[ir.Region(block)]
        )

    def _tilings(self, shardings: Sequence[Attribute], manual_axes: Sequence[str]) -> list[Tiling]:
        meshes = {
            name: {"axes": [{"name": axis, "size": size} for axis, size in axes.items()]}
            for name, axes in self._meshes.items()
        }
        values = python_value(self.tensor_sharding_per_value_attr(shardings).held)
        axes = python_value(self.manual_axes_attr(manual_axes).held)
        return tilings_of_values(values, axes, meshes)

    def _part_type(self, value: Value, tiling: Tiling) -> Any:
        shape = [extent // count for extent, count in zip(self.get_shape(value), tiling.counts, strict=True)]
        return RankedTensorType.get(shape, self.get_type(value))

    def _cut(self, golden: GoldenMapTensor, tiling: Tiling) -> GoldenMapTensor:
        parts = {
            device: tiling.part_of(golden.shard_at(device), device, narrowed).contiguous()
            for device in range(self._devices)
        }
        return GoldenMapTensor(parts, self._mesh_shape)
