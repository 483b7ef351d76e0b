"""ttnn_jit: write TTNN code, decorate it, and run it as one fused native kernel on a CPU.

    import ttnn_jit
    from ttnn_jit import ttnn

    @ttnn_jit.jit()
    def cosh(x):
        return ttnn.multiply(ttnn.add(ttnn.exp(x), ttnn.exp(ttnn.neg(x))), 0.5)

Importing it loads neither torch, numpy, numba, llvmlite nor xDSL; each loads when something needs it.
"""

from ttnn_jit.compiling import collection_postponed

with collection_postponed():
    from ttnn_jit.api import cache_clear, cache_info, explain_miss, jit, supported_ops, tile_op
    from ttnn_jit.stand_in import register_as_ttnn

__all__ = [
    "__version__",
    "cache_clear",
    "cache_info",
    "explain_miss",
    "jit",
    "register_as_ttnn",
    "supported_ops",
    "tile_op",
]

__version__ = "0.1.0"
