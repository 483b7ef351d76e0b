"""Runs programs that were translated to Python, and compares what they give with goldens."""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping
from typing import Any

import torch

from ttnn_jit.module_builders.base.builder_errors import TTBuilderRuntimeException
from ttnn_jit.module_builders.base.builder_runtime import Limits, Report, compared_outputs, raise_for, write_artifacts
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor

_INNER = ("main", "create_inputs_for_", "cpu_hoisted_", "consteval_")


def execute_py(  # noqa: PLR0913, PLR0917 - upstream's arguments
    compiled_bin: str,
    input_output_goldens: Mapping[int, Mapping[str, GoldenMapTensor]] | None = None,
    pcc: float = 0.99,
    atol: float = 1e-08,
    rtol: float = 1e-05,
    disable_golden: bool = False,
    check_pcc: bool = True,
    check_atol: bool = False,
    check_rtol: bool = False,
    save_artifacts: bool = False,
    artifact_dir: str = ".",
) -> tuple[dict[str, Report], dict[str, Report]]:
    """Runs every program of a text of Python, and compares the outputs with goldens.

    Args:
        compiled_bin: The text.
        input_output_goldens: The goldens of inputs and outputs by program.
        pcc: The least correlation of what several operations computed.
        atol: The largest difference, if `check_atol` is set.
        rtol: The largest relative difference, if `check_rtol` is set.
        disable_golden: Compare nothing.
        check_pcc: Whether results are judged.
        check_atol: Whether `atol` is checked.
        check_rtol: Whether `rtol` is checked.
        save_artifacts: Whether to write tensors and the report.
        artifact_dir: Where to.

    Returns:
        The report of each program, and its outputs with their goldens.

    Raises:
        TTBuilderGoldenException: A result is not its golden.
        TTBuilderRuntimeException: A program did not run.
    """
    limits = Limits(pcc, atol, rtol, check_pcc, check_atol, check_rtol)
    module = types.ModuleType("emitpy_program")
    reports: dict[str, Report] = {}
    tensors: dict[str, Report] = {}
    try:
        exec(compile(compiled_bin, "<emitpy>", "exec"), module.__dict__)
    except Exception as error:
        raise TTBuilderRuntimeException(error) from error
    for index, name in enumerate(_programs(compiled_bin)):
        goldens = {} if disable_golden or not input_output_goldens else input_output_goldens[index]
        try:
            outputs = _outputs(module, name, goldens)
        except Exception as error:
            raise TTBuilderRuntimeException(error) from error
        report, kept = compared_outputs([(each,) for each in outputs], goldens, limits)
        write_artifacts(artifact_dir if save_artifacts else None, index, report, kept)
        raise_for(report)
        reports[f"program_{index}"], tensors[f"program_{index}"] = report, kept
    return reports, tensors


def _programs(text: str) -> list[str]:
    """The names of the functions that are programs."""
    names = (each.name for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef))
    return [name for name in names if not name.startswith(_INNER) and "_const_eval_" not in name]


def _outputs(module: types.ModuleType, name: str, goldens: Mapping[str, GoldenMapTensor]) -> list[torch.Tensor]:
    """The outputs of a program on the inputs of the goldens, or on those that the text makes."""
    from ttnn_jit import ttnn

    templates = getattr(module, f"create_inputs_for_{name}")()
    given: list[Any] = []
    for index, template in enumerate(templates):
        golden = goldens.get(f"input_{index}")
        if golden is None:
            given.append(template)
            continue
        like = {"dtype": template.dtype, "layout": template.layout, "memory_config": template.memory_config()}
        part = golden.golden_map_tensor_as_torch_tensors()[0]
        given.append(ttnn.as_tensor(part, device=template.device(), **like))
    return [ttnn.to_torch(each) for each in getattr(module, name)(given)]
