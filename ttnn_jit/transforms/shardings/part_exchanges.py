"""Collectives that change how a tensor is cut, written as ops of StableHLO on parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, LocationAttr, TensorType, UnitAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttnn_jit.dialects.text_calls.attribute_writer import dense_attribute
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.rewriting.rewriter import operation_kind
from ttnn_jit.ops.families.text_operation import DenseNumbers
from ttnn_jit.transforms.shardings.mesh_axes import Mesh, Sharding, is_prefix

_REDUCERS = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}
"""The kind of a reduction -> the op of StableHLO that combines two scalars."""


def made(
    name: str,
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    properties: Mapping[str, Attribute],
    location: LocationAttr,
    regions: Sequence[Region] = (),
) -> Operation:
    """An op of the tables."""
    op = operation_kind(name).create(
        operands=[*operands], result_types=[*types], properties={**properties}, regions=[*regions]
    )
    op.location = location
    return op


def _integer(value: int) -> Attribute:
    return IntegerAttr(value, i64)


def _shape(x: SSAValue) -> list[int]:
    assert isinstance(x.type, TensorType)
    return [*x.type.get_shape()]


class CollectiveWriter:
    """Appends collectives to a list of ops.

    Args:
        mesh: The mesh, each axis of which is an axis of groups.
        ops: The list.

    Attributes:
        location: The place of the ops that are written.
    """

    def __init__(self, mesh: Mesh, ops: list[Operation], location: LocationAttr) -> None:
        self.location = location
        self._mesh = mesh
        self._ops = ops
        self._channels = 0

    def _write(
        self,
        name: str,
        x: SSAValue,
        shape: Sequence[int],
        properties: Mapping[str, Attribute],
        regions: Sequence[Region] = (),
    ) -> SSAValue:
        assert isinstance(x.type, TensorType)
        kind = TensorType(x.type.get_element_type(), [*shape])
        op = made(name, [x], [kind], properties, self.location, regions)
        self._ops.append(op)
        return op.results[0]

    def _groups(self, axis: str) -> dict[str, Attribute]:
        groups = self._mesh.groups(axis)
        numbers = DenseNumbers((len(groups), len(groups[0])), tuple(device for group in groups for device in group))
        self._channels += 1
        channel = parsed(f"#stablehlo.channel_handle<handle = {self._channels}, type = 1>")
        return {"replica_groups": dense_attribute(numbers, i64), "channel_handle": channel}

    def all_reduce(self, x: SSAValue, axis: str, kind: str) -> SSAValue:
        """`x` combined with the tensors of the other devices along an axis."""
        assert isinstance(x.type, TensorType)
        scalar = TensorType(x.type.get_element_type(), [])
        block = Block(arg_types=[scalar, scalar])
        combined = made(f"stablehlo.{_REDUCERS[kind]}", block.args, [scalar], {}, self.location)
        block.add_ops([combined, made("stablehlo.return", combined.results, [], {}, self.location)])
        properties = {**self._groups(axis), "use_global_device_ids": UnitAttr()}
        return self._write("stablehlo.all_reduce", x, _shape(x), properties, [Region(block)])

    def all_gather(self, x: SSAValue, axis: str, dim: int) -> SSAValue:
        """The tensors along an axis, one after the other along a dimension."""
        if self._mesh.sizes[axis] == 1:
            return x
        shape = _shape(x)
        shape[dim] *= self._mesh.sizes[axis]
        properties = {**self._groups(axis), "all_gather_dim": _integer(dim), "use_global_device_ids": UnitAttr()}
        return self._write("stablehlo.all_gather", x, shape, properties)

    def all_to_all(self, x: SSAValue, axis: str, split: int, concat: int) -> SSAValue:
        """Parts along one dimension exchanged for parts along another."""
        shape, count = _shape(x), self._mesh.sizes[axis]
        shape[split] //= count
        shape[concat] *= count
        numbers = {"split_dimension": split, "concat_dimension": concat, "split_count": count}
        properties = {name: _integer(each) for name, each in numbers.items()}
        return self._write("stablehlo.all_to_all", x, shape, {**self._groups(axis), **properties})

    def part(self, x: SSAValue, axis: str, dim: int) -> SSAValue:
        """The part of each device of a tensor that all devices along an axis have.

        StableHLO has no op for it: parts are sent to the devices whose they are, and one of the equal ones is kept.
        """
        if self._mesh.sizes[axis] == 1:
            return x
        shape, count = _shape(x), self._mesh.sizes[axis]
        extent = shape[dim] // count
        apart = self._write("stablehlo.reshape", x, [*shape[:dim], count, extent, *shape[dim + 1 :]], {})
        sent = self.all_to_all(apart, axis, dim, dim)
        wide = _shape(sent)
        kept = [1 if index == dim else each for index, each in enumerate(wide)]
        limits = {"start_indices": [0] * len(wide), "limit_indices": kept, "strides": [1] * len(wide)}
        bounds = {name: DenseArrayBase.from_list(i64, each) for name, each in limits.items()}
        first = self._write("stablehlo.slice", sent, kept, bounds)
        return self._write("stablehlo.reshape", first, [*shape[:dim], extent, *shape[dim + 1 :]], {})

    def resharded(self, x: SSAValue, before: Sharding, after: Sharding) -> SSAValue:
        """`x` cut in another way: axes move to other dimensions, or are gathered and cut anew, inner ones first."""
        own = [[*axes] for axes in before]
        for dim, axes in enumerate(own):
            while not is_prefix(tuple(axes), after[dim]):
                axis = axes.pop()
                to = next((at for at, each in enumerate(own) if _is_next(axis, each, after[at])), None)
                if to is None or _shape(x)[to] % self._mesh.sizes[axis]:
                    x = self.all_gather(x, axis, dim)
                else:
                    x = self.all_to_all(x, axis, to, dim)
                    own[to].append(axis)
        for dim, axes in enumerate(own):
            for axis in after[dim][len(axes) :]:
                x = self.part(x, axis, dim)
        return x


def _is_next(axis: str, own: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether a dimension cut along `own` is cut along `axis` next."""
    return [*wanted[: len(own) + 1]] == [*own, axis]


def sharding_text(mesh: Mesh, sharding: Sharding) -> str:
    """``<@mesh, [{"x"}, {}]>``."""
    dimensions = ("{" + ", ".join(f'"{axis}"' for axis in axes) + "}" for axes in sharding)
    return f"<@{mesh.name}, [{', '.join(dimensions)}]>"


def manual_computation(
    mesh: Mesh,
    operands: Sequence[SSAValue],
    given: Sequence[Sharding],
    types: Sequence[Attribute],
    found: Sequence[Sharding],
    region: Region,
    location: LocationAttr,
) -> Operation:
    """A `sdy.manual_computation` along all axes of a mesh, with the shardings of its operands and results."""
    properties = {
        name: parsed(f"#sdy.sharding_per_value<[{', '.join(sharding_text(mesh, each) for each in shardings)}]>")
        for name, shardings in (("in_shardings", given), ("out_shardings", found))
    }
    axes = ", ".join(f'"{axis}"' for axis in mesh.sizes)
    properties["manual_axes"] = parsed(f"#sdy<manual_axes{{{axes}}}>")
    return made("sdy.manual_computation", operands, types, properties, location, [region])
