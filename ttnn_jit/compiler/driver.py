"""The compile of a function and its arguments' metadata, or of one eager operation, to a `Program`.

1. *manifest*: a lookup on disk by the request, before the compiler is loaded (stored_programs.py);
2. *frontend*: to a module of the TTNN dialect (request.py, frontend/);
3. *content*: a lookup in memory and on disk by the module (stored_programs.py);
4. the *passes* to the scheduled module (transforms/pipeline.py);
5. *codegen*: a backend reads the scheduled module; the last pass makes the host program of it (backends.py, codegen/);
6. *assembly*: the images of the kernels (backend.py, codegen/images/assemble.py);
7. the program is stored for the lookups 1 and 3 of later compiles.

Programs for many sizes (templates.py) are looked up before and after step 1, and are compiled by steps 2 to 6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.compiler.l1_requirement import require_l1
from ttnn_jit.compiler.request import Compilation, Request
from ttnn_jit.compiler.stored_programs import StoredPrograms, content_key, notes_of
from ttnn_jit.diagnostics.debugging import debugging
from ttnn_jit.events.listeners import LISTENERS, measured
from ttnn_jit.events.run_events import CompileStage
from ttnn_jit.process.compile_lock import compiles
from ttnn_jit.process.memoized import KEYS
from ttnn_jit.runtime.native.native import host_cpu
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.options import CompileOptions, Environment
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.target_rules import check_target_rules
from ttnn_jit.transforms.stage_order import FRONTEND

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from ttnn_jit.compiler.backend import Code
    from ttnn_jit.frontend import FrontendResult

R = TypeVar("R")

StageObserver = Callable[[str, str], None]
"""Called with a stage's name and its resulting text."""

Text = Callable[[], str]
"""Makes the resulting text of a stage; valid until the next stage begins."""

HOST, CODEGEN, ASSEMBLY = "host", "codegen", "assembly"

CHIP_STAGES = ("ttkernel", "ttmetal")
"""Stages that no compile runs, in order: what the cores of a chip would run, after `pipeline.CHIP_PASSES` in turn."""


def stages() -> tuple[str, ...]:
    """Every stage of a compile that has a text, in order."""
    from ttnn_jit.transforms import pipeline

    return (FRONTEND, *pipeline.STAGES, HOST, CODEGEN, ASSEMBLY)


@compiles
def compile_program(
    request: Request, *, use_disk: bool, observer: StageObserver | None = None, keep_texts: bool = False
) -> Compilation:
    """The program of a request, from memory or disk if it is stored there.

    Args:
        request: What to compile.
        use_disk: Whether the program is looked up on disk, and stored there.
        observer: Called with the text of every stage; forces a compile, and verification after every pass.
        keep_texts: Forces a compile, whose program keeps the text of every stage.

    Raises:
        CompileError: The function is outside the language, or a stage refuses it.
        ArgumentError: A kernel would read a tensor that the target's rules refuse.
        GridError: A requested memory config does not hold its result.
    """
    anew = observer is not None or keep_texts
    stored = StoredPrograms.none(request) if anew else StoredPrograms.of(request, use_disk=use_disk)
    return stored.find() or compile_anew(request, stored, observer, keep_texts=keep_texts)


@compiles
def compile_anew(
    request: Request, stored: StoredPrograms, observer: StageObserver | None = None, *, keep_texts: bool = False
) -> Compilation:
    """The program of a request that is not `stored` by its key.

    Raises:
        CompileError, ArgumentError, GridError: As `compile_program`.
    """
    # The frontends import these too, but so deep in the stack that calls cross the end of a chunk of CPython's data
    # stack, which is then mapped and freed at every such call.
    import ttnn_jit.dialects  # noqa: F401

    lowered = _stage(FRONTEND, request.name, request.lower)
    check_kernel_operands(lowered, request.target)
    notes = notes_of(request, lowered)
    content = content_key(request, lowered, notes)
    known = stored.find_content(content, lowered.reads)
    program = known
    if program is None:
        with stored.numba_disk_cache():
            program = _compiled(lowered.module, request.options, notes, observer, keep_texts=keep_texts)
    stored.keep(lowered, content, program, is_new=known is None)
    return Compilation(program, lowered.reads, lowered.output_structure, lowered.opaque, lowered.warnings)


@compiles
def compile_module(module: ModuleOp, options: CompileOptions) -> Program:
    """The program of a module of a frontend, which is no longer needed; it is neither looked up nor stored.

    Raises:
        CompileError: A stage refuses it.
    """
    return _compiled(module, options, {}, None, keep_texts=False)


def _stage(name: str, program: str, run: Callable[[], R]) -> R:
    """``run()``, a stage of the compile of this program."""
    return measured(CompileStage, run, name=name, program=program) if LISTENERS else run()


def check_kernel_operands(lowered: FrontendResult, target: SystemDesc) -> None:
    """Checks the arguments that kernels read.

    Raises:
        ArgumentError: The target's rules refuse one.
    """
    for name, spec in lowered.kernel_operands:
        check_target_rules(name, spec, target)


def _compiled(
    module: ModuleOp,
    options: CompileOptions,
    notes: Mapping[str, Any],
    observer: StageObserver | None,
    *,
    keep_texts: bool,
) -> Program:
    """Stages 4 to 6. LLVM assembles the images in several threads while the passes after codegen run."""
    from ttnn_jit.dialects.writing.editing import discard_module

    texts: dict[str, str] = {}

    def seen(stage: str, text: Text) -> None:
        shown = text()
        if keep_texts:
            texts[stage] = shown
        if observer:
            observer(stage, shown)

    watching = seen if keep_texts or observer else None
    code = scheduled_code(module, options, watching)
    with code.assembled() as images:
        descriptors = launch_descriptors(module, code, options, watching)
        require_l1(code.plan, descriptors, module)
        if keep_texts:
            texts[ASSEMBLY] = code.assembly()
        # A module has many reference cycles, which this breaks, so that the garbage collector has less to do.
        # A user's pass may still refer to the module.
        if not options.extra_pipeline_options:
            discard_module(module)
        objects = _stage(ASSEMBLY, code.plan.name, images)
    COUNTERS.compiles += 1
    return Program(code.plan, objects, descriptors=descriptors, texts=texts, notes=notes, built_for=host_cpu())


def run_stages(
    module: ModuleOp, options: CompileOptions, observer: Callable[[str, Text], None] | None
) -> tuple[Code, Sequence[Mapping[str, Any]]]:
    """Runs the stages after the frontend on `module`, in place; its code, and the descriptors of its launches."""
    code = scheduled_code(module, options, observer)
    return code, launch_descriptors(module, code, options, observer)


def scheduled_code(module: ModuleOp, options: CompileOptions, observer: Callable[[str, Text], None] | None) -> Code:
    """Runs the passes up to the scheduled module, the user's own included; the backend's code of it."""
    from ttnn_jit.compiler.backends import backend_for
    from ttnn_jit.dialects import verify
    from ttnn_jit.transforms import pipeline

    if _is_checked(options, observer):
        verify(module)
    if observer:
        _show(observer, FRONTEND, module)
    # The text of a stage contains every kernel, and so does a reproducer.
    shared = not _is_checked(options, observer) and _reproducers() is None
    _run_passes(module, pipeline.passes_around_codegen(options, shared=shared)[0], options, observer)
    return _stage(CODEGEN, pipeline.program_name(module), lambda: backend_for(options.backend).program(module))


def launch_descriptors(
    module: ModuleOp, code: Code, options: CompileOptions, observer: Callable[[str, Text], None] | None = None
) -> Sequence[Mapping[str, Any]]:
    """Runs the passes after codegen, which make the host program of the module; the descriptors of its launches."""
    from ttnn_jit.codegen.host.host_text import host_text
    from ttnn_jit.codegen.reading.descriptors import program_descriptors
    from ttnn_jit.transforms import pipeline

    launches = host_text(code.host) if observer else ""  # before the passes change the ops
    _run_passes(module, pipeline.passes_around_codegen(options)[1], options, observer)
    if observer:
        observer(HOST, lambda: launches)
        observer(CODEGEN, lambda: "\n".join(code.texts.values()))
    return program_descriptors(module, with_source=observer is not None)


def _run_passes(
    module: ModuleOp,
    passes: Sequence[ModulePass],
    options: CompileOptions,
    observer: Callable[[str, Text], None] | None,
) -> None:
    from ttnn_jit.transforms import pipeline

    pipeline.run_passes(
        module,
        passes,
        observer=partial(_show, observer) if observer else None,
        verify_each=_is_checked(options, observer),
        reproducers=_reproducers(),
    )


def _reproducers() -> Path | None:
    """The folder for the text before a failing pass; None in a trace, since its numbers have no text."""
    return Environment.read().reproducers if debugging() and KEYS.memos is None else None


def _is_checked(options: CompileOptions, observer: object) -> bool:
    """Whether the module is verified after every pass: user's passes are not trusted."""
    return observer is not None or bool(options.extra_pipeline_options)


def _show(observer: Callable[[str, Text], None], stage: str, after: ModuleOp) -> None:
    from ttnn_jit.dialects import print_module

    observer(stage, lambda: print_module(after))


def text_of_scheduled(module: ModuleOp, stage: str) -> str:
    """The text of a stage behind the passes, for a module after ``d2m-insert-dst-register-access``.

    Args:
        module: The module, which `CHIP_STAGES` change.
        stage: `HOST`, `CODEGEN` or `ASSEMBLY`, or one of `CHIP_STAGES`.

    Raises:
        CompileError: The module contains anything but scheduled kernels.
        PassError: A kernel cannot be written for the cores of a chip.
    """
    if stage in CHIP_STAGES:
        return _text_for_chips(module, stage)
    from ttnn_jit.codegen.host.host_text import host_text
    from ttnn_jit.compiler.backends import backend_for

    code = backend_for(CompileOptions().backend).program(module)
    if stage == HOST:
        return host_text(code.host)
    return code.assembly() if stage == ASSEMBLY else "\n".join(code.texts.values())


def _text_for_chips(module: ModuleOp, stage: str) -> str:
    from ttnn_jit.dialects import print_module
    from ttnn_jit.transforms import pipeline

    pipeline.run_passes(module, pipeline.CHIP_PASSES[: CHIP_STAGES.index(stage) + 1])
    return print_module(module)


def compile_scheduled(module: ModuleOp) -> Program:
    """The program of a module after ``d2m-insert-dst-register-access``, a hand-edited one perhaps.

    Raises:
        CompileError: The module contains anything but scheduled kernels.
    """
    from ttnn_jit.codegen.reading.descriptors import program_descriptors
    from ttnn_jit.compiler.backends import backend_for
    from ttnn_jit.transforms import pipeline

    options = CompileOptions()
    code = backend_for(options.backend).program(module)
    launches = module.clone()
    pipeline.run(launches, options, start_after=pipeline.SCHEDULED)
    return Program(code.plan, code.assemble(), descriptors=program_descriptors(launches), built_for=host_cpu())
