"""Runs programs that were translated to Python, and compares what they give with goldens."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from ttnn_jit import ttnn
from ttnn_jit.compiler.texts.translated_programs import TranslatedEntry
from ttnn_jit.emitpy.emitted_functions import EmittedFunction, called, functions_in, made_inputs
from ttnn_jit.module_builders.base.builder_errors import TTBuilderRuntimeException
from ttnn_jit.module_builders.base.builder_runtime import Limits, Report, compared_outputs, raise_for, write_artifacts
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.ttmlir.passes import EmittedPython


def execute_py(  # noqa: PLR0913, PLR0917 - upstream's arguments
    compiled_bin: EmittedPython | str | Path,
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
        compiled_bin: What `ttmlir.passes.translate_to_python` gave, another program in Python, or its file.
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
            module, functions = _loaded(compiled_bin, Path(folder))
        except Exception as error:
            raise TTBuilderRuntimeException(error) from error
    for index, function in enumerate(functions):
        given = (input_output_goldens or {}).get(index, {})
        goldens = {} if disable_golden else given
        try:
            if isinstance(compiled_bin, EmittedPython) and compiled_bin.program.mesh:
                entry = compiled_bin.program.entries[index]
                outputs = _outputs_on_mesh(module, entry, given, compiled_bin.program.mesh)
            else:
                outputs = _outputs(module, function, _arguments(compiled_bin, index), given)
        except Exception as error:
            raise TTBuilderRuntimeException(error) from error
        report, kept = compared_outputs([(each,) for each in outputs], goldens, limits, as_ttnn=True)
        write_artifacts(artifact_dir if save_artifacts else None, index, report, kept)
        raise_for(report)
        reports[f"program_{index}"], tensors[f"program_{index}"] = report, kept
    return reports, tensors


def _loaded(program: EmittedPython | str | Path, folder: Path) -> tuple[types.ModuleType, list[EmittedFunction]]:
    """The program as a module, and its functions; constants of one that was just made need no file."""
    module = types.ModuleType("emitpy_program")
    file = _file_of(program)
    module.__file__ = str(file or folder / "program.py")
    source = str(program) if file is None else file.read_text(encoding="utf-8")
    if isinstance(program, EmittedPython):
        entries = program.program.entries
        functions = [EmittedFunction(each.name, False, False, each.preparation) for each in entries]
    else:
        functions = functions_in(source, module.__file__)
    exec(compile(source, module.__file__, "exec"), module.__dict__)
    if isinstance(program, EmittedPython):
        constants = dict(program.program.constants)
        module.__dict__["torch"] = torch
        if constants:
            module.__dict__["Path"] = lambda _: _Constants(constants)
            module.__dict__["torch"] = _Loader()
    return module, functions


def _file_of(program: EmittedPython | str | Path) -> Path | None:
    """The file that is meant; None of a program that is given as its text."""
    is_text = isinstance(program, EmittedPython) or (isinstance(program, str) and "\n" in program)
    return None if is_text else Path(program)


class _Constants(dict[str, torch.Tensor]):
    """The constants of a program in the place of their file."""

    def with_suffix(self, _: str) -> _Constants:
        """Themselves."""
        return self


class _Loader:
    """torch, whose `load` gives constants that are there."""

    def __getattr__(self, name: str) -> Any:
        return (lambda constants: constants) if name == "load" else getattr(torch, name)


def _arguments(program: Any, index: int) -> Sequence[TensorSpec] | None:
    """The specs of the arguments of a function, if they are known."""
    return program.program.entries[index].arguments if isinstance(program, EmittedPython) else None


def _outputs(
    module: types.ModuleType,
    function: EmittedFunction,
    arguments: Sequence[TensorSpec] | None,
    goldens: Mapping[str, GoldenMapTensor],
) -> list[torch.Tensor]:
    """The outputs of a function on the inputs of the goldens, or on those that the program makes, or on ones."""
    device = ttnn.open_device(device_id=0)
    parts = [each for name, each in goldens.items() if name.startswith("input_")]
    tensors = [each.golden_map_tensor_as_torch_tensors()[0] for each in parts]
    if arguments is not None:
        tensors = tensors or [torch.ones(tuple(each.shape)) for each in arguments]
        tensors = [
            tensor.to(spec.dtype.torch).reshape(tuple(spec.shape))
            for tensor, spec in zip(tensors, arguments, strict=True)
        ]
    if function.makes_inputs:
        given = made_inputs(module, function)
        if tensors:
            given = [
                ttnn.from_torch(tensor, dtype=like.dtype, layout=like.layout, device=like.device())
                for tensor, like in zip(tensors, given, strict=True)
            ]
    else:
        dtypes = [None] * len(tensors) if arguments is None else [each.dtype for each in arguments]
        given = [
            ttnn.from_torch(tensor, dtype, layout=ttnn.TILE_LAYOUT, device=device)
            for tensor, dtype in zip(tensors, dtypes, strict=True)
        ]
    return [ttnn.to_torch(each) for each in called(module, function, given, device)]


def _outputs_on_mesh(
    module: types.ModuleType, entry: TranslatedEntry, goldens: Mapping[str, GoldenMapTensor], mesh: tuple[int, ...]
) -> list[torch.Tensor]:
    """The outputs of an entry point for a mesh on whole inputs of the goldens, or on ones."""
    device = ttnn.open_mesh_device(ttnn.MeshShape(*mesh))
    wholes = []
    for index, spec in enumerate(entry.arguments):
        golden = goldens.get(f"input_{index}")
        dtype, shape = spec.dtype.torch, tuple(spec.shape)
        part = torch.ones(shape) if golden is None else golden.golden_map_tensor_as_torch_tensors()[0]
        wholes.append(part.to(dtype).reshape(shape))
    given = getattr(module, entry.distribution)(device, *wholes)
    prepared = getattr(module, entry.preparation)(device, *given) if entry.preparation else []
    arguments = [*given, *prepared] or [device]
    return list(getattr(module, entry.aggregation)(getattr(module, entry.name)(*arguments)))
