"""The `chisel` of processes in which `register_as_ttnn` was called, where no real one is installed."""

import sys
from importlib import import_module

sys.modules[__name__] = package = import_module("ttnn_jit.ttmlir.chisel")
sys.modules[f"{__name__}.callbacks"] = package.callbacks
