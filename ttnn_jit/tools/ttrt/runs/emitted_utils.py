"""The module `utils` that Python programs of tt-mlir import: their device, files of tensors, functions of the host."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit import ttnn


class DeviceGetter:
    """The one device of a program, opened at its first use."""

    l1_small_size = 1 << 16
    _instance: Any = None
    _mesh_shape: tuple[int, ...] = ()

    @classmethod
    def get_device(cls, mesh_shape: Sequence[int], fabric_config: Any = None) -> Any:  # noqa: ARG003 - one process
        """The mesh.

        Raises:
            ValueError: It is open with another shape.
        """
        shape = tuple(mesh_shape)
        if cls._instance is None:
            cls._instance = ttnn.open_mesh_device(mesh_shape=ttnn.MeshShape(*shape))
            cls._mesh_shape = shape
        if cls._mesh_shape != shape:
            raise ValueError(f"the device has the mesh {list(cls._mesh_shape)}, and {list(shape)} is asked for")
        return cls._instance

    @classmethod
    def close(cls) -> None:
        """Closes the mesh."""
        if cls._instance is not None:
            ttnn.close_mesh_device(cls._instance)
            cls._instance = None


def get_scalar_from_tensor(tensor: Any) -> int:
    """The number in a tensor of one unsigned integer."""
    return int(ttnn.to_torch(tensor).item())


def load_tensor(file_path: str, layout: Any, dtype: Any, device: Any, memory_config: Any) -> Any:
    """A tensor of a file of `ttnn.dump_tensor`, in a layout and dtype; on a device, if one is given."""
    loaded = ttnn.load_tensor(file_path)
    if loaded.layout != layout:
        loaded = ttnn.to_layout(loaded, layout)
    if loaded.dtype != dtype:
        loaded = ttnn.to_dtype(loaded, dtype)
    return loaded if device is None else ttnn.to_device(loaded, device, memory_config)


def execute_cpu_hoisted_function(
    inputs: Sequence[Any], function: Callable[..., Any], mesh_shape: Sequence[int] | None = None
) -> Any:
    """The results of a function of torch tensors, on each part of tensors of a mesh.

    Args:
        inputs: Tensors of ttnn.
        function: Takes and gives torch tensors.
        mesh_shape: The mesh; by default that of the device.
    """
    shape = tuple(mesh_shape or DeviceGetter._mesh_shape or (1, 1))
    parts = [[ttnn.to_torch(each) for each in ttnn.get_device_tensors(ttnn.from_device(x))] for x in inputs]
    found = []
    for device in range(math.prod(shape)):
        made = function(*(each[device if len(each) > 1 else 0] for each in parts))
        found.append(made if isinstance(made, list | tuple) else (made,))
    results = [[ttnn.from_torch(each) for each in shards] for shards in zip(*found, strict=True)]
    wholes = [
        shards[0] if len(shards) == 1 else ttnn.from_host_shards(shards, ttnn.MeshShape(*shape)) for shards in results
    ]
    return wholes[0] if len(wholes) == 1 else tuple(wholes)


def create_global_semaphore(input_tensor: Any) -> Any:
    """A semaphore on the cores of a sharded tensor."""
    return ttnn.create_global_semaphore(input_tensor.device(), input_tensor.memory_config().shard_spec.grid, 0)
