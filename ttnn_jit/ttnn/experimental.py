"""The module `ttnn.experimental`: functions outside ttnn's stable API."""

from __future__ import annotations

from ttnn_jit.ttnn.calling.eager_functions import functions_of, view
from ttnn_jit.ttnn.namespace.names_on_demand import host_functions_of, names_of
from ttnn_jit.ttnn.tensors.transfers import typecast

_OWN = {**functions_of("experimental"), **host_functions_of("experimental")}
globals().update(_OWN)

__all__ = ["typecast", "view", *_OWN]  # noqa: PLE0604 - the names are the declarations'
__getattr__ = names_of("experimental", __all__)
