"""``ttmlir.passmanager``."""

from __future__ import annotations

from typing import Any, Self

from ttnn_jit.ttmlir.mlir_contexts import Context


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
            NotImplementedError: Always: `ttmlir-opt` runs passes on texts.
        """
        raise NotImplementedError(f"{self._pipeline}: passes run by `ttmlir-opt` on a text")
