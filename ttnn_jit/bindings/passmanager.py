"""``ttmlir.passmanager``."""

from __future__ import annotations

from typing import Any, Self

from ttnn_jit.bindings.contexts import Context
from ttnn_jit.bindings.structure import MLIRError
from ttnn_jit.dialects.verifier import InvalidModule


class PassManager:
    """Passes in order.

    Args:
        pipeline: ``builtin.module(a,b{option=value})``.
    """

    def __init__(self, pipeline: str) -> None:
        self._pipeline = pipeline

    @classmethod
    def parse(cls, pipeline: str, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """The passes of a text."""
        return cls(pipeline)

    def enable_ir_printing(self, *_: Any, **__: Any) -> None:
        """Nothing: texts are printed by their owner."""

    def run(self, op: Any) -> None:
        """Runs the passes.

        Raises:
            MLIRError: The module is invalid, or a pass is unknown.
        """
        from ttnn_jit.bindings.pipelines import run_pipeline

        try:
            run_pipeline(op.held, self._pipeline)
        except InvalidModule as error:
            raise MLIRError(f"Failure while executing pass pipeline:\n{error}", [error]) from error
