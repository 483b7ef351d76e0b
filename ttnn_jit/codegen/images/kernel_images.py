"""Images of kernels and of the rare paths that they call, assembled once per process and cached by symbol."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from ttnn_jit.codegen.images.assembly_threads import AssemblyThreads
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import KernelModules
from ttnn_jit.process.progress import SHOW_AFTER, with_progress
from ttnn_jit.runtime.plans.launch_bounds import Signature

IMAGES: dict[str, bytes] = {}
"""Images by symbol, which contains a hash of the text: shapes share kernels, and kernels share rare paths."""

_RARE_PATHS: dict[str, tuple[str, ...]] = {}
"""The symbols of the rare paths that each kernel calls, by kernel name."""


class KernelImages:
    """The images of kernels, each after those of its rare paths; assembly of missing images starts at construction.

    Args:
        names: The names of the kernels.
        modules: Their LLVM modules by name, read only for missing images.
        signatures: The signatures of the kernels.
        isa: The instruction set to assemble for.
    """

    def __init__(
        self,
        names: Collection[str],
        modules: Callable[[], Mapping[str, KernelModules]],
        signatures: Mapping[str, Signature],
        isa: HostIsa,
    ) -> None:
        self._names = names
        self._signatures = signatures
        missing = [name for name in names if name not in IMAGES]
        given = modules() if missing else {}
        self._rare_paths = {name: tuple(given[name].rare_paths) for name in missing}
        rare = {symbol: path for name in missing for symbol, path in given[name].rare_paths.items()}
        wanted = {symbol: path for symbol, path in rare.items() if symbol not in IMAGES}
        wanted |= {name: given[name].kernel for name in missing}
        self._count = len(wanted)
        self._threads = AssemblyThreads(wanted, isa) if wanted else None

    def finished(self) -> dict[str, bytes]:
        """All images by symbol; waits for their assembly.

        Raises:
            InternalError: LLVM rejects a text.
        """
        signatures = {symbol: signature.to_json() for symbol, signature in self._signatures.items()}
        made = self._threads.images(signatures) if self._threads else ()
        IMAGES.update(with_progress(made, self._count, "compiling, kernels", after=SHOW_AFTER))
        _RARE_PATHS.update(self._rare_paths)
        return {symbol: IMAGES[symbol] for name in self._names for symbol in (*_RARE_PATHS[name], name)}

    def abandon(self) -> None:
        """Stop assembly."""
        if self._threads:
            self._threads.abandon()
