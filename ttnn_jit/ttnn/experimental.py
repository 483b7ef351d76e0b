"""The module `ttnn.experimental`: names of ttnn that are no part of its stable API, as far as they are here."""

from __future__ import annotations

from ttnn_jit.ttnn.channel_orders import convert_to_chw, convert_to_hwc
from ttnn_jit.ttnn.collectives import all_gather_async, neighbor_pad_async, reduce_scatter_minimal_async
from ttnn_jit.ttnn.convolutions_3d import conv3d, prepare_conv3d_weights
from ttnn_jit.ttnn.eager_functions import functions_of, view
from ttnn_jit.ttnn.fast_reduce import fast_reduce_nc
from ttnn_jit.ttnn.fused_caches import paged_fused_update_cache
from ttnn_jit.ttnn.minimal_products import minimal_matmul
from ttnn_jit.ttnn.names_on_demand import knowing_its_name, names_of
from ttnn_jit.ttnn.random_tensors import dropout
from ttnn_jit.ttnn.transfers import typecast

_OPERATIONS = functions_of("experimental")
globals().update(_OPERATIONS)

__all__ = [  # noqa: PLE0604 - the names are the declarations'
    "all_gather_async",
    "conv3d",
    "convert_to_chw",
    "convert_to_hwc",
    "dropout",
    "fast_reduce_nc",
    "minimal_matmul",
    "neighbor_pad_async",
    "paged_fused_update_cache",
    "prepare_conv3d_weights",
    "reduce_scatter_minimal_async",
    "typecast",
    "view",
    *_OPERATIONS,
]

for _name in __all__:
    knowing_its_name(f"experimental.{_name}", globals()[_name])
__getattr__ = names_of("experimental", __all__)
