"""Images of kernels and of the rare paths that they call: assembled once in a process, and kept by symbol."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from ttnn_jit.codegen.images.assembly_threads import AssemblyThreads
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import KernelModules
from ttnn_jit.process.progress import SHOW_AFTER, with_progress
from ttnn_jit.runtime.plans.launch_bounds import Signature

IMAGES: dict[str, bytes] = {}
"""By symbol, which contains a hash of the text: many shapes share a kernel, and many kernels a rare path."""

_RARE_PATHS: dict[str, tuple[str, ...]] = {}
"""By kernel name, the symbols of the rare paths that it calls."""


class KernelImages:
    """The images of kernels, each after those of its rare paths; begun when this is made, where there is none yet.

    Args:
        names: The kernels'.
        modules: Their LLVM modules, by name; read only if there is no image yet.
        signatures: The launches that they accept.
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
        """All of them, by symbol, once they are made.

        Raises:
            InternalError: LLVM rejects a text.
        """
        signatures = {symbol: signature.to_json() for symbol, signature in self._signatures.items()}
        made = self._threads.images(signatures) if self._threads else ()
        IMAGES.update(with_progress(made, self._count, "compiling, kernels", after=SHOW_AFTER))
        _RARE_PATHS.update(self._rare_paths)
        return {symbol: IMAGES[symbol] for name in self._names for symbol in (*_RARE_PATHS[name], name)}

    def abandon(self) -> None:
        """Make no more of them."""
        if self._threads:
            self._threads.abandon()
