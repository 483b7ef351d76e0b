"""The family of collectives: operations whose results on one device are made of tensors on several.

A declaration expands a call into plain data: for every device, its results as expressions (`Source`) over the operands'
shards on the devices of its group. The expressions are copies of whole shards or slices, concatenations, constants, and
folds of any number of terms. The shapes of results follow from them. Eager calls evaluate them
(`ttnn_jit/ttnn/meshes/exchange.py`); in a program for a mesh they become launches
(`ttnn_jit/codegen/meshes/exchanges.py`).

The order of a fold is a tree over its terms: neighbours are combined pairwise, level by level, and an odd last one is
carried to the next level. Terms are in the order of device numbers, so the result does not depend on where a term is
computed. Floats are folded in float32 and rounded once; of integers the result is the low bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops.language.operation import OperandSpec, Operation
from ttnn_jit.ops.language.parameter import CLUSTER_AXIS, REPLICA_GROUPS, Parameter
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.dtypes import ALL_DTYPES, DataType
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.meshes.tensor_topology import REPLICATE, PlacementShard, TensorTopology
from ttnn_jit.specs.tensor_spec import TensorSpec

T = TypeVar("T")
Extents = tuple[int, ...]

# --- Expressions ------------------------------------------------------------------------------------------------------


class Shard(NamedTuple):
    """The whole tensor of an operand on a device, by the device's number in the mesh."""

    device: int
    operand: int = 0


class Slice(NamedTuple):
    """The elements [begin, end) along a dimension."""

    of: Source
    dim: int
    begin: int
    end: int


class Join(NamedTuple):
    """A concatenation along a dimension."""

    dim: int
    parts: tuple[Source, ...]


class Fill(NamedTuple):
    """A constant tensor with the extents of `like`, but `extent` elements along a dimension."""

    like: Source
    dim: int
    extent: int
    number: float = 0.0


class Fold(NamedTuple):
    """A reduction of equally shaped terms.

    Attributes:
        reduction: One of `REDUCTIONS`.
        terms: The terms in order.
        levels: The sizes of nested folds, innermost first; their product is the number of terms.
        total: The number of terms of the whole reduction, of which these are partial sums; 0 if these are all.
        is_partial: The value is a term of another fold: floats stay float32.
    """

    reduction: str
    terms: tuple[Source, ...]
    levels: Extents
    total: int = 0
    is_partial: bool = False


class Received(NamedTuple):
    """The value of an expression that another rank evaluates and sends."""

    rank: int
    of: Source


Source: TypeAlias = "Shard | Slice | Join | Fill | Fold | Received"
Results: TypeAlias = tuple[Source, ...]
"""The results of a call on one device."""

REDUCE_SUM = "sum"
REDUCE_MEAN = "mean"
REDUCTIONS = (REDUCE_SUM, REDUCE_MEAN, "max", "min", "prod")
"""The reductions of folds; ttnn's standard deviation and variance are refused."""
REDUCE_TYPES = (*REDUCTIONS, "std", "var", "invalid")
"""The reductions that texts may name."""
SHARD_TYPES = ("identity", "replicate", "maximal", "devices")
"""The kinds of `mesh_shard`: no change, whole tensors on every device, on one, and parts."""
FULL_TO_SHARD = "full_to_shard"
SHARD_DIRECTIONS = (FULL_TO_SHARD, "shard_to_full")
"""The directions of `mesh_shard`."""


def shape_of(source: Source, shapes: Sequence[Extents]) -> Extents:
    """The extents of an expression over operands of these shapes."""
    match source:
        case Shard(_, operand):
            return shapes[operand]
        case Slice(of, dim, begin, end):
            return _with_extent(shape_of(of, shapes), dim, end - begin)
        case Join(dim, parts):
            each = [shape_of(part, shapes) for part in parts]
            return _with_extent(each[0], dim, sum(shape[dim] for shape in each))
        case Fill(like, dim, extent, _):
            return _with_extent(shape_of(like, shapes), dim, extent)
        case Fold():
            return shape_of(source.terms[0], shapes)
        case Received(_, of):
            return shape_of(of, shapes)


def devices_read_by(source: Source) -> Iterator[int]:
    """The devices whose shards an expression reads, in order; those of received values too."""
    match source:
        case Shard(device):
            yield device
        case Slice(of) | Received(_, of):
            yield from devices_read_by(of)
        case Join(_, parts) | Fold(_, parts):
            for part in parts:
                yield from devices_read_by(part)
        case Fill():
            return


def _with_extent(shape: Extents, dim: int, extent: int) -> Extents:
    return (*shape[:dim], extent, *shape[dim + 1 :])


def tree_fold(combine: Callable[[T, T], T], terms: Sequence[T], levels: Sequence[int]) -> T:
    """The fold of terms in the order of this family, for nested folds of these sizes, innermost first."""
    for size in levels:
        terms = [_tree(combine, terms[first : first + size]) for first in range(0, len(terms), size)]
    (result,) = terms
    return result


def _tree(combine: Callable[[T, T], T], terms: Sequence[T]) -> T:
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        terms = [*(combine(*pair) for pair in pairs), *(terms[-1:] if len(terms) % 2 else ())]
    return terms[0]


# --- Groups -----------------------------------------------------------------------------------------------------------


class Group(NamedTuple):
    """The devices that exchange with each other.

    Attributes:
        devices: Their numbers in the mesh, in order.
        levels: The sizes of nested folds over them, innermost first.
        mesh: The shape of the mesh; () where an operation does not depend on it.
    """

    devices: Extents
    levels: Extents
    mesh: Extents = ()


@lru_cache(maxsize=256)
def groups_of(
    mesh: MeshShape, numbers: Extents, cluster_axis: int | None, axis_by_axis: bool = False
) -> tuple[Group, ...]:
    """The groups of some devices of a mesh: those along an axis, or all of them in row-major order.

    Args:
        mesh: The shape of the mesh.
        numbers: The devices in row-major order.
        cluster_axis: The axis; None for all devices.
        axis_by_axis: For all devices: whether folds run along axis 0, then along axis 1 and so on, where the devices
            fill a box with several axes.

    Raises:
        ArgumentError: The mesh has no such axis.
    """
    if cluster_axis is None:
        every = _axis_by_axis(mesh, numbers) if axis_by_axis else None
        return (every or Group(numbers, (len(numbers),)),)
    if not 0 <= cluster_axis < len(mesh):
        raise ArgumentError(f"a mesh of shape {tuple(mesh)} has no axis {cluster_axis}")
    coordinates = [*mesh.coordinates()]
    found: dict[Extents, list[int]] = {}
    for number in numbers:
        at = coordinates[number]
        found.setdefault((*at[:cluster_axis], *at[cluster_axis + 1 :]), []).append(number)
    return tuple(Group(tuple(devices), (len(devices),)) for devices in found.values())


def _axis_by_axis(mesh: MeshShape, numbers: Extents) -> Group | None:
    """All devices with axis 0 running fastest; None unless they fill a box with several axes."""
    coordinates = [*mesh.coordinates()]
    every = [coordinates[number] for number in numbers]
    extents = [len({at[axis] for at in every}) for axis in range(len(mesh))]
    box = MeshShape(extents)
    if box.mesh_size() != len(numbers) or sum(extent > 1 for extent in extents) < 2:
        return None
    ordered = sorted(numbers, key=lambda number: coordinates[number][::-1])
    return Group(tuple(ordered), tuple(extents))


# --- The family -------------------------------------------------------------------------------------------------------

AXIS = Parameter("cluster_axis", CLUSTER_AXIS)
"""The last attribute of most collectives: the axis along which devices exchange; None for all of them."""
GROUPS = Parameter("replica_groups", REPLICA_GROUPS)
"""The last attribute of the others, in TTIR: the numbers of the devices of each group."""

Call: TypeAlias = "tuple[Collective, tuple[Any, ...]]"
"""A collective, and the values of its attributes."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Collective(Operation):
    """An operation whose results on one device are made of tensors on several.

    Its last attribute, `AXIS` or `GROUPS`, names the groups of devices, unless all of them are one.

    Attributes:
        expand: ``expand(group, shape, *attributes)``: for each device of the group in order, its results as
            expressions over shards of tensors of `shape`. Raises ShapeError where the attributes do not fit.
        golden: An independent statement in torch: ``golden(torch, shards, *attributes)``: for each device of a group in
            order, its result or its list of results.
        replicates: The index of the attribute that names a dimension along which the result is no longer split; None:
            the result is split as the operand.
        axis_by_axis: Folds over all devices of a mesh with several axes run along one axis after the other.
        depends_on_mesh: Its one group is all devices, and its expansion depends on the shape of the mesh.
        written_as: ``written_as(groups, *attributes)``: the call of another collective that programs contain instead,
            for groups of device numbers; None: programs contain this one.
        asked: The attributes that a call of ttnn gives besides the axis; None: all but the last one.
    """

    expand: Callable[..., Sequence[Results]]
    golden: Callable[..., Sequence[Any]]
    replicates: int | None = None
    axis_by_axis: bool = False
    depends_on_mesh: bool = False
    written_as: Callable[..., Call] | None = None
    asked: tuple[str, ...] | None = None

    def axis_asked(self, devices: MeshDevices, statics: tuple[Any, ...]) -> int | None:
        """The axis that a call of ttnn gives for an op with these attributes in a program.

        Raises:
            ArgumentError: No axis gives the op.
        """
        if self.attributes[-1] is AXIS:
            axis: int | None = statics[-1]
            return axis
        own = tuple(statics[: len(self.asked or ())])
        for each in range(len(devices.shape)):
            if self.in_program(devices, each, own) == (self, statics):
                return each
        raise ArgumentError(f"`{self.name}`: its groups lie along no axis of the mesh")

    @property
    def dtypes(self) -> frozenset[DataType]:
        """Every element type: elements are moved, or folded in their compute type."""
        return frozenset(ALL_DTYPES)

    def in_program(self, devices: MeshDevices, cluster_axis: int | None, statics: tuple[Any, ...]) -> Call:
        """The call that programs for these devices contain, with all its attributes.

        Raises:
            ArgumentError: The mesh has no such axis.
        """
        groups = groups_of(devices.shape, devices.placed, cluster_axis)
        if self.written_as is not None:
            return self.written_as(tuple(group.devices for group in groups), *statics)
        return self, (*statics, cluster_axis)

    def exchanged(
        self, devices: MeshDevices, shapes: Sequence[Extents], statics: tuple[Any, ...]
    ) -> Mapping[int, Results]:
        """The results of a call in a program on each device, by its number; on those of other ranks too.

        Args:
            devices: The devices of the program.
            shapes: The extents of each operand on each device.
            statics: The values of all attributes.

        Raises:
            ArgumentError: The mesh has no such axis or device.
            ShapeError: The attributes do not fit the shape or the number of devices.
        """
        if self.depends_on_mesh:
            every = Group(devices.placed, (len(devices.placed),), tuple(devices.shape))
            return _expansion(self, (every,), devices.placed, shapes[0], statics)
        *own, groups = statics
        if self.attributes[-1] is AXIS:
            return self.expansion(devices.shape, devices.placed, groups, shapes[0], tuple(own))
        listed = tuple(Group(tuple(each), (len(each),)) for each in groups)
        if sorted(number for each in listed for number in each.devices) != sorted(devices.placed):
            raise ArgumentError(f"`{self.name}`: the groups {groups} are not of the devices {devices.placed}")
        return _expansion(self, listed, devices.placed, shapes[0], tuple(own))

    def expansion(
        self, mesh: MeshShape, numbers: Extents, cluster_axis: int | None, shape: Extents, statics: tuple[Any, ...]
    ) -> Mapping[int, Results]:
        """The results of a call on each device, by its number.

        Args:
            mesh: The shape of the mesh.
            numbers: The devices that have operands, in row-major order.
            cluster_axis: The axis along which devices exchange; None for all of them.
            shape: The extents of the operand on each device.
            statics: The values of the attributes besides that axis.

        Raises:
            ArgumentError: The mesh has no such axis.
            ShapeError: The attributes do not fit the shape or the number of devices.
        """
        groups = groups_of(mesh, numbers, cluster_axis, self.axis_by_axis)
        return _expansion(self, groups, numbers, shape, statics)

    def results_on(
        self, devices: MeshDevices, specs: Sequence[TensorSpec], statics: tuple[Any, ...]
    ) -> tuple[TensorSpec, ...]:
        """The specs of the results on each device; arguments and errors as for `exchanged`.

        A result has the operand's layout, and its memory config if it has its shape.
        """
        shapes = [tuple(spec.shape) for spec in specs]
        by_device = [
            tuple(shape_of(each, shapes) for each in results)
            for results in self.exchanged(devices, shapes, statics).values()
        ]
        if any(each != by_device[0] for each in by_device):
            raise ShapeError(f"`{self.name}` has results of different shapes: {sorted({*by_device})}")
        own = specs[0]
        return tuple(own if shape == shapes[0] else own.interleaved.with_(shape=shape) for shape in by_device[0])

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """Raises: the results depend on the mesh; see `results_on`."""
        raise NotImplementedError(f"{self.name} is of a mesh")

    def topology(self, operand: TensorTopology, spec: TensorSpec, statics: Sequence[Any]) -> TensorTopology:
        """The topology of a result for an operand with that topology and spec.

        ttnn concatenates tensors whose last tiles along the dimension are padded, and then calls the result split.
        """
        if self.replicates is None:
            return operand
        rank = len(spec.shape)
        dim = statics[self.replicates] % rank
        if spec.padded_shape[dim] != spec.shape[dim]:
            return operand
        return operand.with_placements(
            [
                REPLICATE if isinstance(each, PlacementShard) and each.dim % rank == dim else each
                for each in operand.placements()
            ]
        )

    @property
    def rules(self) -> str:
        """Sentences for docstrings that hold for every operation of the family."""
        return (
            "The result has the operand's dtype and layout. Sums are a tree over device numbers, neighbours pairwise, "
            "an odd last one carried; in float32, rounded once."
        )


@memoized(maxsize=512)
def _expansion(
    collective: Collective, groups: tuple[Group, ...], numbers: Extents, shape: Extents, statics: tuple[Any, ...]
) -> Mapping[int, Results]:
    found: dict[int, Results] = {}
    for group in groups:
        found.update(zip(group.devices, collective.expand(group, shape, *statics), strict=True))
    return {number: found[number] for number in numbers}


def equal_part(shape: Extents, dim: int, count: int) -> int:
    """The extent of one of `count` equal parts along a dimension.

    Raises:
        ShapeError: There are no such parts.
    """
    if shape[dim] % count:
        raise ShapeError(f"dimension {dim} of shape {list(shape)} has no {count} equal parts")
    return shape[dim] // count


def checked_reduction(reduction: str) -> str:
    """A reduction that folds have.

    Raises:
        ArgumentError: It is another one.
    """
    if reduction not in REDUCTIONS:
        raise ArgumentError(
            f"collectives do not reduce by {reduction!r}", help=f"they reduce by {', '.join(REDUCTIONS)}"
        )
    return reduction
