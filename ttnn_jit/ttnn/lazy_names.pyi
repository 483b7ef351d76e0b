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
from ttnn_jit.ttnn.convolutions import conv1d as conv1d
from ttnn_jit.ttnn.convolutions import conv2d as conv2d
from ttnn_jit.ttnn.convolutions import conv_transpose2d as conv_transpose2d
from ttnn_jit.ttnn.convolutions import get_conv_output_dim as get_conv_output_dim
from ttnn_jit.ttnn.pools import adaptive_avg_pool2d as adaptive_avg_pool2d
from ttnn_jit.ttnn.pools import adaptive_max_pool2d as adaptive_max_pool2d
from ttnn_jit.ttnn.pools import avg_pool2d as avg_pool2d
from ttnn_jit.ttnn.pools import global_avg_pool2d as global_avg_pool2d
from ttnn_jit.ttnn.pools import max_pool2d as max_pool2d
from ttnn_jit.ttnn.resampling import grid_sample as grid_sample
from ttnn_jit.ttnn.resampling import upsample as upsample
from ttnn_jit.ttnn.prepared_weights import prepare_conv_bias as prepare_conv_bias
from ttnn_jit.ttnn.prepared_weights import prepare_conv_transpose2d_bias as prepare_conv_transpose2d_bias
from ttnn_jit.ttnn.prepared_weights import prepare_conv_transpose2d_weights as prepare_conv_transpose2d_weights
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
from ttnn_jit.ttnn import model_preprocessing as model_preprocessing
from ttnn_jit.ttnn import types as types

__all__ = [
    "Arch",
    "BcastOpDim",
    "BcastOpMath",
    "BlackholeComputeKernelConfig",
    "CONFIG",
    "CloseDevice",
    "CloseDevices",
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
    "MinimalMatmulConfig",
    "Op2DDRAMSliceHeight",
    "Op2DDRAMSliceWidth",
    "Op2DL1Full",
    "Op2DL1FullSliceConfig",
    "Op2DSliceConfig",
    "PaddingMode",
    "ReadDeviceProfiler",
    "SDPAProgramConfig",
    "SetDefaultDevice",
    "SoftmaxDefaultProgramConfig",
    "SoftmaxProgramConfig",
    "SoftmaxShardedMultiCoreProgramConfig",
    "StorageType",
    "ThrottleLevel",
    "Topology",
    "UnaryOpType",
    "UnaryWithParam",
    "WormholeComputeKernelConfig",
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
    "allocate_tensor_on_host",
    "as_tensor",
    "avg_pool2d",
    "bernoulli",
    "conv1d",
    "conv2d",
    "conv_transpose2d",
    "core",
    "corerange_to_cores",
    "create_sharded_memory_config_",
    "dump_tensor",
    "element_size",
    "experimental",
    "get_conv_output_dim",
    "get_device_ids",
    "global_avg_pool2d",
    "grid_sample",
    "grid_to_cores",
    "has_storage_type_of",
    "has_tile_padding",
    "init_device_compute_kernel_config",
    "load_config_from_dictionary",
    "load_config_from_json_file",
    "load_tensor",
    "manage_config",
    "manual_seed",
    "max_pool2d",
    "model_preprocessing",
    "move",
    "nonzero",
    "num_cores_to_corerangeset",
    "num_cores_to_corerangeset_in_subcoregrids",
    "prepare_conv_bias",
    "prepare_conv_transpose2d_bias",
    "prepare_conv_transpose2d_weights",
    "prepare_conv_weights",
    "rand",
    "randn",
    "reallocate",
    "rearrange",
    "save_config_to_json_file",
    "split_work_to_cores",
    "tile_size",
    "to_dtype",
    "types",
    "unique",
    "upsample",
]

MODULE_OF: dict[str, str]
SUBMODULES: tuple[str, ...]
WITHOUT_EFFECT: dict[str, str]
