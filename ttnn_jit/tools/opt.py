"""``ttnn-jit opt`` and ``ttmlir-opt``: runs passes on modules, in the order of the command line."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import ParseError, VerifyException

from ttnn_jit.compiler import driver
from ttnn_jit.compiler.inspection import print_stage
from ttnn_jit.compiler.texts.metal_pipeline import METAL_PIPELINES
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError, PassError, RefusalError, TtnnJitError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects import InvalidModule, parse_module, verify
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.ttnn_attributes import TTNNLayoutAttr
from ttnn_jit.dialects.upstream.context import dialect_names
from ttnn_jit.dialects.upstream.reading import pieces_of, read_upstream
from ttnn_jit.dialects.upstream.verifying import breaks_rule, verify_upstream
from ttnn_jit.process.compile_lock import alone
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.process.standard_output import write_output
from ttnn_jit.specs.options import USER_PASSES, Environment
from ttnn_jit.tools import markdown, opt_arguments
from ttnn_jit.tools.chosen_passes import ChosenPasses, chosen_passes, pass_options
from ttnn_jit.tools.expected_diagnostics import diagnostic_of_error, diagnostic_of_remark, unmet_expectations
from ttnn_jit.tools.pass_remarks import collected_remarks, remark_line
from ttnn_jit.tools.pass_reports import PassReports
from ttnn_jit.tools.stage_of_module import schedule
from ttnn_jit.transforms import pipeline
from ttnn_jit.transforms.texts.registry import described, text_pass_names


def run(arguments: Sequence[str], prog: str) -> int:
    """Parses the command line, in which every pass is an option, and runs it; the exit status."""
    for file in opt_arguments.loaded_files(arguments):
        load_passes(file)
    options = opt_arguments.parse(arguments, prog, pass_options())
    try:
        return main(options)
    except opt_arguments.UsageError as error:
        raise opt_arguments.UsageError(opt_arguments.shown_error(str(error), prog, arguments)) from error


def main(options: argparse.Namespace) -> int:
    """Reads, runs the passes, writes; nothing is written to a file if a pass fails."""
    if options.write:
        return markdown.renew(options.write, with_stages)
    if options.list:
        print("\n".join(_listed()))
        return 0
    if options.show_dialects:
        print(f"Available Dialects: {','.join(dialect_names())}")
        return 0
    start = perf_counter()
    passes = _passes_of(options)
    text, name = read_text(options.file)
    pieces = [*pieces_of(text)] if options.split_input_file else [(0, text)]
    reports = PassReports(counts=options.mlir_pass_statistics)
    results: list[str] = []
    problems: list[str] = []
    said_lines: list[str] = []
    for first_line, piece in pieces:
        with collected_remarks() as remarks:
            found, errors = _processed(piece, name, first_line, passes, options, reports)
        results += found
        if options.verify_diagnostics:
            only_expected = options.verify_diagnostics == opt_arguments.EXPECTED_DIAGNOSTICS
            said = [*map(diagnostic_of_remark, remarks), *map(diagnostic_of_error, errors)]
            unmet = unmet_expectations(piece, first_line, said, only_expected=only_expected)
            problems += [f"error: {name}: {each}" for each in unmet]
        else:
            said_lines += map(remark_line, remarks)
            problems += [_as_mlir_prints(error) for error in errors]
    _report(options, reports, perf_counter() - start)
    for line in (*said_lines, *problems):
        print(line, file=sys.stderr)
    if not options.verify_diagnostics or results:
        _write("// -----\n".join(results), options, complete=not problems)
    return 1 if problems else 0


def _passes_of(options: argparse.Namespace) -> ChosenPasses:
    """The passes of a command line.

    Raises:
        UsageError: A pass or an option of one is unknown, or has a wrong value.
        RefusalError: One is not run here.
    """
    try:
        return chosen_passes(options)
    except RefusalError:
        raise
    except ArgumentError as error:
        raise opt_arguments.UsageError(str(error)) from error


@alone
def _processed(
    text: str,
    name: str,
    first_line: int,
    passes: ChosenPasses,
    options: argparse.Namespace,
    reports: PassReports,
) -> tuple[list[str], list[TtnnJitError]]:
    """The resulting text of one module, and its errors; one of the two is empty."""
    try:
        given = "\n" * first_line + text
        if passes.own is None or (passes.texts is not None and not _is_own_text(given, name)):
            if options.emit and not any(isinstance(each, METAL_PIPELINES) for each in passes.texts or ()):
                raise ArgumentError(
                    f"`--emit` takes a dump of a stage here, and {name} is a text of another compiler",
                    help="`--ttir-to-ttmetal-pipeline --emit host` shows the kernels of a text of TTIR",
                )
            made = _after_text_passes(given, name, passes.texts or (), options, reports)
            return [_emitted(made, options) or _text(made, options)], []
        module = module_of(
            given,
            name,
            for_passes=bool(passes or options.emit),
            allow_unregistered=options.allow_unregistered_dialect,
            keep_bodies=options.keep_bodies,
        )
        reports.begin(module)
        for each in passes.own:
            _run_pass(each, module, options, reports)
        return [_emitted(module, options) or _text(module, options)], []
    except TtnnJitError as error:
        return [], [error, *(error.further if isinstance(error, InvalidModule) else ())]


def _as_mlir_prints(error: TtnnJitError) -> str:
    """``FILE:LINE:COLUMN: error: MESSAGE`` and the lines below, as mlir-opt prints it."""
    place = "" if error.location is None else f"{error.location}: "
    return f"{place}error: {str(error).removeprefix(place)}"


def _is_own_text(text: str, name: str) -> bool:
    """Whether a text is a module of this compiler: valid, with a layout in the type of each argument and result."""
    if "d2m." in text:
        return True  # its passes say what they take
    try:
        module = module_of_text(text, name)
    except CompileError:
        return False
    if any(breaks_rule(op) for op in module.walk()):
        return False
    types = [type_ for op in module.walk() if isinstance(op, FuncOp) for type_ in _types_of(op)]
    return all(isinstance(type_.encoding, TTNNLayoutAttr) for type_ in types if isinstance(type_, TensorType))


def _types_of(function: FuncOp) -> tuple[Attribute, ...]:
    return (*function.function_type.inputs, *function.function_type.outputs)


def _after_text_passes(
    text: str, name: str, passes: Sequence[ModulePass], options: argparse.Namespace, reports: PassReports
) -> ModuleOp:
    """The module of a text after passes over texts, verified.

    Raises:
        TtnnJitError: A pass refuses it; the error is the pass's own, as tt-mlir says it.
    """
    module = module_of(
        text,
        name,
        for_passes=False,
        allow_unregistered=options.allow_unregistered_dialect,
        keep_bodies=options.keep_bodies,
    )
    reports.begin(module)
    try:
        verifier: Callable[[ModuleOp], None] = verify_upstream
        for each in passes:
            verifier = verify if isinstance(each, METAL_PIPELINES) else verifier
            _run_pass(each, module, options, reports, verifier=verifier)
        if passes:
            verifier(module)
    except PassError as error:
        raise error.__cause__ if isinstance(error.__cause__, TtnnJitError) else error from None
    return module


def _run_pass(
    own: ModulePass,
    module: ModuleOp,
    options: argparse.Namespace,
    reports: PassReports,
    verifier: Callable[[ModuleOp], None] = verify,
) -> None:
    if options.mlir_print_ir_before_all or own.name in options.mlir_print_ir_before:
        print_stage(own.name, _text(module, options), sys.stderr, when="Before")

    def after(stage: str, result: ModuleOp) -> None:
        reports.after(stage, result)
        if options.print_ir_after_all or stage in options.mlir_print_ir_after:
            print_stage(stage, _text(result, options), sys.stderr)

    reproducers = Environment.read().reproducers
    pipeline.run_passes(
        module,
        [own],
        observer=after,
        verify_each=options.verify_each,
        reproducers=reproducers,
        verifier=verifier,
    )


def _text(module: ModuleOp, options: argparse.Namespace) -> str:
    return op_text(
        module,
        locations=options.print_debuginfo,
        local_scope=options.mlir_print_local_scope,
        generic=options.mlir_print_op_generic,
    )


def _report(options: argparse.Namespace, reports: PassReports, total: float) -> None:
    if options.mlir_timing:
        print(reports.timing(total), file=sys.stderr)
    if options.mlir_pass_statistics:
        print(reports.statistics(), file=sys.stderr)


def _write(text: str, options: argparse.Namespace, *, complete: bool) -> None:
    if not options.output:
        write_output(text)
    elif complete:
        write_complete(options.output, [text.encode()])


def with_stages(document: str) -> str:
    """`document` with the current stages, or the passes over texts, between its marks.

    Raises:
        ArgumentError: It has no marks.
    """
    if f"<!-- {_TEXT_PASSES}: begin -->" in document:
        return markdown.with_section(document, _TEXT_PASSES, markdown.table(("pass", "options", "what"), described()))
    return markdown.with_section(
        document, "stages", "\n".join(["```text", *driver.stages(), *driver.CHIP_STAGES, "```"])
    )


_TEXT_PASSES = "text passes"


def _emitted(module: ModuleOp, options: argparse.Namespace) -> str:
    """The text of the stage of ``--emit``, which is no pass, after the remaining passes; "" without ``--emit``."""
    stage: str | None = options.emit
    if stage is None:
        return ""
    schedule(module, entry=options.entry)
    return driver.text_of_scheduled(module, stage)


def _listed() -> Iterator[str]:
    """The passes over texts, then those of a compile in order, each followed by the user's passes after it."""
    yield from (f"{name}  (over texts)" for name in text_pass_names())
    for stage in driver.stages():
        if stage in pipeline.STAGES:
            yield stage
        yield from (
            f"{name}  (from a loaded file, after {follows})"
            for name, (_, follows) in USER_PASSES.items()
            if follows == stage
        )
    yield from (f"{each.name}  (not in a compile)" for each in pipeline.CHIP_PASSES)


def load_passes(file: Path) -> None:
    """Runs a Python file, without its ``__main__`` part, and finds its passes.

    The file may register them by `pipeline.register_pass`; another `ModulePass` that it defines is registered under
    its name, after the frontend.

    Raises:
        ArgumentError: There is no such file, it is no Python, or it defines a pass of a stage's name.
    """
    if not file.is_file():
        raise ArgumentError(f"{file} cannot be read: there is no such file")
    try:
        compile(file.read_bytes(), str(file), "exec")
    except (SyntaxError, ValueError) as error:  # of bytes that are no text it is a ValueError in some versions
        line = getattr(error, "lineno", None) or 1
        raise ArgumentError(f"{file}:{line}: it is no Python: {getattr(error, 'msg', error)}") from error
    for value in runpy.run_path(str(file), run_name=file.stem).values():
        is_pass = isinstance(value, type) and issubclass(value, ModulePass) and value is not ModulePass
        if is_pass and value.__module__ == file.stem and "name" in vars(value) and value.name not in USER_PASSES:
            pipeline.register_pass(value, after=pipeline.FRONTEND)


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
        raise ArgumentError(f"{file} {_NO_TEXT}", help=_TAKES_BINARIES) from error
    name = "<stdin>" if file == "-" else file
    at = text.find("\0")
    if at >= 0:
        place = Location(name, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))
        raise ArgumentError(f"a file with a zero byte {_NO_TEXT}", location=place, help=_TAKES_BINARIES)
    return text, name


_NO_TEXT = "is no text, and this command reads MLIR text"
_TAKES_BINARIES = "`ttnn-jit run` and `ttrt` take binaries; `ttrt read --section mlir FILE` prints the text inside one"


def module_of(
    text: str, name: str, *, for_passes: bool, allow_unregistered: bool = False, keep_bodies: bool = False
) -> ModuleOp:
    """The verified module of a text, of this compiler or of tt-mlir, StableHLO or Shardy.

    Args:
        text: The text.
        name: The file that errors name.
        for_passes: Whether passes of this compiler follow, so that a text of its own obeys their rules.
        allow_unregistered: Whether operations, attributes and types that are unknown are accepted.
        keep_bodies: Whether a body of an attribute that does not parse is kept, and reported on stderr.

    Raises:
        InvalidModule: The text is no module, or an invalid one.
    """
    refused: InvalidModule | None = None
    if for_passes or "d2m." in text:
        try:
            return module_of_text(text, name)
        except InvalidModule as error:
            refused = error
    try:
        reading = read_upstream(text, name, allow_unregistered=allow_unregistered, keep_bodies=keep_bodies)
        verify_upstream(reading.module)
    except InvalidModule as error:
        raise error if refused is None or _position(error) > _position(refused) else refused from None
    if reading.kept:
        kept = ", ".join(f"{each} ({count})" for each, count in Counter(reading.kept).items())
        print(f"note: {name}: kept as text, not parsed: {kept}", file=sys.stderr)
    return reading.module


def _position(error: InvalidModule) -> tuple[int, int]:
    return (error.location.line, error.location.column) if error.location is not None else (0, 0)
