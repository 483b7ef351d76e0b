"""Templates: programs for many sizes, whose plans hold expressions in place of numbers.

The compile of a template is the compile of one size, with extents that record what it depends on
(specs/extents/extent.py). For another size the guards are evaluated, then the numbers of the plan. The code is shared:
kernels know no extents.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any

from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.compiler.request import Compilation, Request
from ttnn_jit.compiler.stored_programs import notes_of
from ttnn_jit.foreign.pytrees import map_leaves
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native.native import host_cpu
from ttnn_jit.runtime.plans.launches import Launch, Repeat
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.cores.memory_config import BufferType
from ttnn_jit.specs.extents.extent import (
    LEAST_SYMBOL,
    ServesOneCallError,
    Specialization,
    Trace,
    is_extent,
    specialized,
)
from ttnn_jit.specs.extents.formulas import Formulas
from ttnn_jit.specs.extents.polynomials import value_of
from ttnn_jit.specs.tensor_spec import TensorSpec

Shapes = Sequence[tuple[int, ...]]
"""The shapes of the tensors of a call."""

Dimension = tuple[int, int]
"""A tensor of a call, and its axis."""


@dataclass(frozen=True)
class Symbols:
    """The dimensions of a call's tensors that are symbols.

    Attributes:
        numbers: Per tensor and axis the number of the symbol, or None for an extent that is fixed.
        fixed: Per tensor and axis the extent that is fixed, or None.
    """

    numbers: tuple[tuple[int | None, ...], ...]
    fixed: tuple[tuple[int | None, ...], ...]

    @staticmethod
    def of(
        shapes: Shapes, dynamic: Callable[[Dimension], bool], are_equal: Callable[[Dimension, Dimension], bool]
    ) -> Symbols:
        """A symbol for each extent that is `dynamic` and at least 2; extents that `are_equal` share one."""
        found: list[Dimension] = []
        numbers: list[tuple[int | None, ...]] = []
        for index, shape in enumerate(shapes):
            own: list[int | None] = []
            for axis, extent in enumerate(shape):
                here = index, axis
                if extent < LEAST_SYMBOL or not dynamic(here):
                    own.append(None)
                    continue
                same = next((number for number, other in enumerate(found) if are_equal(here, other)), len(found))
                if same == len(found):
                    found.append(here)
                own.append(same)
            numbers.append(tuple(own))
        fixed = (
            tuple(extent if number is None else None for extent, number in zip(shape, own, strict=True))
            for shape, own in zip(shapes, numbers, strict=True)
        )
        return Symbols(tuple(numbers), tuple(fixed))

    @property
    def count(self) -> int:
        """The number of symbols."""
        return 1 + max((number for own in self.numbers for number in own if number is not None), default=-1)

    def values(self, shapes: Shapes) -> list[int] | None:
        """The values of the symbols for a call's shapes; None if a fixed extent differs, or two of one symbol."""
        values: list[int] = [0] * self.count
        for shape, own, fixed in zip(shapes, self.numbers, self.fixed, strict=True):
            for extent, number, wanted in zip(shape, own, fixed, strict=True):
                if number is None:
                    if extent != wanted:
                        return None
                elif values[number] == 0:
                    values[number] = extent
                elif values[number] != extent:
                    return None
        return values

    def specs(self, specs: Sequence[TensorSpec], trace: Trace) -> tuple[TensorSpec, ...]:
        """The specs with the extents of a trace."""
        hints = self.values([tuple(spec.shape) for spec in specs])
        assert hints is not None, "a trace begins with the sizes of its symbols"
        symbols = [trace.symbol(hint) for hint in hints]
        return tuple(
            TensorSpec(
                [extent if number is None else symbols[number] for extent, number in zip(spec.shape, own, strict=True)],
                spec.dtype,
                spec.layout,
                spec.memory_config,
            )
            if any(number is not None for number in own)
            else spec
            for spec, own in zip(specs, self.numbers, strict=True)
        )


@dataclass(frozen=True)
class Template:
    """A plan for many sizes.

    Attributes:
        symbols: The dimensions that may vary.
        formulas: The numbers of the plan, and the guards.
        plan: The plan, with extents.
        specialized: The uses that fixed an extent.
    """

    symbols: Symbols
    formulas: Formulas
    plan: ProgramPlan
    specialized: tuple[Specialization, ...] = ()

    def plan_for(self, shapes: Shapes) -> ProgramPlan | None:
        """The plan for a call's shapes; None if the template does not hold for them."""
        symbols = self.symbols.values(shapes)
        if symbols is None or min(symbols, default=LEAST_SYMBOL) < LEAST_SYMBOL:
            return None
        atoms = self.formulas.values(symbols)
        return None if atoms is None else instantiated(self.plan, atoms)


def may_be_dynamic(spec: TensorSpec) -> bool:
    """Whether templates serve tensors like this one: dense and interleaved, not in L1."""
    config = spec.memory_config
    return spec.strides is None and not config.is_sharded() and config.buffer_type in _SERVED


_SERVED = (BufferType.DRAM, BufferType.SYSTEM_MEMORY)


def instantiated(plan: ProgramPlan, atoms: Sequence[int]) -> ProgramPlan:
    """The plan for values of the atoms."""
    numbers: dict[int, int] = {}  # by id: a plan has each extent in many places

    def number(value: Any) -> int:
        found = numbers.get(id(value))
        if found is None:
            found = numbers[id(value)] = value_of(value.terms, atoms)
        return found

    def tuple_of(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple([number(value) if is_extent(value) else value for value in values])

    def spec_of(spec: TensorSpec) -> TensorSpec:
        if not any(map(is_extent, spec.shape)):
            return spec
        return TensorSpec(tuple_of(spec.shape), spec.dtype, spec.layout, spec.memory_config)

    def launch_of(each: Launch | Repeat) -> Launch | Repeat:
        if isinstance(each, Repeat):
            (count,) = tuple_of((each.count,))
            return Repeat(count, tuple(map(launch_of, each.launches)))
        return replace(
            each,
            params=tuple_of(each.params),
            offsets=tuple_of(each.offsets),
            steps=tuple(map(tuple_of, each.steps)),
            growth=tuple(map(tuple_of, each.growth)),
        )

    return replace(
        plan,
        inputs=tuple(map(spec_of, plan.inputs)),
        outputs=tuple(map(spec_of, plan.outputs)),
        intermediates=tuple(map(spec_of, plan.intermediates)),
        elided=tuple(map(spec_of, plan.elided)),
        launches=tuple(map(launch_of, plan.launches)),
    )


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
        plan = self.template.plan_for(shapes_of(request))
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
        self, key: Hashable, request: Request, holds: Callable[[Any], bool]
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

    def _family(self, key: Hashable, request: Request) -> _Family | None:
        if self._dynamic is False or not is_eligible(request):
            return None
        return self._families.setdefault(_without_sizes(key), _Family())


def is_eligible(request: Request) -> bool:
    """Whether templates may serve a request."""
    if request.target.tile_aligned_only or request.options.extra_pipeline_options:
        return False
    return bool(request.inputs) and all(map(may_be_dynamic, request.inputs))


def _without_sizes(key: Any) -> Hashable:
    """A key with the rank in place of the shape of every spec."""
    if isinstance(key, TensorSpec):
        return TensorSpec, len(key.shape), key.dtype, key.layout, key.memory_config
    return tuple(map(_without_sizes, key)) if type(key) is tuple else key


def compile_template(
    request: Request, symbols: Symbols, guard_of: Callable[[Compilation], Any]
) -> CompiledTemplate | None:
    """A template of a request; None if its program serves one call only."""
    from ttnn_jit.compiler.driver import scheduled_code
    from ttnn_jit.dialects.writing.editing import discard

    trace = Trace()
    with trace.recording():
        try:
            lowered = request.with_inputs(symbols.specs(request.inputs, trace)).lower()
        except ServesOneCallError:
            return None
        if lowered.opaque is not None:
            return None
        structure = map_leaves(lowered.output_structure, specialized)
        notes = notes_of(lowered)
        code = scheduled_code(lowered.module, request.options, None)
        with code.assembled() as images:
            objects = images()
        discard(lowered.module)
    COUNTERS.compiles += 1
    template = Template(symbols, trace.formulas, code.plan, tuple(trace.specialized))
    plan = template.plan_for(shapes_of(request))
    assert plan is not None, "a template holds for the size that it was made for"
    program = Program(plan, objects, descriptors=partial(descriptors_of, request), notes=notes, built_for=host_cpu())
    compilation = Compilation(program, lowered.reads, structure, None, lowered.warnings)
    return CompiledTemplate(template, objects, compilation, guard_of(compilation))


def descriptors_of(request: Request) -> Sequence[Mapping[str, Any]]:
    """The descriptors of a request's launches, which depend on its sizes."""
    from ttnn_jit.compiler.driver import run_stages

    _, descriptors = run_stages(request.lower().module, request.options, None)
    return descriptors
