"""Finds the submodules of `ttmlir`, `_ttmlir_runtime`, `ttrt`, `builder` and `golden`.

`ttnn/on_pythonpath` has these packages where no real ones are.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

DIALECTS = (
    "affine", "arith", "d2m", "debug", "emitpy", "func", "linalg", "math", "memref", "mpmd", "quant", "scf", "sdy",
    "stablehlo", "tensor", "tosa", "ttcore", "ttir", "ttkernel", "ttmetal", "ttnn",
)  # fmt: skip
"""The dialects that are importable."""
_HOMES = {
    **{f"ttmlir.{name}": f"ttnn_jit.ttmlir.{name}" for name in ("ir", "passes", "passmanager", "util")},
    "_ttmlir_runtime.runtime": "ttnn_jit.ttmlir.ttmlir_runtime.submission",
    "_ttmlir_runtime.runtime.test": "ttnn_jit.ttmlir.ttmlir_runtime.chosen_layouts",
    "ttrt.runtime.test": "ttnn_jit.ttmlir.ttmlir_runtime.chosen_layouts",
    "_ttmlir_runtime.binary": "ttnn_jit.ttmlir.ttmlir_runtime.program_binary",
    "ttrt.runtime": "ttnn_jit.ttmlir.ttmlir_runtime.submission",
    "ttrt.binary": "ttnn_jit.tools.ttrt.public_binary",
    "ttrt.binary.stats": "ttnn_jit.tools.ttrt.runs.op_statistics",
    "ttrt.common.api": "ttnn_jit.tools.ttrt.public_api",
    "ttrt.common.util": "ttnn_jit.tools.ttrt.util_names",
    "ttrt.common.callback": "ttnn_jit.tools.ttrt.runs.op_callbacks",
    **{
        f"ttrt.common.{name}": f"ttnn_jit.tools.ttrt.{name}_command"
        for name in ("query", "read", "run", "perf", "check", "emitpy")
    },
    **{f"ttmlir.{name}": f"ttnn_jit.ttmlir.compiling.{name}" for name in ("compile_and_run", "compile_and_run_utils")},
    "builder.base.builder": "ttnn_jit.module_builders.base.built_functions",
    **{f"builder.base.{name}": f"ttnn_jit.module_builders.base.{name}" for name in ("builder_apis", "builder_enums")},
    "builder.base.builder_runtime": "ttnn_jit.module_builders.base.runtime_names",
    "builder.base.builder_utils": "ttnn_jit.module_builders.base.builder_interface",
    **{
        f"builder.{name}.{name}_builder": f"ttnn_jit.module_builders.{name}.{name}_builder"
        for name in ("ttir", "ttnn", "stablehlo", "d2m")
    },
    "builder.stablehlo.shardy_parallelization_utils": "ttnn_jit.module_builders.stablehlo.sharding_permutations",
    "golden.mapping": "ttnn_jit.module_builders.goldens.golden_functions",
    "golden.metrics": "ttnn_jit.module_builders.goldens.golden_metrics",
}
_PACKAGES = (
    "ttmlir.dialects",
    "ttrt.common",
    *(f"builder.{name}" for name in ("base", "ttir", "ttnn", "stablehlo", "d2m")),
)
"""Packages that have nothing but submodules."""


class SubmoduleFinder(MetaPathFinder):
    """Finds the names of `_HOMES`, the packages and the dialects."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,  # noqa: ARG002 - of reloads
    ) -> ModuleSpec | None:
        """The spec of a submodule of a stand-in, which has no path; None for others."""
        if path is None or len(path):
            return None
        if fullname in _PACKAGES:
            return ModuleSpec(fullname, None, is_package=True)
        if fullname in _HOMES:
            return ModuleSpec(fullname, _Loader(lambda: importlib.import_module(_HOMES[fullname])))
        dialect = fullname.removeprefix("ttmlir.dialects.")
        if dialect.startswith("_"):  # `_ttir_ops_gen`, in which MLIR's generator puts the classes of operations
            dialect = dialect[1:].removesuffix("_ops_gen")
        if fullname != dialect and dialect in DIALECTS:
            return ModuleSpec(fullname, _Loader(lambda: _dialect(dialect, fullname)), is_package=True)
        return None


def _dialect(dialect: str, name: str) -> ModuleType:
    from ttnn_jit.ttmlir.dialect_modules import dialect_module

    return dialect_module(dialect, name)


class _Loader(Loader):
    """Registers a module that is there under the imported name."""

    def __init__(self, load: Callable[[], ModuleType]) -> None:
        self._load = load

    def exec_module(self, module: ModuleType) -> None:
        """Replaces the module that is being imported."""
        sys.modules[module.__name__] = self._load()


def install() -> None:
    """Makes submodules importable."""
    if not any(isinstance(finder, SubmoduleFinder) for finder in sys.meta_path):
        sys.meta_path.append(SubmoduleFinder())
