"""``ttmlir.passmanager``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

from xdsl.passes import ModulePass

from ttnn_jit.compiler.texts.metal_programs import lower_to_d2m, require_options
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects.upstream.context import UpstreamContext
from ttnn_jit.transforms import pipeline
from ttnn_jit.transforms.texts.registry import named_passes, text_passes
from ttnn_jit.ttmlir.mlir_contexts import Context
from ttnn_jit.ttmlir.mlir_operations import MLIRError
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import mesh_of


class PassManager:
    """Passes in order.

    Args:
        pipeline: ``builtin.module(a,b{option=value})``.
    """

    def __init__(self, pipeline: str = "builtin.module()") -> None:
        self._pipeline = pipeline

    @classmethod
    def parse(cls, pipeline: str, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """The passes of a text.

        Raises:
            ValueError: It is no pipeline.
        """
        made = cls(pipeline)
        list(made._passes())
        return made

    def enable_ir_printing(self, *_: Any, **__: Any) -> None:
        """Nothing: texts are printed by their owner."""

    def enable_verifier(self, enable: bool) -> None:
        """Nothing: the passes check what they take."""

    def run(self, op: Any) -> None:
        """Runs the passes.

        Raises:
            MLIRError: The module is invalid, or a pass is unknown or refused.
        """
        run_passes(op, [*self._passes()])

    def _passes(self) -> Iterator[tuple[str, str]]:
        return named_passes(pipeline.without_anchors(self._pipeline))


_NORMALIZATION = "ttir-element-type-normalization"
"""The pass that gives tensors element types that a device has."""


def run_passes(module: Any, passes: Sequence[tuple[str, str]]) -> None:
    """Runs passes over texts on a module, which changes.

    Args:
        module: The module.
        passes: Names with options, ``option=value option=value``.

    Raises:
        MLIRError: The module is invalid, or a pass is unknown or refused.
    """
    try:
        for name, options in passes:
            if name == pipeline.TTMETAL_PIPELINE:
                require_options(options)
                run_passes(module, [(_NORMALIZATION, "")])
                lower_to_d2m(module.held, mesh_of(module.held))
                continue
            for each in _passes_of(name, options):
                each.apply(UpstreamContext.make(), module.held)
    except TtnnJitError as error:
        raise MLIRError(f"Failure while executing pass pipeline:\n{error}", [error]) from error


def _passes_of(name: str, options: str) -> Sequence[ModulePass]:
    if pipeline.is_over_texts(name):
        return pipeline.parse_passes(f"{name}{{{options}}}" if options else name)
    return text_passes(name, options)
