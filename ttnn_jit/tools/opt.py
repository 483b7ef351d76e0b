"""``ttnn-jit opt``: runs stages on a module, in the order of the command line."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import ParseError, VerifyException

from ttnn_jit.compiler import driver
from ttnn_jit.compiler.inspection import print_stage
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.dialects import parse_module, print_module, verify
from ttnn_jit.specs.options import USER_PASSES, CompileOptions, Environment
from ttnn_jit.tools import markdown
from ttnn_jit.tools.stage_of_module import schedule
from ttnn_jit.transforms import pipeline


def main(options: argparse.Namespace) -> int:
    """Reads, runs the passes, writes; nothing is written if a pass fails."""
    for file in options.load:
        load_passes(file)
    if options.write:
        return markdown.renew(options.write, with_stages)
    if options.list:
        print("\n".join(_listed()))
        return 0
    module = read_module(options.file)

    def show(stage: str, after: ModuleOp) -> None:
        if options.print_ir_after_all:
            text = print_module(after, locations=options.print_debuginfo)
            print_stage(stage, text, sys.stderr)

    pipeline.run_passes(
        module,
        _passes(options),
        observer=show,
        verify_each=options.verify_each,
        reproducers=Environment.read().reproducers,
    )
    text = _emitted(module, options) or print_module(module, locations=options.print_debuginfo)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


def with_stages(document: str) -> str:
    """`document` with the current stages between its marks.

    Raises:
        ArgumentError: It has no marks.
    """
    return markdown.with_section(document, "stages", "\n".join(["```text", *driver.stages(), "```"]))


def _emitted(module: ModuleOp, options: argparse.Namespace) -> str:
    """The text of the stage of ``--emit``, which is no pass, after the remaining passes; "" without ``--emit``.

    Raises:
        ArgumentError: There is no such stage.
    """
    stage: str | None = options.emit
    if stage is None:
        return ""
    stages = driver.stages()
    behind = stages[stages.index(driver.HOST) :]
    if stage not in behind:
        names = ", ".join(f"`{each}`" for each in behind)
        raise ArgumentError(f"`--emit` prints {names}, got {stage!r}", help="`-p a,b` prints the module after stage b")
    schedule(module, entry=options.entry)
    return driver.text_of_scheduled(module, stage)


def _listed() -> Iterator[str]:
    """Every pass in order, each followed by the user's passes after it."""
    for stage in driver.stages():
        if stage in pipeline.STAGES:
            yield stage
        yield from (
            f"{name}  (from a loaded file, after {follows})"
            for name, (_, follows) in USER_PASSES.items()
            if follows == stage
        )


def _passes(options: argparse.Namespace) -> tuple[ModulePass, ...]:
    """The passes of the ttnn.jit document's own options, then those of ``-p``."""
    texts = []
    if options.convert_ttnn_to_ttir:
        texts.append("convert-ttnn-to-ttir")
    if options.ttir_to_ttmetal_pipeline is not None:
        texts.append(f"{pipeline.TTMETAL_PIPELINE}{{{options.ttir_to_ttmetal_pipeline}}}")
    if options.passes == "all" and not texts:
        return pipeline.stage_passes(CompileOptions())
    return tuple(own for text in (*texts, options.passes) if text for own in pipeline.parse_passes(text))


def load_passes(file: Path) -> None:
    """Runs a Python file, without its ``__main__`` part, that registers user's passes by `pipeline.register_pass`.

    Raises:
        ArgumentError: There is no such file.
    """
    if not file.is_file():
        raise ArgumentError(f"{file} cannot be read: there is no such file")
    runpy.run_path(str(file), run_name=file.stem)


def read_module(file: str) -> ModuleOp:
    """The verified module in a file; ``-`` is standard input.

    Raises:
        ArgumentError: The file cannot be read.
        CompileError: The text is no module, or an invalid one.
    """
    return module_of_text(*read_text(file))


def module_of_text(text: str, name: str) -> ModuleOp:
    """The verified module of a text.

    Raises:
        CompileError: The text is no module, or an invalid one.
    """
    try:
        module = parse_module(text, name)
        verify(module)
    except (ParseError, VerifyException) as error:
        raise CompileError(f"{name} is no valid module: {error}") from error
    return module


def read_text(file: str) -> tuple[str, str]:
    """The text of a file, and its name in errors; ``-`` is standard input.

    Raises:
        ArgumentError: The file cannot be read.
    """
    if file.endswith(".py"):
        raise ArgumentError(
            f"{file} is Python, and these commands read MLIR text",
            help=f"`python -m ttnn_jit {file}` runs it; `f.ir(x)` of a jitted function is a module's text",
        )
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{file} is no text", help="these commands read MLIR text") from error
    return text, "<stdin>" if file == "-" else file
