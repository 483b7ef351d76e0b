"""The module `ttnn.experimental`, as far as its names are operations that ttnn has elsewhere too."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ttnn_jit.ttnn.eager_functions import view as view  # noqa: PLC0414 - it is exported
from ttnn_jit.ttnn.transfers import typecast as typecast  # noqa: PLC0414

if not TYPE_CHECKING:  # a type checker says itself which names are missing

    def __getattr__(name: str) -> NoReturn:
        raise AttributeError(
            f"module 'ttnn_jit.ttnn.experimental' has no attribute {name!r}: of ttnn's experimental operations "
            f"`typecast` and `view` are here",
            name=name,
        )
