"""A substitute for tt-mlir's `profiler`, where that is not installed: its times are those of this host."""

from ttnn_jit.tools.ttrt.runs.traced_operations import trace

__all__ = ["trace"]
