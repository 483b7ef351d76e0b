"""Inspection of a compile: stage texts, the report of fusion, reasons of cache misses, dumps."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ttnn_jit.cache.key import Key
from ttnn_jit.cache.manifest import Manifest, Reads
from ttnn_jit.compiler import driver
from ttnn_jit.compiler.request import FunctionRequest, Request
from ttnn_jit.compiler.stored_programs import StoredPrograms, current_fingerprint, manifest_on_disk, request_key
from ttnn_jit.compiler.stored_templates import read_template
from ttnn_jit.diagnostics.errors import ArgumentError, TtnnJitError
from ttnn_jit.guards.path_json import path_from_json
from ttnn_jit.guards.reads import path_text
from ttnn_jit.process.dataclass import replace
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.runtime.programs.run_log import run_lines
from ttnn_jit.specs.meshes.machine import MachineLike, resolve_machine
from ttnn_jit.specs.options import DUMP_FOLDER, CompileOptions, Environment

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ttnn_jit.compiler.report import Report


def print_stage(stage: str, text: str, file: TextIO | None = None, *, when: str = "After") -> None:
    """Prints a stage's text after a banner, as mlir-opt's ``--mlir-print-ir-after-all`` does, and flushes.

    Args:
        stage: Its name.
        text: Its resulting text.
        file: The output; None is standard output.
        when: "After" or "Before" it.
    """
    banner = f"// -----// IR Dump {when} {stage} //----- //"
    print(f"{banner}\n{text}", file=file, flush=True)


def printing_runs(program: Program, run: Callable[..., Any], file: TextIO | None = None) -> Callable[..., Any]:
    """`run`, which runs `program`, preceded by a printed comment for each launch."""

    def printing(*tensors: Any) -> Any:
        for line in run_lines(program.plan):
            print(f"// run {line}", file=file, flush=True)
        return run(*tensors)

    return printing


def stage_text(request: Request, stage: str) -> str:
    """The text after `stage` of a fresh compile of a request; later stages do not run.

    Raises:
        ArgumentError: No stage has that name.
    """
    names = (*driver.stages(), *driver.CHIP_STAGES)
    if stage not in names:
        near = difflib.get_close_matches(stage, names, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        raise ArgumentError(f"no stage is named {stage!r}", help=f"{meant}the stages are {', '.join(names)}")
    if stage in driver.CHIP_STAGES:
        return _chip_text(request, stage)
    module = request.lower().module
    if stage in names[: names.index(driver.HOST)]:
        return _module_text(module, request.options, stage)
    texts: dict[str, driver.Text] = {}
    code, _ = driver.run_stages(module, request.options, texts.__setitem__)
    return code.assembly() if stage == driver.ASSEMBLY else texts[stage]()


def _chip_text(request: Request, stage: str) -> str:
    """The text of one of `driver.CHIP_STAGES` of a request; tensors that have no layout are in tiles."""
    from ttnn_jit.transforms import pipeline

    in_tiles = request.in_tiles() if isinstance(request, FunctionRequest) else request
    module = in_tiles.lower().module
    pipeline.run(module, request.options, until=pipeline.SCHEDULED)
    return driver.text_of_scheduled(module, stage)


def print_chip_stages(request: Request, file: TextIO | None = None) -> None:
    """Prints the texts of `driver.CHIP_STAGES`, as `print_stage` does; or a comment that says why there are none."""
    for stage in driver.CHIP_STAGES:
        try:
            text = _chip_text(request, stage)
        except TtnnJitError as error:
            print_stage(stage, f"// no kernels for the cores of a chip: {error.message}", file)
            return
        print_stage(stage, text, file)


def _module_text(module: ModuleOp, options: CompileOptions, stage: str) -> str:
    """The text after `stage` of `module`, the result of the frontend."""
    from ttnn_jit.dialects import print_module, verify
    from ttnn_jit.transforms import pipeline

    texts: list[str] = []

    def observer(name: str, after: ModuleOp) -> None:
        if name == stage:  # before the user's passes that follow it
            texts.append(print_module(after))

    verify(module)
    observer(pipeline.FRONTEND, module)
    reproducers = Environment.read().reproducers
    pipeline.run(module, options, until=stage, observer=observer, verify_each=True, reproducers=reproducers)
    return texts[0]


def explain(request: Request, machine: MachineLike | None = None) -> Report:
    """The report of fusion and scheduling of a request's compile.

    Args:
        request: What is compiled.
        machine: The machine of chips on whose links collectives are planned.

    Raises:
        ArgumentError: There is no such machine, or the mesh of the program does not fit it.
    """
    from ttnn_jit.compiler.backends import backend_for
    from ttnn_jit.compiler.link_costs import link_costs
    from ttnn_jit.compiler.report import report_of
    from ttnn_jit.transforms import pipeline

    planned = None if machine is None else resolve_machine(machine)
    module = request.lower().module
    pipeline.run(module, request.options, until=pipeline.SCHEDULED)
    report = report_of(module, backend_for(request.options.backend).program(module).host)
    return report if planned is None else replace(report, links=link_costs(module, planned))


def explain_miss(request: Request) -> str:
    """The parts of the key, or else the reads, in which a request differs from the nearest on disk, one per line."""
    stored = manifest_on_disk()
    if stored is None:
        return "the disk cache is turned off"
    key = request_key(request)
    if key is None:
        return "an argument has no identity that another process could recognise: such programs are not kept on disk"
    if stored.lookup(key, lambda path: current_fingerprint(request, path, {})) is not None:
        return "nothing differs: this call is a hit"
    if read_template(request, StoredPrograms.of(request, use_disk=True)) is not None:
        return "nothing differs but sizes: a template on disk serves this call"
    return _differences(stored, key, request)


def _differences(stored: Manifest, key: Key, request: Request) -> str:
    """What differs between a request and the nearest on disk."""
    if stored.is_empty():
        return "the disk cache is empty"
    differences = stored.nearest(key)
    if differences is None:
        return f"the disk cache has no program of {request.name}"
    told = map(str, differences) if differences else _changed_reads(stored.reads_of(key), request)
    return "\n".join(told) or "nothing differs, but the program is no longer on disk"


def _changed_reads(compiles: Sequence[Reads], request: Request) -> Iterator[str]:
    """The reads of the latest of `compiles` whose values have changed."""
    for path, then in (read for reads in compiles[:1] for read in reads):
        now = current_fingerprint(request, path, {}) or "gone, or without a stable identity"
        if now != then:
            yield f"read {path_text(path_from_json(path))}: {then} -> {now}"


def write_dump(program: Program, name: str, backend: str) -> Path:
    """Writes a program, its stage texts and its object code to the folder ``generated/jit/<name>_<hash>/``."""
    from ttnn_jit.compiler.backends import backend_for

    folder = DUMP_FOLDER / f"{name}_{program.hash[:8]}"
    folder.mkdir(parents=True, exist_ok=True)
    suffixes = {driver.CODEGEN: f".{backend_for(backend).suffix}", driver.ASSEMBLY: ".s"}
    for number, (stage, text) in enumerate(program.texts.items()):
        (folder / f"{number:02}_{stage}{suffixes.get(stage, '.mlir')}").write_text(text, encoding="utf-8")
    for kernel, code in program.objects.items():
        (folder / f"{kernel}.o").write_bytes(code)
    program.save(folder / f"{name}.ttjp")
    return folder
