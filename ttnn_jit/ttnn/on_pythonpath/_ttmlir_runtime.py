"""The `_ttmlir_runtime` of processes in which `register_as_ttnn` was called, where no real one is installed."""

from ttnn_jit.ttmlir.finder import install

install()
__path__: list[str] = []

from _ttmlir_runtime import binary, runtime  # noqa: E402 - found by what was installed

__all__ = ["binary", "runtime"]
