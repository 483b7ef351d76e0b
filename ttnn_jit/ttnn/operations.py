"""The module `ttnn.operations`, as far as programs name it: `ttnn.operations.moreh`."""

from ttnn_jit.ttnn import moreh

__all__ = ["moreh"]
