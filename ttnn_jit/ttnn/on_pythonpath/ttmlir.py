"""The `ttmlir` of processes in which `register_as_ttnn` was called, where no real one is installed.

Its submodules are those of `ttnn_jit.ttmlir`.
"""

from ttnn_jit.ttmlir.finder import install

install()
__path__: list[str] = []
