"""The `golden` of processes in which `register_as_ttnn` was called, where no real one is installed."""

from ttnn_jit.module_builders.goldens.golden_functions import (
    CHISEL_GOLDEN_MAPPINGS,
    GOLDEN_MAPPINGS,
    GoldenMapTensor,
    apply_sharding,
    apply_unsharding,
    get_chisel_golden_function,
    get_golden_function,
    unpack_mlir_attr,
)
from ttnn_jit.module_builders.goldens.golden_metrics import get_atol_rtol, get_atol_rtol_pcc, get_pcc
from ttnn_jit.ttmlir.finder import install

install()
__path__: list[str] = []
__all__ = [
    "CHISEL_GOLDEN_MAPPINGS",
    "GOLDEN_MAPPINGS",
    "GoldenMapTensor",
    "apply_sharding",
    "apply_unsharding",
    "get_atol_rtol",
    "get_atol_rtol_pcc",
    "get_chisel_golden_function",
    "get_golden_function",
    "get_pcc",
    "unpack_mlir_attr",
]
