"""ttnn_jit: write TTNN code, decorate it, and run it as one fused native kernel on a CPU.

    import ttnn_jit
    from ttnn_jit import ttnn

    @ttnn_jit.jit()
    def cosh(x):
        return ttnn.multiply(ttnn.add(ttnn.exp(x), ttnn.exp(ttnn.neg(x))), 0.5)

Importing ttnn_jit loads neither torch, numpy, numba, llvmlite nor xDSL; each is imported at first use.
"""

from importlib import import_module

from ttnn_jit.process.compile_lock import alone

alone(import_module)("ttnn_jit.api")  # first and alone: garbage waits

from ttnn_jit.api import explain_miss, jit, mark_dynamic, register_as_ttnn, supported_ops  # noqa: E402
from ttnn_jit.cache.statistics import cache_clear, cache_info  # noqa: E402
from ttnn_jit.calls.tile_op import tile_op  # noqa: E402

__all__ = [
    "__version__",
    "cache_clear",
    "cache_info",
    "explain_miss",
    "jit",
    "mark_dynamic",
    "register_as_ttnn",
    "supported_ops",
    "tile_op",
]

__version__ = "0.1.0"


def __dir__() -> list[str]:
    """The public names, without internal modules."""
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*__all__, *own, "testing", "ttnn"})
