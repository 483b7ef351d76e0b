"""The module `ttnn.kv_cache`: updates of KV caches."""

from __future__ import annotations

from ttnn_jit.ttnn.calling.eager_functions import functions_of
from ttnn_jit.ttnn.namespace.names_on_demand import submodule_getattr

_OPERATIONS = functions_of("kv_cache")
globals().update(_OPERATIONS)

__all__ = [*_OPERATIONS]  # noqa: PLE0604 - the names are the declarations'
__getattr__ = submodule_getattr("kv_cache", __all__)
