"""Modules of ttnn without a file here: their names are those of other modules.

ttnn binds a C++ extension, `ttnn._ttnn`, in separate modules, and exports their names from `ttnn` again. Here a name is
defined in one module, and mirrored modules look it up there.
"""

from __future__ import annotations

import importlib
import types
from functools import cache
from typing import Any

from ttnn_jit.foreign.values import ABSENT
from ttnn_jit.process.compile_lock import alone

_NAMESPACE = "ttnn"
_BINDINGS = (
    "activation bernoulli binary binary_backward ccl complex complex_unary complex_unary_backward conv copy core "
    "creation data_movement debug embedding embedding_backward full full_like index_fill loss matmul pool rand "
    "reduction sliding_window ternary ternary_backward trace unary unary_backward uniform"
)
_EXTENSION = "activation cluster core events global_semaphore types"
_OPERATIONS = (
    "activations binary binary_backward binary_complex ccl comparison complex_binary_backward complex_unary_backward "
    "conv2d core creation data_movement embedding losses pool reduction ternary ternary_backward unary unary_backward "
    "unary_complex"
)
_CONFIGS = f"{_NAMESPACE} specs.configs.program_configs"

MIRRORED = {
    **{f"_ttnn.{name}": _NAMESPACE for name in _EXTENSION.split()},
    "_ttnn.device": f"{_NAMESPACE} ttnn.device ttnn.bindings",
    "_ttnn.fabric": "ttnn.fabric",
    "_ttnn.graph": "ttnn.graph",
    "_ttnn.multi_device": f"{_NAMESPACE} ttnn.bindings",
    "_ttnn.operations": _NAMESPACE,
    **{f"_ttnn.operations.{name}": _NAMESPACE for name in _BINDINGS.split()},
    "_ttnn.operations.experimental": "ttnn.experimental specs.configs.program_configs specs.configs.conv_configs",
    "_ttnn.operations.kv_cache": "ttnn.kv_cache",
    "_ttnn.operations.matmul": _CONFIGS,
    "_ttnn.operations.moreh": "ttnn.functions.moreh",
    "_ttnn.operations.normalization": _CONFIGS,
    "_ttnn.operations.point_to_point": f"ttnn.meshes.packet_buffers {_NAMESPACE}",
    "_ttnn.operations.transformer": f"ttnn.transformer {_CONFIGS}",
    "_ttnn.tensor": _NAMESPACE,
    "decorators": _NAMESPACE,
    "distributed": _NAMESPACE,
    "distributed.distributed": _NAMESPACE,
    **{f"operations.{name}": _NAMESPACE for name in _OPERATIONS.split()},
    "operations.matmul": _CONFIGS,
    "operations.moreh": "ttnn.functions.moreh",
    "operations.normalization": _CONFIGS,
    "operations.transformer": f"ttnn.transformer {_CONFIGS}",
    "torch_tracer": "ttnn.tracer",
}
"""Module, relative to `ttnn` -> the modules, relative to this package, in which its names are looked up, in order."""

_DISTRIBUTED = [
    "ConcatMesh2dToTensor",
    "ConcatMeshToTensor",
    "DispatchCoreType",
    "MeshDevice",
    "MeshToTensor",
    "ReplicateTensorToMesh",
    "ShardTensor2dMesh",
    "ShardTensorToMesh",
    "TensorToMesh",
    "close_mesh_device",
    "distribute",
    "get_device_ids",
    "get_num_devices",
    "get_pcie_device_ids",
    "open_mesh_device",
]
_EXPORTED = {"distributed": _DISTRIBUTED, "distributed.distributed": _DISTRIBUTED}
"""Module -> the names that ``from module import *`` imports."""


class MirroredModule(types.ModuleType):
    """A module that looks its names up in other modules."""

    def __init__(self, path: str) -> None:
        super().__init__(f"ttnn_jit.ttnn.{path}", f"The module `ttnn.{path}`: names of ttnn that are elsewhere too.")
        self.__path__: list[str] = []  # lets its submodules be imported
        self.__all__ = _EXPORTED.get(path, [])

    def __getattr__(self, name: str) -> Any:
        path = self.__name__.removeprefix("ttnn_jit.ttnn.")
        found = ABSENT if name.startswith("__") else _looked_up(path, name)
        if found is ABSENT:
            from ttnn_jit.ops.public_names import why_absent

            reason = why_absent(name)
            raise AttributeError(
                f"module 'ttnn.{path}' has no attribute {name!r}{f': {reason}' if reason else ''}", name=name
            )
        return found


@cache
def mirrored(path: str) -> MirroredModule:
    """The module `path` of `MIRRORED`."""
    return MirroredModule(path)


@alone
def _looked_up(path: str, name: str) -> Any:
    if f"{path}.{name}" in MIRRORED:
        return mirrored(f"{path}.{name}")
    for home in MIRRORED[path].split():
        found = getattr(importlib.import_module(f"ttnn_jit.{home}"), name, ABSENT)
        if found is not ABSENT:
            return found
    return ABSENT
