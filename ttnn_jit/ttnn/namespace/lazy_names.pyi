# Written by `make docs` from lazy_names.py and host_functions.py; a test proves it current.
from ttnn_jit.specs.arch import Arch as Arch
from ttnn_jit.specs.cores.shard_distribution import ShardDistributionStrategy as ShardDistributionStrategy
from ttnn_jit.specs.cores.shard_distribution import ShardMode as ShardMode
from ttnn_jit.specs.storage_type import StorageType as StorageType
from ttnn_jit.specs.configs.embeddings_type import EmbeddingsType as EmbeddingsType
from ttnn_jit.specs.configs.reshape_mode import TileReshapeMapMode as TileReshapeMapMode
from ttnn_jit.ops.elementwise.activation_variants import GeluVariant as GeluVariant
from ttnn_jit.ops.elementwise.activation_variants import SigmoidMode as SigmoidMode
from ttnn_jit.specs.configs.unary_op_type import BcastOpDim as BcastOpDim
from ttnn_jit.specs.configs.unary_op_type import BcastOpMath as BcastOpMath
from ttnn_jit.specs.configs.unary_op_type import UnaryOpType as UnaryOpType
from ttnn_jit.specs.configs.unary_op_type import UnaryWithParam as UnaryWithParam
from ttnn_jit.specs.configs.compute_config import BlackholeComputeKernelConfig as BlackholeComputeKernelConfig
from ttnn_jit.specs.configs.compute_config import DeviceComputeKernelConfig as DeviceComputeKernelConfig
from ttnn_jit.specs.configs.compute_config import GrayskullComputeKernelConfig as GrayskullComputeKernelConfig
from ttnn_jit.specs.configs.compute_config import ThrottleLevel as ThrottleLevel
from ttnn_jit.specs.configs.compute_config import WormholeComputeKernelConfig as WormholeComputeKernelConfig
from ttnn_jit.specs.configs.compute_config import init_device_compute_kernel_config as init_device_compute_kernel_config
from ttnn_jit.specs.configs.program_configs import LayerNormDefaultProgramConfig as LayerNormDefaultProgramConfig
from ttnn_jit.specs.configs.program_configs import LayerNormShardedMultiCoreProgramConfig as LayerNormShardedMultiCoreProgramConfig
from ttnn_jit.specs.configs.program_configs import MatmulMultiCoreReuseMultiCast1DProgramConfig as MatmulMultiCoreReuseMultiCast1DProgramConfig
from ttnn_jit.specs.configs.program_configs import MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig as MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig
from ttnn_jit.specs.configs.program_configs import MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig as MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig
from ttnn_jit.specs.configs.program_configs import MatmulMultiCoreReuseMultiCastProgramConfig as MatmulMultiCoreReuseMultiCastProgramConfig
from ttnn_jit.specs.configs.program_configs import MatmulMultiCoreReuseProgramConfig as MatmulMultiCoreReuseProgramConfig
from ttnn_jit.specs.configs.program_configs import MinimalMatmulConfig as MinimalMatmulConfig
from ttnn_jit.specs.configs.program_configs import SDPAProgramConfig as SDPAProgramConfig
from ttnn_jit.specs.configs.program_configs import SoftmaxDefaultProgramConfig as SoftmaxDefaultProgramConfig
from ttnn_jit.specs.configs.program_configs import SoftmaxProgramConfig as SoftmaxProgramConfig
from ttnn_jit.specs.configs.program_configs import SoftmaxShardedMultiCoreProgramConfig as SoftmaxShardedMultiCoreProgramConfig
from ttnn_jit.specs.cores.core_sets import corerange_to_cores as corerange_to_cores
from ttnn_jit.specs.cores.core_sets import create_sharded_memory_config_ as create_sharded_memory_config_
from ttnn_jit.specs.cores.core_sets import grid_to_cores as grid_to_cores
from ttnn_jit.specs.cores.core_sets import num_cores_to_corerangeset as num_cores_to_corerangeset
from ttnn_jit.specs.cores.core_sets import num_cores_to_corerangeset_in_subcoregrids as num_cores_to_corerangeset_in_subcoregrids
from ttnn_jit.specs.cores.core_sets import split_work_to_cores as split_work_to_cores
from ttnn_jit.ttnn.observing.session_config import CONFIG as CONFIG
from ttnn_jit.ttnn.observing.session_config import CONFIG_OVERRIDES as CONFIG_OVERRIDES
from ttnn_jit.ttnn.observing.session_config import CONFIG_PATH as CONFIG_PATH
from ttnn_jit.ttnn.observing.session_config import Config as Config
from ttnn_jit.ttnn.observing.session_config import load_config_from_dictionary as load_config_from_dictionary
from ttnn_jit.ttnn.observing.session_config import load_config_from_json_file as load_config_from_json_file
from ttnn_jit.ttnn.observing.session_config import manage_config as manage_config
from ttnn_jit.ttnn.observing.session_config import save_config_to_json_file as save_config_to_json_file
from ttnn_jit.ttnn.meshes.topology import ReduceType as ReduceType
from ttnn_jit.ttnn.meshes.topology import Topology as Topology
from ttnn_jit.ttnn.meshes.sockets import MeshCoreCoord as MeshCoreCoord
from ttnn_jit.ttnn.meshes.sockets import MeshSocket as MeshSocket
from ttnn_jit.ttnn.meshes.sockets import SocketConfig as SocketConfig
from ttnn_jit.ttnn.meshes.sockets import SocketConnection as SocketConnection
from ttnn_jit.ttnn.meshes.sockets import SocketMemoryConfig as SocketMemoryConfig
from ttnn_jit.ttnn.meshes.sockets import create_socket_pair as create_socket_pair
from ttnn_jit.ttnn.fabric import FabricConfig as FabricConfig
from ttnn_jit.ttnn.fabric import FabricManagerMode as FabricManagerMode
from ttnn_jit.ttnn.fabric import FabricReliabilityMode as FabricReliabilityMode
from ttnn_jit.ttnn.fabric import FabricRouterConfig as FabricRouterConfig
from ttnn_jit.ttnn.fabric import FabricTensixConfig as FabricTensixConfig
from ttnn_jit.ttnn.fabric import FabricUDMMode as FabricUDMMode
from ttnn_jit.ttnn.fabric import set_fabric_config as set_fabric_config
from ttnn_jit.ttnn.devices.devices import DispatchCoreAxis as DispatchCoreAxis
from ttnn_jit.ttnn.devices.devices import DispatchCoreConfig as DispatchCoreConfig
from ttnn_jit.ttnn.devices.devices import DispatchCoreType as DispatchCoreType
from ttnn_jit.ttnn.devices.devices import close_device as close_device
from ttnn_jit.ttnn.devices.devices import close_mesh_device as close_mesh_device
from ttnn_jit.ttnn.devices.devices import create_mesh_device as create_mesh_device
from ttnn_jit.ttnn.devices.devices import disable_and_clear_program_cache as disable_and_clear_program_cache
from ttnn_jit.ttnn.devices.devices import enable_program_cache as enable_program_cache
from ttnn_jit.ttnn.devices.devices import get_arch_name as get_arch_name
from ttnn_jit.ttnn.devices.devices import get_num_devices as get_num_devices
from ttnn_jit.ttnn.devices.devices import get_num_pcie_devices as get_num_pcie_devices
from ttnn_jit.ttnn.devices.devices import get_pcie_device_ids as get_pcie_device_ids
from ttnn_jit.ttnn.devices.devices import manage_device as manage_device
from ttnn_jit.ttnn.devices.devices import open_device as open_device
from ttnn_jit.ttnn.devices.devices import open_mesh_device as open_mesh_device
from ttnn_jit.ttnn.devices.devices import synchronize_device as synchronize_device
from ttnn_jit.ttnn.devices.devices import using_distributed_env as using_distributed_env
from ttnn_jit.ttnn.types import DEVICE_STORAGE_TYPE as DEVICE_STORAGE_TYPE
from ttnn_jit.ttnn.functions.moreh import moreh_cumsum as moreh_cumsum
from ttnn_jit.ttnn.tensors.mesh_mappers import ConcatMesh2dToTensor as ConcatMesh2dToTensor
from ttnn_jit.ttnn.tensors.mesh_mappers import ConcatMeshToTensor as ConcatMeshToTensor
from ttnn_jit.ttnn.tensors.mesh_mappers import MeshComposerConfig as MeshComposerConfig
from ttnn_jit.ttnn.tensors.mesh_mappers import MeshMapperConfig as MeshMapperConfig
from ttnn_jit.ttnn.tensors.mesh_mappers import MeshToTensor as MeshToTensor
from ttnn_jit.ttnn.tensors.mesh_mappers import ReplicateTensorToMesh as ReplicateTensorToMesh
from ttnn_jit.ttnn.tensors.mesh_mappers import ShardTensor2dMesh as ShardTensor2dMesh
from ttnn_jit.ttnn.tensors.mesh_mappers import ShardTensorToMesh as ShardTensorToMesh
from ttnn_jit.ttnn.tensors.mesh_mappers import TensorToMesh as TensorToMesh
from ttnn_jit.ttnn.tensors.mesh_mappers import compute_distribution_to_mesh_mapping as compute_distribution_to_mesh_mapping
from ttnn_jit.ttnn.tensors.mesh_mappers import concat_mesh_to_tensor_composer as concat_mesh_to_tensor_composer
from ttnn_jit.ttnn.tensors.mesh_mappers import create_mesh_composer as create_mesh_composer
from ttnn_jit.ttnn.tensors.mesh_mappers import create_mesh_mapper as create_mesh_mapper
from ttnn_jit.ttnn.tensors.mesh_mappers import distribute as distribute
from ttnn_jit.ttnn.tensors.mesh_mappers import replicate_tensor_to_mesh_mapper as replicate_tensor_to_mesh_mapper
from ttnn_jit.ttnn.tensors.mesh_mappers import shard_tensor_to_mesh_mapper as shard_tensor_to_mesh_mapper
from ttnn_jit.specs.cores.sub_devices import SubDevice as SubDevice
from ttnn_jit.specs.cores.sub_devices import SubDeviceId as SubDeviceId
from ttnn_jit.specs.cores.sub_devices import SubDeviceManagerId as SubDeviceManagerId
from ttnn_jit.ttnn.devices.traces import MeshTraceId as MeshTraceId
from ttnn_jit.ttnn.devices.traces import begin_trace_capture as begin_trace_capture
from ttnn_jit.ttnn.devices.traces import end_trace_capture as end_trace_capture
from ttnn_jit.ttnn.devices.traces import execute_trace as execute_trace
from ttnn_jit.ttnn.devices.traces import release_trace as release_trace
from ttnn_jit.ttnn.devices.queues import MeshEvent as MeshEvent
from ttnn_jit.ttnn.devices.queues import QueueId as QueueId
from ttnn_jit.ttnn.devices.queues import apply_device_delay as apply_device_delay
from ttnn_jit.ttnn.devices.queues import command_queue as command_queue
from ttnn_jit.ttnn.devices.queues import event_synchronize as event_synchronize
from ttnn_jit.ttnn.devices.queues import get_current_command_queue_id_for_thread as get_current_command_queue_id_for_thread
from ttnn_jit.ttnn.devices.queues import record_event as record_event
from ttnn_jit.ttnn.devices.queues import wait_for_event as wait_for_event
from ttnn_jit.ttnn.functions.prepared_weights import prepare_conv_bias as prepare_conv_bias
from ttnn_jit.ttnn.functions.prepared_weights import prepare_conv_transpose2d_bias as prepare_conv_transpose2d_bias
from ttnn_jit.ttnn.functions.prepared_weights import prepare_conv_transpose2d_weights as prepare_conv_transpose2d_weights
from ttnn_jit.ttnn.functions.prepared_weights import prepare_conv_weights as prepare_conv_weights
from ttnn_jit.specs.configs.conv_configs import Conv1dConfig as Conv1dConfig
from ttnn_jit.specs.configs.conv_configs import Conv2dConfig as Conv2dConfig
from ttnn_jit.specs.configs.conv_configs import Conv2dDRAMSliceHeight as Conv2dDRAMSliceHeight
from ttnn_jit.specs.configs.conv_configs import Conv2dDRAMSliceWidth as Conv2dDRAMSliceWidth
from ttnn_jit.specs.configs.conv_configs import Conv2dL1Full as Conv2dL1Full
from ttnn_jit.specs.configs.conv_configs import Conv2dL1FullSliceConfig as Conv2dL1FullSliceConfig
from ttnn_jit.specs.configs.conv_configs import Conv2dSliceConfig as Conv2dSliceConfig
from ttnn_jit.specs.configs.conv_configs import Conv3dConfig as Conv3dConfig
from ttnn_jit.specs.configs.conv_configs import Op2DDRAMSliceHeight as Op2DDRAMSliceHeight
from ttnn_jit.specs.configs.conv_configs import Op2DDRAMSliceWidth as Op2DDRAMSliceWidth
from ttnn_jit.specs.configs.conv_configs import Op2DL1Full as Op2DL1Full
from ttnn_jit.specs.configs.conv_configs import Op2DL1FullSliceConfig as Op2DL1FullSliceConfig
from ttnn_jit.specs.configs.conv_configs import Op2DSliceConfig as Op2DSliceConfig
from ttnn_jit.specs.configs.conv_configs import PaddingMode as PaddingMode
from ttnn_jit.ttnn.core import element_size as element_size
from ttnn_jit.ttnn.core import has_storage_type_of as has_storage_type_of
from ttnn_jit.ttnn.core import has_tile_padding as has_tile_padding
from ttnn_jit.ttnn.core import tile_size as tile_size
from ttnn_jit.ttnn.devices.device_registry import CloseDevice as CloseDevice
from ttnn_jit.ttnn.devices.device_registry import CloseDevices as CloseDevices
from ttnn_jit.ttnn.devices.device_registry import CreateDevice as CreateDevice
from ttnn_jit.ttnn.devices.device_registry import CreateDevices as CreateDevices
from ttnn_jit.ttnn.devices.device_registry import GetDefaultDevice as GetDefaultDevice
from ttnn_jit.ttnn.devices.device_registry import GetNumAvailableDevices as GetNumAvailableDevices
from ttnn_jit.ttnn.devices.device_registry import GetNumPCIeDevices as GetNumPCIeDevices
from ttnn_jit.ttnn.devices.device_registry import GetPCIeDeviceID as GetPCIeDeviceID
from ttnn_jit.ttnn.devices.device_registry import ReadDeviceProfiler as ReadDeviceProfiler
from ttnn_jit.ttnn.devices.device_registry import SetDefaultDevice as SetDefaultDevice
from ttnn_jit.ttnn.devices.device_registry import get_device_ids as get_device_ids
from ttnn_jit.ttnn.devices.memory_banks import get_memory_view as get_memory_view
from ttnn_jit.ttnn.devices.memory_reports import dump_device_memory_state as dump_device_memory_state
from ttnn_jit.ttnn.devices.semaphores import create_global_semaphore as create_global_semaphore
from ttnn_jit.ttnn.devices.semaphores import reset_global_semaphore_value as reset_global_semaphore_value
from ttnn_jit.ttnn.functions.batch_norm import batch_norm as batch_norm
from ttnn_jit.ttnn.functions.complex_gradients import angle_bw as angle_bw
from ttnn_jit.ttnn.functions.complex_gradients import conj_bw as conj_bw
from ttnn_jit.ttnn.functions.complex_gradients import imag_bw as imag_bw
from ttnn_jit.ttnn.functions.complex_gradients import polar_bw as polar_bw
from ttnn_jit.ttnn.functions.complex_gradients import real_bw as real_bw
from ttnn_jit.ttnn.functions.convolution_calls import conv1d as conv1d
from ttnn_jit.ttnn.functions.convolution_calls import conv2d as conv2d
from ttnn_jit.ttnn.functions.convolution_calls import conv_transpose2d as conv_transpose2d
from ttnn_jit.ttnn.functions.convolution_calls import get_conv_output_dim as get_conv_output_dim
from ttnn_jit.ttnn.functions.data_dependent_shapes import nonzero as nonzero
from ttnn_jit.ttnn.functions.data_dependent_shapes import unique as unique
from ttnn_jit.ttnn.functions.gradients import abs_bw as abs_bw
from ttnn_jit.ttnn.functions.gradients import acos_bw as acos_bw
from ttnn_jit.ttnn.functions.gradients import acosh_bw as acosh_bw
from ttnn_jit.ttnn.functions.gradients import add_bw as add_bw
from ttnn_jit.ttnn.functions.gradients import addalpha_bw as addalpha_bw
from ttnn_jit.ttnn.functions.gradients import addcdiv_bw as addcdiv_bw
from ttnn_jit.ttnn.functions.gradients import addcmul_bw as addcmul_bw
from ttnn_jit.ttnn.functions.gradients import asin_bw as asin_bw
from ttnn_jit.ttnn.functions.gradients import asinh_bw as asinh_bw
from ttnn_jit.ttnn.functions.gradients import assign_bw as assign_bw
from ttnn_jit.ttnn.functions.gradients import atan2_bw as atan2_bw
from ttnn_jit.ttnn.functions.gradients import atan_bw as atan_bw
from ttnn_jit.ttnn.functions.gradients import atanh_bw as atanh_bw
from ttnn_jit.ttnn.functions.gradients import bias_gelu_bw as bias_gelu_bw
from ttnn_jit.ttnn.functions.gradients import binary_eq_bw as binary_eq_bw
from ttnn_jit.ttnn.functions.gradients import binary_ge_bw as binary_ge_bw
from ttnn_jit.ttnn.functions.gradients import binary_gt_bw as binary_gt_bw
from ttnn_jit.ttnn.functions.gradients import binary_le_bw as binary_le_bw
from ttnn_jit.ttnn.functions.gradients import binary_lt_bw as binary_lt_bw
from ttnn_jit.ttnn.functions.gradients import binary_ne_bw as binary_ne_bw
from ttnn_jit.ttnn.functions.gradients import ceil_bw as ceil_bw
from ttnn_jit.ttnn.functions.gradients import celu_bw as celu_bw
from ttnn_jit.ttnn.functions.gradients import clamp_bw as clamp_bw
from ttnn_jit.ttnn.functions.gradients import clamp_min_bw as clamp_min_bw
from ttnn_jit.ttnn.functions.gradients import clip_bw as clip_bw
from ttnn_jit.ttnn.functions.gradients import concat_bw as concat_bw
from ttnn_jit.ttnn.functions.gradients import cos_bw as cos_bw
from ttnn_jit.ttnn.functions.gradients import cosh_bw as cosh_bw
from ttnn_jit.ttnn.functions.gradients import deg2rad_bw as deg2rad_bw
from ttnn_jit.ttnn.functions.gradients import digamma_bw as digamma_bw
from ttnn_jit.ttnn.functions.gradients import div_bw as div_bw
from ttnn_jit.ttnn.functions.gradients import div_no_nan_bw as div_no_nan_bw
from ttnn_jit.ttnn.functions.gradients import elu_bw as elu_bw
from ttnn_jit.ttnn.functions.gradients import embedding_bw as embedding_bw
from ttnn_jit.ttnn.functions.gradients import erf_bw as erf_bw
from ttnn_jit.ttnn.functions.gradients import erfc_bw as erfc_bw
from ttnn_jit.ttnn.functions.gradients import erfinv_bw as erfinv_bw
from ttnn_jit.ttnn.functions.gradients import exp2_bw as exp2_bw
from ttnn_jit.ttnn.functions.gradients import exp_bw as exp_bw
from ttnn_jit.ttnn.functions.gradients import expm1_bw as expm1_bw
from ttnn_jit.ttnn.functions.gradients import fill_zero_bw as fill_zero_bw
from ttnn_jit.ttnn.functions.gradients import floor_bw as floor_bw
from ttnn_jit.ttnn.functions.gradients import fmod_bw as fmod_bw
from ttnn_jit.ttnn.functions.gradients import frac_bw as frac_bw
from ttnn_jit.ttnn.functions.gradients import gelu_bw as gelu_bw
from ttnn_jit.ttnn.functions.gradients import hardshrink_bw as hardshrink_bw
from ttnn_jit.ttnn.functions.gradients import hardsigmoid_bw as hardsigmoid_bw
from ttnn_jit.ttnn.functions.gradients import hardswish_bw as hardswish_bw
from ttnn_jit.ttnn.functions.gradients import hardtanh_bw as hardtanh_bw
from ttnn_jit.ttnn.functions.gradients import hypot_bw as hypot_bw
from ttnn_jit.ttnn.functions.gradients import ldexp_bw as ldexp_bw
from ttnn_jit.ttnn.functions.gradients import leaky_relu_bw as leaky_relu_bw
from ttnn_jit.ttnn.functions.gradients import lerp_bw as lerp_bw
from ttnn_jit.ttnn.functions.gradients import lgamma_bw as lgamma_bw
from ttnn_jit.ttnn.functions.gradients import log10_bw as log10_bw
from ttnn_jit.ttnn.functions.gradients import log1p_bw as log1p_bw
from ttnn_jit.ttnn.functions.gradients import log2_bw as log2_bw
from ttnn_jit.ttnn.functions.gradients import log_bw as log_bw
from ttnn_jit.ttnn.functions.gradients import log_sigmoid_bw as log_sigmoid_bw
from ttnn_jit.ttnn.functions.gradients import logaddexp2_bw as logaddexp2_bw
from ttnn_jit.ttnn.functions.gradients import logaddexp_bw as logaddexp_bw
from ttnn_jit.ttnn.functions.gradients import logit_bw as logit_bw
from ttnn_jit.ttnn.functions.gradients import logiteps_bw as logiteps_bw
from ttnn_jit.ttnn.functions.gradients import max_bw as max_bw
from ttnn_jit.ttnn.functions.gradients import min_bw as min_bw
from ttnn_jit.ttnn.functions.gradients import mul_bw as mul_bw
from ttnn_jit.ttnn.functions.gradients import multigammaln_bw as multigammaln_bw
from ttnn_jit.ttnn.functions.gradients import neg_bw as neg_bw
from ttnn_jit.ttnn.functions.gradients import polygamma_bw as polygamma_bw
from ttnn_jit.ttnn.functions.gradients import pow_bw as pow_bw
from ttnn_jit.ttnn.functions.gradients import prod_bw as prod_bw
from ttnn_jit.ttnn.functions.gradients import rad2deg_bw as rad2deg_bw
from ttnn_jit.ttnn.functions.gradients import rdiv_bw as rdiv_bw
from ttnn_jit.ttnn.functions.gradients import reciprocal_bw as reciprocal_bw
from ttnn_jit.ttnn.functions.gradients import relu6_bw as relu6_bw
from ttnn_jit.ttnn.functions.gradients import relu_bw as relu_bw
from ttnn_jit.ttnn.functions.gradients import remainder_bw as remainder_bw
from ttnn_jit.ttnn.functions.gradients import repeat_bw as repeat_bw
from ttnn_jit.ttnn.functions.gradients import round_bw as round_bw
from ttnn_jit.ttnn.functions.gradients import rpow_bw as rpow_bw
from ttnn_jit.ttnn.functions.gradients import rsqrt_bw as rsqrt_bw
from ttnn_jit.ttnn.functions.gradients import rsub_bw as rsub_bw
from ttnn_jit.ttnn.functions.gradients import selu_bw as selu_bw
from ttnn_jit.ttnn.functions.gradients import sigmoid_bw as sigmoid_bw
from ttnn_jit.ttnn.functions.gradients import sign_bw as sign_bw
from ttnn_jit.ttnn.functions.gradients import silu_bw as silu_bw
from ttnn_jit.ttnn.functions.gradients import sin_bw as sin_bw
from ttnn_jit.ttnn.functions.gradients import sinh_bw as sinh_bw
from ttnn_jit.ttnn.functions.gradients import softplus_bw as softplus_bw
from ttnn_jit.ttnn.functions.gradients import softshrink_bw as softshrink_bw
from ttnn_jit.ttnn.functions.gradients import softsign_bw as softsign_bw
from ttnn_jit.ttnn.functions.gradients import sqrt_bw as sqrt_bw
from ttnn_jit.ttnn.functions.gradients import square_bw as square_bw
from ttnn_jit.ttnn.functions.gradients import squared_difference_bw as squared_difference_bw
from ttnn_jit.ttnn.functions.gradients import sub_bw as sub_bw
from ttnn_jit.ttnn.functions.gradients import subalpha_bw as subalpha_bw
from ttnn_jit.ttnn.functions.gradients import tan_bw as tan_bw
from ttnn_jit.ttnn.functions.gradients import tanh_bw as tanh_bw
from ttnn_jit.ttnn.functions.gradients import tanhshrink_bw as tanhshrink_bw
from ttnn_jit.ttnn.functions.gradients import threshold_bw as threshold_bw
from ttnn_jit.ttnn.functions.gradients import trunc_bw as trunc_bw
from ttnn_jit.ttnn.functions.gradients import unary_sub_bw as unary_sub_bw
from ttnn_jit.ttnn.functions.gradients import where_bw as where_bw
from ttnn_jit.ttnn.functions.gradients import xlogy_bw as xlogy_bw
from ttnn_jit.ttnn.functions.group_norm_parameters import create_group_norm_input_mask as create_group_norm_input_mask
from ttnn_jit.ttnn.functions.group_norm_parameters import create_group_norm_input_negative_mask as create_group_norm_input_negative_mask
from ttnn_jit.ttnn.functions.group_norm_parameters import create_group_norm_weight_bias_rm as create_group_norm_weight_bias_rm
from ttnn_jit.ttnn.functions.group_norm_parameters import determine_expected_group_norm_sharded_config_and_grid_size as determine_expected_group_norm_sharded_config_and_grid_size
from ttnn_jit.ttnn.functions.group_norm_parameters import get_group_norm_cores_across_channel as get_group_norm_cores_across_channel
from ttnn_jit.ttnn.functions.pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from ttnn_jit.ttnn.functions.pooling import adaptive_max_pool2d as adaptive_max_pool2d
from ttnn_jit.ttnn.functions.pooling import avg_pool2d as avg_pool2d
from ttnn_jit.ttnn.functions.pooling import global_avg_pool2d as global_avg_pool2d
from ttnn_jit.ttnn.functions.pooling import max_pool2d as max_pool2d
from ttnn_jit.ttnn.functions.prepared_grids import prepare_grid_sample_grid as prepare_grid_sample_grid
from ttnn_jit.ttnn.functions.rearranging import rearrange as rearrange
from ttnn_jit.ttnn.functions.resampling_calls import grid_sample as grid_sample
from ttnn_jit.ttnn.functions.resampling_calls import upsample as upsample
from ttnn_jit.ttnn.functions.token_sampling import sampling as sampling
from ttnn_jit.ttnn.meshes.collectives import all_broadcast as all_broadcast
from ttnn_jit.ttnn.meshes.collectives import all_gather as all_gather
from ttnn_jit.ttnn.meshes.collectives import all_reduce as all_reduce
from ttnn_jit.ttnn.meshes.collectives import broadcast as broadcast
from ttnn_jit.ttnn.meshes.collectives import mesh_partition as mesh_partition
from ttnn_jit.ttnn.meshes.collectives import point_to_point as point_to_point
from ttnn_jit.ttnn.meshes.collectives import reduce_scatter as reduce_scatter
from ttnn_jit.ttnn.meshes.distributed_norms import fused_rms_minimal as fused_rms_minimal
from ttnn_jit.ttnn.meshes.expert_exchange import all_to_all_combine as all_to_all_combine
from ttnn_jit.ttnn.meshes.expert_exchange import all_to_all_dispatch as all_to_all_dispatch
from ttnn_jit.ttnn.meshes.expert_routing import moe_expert_token_remap as moe_expert_token_remap
from ttnn_jit.ttnn.meshes.expert_routing import moe_routing_remap as moe_routing_remap
from ttnn_jit.ttnn.meshes.host_shards import aggregate_tensor as aggregate_tensor
from ttnn_jit.ttnn.meshes.host_shards import combine_device_tensors as combine_device_tensors
from ttnn_jit.ttnn.meshes.host_shards import distribute_tensor as distribute_tensor
from ttnn_jit.ttnn.meshes.host_shards import from_host_shards as from_host_shards
from ttnn_jit.ttnn.meshes.mesh_pictures import visualize_mesh_device as visualize_mesh_device
from ttnn_jit.ttnn.meshes.mesh_pictures import visualize_tensor as visualize_tensor
from ttnn_jit.ttnn.meshes.rank_functions import distributed_context_barrier as distributed_context_barrier
from ttnn_jit.ttnn.meshes.rank_functions import distributed_context_get_rank as distributed_context_get_rank
from ttnn_jit.ttnn.meshes.rank_functions import distributed_context_get_size as distributed_context_get_size
from ttnn_jit.ttnn.meshes.rank_functions import distributed_context_is_initialized as distributed_context_is_initialized
from ttnn_jit.ttnn.meshes.rank_functions import init_distributed_context as init_distributed_context
from ttnn_jit.ttnn.observing.comparison import pearson_correlation_coefficient as pearson_correlation_coefficient
from ttnn_jit.ttnn.observing.hooks import register_post_operation_hook as register_post_operation_hook
from ttnn_jit.ttnn.observing.hooks import register_pre_operation_hook as register_pre_operation_hook
from ttnn_jit.ttnn.tensors.allocations import allocate_tensor_on_device as allocate_tensor_on_device
from ttnn_jit.ttnn.tensors.allocations import allocate_tensor_on_host as allocate_tensor_on_host
from ttnn_jit.ttnn.tensors.assignments import bcast as bcast
from ttnn_jit.ttnn.tensors.assignments import fill_ones_rm as fill_ones_rm
from ttnn_jit.ttnn.tensors.assignments import fill_rm as fill_rm
from ttnn_jit.ttnn.tensors.assignments import plus_one as plus_one
from ttnn_jit.ttnn.tensors.assignments import unary_chain as unary_chain
from ttnn_jit.ttnn.tensors.complex_tensors import angle as angle
from ttnn_jit.ttnn.tensors.complex_tensors import complex_tensor as complex_tensor
from ttnn_jit.ttnn.tensors.complex_tensors import conj as conj
from ttnn_jit.ttnn.tensors.complex_tensors import imag as imag
from ttnn_jit.ttnn.tensors.complex_tensors import is_imag as is_imag
from ttnn_jit.ttnn.tensors.complex_tensors import is_real as is_real
from ttnn_jit.ttnn.tensors.complex_tensors import polar as polar
from ttnn_jit.ttnn.tensors.complex_tensors import real as real
from ttnn_jit.ttnn.tensors.partial_shards import interleaved_to_sharded_partial as interleaved_to_sharded_partial
from ttnn_jit.ttnn.tensors.partial_shards import sharded_to_interleaved_partial as sharded_to_interleaved_partial
from ttnn_jit.ttnn.tensors.random_tensors import bernoulli as bernoulli
from ttnn_jit.ttnn.tensors.random_tensors import manual_seed as manual_seed
from ttnn_jit.ttnn.tensors.random_tensors import rand as rand
from ttnn_jit.ttnn.tensors.random_tensors import randn as randn
from ttnn_jit.ttnn.tensors.tensor_constructor import from_buffer as from_buffer
from ttnn_jit.ttnn.tensors.tensor_creation import arange as arange
from ttnn_jit.ttnn.tensors.tensor_creation import empty as empty
from ttnn_jit.ttnn.tensors.tensor_creation import empty_like as empty_like
from ttnn_jit.ttnn.tensors.tensor_creation import eye as eye
from ttnn_jit.ttnn.tensors.tensor_creation import full as full
from ttnn_jit.ttnn.tensors.tensor_creation import full_like as full_like
from ttnn_jit.ttnn.tensors.tensor_creation import ones as ones
from ttnn_jit.ttnn.tensors.tensor_creation import ones_like as ones_like
from ttnn_jit.ttnn.tensors.tensor_creation import zeros as zeros
from ttnn_jit.ttnn.tensors.tensor_creation import zeros_like as zeros_like
from ttnn_jit.ttnn.tensors.tensor_files import as_tensor as as_tensor
from ttnn_jit.ttnn.tensors.tensor_files import dump_tensor as dump_tensor
from ttnn_jit.ttnn.tensors.tensor_files import load_tensor as load_tensor
from ttnn_jit.ttnn.tensors.tensor_formats import format_input_tensor as format_input_tensor
from ttnn_jit.ttnn.tensors.tensor_formats import format_output_tensor as format_output_tensor
from ttnn_jit.ttnn.tensors.tilizing import pad_to_tile_shape as pad_to_tile_shape
from ttnn_jit.ttnn.tensors.tilizing import tilize as tilize
from ttnn_jit.ttnn.tensors.tilizing import tilize_with_val_padding as tilize_with_val_padding
from ttnn_jit.ttnn.tensors.tilizing import tilize_with_zero_padding as tilize_with_zero_padding
from ttnn_jit.ttnn.tensors.tilizing import untilize as untilize
from ttnn_jit.ttnn.tensors.tilizing import untilize_with_unpadding as untilize_with_unpadding
from ttnn_jit.ttnn.tensors.torch_conversion import from_torch as from_torch
from ttnn_jit.ttnn.tensors.torch_conversion import to_torch as to_torch
from ttnn_jit.ttnn.tensors.transfers import clone as clone
from ttnn_jit.ttnn.tensors.transfers import copy_device_to_host_tensor as copy_device_to_host_tensor
from ttnn_jit.ttnn.tensors.transfers import copy_host_to_device_tensor as copy_host_to_device_tensor
from ttnn_jit.ttnn.tensors.transfers import deallocate as deallocate
from ttnn_jit.ttnn.tensors.transfers import from_device as from_device
from ttnn_jit.ttnn.tensors.transfers import get_device_tensors as get_device_tensors
from ttnn_jit.ttnn.tensors.transfers import get_memory_config as get_memory_config
from ttnn_jit.ttnn.tensors.transfers import interleaved_to_sharded as interleaved_to_sharded
from ttnn_jit.ttnn.tensors.transfers import is_sharded as is_sharded
from ttnn_jit.ttnn.tensors.transfers import is_tensor_storage_on_device as is_tensor_storage_on_device
from ttnn_jit.ttnn.tensors.transfers import move as move
from ttnn_jit.ttnn.tensors.transfers import reallocate as reallocate
from ttnn_jit.ttnn.tensors.transfers import reshard as reshard
from ttnn_jit.ttnn.tensors.transfers import sharded_to_interleaved as sharded_to_interleaved
from ttnn_jit.ttnn.tensors.transfers import to_device as to_device
from ttnn_jit.ttnn.tensors.transfers import to_dtype as to_dtype
from ttnn_jit.ttnn.tensors.transfers import to_layout as to_layout
from ttnn_jit.ttnn.tensors.transfers import to_memory_config as to_memory_config
from ttnn_jit.ttnn.tensors.transfers import typecast as typecast
from ttnn_jit.ttnn import core as core
from ttnn_jit.ttnn import database as database
from ttnn_jit.ttnn import dot_access as dot_access
from ttnn_jit.ttnn import experimental as experimental
from ttnn_jit.ttnn import fabric as fabric
from ttnn_jit.ttnn import graph as graph
from ttnn_jit.ttnn import kv_cache as kv_cache
from ttnn_jit.ttnn import model_preprocessing as model_preprocessing
from ttnn_jit.ttnn import operations as operations
from ttnn_jit.ttnn import tracer as tracer
from ttnn_jit.ttnn import transformer as transformer
from ttnn_jit.ttnn import types as types
from ttnn_jit.ttnn.namespace.mirrored_modules import MirroredModule

decorators: MirroredModule
distributed: MirroredModule
torch_tracer: MirroredModule

__all__ = [
    "Arch",
    "BcastOpDim",
    "BcastOpMath",
    "BlackholeComputeKernelConfig",
    "CONFIG",
    "CONFIG_OVERRIDES",
    "CONFIG_PATH",
    "CloseDevice",
    "CloseDevices",
    "ConcatMesh2dToTensor",
    "ConcatMeshToTensor",
    "Config",
    "Conv1dConfig",
    "Conv2dConfig",
    "Conv2dDRAMSliceHeight",
    "Conv2dDRAMSliceWidth",
    "Conv2dL1Full",
    "Conv2dL1FullSliceConfig",
    "Conv2dSliceConfig",
    "Conv3dConfig",
    "CreateDevice",
    "CreateDevices",
    "DEVICE_STORAGE_TYPE",
    "DeviceComputeKernelConfig",
    "DispatchCoreAxis",
    "DispatchCoreConfig",
    "DispatchCoreType",
    "EmbeddingsType",
    "FabricConfig",
    "FabricManagerMode",
    "FabricReliabilityMode",
    "FabricRouterConfig",
    "FabricTensixConfig",
    "FabricUDMMode",
    "GeluVariant",
    "GetDefaultDevice",
    "GetNumAvailableDevices",
    "GetNumPCIeDevices",
    "GetPCIeDeviceID",
    "GrayskullComputeKernelConfig",
    "LayerNormDefaultProgramConfig",
    "LayerNormShardedMultiCoreProgramConfig",
    "MatmulMultiCoreReuseMultiCast1DProgramConfig",
    "MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig",
    "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig",
    "MatmulMultiCoreReuseMultiCastProgramConfig",
    "MatmulMultiCoreReuseProgramConfig",
    "MeshComposerConfig",
    "MeshCoreCoord",
    "MeshEvent",
    "MeshMapperConfig",
    "MeshSocket",
    "MeshToTensor",
    "MeshTraceId",
    "MinimalMatmulConfig",
    "Op2DDRAMSliceHeight",
    "Op2DDRAMSliceWidth",
    "Op2DL1Full",
    "Op2DL1FullSliceConfig",
    "Op2DSliceConfig",
    "PaddingMode",
    "QueueId",
    "ReadDeviceProfiler",
    "ReduceType",
    "ReplicateTensorToMesh",
    "SDPAProgramConfig",
    "SetDefaultDevice",
    "ShardDistributionStrategy",
    "ShardMode",
    "ShardTensor2dMesh",
    "ShardTensorToMesh",
    "SigmoidMode",
    "SocketConfig",
    "SocketConnection",
    "SocketMemoryConfig",
    "SoftmaxDefaultProgramConfig",
    "SoftmaxProgramConfig",
    "SoftmaxShardedMultiCoreProgramConfig",
    "StorageType",
    "SubDevice",
    "SubDeviceId",
    "SubDeviceManagerId",
    "TensorToMesh",
    "ThrottleLevel",
    "TileReshapeMapMode",
    "Topology",
    "UnaryOpType",
    "UnaryWithParam",
    "WormholeComputeKernelConfig",
    "abs_bw",
    "acos_bw",
    "acosh_bw",
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
    "add_bw",
    "addalpha_bw",
    "addcdiv_bw",
    "addcmul_bw",
    "aggregate_tensor",
    "all_broadcast",
    "all_gather",
    "all_reduce",
    "all_to_all_combine",
    "all_to_all_dispatch",
    "allocate_tensor_on_device",
    "allocate_tensor_on_host",
    "angle",
    "angle_bw",
    "apply_device_delay",
    "arange",
    "as_tensor",
    "asin_bw",
    "asinh_bw",
    "assign_bw",
    "atan2_bw",
    "atan_bw",
    "atanh_bw",
    "avg_pool2d",
    "batch_norm",
    "bcast",
    "begin_trace_capture",
    "bernoulli",
    "bias_gelu_bw",
    "binary_eq_bw",
    "binary_ge_bw",
    "binary_gt_bw",
    "binary_le_bw",
    "binary_lt_bw",
    "binary_ne_bw",
    "broadcast",
    "ceil_bw",
    "celu_bw",
    "clamp_bw",
    "clamp_min_bw",
    "clip_bw",
    "clone",
    "close_device",
    "close_mesh_device",
    "combine_device_tensors",
    "command_queue",
    "complex_tensor",
    "compute_distribution_to_mesh_mapping",
    "concat_bw",
    "concat_mesh_to_tensor_composer",
    "conj",
    "conj_bw",
    "conv1d",
    "conv2d",
    "conv_transpose2d",
    "copy_device_to_host_tensor",
    "copy_host_to_device_tensor",
    "core",
    "corerange_to_cores",
    "cos_bw",
    "cosh_bw",
    "create_global_semaphore",
    "create_group_norm_input_mask",
    "create_group_norm_input_negative_mask",
    "create_group_norm_weight_bias_rm",
    "create_mesh_composer",
    "create_mesh_device",
    "create_mesh_mapper",
    "create_sharded_memory_config_",
    "create_socket_pair",
    "database",
    "deallocate",
    "decorators",
    "deg2rad_bw",
    "determine_expected_group_norm_sharded_config_and_grid_size",
    "digamma_bw",
    "disable_and_clear_program_cache",
    "distribute",
    "distribute_tensor",
    "distributed",
    "distributed_context_barrier",
    "distributed_context_get_rank",
    "distributed_context_get_size",
    "distributed_context_is_initialized",
    "div_bw",
    "div_no_nan_bw",
    "dot_access",
    "dump_device_memory_state",
    "dump_tensor",
    "element_size",
    "elu_bw",
    "embedding_bw",
    "empty",
    "empty_like",
    "enable_program_cache",
    "end_trace_capture",
    "erf_bw",
    "erfc_bw",
    "erfinv_bw",
    "event_synchronize",
    "execute_trace",
    "exp2_bw",
    "exp_bw",
    "experimental",
    "expm1_bw",
    "eye",
    "fabric",
    "fill_ones_rm",
    "fill_rm",
    "fill_zero_bw",
    "floor_bw",
    "fmod_bw",
    "format_input_tensor",
    "format_output_tensor",
    "frac_bw",
    "from_buffer",
    "from_device",
    "from_host_shards",
    "from_torch",
    "full",
    "full_like",
    "fused_rms_minimal",
    "gelu_bw",
    "get_arch_name",
    "get_conv_output_dim",
    "get_current_command_queue_id_for_thread",
    "get_device_ids",
    "get_device_tensors",
    "get_group_norm_cores_across_channel",
    "get_memory_config",
    "get_memory_view",
    "get_num_devices",
    "get_num_pcie_devices",
    "get_pcie_device_ids",
    "global_avg_pool2d",
    "graph",
    "grid_sample",
    "grid_to_cores",
    "hardshrink_bw",
    "hardsigmoid_bw",
    "hardswish_bw",
    "hardtanh_bw",
    "has_storage_type_of",
    "has_tile_padding",
    "hypot_bw",
    "imag",
    "imag_bw",
    "init_device_compute_kernel_config",
    "init_distributed_context",
    "interleaved_to_sharded",
    "interleaved_to_sharded_partial",
    "is_imag",
    "is_real",
    "is_sharded",
    "is_tensor_storage_on_device",
    "kv_cache",
    "ldexp_bw",
    "leaky_relu_bw",
    "lerp_bw",
    "lgamma_bw",
    "load_config_from_dictionary",
    "load_config_from_json_file",
    "load_tensor",
    "log10_bw",
    "log1p_bw",
    "log2_bw",
    "log_bw",
    "log_sigmoid_bw",
    "logaddexp2_bw",
    "logaddexp_bw",
    "logit_bw",
    "logiteps_bw",
    "manage_config",
    "manage_device",
    "manual_seed",
    "max_bw",
    "max_pool2d",
    "mesh_partition",
    "min_bw",
    "model_preprocessing",
    "moe_expert_token_remap",
    "moe_routing_remap",
    "moreh_cumsum",
    "move",
    "mul_bw",
    "multigammaln_bw",
    "neg_bw",
    "nonzero",
    "num_cores_to_corerangeset",
    "num_cores_to_corerangeset_in_subcoregrids",
    "ones",
    "ones_like",
    "open_device",
    "open_mesh_device",
    "operations",
    "pad_to_tile_shape",
    "pearson_correlation_coefficient",
    "plus_one",
    "point_to_point",
    "polar",
    "polar_bw",
    "polygamma_bw",
    "pow_bw",
    "prepare_conv_bias",
    "prepare_conv_transpose2d_bias",
    "prepare_conv_transpose2d_weights",
    "prepare_conv_weights",
    "prepare_grid_sample_grid",
    "prod_bw",
    "rad2deg_bw",
    "rand",
    "randn",
    "rdiv_bw",
    "real",
    "real_bw",
    "reallocate",
    "rearrange",
    "reciprocal_bw",
    "record_event",
    "reduce_scatter",
    "register_post_operation_hook",
    "register_pre_operation_hook",
    "release_trace",
    "relu6_bw",
    "relu_bw",
    "remainder_bw",
    "repeat_bw",
    "replicate_tensor_to_mesh_mapper",
    "reset_global_semaphore_value",
    "reshard",
    "round_bw",
    "rpow_bw",
    "rsqrt_bw",
    "rsub_bw",
    "sampling",
    "save_config_to_json_file",
    "selu_bw",
    "set_fabric_config",
    "shard_tensor_to_mesh_mapper",
    "sharded_to_interleaved",
    "sharded_to_interleaved_partial",
    "sigmoid_bw",
    "sign_bw",
    "silu_bw",
    "sin_bw",
    "sinh_bw",
    "softplus_bw",
    "softshrink_bw",
    "softsign_bw",
    "split_work_to_cores",
    "sqrt_bw",
    "square_bw",
    "squared_difference_bw",
    "sub_bw",
    "subalpha_bw",
    "synchronize_device",
    "tan_bw",
    "tanh_bw",
    "tanhshrink_bw",
    "threshold_bw",
    "tile_size",
    "tilize",
    "tilize_with_val_padding",
    "tilize_with_zero_padding",
    "to_device",
    "to_dtype",
    "to_layout",
    "to_memory_config",
    "to_torch",
    "torch_tracer",
    "tracer",
    "transformer",
    "trunc_bw",
    "typecast",
    "types",
    "unary_chain",
    "unary_sub_bw",
    "unique",
    "untilize",
    "untilize_with_unpadding",
    "upsample",
    "using_distributed_env",
    "visualize_mesh_device",
    "visualize_tensor",
    "wait_for_event",
    "where_bw",
    "xlogy_bw",
    "zeros",
    "zeros_like",
]

MODULE_OF: dict[str, str]
NO_LINKS: str
SETTINGS_EFFECT: str
SUBMODULES: tuple[str, ...]
WITHOUT_EFFECT: dict[str, str]
