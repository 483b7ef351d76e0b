"""The module `ttnn.kv_cache`: updates of KV caches."""

from __future__ import annotations

from ttnn_jit.ttnn.calling.eager_functions import functions_of
from ttnn_jit.ttnn.namespace.names_on_demand import names_of

_OPERATIONS = functions_of("kv_cache")
globals().update(_OPERATIONS)

__all__ = [*_OPERATIONS]  # noqa: PLE0604 - the names are the declarations'
__getattr__ = names_of("kv_cache", __all__)
