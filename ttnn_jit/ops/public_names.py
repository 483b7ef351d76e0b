"""The public names of ttnn, and the error text for a missing one; imported when a name is missing."""

from __future__ import annotations

from collections.abc import Iterable

from ttnn_jit.ops.absent import ABSENT


def why_absent(name: str, submodule: str = "") -> str | None:
    """Why a name of ttnn, or of a submodule, is not supported; None if ttnn has no such name."""
    if name in NAMES_OF_SUBMODULES.get(submodule, ()):
        return f"`ttnn.{submodule}.{name}` is a name of ttnn that is not here yet"
    if name in ABSENT:
        return ABSENT[name]
    if name in NAMED_OTHERWISE:
        return NAMED_OTHERWISE[name]
    return f"`ttnn.{name}` is a name of ttnn that is not here yet" if name in PUBLIC_NAMES else None


NAMED_OTHERWISE = {
    "jit": "the decorator is `ttnn_jit.jit`",
    "tile_op": "the decorator is `ttnn_jit.tile_op`",
}
"""Name that users look up in ttnn, and that ttnn lacks -> the name to use."""


def names_within_one_edit(name: str, known: Iterable[str]) -> list[str]:
    """The `known` names at a Damerau-Levenshtein distance of 1 from `name`: one insertion, deletion, change or swap."""
    near = range(len(name) - 1, len(name) + 2)
    return sorted(candidate for candidate in known if len(candidate) in near and _is_one_edit(name, candidate))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error's text about a misspelled name; empty if no `known` name is within one edit."""
    near = names_within_one_edit(name, known)
    return f"; did you mean {' or '.join(f'`{each}`' for each in near)}?" if near else ""


def _is_one_edit(a: str, b: str) -> bool:
    if len(a) > len(b):
        a, b = b, a
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) < len(b):
        return a[at:] == b[at + 1 :]
    swapped = a[at : at + 2] == b[at : at + 2][::-1]
    return a != b and (a[at + 1 :] == b[at + 1 :] or (swapped and a[at + 2 :] == b[at + 2 :]))


_NAMES = """
abs abs_bw acos acos_bw acosh acosh_bw adaptive_avg_pool2d adaptive_max_pool2d add add_ add_bw addalpha addalpha_bw
addcdiv addcdiv_bw addcmul addcmul_bw addmm aggregate_tensor all_broadcast all_gather all_reduce all_to_all_combine
all_to_all_dispatch allocate_tensor_on_device allocate_tensor_on_host alt_complex_rotate90 angle angle_bw
apply_device_delay arange Arch argmax as_tensor asin asin_bw asinh asinh_bw assign assign_bw atan atan2 atan2_bw
atan_bw atanh atanh_bw attach_golden_function avg_pool2d batch_norm bcast BcastOpDim BcastOpMath begin_trace_capture
bernoulli bfloat16 bfloat4_b bfloat8_b bias_gelu bias_gelu_ bias_gelu_bw binary_eq_bw binary_ge_bw binary_gt_bw
binary_le_bw binary_lt_bw binary_ne_bw BinaryOpType bitcast bitwise_and bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor broadcast BufferType cb_descriptor_from_sharded_tensor CBDescriptor CBFormatDescriptor
cbrt ceil ceil_bw celu celu_bw chunk clamp clamp_bw clamp_min_bw clip clip_bw clone close_device close_mesh_device
CloseDevice CloseDevices cluster combine_device_tensors command_queue complex_tensor
compute_distribution_to_mesh_mapping compute_fabric_connection_rt_args compute_program_descriptor_hash
ComputeConfigDescriptor concat concat_bw concat_mesh_to_tensor_composer ConcatMesh2dToTensor ConcatMeshToTensor CONFIG
Config CONFIG_OVERRIDES CONFIG_PATH conj conj_bw conv1d Conv1dConfig conv2d Conv2dConfig Conv2dDRAMSliceHeight
Conv2dDRAMSliceWidth Conv2dL1Full Conv2dL1FullSliceConfig Conv2dSliceConfig Conv3dConfig conv_transpose2d copy
copy_device_to_host_tensor copy_host_to_device_tensor copy_host_to_device_tensor_partial core CoreCoord CoreGrid
CoreRange corerange_to_cores CoreRangeSet CoreType corruptible_allocation_scope cos cos_bw cosh cosh_bw
CppMeshToTensor CppTensorToMesh create_global_circular_buffer create_global_semaphore create_group_norm_input_mask
create_group_norm_input_negative_mask create_group_norm_reciprocals create_group_norm_weight_bias_rm
create_layer_norm_reciprocals create_layernorm_program_config create_matmul_attributes create_mesh_composer
create_mesh_device create_mesh_mapper create_module_if_not_exists create_sharded_memory_config
create_sharded_memory_config_ create_socket_pair CreateDevice CreateDevices cumprod cumsum database D2DStreamService
D2DStreamServiceReceiver D2DStreamServiceSender D2HSocket D2HStreamService DataMovementConfigDescriptor
DataMovementProcessor DataType deallocate decorators deg2rad deg2rad_bw dequantize
determine_expected_group_norm_dram_grid_size determine_expected_group_norm_sharded_config_and_grid_size Device device
DEVICE_STORAGE_TYPE DeviceComputeKernelConfig digamma digamma_bw disable_and_clear_program_cache
disable_asynchronous_slow_dispatch DispatchAlgorithm DispatchCoreAxis DispatchCoreConfig DispatchCoreType distribute
distribute_tensor distributed distributed_context_allgather_int distributed_context_barrier
distributed_context_get_rank distributed_context_get_size distributed_context_is_initialized
distributed_context_local_to_world_rank distributed_context_subcontext_count distributed_context_subcontext_id
distributed_context_subcontext_size distributed_context_subcontext_sizes distributed_context_world_rank
distributed_context_world_size DistributedLayerNormStage div div_ div_bw div_no_nan div_no_nan_bw divide divide_
dot_access dram_group_norm_params_from_torch DRAM_MEMORY_CONFIG dram_prefetcher dump_device_memory_state
dump_operations dump_stack_trace_on_segfault dump_tensor DumpDeviceProfiler DumpTensorMode element_size elu elu_bw ema
embedding embedding_bw EmbeddingsType empty empty_like enable_asynchronous_slow_dispatch enable_program_cache
end_trace_capture eq eq_ eq_bw eqz erf erf_bw erfc erfc_bw erfinv erfinv_bw event_synchronize events execute_trace exp
exp2 exp2_bw exp_bw expand experimental experimental_loader expm1 expm1_bw fabric fabric_connection_rt_args
FabricConfig FabricManagerMode FabricNodeId FabricReliabilityMode FabricRouterConfig FabricTensixConfig FabricType
FabricUDMMode FaceGeometry fill fill_bw fill_cache fill_implicit_tile_padding fill_ones_rm fill_rm fill_zero_bw
float32 floor floor_bw floor_div fmod fmod_bw fold format_input_tensor format_output_tensor fp8_e4m3 frac frac_bw
from_buffer from_device from_host_shards
from_torch full full_like fused_rms_minimal gather gcd ge ge_ geglu gelu gelu_bw GeluVariant generic_op
get_all_fabric_mesh_ids
get_all_mgd_fabric_types get_all_programs_perf_data get_allocator_base_address get_arch_name get_cb_address
get_conv_output_dim get_current_command_queue_id_for_thread get_device_ids get_device_tensors get_dram_alignment
get_eth_forwarding_direction get_fabric_config get_fabric_kernel_defines get_fallback_function
get_forwarding_link_indices get_global_semaphore_address get_golden_function get_group_norm_cores_across_channel
get_l1_alignment get_latest_programs_perf_data get_max_worker_l1_unreserved_size get_memory_config get_memory_view
get_num_devices get_num_pcie_devices get_optimal_dram_bank_to_logical_worker_assignment
get_optimal_worker_cores_for_sharded_tensor get_pcie_device_ids get_physical_mesh_shapes
get_tt_fabric_max_payload_size_bytes get_tt_fabric_packet_header_size_bytes get_usable_topology GetDefaultDevice
GetNumAvailableDevices GetNumPCIeDevices GetPCIeDeviceID gez global_avg_pool2d glu graph graph_tracer_utils
GrayskullComputeKernelConfig grid_sample grid_to_cores group_norm gt gt_ gtz H2DMode H2DSocket H2DStreamService
halo hardmish hardshrink hardshrink_bw hardsigmoid hardsigmoid_bw hardswish hardswish_bw hardtanh hardtanh_bw
has_storage_type_of has_tile_padding heaviside hypot hypot_bw i0 i0_bw i1 identity imag imag_bw index_fill
indexed_fill IndexerScoreProgramConfig init_device_compute_kernel_config init_distributed_context int32 int8
interleaved_to_sharded interleaved_to_sharded_partial InterProcessCounterChannel ir is_imag is_real is_sharded
is_tensor_storage_on_device isclose isfinite isinf isnan isneginf isposinf KernelDescriptor kv_cache
L1_BLOCK_SHARDED_MEMORY_CONFIG L1_HEIGHT_SHARDED_MEMORY_CONFIG l1_loss L1_MEMORY_CONFIG L1_WIDTH_SHARDED_MEMORY_CONFIG
layer_norm layer_norm_post_all_gather layer_norm_pre_all_gather LayerAckService layernorm_default_compute_config
LayerNormDefaultProgramConfig LayerNormDeviceOperation LayerNormInputs LayerNormMultiCoreProgramFactory
LayerNormParams LayerNormShardedMultiCoreProgramConfig LayerNormShardedProgramFactory LayerNormType Layout lcm ldexp
ldexp_ ldexp_bw le le_ leaky_relu leaky_relu_bw lerp lerp_bw lez lgamma lgamma_bw light_metal_begin_capture
light_metal_end_capture LightMetalReplay linear load_config_from_dictionary load_config_from_json_file load_tensor log
log10 log10_bw log1p log1p_bw log2 log2_bw log_bw log_sigmoid log_sigmoid_bw logaddexp logaddexp2 logaddexp2_
logaddexp2_bw logaddexp_ logaddexp_bw logical_and logical_and_ logical_left_shift logical_not logical_not_ logical_or
logical_or_ logical_right_shift logical_xor logical_xor_ logit logit_bw logiteps_bw LossReductionMode lt lt_ ltz mac
manage_config manage_device manual_seed mark_corruptible MathFidelity matmul matmul_select_program_factory
MatmulDeviceOperation MatmulInputs MatmulMultiCoreReuseMultiCast1DProgramConfig
MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig
MatmulMultiCoreReuseMultiCastProgramConfig MatmulMultiCoreReuseOptimizedProgramFactory
MatmulMultiCoreReuseProgramConfig MatmulParams max max_bw max_pool2d maximum MaxPool2d mean MemoryConfig
merge_program_descriptors mesh_partition MeshComposerConfig MeshCoordinate MeshCoordinateRange MeshCoordinateRangeSet
MeshCoreCoord MeshDevice MeshEvent MeshId MeshMapperConfig MeshProgramDescriptor MeshShape MeshSocket MeshToTensor
MeshTraceId min min_bw MinimalMatmulConfig minimum mish MMSignalAggregatorMode model_preprocessing moe
moe_expert_token_remap moe_routing_remap moreh_cumsum move mse_loss mul mul_ mul_bw multigammaln multigammaln_bw
multiply multiply_ narrow NdShardSpec ne ne_ neg neg_bw nextafter nez NOC NOC_MODE nonzero normalize_global
normalize_hw num_cores_to_corerangeset num_cores_to_corerangeset_in_subcoregrids ones ones_like Op2DDRAMSliceHeight
Op2DDRAMSliceWidth Op2DL1Full Op2DL1FullSliceConfig Op2DSliceConfig open_device open_mesh_device operations outer
OverlappedTensor pad pad_to_tile_shape PaddingMode PagedCacheGeometryOverride pearson_correlation_coefficient permute
PlacementReplicate PlacementShard plus_one point_to_point polar polar_bw polygamma polygamma_bw polyval pow pow_bw
prelu prepare_conv_bias prepare_conv_transpose2d_bias prepare_conv_transpose2d_weights prepare_conv_weights
prepare_grid_sample_grid prod prod_bw profiler ProgramDescriptor quantize query_registered_operations QueueId rad2deg
rad2deg_bw rand randn Rank rdiv rdiv_bw ReadDeviceProfiler ReaderConfigDescriptor real real_bw reallocate rearrange
reciprocal reciprocal_bw record_event reduce_scatter reduce_to_root ReduceType reflection register_cpp_operation
register_post_operation_hook register_pre_operation_hook register_python_operation reglu release_trace relu relu6
relu6_bw relu_bw relu_max relu_min remainder remainder_bw repeat repeat_bw repeat_interleave
replicate_tensor_to_mesh_mapper ReplicateTensorToMesh requantize reset_global_semaphore_value reshape
reshape_on_device reshard rgb_to_yuv RGBRange rms_norm rms_norm_post_all_gather rms_norm_pre_all_gather
rmsnorm_default_compute_config roll rotate round round_bw RoutedExpertActivation ROW_MAJOR_LAYOUT rpow rpow_bw rsqrt
rsqrt_bw rsub rsub_ rsub_bw RuntimeArgs RuntimeArgsColProxy sampling save_config_to_json_file
scale_causal_mask_hw_dims_softmax_in_place scale_mask_softmax scale_mask_softmax_in_place scatter scatter_add
SDPAProgramConfig selu selu_bw SemaphoreDescriptor set_fabric_config set_printoptions SetDefaultDevice SetRootDir
setup_fabric_connection setup_routing_plane_connection Shape shard_tensor_to_mesh_mapper ShardDistributionStrategy
sharded_to_interleaved sharded_to_interleaved_partial ShardOrientation ShardShapeAlignment ShardSpec ShardStrategy
ShardTensor2dMesh ShardTensorToMesh sigmoid sigmoid_accurate sigmoid_bw SigmoidMode sign sign_bw signbit silu silu_bw
sin sin_bw sinh sinh_bw situ_glu Size slice SliceDeviceOperation SliceInputs SliceParams SliceTileProgramFactory
SlidingWindowConfig
SlidingWindowParallelConfig snake_beta SocketConfig SocketConnection SocketEndpoint SocketMemoryConfig softcap softmax
softmax_in_place SoftmaxDefaultProgramConfig SoftmaxProgramConfig SoftmaxShardedMultiCoreProgramConfig softplus
softplus_bw softshrink softshrink_bw softsign softsign_bw sort sparse_matmul SparseKVFormat split split_work_to_cores
sqrt sqrt_bw square square_bw squared_difference squared_difference_ squared_difference_bw squeeze stack
start_tracy_zone std std_hw stop_tracy_zone StorageType sub sub_ sub_bw subalpha subalpha_bw SubcontextId SubDevice
SubDeviceId SubDeviceManagerId subtract subtract_ sum swiglu swish synchronize_device synchronize_devices tan tan_bw
tanh tanh_bw tanhshrink tanhshrink_bw Tensor TensorAccessorArgs TensorMemoryLayout TensorSpec TensorToMesh
TensorTopology threshold threshold_bw ThrottleLevel Tile TILE_LAYOUT TILE_SIZE tile_size TileDescriptor
TileReshapeMapMode tilize tilize_with_val_padding tilize_with_zero_padding to_device to_dtype to_layout
to_memory_config to_torch topk Topology torch_tracer tracer tracy_frame tracy_message transformer transpose tril triu
trunc
trunc_bw typecast types uint16 uint32 uint8 unary_chain unary_sub_bw UnaryOpType UnaryWithParam uniform
UnpackToDestMode unsafe_allocation_tracker unsqueeze unsqueeze_to_4D untilize untilize_with_unpadding update_cache
upsample using_distributed_env var var_hw view visualize_mesh_device visualize_tensor wait_for_event where where_bw
WorkerMode WormholeComputeKernelConfig WriterConfigDescriptor xielu xlogy xlogy_bw yuv_bt601_coefficients
yuv_bt709_coefficients YUVCoefficients YUVColorSpace YUVFormat YUVRange zeros zeros_like
"""

PUBLIC_NAMES = frozenset(_NAMES.split())
"""tt-metal in 2026: the imports of ttnn/__init__.py, the pages of its API, and the operations that models use."""

_OF_SUBMODULES = {
    "cluster": """
        ClusterType get_cluster_type serialize_cluster_descriptor
    """,
    "device": """
        ClearKernelCache DeallocateBuffers DEFAULT_TRACE_REGION_SIZE get_default_dispatch_core_axis
        get_default_dispatch_core_type get_device_core_grid SetRootDir
    """,
    "experimental": """
        all_gather_async all_gather_async_reversed all_gather_concat all_gather_matmul all_gather_matmul_async
        all_reduce_async all_reduce_create_qkv_heads all_to_all_async all_to_all_async_generic attn_matmul
        attn_matmul_from_cache broadcast_to concatenate_heads conv3d convert_to_chw convert_to_hwc create_qkv_heads
        create_qkv_heads_from_separate_tensors deepseek_grouped_gate deepseek_minimal_all_reduce
        deepseek_minimal_broadcast deepseek_moe_fast_reduce_nc deepseek_moe_reduce_scatter
        dit_layernorm_post_allgather dit_layernorm_pre_allgather dropout fast_reduce_nc gelu_bw group_attn_matmul
        hc_sum_reduce intimg isin llama_all_gather_matmul_async llama_reduce_scatter llama_rs_create_heads
        llama_rs_matmul matmul_reduce_scatter_async minimal_matmul minimal_matmul_split neighbor_pad_async
        nlp_concat_heads nlp_concat_heads_boltz nlp_concat_heads_decode nlp_create_qkv_heads
        nlp_create_qkv_heads_boltz nlp_create_qkv_heads_decode nlp_create_qkv_heads_falcon7b
        nlp_create_qkv_heads_segformer nlp_create_qkv_heads_vit nlp_kv_cache_load_slice padded_slice paged_fill_cache
        paged_fused_update_cache paged_update_cache prefix_scan recv_async reduce_scatter_minimal_async
        repeat_and_interleave_eltwise_mul ring_attention_all_gather_async rotary_embedding rotary_embedding_llama
        rotary_embedding_llama_fused_qk rotate_half send_async slice_reshard_async slice_write
        split_query_key_value_and_split_heads strided_all_gather_async strided_all_gather_minimal_matmul_async
        typecast view wan_fused_rmsnorm_post_allgather wan_fused_rmsnorm_pre_allgather
    """,
    "graph": """
        RunMode TensorInfo begin_graph_capture count_intermediate_and_output_tensors end_graph_capture
        extract_calltrace extract_levelized_graph extract_output_info extract_output_tensors
        extract_peak_L1_memory_usage extract_resource_usage_per_core pretty_format pretty_print visualize
    """,
    "kv_cache": """
        fill_cache_for_user_ update_cache_for_token_
    """,
    "model_preprocessing": """
        convert_torch_model_to_ttnn_model default_preprocessor fold_batch_norm infer_ttnn_module_args
        make_parameter_dict merge_ttnn_module_args_into_parameters move_to_device preprocess_embedding_weight
        preprocess_layernorm_parameter preprocess_linear_bias preprocess_linear_weight preprocess_model
        preprocess_model_parameters preprocess_remaining_children_and_parameters repr_parameters ParameterDict
        ParameterList
    """,
    "operations.moreh": """
        abs adam adamw arange bmm bmm_backward clip_grad_norm cumsum cumsum_backward dot dot_backward fold getitem
        group_norm group_norm_backward layer_norm layer_norm_backward linear linear_backward logsoftmax
        logsoftmax_backward matmul matmul_backward mean mean_backward nll_loss nll_loss_backward
        nll_loss_unreduced_backward norm norm_backward sgd softmax softmax_backward softmin softmin_backward sum
        sum_backward
    """,
    "tracer": """
        codegen codegen_submodules codegen_top_level_module disable_tracing enable_tracing get_graph
        is_tracing_enabled module_to_source_code trace trace_ttnn_operation visualize visualize_node
    """,
    "transformer": """
        attention_softmax attention_softmax_ chunked_flash_mla_prefill chunked_scaled_dot_product_attention
        concatenate_heads flash_mla_prefill flash_multi_latent_attention_decode joint_scaled_dot_product_attention
        paged_flash_multi_latent_attention_decode paged_scaled_dot_product_attention_decode
        ring_distributed_scaled_dot_product_attention ring_joint_scaled_dot_product_attention
        scaled_dot_product_attention scaled_dot_product_attention_decode split_query_key_value_and_split_heads
        windowed_scaled_dot_product_attention
    """,
}
"""Submodule of ttnn -> its names that `ttnn` itself lacks."""

NAMES_OF_SUBMODULES = {submodule: frozenset(names.split()) for submodule, names in _OF_SUBMODULES.items()}
"""tt-metal in 2026: definitions and bindings of its Python modules, and names that its tests and models call."""
