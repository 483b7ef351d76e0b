"""The module `ttnn.transformer`: attention, as far as it is here."""

from __future__ import annotations

from typing import NoReturn

from ttnn_jit.ttnn.eager_functions import functions_of
from ttnn_jit.ttnn.names_on_demand import unknown_name_of

_OPERATIONS = functions_of("transformer")
globals().update(_OPERATIONS)

__all__ = [*_OPERATIONS]  # noqa: PLE0604 - the names are the declarations'


def __getattr__(name: str) -> NoReturn:
    raise unknown_name_of("transformer", name, __all__)
