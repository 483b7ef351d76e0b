"""Templates: programs for many sizes, whose plans hold expressions in place of numbers.

The compile of a template is the compile of one size, with extents that record what it depends on
(specs/extents/extent.py). For another size the guards are evaluated, then the numbers of the plan. The code is shared:
kernels know no extents.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache, lru_cache, partial
from typing import Any

from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.compiler.request import Compilation, Request
from ttnn_jit.compiler.stored_programs import notes_of
from ttnn_jit.compiler.symbols import Dimension, Symbols
from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.foreign.pytrees import map_leaves
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native.native import host_cpu
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.runtime.plans.plan_template import PlanTemplate
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.cores.memory_config import BufferType
from ttnn_jit.specs.extents.extent import LEAST_SYMBOL, Specialization, Trace, specialized
from ttnn_jit.specs.extents.formulas import Formulas
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class Template:
    """A plan for many sizes.

    Attributes:
        symbols: The dimensions that may vary.
        formulas: The numbers of the plan, and the guards.
        plan: The plan.
        specialized: The uses that fixed an extent.
    """

    symbols: Symbols
    formulas: Formulas
    plan: PlanTemplate
    specialized: tuple[Specialization, ...] = ()

    def plan_for(self, specs: Sequence[TensorSpec]) -> ProgramPlan | None:
        """The plan for the specs of a call's tensors; None if the template does not hold for them."""
        symbols = self.symbols.values([spec.shape for spec in specs])
        if symbols is None or min(symbols, default=LEAST_SYMBOL) < LEAST_SYMBOL:
            return None
        atoms = self.formulas.values(symbols)
        if atoms is None:
            return None
        try:
            return self.plan.plan_for(specs, atoms)
        except ShapeError:
            return None  # a tensor would be too large: a compile says which


@lru_cache(maxsize=4096)
def may_be_dynamic(spec: TensorSpec) -> bool:
    """Whether templates serve tensors like this one: dense and interleaved, not in L1."""
    config = spec.memory_config
    return spec.strides is None and not config.is_sharded() and config.buffer_type in _SERVED


_SERVED = (BufferType.DRAM, BufferType.SYSTEM_MEMORY)


@dataclass(frozen=True)
class CompiledTemplate:
    """A template with all else of its compile.

    Attributes:
        template: The plan for many sizes.
        objects: The object code of its kernels, by symbol.
        compilation: The compilation of the size that it was made for.
        guard: What `Templates` was told to make of the compilation.
    """

    template: Template
    objects: Mapping[str, bytes]
    compilation: Compilation
    guard: Any

    def compilation_for(self, request: Request) -> Compilation | None:
        """The compilation of a request that differs in its sizes alone; None if the template does not hold for them."""
        plan = self.template.plan_for(request.inputs)
        if plan is None:
            return None
        described = self.compilation.program
        program = Program(
            plan,
            self.objects,
            descriptors=partial(descriptors_of, request),
            notes=described.notes,
            built_for=described.built_for,
        )
        return replace(self.compilation, program=program)


def shapes_of(request: Request) -> tuple[tuple[int, ...], ...]:
    """The shapes of a request's tensors."""
    return tuple(tuple(spec.shape) for spec in request.inputs)


@dataclass
class _Family:
    """The calls of a function that differ in sizes alone."""

    seen: list[tuple[tuple[int, ...], ...]] = field(default_factory=list)
    templates: list[CompiledTemplate] = field(default_factory=list)

    def varies(self, dimension: Dimension) -> bool:
        """Whether an extent was not the same at every call."""
        index, axis = dimension
        return any(shapes[index][axis] != self.seen[0][index][axis] for shapes in self.seen)

    def are_equal(self, one: Dimension, other: Dimension) -> bool:
        """Whether two extents were equal at every call."""
        return all(shapes[one[0]][one[1]] == shapes[other[0]][other[1]] for shapes in self.seen)


MAX_TEMPLATES = 16
"""The most templates of calls that differ in sizes alone; beyond it, every size is compiled by itself."""

_MAX_SEEN = 64


class Templates:
    """The templates of one function.

    Args:
        dynamic: True: every extent of an argument may vary from the first call on. None: those that have varied.
            False: none.
        guard_of: Makes of a compilation what decides whether its reads have their current values.
    """

    def __init__(self, dynamic: bool | None, guard_of: Callable[[Compilation], Any]) -> None:
        self._dynamic = dynamic
        self._guard_of = guard_of
        self._families: dict[Hashable, _Family] = {}

    def clear(self) -> None:
        """Forget every template."""
        self._families.clear()

    def compilation(
        self, key: tuple[Hashable, ...], request: Request, holds: Callable[[Any], bool]
    ) -> tuple[Compilation, Any] | None:
        """The compilation of a request by a template, a new one perhaps, and its guard.

        Args:
            key: The key of the call, specs included.
            request: The request.
            holds: Whether the guard of a template holds now.

        Returns:
            None if no extent has varied, or none may.
        """
        family = self._family(key, request)
        if family is None:
            return None
        for each in family.templates:
            if holds(each.guard) and (found := each.compilation_for(request)) is not None:
                return found, each.guard
        if len(family.seen) < _MAX_SEEN:
            family.seen.append(shapes_of(request))
        if len(family.templates) >= MAX_TEMPLATES:
            family.templates = [each for each in family.templates if holds(each.guard)]
        if len(family.templates) >= MAX_TEMPLATES:
            return None
        symbols = Symbols.of(shapes_of(request), (lambda _: True) if self._dynamic else family.varies, family.are_equal)
        if not symbols.count:
            return None
        made = compile_template(request, symbols, self._guard_of)
        if made is None:
            return None
        family.templates.append(made)
        return made.compilation, made.guard

    def _family(self, key: tuple[Hashable, ...], request: Request) -> _Family | None:
        if self._dynamic is False or not is_eligible(request):
            return None
        return self._families.setdefault(_without_sizes(key), _Family())


def is_eligible(request: Request) -> bool:
    """Whether templates may serve a request."""
    if request.target.tile_aligned_only or request.options.extra_pipeline_options:
        return False
    return bool(request.inputs) and all(map(may_be_dynamic, request.inputs))


def _without_sizes(key: tuple[Any, ...]) -> tuple[Hashable, ...]:
    """A key with the forms of specs in their place."""
    return tuple(
        [
            _form_of(part) if type(part) is TensorSpec else _without_sizes(part) if type(part) is tuple else part
            for part in key
        ]
    )


class _Form:
    """What specs have in common that differ in their extents alone; compared by identity."""


@lru_cache(maxsize=4096)
def _form_of(spec: TensorSpec) -> _Form:
    return _form(len(spec.shape), spec.dtype, spec.layout, spec.memory_config)


@cache
def _form(*_: Hashable) -> _Form:
    return _Form()


def compile_template(
    request: Request, symbols: Symbols, guard_of: Callable[[Compilation], Any]
) -> CompiledTemplate | None:
    """A template of a request; None if its program serves one call only."""
    from ttnn_jit.compiler.driver import scheduled_code
    from ttnn_jit.dialects.writing.editing import discard

    trace = Trace()
    with trace.recording():
        lowered = request.with_inputs(symbols.specs(request.inputs, trace)).lower()
        if lowered.opaque is not None:
            return None
        structure = map_leaves(lowered.output_structure, specialized)
        notes = notes_of(lowered)
        code = scheduled_code(lowered.module, request.options, None)
        with code.assembled() as images:
            objects = images()
        discard(lowered.module)
    COUNTERS.compiles += 1
    hints = trace.formulas.values(symbols.values(shapes_of(request)) or [])
    assert hints is not None, "a template holds for the size that it was made for"
    plan = PlanTemplate.of(code.plan, hints)  # which may fix numbers, so that `trace.formulas` follows
    template = Template(symbols, trace.formulas, plan, tuple(trace.specialized))
    program = Program(
        plan.example, objects, descriptors=partial(descriptors_of, request), notes=notes, built_for=host_cpu()
    )
    compilation = Compilation(program, lowered.reads, structure, None, lowered.warnings)
    return CompiledTemplate(template, objects, compilation, guard_of(compilation))


def descriptors_of(request: Request) -> Sequence[Mapping[str, Any]]:
    """The descriptors of a request's launches, which depend on its sizes."""
    from ttnn_jit.compiler.driver import run_stages

    _, descriptors = run_stages(request.lower().module, request.options, None)
    return descriptors
