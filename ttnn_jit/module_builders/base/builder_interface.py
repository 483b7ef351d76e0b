"""``builder.base.builder_utils``: the types of arguments, folders of artifacts, pipelines."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ttnn_jit.module_builders.base.metal_layouts import affine_map_from_lambda, get_metal_tensor_layout
from ttnn_jit.module_builders.base.torch_types import TypeInfo
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.ttmlir import passes
from ttnn_jit.ttmlir.mlir_operations import Module
from ttnn_jit.ttmlir.mlir_values import Value
from ttnn_jit.ttmlir.passmanager import PassManager

Operand = Value
"""A value of the module."""
Shape = Sequence[int]
"""Extents."""
Pipeline = Callable[[Module, str], Any]
_OF_DEVICE = ("system-desc-path=", "mesh-shape=", "mock-system-desc-arch=", "mesh-topology=")
"""Options of the pass that names the device."""


class DeferredDevice:
    """A device of pytest's fixture `device`, which is asked for when a program runs.

    Args:
        request: The request of the test.
    """

    def __init__(self, request: Any) -> None:
        self._request = request

    def prepare(self) -> None:
        """Nothing: compilation opens no device here."""

    def open(self) -> Any:
        """The device."""
        return self._request.getfixturevalue("device")

    def close(self, device: Any) -> None:
        """Ends the use of the device."""


def get_artifact_dir(output_root: str, builder_type: str, test_base: str, make_dir: bool = True) -> str:
    """The folder of the artifacts of one test: ``output_root/builder-artifacts/builder_type/test_base``."""
    found = Path(output_root) / "builder-artifacts" / builder_type / test_base
    if make_dir:
        found.mkdir(parents=True, exist_ok=True)
    return str(found)


def create_custom_ttir_pipeline_fn(pipeline: str, verify: bool = True, print_ir: bool | str = False) -> Pipeline:
    """A function that runs a pipeline on a module, behind the pass that names the device.

    Args:
        pipeline: Passes, as mlir-opt takes them.
        verify: Whether modules are verified, which they are in any case.
        print_ir: Whether to print the module behind each pass; or a folder for a file per pass.
    """

    def run(module: Module, options: str) -> None:
        words = options.split()
        device = [each for each in words if each.startswith(_OF_DEVICE)]
        own = [each for each in words if not each.startswith(_OF_DEVICE)]
        text = ",".join((_with_options("ttcore-register-device", device), _with_options(pipeline, own)))
        manager = PassManager.parse(f"builtin.module({text})")
        manager.enable_verifier(verify)
        if print_ir:
            manager.enable_ir_printing(tree_printing_dir_path=print_ir if isinstance(print_ir, str) else None)
        manager.run(module.operation)

    return run


def _with_options(name: str, options: Sequence[str]) -> str:
    return f"{name}{{{' '.join(options)}}}" if options else name


def run_ttir_pipeline(
    module: Module,
    pipeline_fn: Pipeline,
    pipeline_options: Sequence[str] | None = None,
    save_artifacts: bool = False,
    output_file_name: str = "test.mlir",
    system_desc_path: str | None = None,
    mesh_dict: Mapping[str, int] | None = None,
    argument_types_string: str | None = None,
) -> Module:
    """Runs a pipeline on a module, which changes, with the options of the device.

    Args:
        module: The module.
        pipeline_fn: ``pipeline(module, options)``.
        pipeline_options: More options.
        save_artifacts: Whether to write the module that it left.
        output_file_name: Where to.
        system_desc_path: The description of the device; by default that of ``SYSTEM_DESC_PATH``.
        mesh_dict: The axes of the mesh.
        argument_types_string: Which arguments are parameters, ``function=input,parameter``.

    Raises:
        ValueError: The mesh has not two axes.
    """
    options = [*(pipeline_options or ())]
    if argument_types_string:
        passes.tt_populate_argument_types(module, argument_types_string)
        options.append("enable-const-eval=true")
    extents = [*(mesh_dict or {"x": 1, "y": 1}).values()]
    if len(extents) != 2:
        raise ValueError(f"the mesh has the extents {extents}, and there are two")
    described = os.environ.get("SYSTEM_DESC_PATH", "") if system_desc_path is None else system_desc_path
    options += [f"system-desc-path={described}"] if described and Path(described).exists() else []
    options.append(f"mesh-shape={extents[0]},{extents[1]}")
    pipeline_fn(module, " ".join(options))
    if save_artifacts:
        Path(output_file_name).parent.mkdir(parents=True, exist_ok=True)
        write_complete(Path(output_file_name), [str(module).encode()])
    return module


__all__ = [
    "DeferredDevice",
    "Operand",
    "Shape",
    "TypeInfo",
    "affine_map_from_lambda",
    "create_custom_ttir_pipeline_fn",
    "get_artifact_dir",
    "get_metal_tensor_layout",
    "run_ttir_pipeline",
]
