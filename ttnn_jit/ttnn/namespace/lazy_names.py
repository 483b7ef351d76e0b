"""The names of ttnn that load on first access: the module of each, and the reason why some have no effect."""

from __future__ import annotations

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.ttnn.namespace.host_functions import HOST_FUNCTIONS

_WORK_SPLIT = "chooses how a chip splits its work over cores; checked, printed and compared, and no value depends on it"
_WORK_SPLIT_WITH_LOFI = (
    "chooses how a chip splits its work over cores; with it, eager products on chip targets are LoFi, as in ttnn, "
    "unless both tensors are float32 or a `compute_kernel_config` sets another fidelity"
)
NO_LINKS = "there are no links between chips"
SETTINGS_EFFECT = (
    "stored and returned; comparison mode and logging have an effect; settings of absent features are refused"
)


@dataclass(frozen=True)
class NamespaceModule:
    """Names that a module defines. Host functions are not listed, since their declarations are found in the source.

    Attributes:
        module: The module, relative to the package.
        names: The names as attributes of ``ttnn``, separated by spaces.
        without_effect: Why the names are accepted without effect; empty for names that are honoured.
    """

    module: str
    names: str
    without_effect: str = ""


NAMESPACE_MODULES = (
    NamespaceModule("specs.arch", "Arch"),
    NamespaceModule("specs.cores.shard_distribution", "ShardDistributionStrategy ShardMode"),
    NamespaceModule("specs.storage_type", "StorageType"),
    NamespaceModule(
        "specs.configs.embeddings_type", "EmbeddingsType", "chooses how a chip reads the weight of `embedding`"
    ),
    NamespaceModule(
        "specs.configs.reshape_mode", "TileReshapeMapMode", "chooses how a chip obtains the table of tile positions"
    ),
    NamespaceModule("ops.elementwise.activation_variants", "GeluVariant"),
    NamespaceModule(
        "ops.elementwise.activation_variants", "SigmoidMode", "chooses how exactly a chip computes `sigmoid`"
    ),
    NamespaceModule("specs.configs.unary_op_type", "BcastOpDim BcastOpMath UnaryOpType UnaryWithParam"),
    NamespaceModule(
        "specs.configs.compute_config",
        "BlackholeComputeKernelConfig DeviceComputeKernelConfig GrayskullComputeKernelConfig "
        "WormholeComputeKernelConfig init_device_compute_kernel_config",
    ),
    NamespaceModule("specs.configs.compute_config", "ThrottleLevel", "a CPU slows down by itself"),
    NamespaceModule(
        "specs.configs.program_configs",
        "LayerNormDefaultProgramConfig LayerNormShardedMultiCoreProgramConfig MinimalMatmulConfig SDPAProgramConfig "
        "SoftmaxDefaultProgramConfig SoftmaxProgramConfig SoftmaxShardedMultiCoreProgramConfig",
        _WORK_SPLIT,
    ),
    NamespaceModule(
        "specs.configs.program_configs",
        "MatmulMultiCoreReuseMultiCast1DProgramConfig MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig "
        "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig MatmulMultiCoreReuseMultiCastProgramConfig "
        "MatmulMultiCoreReuseProgramConfig",
        _WORK_SPLIT_WITH_LOFI,
    ),
    NamespaceModule(
        "specs.cores.core_sets",
        "corerange_to_cores create_sharded_memory_config_ grid_to_cores num_cores_to_corerangeset "
        "num_cores_to_corerangeset_in_subcoregrids split_work_to_cores",
    ),
    NamespaceModule("ttnn.observing.session_config", "CONFIG CONFIG_OVERRIDES CONFIG_PATH Config", SETTINGS_EFFECT),
    NamespaceModule("ttnn.meshes.topology", "ReduceType"),
    NamespaceModule("ttnn.meshes.sockets", "MeshCoreCoord MeshSocket SocketConfig SocketConnection SocketMemoryConfig"),
    NamespaceModule("ttnn.meshes.topology", "Topology", NO_LINKS),
    NamespaceModule(
        "ttnn.fabric",
        "FabricConfig FabricManagerMode FabricReliabilityMode FabricRouterConfig FabricTensixConfig FabricUDMMode",
        NO_LINKS,
    ),
    NamespaceModule(
        "ttnn.devices.devices", "DispatchCoreAxis DispatchCoreConfig DispatchCoreType", "a CPU has no dispatch cores"
    ),
    NamespaceModule("ttnn.types", "DEVICE_STORAGE_TYPE"),
    NamespaceModule("ttnn.functions.moreh", "moreh_cumsum"),
    NamespaceModule(
        "ttnn.tensors.mesh_mappers",
        "ConcatMesh2dToTensor ConcatMeshToTensor MeshComposerConfig MeshMapperConfig MeshToTensor "
        "ReplicateTensorToMesh ShardTensor2dMesh ShardTensorToMesh TensorToMesh",
    ),
    NamespaceModule(
        "specs.cores.sub_devices",
        "SubDevice SubDeviceId SubDeviceManagerId",
        "a CPU has no sub-devices: programs run in order",
    ),
    NamespaceModule("ttnn.devices.traces", "MeshTraceId"),
    NamespaceModule("ttnn.devices.queues", "MeshEvent QueueId"),
    NamespaceModule("ttnn.functions.prepared_weights", "prepare_conv_transpose2d_bias"),
    NamespaceModule("specs.configs.conv_configs", "Conv1dConfig Conv2dConfig Conv3dConfig PaddingMode"),
    NamespaceModule(
        "specs.configs.conv_configs",
        "Conv2dDRAMSliceHeight Conv2dDRAMSliceWidth Conv2dL1Full Conv2dL1FullSliceConfig Conv2dSliceConfig "
        "Op2DDRAMSliceHeight Op2DDRAMSliceWidth Op2DL1Full Op2DL1FullSliceConfig Op2DSliceConfig",
        _WORK_SPLIT,
    ),
)

SUBMODULES = (
    "core",
    "database",
    "decorators",
    "distributed",
    "dot_access",
    "experimental",
    "fabric",
    "graph",
    "kv_cache",
    "model_preprocessing",
    "operations",
    "torch_tracer",
    "tracer",
    "transformer",
    "types",
)
"""Submodules of ttnn."""

MODULE_OF = {
    **{name: f"ttnn_jit.{home.module}" for home in NAMESPACE_MODULES for name in home.names.split()},
    **{name: module for name, module in HOST_FUNCTIONS.items() if "." not in name},
}
"""Name -> the module that defines it."""

WITHOUT_EFFECT = {
    name: home.without_effect for home in NAMESPACE_MODULES if home.without_effect for name in home.names.split()
}
"""Name that is accepted without effect -> the reason; for functions their declarations state it."""

__all__ = [*MODULE_OF, *SUBMODULES]  # noqa: PLE0604 - the names are the table's
