"""The arguments of one call: their keys, the tensors among them, and the rules that a target has for them.

A call's key holds metadata only: interned `TensorSpec` objects and targets by identity, scalars by type and bits.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.dispatch.scalar_key import scalar_key
from ttnn_jit.foreign.numpy_array import is_numpy_array, spec_of_numpy_array
from ttnn_jit.foreign.numpy_scalar import is_numpy_scalar
from ttnn_jit.foreign.pytrees import items_of, leaves, map_leaves, plain_parts
from ttnn_jit.foreign.torch_tensor import is_torch_tensor, spec_of_torch_tensor
from ttnn_jit.foreign.values import has_member, is_operation
from ttnn_jit.ops import are_numbers
from ttnn_jit.runtime.device import ONE_DEVICE_HELP
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import (
    CoreCoord,
    CoreGrid,
    CoreRange,
    CoreRangeSet,
    MemoryConfig,
    NdShardSpec,
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
        return scalar_key(value)
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
    return (type(name), *map(_name_key, name)) if isinstance(name, tuple) else scalar_key(name)


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


def placement(
    tensors: list[Any], target: SystemDesc | None, cpu: SystemDesc, name: str, arguments: Iterable[tuple[str, Any]]
) -> Placement:
    """The one family and target of a call's tensors.

    Args:
        tensors: Every tensor of the call, at least one.
        target: What the decorator asks for torch and numpy arguments, if it does.
        cpu: The target of torch and numpy arguments otherwise.
        name: That of the function, and
        arguments: all of them by parameter, for what an error says.

    Raises:
        ArgumentError: Tensors of several families or devices, or on the host.
    """
    families = {family_of(tensor) for tensor in tensors}
    if len(families) > 1:
        names = " and ".join(sorted(family.value for family in families if family))
        listed = _listed(arguments, lambda tensor: f"a {(family_of(tensor) or Family.TTNN).value.removesuffix('s')}")
        raise ArgumentError(
            f"Invalid arguments for function {name}: {names} in one call: {listed}",
            help="make them all ttnn tensors with `ttnn.from_torch`, or none"
            if Family.TTNN in families
            else "pass `torch.from_numpy(array)`",
        )
    if families != {Family.TTNN}:
        return Placement(next(iter(families)) or Family.TORCH, target or cpu)
    devices = {id(tensor.device()): tensor.device() for tensor in tensors}
    if None in devices.values():
        listed = _listed(arguments, lambda tensor: "on the host" if tensor.device() is None else "")
        raise ArgumentError(
            f"Invalid arguments for function {name}: {listed}",
            help="move it to a device: `ttnn.to_device(tensor, device)`, or `ttnn.from_torch(..., device=device)`",
        )
    if len(devices) > 1:
        listed = _listed(arguments, lambda tensor: f"on {tensor.device()}")
        raise ArgumentError(
            f"Invalid arguments for function {name}: tensors on different devices: {listed}", help=ONE_DEVICE_HELP
        )
    return Placement(Family.TTNN, next(iter(devices.values())).target)


def _listed(arguments: Iterable[tuple[str, Any]], said_of: Callable[[Any], str]) -> str:
    """What is said of the tensors of each argument, where anything is."""
    listed = []
    for parameter, value in arguments:
        texts = filter(None, dict.fromkeys(map(said_of, tensors_in(value))))
        what = f"`{parameter}`" if family_of(value) is not None else f"a tensor in `{parameter}`"
        listed += [f"{what} is {text}" for text in texts]
    return ", ".join(listed)
