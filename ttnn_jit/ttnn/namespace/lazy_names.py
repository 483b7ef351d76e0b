"""The names of ttnn that load on first access: the module of each, and the reason why some have no effect."""

from __future__ import annotations

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.ttnn.namespace.host_functions import HOST_FUNCTIONS

_NO_CORES = "chooses how a chip splits its work over cores; checked, printed and compared, and no value depends on it"
_NO_CORES_BUT_LOFI = (
    "chooses how a chip splits its work over cores; with it, eager products on chip targets are LoFi, as in ttnn, "
    "unless both tensors are float32 or a `compute_kernel_config` sets another fidelity"
)
NO_LINKS = "there are no links between chips"
SETTINGS_KEPT = (
    "stored and returned; comparison mode and logging have an effect; settings of absent features are refused"
)


@dataclass(frozen=True)
class Home:
    """Names that a module defines. Host functions are not listed, since their declarations are found in the source.

    Attributes:
        module: The module, relative to the package.
        names: The names as attributes of ``ttnn``, separated by spaces.
        without_effect: Why the names are accepted without effect; empty for names that are honoured.
    """

    module: str
    names: str
    without_effect: str = ""


HOMES = (
    Home("specs.arch", "Arch"),
    Home("specs.cores.shard_distribution", "ShardDistributionStrategy ShardMode"),
    Home("specs.storage_type", "StorageType"),
    Home("specs.configs.embeddings_type", "EmbeddingsType", "chooses how a chip reads the weight of `embedding`"),
    Home("specs.configs.reshape_mode", "TileReshapeMapMode", "chooses how a chip obtains the table of tile positions"),
    Home("ops.elementwise.activation_variants", "GeluVariant"),
    Home("ops.elementwise.activation_variants", "SigmoidMode", "chooses how exactly a chip computes `sigmoid`"),
    Home("specs.configs.unary_op_type", "BcastOpDim BcastOpMath UnaryOpType UnaryWithParam"),
    Home(
        "specs.configs.compute_config",
        "BlackholeComputeKernelConfig DeviceComputeKernelConfig GrayskullComputeKernelConfig "
        "WormholeComputeKernelConfig init_device_compute_kernel_config",
    ),
    Home("specs.configs.compute_config", "ThrottleLevel", "a CPU slows down by itself"),
    Home(
        "specs.configs.program_configs",
        "LayerNormDefaultProgramConfig LayerNormShardedMultiCoreProgramConfig MinimalMatmulConfig SDPAProgramConfig "
        "SoftmaxDefaultProgramConfig SoftmaxProgramConfig SoftmaxShardedMultiCoreProgramConfig",
        _NO_CORES,
    ),
    Home(
        "specs.configs.program_configs",
        "MatmulMultiCoreReuseMultiCast1DProgramConfig MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig "
        "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig MatmulMultiCoreReuseMultiCastProgramConfig "
        "MatmulMultiCoreReuseProgramConfig",
        _NO_CORES_BUT_LOFI,
    ),
    Home(
        "specs.cores.core_sets",
        "corerange_to_cores create_sharded_memory_config_ grid_to_cores num_cores_to_corerangeset "
        "num_cores_to_corerangeset_in_subcoregrids split_work_to_cores",
    ),
    Home("ttnn.observing.session_config", "CONFIG CONFIG_OVERRIDES CONFIG_PATH Config", SETTINGS_KEPT),
    Home("ttnn.meshes.topology", "ReduceType Topology", NO_LINKS),
    Home(
        "ttnn.fabric",
        "FabricConfig FabricManagerMode FabricReliabilityMode FabricRouterConfig FabricTensixConfig FabricUDMMode",
        NO_LINKS,
    ),
    Home("ttnn.devices.devices", "DispatchCoreAxis DispatchCoreConfig DispatchCoreType", "a CPU has no dispatch cores"),
    Home("ttnn.types", "DEVICE_STORAGE_TYPE"),
    Home("ttnn.functions.moreh", "moreh_cumsum"),
    Home(
        "ttnn.tensors.mesh_mappers",
        "ConcatMesh2dToTensor ConcatMeshToTensor MeshComposerConfig MeshMapperConfig MeshToTensor "
        "PlacementReplicate PlacementShard ReplicateTensorToMesh ShardTensor2dMesh ShardTensorToMesh TensorToMesh",
    ),
    Home("ttnn.meshes.host_shards", "MeshCoordinate"),
    Home(
        "specs.cores.sub_devices",
        "SubDevice SubDeviceId SubDeviceManagerId",
        "a CPU has no sub-devices: programs run in order",
    ),
    Home("ttnn.devices.traces", "MeshTraceId"),
    Home("ttnn.devices.queues", "MeshEvent QueueId"),
    Home("ttnn.functions.prepared_weights", "prepare_conv_transpose2d_bias"),
    Home("specs.configs.conv_configs", "Conv1dConfig Conv2dConfig Conv3dConfig PaddingMode"),
    Home(
        "specs.configs.conv_configs",
        "Conv2dDRAMSliceHeight Conv2dDRAMSliceWidth Conv2dL1Full Conv2dL1FullSliceConfig Conv2dSliceConfig "
        "Op2DDRAMSliceHeight Op2DDRAMSliceWidth Op2DL1Full Op2DL1FullSliceConfig Op2DSliceConfig",
        _NO_CORES,
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
    **{name: f"ttnn_jit.{home.module}" for home in HOMES for name in home.names.split()},
    **{name: module for name, module in HOST_FUNCTIONS.items() if "." not in name},
}
"""Name -> the module that defines it."""

WITHOUT_EFFECT = {name: home.without_effect for home in HOMES if home.without_effect for name in home.names.split()}
"""Name that is accepted without effect -> the reason; for functions their declarations state it."""

__all__ = [*MODULE_OF, *SUBMODULES]  # noqa: PLE0604 - the names are the table's
