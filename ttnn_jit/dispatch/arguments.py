"""The arguments of one call: their keys, the tensors among them, and the rules that a target has for them.

A call's key holds metadata only: interned `TensorSpec` objects and targets by identity, scalars by type and bits.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, GridError, LayoutError, ShapeError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.foreign.container_items import items_of, plain_parts
from ttnn_jit.foreign.numpy_array import is_numpy_array, spec_of_numpy_array
from ttnn_jit.foreign.numpy_scalar import is_numpy_scalar
from ttnn_jit.foreign.pytrees import leaves, map_leaves
from ttnn_jit.foreign.torch_tensor import is_torch_tensor, spec_of_torch_tensor
from ttnn_jit.foreign.values import atom_key, has_member, is_operation
from ttnn_jit.ops import are_numbers
from ttnn_jit.runtime.device import ONE_DEVICE_HELP
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH, SystemDesc
from ttnn_jit.specs.tensor_spec import (
    BufferType,
    CoreCoord,
    CoreGrid,
    CoreRange,
    CoreRangeSet,
    Layout,
    MemoryConfig,
    NdShardSpec,
    ShardOrientation,
    ShardSpec,
    TensorSpec,
)

_CONFIGS = (MemoryConfig, ShardSpec, NdShardSpec, CoreRangeSet, CoreRange, CoreCoord, CoreGrid)
_SCALARS = frozenset({bool, int, float, str, type(None)})


class Family(enum.Enum):
    """Whose tensors a call was given; results are of the same family."""

    TTNN = "ttnn tensors"
    TORCH = "torch tensors"
    NUMPY = "numpy arrays"


def family_of(value: object) -> Family | None:
    """The family of a tensor; None for everything that is no tensor."""
    if isinstance(value, Tensor):
        return Family.TTNN
    if is_torch_tensor(value):
        return Family.TORCH
    return Family.NUMPY if is_numpy_array(value) else None


def spec_of(value: Any) -> TensorSpec:
    """The spec of a tensor of any family.

    Raises:
        DTypeError, ArgumentError: What `spec_of_torch_tensor` or `spec_of_numpy_array` refuses; no tensor at all.
    """
    if type(value) is Tensor:
        return value.spec
    family = family_of(value)
    if family is Family.TORCH:
        return spec_of_torch_tensor(value)
    if family is Family.NUMPY:
        return spec_of_numpy_array(value)
    raise ArgumentError(f"{type(value).__name__} is no tensor")


def argument_key(value: Any) -> object:  # noqa: PLR0911, C901 - one line for each kind of value
    """The hashable that stands for one argument in a call's key.

    Raises:
        ArgumentError: A kind of value that no compiled function takes.
    """
    if type(value) is Tensor:
        return value.spec
    if type(value) in _SCALARS or is_numpy_scalar(value):
        return atom_key(value)
    if issubclass(type(value), enum.Enum):
        return type(value), value._name_, value._value_ if isinstance(value, enum.Flag) else None
    if type(value) in {tuple, list}:
        return type(value), *map(argument_key, value)
    if type(value) is dict:
        return type(value), *((_name_key(name), argument_key(item)) for name, item in value.items())
    parts = plain_parts(value)
    if parts is not None:
        return type(value), *map(argument_key, parts)
    family = family_of(value)
    if family is not None:
        return family, spec_of(value)
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
        return value
    if is_operation(value):
        # By what it computes now: a user's tile operation is another one when what it reads has changed.
        return value.__name__, *value.__ttnn_overloads__
    if isinstance(value, _CONFIGS):
        return type(value), value
    raise ArgumentError(
        f"a {type(value).__name__} cannot be an argument of a compiled function",
        help="pass ttnn, torch or numpy tensors, scalars, strings, dtypes and configs of ttnn, or tuples, lists, dicts "
        "and dataclasses of these",
    )


def _name_key(name: Hashable) -> object:
    """What stands for a key of a dict, of which Python takes 1, 1.0 and True, and the two zeros, for the same."""
    return (type(name), *map(_name_key, name)) if isinstance(name, tuple) else atom_key(name)


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors in a nest of containers, in order."""
    return (leaf for leaf in leaves(value) if family_of(leaf) is not None)


def is_traced(value: Any) -> bool:
    """Whether a nest of containers holds a tensor that another function's trace stands behind."""
    return any(map(_stands_for_tensor, leaves(value)))


def is_tensor(value: object) -> bool:
    """Whether `value` is a tensor of any family, or stands for one in a trace or on a mesh."""
    return family_of(value) is not None or _stands_for_tensor(value)


def _stands_for_tensor(value: object) -> bool:
    return has_member(type(value), "__ttnn_call__")  # an instance might claim to have every attribute


def map_tensors(value: Any, function: Callable[[Any], Any]) -> Any:
    """`value` with every tensor in it replaced by ``function(tensor)``."""
    return map_leaves(value, lambda leaf: leaf if family_of(leaf) is None else function(leaf))


def without_tensor(name: str, arguments: Mapping[str, Any]) -> ArgumentError:
    """The error of a call of the function `name` without any tensor among its arguments, by parameter."""
    message = f"Invalid arguments for function {name}: there is no tensor among them"
    if not arguments:
        return ArgumentError(f"{message}: it has no parameters", help="give it the tensors that it computes with")
    listed = ", ".join(f"`{parameter}` is {_kind_of(value)}" for parameter, value in arguments.items())
    ways = [way for parameter, value in arguments.items() if (way := _way_to_tensor(parameter, value))]
    return ArgumentError(f"{message}: {listed}", help=[*ways, _ANY_TENSOR.format(next(iter(arguments)))][0])


_ANY_TENSOR = "pass a torch, numpy or ttnn tensor for `{}`"


def _kind_of(value: Any) -> str:
    if value is None:
        return "None"
    if items_of(value) is None:
        return f"a {type_name(value)}"
    kind = type(value).__name__
    if not any(True for _ in leaves(value)):
        return f"an empty {kind}"
    return f"a {kind} of numbers" if are_numbers(value) else f"a {kind} without a tensor in it"


def _way_to_tensor(parameter: str, value: Any) -> str | None:
    """How to make the tensor that a `parameter` should have got of what it got; None if there is no way."""
    if are_numbers(value):
        return (
            f"pass a tensor for `{parameter}`: `torch.tensor({parameter})` or `numpy.array({parameter}, numpy.float32)`"
        )
    if hasattr(type(value), "__array__"):
        return f"pass a tensor for `{parameter}`: `numpy.asarray({parameter}, numpy.float32)`"
    return None


@dataclass(frozen=True)
class Placement:
    """Where a call runs: the family of its tensors and the target that their device has."""

    family: Family
    target: SystemDesc


def placement(tensors: list[Any], target: SystemDesc | None, cpu: SystemDesc) -> Placement:
    """The one family and target of a call's tensors.

    Args:
        tensors: Every tensor of the call, at least one.
        target: What the decorator asks for torch and numpy arguments, if it does.
        cpu: The target of torch and numpy arguments otherwise.

    Raises:
        ArgumentError: Tensors of several families or devices, or on the host.
    """
    families = {family_of(tensor) for tensor in tensors}
    if len(families) > 1:
        names = " and ".join(sorted(family.value for family in families if family))
        raise ArgumentError(
            f"Invalid arguments for function: {names} in one call",
            help="make them all ttnn tensors with `ttnn.from_torch`, or none"
            if Family.TTNN in families
            else "pass `torch.from_numpy(array)`",
        )
    if families != {Family.TTNN}:
        return Placement(next(iter(families)) or Family.TORCH, target or cpu)
    devices = {id(tensor.device()): tensor.device() for tensor in tensors}
    if None in devices.values():
        raise ArgumentError(
            "Invalid arguments for function: a tensor is on the host",
            help="move it to a device: `ttnn.from_torch(..., device=device)`",
        )
    if len(devices) > 1:
        listed = " and ".join(str(device) for device in devices.values())
        raise ArgumentError(
            f"Invalid arguments for function: tensors on different devices, {listed}", help=ONE_DEVICE_HELP
        )
    return Placement(Family.TTNN, next(iter(devices.values())).target)


def check_target_rules(name: str, spec: TensorSpec, target: SystemDesc) -> None:
    """Refuse what the ttnn.jit document refuses inside a jitted function on a chip target.

    Raises:
        LayoutError: Row-major, interleaved L1, sharded DRAM or column-major shards.
        ShapeError: Extents that are not whole tiles (an extent of 1 is a broadcast and exempt).
    """
    if not target.tile_aligned_only:
        return
    # Torch and numpy memory has no layout of ttnn's: it is taken for the tiles that it would be moved to.
    if spec.memory_config.buffer_type is not BufferType.SYSTEM_MEMORY:
        if spec.layout is not Layout.TILE:
            raise LayoutError(
                f"Only Layout.Tile tensors are supported. Found layout: {spec.layout}",
                help=f"`{name}`: pass `layout=ttnn.TILE_LAYOUT` to `ttnn.from_torch`",
            )
        check_config_rules(name, spec.memory_config, target)
    for extent, tile in zip(reversed(spec.shape), (TILE_WIDTH, TILE_HEIGHT), strict=False):
        if extent % tile and extent != 1:
            raise ShapeError(
                f"`{name}` has shape {spec.shape}, which is not made of whole {TILE_HEIGHT}x{TILE_WIDTH} tiles; "
                f"target {target.name} does not pad inside a jitted function",
                help="pad the tensor, or use a device opened with `target='cpu'`",
            )


def check_config_rules(name: str, config: MemoryConfig, target: SystemDesc) -> None:
    """Refuse a memory config that the ttnn.jit document refuses on a chip target, of an argument or of results.

    Raises:
        LayoutError: Interleaved L1, sharded DRAM or column-major shards.
    """
    if not target.tile_aligned_only:
        return
    if config.is_sharded() and config.buffer_type is BufferType.DRAM:
        raise LayoutError("Sharded DRAM tensors are not supported.", help=f"`{name}`: shard it in L1")
    if not config.is_sharded() and config.is_l1():
        raise LayoutError(
            "Interleaved L1 tensors are not supported.",
            help=f"`{name}`: use `ttnn.DRAM_MEMORY_CONFIG` or `ttnn.create_sharded_memory_config`",
        )
    if config.orientation is ShardOrientation.COL_MAJOR:
        raise LayoutError("Column major sharding is not supported.", help=f"`{name}`: use `ShardOrientation.ROW_MAJOR`")


def check_max_grid(max_grid: tuple[int, int] | None, target: SystemDesc) -> None:
    """Refuse a last core that the target has not.

    Raises:
        GridError: It lies outside the grid.
    """
    rows, columns = target.grid
    if max_grid is not None and (max_grid[0] >= columns or max_grid[1] >= rows):
        raise GridError(
            f"max_grid is {max_grid}, and the last core of {target.name} is {(columns - 1, rows - 1)}",
            help="it is the last core (x, y) that may be used",
        )
