"""A call whose program is not in memory: the request to the compiler, and the `Variant` from its result."""

from __future__ import annotations

import types
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.calls.settings import Settings
from ttnn_jit.calls.variants import Variant
from ttnn_jit.dispatch.arguments import Arguments
from ttnn_jit.dispatch.placement import Placement
from ttnn_jit.dispatch.reads_without_tensors import without_tensors
from ttnn_jit.dispatch.results import rebuilder, runner_for
from ttnn_jit.foreign.values import is_a
from ttnn_jit.guards.bound_objects import reads_of_original
from ttnn_jit.guards.reads import compile_fetch, guard_text, reads_of_itself
from ttnn_jit.guards.tensor_mark import TensorMark
from ttnn_jit.runtime.libraries import TTNN, WarmCall
from ttnn_jit.specs.target_rules import check_config_rules, check_max_grid
from ttnn_jit.ttnn.calling.foreign_operands import accepting_foreign_operands

if TYPE_CHECKING:
    from ttnn_jit.compiler.request import Compilation, FunctionRequest
    from ttnn_jit.compiler.templates import Templates


def request_of(
    function: types.FunctionType,
    settings: Settings,
    arguments: Arguments,
    where: Placement,
    aliases: tuple[int, ...] = (),
) -> FunctionRequest:
    """The compile request of a call with these arguments; `aliases` groups the arguments that share memory."""
    from ttnn_jit.compiler.request import FunctionRequest

    with_specs, tensors = arguments.with_specs(), arguments.tensors
    return FunctionRequest(function, with_specs, where.target, settings.options, where.library, aliases, tensors)


def check_options(settings: Settings, where: Placement) -> None:
    """Refuse options that the target does not support.

    Raises:
        GridError, LayoutError: See `ttnn_jit.specs.target_rules`.
    """
    options = settings.options
    check_max_grid(options.max_grid, where.target)
    if options.memory_config is not None and where.library is TTNN:
        check_config_rules("memory_config of the decorator", options.memory_config, where.target)


def compile_variant(
    request: FunctionRequest, settings: Settings, where: Placement, templates: Templates, key: Hashable
) -> Variant:
    """The variant of a request: by a template, from disk, or compiled.

    Raises:
        CompileError: The function is not in the supported language.
    """
    function, compilation = request.function, _compile(request, settings, templates, key)
    program, structure = compilation.program, compilation.structure
    rebuild = rebuilder(structure)
    run = runner_for(where.library, program, rebuild)
    if settings.debug:
        from ttnn_jit.compiler.inspection import printing_runs

        run = printing_runs(program, run)
    hidden = tuple(read for read in compilation.reads if is_a(read.value, TensorMark))
    names = tuple(map(str, hidden))
    if compilation.opaque is not None:
        found = [read for read in compilation.reads if read.is_in_key or is_a(read.value, TensorMark)]
        fetch, opaque = compile_fetch(function, found), compilation.opaque
        return Variant(fetch, program, run, lambda _: None, names, opaque, compilation.warnings)
    reads = without_tensors([*reads_of_itself(function), *reads_of_original(function), *compilation.reads])

    def warm(examples: Sequence[Any]) -> WarmCall | None:
        if not program.plan.has_warm_calls:
            return None
        from ttnn_jit.runtime.programs.warm_caller import warm_caller

        guard, library, target = guard_text(function, reads), where.library, where.target
        return warm_caller(
            program, library, guard=guard, hidden=examples, rebuild=rebuild, counters=COUNTERS, target=target
        )

    return Variant(compile_fetch(function, reads), program, run, warm, names, warnings=compilation.warnings)


def _compile(request: FunctionRequest, settings: Settings, templates: Templates, key: Hashable) -> Compilation:
    from ttnn_jit.compiler import driver, inspection

    with accepting_foreign_operands(None):
        if not (settings.debug or settings.compile_only):
            found = templates.find(key, request) or templates.compile(key, request)
            if found is not None:
                return found
        compilation = driver.compile_program(
            request,
            use_disk=settings.enable_cache and not (settings.debug or settings.compile_only),
            observer=inspection.print_stage if settings.debug else None,
            keep_texts=settings.compile_only,
        )
    if settings.compile_only:
        inspection.write_dump(compilation.program, request.function.__name__, request.options.backend)
    return compilation
