"""Runs a text of another compiler, and compares its ops with their goldens."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttnn_jit.compiler.texts.text_programs import TextModule, TextProgram
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.meshes import mesh_devices_of
from ttnn_jit.dialects.text_calls.meshes_of_texts import mesh_of_text
from ttnn_jit.dialects.text_calls.tensor_types import has_complex_numbers, is_tensor
from ttnn_jit.dialects.text_calls.text_attributes import name_of, value_of
from ttnn_jit.dialects.ttcore import SYSTEM_DESC
from ttnn_jit.dialects.upstream.reading import OF_VHLO, VHLO_HELP
from ttnn_jit.frontend.ir.texts import entries_of, parse_texts
from ttnn_jit.golden.comparison_checks import ChecksConfig
from ttnn_jit.golden.comparison_recorder import Recorder
from ttnn_jit.golden.comparison_records import Status
from ttnn_jit.golden.record_report import written
from ttnn_jit.sessions.text_runs import ComparedOp, GoldenRun
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS, SystemDesc, resolve_target
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.tools.module_interpreting import interpreted
from ttnn_jit.tools.option_values import bounded_mesh, mesh_extents
from ttnn_jit.tools.texts.inputs import draw_inputs, inputs_of_file, names_of_arguments, require_memory
from ttnn_jit.tools.texts.recognition import target_of_dump
from ttnn_jit.transforms import pipeline
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary

if TYPE_CHECKING:
    import torch


def results_of_text(options: argparse.Namespace, text: str, name: str) -> list[torch.Tensor]:
    """The results of every entry point of a text, or of the one that ``--entry`` names.

    Raises:
        CompileError: An op is not executed here, or a result is not that of its golden.
    """
    return _results(options, chosen_entries(options, text, name))


def results_of_binary(options: argparse.Namespace) -> list[torch.Tensor]:
    """The results of a binary of ttnn: of its tables of operations, or with ``--from-text`` of the text inside it.

    Raises:
        ProgramFormatError: The file is no such binary.
        CompileError: An op is not executed here, or a result is not that of its golden.
    """
    try:
        binary = Binary.load(options.file, ignore_version=options.ignore_version)
    except OSError as error:
        raise ArgumentError(f"{options.file} cannot be read: {error.strerror}") from error
    module = binary.of_text().module if options.from_text else binary.module
    described = str(binary.module.attributes.get(SYSTEM_DESC))
    return _results(options, _entries(options, [module], described, options.file))


def _interpreted(program: TextProgram, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The results of a program in the tile interpreter."""
    module = program.lowered.module.clone()
    pipeline.run(module, CompileOptions(), until=pipeline.SCHEDULED)
    return interpreted(module, program.inputs(inputs), mesh_devices_of(module))


def _results(options: argparse.Namespace, entries: Iterable[tuple[TextModule, str]]) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for module, entry in entries:
        inputs = inputs_of(options, module, entry)
        program = module.program(entry)
        results = _interpreted(program, inputs) if options.interpret else program(*inputs)
        _note_results(entry, results)
        found += _with_complex_numbers(module.functions[entry], results)
        if options.golden:
            _print_comparison(module, entry, inputs, options.report, results)
    return found


def _with_complex_numbers(function: FuncOp, results: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The results of a function, of which a program gives complex numbers as pairs of floats."""
    import torch

    kinds = [each for each in function.function_type.outputs if is_tensor(each)]
    return [
        torch.view_as_complex(each) if has_complex_numbers(kind) else each
        for kind, each in zip(kinds, results, strict=True)
    ]


def chosen_entries(
    options: argparse.Namespace, text: str, name: str, prepare: Callable[[ModuleOp], None] = lambda _: None
) -> list[tuple[TextModule, str]]:
    """Every entry point of a text with its module, or the one that ``--entry`` names.

    Args:
        options: The command line.
        text: The text.
        name: The file that errors name.
        prepare: Changes each module first.

    Raises:
        CompileError: There is no entry point.
    """
    own = None if options.target else target_of_dump(text, name)
    return _entries(options, _prepared(parse_texts(text, name), prepare), text, name, own)


def _prepared(modules: Iterable[ModuleOp], prepare: Callable[[ModuleOp], None]) -> Iterator[ModuleOp]:
    for module in modules:
        _refuse_portable(module)
        prepare(module)
        yield module


def _entries(
    options: argparse.Namespace, modules: Iterable[ModuleOp], text: str, name: str, own: SystemDesc | None = None
) -> list[tuple[TextModule, str]]:
    """Entry points with their modules; `own` is the target of a dump of this compiler."""
    found = []
    for module in modules:
        made = TextModule(module, own or target_of(options.target, module, text), mesh_of(options.mesh, module))
        found += [(made, each) for each in entries_of(module) if options.entry in {None, each}]
    if not found:
        wanted = "no entry point" if options.entry is None else f"no entry point @{options.entry}"
        raise CompileError(
            f"the text has {wanted}",
            location=Location(name, 1, 1),
            help="a function that has a body and is not private is one",
        )
    return found


def _refuse_portable(module: ModuleOp) -> None:
    """Refuses a text of the portable form of StableHLO."""
    for op in module.walk():
        if name_of(op).startswith("vhlo."):
            raise CompileError(
                OF_VHLO.format(name_of(op)),
                location=location_of(op),
                help=VHLO_HELP,
            )


_ARCHITECTURE = re.compile(r"\barch = <(\w+)>")


def target_of(chosen: str | None, module: ModuleOp, text: str) -> SystemDesc:
    """The target of a module: the chosen one, that of the text's system description, or ``cpu``.

    Raises:
        ArgumentError: There is no such target.
    """
    if chosen is not None:
        return resolve_target(chosen)
    if not any(name_of(op).startswith("ttnn.") for op in module.walk()):
        return PRESETS["cpu"]
    named = _ARCHITECTURE.search(text)
    return resolve_target(named[1]) if named else PRESETS["cpu"]


def mesh_of(chosen: str | None, module: ModuleOp) -> tuple[int, ...]:
    """The extents of the mesh of a module: the chosen ones, the module's, or those into which its ops cut tensors.

    Raises:
        ArgumentError: The chosen ones are no extents.
    """
    if chosen is not None:
        return mesh_extents(chosen)
    declared = module.attributes.get("ttcore.meshes")
    if declared is not None:
        (meshes,) = value_of(declared).values()
        return bounded_mesh(tuple(meshes[0]["shape"]))
    return bounded_mesh(mesh_of_text(module))


def inputs_of(options: argparse.Namespace, module: TextModule, entry: str) -> list[torch.Tensor]:
    """The inputs of an entry point: those of a file, or drawn ones.

    Raises:
        ArgumentError: The file does not hold such tensors.
    """
    specs: Sequence[TensorSpec] = module.program(entry).arguments
    require_memory(specs, location_of(module.functions[entry]))
    if options.inputs:
        return inputs_of_file(options.inputs, specs, names_of_arguments(module.functions[entry]))
    return draw_inputs(module.functions[entry], specs, options.seed)


def _print_comparison(
    module: TextModule,
    entry: str,
    inputs: Sequence[torch.Tensor],
    report: Path | None,
    results: Sequence[torch.Tensor],
) -> None:
    if report is None:
        compared = [*GoldenRun(module, entry, inputs).compared()]
    else:
        with written(report) as write:
            recorder = Recorder(ChecksConfig, lambda found: write(found.record))
            run = GoldenRun(module, entry, inputs, recorder)
            compared = [*run.compared()]
            run.compare_whole([(each,) for each in results])
    for each in compared:
        print(_line(each), file=sys.stderr)
    _note_nans(compared)
    wrong = [each for each in compared if not each.matches]
    if wrong:
        first = wrong[0]
        reason = first.failures[0]
        raise CompileError(
            f"{len(wrong)} of {len(compared)} ops are not their goldens, the first `{name_of(first.op)}`: {reason}",
            location=location_of(first.op),
            help="`ttnn-jit bisect` writes it as a module of one op",
        )


MOSTLY = 0.5
"""Of a result with a larger share of NaN, or of NaN and infinities, it is said that its agreement proves little."""


def _note_results(entry: str, results: Sequence[torch.Tensor]) -> None:
    """Says which results of a function are mostly no numbers."""
    for index, each in enumerate(results):
        share = 1.0 - int(each.isfinite().sum()) / each.numel() if each.numel() else 0.0
        if share > MOSTLY:
            print(f"note: {share:.0%} of result {index} of @{entry} is NaN or infinite", file=sys.stderr)


def _note_nans(compared: Sequence[ComparedOp]) -> None:
    """Says how many ops gave mostly NaN: that a golden has NaN there too says little of the op."""
    mostly = [each for each in compared if each.nans > MOSTLY]
    if mostly:
        first = mostly[0].op
        print(
            f"note: {len(mostly)} of {len(compared)} ops give mostly NaN, the first `{name_of(first)}` at "
            f"{location_of(first) or '-'}; other --inputs tell more of them",
            file=sys.stderr,
        )


def _line(compared: ComparedOp) -> str:
    """A line of the table: the verdict, ulp, torch.allclose, places of NaN, the place of the op, its name."""
    location = location_of(compared.op)
    place = f"{location.line}:{location.column}" if location else "-"
    if all(each.status is Status.SKIPPED for each in compared.records):
        return f"drawn   {'-':>9}  {'-':>8}  {'-':>4}  {place:>8}  {name_of(compared.op)}"
    worst = max(compared.records, key=lambda each: (each.matches is not True, each.max_ulp or 0.0))
    verdict = "ok" if compared.matches else "WRONG"
    close = "-" if worst.allclose is None else "close" if worst.allclose else "apart"
    figures = f"{worst.max_ulp or 0.0:>9.4g}  {close:>8}  {worst.differing_nans:>4}"
    return f"{verdict:<7} {figures}  {place:>8}  {name_of(compared.op)}"


def require_file(path: str) -> None:
    """Refuses standard input where two files are read."""
    if path == "-":
        raise ArgumentError("two texts are read from files, not from standard input")
