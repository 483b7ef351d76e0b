"""The module `ttnn.experimental`: names of ttnn that are no part of its stable API, as far as they are here."""

from __future__ import annotations

from ttnn_jit.ttnn.eager_functions import view
from ttnn_jit.ttnn.random_tensors import dropout
from ttnn_jit.ttnn.transfers import typecast

__all__ = ["dropout", "typecast", "view"]
