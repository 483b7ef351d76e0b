"""``ttmlir.passmanager``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

from xdsl.passes import ModulePass

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects.upstream.context import UpstreamContext
from ttnn_jit.dialects.upstream.verifying import verify_upstream
from ttnn_jit.transforms import pipeline
from ttnn_jit.transforms.texts.registry import named_passes, text_passes
from ttnn_jit.ttmlir.mlir_contexts import Context
from ttnn_jit.ttmlir.mlir_operations import MLIRError
from ttnn_jit.ttmlir.module_loggers import log_module


class PassManager:
    """Passes in order.

    Args:
        pipeline: ``builtin.module(a,b{option=value})``.
    """

    def __init__(self, pipeline: str = "builtin.module()") -> None:
        self._pipeline = pipeline
        self._verifies = True

    @classmethod
    def parse(cls, pipeline: str, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """The passes of a text.

        Raises:
            ValueError: It is no pipeline.
        """
        made = cls(pipeline)
        list(made._passes())
        return made

    def enable_verifier(self, enable: bool) -> None:
        """Whether the module is verified after each pass."""
        self._verifies = enable

    def enable_ir_printing(self, *_: Any, **__: Any) -> None:
        """Nothing: texts are printed by their owner."""

    def run(self, op: Any) -> None:
        """Runs the passes.

        Raises:
            MLIRError: The module is invalid, or a pass is unknown or refused.
        """
        run_passes(op, [*self._passes()], verifies=self._verifies)

    def _passes(self) -> Iterator[tuple[str, str]]:
        return named_passes(pipeline.without_anchors(self._pipeline))


def run_passes(module: Any, passes: Sequence[tuple[str, str]], *, verifies: bool = False) -> None:
    """Runs passes over texts on a module, which changes.

    Args:
        module: The module.
        passes: Names with options, ``option=value option=value``.
        verifies: Whether the module is verified after each pass.

    Raises:
        MLIRError: The module is invalid, or a pass is unknown or refused.
    """
    try:
        for name, options in passes:
            for each in _passes_of(name, options):
                each.apply(UpstreamContext.make(), module.held)
                if verifies:
                    verify_upstream(module.held)
                log_module(each.name, module)
    except TtnnJitError as error:
        raise MLIRError(f"Failure while executing pass pipeline:\n{error}", [error]) from error


def _passes_of(name: str, options: str) -> Sequence[ModulePass]:
    if pipeline.is_over_texts(name):
        return pipeline.parse_passes(f"{name}{{{options}}}" if options else name)
    return text_passes(name, options)
