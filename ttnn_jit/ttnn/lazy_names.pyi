# Written by `make docs` from the table in lazy_names.py; a test proves it current.
from ttnn_jit.specs.arch import Arch as Arch
from ttnn_jit.specs.storage_type import StorageType as StorageType
from ttnn_jit.specs.unary_op_type import BcastOpDim as BcastOpDim
from ttnn_jit.specs.unary_op_type import BcastOpMath as BcastOpMath
from ttnn_jit.specs.unary_op_type import UnaryOpType as UnaryOpType
from ttnn_jit.specs.unary_op_type import UnaryWithParam as UnaryWithParam
from ttnn_jit.specs.compute_config import BlackholeComputeKernelConfig as BlackholeComputeKernelConfig
from ttnn_jit.specs.compute_config import DeviceComputeKernelConfig as DeviceComputeKernelConfig
from ttnn_jit.specs.compute_config import GrayskullComputeKernelConfig as GrayskullComputeKernelConfig
from ttnn_jit.specs.compute_config import ThrottleLevel as ThrottleLevel
from ttnn_jit.specs.compute_config import WormholeComputeKernelConfig as WormholeComputeKernelConfig
from ttnn_jit.specs.compute_config import init_device_compute_kernel_config as init_device_compute_kernel_config
from ttnn_jit.specs.program_configs import LayerNormDefaultProgramConfig as LayerNormDefaultProgramConfig
from ttnn_jit.specs.program_configs import LayerNormShardedMultiCoreProgramConfig as LayerNormShardedMultiCoreProgramConfig
from ttnn_jit.specs.program_configs import MatmulMultiCoreReuseMultiCast1DProgramConfig as MatmulMultiCoreReuseMultiCast1DProgramConfig
from ttnn_jit.specs.program_configs import MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig as MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig
from ttnn_jit.specs.program_configs import MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig as MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig
from ttnn_jit.specs.program_configs import MatmulMultiCoreReuseMultiCastProgramConfig as MatmulMultiCoreReuseMultiCastProgramConfig
from ttnn_jit.specs.program_configs import MatmulMultiCoreReuseProgramConfig as MatmulMultiCoreReuseProgramConfig
from ttnn_jit.specs.program_configs import MinimalMatmulConfig as MinimalMatmulConfig
from ttnn_jit.specs.program_configs import SDPAProgramConfig as SDPAProgramConfig
from ttnn_jit.specs.program_configs import SoftmaxDefaultProgramConfig as SoftmaxDefaultProgramConfig
from ttnn_jit.specs.program_configs import SoftmaxProgramConfig as SoftmaxProgramConfig
from ttnn_jit.specs.program_configs import SoftmaxShardedMultiCoreProgramConfig as SoftmaxShardedMultiCoreProgramConfig
from ttnn_jit.specs.core_sets import corerange_to_cores as corerange_to_cores
from ttnn_jit.specs.core_sets import create_sharded_memory_config_ as create_sharded_memory_config_
from ttnn_jit.specs.core_sets import grid_to_cores as grid_to_cores
from ttnn_jit.specs.core_sets import num_cores_to_corerangeset as num_cores_to_corerangeset
from ttnn_jit.specs.core_sets import num_cores_to_corerangeset_in_subcoregrids as num_cores_to_corerangeset_in_subcoregrids
from ttnn_jit.specs.core_sets import split_work_to_cores as split_work_to_cores
from ttnn_jit.ttnn.transfers import allocate_tensor_on_host as allocate_tensor_on_host
from ttnn_jit.ttnn.transfers import move as move
from ttnn_jit.ttnn.transfers import reallocate as reallocate
from ttnn_jit.ttnn.transfers import to_dtype as to_dtype
from ttnn_jit.ttnn.tensor_files import as_tensor as as_tensor
from ttnn_jit.ttnn.tensor_files import dump_tensor as dump_tensor
from ttnn_jit.ttnn.tensor_files import load_tensor as load_tensor
from ttnn_jit.ttnn.session_config import CONFIG as CONFIG
from ttnn_jit.ttnn.session_config import Config as Config
from ttnn_jit.ttnn.session_config import load_config_from_dictionary as load_config_from_dictionary
from ttnn_jit.ttnn.session_config import load_config_from_json_file as load_config_from_json_file
from ttnn_jit.ttnn.session_config import manage_config as manage_config
from ttnn_jit.ttnn.session_config import save_config_to_json_file as save_config_to_json_file
from ttnn_jit.ttnn.topology import ReduceType as ReduceType
from ttnn_jit.ttnn.topology import Topology as Topology
from ttnn_jit.ttnn.device_registry import CloseDevice as CloseDevice
from ttnn_jit.ttnn.device_registry import CloseDevices as CloseDevices
from ttnn_jit.ttnn.device_registry import CreateDevice as CreateDevice
from ttnn_jit.ttnn.device_registry import CreateDevices as CreateDevices
from ttnn_jit.ttnn.device_registry import GetDefaultDevice as GetDefaultDevice
from ttnn_jit.ttnn.device_registry import GetNumAvailableDevices as GetNumAvailableDevices
from ttnn_jit.ttnn.device_registry import GetNumPCIeDevices as GetNumPCIeDevices
from ttnn_jit.ttnn.device_registry import GetPCIeDeviceID as GetPCIeDeviceID
from ttnn_jit.ttnn.device_registry import ReadDeviceProfiler as ReadDeviceProfiler
from ttnn_jit.ttnn.device_registry import SetDefaultDevice as SetDefaultDevice
from ttnn_jit.ttnn.device_registry import get_device_ids as get_device_ids
from ttnn_jit.ttnn.core import element_size as element_size
from ttnn_jit.ttnn.core import has_storage_type_of as has_storage_type_of
from ttnn_jit.ttnn.core import has_tile_padding as has_tile_padding
from ttnn_jit.ttnn.core import tile_size as tile_size
from ttnn_jit.ttnn.types import DEVICE_STORAGE_TYPE as DEVICE_STORAGE_TYPE
from ttnn_jit.ttnn.random_tensors import bernoulli as bernoulli
from ttnn_jit.ttnn.random_tensors import manual_seed as manual_seed
from ttnn_jit.ttnn.random_tensors import rand as rand
from ttnn_jit.ttnn.random_tensors import randn as randn
from ttnn_jit.ttnn.found_elements import nonzero as nonzero
from ttnn_jit.ttnn.found_elements import unique as unique
from ttnn_jit.ttnn.rearranging import rearrange as rearrange
from ttnn_jit.ttnn.batch_norm import batch_norm as batch_norm
from ttnn_jit.ttnn.moreh import moreh_cumsum as moreh_cumsum
from ttnn_jit.ttnn.assignments import bcast as bcast
from ttnn_jit.ttnn.assignments import fill_ones_rm as fill_ones_rm
from ttnn_jit.ttnn.assignments import fill_rm as fill_rm
from ttnn_jit.ttnn.assignments import plus_one as plus_one
from ttnn_jit.ttnn.assignments import unary_chain as unary_chain
from ttnn_jit.ttnn.tilizing import pad_to_tile_shape as pad_to_tile_shape
from ttnn_jit.ttnn.tilizing import tilize as tilize
from ttnn_jit.ttnn.tilizing import tilize_with_val_padding as tilize_with_val_padding
from ttnn_jit.ttnn.tilizing import tilize_with_zero_padding as tilize_with_zero_padding
from ttnn_jit.ttnn.tilizing import untilize as untilize
from ttnn_jit.ttnn.tilizing import untilize_with_unpadding as untilize_with_unpadding
from ttnn_jit.ttnn.partial_shards import interleaved_to_sharded_partial as interleaved_to_sharded_partial
from ttnn_jit.ttnn.partial_shards import sharded_to_interleaved_partial as sharded_to_interleaved_partial
from ttnn_jit.ttnn.group_norm_parameters import create_group_norm_input_mask as create_group_norm_input_mask
from ttnn_jit.ttnn.group_norm_parameters import create_group_norm_input_negative_mask as create_group_norm_input_negative_mask
from ttnn_jit.ttnn.group_norm_parameters import create_group_norm_weight_bias_rm as create_group_norm_weight_bias_rm
from ttnn_jit.ttnn.group_norm_parameters import determine_expected_group_norm_sharded_config_and_grid_size as determine_expected_group_norm_sharded_config_and_grid_size
from ttnn_jit.ttnn.group_norm_parameters import get_group_norm_cores_across_channel as get_group_norm_cores_across_channel
from ttnn_jit.ttnn.mesh_mappers import ConcatMesh2dToTensor as ConcatMesh2dToTensor
from ttnn_jit.ttnn.mesh_mappers import ConcatMeshToTensor as ConcatMeshToTensor
from ttnn_jit.ttnn.mesh_mappers import MeshComposerConfig as MeshComposerConfig
from ttnn_jit.ttnn.mesh_mappers import MeshMapperConfig as MeshMapperConfig
from ttnn_jit.ttnn.mesh_mappers import MeshToTensor as MeshToTensor
from ttnn_jit.ttnn.mesh_mappers import PlacementReplicate as PlacementReplicate
from ttnn_jit.ttnn.mesh_mappers import PlacementShard as PlacementShard
from ttnn_jit.ttnn.mesh_mappers import ReplicateTensorToMesh as ReplicateTensorToMesh
from ttnn_jit.ttnn.mesh_mappers import ShardTensor2dMesh as ShardTensor2dMesh
from ttnn_jit.ttnn.mesh_mappers import ShardTensorToMesh as ShardTensorToMesh
from ttnn_jit.ttnn.mesh_mappers import TensorToMesh as TensorToMesh
from ttnn_jit.ttnn.mesh_mappers import concat_mesh_to_tensor_composer as concat_mesh_to_tensor_composer
from ttnn_jit.ttnn.mesh_mappers import create_mesh_composer as create_mesh_composer
from ttnn_jit.ttnn.mesh_mappers import create_mesh_mapper as create_mesh_mapper
from ttnn_jit.ttnn.mesh_mappers import distribute as distribute
from ttnn_jit.ttnn.mesh_mappers import replicate_tensor_to_mesh_mapper as replicate_tensor_to_mesh_mapper
from ttnn_jit.ttnn.mesh_mappers import shard_tensor_to_mesh_mapper as shard_tensor_to_mesh_mapper
from ttnn_jit.ttnn.collectives import all_gather as all_gather
from ttnn_jit.ttnn.collectives import all_reduce as all_reduce
from ttnn_jit.ttnn.collectives import mesh_partition as mesh_partition
from ttnn_jit.ttnn.collectives import reduce_scatter as reduce_scatter
from ttnn_jit.ttnn.host_shards import MeshCoordinate as MeshCoordinate
from ttnn_jit.ttnn.host_shards import aggregate_tensor as aggregate_tensor
from ttnn_jit.ttnn.host_shards import combine_device_tensors as combine_device_tensors
from ttnn_jit.ttnn.host_shards import distribute_tensor as distribute_tensor
from ttnn_jit.ttnn.host_shards import from_host_shards as from_host_shards
from ttnn_jit.specs.sub_devices import SubDevice as SubDevice
from ttnn_jit.specs.sub_devices import SubDeviceId as SubDeviceId
from ttnn_jit.specs.sub_devices import SubDeviceManagerId as SubDeviceManagerId
from ttnn_jit.ttnn.semaphores import create_global_semaphore as create_global_semaphore
from ttnn_jit.ttnn.semaphores import reset_global_semaphore_value as reset_global_semaphore_value
from ttnn_jit.ttnn.hooks import register_post_operation_hook as register_post_operation_hook
from ttnn_jit.ttnn.hooks import register_pre_operation_hook as register_pre_operation_hook
from ttnn_jit.ttnn.traces import MeshTraceId as MeshTraceId
from ttnn_jit.ttnn.traces import begin_trace_capture as begin_trace_capture
from ttnn_jit.ttnn.traces import end_trace_capture as end_trace_capture
from ttnn_jit.ttnn.traces import execute_trace as execute_trace
from ttnn_jit.ttnn.traces import release_trace as release_trace
from ttnn_jit.ttnn.queues import MeshEvent as MeshEvent
from ttnn_jit.ttnn.queues import QueueId as QueueId
from ttnn_jit.ttnn.queues import command_queue as command_queue
from ttnn_jit.ttnn.queues import event_synchronize as event_synchronize
from ttnn_jit.ttnn.queues import get_current_command_queue_id_for_thread as get_current_command_queue_id_for_thread
from ttnn_jit.ttnn.queues import record_event as record_event
from ttnn_jit.ttnn.queues import wait_for_event as wait_for_event
from ttnn_jit.ttnn.convolving import conv1d as conv1d
from ttnn_jit.ttnn.convolving import conv2d as conv2d
from ttnn_jit.ttnn.convolving import conv_transpose2d as conv_transpose2d
from ttnn_jit.ttnn.convolving import get_conv_output_dim as get_conv_output_dim
from ttnn_jit.ttnn.pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from ttnn_jit.ttnn.pooling import adaptive_max_pool2d as adaptive_max_pool2d
from ttnn_jit.ttnn.pooling import avg_pool2d as avg_pool2d
from ttnn_jit.ttnn.pooling import global_avg_pool2d as global_avg_pool2d
from ttnn_jit.ttnn.pooling import max_pool2d as max_pool2d
from ttnn_jit.ttnn.interpolating import grid_sample as grid_sample
from ttnn_jit.ttnn.interpolating import upsample as upsample
from ttnn_jit.ttnn.prepared_weights import prepare_conv_bias as prepare_conv_bias
from ttnn_jit.ttnn.prepared_weights import prepare_conv_weights as prepare_conv_weights
from ttnn_jit.specs.conv_configs import Conv1dConfig as Conv1dConfig
from ttnn_jit.specs.conv_configs import Conv2dConfig as Conv2dConfig
from ttnn_jit.specs.conv_configs import Conv2dDRAMSliceHeight as Conv2dDRAMSliceHeight
from ttnn_jit.specs.conv_configs import Conv2dDRAMSliceWidth as Conv2dDRAMSliceWidth
from ttnn_jit.specs.conv_configs import Conv2dL1Full as Conv2dL1Full
from ttnn_jit.specs.conv_configs import Conv2dL1FullSliceConfig as Conv2dL1FullSliceConfig
from ttnn_jit.specs.conv_configs import Conv2dSliceConfig as Conv2dSliceConfig
from ttnn_jit.specs.conv_configs import Conv3dConfig as Conv3dConfig
from ttnn_jit.specs.conv_configs import Op2DDRAMSliceHeight as Op2DDRAMSliceHeight
from ttnn_jit.specs.conv_configs import Op2DDRAMSliceWidth as Op2DDRAMSliceWidth
from ttnn_jit.specs.conv_configs import Op2DL1Full as Op2DL1Full
from ttnn_jit.specs.conv_configs import Op2DL1FullSliceConfig as Op2DL1FullSliceConfig
from ttnn_jit.specs.conv_configs import Op2DSliceConfig as Op2DSliceConfig
from ttnn_jit.specs.conv_configs import PaddingMode as PaddingMode
from ttnn_jit.ttnn import core as core
from ttnn_jit.ttnn import experimental as experimental
from ttnn_jit.ttnn import graph as graph
from ttnn_jit.ttnn import kv_cache as kv_cache
from ttnn_jit.ttnn import model_preprocessing as model_preprocessing
from ttnn_jit.ttnn import operations as operations
from ttnn_jit.ttnn import tracer as tracer
from ttnn_jit.ttnn import transformer as transformer
from ttnn_jit.ttnn import types as types

__all__ = [
    "Arch",
    "BcastOpDim",
    "BcastOpMath",
    "BlackholeComputeKernelConfig",
    "CONFIG",
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
    "MeshCoordinate",
    "MeshEvent",
    "MeshMapperConfig",
    "MeshToTensor",
    "MeshTraceId",
    "MinimalMatmulConfig",
    "Op2DDRAMSliceHeight",
    "Op2DDRAMSliceWidth",
    "Op2DL1Full",
    "Op2DL1FullSliceConfig",
    "Op2DSliceConfig",
    "PaddingMode",
    "PlacementReplicate",
    "PlacementShard",
    "QueueId",
    "ReadDeviceProfiler",
    "ReduceType",
    "ReplicateTensorToMesh",
    "SDPAProgramConfig",
    "SetDefaultDevice",
    "ShardTensor2dMesh",
    "ShardTensorToMesh",
    "SoftmaxDefaultProgramConfig",
    "SoftmaxProgramConfig",
    "SoftmaxShardedMultiCoreProgramConfig",
    "StorageType",
    "SubDevice",
    "SubDeviceId",
    "SubDeviceManagerId",
    "TensorToMesh",
    "ThrottleLevel",
    "Topology",
    "UnaryOpType",
    "UnaryWithParam",
    "WormholeComputeKernelConfig",
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
    "aggregate_tensor",
    "all_gather",
    "all_reduce",
    "allocate_tensor_on_host",
    "as_tensor",
    "avg_pool2d",
    "batch_norm",
    "bcast",
    "begin_trace_capture",
    "bernoulli",
    "combine_device_tensors",
    "command_queue",
    "concat_mesh_to_tensor_composer",
    "conv1d",
    "conv2d",
    "conv_transpose2d",
    "core",
    "corerange_to_cores",
    "create_global_semaphore",
    "create_group_norm_input_mask",
    "create_group_norm_input_negative_mask",
    "create_group_norm_weight_bias_rm",
    "create_mesh_composer",
    "create_mesh_mapper",
    "create_sharded_memory_config_",
    "determine_expected_group_norm_sharded_config_and_grid_size",
    "distribute",
    "distribute_tensor",
    "dump_tensor",
    "element_size",
    "end_trace_capture",
    "event_synchronize",
    "execute_trace",
    "experimental",
    "fill_ones_rm",
    "fill_rm",
    "from_host_shards",
    "get_conv_output_dim",
    "get_current_command_queue_id_for_thread",
    "get_device_ids",
    "get_group_norm_cores_across_channel",
    "global_avg_pool2d",
    "graph",
    "grid_sample",
    "grid_to_cores",
    "has_storage_type_of",
    "has_tile_padding",
    "init_device_compute_kernel_config",
    "interleaved_to_sharded_partial",
    "kv_cache",
    "load_config_from_dictionary",
    "load_config_from_json_file",
    "load_tensor",
    "manage_config",
    "manual_seed",
    "max_pool2d",
    "mesh_partition",
    "model_preprocessing",
    "moreh_cumsum",
    "move",
    "nonzero",
    "num_cores_to_corerangeset",
    "num_cores_to_corerangeset_in_subcoregrids",
    "operations",
    "pad_to_tile_shape",
    "plus_one",
    "prepare_conv_bias",
    "prepare_conv_weights",
    "rand",
    "randn",
    "reallocate",
    "rearrange",
    "record_event",
    "reduce_scatter",
    "register_post_operation_hook",
    "register_pre_operation_hook",
    "release_trace",
    "replicate_tensor_to_mesh_mapper",
    "reset_global_semaphore_value",
    "save_config_to_json_file",
    "shard_tensor_to_mesh_mapper",
    "sharded_to_interleaved_partial",
    "split_work_to_cores",
    "tile_size",
    "tilize",
    "tilize_with_val_padding",
    "tilize_with_zero_padding",
    "to_dtype",
    "tracer",
    "transformer",
    "types",
    "unary_chain",
    "unique",
    "untilize",
    "untilize_with_unpadding",
    "upsample",
    "wait_for_event",
]

MODULE_OF: dict[str, str]
SUBMODULES: tuple[str, ...]
WITHOUT_EFFECT: dict[str, str]
