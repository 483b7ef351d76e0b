"""``ttmlir.passes``: pipelines by upstream's names, and what makes a binary of a module."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ttnn_jit.binaries.debug_information import Golden
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.compiler.texts.translated_programs import TranslatedText, translated
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects import print_module
from ttnn_jit.emitpy import is_of_emitpy, python_of_emitpy
from ttnn_jit.frontend.ir.texts import entries_of
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.transforms.pipeline import TTMETAL_PIPELINE
from ttnn_jit.ttmlir.enums import enum_of
from ttnn_jit.ttmlir.mlir_operations import MLIRError, Module
from ttnn_jit.ttmlir.module_loggers import MLIRModuleLogger as MLIRModuleLogger  # noqa: PLC0414 - upstream's name
from ttnn_jit.ttmlir.passmanager import PrintedStages, run_passes
from ttnn_jit.ttmlir.ttmlir_runtime.kernel_binary import KernelBinary
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary, mesh_of

DataType = enum_of("DataType", "ttcore")
"""The dtypes of goldens."""


class GoldenTensor:
    """A tensor that a binary carries, to which a result is compared.

    Args:
        name: The location of the operation.
        shape: Its extents.
        strides: Its strides, in elements.
        dtype: Its dtype.
        data: The address of its first element.
        size: Its bytes.
    """

    def __init__(
        self, name: str, shape: Sequence[int], strides: Sequence[int], dtype: Any, data: int, size: int
    ) -> None:
        self.name, self.shape, self.strides = name, list(shape), list(strides)
        self.dtype, self.data, self.size = dtype, data, size

    def held(self) -> Golden:
        """The golden with a copy of its elements."""
        elements = ctypes.string_at(self.data, self.size)
        return Golden(self.name, tuple(self.shape), tuple(self.strides), self.dtype.name, elements)


def _pipeline(name: str) -> Callable[..., None]:
    """A pass or pipeline over texts, by its name."""

    def run(module: Module, options: str = "", *, print_ir: bool | str = False, **_: Any) -> None:
        printed = PrintedStages(folder=print_ir if isinstance(print_ir, str) else None) if print_ir else None
        run_passes(module, [(name, options)], printed)

    run.__name__ = name.replace("-", "_")
    run.__doc__ = f"Runs `{name}` on a module, which changes; `print_ir` prints it behind each pass."
    return run


ttir_to_ttnn_runtime_pipeline = _pipeline("ttir-to-ttnn-runtime-pipeline")
ttir_to_ttnn_backend_pipeline = _pipeline("ttir-to-ttnn-backend-pipeline")
ttir_to_ttnn_common_pipeline = _pipeline("ttir-to-ttnn-common-pipeline")
ttnn_common_to_runtime_pipeline = _pipeline("ttnn-common-to-runtime-pipeline")
stablehlo_pipeline = _pipeline("stablehlo-pipeline")
stablehlo_to_ttir_pipeline = _pipeline("stablehlo-to-ttir-pipeline")


def tt_populate_argument_types(module: Module, options: str) -> None:
    """Says of arguments whether they are inputs, parameters or constants.

    Args:
        module: The module.
        options: ``argument-types=function=input,parameter``, or what stands behind the first ``=``.
    """
    text = options if options.startswith("argument-types=") else f"argument-types={options}"
    run_passes(module, [("tt-populate-argument-types", text)])


GoldenMap = Mapping[str, Mapping[int, GoldenTensor]]
"""Location -> device -> golden."""


def ttnn_to_flatbuffer_bin(
    module: Module, goldens: GoldenMap | None = None, module_log: Sequence[tuple[str, str]] = (), **_: Any
) -> Binary:
    """The binary of a module.

    Args:
        module: The module.
        goldens: Tensors to which results of operations are compared; their memory is copied.
        module_log: Names and texts of the module after stages.
    """
    found = {
        location: {device: golden.held() for device, golden in held.items()}
        for location, held in (goldens or {}).items()
    }
    return Binary.of_module(module.held, found, tuple(module_log))


def ttnn_to_flatbuffer_file(
    module: Module,
    path: str,
    goldens: GoldenMap | None = None,
    module_log: Sequence[tuple[str, str]] = (),
    **_: Any,
) -> None:
    """Writes the binary of a module; see `ttnn_to_flatbuffer_bin`.

    Raises:
        CompileError: A binary has no table for an operation or a type.
        OSError: The file cannot be written.
    """
    ttnn_to_flatbuffer_bin(module, goldens, module_log).store(path)


_OF_DEVICE = ("system-desc-path=", "mock-system-desc-arch=", "mesh-shape=", "mesh-topology=")
"""How options begin that describe the device."""


def ttir_to_ttmetal_backend_pipeline(module: Module, options: str = "", **_: Any) -> None:
    """Lowers a module of TTIR to scheduled kernels of d2m, in place.

    Args:
        module: The module.
        options: Those of `ttir-to-ttmetal-pipeline`; how a chip's memory and cores are used has no effect here.

    Raises:
        MLIRError: An option is unknown, or an operation is not executed here.
    """
    given = options.split()
    device = [each for each in given if each.startswith(_OF_DEVICE)]
    others = [each for each in given if not each.startswith(_OF_DEVICE)]
    run_passes(module, [("ttcore-register-device", " ".join(device)), (TTMETAL_PIPELINE, " ".join(others))])


def ttmetal_to_flatbuffer_bin(module: Module, *_: Any, **__: Any) -> Binary:
    """The binary of a module that `ttir_to_ttmetal_backend_pipeline` lowered: it executes its kernels.

    Raises:
        ArgumentError: The module was not lowered.
    """
    return KernelBinary(module.held)


def ttmetal_to_flatbuffer_file(module: Module, path: str, *_: Any, **__: Any) -> None:
    """Writes the text of a module that `ttir_to_ttmetal_backend_pipeline` lowered: this format has no flatbuffer here.

    Args:
        module: The module.
        path: The file, which `ttnn-jit run` executes.
    """
    text = f"// The kernels of `ttir-to-ttmetal-pipeline`; no flatbuffer.\n{print_module(module.held)}"
    write_complete(Path(path), [text.encode()])


def _absent(name: str, reason: str) -> Callable[..., Any]:
    def run(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{name}: {reason}")

    run.__name__ = name
    run.__doc__ = f"Refused: {reason}."
    return run


_CPP = "C++ is not emitted"
translate_to_cpp = _absent("translate_to_cpp", _CPP)
ttir_to_emitc_pipeline = _absent("ttir_to_emitc_pipeline", _CPP)


class EmittedPython(str):
    """A program in Python, as its text.

    Attributes:
        program: The text with its constants and entry points.
    """

    __slots__ = ("program",)
    program: TranslatedText


ttir_to_emitpy_pipeline = _pipeline("ttir-to-emitpy-pipeline")


def translate_to_python(module: Module, *_: Any, **__: Any) -> str:
    """The program in Python of a module of emitpy, or the `EmittedPython` of a module of TTNN.

    Raises:
        MLIRError: An operation has no call in ttnn, or the module is for several devices.
    """
    held = module.held.clone()
    try:
        if is_of_emitpy([held]):
            return python_of_emitpy([held])
        made = translated([(TextModule(held, resolve_target("cpu"), mesh_of(held)), name) for name in entries_of(held)])
    except TtnnJitError as error:
        raise MLIRError(str(error), [error]) from error
    found = EmittedPython(made.source)
    found.program = made
    return found
