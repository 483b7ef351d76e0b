"""Runs programs that were translated to Python, and compares what they give with goldens."""

from __future__ import annotations

import types
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from ttnn_jit import ttnn
from ttnn_jit.compiler.texts.translated_programs import TranslatedEntry
from ttnn_jit.module_builders.base.builder_errors import TTBuilderRuntimeException
from ttnn_jit.module_builders.base.builder_runtime import Limits, Report, compared_outputs, raise_for, write_artifacts
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor
from ttnn_jit.ttmlir.passes import EmittedPython


def execute_py(  # noqa: PLR0913, PLR0917 - upstream's arguments
    compiled_bin: EmittedPython,
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
        compiled_bin: What `ttmlir.passes.translate_to_python` gave.
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
    reports: dict[str, Report] = {}
    tensors: dict[str, Report] = {}
    with TemporaryDirectory() as folder:
        try:
            module = _loaded(compiled_bin, Path(folder))
        except Exception as error:
            raise TTBuilderRuntimeException(error) from error
    for index, entry in enumerate(compiled_bin.program.entries):
        given = (input_output_goldens or {}).get(index, {})
        goldens = {} if disable_golden else given
        try:
            outputs = _outputs(module, entry, given, compiled_bin.program.mesh)
        except Exception as error:
            raise TTBuilderRuntimeException(error) from error
        report, kept = compared_outputs([(each,) for each in outputs], goldens, limits, as_ttnn=True)
        write_artifacts(artifact_dir if save_artifacts else None, index, report, kept)
        raise_for(report)
        reports[f"program_{index}"], tensors[f"program_{index}"] = report, kept
    return reports, tensors


def _loaded(program: EmittedPython, folder: Path) -> types.ModuleType:
    """The program as a module, whose constants are loaded."""
    module = types.ModuleType("emitpy_program")
    module.__file__ = str(folder / "program.py")
    exec(compile(str(program), module.__file__, "exec"), module.__dict__)
    constants = dict(program.program.constants)
    module.__dict__["torch"] = torch
    if constants:
        module.__dict__["Path"] = lambda _: _Constants(constants)
        module.__dict__["torch"] = _Loader()
    return module


class _Constants(dict[str, torch.Tensor]):
    """The constants of a program in the place of their file."""

    def with_suffix(self, _: str) -> _Constants:
        """Themselves."""
        return self


class _Loader:
    """torch, whose `load` gives constants that are there."""

    def __getattr__(self, name: str) -> Any:
        return (lambda constants: constants) if name == "load" else getattr(torch, name)


def _outputs(
    module: types.ModuleType, entry: TranslatedEntry, goldens: Mapping[str, GoldenMapTensor], mesh: tuple[int, ...]
) -> list[torch.Tensor]:
    """The outputs of an entry point on the inputs of the goldens, or on ones; on a mesh they are whole tensors."""
    device = ttnn.open_mesh_device(ttnn.MeshShape(*mesh)) if mesh else ttnn.open_device(device_id=0)
    wholes = []
    for index, spec in enumerate(entry.arguments):
        golden = goldens.get(f"input_{index}")
        dtype, shape = spec.dtype.torch, tuple(spec.shape)
        part = torch.ones(shape) if golden is None else golden.golden_map_tensor_as_torch_tensors()[0]
        wholes.append(part.to(dtype).reshape(shape))
    if mesh:
        given = getattr(module, entry.distribution)(device, *wholes)
    else:
        pairs = zip(wholes, entry.arguments, strict=True)
        given = [ttnn.from_torch(each, spec.dtype, layout=ttnn.TILE_LAYOUT, device=device) for each, spec in pairs]
    prepared = getattr(module, entry.preparation)(device, *given) if entry.preparation else []
    arguments = [*given, *prepared]
    found = getattr(module, entry.name)(*arguments) if arguments else getattr(module, entry.name)(device)
    if mesh:
        return list(getattr(module, entry.aggregation)(found))
    return [ttnn.to_torch(each) for each in (found if isinstance(found, list | tuple) else [found])]
