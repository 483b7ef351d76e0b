"""The module `ttnn.experimental`: names of ttnn that are no part of its stable API, as far as they are here."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ttnn_jit.ttnn.collectives import all_gather_async, neighbor_pad_async, reduce_scatter_minimal_async
from ttnn_jit.ttnn.eager_functions import view
from ttnn_jit.ttnn.random_tensors import dropout
from ttnn_jit.ttnn.transfers import typecast

__all__ = [
    "all_gather_async",
    "dropout",
    "neighbor_pad_async",
    "reduce_scatter_minimal_async",
    "typecast",
    "view",
]

if not TYPE_CHECKING:  # a type checker says itself which names are missing

    def __getattr__(name: str) -> NoReturn:
        raise AttributeError(
            f"module 'ttnn_jit.ttnn.experimental' has no attribute {name!r}: of ttnn's experimental operations "
            f"{', '.join(f'`{here}`' for here in __all__)} are here",
            name=name,
        )
