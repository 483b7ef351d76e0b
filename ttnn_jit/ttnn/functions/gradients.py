"""The eager functions of declared gradients, ``ttnn.<name>_bw``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_jit import ops
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.ops.selection.embedding_gradient import EMBEDDING_BW
from ttnn_jit.ttnn.calling.eager_operation import TtnnOperation


def _by_name() -> dict[str, TtnnOperation]:
    declared: dict[str, tuple[Operation, ...]] = {}
    for operation in (*ops.declared_in(ops.GRADIENTS), EMBEDDING_BW):
        declared[operation.name] = (*declared.get(operation.name, ()), operation)
    return {name: TtnnOperation(name, overloads) for name, overloads in declared.items()}


GRADIENTS = _by_name()
"""Name -> function."""

globals().update(GRADIENTS)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
