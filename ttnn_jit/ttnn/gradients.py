"""The eager functions of gradients, ``ttnn.<name>_bw``, one for each name that ops/backward.py declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_jit.ops import backward_binary, backward_unary
from ttnn_jit.ops.shorthand import Shorthand
from ttnn_jit.ttnn.eager_operation import TtnnOperation


def _by_name() -> dict[str, TtnnOperation]:
    declared: dict[str, tuple[Shorthand, ...]] = {}
    for operation in (*backward_binary.OPERATIONS, *backward_unary.OPERATIONS):
        declared[operation.name] = (*declared.get(operation.name, ()), operation)
    return {name: TtnnOperation(name, overloads) for name, overloads in declared.items()}


GRADIENTS = _by_name()
"""Name -> its function."""

globals().update(GRADIENTS)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
