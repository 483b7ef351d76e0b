"""One compile, in order: a function and its arguments' metadata in, or one eager operation, and a `Program` out.

1. *manifest*: on disk, by what the compile is told; the compiler is not loaded (stored_programs.py);
2. *frontend*: to a module of the TTNN dialect (request.py, frontend/);
3. *content*: in memory and on disk, by what the module says (stored_programs.py);
4. the *passes* to the scheduled module (transforms/pipeline.py);
5. *codegen*: a backend reads the scheduled module; the last pass makes the host program of it (backends.py, codegen/);
6. *assembly*: the images of the kernels (backend.py, codegen/assemble.py);
7. the program is kept, for the next compile's 1 and 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.cache import statistics
from ttnn_jit.compiler.request import Compilation, Request
from ttnn_jit.compiler.stored_programs import StoredPrograms, content_key, notes_of
from ttnn_jit.process.compile_lock import compiles
from ttnn_jit.runtime.native import host_cpu
from ttnn_jit.runtime.program import Program
from ttnn_jit.specs.options import CompileOptions, Environment
from ttnn_jit.specs.target_rules import check_target_rules

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from ttnn_jit.compiler.backend import Code

Observer = Callable[[str, str], None]
"""Called with a stage's name and the text that it left."""

Text = Callable[[], str]
"""Writes the text that a stage left; of a module, as long as the next has not begun."""

HOST, CODEGEN, ASSEMBLY = "host", "codegen", "assembly"


def stages() -> tuple[str, ...]:
    """Every stage of a compile that leaves a text, in order."""
    from ttnn_jit.transforms import pipeline

    return (pipeline.FRONTEND, *pipeline.STAGES, HOST, CODEGEN, ASSEMBLY)


@compiles
def compile_program(
    request: Request, *, use_disk: bool, observer: Observer | None = None, keep_texts: bool = False
) -> Compilation:
    """The program of a request, from memory or disk if it is there.

    Args:
        request: What to compile.
        use_disk: Look on disk, and store there what was compiled.
        observer: Sees the text of every stage; compiles anew and verifies after every pass.
        keep_texts: Compile anew; the program keeps the text of every stage.

    Raises:
        CompileError: The function is outside the language, or a stage refuses it.
        ArgumentError: A kernel would read what the target's rules refuse.
        GridError: A memory config asked for does not hold its result.
    """
    # What a pass of the user's own does, only this process knows, and that may change.
    anew = observer is not None or keep_texts or bool(request.options.extra_pipeline_options)
    stored = StoredPrograms.none(request) if anew else StoredPrograms.of(request, use_disk=use_disk)
    if (found := stored.find()) is not None:
        return found
    lowered = request.lower()
    for name, spec in lowered.kernel_operands:
        check_target_rules(name, spec, request.target)
    notes = notes_of(lowered)
    content = content_key(request, lowered, notes)
    known = stored.find_content(content, lowered.reads)
    program = known or _compiled(lowered.module, request.options, notes, observer, keep_texts=keep_texts)
    stored.keep(lowered, content, program, is_new=known is None)
    return Compilation(program, lowered.reads, lowered.output_structure, lowered.opaque, lowered.warnings)


def _compiled(
    module: ModuleOp,
    options: CompileOptions,
    notes: Mapping[str, Any],
    observer: Observer | None,
    *,
    keep_texts: bool,
) -> Program:
    """Stages 4 to 6."""
    from ttnn_jit.dialects.editing import discard

    texts: dict[str, str] = {}

    def seen(stage: str, text: Text) -> None:
        shown = text()
        if keep_texts:
            texts[stage] = shown
        if observer:
            observer(stage, shown)

    code, descriptors = run_stages(module, options, seen if keep_texts or observer else None)
    if keep_texts:
        texts[ASSEMBLY] = code.assembly()
    # A module is full of reference cycles: taken apart, it leaves the garbage collector nothing to do.
    # But a pass of the user's may have kept it.
    if not options.extra_pipeline_options:
        discard(module)
    objects = code.assemble()
    statistics.count_compile()
    return Program(code.plan, objects, descriptors=descriptors, texts=texts, notes=notes, built_for=host_cpu())


def run_stages(
    module: ModuleOp, options: CompileOptions, observer: Callable[[str, Text], None] | None
) -> tuple[Code, Sequence[Mapping[str, Any]]]:
    """The stages behind the frontend over `module`, in place: its code, and the descriptors of its launches.

    The backend reads the module where it is scheduled, the user's own passes included.
    """
    from ttnn_jit.codegen.descriptors import program_descriptors
    from ttnn_jit.codegen.host.host_text import host_text
    from ttnn_jit.compiler.backends import backend_for
    from ttnn_jit.dialects import print_module, verify
    from ttnn_jit.transforms import pipeline

    def seen(stage: str, after: ModuleOp) -> None:
        if observer:
            observer(stage, lambda: print_module(after))

    # A pass of the user's own may leave anything.
    checked = observer is not None or bool(options.extra_pipeline_options)

    def run(passes: Sequence[ModulePass]) -> None:
        reproducers = Environment.read().reproducers
        pipeline.run_passes(module, passes, observer=seen, verify_each=checked, reproducers=reproducers)

    if checked:
        verify(module)
    seen(pipeline.FRONTEND, module)
    to_schedule, behind = pipeline.passes_around_codegen(options)
    run(to_schedule)
    code = backend_for(options.backend).program(module)
    launches = host_text(code.host) if observer else ""  # of ops that the passes behind change
    run(behind)
    if observer:
        observer(HOST, lambda: launches)
        observer(CODEGEN, lambda: "\n".join(code.texts.values()))
    return code, program_descriptors(module, with_source=observer is not None)


def compile_scheduled(module: ModuleOp) -> Program:
    """The program of a module that ``d2m-insert-dst-register-access`` left, a hand-edited one perhaps.

    Raises:
        CompileError: The module holds what is no scheduled kernel.
    """
    from ttnn_jit.codegen.descriptors import program_descriptors
    from ttnn_jit.compiler.backends import backend_for
    from ttnn_jit.transforms import pipeline

    options = CompileOptions()
    code = backend_for(options.backend).program(module)
    launches = module.clone()
    pipeline.run(launches, options, start_after=pipeline.SCHEDULED)
    return Program(code.plan, code.assemble(), descriptors=program_descriptors(launches), built_for=host_cpu())
