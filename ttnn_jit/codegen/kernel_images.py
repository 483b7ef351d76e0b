"""Images of kernels and of the rare paths that they call: assembled once in a process, and kept by symbol."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from ttnn_jit.codegen.assemble import assemble
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_module import KernelModules
from ttnn_jit.process.progress import LONG, counted
from ttnn_jit.runtime.image import with_signature
from ttnn_jit.runtime.launch_bounds import Signature

IMAGES: dict[str, bytes] = {}
"""By symbol, which contains a hash of the text: many shapes share a kernel, and many kernels a rare path."""

_RARE_PATHS: dict[str, tuple[str, ...]] = {}
"""By kernel name, the symbols of the rare paths that it calls."""


def images_of(
    names: Collection[str],
    modules: Callable[[], Mapping[str, KernelModules]],
    signatures: Mapping[str, Signature],
    isa: HostIsa,
) -> dict[str, bytes]:
    """The images of kernels, each after those of its rare paths.

    Args:
        names: The kernels'.
        modules: Their LLVM modules, by name; read only if there is no image yet.
        signatures: The launches that they accept.
        isa: The instruction set to assemble for.
    """
    if missing := [name for name in names if name not in IMAGES]:
        given = modules()
        for name in counted(missing, len(missing), "compiling, kernels", after=LONG):
            _assemble(name, given[name], signatures[name], isa)
    return {symbol: IMAGES[symbol] for name in names for symbol in (*_RARE_PATHS[name], name)}


def _assemble(name: str, parts: KernelModules, signature: Signature, isa: HostIsa) -> None:
    for symbol, function in parts.rare_paths.items():
        if symbol not in IMAGES:
            IMAGES[symbol] = assemble(function, isa)
    _RARE_PATHS[name] = tuple(parts.rare_paths)
    IMAGES[name] = with_signature(assemble(parts.kernel, isa), signature.to_json())
