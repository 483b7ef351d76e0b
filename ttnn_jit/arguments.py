"""The arguments of one call: their keys, the tensors among them, and the rules that a target has for them.

A call's key holds metadata only: interned `TensorSpec` objects and targets by identity, scalars by type and bits.
"""

from __future__ import annotations

import enum
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ttnn_jit.errors import ArgumentError, DTypeError, GridError, LayoutError, ShapeError
from ttnn_jit.nests import fields_of, is_record, leaves, map_leaves
from ttnn_jit.numpy_scalar import is_numpy_scalar
from ttnn_jit.runtime.device import ONE_DEVICE_HELP
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.target import TILE_HEIGHT, TILE_WIDTH, SystemDesc
from ttnn_jit.tensor_spec import (
    HOST_MEMORY_CONFIG,
    BufferType,
    CoreCoord,
    CoreGrid,
    CoreRange,
    CoreRangeSet,
    DataType,
    Layout,
    MemoryConfig,
    NdShardSpec,
    ShardOrientation,
    ShardSpec,
    TensorSpec,
)
from ttnn_jit.ttnn.call_key import scalar_key

if TYPE_CHECKING:
    import numpy
    import torch

_CONFIGS = (MemoryConfig, ShardSpec, NdShardSpec, CoreRangeSet, CoreRange, CoreCoord, CoreGrid)
_SCALARS = (bool, int, float, str, type(None))


class Family(enum.Enum):
    """Whose tensors a call was given; results are of the same family."""

    TTNN = "ttnn tensors"
    TORCH = "torch tensors"
    NUMPY = "numpy arrays"


def family_of(value: object) -> Family | None:
    """The family of a tensor; None for everything that is no tensor."""
    if isinstance(value, Tensor):
        return Family.TTNN
    torch_module = sys.modules.get("torch")
    if torch_module is not None and isinstance(value, torch_module.Tensor):
        return Family.TORCH
    numpy_module = sys.modules.get("numpy")
    if numpy_module is not None and isinstance(value, numpy_module.ndarray):
        return Family.NUMPY
    return None


def spec_of(value: Any) -> TensorSpec:
    """The spec of a tensor of any family.

    Raises:
        DTypeError: An element type that ttnn_jit lacks; the text names the cast.
        ArgumentError: A torch tensor on another device, sparse, or one that requires grad under grad mode; a numpy
            array that is masked or of another subclass.
    """
    if type(value) is Tensor:
        return value.spec
    family = family_of(value)
    if family is Family.TORCH:
        return _spec_of_torch(value)
    if family is Family.NUMPY:
        return _spec_of_numpy(value)
    raise ArgumentError(f"{type(value).__name__} is no tensor")


def _spec_of_torch(tensor: torch.Tensor) -> TensorSpec:
    import torch

    _refuse_traced()
    if tensor.is_nested or tensor.device.type != "cpu" or tensor.layout != torch.strided:
        raise ArgumentError(
            f"a torch tensor must be dense on the CPU, got {_kind_of_torch(tensor)} on {tensor.device}",
            help="call `.cpu()` or `.to_dense()` on it first, `.unbind()` on a nested one",
        )
    if tensor.requires_grad and torch.is_grad_enabled():
        raise ArgumentError(
            "a torch tensor requires grad, and compiled functions have no backward",
            help="call it under `torch.no_grad()`, or pass `tensor.detach()`",
        )
    if tensor.is_neg():
        raise ArgumentError(
            "a torch tensor has its negative bit set: its memory holds the negatives of its values",
            help="pass `tensor.resolve_neg()`",
        )
    dtype = {torch.float32: DataType.FLOAT32, torch.bfloat16: DataType.BFLOAT16}.get(tensor.dtype)
    if dtype is None:
        raise DTypeError(
            f"torch tensors of {tensor.dtype} are not supported",
            help="cast it: `tensor.to(torch.float32)` or `tensor.to(torch.bfloat16)`",
        )
    if tensor.numel() and not _has_memory(tensor):
        raise ArgumentError(
            f"a torch {type(tensor).__name__} has no memory of its own to read: it is fake, a wrapper, inside a "
            "transform such as `torch.vmap`, or its storage was freed",
            help="call the function with plain tensors, outside the transform",
        )
    return TensorSpec(tensor.shape, dtype, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG, strides=tensor.stride())


def _kind_of_torch(tensor: torch.Tensor) -> str:
    return "a nested tensor" if tensor.is_nested else str(tensor.layout)


def _has_memory(tensor: torch.Tensor) -> bool:
    """Whether all elements lie in storage that can be read."""
    import torch

    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return False
    try:
        address = tensor.data_ptr()
    except RuntimeError:  # torch's way to say that there is none
        return False
    last = tensor.storage_offset() + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    return address != 0 and (last + 1) * tensor.itemsize <= tensor.untyped_storage().nbytes()


def _refuse_traced() -> None:
    """A tracer of torch's would see the allocation of the results and not what writes them."""
    import torch

    tracer = sys.modules.get("torch.fx.experimental.proxy_tensor")
    if torch._C._get_tracing_state() is not None or (tracer is not None and tracer.get_proxy_mode() is not None):
        raise ArgumentError(
            "a compiled function cannot be traced by torch (`make_fx`, `torch.export`, `torch.jit.trace`)",
            help="call it on the tensors themselves, or wrap it as an operation with `torch.library.custom_op`",
        )


def _spec_of_numpy(array: numpy.ndarray[Any, Any]) -> TensorSpec:
    import numpy

    if isinstance(array, numpy.ma.MaskedArray):
        raise ArgumentError(
            "a masked numpy array would lose its mask", help="pass `array.filled(value)`, or choose with `ttnn.where`"
        )
    if type(array) not in {numpy.ndarray, numpy.memmap}:
        raise ArgumentError(
            f"a numpy {type(array).__name__} has rules of its own, which a compiled function does not know",
            help="pass `numpy.asarray(array)`",
        )
    if array.dtype != numpy.float32:
        raise DTypeError(
            f"numpy arrays of {array.dtype} are not supported", help="cast it: `array.astype(numpy.float32)`"
        )
    itemsize = array.dtype.itemsize
    if any(stride % itemsize for stride in array.strides):
        raise LayoutError(
            f"a numpy array has byte strides {array.strides}, which are not whole elements of {itemsize} bytes",
            help="pass `numpy.ascontiguousarray(array)`",
        )
    strides = tuple(stride // itemsize for stride in array.strides)
    return TensorSpec(array.shape, DataType.FLOAT32, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG, strides=strides)


def argument_key(value: Any) -> object:  # noqa: PLR0911 - one line for each kind of value
    """The hashable that stands for one argument in a call's key.

    Raises:
        ArgumentError: A kind of value that no compiled function takes.
    """
    if type(value) is Tensor:
        return value.spec
    if isinstance(value, _SCALARS) or is_numpy_scalar(value):
        return scalar_key(value)
    if isinstance(value, (tuple, list)):
        return type(value), *map(argument_key, value)
    if isinstance(value, dict) or is_record(value):
        items = value if isinstance(value, dict) else fields_of(value)
        return type(value), *((name, argument_key(item)) for name, item in items.items())
    family = family_of(value)
    if family is not None:
        return family, spec_of(value)
    if isinstance(value, (enum.Enum, types.FunctionType, types.BuiltinFunctionType)):
        return value
    if hasattr(value, "__ttnn_overloads__"):
        # By what it computes now: a user's tile operation is another one when what it reads has changed.
        return value.__name__, *value.__ttnn_overloads__
    if isinstance(value, _CONFIGS):
        return type(value), value
    raise ArgumentError(
        f"a {type(value).__name__} cannot be an argument of a compiled function",
        help="pass ttnn, torch or numpy tensors, scalars, strings, dtypes and configs of ttnn, or tuples, lists, dicts "
        "and dataclasses of these",
    )


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors in a nest of containers, in order."""
    return (leaf for leaf in leaves(value) if family_of(leaf) is not None)


def is_traced(value: Any) -> bool:
    """Whether a nest of containers holds a tensor that another function's trace stands behind."""
    return any(hasattr(leaf, "__ttnn_call__") for leaf in leaves(value))


def map_tensors(value: Any, function: Callable[[Any], Any]) -> Any:
    """`value` with every tensor in it replaced by ``function(tensor)``."""
    return map_leaves(value, lambda leaf: leaf if family_of(leaf) is None else function(leaf))


@dataclass(frozen=True)
class Placement:
    """Where a call runs: the family of its tensors and the target that their device has."""

    family: Family
    target: SystemDesc


def placement(tensors: list[Any], target: SystemDesc | None, cpu: SystemDesc) -> Placement:
    """The one family and target of a call's tensors.

    Args:
        tensors: Every tensor of the call.
        target: What the decorator asks for torch and numpy arguments, if it does.
        cpu: The target of torch and numpy arguments otherwise.

    Raises:
        ArgumentError: No tensors at all, tensors of several families or devices, or on the host.
    """
    families = {family_of(tensor) for tensor in tensors}
    if not families:
        raise ArgumentError("Invalid arguments for function: there is no tensor among them")
    if len(families) > 1:
        names = " and ".join(sorted(family.value for family in families if family))
        raise ArgumentError(
            f"Invalid arguments for function: {names} in one call",
            help="make them all ttnn tensors with `ttnn.from_torch`, or none",
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
    if not config.is_sharded() and config.buffer_type is BufferType.L1:
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
