"""The module `ttnn.kv_cache`: writes into caches of keys and values."""

from __future__ import annotations

from typing import NoReturn

from ttnn_jit.ttnn.eager_functions import functions_of
from ttnn_jit.ttnn.names_on_demand import unknown_name_of

_OPERATIONS = functions_of("kv_cache")
globals().update(_OPERATIONS)

__all__ = [*_OPERATIONS]  # noqa: PLE0604 - the names are the declarations'


def __getattr__(name: str) -> NoReturn:
    raise unknown_name_of("kv_cache", name, __all__)
