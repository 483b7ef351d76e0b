"""``ttmlir.compile_and_run``: the steps from a text to a run; each raises RuntimeError if it fails."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.ttmlir import passes
from ttnn_jit.ttmlir.compiling.compile_and_run_utils import create_mlir_module_from_string
from ttnn_jit.ttmlir.mlir_operations import MLIRError, Module
from ttnn_jit.ttmlir.ttmlir_runtime import submission
from ttnn_jit.ttmlir.ttmlir_runtime.data_types import TORCH_DTYPES, DataType
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary

R = TypeVar("R")
_OWN_DESCRIPTION = "ttrt-artifacts/system_desc.ttsys"


def stablehlo_to_ttir(module: Module | str) -> Module:
    """The module of TTIR that `stablehlo-to-ttir-pipeline` makes."""
    return _changed(module, passes.stablehlo_to_ttir_pipeline, "")


def ttir_to_ttnn(module: Module | str, system_desc: str | None = None) -> Module:
    """The module of TTNN that `ttir-to-ttnn-runtime-pipeline` makes.

    Args:
        module: A module, or its text.
        system_desc: The file of the system description; by default that of ``SYSTEM_DESC_PATH``.
    """
    return _changed(module, passes.ttir_to_ttnn_runtime_pipeline, _described(system_desc))


def ttir_to_ttmetal(module: Module | str, system_desc: str | None = None) -> Module:
    """The module of scheduled kernels of d2m that `ttir-to-ttmetal-pipeline` makes, for the target ``cpu``."""
    return _changed(module, passes.ttir_to_ttmetal_backend_pipeline, _described(system_desc))


def ttnn_to_flatbuffer(module: Module | str, output_file_name: str = "ttnn_fb.ttnn") -> str:
    """The path of the binary of a module of TTNN, which is written there."""
    return _written(module, passes.ttnn_to_flatbuffer_file, output_file_name)


def ttmetal_to_flatbuffer(module: Module | str, output_file_name: str = "ttmetal_fb.ttm") -> str:
    """The path of the text of kernels that `ttir_to_ttmetal` left, which is written there; it is no flatbuffer."""
    return _written(module, passes.ttmetal_to_flatbuffer_file, output_file_name)


def run_flatbuffer(flatbuffer_path: str) -> int:
    """0 after every public program of a binary ran, on inputs that are drawn, or zero for integers."""
    return _step("run", lambda: _run(Binary.load(flatbuffer_path)))


def _run(binary: Binary) -> int:
    device = submission.open_mesh_device()
    for index in range(binary.get_num_programs()):
        if not binary.is_program_private(index):
            described = json.loads(binary.get_program_inputs_as_json(index))
            outputs = submission.submit(device, binary, index, [_input(each["desc"]) for each in described])
            submission.wait(outputs)
    submission.close_mesh_device(device)
    return 0


def _input(described: Any) -> submission.Tensor:
    dtype = TORCH_DTYPES[DataType[described["layout"]["memory_desc"]["data_type"]]]
    shape = described["shape"]
    values = torch.randn(shape, dtype=dtype) if dtype.is_floating_point else torch.zeros(shape, dtype=dtype)
    return submission.Tensor([values])


def _described(system_desc: str | None) -> str:
    return f"system-desc-path={system_desc or os.environ.get('SYSTEM_DESC_PATH', _OWN_DESCRIPTION)}"


def _changed(module: Module | str, run: Callable[..., Any], options: str) -> Module:
    def change() -> Module:
        made = create_mlir_module_from_string(str(module))
        run(made, options)
        return made

    return _step(run.__name__, change)


def _written(module: Module | str, write: Callable[..., Any], path: str) -> str:
    _step(write.__name__, lambda: write(create_mlir_module_from_string(str(module)), path))
    return path


def _step(name: str, run: Callable[[], R]) -> R:
    try:
        return run()
    except (MLIRError, TtnnJitError, NotImplementedError, OSError, ValueError) as error:
        raise RuntimeError(f"`{name}` failed: {error}") from error
