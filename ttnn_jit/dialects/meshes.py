"""The mesh of a module, and the attributes of collectives.

``ttcore.meshes`` states the shape of the mesh, as in tt-mlir; ``ttcore.mesh_devices`` the numbers of the devices that
run the program, if they are not all of them, and none if only other ranks have such devices;
``ttcore.remote_mesh_devices`` those of other ranks that do, and ``ttcore.mesh_ranks`` the rank of every device;
``ttcore.program`` is then a hash that is equal on all ranks. The function is that of each device; its tensors have the
types of one device's shards.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeGuard

from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, ModuleOp, StringAttr, TensorType, i64
from xdsl.ir import Attribute, Data, Operation, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.ttcore import KeywordAttr
from ttnn_jit.ops.families.collective import REDUCE_TYPES, SHARD_DIRECTIONS, SHARD_TYPES
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.meshes.mesh_shape import MeshShape

_MESHES = "ttcore.meshes"
_DEVICES = "ttcore.mesh_devices"
_REMOTE = "ttcore.remote_mesh_devices"
_RANKS = "ttcore.mesh_ranks"
_PROGRAM = "ttcore.program"
_NAME = "mesh"
_HASH_BYTES = 16


@irdl_attr_definition
class ReduceTypeAttr(KeywordAttr):
    """``#ttcore.reduce_type<sum>``: the reduction of a collective."""

    name = "ttcore.reduce_type"
    keywords = REDUCE_TYPES


@irdl_attr_definition
class ShardTypeAttr(KeywordAttr):
    """``#ttcore.shard_type<devices>``: the kind of a `mesh_shard`."""

    name = "ttcore.shard_type"
    keywords = SHARD_TYPES


@irdl_attr_definition
class ShardDirectionAttr(KeywordAttr):
    """``#ttcore.shard_direction<full_to_shard>``: the direction of a `mesh_shard`."""

    name = "ttcore.shard_direction"
    keywords = SHARD_DIRECTIONS


@irdl_attr_definition
class ShardStatusAttr(KeywordAttr):
    """``#ttcore.shard_status<unsharded>``: whether an argument is one tensor for the whole mesh."""

    name = "ttcore.shard_status"
    keywords = ("presharded", "unsharded")


@irdl_attr_definition
class MeshesAttr(Data[tuple[tuple[str, tuple[int, ...]], ...]]):
    """``#ttcore.meshes<[<"mesh" = 2x4>]>``: the names and shapes of the meshes of a module."""

    name = "ttcore.meshes"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """The meshes between angle and square brackets."""

        def mesh() -> tuple[str, tuple[int, ...]]:
            with parser.in_angle_brackets():
                name = parser.parse_str_literal()
                parser.parse_punctuation("=")
                return name, tuple(parser.parse_dimension_list())

        with parser.in_angle_brackets():
            return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, mesh))

    def print_parameter(self, printer: Printer) -> None:
        """The meshes between angle and square brackets."""
        listed = ", ".join(f'<"{name}" = {"x".join(map(str, shape))}>' for name, shape in self.data)
        printer.print_string(f"<[{listed}]>")


ATTRIBUTES = (ReduceTypeAttr, ShardTypeAttr, ShardDirectionAttr, ShardStatusAttr, MeshesAttr)
"""The attributes of this file."""


def mesh_devices_of(module: ModuleOp) -> MeshDevices | None:
    """The devices that run the program of a module; None for one device.

    Raises:
        VerifyException: An attribute does not describe a mesh.
    """
    attribute = module.attributes.get(_MESHES)
    if attribute is None:
        return None
    if not isinstance(attribute, MeshesAttr) or len(attribute.data) != 1:
        raise VerifyException(f"{_MESHES} must hold one mesh, got {attribute}")
    try:
        shape = MeshShape(attribute.data[0][1]).with_rows
    except ArgumentError as error:
        raise VerifyException(f"{_MESHES}: {error.message}") from error
    numbers = _devices(module, _DEVICES, shape)
    remote = _devices(module, _REMOTE, shape)
    if _DEVICES not in module.attributes:
        numbers = tuple(range(shape.mesh_size()))
    if {*numbers} & {*remote}:
        raise VerifyException(f"{_DEVICES} and {_REMOTE} have devices in common: {numbers} and {remote}")
    return (
        None if shape.mesh_size() == 1 else MeshDevices(shape, numbers, remote, _ranks(module, shape, numbers, remote))
    )


def _ranks(module: ModuleOp, shape: MeshShape, numbers: Sequence[int], remote: Sequence[int]) -> tuple[int, ...]:
    """The rank of each device; empty without devices of other ranks."""
    ranks = _numbers(module, _RANKS)
    if bool(ranks) != bool(remote):
        raise VerifyException(f"{_RANKS} and {_REMOTE} stand together")
    if ranks:
        own = {ranks[number] for number in numbers} if len(ranks) == shape.mesh_size() else {0, 1}
        if len(own) > 1 or own & {ranks[number] for number in remote} or min(ranks) < 0:
            raise VerifyException(f"{_RANKS} must give {_DEVICES} one rank, and {_REMOTE} others, got {ranks}")
    return ranks


def _numbers(module: ModuleOp, name: str) -> tuple[int, ...]:
    """The numbers that an attribute holds; empty without it."""
    given = module.attributes.get(name)
    return tuple(map(int, given.get_values())) if isinstance(given, DenseArrayBase) else ()


def _devices(module: ModuleOp, name: str, shape: MeshShape) -> tuple[int, ...]:
    """The numbers of devices that an attribute holds; empty without it."""
    if name not in module.attributes:
        return ()
    numbers = _numbers(module, name)
    is_empty = not numbers and (name == _REMOTE or _REMOTE not in module.attributes)
    if sorted({*numbers}) != [*numbers] or not {*numbers} <= {*range(shape.mesh_size())} or is_empty:
        raise VerifyException(f"{name} must be ascending numbers of devices of {shape}, got {numbers}")
    return numbers


def set_mesh_devices(module: ModuleOp, devices: MeshDevices | None) -> None:
    """Makes `devices` those that run the program of `module`; None: one device."""
    if devices is None:
        return
    module.attributes[_MESHES] = MeshesAttr(((_NAME, tuple(devices.shape)),))
    if not devices.is_whole:
        module.attributes[_DEVICES] = DenseArrayBase.from_list(i64, devices.numbers)
    if devices.remote:
        module.attributes[_REMOTE] = DenseArrayBase.from_list(i64, devices.remote)
        module.attributes[_RANKS] = DenseArrayBase.from_list(i64, devices.owners)
        module.attributes[_PROGRAM] = StringAttr(_structure_hash(module, devices))


def program_hash_of(module: ModuleOp, devices: MeshDevices) -> str:
    """The hash of a program that is the same on all ranks, for all sizes and numbers, in hexadecimal."""
    given = module.attributes.get(_PROGRAM)
    return given.data if isinstance(given, StringAttr) else _structure_hash(module, devices)


def _structure_hash(module: ModuleOp, devices: MeshDevices) -> str:
    """The hash of the ops, the values that they read and make, the kinds of these, and of the devices of each rank.

    Extents and other numbers are left out: a program of one size and a program of many have one hash.
    """
    values: dict[SSAValue, int] = {}
    digest = blake2b(repr((devices.placed, devices.owners)).encode(), digest_size=_HASH_BYTES)

    def made(value: SSAValue) -> tuple[object, ...]:
        values[value] = len(values)
        if not isinstance(value.type, TensorType):
            return (value.type.name,)
        spec = spec_of(value.type)
        return len(spec.shape), spec.dtype.name, spec.layout.name

    for op in module.walk():
        arguments = [made(each) for region in op.regions for block in region.blocks for each in block.args]
        own = op is not module and sorted(
            (name, each.data) for name, each in {**op.properties, **op.attributes}.items() if _is_text(each)
        )
        read, results = [values[each] for each in op.operands], [*map(made, op.results)]
        digest.update(repr((op.name, own, read, results, arguments)).encode())
    return digest.hexdigest()


def _is_text(attribute: Attribute) -> TypeGuard[Data[str]]:
    """Whether an attribute is a string or a keyword."""
    return isinstance(attribute, Data) and isinstance(attribute.data, str)


def mesh_of_op(op: Operation) -> MeshDevices | None:
    """The devices that run the program of an op's module; None for one device, or if no module holds the op."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ModuleOp):
        parent = parent.parent_op()
    return None if parent is None else mesh_devices_of(parent)


def rows_attr(rows: Sequence[Sequence[int]]) -> DenseIntOrFPElementsAttr:
    """``dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>``."""
    numbers = [number for row in rows for number in row]
    return DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(rows), len(rows[0])]), numbers)


def rows_of(attribute: Attribute | None) -> tuple[tuple[int, ...], ...] | None:
    """The inverse of `rows_attr`; None of another attribute."""
    if not isinstance(attribute, DenseIntOrFPElementsAttr) or len(attribute.get_shape()) != 2:
        return None
    numbers = [int(number) for number in attribute.get_values()]
    _, width = attribute.get_shape()
    return tuple(tuple(numbers[first : first + width]) for first in range(0, len(numbers), width))
