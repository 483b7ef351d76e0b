"""``ttmlir.passes``: pipelines by upstream's names, and what makes a binary of a module."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttnn_jit.binaries.debug_information import Golden
from ttnn_jit.ttmlir.enums import enum_of
from ttnn_jit.ttmlir.mlir_operations import Module
from ttnn_jit.ttmlir.module_loggers import MLIRModuleLogger as MLIRModuleLogger  # noqa: PLC0414 - upstream's name
from ttnn_jit.ttmlir.passmanager import PrintedStages, run_passes
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary

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


def _absent(name: str, reason: str) -> Callable[..., Any]:
    def run(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{name}: {reason}")

    run.__name__ = name
    run.__doc__ = f"Refused: {reason}."
    return run


_METAL = "kernels of ttmetal are not executed here"
_CPP = "C++ is not emitted"
ttir_to_ttmetal_backend_pipeline = _absent("ttir_to_ttmetal_backend_pipeline", _METAL)
ttmetal_to_flatbuffer_bin = _absent("ttmetal_to_flatbuffer_bin", _METAL)
ttmetal_to_flatbuffer_file = _absent("ttmetal_to_flatbuffer_file", _METAL)
translate_to_cpp = _absent("translate_to_cpp", _CPP)
ttir_to_emitc_pipeline = _absent("ttir_to_emitc_pipeline", _CPP)
translate_to_python = _absent("translate_to_python", "use `ttnn-jit translate --mlir-to-python`")
ttir_to_emitpy_pipeline = _absent("ttir_to_emitpy_pipeline", "use `ttnn-jit translate --mlir-to-python`")
