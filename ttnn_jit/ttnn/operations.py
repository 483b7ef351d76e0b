"""The module `ttnn.operations`, as far as programs name it: `ttnn.operations.moreh`."""

from ttnn_jit.ttnn import moreh
from ttnn_jit.ttnn.names_on_demand import names_of

__all__ = ["moreh"]
__getattr__ = names_of("operations", __all__)
