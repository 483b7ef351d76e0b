"""The `builder` of processes in which `register_as_ttnn` was called, where no real one is installed."""

from ttnn_jit.ttmlir.finder import install

install()
__path__: list[str] = []
