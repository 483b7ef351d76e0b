"""The names of ttnn that load when they are asked for: where each stands, and why some have no effect."""

from __future__ import annotations

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.ttnn.host_functions import HOST_FUNCTIONS

_NO_CORES = "chooses how a chip splits its work over cores; checked, printed and compared, and no value depends on it"
_NO_CORES_BUT_LOFI = (
    "chooses how a chip splits its work over cores; beside one, eager products on chip targets are LoFi, as in ttnn, "
    "unless both tensors are float32 or a `compute_kernel_config` says otherwise"
)
_NO_LINKS = "there are no links between chips"
_NO_PROFILER = "there is no device profiler; time the calls"
_NO_QUEUE = "kept and returned; operations run where their tensors lie"


@dataclass(frozen=True)
class Home:
    """Names that a module has, besides functions of the host API, which declare themselves.

    Attributes:
        module: The module, below the package.
        names: As users write them behind ``ttnn.``.
        without_effect: Why they are accepted and have no effect; empty of those that are honoured.
    """

    module: str
    names: str
    without_effect: str = ""


HOMES = (
    Home("specs.arch", "Arch"),
    Home("specs.shard_distribution", "ShardDistributionStrategy ShardMode"),
    Home("specs.storage_type", "StorageType"),
    Home("specs.embeddings_type", "EmbeddingsType", "chooses how a chip reads the weight of `embedding`"),
    Home("ops.activation_variants", "GeluVariant"),
    Home("ops.activation_variants", "SigmoidMode", "chooses how exactly a chip computes `sigmoid`"),
    Home("specs.unary_op_type", "BcastOpDim BcastOpMath UnaryOpType UnaryWithParam"),
    Home(
        "specs.compute_config",
        "BlackholeComputeKernelConfig DeviceComputeKernelConfig GrayskullComputeKernelConfig "
        "WormholeComputeKernelConfig init_device_compute_kernel_config",
    ),
    Home("specs.compute_config", "ThrottleLevel", "a CPU slows down by itself"),
    Home(
        "specs.program_configs",
        "LayerNormDefaultProgramConfig LayerNormShardedMultiCoreProgramConfig MinimalMatmulConfig SDPAProgramConfig "
        "SoftmaxDefaultProgramConfig SoftmaxProgramConfig SoftmaxShardedMultiCoreProgramConfig",
        _NO_CORES,
    ),
    Home(
        "specs.program_configs",
        "MatmulMultiCoreReuseMultiCast1DProgramConfig MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig "
        "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig MatmulMultiCoreReuseMultiCastProgramConfig "
        "MatmulMultiCoreReuseProgramConfig",
        _NO_CORES_BUT_LOFI,
    ),
    Home(
        "specs.core_sets",
        "corerange_to_cores create_sharded_memory_config_ grid_to_cores num_cores_to_corerangeset "
        "num_cores_to_corerangeset_in_subcoregrids split_work_to_cores",
    ),
    Home(
        "ttnn.session_config",
        "CONFIG CONFIG_OVERRIDES CONFIG_PATH Config load_config_from_dictionary load_config_from_json_file "
        "manage_config save_config_to_json_file",
        "kept and given back, of which comparison mode has an effect; settings for what is not here are refused",
    ),
    Home("ttnn.topology", "ReduceType Topology", _NO_LINKS),
    Home(
        "ttnn.fabric",
        "FabricConfig FabricManagerMode FabricReliabilityMode FabricRouterConfig FabricTensixConfig FabricUDMMode "
        "set_fabric_config",
        _NO_LINKS,
    ),
    Home(
        "ttnn.device_registry",
        "CloseDevice CloseDevices CreateDevice CreateDevices GetNumAvailableDevices GetNumPCIeDevices GetPCIeDeviceID "
        "get_device_ids",
    ),
    Home("ttnn.device_registry", "GetDefaultDevice SetDefaultDevice", _NO_QUEUE),
    Home("ttnn.device_registry", "ReadDeviceProfiler", _NO_PROFILER),
    Home("ttnn.core", "element_size has_storage_type_of has_tile_padding tile_size"),
    Home("ttnn.types", "DEVICE_STORAGE_TYPE"),
    Home("ttnn.random_tensors", "manual_seed"),
    Home(
        "ttnn.gradients",
        "abs_bw acos_bw acosh_bw add_bw addalpha_bw addcdiv_bw addcmul_bw asin_bw asinh_bw assign_bw atan2_bw "
        "atan_bw atanh_bw bias_gelu_bw binary_eq_bw binary_ge_bw binary_gt_bw binary_le_bw binary_lt_bw "
        "binary_ne_bw ceil_bw celu_bw clamp_bw clamp_min_bw clip_bw concat_bw cos_bw cosh_bw deg2rad_bw "
        "digamma_bw div_bw div_no_nan_bw elu_bw embedding_bw erf_bw erfc_bw erfinv_bw exp2_bw exp_bw expm1_bw "
        "fill_zero_bw floor_bw fmod_bw frac_bw gelu_bw hardshrink_bw hardsigmoid_bw hardswish_bw hardtanh_bw "
        "hypot_bw ldexp_bw leaky_relu_bw lerp_bw lgamma_bw log10_bw log1p_bw log2_bw log_bw log_sigmoid_bw "
        "logaddexp2_bw logaddexp_bw logit_bw logiteps_bw max_bw min_bw mul_bw multigammaln_bw neg_bw "
        "polygamma_bw pow_bw prod_bw rad2deg_bw rdiv_bw reciprocal_bw relu6_bw relu_bw remainder_bw repeat_bw "
        "round_bw rpow_bw rsqrt_bw rsub_bw selu_bw sigmoid_bw sign_bw silu_bw sin_bw sinh_bw softplus_bw "
        "softshrink_bw softsign_bw sqrt_bw square_bw squared_difference_bw sub_bw subalpha_bw tan_bw tanh_bw "
        "tanhshrink_bw threshold_bw trunc_bw unary_sub_bw where_bw xlogy_bw",
    ),
    Home("ttnn.moreh", "moreh_cumsum"),
    Home("ttnn.token_sampling", "sampling"),
    Home("ttnn.complex_tensors", "angle complex_tensor conj imag is_imag is_real polar real"),
    Home("ttnn.complex_gradients", "angle_bw conj_bw imag_bw polar_bw real_bw"),
    Home(
        "ttnn.group_norm_parameters",
        "create_group_norm_input_mask create_group_norm_input_negative_mask create_group_norm_weight_bias_rm "
        "determine_expected_group_norm_sharded_config_and_grid_size get_group_norm_cores_across_channel",
    ),
    Home(
        "ttnn.mesh_mappers",
        "ConcatMesh2dToTensor ConcatMeshToTensor MeshComposerConfig MeshMapperConfig MeshToTensor PlacementReplicate "
        "PlacementShard ReplicateTensorToMesh ShardTensor2dMesh ShardTensorToMesh TensorToMesh "
        "concat_mesh_to_tensor_composer create_mesh_composer create_mesh_mapper distribute "
        "replicate_tensor_to_mesh_mapper shard_tensor_to_mesh_mapper",
    ),
    Home(
        "ttnn.host_shards",
        "MeshCoordinate aggregate_tensor combine_device_tensors distribute_tensor from_host_shards",
    ),
    Home("specs.sub_devices", "SubDevice SubDeviceId SubDeviceManagerId", "a CPU has no parts: programs run in order"),
    Home("ttnn.memory_banks", "get_memory_view"),
    Home("ttnn.memory_reports", "dump_device_memory_state"),
    Home("ttnn.semaphores", "create_global_semaphore reset_global_semaphore_value", _NO_LINKS),
    Home("ttnn.hooks", "register_post_operation_hook register_pre_operation_hook"),
    Home("ttnn.traces", "MeshTraceId begin_trace_capture end_trace_capture execute_trace release_trace"),
    Home(
        "ttnn.queues",
        "MeshEvent QueueId command_queue event_synchronize get_current_command_queue_id_for_thread record_event "
        "wait_for_event",
    ),
    Home("ttnn.convolving", "get_conv_output_dim"),
    Home("ttnn.prepared_grids", "prepare_grid_sample_grid"),
    Home("ttnn.prepared_weights", "prepare_conv_transpose2d_bias prepare_conv_transpose2d_weights"),
    Home("specs.conv_configs", "Conv1dConfig Conv2dConfig Conv3dConfig PaddingMode"),
    Home(
        "specs.conv_configs",
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
"""Modules that ttnn has, which are names too."""

MODULE_OF = {
    **{name: f"ttnn_jit.{home.module}" for home in HOMES for name in home.names.split()},
    **HOST_FUNCTIONS,
}
"""Name -> the module that has it."""

WITHOUT_EFFECT = {
    "DispatchCoreAxis": "a CPU has no dispatch cores",
    "DispatchCoreConfig": "a CPU has no dispatch cores",
    "DispatchCoreType": "a CPU has no dispatch cores",
    "synchronize_device": "every call returns when its work is done",
    **{name: home.without_effect for home in HOMES if home.without_effect for name in home.names.split()},
}
"""Name that is accepted -> why it has no effect."""

__all__ = [*MODULE_OF, *SUBMODULES]  # noqa: PLE0604 - the names are the table's
