"""``ttmlir.passmanager``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from xdsl.passes import ModulePass

from ttnn_jit.compiler.texts.emitpy_pipelines import PIPELINES as EMITPY
from ttnn_jit.compiler.texts.emitpy_pipelines import emitpy_passes
from ttnn_jit.compiler.texts.metal_pipeline import (
    FROM_D2M,
    METAL_PIPELINES,
    MetalPipelineOfD2M,
    MetalPipelineOfTexts,
    with_stages_merged,
)
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.upstream.context import UpstreamContext
from ttnn_jit.dialects.upstream.verifying import verify_upstream
from ttnn_jit.dialects.verifier import verify
from ttnn_jit.process.dataclass import dataclass
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
        self._printed: PrintedStages | None = None
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

    def enable_ir_printing(  # noqa: PLR0913, PLR0917 - upstream's arguments
        self,
        print_before_all: bool = False,
        print_after_all: bool = True,
        print_module_scope: bool = False,  # noqa: ARG002 - passes are over modules
        print_after_change: bool = False,
        print_after_failure: bool = False,  # noqa: ARG002 - a failed pass leaves no module
        large_elements_limit: int | None = None,  # noqa: ARG002 - long lists are hexadecimal
        large_resource_limit: int | None = None,  # noqa: ARG002 - there are no resources
        enable_debug_info: bool = False,
        print_generic_op_form: bool = False,
        tree_printing_dir_path: str | None = None,
    ) -> None:
        """Prints the module around each pass on stderr, or into a file of a folder for each."""
        self._printed = PrintedStages(
            before=print_before_all,
            after=print_after_all or print_after_change,
            only_changes=print_after_change,
            locations=enable_debug_info,
            generic=print_generic_op_form,
            folder=tree_printing_dir_path,
        )

    def run(self, op: Any) -> None:
        """Runs the passes.

        Raises:
            MLIRError: The module is invalid, or a pass is unknown or refused.
        """
        run_passes(op, [*self._passes()], self._printed, verifies=self._verifies)

    def _passes(self) -> Iterator[tuple[str, str]]:
        return named_passes(pipeline.without_anchors(self._pipeline))


@dataclass(frozen=True)
class PrintedStages:
    """Which texts of a module are printed while passes run.

    Attributes:
        before: The module before each pass.
        after: The module behind each pass.
        only_changes: Behind a pass only if it changed the module.
        locations: With locations.
        generic: In the generic form.
        folder: The folder with a file for each; None for stderr.
    """

    before: bool = False
    after: bool = True
    only_changes: bool = False
    locations: bool = False
    generic: bool = False
    folder: str | None = None

    def text(self, module: Any) -> str:
        """The text of a module."""
        return op_text(module.held, locations=self.locations, generic=self.generic)

    def write(self, when: str, number: int, name: str, text: str) -> None:
        """Writes a text under the name of its pass."""
        if self.folder is None:
            sys.stderr.write(f"// -----// IR Dump {when} {name} //----- //\n{text}\n")
            return
        folder = Path(self.folder) / "builtin_module_no-symbol-name"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}_{name}.mlir").write_text(f"// -----// IR Dump {when} {name} //----- //\n{text}\n")


def run_passes(
    module: Any, passes: Sequence[tuple[str, str]], printed: PrintedStages | None = None, *, verifies: bool = False
) -> None:
    """Runs passes over texts on a module, which changes.

    Args:
        module: The module.
        passes: Names with options, ``option=value option=value``.
        printed: What is printed around each pass.
        verifies: Whether the module is verified after each pass.

    Raises:
        MLIRError: The module is invalid, or a pass is unknown or refused.
    """
    try:
        each_pass = (each for name, options in with_stages_merged(passes) for each in _passes_of(name, options))
        verifier = verify_upstream
        for number, each in enumerate(each_pass):
            _run_pass(each, module, number, printed)
            verifier = verify if isinstance(each, METAL_PIPELINES) else verifier
            if verifies:
                verifier(module.held)
            log_module(each.name, module)
    except TtnnJitError as error:
        raise MLIRError(f"Failure while executing pass pipeline:\n{error}", [error]) from error


def _run_pass(each: ModulePass, module: Any, number: int, printed: PrintedStages | None) -> None:
    if printed is None:
        each.apply(UpstreamContext.make(), module.held)
        return
    before = printed.text(module)
    if printed.before:
        printed.write("Before", number, each.name, before)
    each.apply(UpstreamContext.make(), module.held)
    after = printed.text(module)
    if printed.after and not (printed.only_changes and after == before):
        printed.write("After", number, each.name, after)


def _passes_of(name: str, options: str) -> Sequence[ModulePass]:
    if name == pipeline.TTMETAL_PIPELINE:
        return [MetalPipelineOfTexts(options)]
    if name == FROM_D2M:
        return [MetalPipelineOfD2M(options)]
    if name in EMITPY:
        return emitpy_passes(name, options)
    if pipeline.is_over_texts(name):
        return pipeline.parse_passes(f"{name}{{{options}}}" if options else name)
    return text_passes(name, options)
