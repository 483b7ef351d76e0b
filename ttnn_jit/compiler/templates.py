"""Templates: programs for many sizes, whose plans hold expressions in place of numbers.

The compile of a template is the compile of one size, with extents that record what it depends on
(specs/extents/extent.py). For another size the guards are evaluated, then the numbers of the plan. The code is shared:
kernels know no extents.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache, partial
from itertools import starmap
from typing import Any

from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.compiler import driver
from ttnn_jit.compiler.request import Compilation, Request
from ttnn_jit.compiler.stored_programs import StoredPrograms, StoredTemplate, notes_of
from ttnn_jit.compiler.symbols import Place, Symbols
from ttnn_jit.compiler.template_misses import explained, most_frequent_failures
from ttnn_jit.diagnostics.errors import InternalError, ShapeError
from ttnn_jit.foreign.pytrees import map_leaves
from ttnn_jit.guards.reads import Read
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native.native import host_cpu
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.runtime.plans.plan_template import PlanTemplate
from ttnn_jit.runtime.plans.spec_json import text_of
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.cores.memory_config import BufferType
from ttnn_jit.specs.extents.extent import ServesOneCallError, Specialization, Trace, specialized
from ttnn_jit.specs.extents.formulas import Formulas
from ttnn_jit.specs.spec_forms import form_of
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

    def plan_for(self, request: Request) -> ProgramPlan | None:
        """The plan for the sizes of a request; None if the template does not hold for them."""
        symbols = self.symbols.values(sizes_of(request))
        if symbols is None:
            return None
        atoms = self.formulas.values(symbols)
        if atoms is None:
            return None
        try:
            return self.plan.plan_for(request.inputs, atoms)
        except ShapeError:
            return None  # a tensor would be too large: a compile says which

    def to_json(self) -> dict[str, Any]:
        """JSON values, besides those of the plan of one size."""
        return {
            "symbols": self.symbols.to_json(),
            "formulas": self.formulas.to_json(),
            "places": self.plan.to_json(),
            "specialized": [[each.expression, each.value, each.use] for each in self.specialized],
        }

    @staticmethod
    def from_json(fields: Any, example: ProgramPlan, ranks: Sequence[int]) -> Template:
        """The inverse of `to_json`, for calls with sizes of these ranks: of the tensors, then the count of ints.

        Raises:
            LookupError, TypeError, ValueError: The fields do not describe a template of the example.
        """
        symbols, formulas = Symbols.from_json(fields["symbols"], ranks), Formulas.from_json(fields["formulas"])
        if symbols.count != formulas.atoms.count(None):
            raise ValueError("the formulas have other symbols")
        plan = PlanTemplate.from_json(fields["places"], example, len(formulas.atoms))
        uses = ((text_of(expression), value, text_of(use)) for expression, value, use in fields["specialized"])
        return Template(symbols, formulas, plan, tuple(starmap(Specialization, uses)))


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
        program: The program of one size, whose code all sizes share.
        reads: See `Compilation`.
        structure: See `Compilation`.
        warnings: See `Compilation`.
    """

    template: Template
    program: Program
    reads: tuple[Read, ...]
    structure: Any
    warnings: tuple[str, ...]

    def compilation_for(self, request: Request) -> Compilation | None:
        """The compilation of a request that differs in its sizes alone; None if the template does not hold for them.

        Raises:
            InternalError: A launch of the plan would leave its operands.
        """
        plan = self.template.plan_for(request)
        if plan is None:
            return None
        program = self.program.resized(plan, partial(descriptors_of, request))
        return Compilation(program, self.reads, self.structure, None, self.warnings, by_template=True)


@dataclass(frozen=True)
class _Guarded:
    """A template of a process.

    Attributes:
        compiled: The template.
        guard: What `Templates` was told to make of its compilation.
        digest: The digest of its entry on disk; None if it has none.
        is_read: Whether it was read from disk.
    """

    compiled: CompiledTemplate
    guard: Any
    digest: str | None
    is_read: bool


def sizes_of(request: Request) -> tuple[tuple[int, ...], ...]:
    """The shapes of a request's tensors, and behind them its ints."""
    return (*(tuple(spec.shape) for spec in request.inputs), request.integers)


@dataclass
class _Family:
    """The calls of a function that differ in sizes alone."""

    seen: list[tuple[tuple[int, ...], ...]] = field(default_factory=list)
    marked: set[Place] = field(default_factory=set)
    templates: list[_Guarded] = field(default_factory=list)

    def varies(self, place: Place) -> bool:
        """Whether a size was not the same at every call, or is marked."""
        index, axis = place
        return place in self.marked or any(sizes[index][axis] != self.seen[0][index][axis] for sizes in self.seen)

    def are_equal(self, one: Place, other: Place) -> bool:
        """Whether two sizes were equal at every call."""
        return all(sizes[one[0]][one[1]] == sizes[other[0]][other[1]] for sizes in self.seen)

    @property
    def digests(self) -> set[str]:
        """The digests of the templates that are on disk too."""
        return {each.digest for each in self.templates if each.digest is not None}

    def find(self, request: Request, holds: Callable[[Any], bool]) -> tuple[Compilation, Any] | None:
        """The compilation of a request by a template whose guard holds, and the guard; None if there is none.

        A template from disk whose plan for these sizes is refused is damaged, and forgotten.
        """
        for each in tuple(self.templates):
            if not holds(each.guard):
                continue
            try:
                found = each.compiled.compilation_for(request)
            except InternalError:
                if not each.is_read:
                    raise
                self.templates.remove(each)
                continue
            if found is not None:
                COUNTERS.template_hits += 1
                return found, each.guard
        return None


MAX_TEMPLATES = 16
"""The most templates of calls that differ in sizes alone; beyond it, every size is compiled by itself."""

_MAX_SEEN = 64


class Templates:
    """The templates of one function.

    Args:
        dynamic: True: every extent of an argument may vary from the first call on. None: those that have varied.
            False: none.
        guard_of: Makes of a compilation what decides whether its reads have their current values.
        warn: Warns the user that calls that differ in sizes alone need too many templates.
    """

    def __init__(
        self, dynamic: bool | None, guard_of: Callable[[Compilation], Any], warn: Callable[[str], None]
    ) -> None:
        self._dynamic = dynamic
        self._guard_of = guard_of
        self._warn = warn
        self._families: dict[Hashable, _Family] = {}

    def clear(self) -> None:
        """Forget every template."""
        self._families.clear()

    def compilation(
        self, key: tuple[Hashable, ...], request: Request, holds: Callable[[Any], bool], *, use_disk: bool
    ) -> tuple[Compilation, Any]:
        """The compilation of a request, and its guard.

        It is looked up by the templates in memory, then on disk by the request, then by the templates on disk. What is
        not found is compiled, as a template if an extent has varied.

        Args:
            key: The key of the call without its sizes: `key_without_sizes`.
            request: The request.
            holds: Whether the guard of a template holds now.
            use_disk: Whether programs are looked up on disk, and stored there.
        """
        family = self._family(key, request)
        if family is not None and (found := family.find(request, holds)) is not None:
            return found
        stored = StoredPrograms.of(request, use_disk=use_disk)
        compilation = stored.find()
        if family is not None:
            family.marked |= {(index, axis) for index, axes in enumerate(request.marked_axes) for axis in axes}
            if len(family.seen) < _MAX_SEEN:
                family.seen.append(sizes_of(request))
            if compilation is None:
                made = self._from_disk(family, request, stored) or self._compiled(family, request, stored, holds)
                if made is not None:
                    return made
        compilation = compilation or driver.compile_anew(request, stored)
        return compilation, self._guard_of(compilation)

    def _family(self, key: tuple[Hashable, ...], request: Request) -> _Family | None:
        if self._dynamic is False or not is_eligible(request):
            return None
        return self._families.setdefault(key, _Family())

    def _from_disk(self, family: _Family, request: Request, stored: StoredPrograms) -> tuple[Compilation, Any] | None:
        """The compilation of a request by a template on disk that is not in memory yet."""
        for found in stored.templates(_without_extents(request), family.digests):
            compiled = template_of(found, request)
            compilation = None if compiled is None else compiled.compilation_for(request)
            if compiled is not None and compilation is not None:
                COUNTERS.disk_hits += 1
                family.templates.append(_Guarded(compiled, self._guard_of(compilation), found.digest, is_read=True))
                return compilation, family.templates[-1].guard
        return None

    def _compiled(
        self, family: _Family, request: Request, stored: StoredPrograms, holds: Callable[[Any], bool]
    ) -> tuple[Compilation, Any] | None:
        """The compilation of a request by a template that is made for it."""
        if len(family.templates) >= MAX_TEMPLATES:
            family.templates = [each for each in family.templates if holds(each.guard)]
        if len(family.templates) >= MAX_TEMPLATES:
            self._warn_of_too_many(family, request)
            return None
        symbols = Symbols.of(sizes_of(request), self._is_dynamic(family, len(request.inputs)), family.are_equal)
        made = compile_template(request, symbols, stored) if symbols.count else None
        if made is None:
            return None
        program = made.program
        notes = {**program.notes, TEMPLATE: made.template.to_json()}
        example = Program(program.plan, program.objects, notes=notes, built_for=program.built_for)
        digest = stored.keep_template(_without_extents(request), made.reads, example)
        compilation = Compilation(program, made.reads, made.structure, None, made.warnings, by_template=True)
        family.templates.append(_Guarded(made, self._guard_of(compilation), digest, is_read=False))
        return compilation, family.templates[-1].guard

    def misses(self, key: Hashable, request: Request) -> list[str]:
        """Why no template serves a request: their failing conditions; none if one serves it, or if there is none."""
        family = self._families.get(key)
        if family is None:
            return []
        return explained(
            [each.compiled.template for each in family.templates], sizes_of(request), request.names_of_sizes
        )

    def _warn_of_too_many(self, family: _Family, request: Request) -> None:
        templates = [each.compiled.template for each in family.templates]
        failures = most_frequent_failures(templates, sizes_of(request), request.names_of_sizes)
        self._warn(
            f"{request.name} has {MAX_TEMPLATES} programs for many sizes, and from now on compiles every size that "
            f"none of them serves by itself; what keeps failing: {failures} (docs/dynamic_shapes.md)"
        )

    def _is_dynamic(self, family: _Family, tensors: int) -> Callable[[Place], bool]:
        """Whether a size is open: one that has varied; with `dynamic`, every extent of a tensor."""
        return lambda place: (bool(self._dynamic) and place[0] < tensors) or family.varies(place)


TEMPLATE = "template"
"""The note of a stored program that is the example of a template: the JSON values of the template."""


def template_of(found: StoredTemplate, request: Request) -> CompiledTemplate | None:
    """The stored template, for calls that differ from a request in sizes alone; None if it is damaged."""
    program, inputs = found.compilation.program, request.inputs
    example, count = program.plan, len(inputs)
    forms = [*map(form_of, example.inputs[:count])]
    if forms != [*map(form_of, inputs)] or not all(map(may_be_dynamic, example.inputs[:count])):
        return None
    if example.inputs[count:] != found.hidden:
        return None
    try:
        ranks = [*map(len, sizes_of(request))]
        template = Template.from_json(program.notes[TEMPLATE], example, ranks)
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
    notes = {name: note for name, note in program.notes.items() if name != TEMPLATE}
    own = Program(example, program.objects, notes=notes, built_for=program.built_for)
    rest = found.compilation
    return CompiledTemplate(template, own, rest.reads, rest.structure, rest.warnings)


def _without_extents(request: Request) -> Request:
    """A request with extents and ints of 1, which stands for all sizes in keys."""
    specs = (spec.with_(shape=(1,) * len(spec.shape)) for spec in request.inputs)
    return request.with_inputs(specs, (1,) * len(request.integers))


def is_eligible(request: Request) -> bool:
    """Whether templates may serve a request."""
    if request.target.tile_aligned_only or request.options.extra_pipeline_options:
        return False
    return bool(request.inputs) and all(map(may_be_dynamic, request.inputs))


def without_shapes(key: tuple[Any, ...]) -> tuple[Hashable, ...]:
    """A key with the forms of specs in their place."""
    return tuple(
        [
            form_of(part) if type(part) is TensorSpec else without_shapes(part) if type(part) is tuple else part
            for part in key
        ]
    )


def compile_template(request: Request, symbols: Symbols, stored: StoredPrograms) -> CompiledTemplate | None:
    """A template of a request; None if its program serves one call only."""
    from ttnn_jit.dialects.writing.editing import discard

    trace = Trace()
    with trace.recording(), stored.numba_disk_cache():
        try:
            lowered = request.with_inputs(*symbols.traced(request.inputs, request.integers, trace)).lower()
        except ServesOneCallError:
            return None
        if lowered.opaque is not None:
            return None
        structure = map_leaves(lowered.output_structure, specialized)
        notes = notes_of(lowered)
        code = driver.scheduled_code(lowered.module, request.options, None)
        with code.assembled() as images:
            objects = images()
        discard(lowered.module)
    COUNTERS.compiles += 1
    COUNTERS.templates += 1
    hints = trace.formulas.values(symbols.values(sizes_of(request)) or [])
    assert hints is not None, "a template holds for the size that it was made for"
    plan = PlanTemplate.of(code.plan, hints)  # which may fix numbers, so that `trace.formulas` follows
    template = Template(symbols, trace.formulas, plan, tuple(trace.specialized))
    program = Program(
        plan.example, objects, descriptors=partial(descriptors_of, request), notes=notes, built_for=host_cpu()
    )
    return CompiledTemplate(template, program, lowered.reads, structure, lowered.warnings)


def descriptors_of(request: Request) -> Sequence[Mapping[str, Any]]:
    """The descriptors of a request's launches, which depend on its sizes."""
    _, descriptors = driver.run_stages(request.lower().module, request.options, None)
    return descriptors
