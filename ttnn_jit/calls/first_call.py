"""A call whose program is not in memory: the request to the compiler, and the `Variant` from its result."""

from __future__ import annotations

import types
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.calls.settings import Settings
from ttnn_jit.calls.variants import Variant
from ttnn_jit.dispatch.arguments import Arguments
from ttnn_jit.dispatch.lru_programs import Key
from ttnn_jit.dispatch.placement import Placement
from ttnn_jit.dispatch.reads_without_tensors import without_tensors
from ttnn_jit.dispatch.results import rebuilder, runner_for
from ttnn_jit.foreign.values import is_a
from ttnn_jit.guards.bound_objects import reads_of_original
from ttnn_jit.guards.reads import Fetch, GuardText, Read, compile_fetch, guard_text, reads_of_itself
from ttnn_jit.guards.tensor_mark import TensorMark
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.libraries import MESH, TTNN, WarmCall
from ttnn_jit.specs.target_rules import check_config_rules, check_max_grid
from ttnn_jit.ttnn.calling.foreign_operands import accepting_foreign_operands

if TYPE_CHECKING:
    from ttnn_jit.compiler.found import Found
    from ttnn_jit.compiler.request import Compilation, FunctionRequest
    from ttnn_jit.compiler.templates_on_demand import TemplatesOnDemand
    from ttnn_jit.runtime.programs.warm_caller import Rebuild


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
    placements = () if where.devices is None else tuple(map(MESH.placement_of, tensors))
    return FunctionRequest(
        function,
        with_specs,
        where.target,
        settings.options,
        where.library,
        aliases,
        tensors,
        devices=where.devices,
        placements=placements,
    )


def check_options(settings: Settings, where: Placement) -> None:
    """Refuse options that the target does not support.

    Raises:
        GridError, LayoutError: See `ttnn_jit.specs.target_rules`.
    """
    options = settings.options
    check_max_grid(options.max_grid, where.target)
    if options.memory_config is not None and where.library in {MESH, TTNN}:
        check_config_rules("memory_config of the decorator", options.memory_config, where.target)


@dataclass(frozen=True)
class ReadGuard:
    """The guard of a compile's reads, which all programs of a template share.

    Attributes:
        function: The function.
        reads: The reads, with those of the function itself.
        fetch: See `Variant`.
        rebuild: Makes the return value of the function of a program's results; None for one result.
        hidden: The names of the hidden inputs.
    """

    function: types.FunctionType
    reads: Sequence[Read]
    fetch: Fetch
    rebuild: Rebuild | None
    hidden: tuple[str, ...]

    @cached_property
    def text(self) -> GuardText:
        """The conditions that warm calls check."""
        return guard_text(self.function, self.reads)


def read_guard(function: types.FunctionType, compilation: Compilation) -> ReadGuard:
    """The guard of a compilation of `function`."""
    if compilation.opaque is not None:
        reads = [read for read in compilation.reads if read.is_in_key or is_a(read.value, TensorMark)]
    else:
        every = [*reads_of_itself(function), *reads_of_original(function), *compilation.reads]
        reads = [*without_tensors(every)]
    names = tuple(str(read) for read in compilation.reads if is_a(read.value, TensorMark))
    return ReadGuard(function, reads, compile_fetch(function, reads), rebuilder(compilation.structure), names)


def compile_variant(
    request: FunctionRequest, settings: Settings, where: Placement, templates: TemplatesOnDemand, key: Key
) -> tuple[Variant, Sequence[Any] | None]:
    """The variant of a request, by a template, from disk, or compiled; and `Found.hidden`.

    Raises:
        CompileError: The function is not in the supported language.
    """
    found = _compile(request, settings, templates, key)
    compilation, program, guard = found.compilation, found.compilation.program, found.guard
    run = runner_for(where.library, program, guard.rebuild)
    if settings.debug:
        from ttnn_jit.compiler.inspection import printing_runs

        run = printing_runs(program, run)
    if compilation.opaque is not None:
        opaque, warnings = compilation.opaque, compilation.warnings
        return Variant(guard.fetch, program, run, lambda _: None, guard.hidden, opaque, warnings), found.hidden

    placements = request.placements  # `warm` keeps no request, which holds the tensors of the call

    def warm(examples: Sequence[Any]) -> WarmCall | None:
        if not program.plan.has_warm_calls:
            return None
        from ttnn_jit.runtime.programs.warm_caller import warm_caller

        library, target = where.library.of_call(program, placements), where.target
        return warm_caller(
            program, library, guard=guard.text, hidden=examples, rebuild=guard.rebuild, counters=COUNTERS, target=target
        )

    variant = Variant(
        guard.fetch,
        program,
        run,
        warm,
        guard.hidden,
        warnings=compilation.warnings,
        by_template=compilation.by_template,
    )
    return variant, found.hidden


def _compile(request: FunctionRequest, settings: Settings, templates: TemplatesOnDemand, key: Key) -> Found:
    with accepting_foreign_operands(None):
        if not (settings.debug or settings.compile_only):
            fetch = partial(fetch_hidden, request)
            return templates.compilation(key, request, fetch, use_disk=settings.enable_cache)
        from ttnn_jit.compiler import driver, inspection
        from ttnn_jit.compiler.found import Found

        compilation = driver.compile_program(
            request,
            use_disk=False,
            observer=inspection.print_stage if settings.debug else None,
            keep_texts=settings.compile_only,
        )
    if settings.debug:
        inspection.print_chip_stages(request)
    if settings.compile_only:
        inspection.write_dump(compilation.program, request.function.__name__, request.options.backend)
    return Found(compilation, read_guard(request.function, compilation))


def fetch_hidden(request: FunctionRequest, guard: ReadGuard) -> tuple[Any, ...] | None:
    """The hidden inputs of a call; None if a value that was read has changed."""
    return guard.fetch(request.tensors)
