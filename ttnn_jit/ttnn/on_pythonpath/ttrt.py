"""The `ttrt` of processes in which `register_as_ttnn` was called, where no real one is installed.

Its submodules are those of `ttnn_jit.tools.ttrt`.
"""

import sys
from importlib import import_module

from ttnn_jit.ttmlir.finder import install

install()
__path__: list[str] = []


def main() -> int:
    """The command ``ttrt``."""
    return int(import_module("ttnn_jit.tools.ttrt.ttrt_command").main())


if __name__ == "__main__":
    sys.exit(main())
