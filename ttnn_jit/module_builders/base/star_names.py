"""Names that ``from builder.base.builder_apis import *`` has besides the functions of that module.

tt-mlir's modules of builders import each other, ``ttmlir.ir`` and parts of the standard library by `*`; code that is
written for them uses what they pass on, such as `Operand`, `Optional` and `torch`. A name is looked up when it is read.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ttnn_jit.ops.public_names import did_you_mean

_MODULES = {name: name for name in ("gc", "inspect", "itertools", "json", "operator", "os", "time", "torch")}
_MEMBERS = {
    "contextvars": ("ContextVar",),
    "functools": ("partial", "reduce"),
    "collections": ("OrderedDict",),
    "dataclasses": ("dataclass",),
    "enum": ("Enum", "auto"),
    "pathlib": ("Path",),
    "typing": ("Any", "Callable", "Dict", "List", "Literal", "Optional", "Tuple", "Union"),
    "ttnn_jit.module_builders.base.operation_builder": ("Builder",),
    "ttnn_jit.ttmlir.passmanager": ("PassManager",),
    "ttnn_jit.ttmlir.passes": (
        "DataType",
        "GoldenTensor",
        "MLIRModuleLogger",
        "stablehlo_pipeline",
        "stablehlo_to_ttir_pipeline",
        "translate_to_cpp",
        "translate_to_python",
        "tt_populate_argument_types",
        "ttir_to_emitc_pipeline",
        "ttir_to_emitpy_pipeline",
        "ttir_to_ttmetal_backend_pipeline",
        "ttir_to_ttnn_backend_pipeline",
        "ttir_to_ttnn_runtime_pipeline",
        "ttmetal_to_flatbuffer_bin",
        "ttmetal_to_flatbuffer_file",
        "ttnn_to_flatbuffer_bin",
        "ttnn_to_flatbuffer_file",
    ),
}
_PASSED_ON = (
    "ttnn_jit.ttmlir.ir",
    "ttnn_jit.module_builders.base.builder_enums",
    "ttnn_jit.module_builders.base.builder_interface",
)
"""Modules all of whose public names are passed on."""
_DIALECTS = ("debug", "func", "quant", "sdy", "stablehlo", "tensor", "ttcore", "ttir", "ttnn")


def _of_member(home: str, name: str) -> Callable[[], Any]:
    return lambda: getattr(importlib.import_module(home), name)


def _of_dialect(name: str) -> Callable[[], Any]:
    def find() -> Any:
        from ttnn_jit.ttmlir.dialect_modules import dialect_module

        return dialect_module(name, f"ttmlir.dialects.{name}")

    return find


def _sources() -> dict[str, Callable[[], Any]]:
    """Name -> what finds it."""
    found: dict[str, Callable[[], Any]] = {}
    for home in _PASSED_ON:
        found |= {name: _of_member(home, name) for name in importlib.import_module(home).__all__ if name != "np"}
    for home, names in _MEMBERS.items():
        found |= {name: _of_member(home, name) for name in names}
    found |= {name: lambda home=home: importlib.import_module(home) for name, home in _MODULES.items()}  # type: ignore[misc]
    found |= {name: _of_dialect(name) for name in _DIALECTS}
    found["np"] = lambda: importlib.import_module("numpy")
    found["tt_runtime"] = _runtime
    return found


def _runtime() -> Any:
    return importlib.import_module("_ttmlir_runtime")  # found where `register_as_ttnn` was called


_SOURCES = _sources()
NAMES = [*_SOURCES]
"""The names."""


def star_name(name: str) -> Any:
    """What a name is in these modules.

    Raises:
        AttributeError: It is none of them.
    """
    if name in _SOURCES:
        return _SOURCES[name]()
    raise AttributeError(f"modules of builders have no name {name!r}{did_you_mean(name, NAMES)}", name=name)
