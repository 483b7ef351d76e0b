"""Tensors that have a part on each device of a mesh."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partialmethod
from typing import Any

import torch

Parts = dict[int, torch.Tensor]
"""Device -> its part; the one part of device 0 is that of all devices."""


class GoldenMapTensor:
    """A tensor on the devices of a mesh; functions and methods of torch are applied to each part.

    Args:
        shard_map: Device -> its part. A tensor that all devices have alike may have the part of device 0 alone.
        mesh_shape: The extents of the mesh.

    Attributes:
        source: What judges a result beside it, if it was computed by one operation (`judged_outputs.py`).

    Raises:
        ValueError: Parts differ in shape or dtype, or there is none.
    """

    def __init__(self, shard_map: Mapping[int, torch.Tensor], mesh_shape: Sequence[int]) -> None:
        kinds = {(tuple(each.shape), each.dtype) for each in shard_map.values()}
        if len(kinds) != 1:
            raise ValueError(f"parts have the shapes and dtypes {sorted(map(str, kinds))}: all have one")
        self._shard_map = dict(shard_map)
        self._mesh_shape = tuple(mesh_shape)
        self.source: Any = None

    @property
    def shard_map(self) -> Parts:
        """Device -> its part."""
        return self._shard_map

    @property
    def mesh_shape(self) -> tuple[int, ...]:
        """The extents of the mesh."""
        return self._mesh_shape

    def shard_at(self, device_id: int) -> torch.Tensor:
        """The part of a device."""
        return self._shard_map[device_id if len(self._shard_map) > 1 else 0]

    def parts(self, devices: int) -> list[torch.Tensor]:
        """The part of each of `devices` devices."""
        return [self.shard_at(device) for device in range(devices)]

    def zero_like_builder(self) -> GoldenMapTensor:
        """Zeros of the same shape and dtype."""
        return self.apply_shardwise(torch.zeros_like)

    def apply_shardwise(self, function: Callable[[torch.Tensor], torch.Tensor]) -> GoldenMapTensor:
        """A tensor whose parts are a function of these."""
        return GoldenMapTensor({key: function(each) for key, each in self._shard_map.items()}, self._mesh_shape)

    def golden_map_tensor_as_torch_tensors(self) -> Parts:
        """The parts, contiguous; quantized ones as their integers."""
        return {key: _plain(each).contiguous() for key, each in self._shard_map.items()}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        first = getattr(next(iter(self._shard_map.values())), name)
        if not callable(first):
            return first

        def call(*args: Any, **kwargs: Any) -> Any:
            return _shardwise(lambda own, *rest, **named: getattr(own, name)(*rest, **named), (self, *args), kwargs)

        return call

    def __getitem__(self, key: Any) -> Any:
        return self.apply_shardwise(lambda each: each[key])

    def __len__(self) -> int:
        return len(next(iter(self._shard_map.values())))

    def __repr__(self) -> str:
        return f"GoldenMapTensor({self._shard_map}, mesh_shape={self._mesh_shape})"

    @classmethod
    def __torch_function__(
        cls, function: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        """`function` on the parts of each device."""
        return _shardwise(function, args, kwargs or {})


def _plain(x: torch.Tensor) -> torch.Tensor:
    return x.int_repr() if x.is_quantized else x


def _leaves(given: Any) -> Iterator[GoldenMapTensor]:
    if isinstance(given, GoldenMapTensor):
        yield given
    elif isinstance(given, list | tuple):
        for each in given:
            yield from _leaves(each)
    elif isinstance(given, Mapping):
        yield from _leaves([*given.values()])


def _part(given: Any, device: int) -> Any:
    if isinstance(given, GoldenMapTensor):
        return given.shard_at(device)
    if isinstance(given, list | tuple):
        return type(given)(_part(each, device) for each in given)
    if isinstance(given, dict):
        return {key: _part(each, device) for key, each in given.items()}
    return given


def _shardwise(function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> Any:
    """What `function` gives on the parts of each device; no tensors are those of the first device.

    Raises:
        RuntimeError: Operands have parts on other devices.
    """
    found = [*_leaves(args), *_leaves(kwargs)]
    keys = max((each.shard_map.keys() for each in found), key=len)
    if any(len(each.shard_map) > 1 and each.shard_map.keys() != keys for each in found):
        raise RuntimeError("operands have parts on other devices")
    results = {key: function(*_part(args, key), **_part(dict(kwargs), key)) for key in keys}
    mesh, first = found[0].mesh_shape, next(iter(results.values()))
    if isinstance(first, torch.Tensor):
        return GoldenMapTensor(results, mesh)
    if isinstance(first, list | tuple) and first and all(isinstance(each, torch.Tensor) for each in first):
        return tuple(
            GoldenMapTensor({key: each[index] for key, each in results.items()}, mesh) for index, _ in enumerate(first)
        )
    return first


def _operator(function: Callable[[Any, Any], Any], *, swapped: bool = False) -> Callable[[Any, Any], Any]:
    def call(x: GoldenMapTensor, y: Any) -> Any:
        return _shardwise(function, (y, x) if swapped else (x, y), {})

    return call


def _unary(x: GoldenMapTensor, function: Callable[[Any], Any]) -> Any:
    return _shardwise(function, (x,), {})


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor"):
    _stem = _name.removesuffix("_")
    setattr(GoldenMapTensor, f"__{_stem}__", _operator(getattr(operator, _name)))
    setattr(GoldenMapTensor, f"__r{_stem}__", _operator(getattr(operator, _name), swapped=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(GoldenMapTensor, f"__{_name}__", _operator(getattr(operator, _name)))
for _name in ("neg", "invert", "abs"):
    setattr(GoldenMapTensor, f"__{_name}__", partialmethod(_unary, getattr(operator, _name)))


def apply_sharding(tensor: GoldenMapTensor, mesh_shape: Sequence[int], shard_dims: Sequence[int | None]) -> Any:
    """A tensor that all devices have alike, cut into a part for each.

    Args:
        tensor: The tensor.
        mesh_shape: The extents of the mesh.
        shard_dims: For each axis of the mesh, the dimension that it cuts; -1 or None for none.

    Raises:
        ValueError: An axis does not divide its dimension.
    """
    whole, parts = tensor.shard_at(0), {}
    for device, place in enumerate(itertools.product(*map(range, mesh_shape))):
        part = whole
        for index, count, dim in zip(place, mesh_shape, shard_dims, strict=True):
            if dim is not None and dim != -1:
                extent, rest = divmod(part.shape[dim], count)
                if rest:
                    raise ValueError(f"{count} devices do not divide the extent {part.shape[dim]} of dimension {dim}")
                part = part.narrow(dim, index * extent, extent)
        parts[device] = part.contiguous()
    return GoldenMapTensor(parts, mesh_shape)


def apply_unsharding(tensor: GoldenMapTensor, mesh_shape: Sequence[int], shard_dims: Sequence[int | None]) -> Any:
    """The whole of a tensor that `apply_sharding` cut, on every device."""
    parts = tensor.parts(len(tensor.shard_map))
    for count, dim in reversed([*zip(mesh_shape, shard_dims, strict=True)]):
        groups = [parts[at : at + count] for at in range(0, len(parts), count)]
        joins = dim is not None and dim != -1 and count > 1
        parts = [torch.cat(group, dim or 0) if joins else group[0] for group in groups]
    return GoldenMapTensor(dict.fromkeys(range(len(tensor.shard_map)), parts[0]), mesh_shape)
