"""The module `ttnn.experimental`: names of ttnn that are no part of its stable API, as far as they are here."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ttnn_jit.ttnn.channel_orders import convert_to_chw, convert_to_hwc
from ttnn_jit.ttnn.convolutions_3d import conv3d, prepare_conv3d_weights
from ttnn_jit.ttnn.eager_functions import view
from ttnn_jit.ttnn.random_tensors import dropout
from ttnn_jit.ttnn.transfers import typecast

__all__ = ["conv3d", "convert_to_chw", "convert_to_hwc", "dropout", "prepare_conv3d_weights", "typecast", "view"]

if not TYPE_CHECKING:  # a type checker says itself which names are missing

    def __getattr__(name: str) -> NoReturn:
        raise AttributeError(
            f"module 'ttnn_jit.ttnn.experimental' has no attribute {name!r}: of ttnn's experimental operations "
            f"{', '.join(f'`{here}`' for here in __all__)} are here",
            name=name,
        )
