"""`ttrt.common.util`: logs, artifacts, results, files, tensors.

Scripts say ``from ttrt.common.util import *``, which also gives them modules that upstream's imports.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from typing import Any

import torch

from ttnn_jit.tools.ttrt.artifact_folders import Artifacts
from ttnn_jit.tools.ttrt.artifact_folders import sanitized_name as get_sanitized_filename
from ttnn_jit.tools.ttrt.found_files import FileManager
from ttnn_jit.tools.ttrt.loaded_binaries import Binary, Flatbuffer
from ttnn_jit.tools.ttrt.loaded_binaries import SystemFile as SystemDesc
from ttnn_jit.tools.ttrt.result_files import TEST_STATUS as TTRT_TEST_EXCEPTION_RETURN_CODE
from ttnn_jit.tools.ttrt.result_files import Results
from ttnn_jit.tools.ttrt.result_files import WrongResultError as TTRTTestException
from ttnn_jit.tools.ttrt.runs.golden_comparison import golden_to_torch as golden_tensor_to_torch
from ttnn_jit.tools.ttrt.runs.golden_comparison import largest_differences, pcc_of
from ttnn_jit.tools.ttrt.ttrt_logger import Logger

PCCErrorException = AllCloseErrorException = TTRTTestException


def ttrt_datatype_to_torch_dtype(dtype: Any) -> torch.dtype:
    """The dtype of torch for one of the runtime.

    Raises:
        ValueError: torch has none.
    """
    from ttnn_jit.ttmlir.ttmlir_runtime.data_types import TORCH_DTYPES, DataType

    found = TORCH_DTYPES.get(DataType[dtype.name])
    if found is None:
        raise ValueError(f"torch has no dtype for {dtype.name}")
    return found


def get_atol_rtol_pcc(
    golden: torch.Tensor, calculated: torch.Tensor, atol: float, rtol: float, logging: Any = None
) -> tuple[float, float, float, str]:
    """The largest absolute and relative difference of two tensors, their correlation, and a text that says them."""
    off = {relative: _largest(golden, calculated, relative=relative) for relative in (False, True)}
    pcc = pcc_of(golden, calculated, atol, rtol)
    text = f"Max ATOL Delta: {off[False]}, Max RTOL Delta: {off[True]}, PCC: {pcc}"
    if logging is not None:
        logging.debug(text)
    return off[False], off[True], pcc, text


def _largest(golden: torch.Tensor, calculated: torch.Tensor, *, relative: bool) -> float:
    return max((each.difference for each in largest_differences(golden, calculated, 1, relative=relative)), default=0.0)


def get_topk_diff(
    golden: torch.Tensor, calculated: torch.Tensor, top_k: int, relative: bool = False
) -> list[tuple[float, float, float, tuple[int, ...], bool]]:
    """The largest differences: golden, result, difference, place, and whether both are integers."""
    are_integers = not (golden.is_floating_point() or calculated.is_floating_point())
    return [(*each, are_integers) for each in largest_differences(golden, calculated, top_k, relative=relative)]


def mask_torch_inf_nan(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor whose infinities and NaN have become 0, in place."""
    return tensor.nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0) if tensor.is_floating_point() else tensor


def create_tensor(tensor_shards: list[torch.Tensor], mesh_shape: list[int]) -> Any:
    """A tensor of the runtime over tensors of torch, which the caller keeps."""
    from ttnn_jit.tools.ttrt.runs.submitted_programs import runtime_tensor

    return runtime_tensor(tensor_shards, mesh_shape)


def convert_input_layouts(device: Any, inputs: list[Any], fbb: Any, program_index: int) -> list[Any]:
    """Inputs in the layouts that a program takes."""
    from ttnn_jit.ttmlir.ttmlir_runtime import submission

    layout_of: Callable[..., Any] = submission.get_layout
    return [
        submission.to_layout(each, device, layout_of(fbb, program_index, index), True)
        for index, each in enumerate(inputs)
    ]


def convert_runtime_to_torch_tensor(runtime_tensor: Any) -> torch.Tensor:
    """A copy of a tensor of the runtime."""
    found: torch.Tensor = runtime_tensor.first.clone()
    return found


def parse_fabric_config(fabric_config_str: str) -> Any:
    """How chips are linked, by name.

    Raises:
        ValueError: There is no such name.
    """
    from ttnn_jit.ttmlir.ttmlir_runtime.submission import FabricConfig

    name = fabric_config_str.strip().upper().replace("-", "_")
    if name not in FabricConfig.__members__:
        raise ValueError(f"unknown fabric config {fabric_config_str!r}")
    return FabricConfig[name]


__all__ = [
    "TTRT_TEST_EXCEPTION_RETURN_CODE", "AllCloseErrorException", "Artifacts", "Binary", "FileManager", "Flatbuffer",
    "Logger", "PCCErrorException", "Results", "SystemDesc", "TTRTTestException", "convert_input_layouts",
    "convert_runtime_to_torch_tensor", "create_tensor", "get_atol_rtol_pcc", "get_sanitized_filename", "get_topk_diff",
    "golden_tensor_to_torch", "json", "mask_torch_inf_nan", "os", "parse_fabric_config", "re", "shutil", "torch",
    "ttrt_datatype_to_torch_dtype",
]  # fmt: skip
