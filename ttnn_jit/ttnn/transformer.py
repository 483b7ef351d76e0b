"""The module `ttnn.transformer`: operations of attention."""

from __future__ import annotations

from ttnn_jit.ttnn.calling.eager_functions import functions_of
from ttnn_jit.ttnn.namespace.names_on_demand import host_functions_of, submodule_getattr

_FUNCTIONS = {**functions_of("transformer"), **host_functions_of("transformer")}
globals().update(_FUNCTIONS)

__all__ = [*_FUNCTIONS]  # noqa: PLE0604 - the names are the declarations'
__getattr__ = submodule_getattr("transformer", __all__)
