"""``builder.base.builder_runtime``: runs of programs, their comparisons, and tensors of the runtime."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import torch

from ttnn_jit.module_builders.base.builder_errors import (
    TTBuilderCompileException,
    TTBuilderGoldenException,
    TTBuilderRuntimeException,
)
from ttnn_jit.module_builders.base.builder_runtime import check_outputs, execute_fb
from ttnn_jit.module_builders.base.python_programs import execute_py
from ttnn_jit.module_builders.base.star_names import NAMES, star_name
from ttnn_jit.module_builders.goldens.golden_metrics import get_atol_rtol_pcc
from ttnn_jit.ttmlir.ttmlir_runtime import submission
from ttnn_jit.ttmlir.ttmlir_runtime.data_types import OF_TORCH, TORCH_DTYPES, DataType
from ttnn_jit.ttmlir.ttmlir_runtime.runtime_tensors import Tensor


def execute_cpp(cpp_path: str, *_: Any, **__: Any) -> NoReturn:
    """Refused: a program in C++ is linked with tt-metal, which drives a chip.

    Args:
        cpp_path: The program.

    Raises:
        TTBuilderRuntimeException: Always.
    """
    raise TTBuilderRuntimeException(
        f"execute_cpp: {cpp_path} is not run: programs in C++ are linked with tt-metal, which drives a chip; "
        'target="emitpy" writes the same module in Python, and execute_py runs that'
    )


def runtime_dtype_to_torch_dtype(dtype: DataType) -> torch.dtype | None:
    """The dtype of torch for one of the runtime; None if torch has none."""
    return TORCH_DTYPES.get(DataType[dtype.name])


def torch_dtype_to_runtime_dtype(dtype: torch.dtype) -> DataType:
    """The dtype of the runtime for one of torch.

    Raises:
        ValueError: The runtime has none.
    """
    if dtype not in OF_TORCH:
        raise ValueError(f"the runtime has no dtype for {dtype}")
    return OF_TORCH[dtype]


def runtime_str_dtype_to_torch_dtype(dtype: str) -> torch.dtype:
    """The dtype of torch for the name of one of the runtime, ``"BFloat16"``.

    Raises:
        ValueError: There is no such name, or torch has none.
    """
    found = {each.name: own for each, own in TORCH_DTYPES.items()}.get(dtype)
    if found is None:
        raise ValueError(f"torch has no dtype for {dtype!r}")
    return found


def create_tensor(tensor_shards: Mapping[int, torch.Tensor], mesh_shape: Sequence[int]) -> Tensor:
    """A tensor of the runtime over the memory of tensors of torch, which the caller keeps.

    Args:
        tensor_shards: Device -> its part, all of one shape and dtype.
        mesh_shape: The extents of the mesh.
    """
    parts = [tensor_shards[device] for device in sorted(tensor_shards)]
    first = parts[0]
    form = [*first.shape], [*first.stride()], first.element_size(), torch_dtype_to_runtime_dtype(first.dtype)
    if not first.numel():
        return submission.create_owned_host_tensor(first.data_ptr(), *form)
    if len(parts) == 1:
        return submission.create_borrowed_host_tensor(first.data_ptr(), *form)
    pointers = [each.data_ptr() for each in parts]
    return submission.create_multi_device_borrowed_host_tensor(pointers, *form, {}, [*mesh_shape])


def convert_input_layouts(
    device: Any,
    inputs: Sequence[Tensor],
    template_inputs: Sequence[Tensor] | None = None,
    fbb: Any = None,
    program_index: int | None = None,
) -> list[Tensor]:
    """Inputs in the layouts of others, or in those that a program takes.

    Raises:
        ValueError: Neither is given.
    """
    layouts: list[Any]
    if template_inputs:
        layouts = [each.get_layout() for each in template_inputs]
    elif fbb is not None and program_index is not None:
        layouts = [submission.get_layout(fbb, program_index, index) for index, _ in enumerate(inputs)]
    else:
        raise ValueError("give template_inputs, or fbb and program_index")
    return [submission.to_layout(each, device, layout, True) for each, layout in zip(inputs, layouts, strict=False)]


def json_string_as_dict(json_string: str) -> Any:
    """What a JSON text holds, whose numbers may be `nan` and `inf`; an empty text holds nothing."""
    spelled = re.sub(r"\binf\b", "Infinity", re.sub(r"\bnan\b", "NaN", json_string))
    return json.loads(spelled) if spelled else {}


def program_inputs_as_dict(bin: Any, index: int) -> Any:  # noqa: A002 - upstream's name
    """The inputs of a program of a binary."""
    return json_string_as_dict(bin.get_program_inputs_as_json(index))


def program_outputs_as_dict(bin: Any, index: int) -> Any:  # noqa: A002 - upstream's name
    """The outputs of a program of a binary."""
    return json_string_as_dict(bin.get_program_outputs_as_json(index))


__all__ = [
    "TTBuilderCompileException", "TTBuilderGoldenException", "TTBuilderRuntimeException", "check_outputs",
    "convert_input_layouts", "create_tensor", "execute_cpp", "execute_fb", "execute_py", "get_atol_rtol_pcc",
    "json_string_as_dict", "program_inputs_as_dict", "program_outputs_as_dict", "runtime_dtype_to_torch_dtype",
    "runtime_str_dtype_to_torch_dtype", "torch_dtype_to_runtime_dtype",
]  # fmt: skip
__all__ += NAMES  # noqa: PLE0605 - a list
__getattr__ = star_name
