"""Which file has which functions of the host API, so that a name loads its file and no other.

Written by `make docs` from the files; a test proves it current.
"""
# ruff: noqa: E501

_NAMES = """\
ttnn_jit.ttnn.cluster: cluster.get_cluster_type
ttnn_jit.ttnn.core: core.divup core.roundup element_size has_storage_type_of has_tile_padding tile_size
ttnn_jit.ttnn.device: device.DisableMemoryReports device.DisablePersistentKernelCache device.EnableMemoryReports device.EnablePersistentKernelCache device.is_blackhole device.is_grayskull device.is_wormhole_b0
ttnn_jit.ttnn.devices.device_registry: CloseDevice CloseDevices CreateDevice CreateDevices GetDefaultDevice GetNumAvailableDevices GetNumPCIeDevices GetPCIeDeviceID ReadDeviceProfiler SetDefaultDevice get_device_ids
ttnn_jit.ttnn.devices.devices: close_device close_mesh_device disable_and_clear_program_cache enable_program_cache get_arch_name get_num_devices get_pcie_device_ids manage_device open_device open_mesh_device synchronize_device using_distributed_env
ttnn_jit.ttnn.devices.memory_banks: get_memory_view
ttnn_jit.ttnn.devices.memory_reports: dump_device_memory_state
ttnn_jit.ttnn.devices.queues: command_queue event_synchronize get_current_command_queue_id_for_thread record_event wait_for_event
ttnn_jit.ttnn.devices.semaphores: create_global_semaphore reset_global_semaphore_value
ttnn_jit.ttnn.devices.traces: begin_trace_capture end_trace_capture execute_trace release_trace
ttnn_jit.ttnn.dot_access: dot_access.make_dot_access_dict
ttnn_jit.ttnn.fabric: set_fabric_config
ttnn_jit.ttnn.functions.batch_norm: batch_norm
ttnn_jit.ttnn.functions.complex_gradients: angle_bw conj_bw imag_bw polar_bw real_bw
ttnn_jit.ttnn.functions.convolution_calls: conv1d conv2d conv_transpose2d get_conv_output_dim
ttnn_jit.ttnn.functions.convolutions_3d: experimental.conv3d experimental.prepare_conv3d_weights
ttnn_jit.ttnn.functions.data_dependent_shapes: nonzero unique
ttnn_jit.ttnn.functions.fast_reduce: experimental.fast_reduce_nc
ttnn_jit.ttnn.functions.fused_caches: experimental.paged_fused_update_cache
ttnn_jit.ttnn.functions.gradients: abs_bw acos_bw acosh_bw add_bw addalpha_bw addcdiv_bw addcmul_bw asin_bw asinh_bw assign_bw atan2_bw atan_bw atanh_bw bias_gelu_bw binary_eq_bw binary_ge_bw binary_gt_bw binary_le_bw binary_lt_bw binary_ne_bw ceil_bw celu_bw clamp_bw clamp_min_bw clip_bw concat_bw cos_bw cosh_bw deg2rad_bw digamma_bw div_bw div_no_nan_bw elu_bw embedding_bw erf_bw erfc_bw erfinv_bw exp2_bw exp_bw expm1_bw fill_zero_bw floor_bw fmod_bw frac_bw gelu_bw hardshrink_bw hardsigmoid_bw hardswish_bw hardtanh_bw hypot_bw ldexp_bw leaky_relu_bw lerp_bw lgamma_bw log10_bw log1p_bw log2_bw log_bw log_sigmoid_bw logaddexp2_bw logaddexp_bw logit_bw logiteps_bw max_bw min_bw mul_bw multigammaln_bw neg_bw polygamma_bw pow_bw prod_bw rad2deg_bw rdiv_bw reciprocal_bw relu6_bw relu_bw remainder_bw repeat_bw round_bw rpow_bw rsqrt_bw rsub_bw selu_bw sigmoid_bw sign_bw silu_bw sin_bw sinh_bw softplus_bw softshrink_bw softsign_bw sqrt_bw square_bw squared_difference_bw sub_bw subalpha_bw tan_bw tanh_bw tanhshrink_bw threshold_bw trunc_bw unary_sub_bw where_bw xlogy_bw
ttnn_jit.ttnn.functions.group_norm_parameters: create_group_norm_input_mask create_group_norm_input_negative_mask create_group_norm_weight_bias_rm determine_expected_group_norm_sharded_config_and_grid_size get_group_norm_cores_across_channel
ttnn_jit.ttnn.functions.minimal_products: experimental.minimal_matmul
ttnn_jit.ttnn.functions.moreh: operations.moreh.abs_pow operations.moreh.cumsum operations.moreh.layer_norm operations.moreh.logsoftmax operations.moreh.mean operations.moreh.norm operations.moreh.softmax operations.moreh.softmin operations.moreh.sum
ttnn_jit.ttnn.functions.pooling: adaptive_avg_pool2d adaptive_max_pool2d avg_pool2d global_avg_pool2d max_pool2d
ttnn_jit.ttnn.functions.prepared_grids: prepare_grid_sample_grid
ttnn_jit.ttnn.functions.prepared_weights: prepare_conv_bias prepare_conv_transpose2d_weights prepare_conv_weights
ttnn_jit.ttnn.functions.rearranging: rearrange
ttnn_jit.ttnn.functions.resampling_calls: grid_sample upsample
ttnn_jit.ttnn.functions.token_sampling: sampling
ttnn_jit.ttnn.graph: graph.begin_graph_capture graph.end_graph_capture graph.extract_calltrace graph.extract_circular_buffers_peak_size_per_core graph.extract_memory_of_calls graph.extract_output_info graph.extract_peak_L1_memory_usage graph.pretty_print
ttnn_jit.ttnn.meshes.collectives: all_gather all_reduce experimental.all_gather_async experimental.neighbor_pad_async experimental.reduce_scatter_minimal_async mesh_partition reduce_scatter
ttnn_jit.ttnn.meshes.host_shards: aggregate_tensor combine_device_tensors distribute_tensor from_host_shards
ttnn_jit.ttnn.meshes.mesh_pictures: visualize_mesh_device visualize_tensor
ttnn_jit.ttnn.model_preprocessing: model_preprocessing.convert_torch_model_to_ttnn_model model_preprocessing.default_preprocessor model_preprocessing.fold_batch_norm2d_into_conv2d model_preprocessing.infer_ttnn_module_args model_preprocessing.move_to_device model_preprocessing.preprocess_embedding_weight model_preprocessing.preprocess_layernorm_parameter model_preprocessing.preprocess_linear_bias model_preprocessing.preprocess_linear_weight model_preprocessing.preprocess_model model_preprocessing.preprocess_model_parameters
ttnn_jit.ttnn.models.model_parameters: model_preprocessing.make_parameter_dict
ttnn_jit.ttnn.observing.comparison: pearson_correlation_coefficient
ttnn_jit.ttnn.observing.hooks: register_post_operation_hook register_pre_operation_hook
ttnn_jit.ttnn.observing.session_config: load_config_from_dictionary load_config_from_json_file manage_config save_config_to_json_file
ttnn_jit.ttnn.tensors.allocations: allocate_tensor_on_device allocate_tensor_on_host
ttnn_jit.ttnn.tensors.assignments: bcast fill_ones_rm fill_rm plus_one unary_chain
ttnn_jit.ttnn.tensors.channel_orders: experimental.convert_to_chw experimental.convert_to_hwc
ttnn_jit.ttnn.tensors.complex_tensors: angle complex_tensor conj imag is_imag is_real polar real
ttnn_jit.ttnn.tensors.mesh_mappers: compute_distribution_to_mesh_mapping concat_mesh_to_tensor_composer create_mesh_composer create_mesh_mapper distribute replicate_tensor_to_mesh_mapper shard_tensor_to_mesh_mapper
ttnn_jit.ttnn.tensors.partial_shards: interleaved_to_sharded_partial sharded_to_interleaved_partial
ttnn_jit.ttnn.tensors.random_tensors: bernoulli experimental.dropout manual_seed rand randn
ttnn_jit.ttnn.tensors.tensor_constructor: from_buffer
ttnn_jit.ttnn.tensors.tensor_creation: arange empty empty_like eye full full_like ones ones_like zeros zeros_like
ttnn_jit.ttnn.tensors.tensor_files: as_tensor dump_tensor load_tensor
ttnn_jit.ttnn.tensors.tensor_formats: format_input_tensor format_output_tensor
ttnn_jit.ttnn.tensors.tilizing: pad_to_tile_shape tilize tilize_with_val_padding tilize_with_zero_padding untilize untilize_with_unpadding
ttnn_jit.ttnn.tensors.torch_conversion: from_torch to_torch
ttnn_jit.ttnn.tensors.transfers: clone copy_device_to_host_tensor copy_host_to_device_tensor deallocate from_device get_device_tensors get_memory_config interleaved_to_sharded is_sharded is_tensor_storage_on_device move reallocate reshard sharded_to_interleaved to_device to_dtype to_layout to_memory_config typecast
ttnn_jit.ttnn.tracer: tracer.disable_tracing tracer.enable_tracing tracer.get_graph tracer.is_tracing_enabled tracer.trace tracer.visualize
"""
_LINES = (line.split(": ") for line in _NAMES.splitlines())
HOST_FUNCTIONS = {name: module for module, names in _LINES for name in names.split()}
"""Name -> its module."""
