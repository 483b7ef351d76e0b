"""The module `ttnn.experimental`: functions outside ttnn's stable API."""

from __future__ import annotations

from ttnn_jit.ttnn.calling.eager_functions import functions_of, view
from ttnn_jit.ttnn.namespace.names_on_demand import host_functions_of, submodule_getattr
from ttnn_jit.ttnn.tensors.transfers import typecast

_FUNCTIONS = {**functions_of("experimental"), **host_functions_of("experimental")}
globals().update(_FUNCTIONS)

__all__ = ["typecast", "view", *_FUNCTIONS]  # noqa: PLE0604 - the names are the declarations'
__getattr__ = submodule_getattr("experimental", __all__)
