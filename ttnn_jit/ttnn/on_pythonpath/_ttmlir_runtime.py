"""The `_ttmlir_runtime` of processes in which `register_as_ttnn` was called, where no real one is installed."""

from importlib import import_module

from ttnn_jit.ttmlir.finder import install

install()
__path__: list[str] = []

binary = import_module(f"{__name__}.binary")
runtime = import_module(f"{__name__}.runtime")
