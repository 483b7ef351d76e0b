"""A template: a program for many sizes and numbers, whose plan holds expressions in place of numbers.

The compile of a template is the compile of one size, with extents that record what it depends on
(specs/extents/trace.py). For another size the guards are evaluated, then the numbers of the plan. The code is shared:
kernels know no extents.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import starmap
from typing import TYPE_CHECKING, Any

from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.compiler import driver
from ttnn_jit.compiler.hidden_symbols import HiddenSymbols, SeenCall, is_number, mark_in, size_of_number, with_values
from ttnn_jit.compiler.l1_requirement import ExceedsL1Error, StreamedBytes, fits_l1
from ttnn_jit.compiler.request import Compilation, Request
from ttnn_jit.compiler.stored_programs import StoredPrograms, notes_of
from ttnn_jit.compiler.symbols import Place, Sizes, Symbols
from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.foreign.pytrees import map_leaves
from ttnn_jit.foreign.values import is_a
from ttnn_jit.guards.reads import NumberMark, Path, Read
from ttnn_jit.guards.tensor_mark import TensorMark
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native.native import host_cpu
from ttnn_jit.runtime.plans.launch_bounds import Signature
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.runtime.plans.plan_template import PlanTemplate
from ttnn_jit.runtime.plans.spec_json import text_of
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.extents.extent import specialized
from ttnn_jit.specs.extents.float_functions import double_bits
from ttnn_jit.specs.extents.formulas import Formulas
from ttnn_jit.specs.extents.trace import ServesOneCallError, Specialization
from ttnn_jit.specs.spec_forms import sizes_in, without_sizes
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.frontend.writing.result import FrontendResult


@dataclass(frozen=True)
class Template:
    """A plan for many sizes.

    Attributes:
        symbols: The dimensions that may vary.
        formulas: The numbers of the plan, and the guards.
        plan: The plan.
        specialized: The uses that fixed an extent.
        streamed: The bytes of a core that its circular buffers take; None if a run need not know them.
    """

    symbols: Symbols
    formulas: Formulas
    plan: PlanTemplate
    specialized: tuple[Specialization, ...] = ()
    streamed: StreamedBytes | None = None

    @cached_property
    def values_of_fixed_symbols(self) -> Mapping[int, int]:
        """The values of the symbols for which the template holds for one value alone; of floats their bits."""
        symbols = (number for number, atom in enumerate(self.formulas.atoms) if atom is None)
        of_atoms = {(((number,), 1),): symbol for symbol, number in enumerate(symbols)}
        return {
            of_atoms[guard.terms]: guard.least
            for guard in self.formulas.guards
            if guard.terms in of_atoms and guard.least is not None and guard.least == guard.greatest
        }

    @cached_property
    def _evaluated(self) -> Formulas:
        """The formulas without what only the compile needed."""
        streamed = () if self.streamed is None else self.streamed.launches
        return self.formulas.without_unused([*self.plan.numbers, *streamed])

    def plan_for(self, inputs: Sequence[TensorSpec], sizes: Sizes | None = None) -> ProgramPlan | None:
        """The plan for the sizes of a call, by default those of its inputs; None if the template does not hold."""
        found = self.instance(inputs, [*map(sizes_in, inputs)] if sizes is None else sizes)
        return None if found is None else found[0]

    def instance(self, inputs: Sequence[TensorSpec], sizes: Sizes) -> tuple[ProgramPlan, int | None] | None:
        """The plan for the sizes of a call, and the bytes of a core that its circular buffers take.

        None if the template does not hold.
        """
        symbols = self.symbols.values(sizes)
        if symbols is None:
            return None
        atoms = self._evaluated.values(symbols)
        if atoms is None:
            return None
        try:
            plan = self.plan.plan_for(inputs, atoms)
        except ShapeError:
            return None  # a tensor would be too large: a compile says which
        return plan, None if self.streamed is None else self.streamed.at(atoms)

    def to_json(self) -> dict[str, Any]:
        """JSON values, besides those of the plan of one size."""
        return {
            "symbols": self.symbols.to_json(),
            "formulas": self.formulas.to_json(),
            "places": self.plan.to_json(),
            "specialized": [[each.expression, each.value, each.use] for each in self.specialized],
            "streamed": self.streamed and self.streamed.to_json(),
        }

    @staticmethod
    def from_json(fields: Any, example: ProgramPlan, ranks: Sequence[int], own: int | None = None) -> Template:
        """The inverse of `to_json`, for sizes of these ranks, the `own` first of which are the call's (all by default).

        Raises:
            LookupError, TypeError, ValueError: The fields do not describe a template of the example.
        """
        symbols, formulas = Symbols.from_json(fields["symbols"], ranks, own), Formulas.from_json(fields["formulas"])
        if symbols.count != formulas.atoms.count(None):
            raise ValueError("the formulas have other symbols")
        plan = PlanTemplate.from_json(fields["places"], example, formulas.whole_atoms)
        uses = ((text_of(expression), value, text_of(use)) for expression, value, use in fields["specialized"])
        streamed = StreamedBytes.from_json(fields["streamed"], len(formulas.atoms))
        return Template(symbols, formulas, plan, tuple(starmap(Specialization, uses)), streamed)


@dataclass(frozen=True)
class CompiledTemplate:
    """A template with all else of its compile.

    Attributes:
        template: The plan for many sizes.
        program: The program of one size, whose code all sizes share.
        reads: See `Compilation`.
        structure: See `Compilation`.
        warnings: See `Compilation`.
        hidden: The paths of the hidden inputs whose extents may vary, and of the numbers that may vary. The symbols
            have rows for these, behind those of a request's sizes.
        fits_l1: Whether the program of that size fits into the L1 of its target.
    """

    template: Template
    program: Program
    reads: tuple[Read, ...]
    structure: Any
    warnings: tuple[str, ...]
    hidden: tuple[Path, ...] = ()
    fits_l1: bool = True

    def compilation_for(self, request: Request, found: Sequence[Any] = ()) -> Compilation | None:
        """The compilation of a request that differs in its sizes alone; None if the template does not hold for them.

        Args:
            request: The request.
            found: The hidden inputs of its call, or their marks, and its open numbers.

        Raises:
            InternalError: A launch of the plan would leave its operands.
            ExceedsL1Error: The program does not fit.
        """
        inputs, sizes, reads = request.inputs, sizes_of(request), self.reads
        if self.hidden:
            values = self.by_path(found)
            reads = with_values(reads, {path: values[path] for path in self.hidden})
            inputs = (*inputs, *(mark_in(each).spec for each in values.values() if not is_number(each)))
            sizes = (*sizes, *self.hidden_sizes(values))
        made = self.template.instance(inputs, sizes)
        if made is None:
            return None
        if not fits_l1(*made, request.target):
            raise ExceedsL1Error
        plan, streamed = made
        program = self.program.resized(plan, partial(descriptors_of, request.held_weakly()), streamed)
        return Compilation(program, reads, self.structure, None, self.warnings, by_template=True)

    def by_path(self, found: Sequence[Any]) -> dict[Path, Any]:
        """The hidden inputs and open numbers of a call by path."""
        paths = [read.path for read in self.reads if is_a(read.value, TensorMark, NumberMark)]
        return dict(zip(paths, found, strict=True))

    def hidden_sizes(self, values: Mapping[Path, Any]) -> Iterator[tuple[int, ...]]:
        """The rows of a call's sizes for the hidden inputs and numbers that may vary."""
        for path in self.hidden:
            value = values[path]
            yield (size_of_number(value),) if is_number(value) else sizes_in(mark_in(value).spec)


def sizes_of(request: Request) -> tuple[tuple[int, ...], ...]:
    """The sizes of a request's tensors, behind them its ints, and then the bits of its floats."""
    floats = tuple([double_bits(number) for number in request.floats])
    return (*map(sizes_in, request.inputs), request.integers, floats)


def marked_places(marked_axes: Sequence[Collection[int]], inputs: Sequence[TensorSpec]) -> set[Place]:
    """The sizes that the user marked as open: extents, and with them the strides and the shard of their tensor.

    Args:
        marked_axes: Per tensor the axes of the extents.
        inputs: The specs of the tensors.
    """
    each = enumerate(zip(marked_axes, inputs, strict=False))
    return {
        (index, place)
        for index, (axes, spec) in each
        if axes
        for place in (*axes, *range(len(spec.shape), len(sizes_in(spec))))
    }


def without_extents(request: Request) -> Request:
    """A request with sizes and numbers of 1, and strides of 0, which stands for all sizes in keys."""
    specs = (without_sizes(spec) for spec in request.inputs)
    return request.with_inputs(specs, (1,) * len(request.integers), (1.0,) * len(request.floats))


def is_eligible(request: Request) -> bool:
    """Whether templates may serve a request."""
    return bool(request.inputs) and not request.options.extra_pipeline_options


def compile_template(
    request: Request, symbols: Symbols, stored: StoredPrograms, seen: Sequence[SeenCall] = ()
) -> CompiledTemplate | None:
    """A template of a request, the last of the calls that were `seen`; None if it would serve calls of one size only.

    Raises:
        ServesOneCallError: Its program would serve one call only.
    """
    hidden = HiddenSymbols(seen, symbols, sizes_of(request), opens_floats=request.options.opens_floats)
    with stored.numba_disk_cache():
        traced = trace_template(request, symbols, hidden)
    if traced is None:
        return None
    COUNTERS.compiles += 1
    COUNTERS.templates += 1
    lowered = traced.lowered
    program = Program(
        traced.template.plan.example,
        traced.objects,
        descriptors=partial(descriptors_of, request.held_weakly()),
        notes=traced.notes,
        built_for=host_cpu(),
        circular_buffer_bytes=traced.circular_buffer_bytes,
    )
    fits = fits_l1(program.plan, traced.circular_buffer_bytes, request.target)
    own = lowered.reads, traced.structure, lowered.warnings, hidden.paths
    return CompiledTemplate(traced.template, program, *own, fits)


@dataclass(frozen=True)
class TracedTemplate:
    """A template, and what its compile made besides.

    Attributes:
        template: The template.
        hints: The values of its atoms for the size that it was made for.
        objects: The images of its kernels.
        signatures: Their signatures.
        lowered: The result of the frontend, whose module is discarded.
        notes: The notes of its program.
        structure: The structure of the results.
    """

    template: Template
    hints: Sequence[int]
    objects: Mapping[str, bytes]
    signatures: Mapping[str, Signature]
    lowered: FrontendResult
    notes: Mapping[str, Any]
    structure: Any

    @property
    def circular_buffer_bytes(self) -> int | None:
        """The bytes of a core that the circular buffers of that size take; None if nothing needs them."""
        streamed = self.template.streamed
        return None if streamed is None else streamed.at(self.hints)


def trace_template(
    request: Request, symbols: Symbols, hidden: HiddenSymbols, *, assembles: bool = True
) -> TracedTemplate | None:
    """The template of a request with these symbols; None if it would serve calls of one size only.

    Args:
        request: The request.
        symbols: The symbols of its sizes.
        hidden: Those of its hidden inputs.
        assembles: Whether its kernels are assembled.

    Raises:
        ServesOneCallError: Its program would serve one call only.
    """
    from ttnn_jit.dialects.writing.editing import discard_module

    trace = hidden.trace
    with trace.recording():
        specs, numbers = symbols.traced(request.inputs, (request.integers, request.floats), hidden.own)
        lowered = request.with_inputs(specs, *numbers).opening(hidden).lower()
        if lowered.opaque is not None:
            raise ServesOneCallError
        driver.check_kernel_operands(lowered, request.target)
        complete = hidden.completed()
        is_read = {*hidden.paths} <= {read.path for read in lowered.reads}
        if not complete.count or not is_read:
            return None
        structure = map_leaves(lowered.output_structure, specialized)
        notes = notes_of(request, lowered)
        code = driver.scheduled_code(lowered.module, request.options, None)
        with code.assembled() if assembles else nullcontext(dict) as images:
            runs_need = code.plan.uses_l1 or request.target.tile_aligned_only
            descriptors = driver.launch_descriptors(lowered.module, code, request.options) if runs_need else None
            streamed = None if descriptors is None else StreamedBytes.of(descriptors)
            objects, signatures = images(), code.signatures
        discard_module(lowered.module)
    hints = trace.formulas.values(complete.values((*sizes_of(request), *hidden.sizes)) or [])
    assert hints is not None, "a template holds for the size that it was made for"
    plan = PlanTemplate.of(code.plan, hints)  # which may fix numbers, so that `trace.formulas` follows
    template = Template(complete, trace.formulas, plan, tuple(trace.specialized), streamed)
    return TracedTemplate(template, hints, objects, signatures, lowered, notes, structure)


def descriptors_of(make_request: Callable[[], Request]) -> Sequence[Mapping[str, Any]]:
    """The descriptors of a request's launches, which depend on its sizes."""
    request = make_request()
    _, descriptors = driver.run_stages(request.lower().module, request.options, None)
    return descriptors
