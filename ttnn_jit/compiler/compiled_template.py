"""A plan for many sizes with the code of its kernels, and the programs that it makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import starmap
from typing import Any

from ttnn_jit.compiler import driver
from ttnn_jit.compiler.hidden_symbols import is_number, size_of_number, with_values
from ttnn_jit.compiler.request import Compilation, Request
from ttnn_jit.compiler.symbols import Sizes, Symbols
from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.foreign.values import is_a
from ttnn_jit.guards.reads import NumberMark, Path, Read
from ttnn_jit.guards.tensor_mark import TensorMark
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.libraries import mark_of
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.runtime.plans.plan_template import PlanTemplate
from ttnn_jit.runtime.plans.spec_json import text_of
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.extents.float_functions import double_bits
from ttnn_jit.specs.extents.formulas import Formulas
from ttnn_jit.specs.extents.trace import Specialization
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

    def plan_for(self, inputs: Sequence[TensorSpec], sizes: Sizes | None = None) -> ProgramPlan | None:
        """The plan for the sizes of a call, by default those of its inputs; None if the template does not hold."""
        symbols = self.symbols.values([tuple(spec.shape) for spec in inputs] if sizes is None else sizes)
        if symbols is None:
            return None
        atoms = self.formulas.values(symbols)
        if atoms is None:
            return None
        try:
            return self.plan.plan_for(inputs, atoms)
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
        """The inverse of `to_json`, for calls with sizes of these ranks.

        Raises:
            LookupError, TypeError, ValueError: The fields do not describe a template of the example.
        """
        symbols, formulas = Symbols.from_json(fields["symbols"], ranks), Formulas.from_json(fields["formulas"])
        if symbols.count != formulas.atoms.count(None):
            raise ValueError("the formulas have other symbols")
        plan = PlanTemplate.from_json(fields["places"], example, formulas.whole_atoms)
        uses = ((text_of(expression), value, text_of(use)) for expression, value, use in fields["specialized"])
        return Template(symbols, formulas, plan, tuple(starmap(Specialization, uses)))


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
    """

    template: Template
    program: Program
    reads: tuple[Read, ...]
    structure: Any
    warnings: tuple[str, ...]
    hidden: tuple[Path, ...] = ()

    def compilation_for(self, request: Request, found: Sequence[Any] = ()) -> Compilation | None:
        """The compilation of a request that differs in its sizes alone; None if the template does not hold for them.

        Args:
            request: The request.
            found: The hidden inputs of its call.

        Raises:
            InternalError: A launch of the plan would leave its operands.
        """
        inputs, sizes, reads = request.inputs, sizes_of(request), self.reads
        if self.hidden:
            values = self.by_path(found)
            reads = with_values(reads, {path: values[path] for path in self.hidden})
            inputs = (*inputs, *(mark_of(each).spec for each in values.values() if not is_number(each)))
            sizes = (*sizes, *self.hidden_sizes(values))
        plan = self.template.plan_for(inputs, sizes)
        if plan is None:
            return None
        program = self.program.resized(plan, partial(descriptors_of, request))
        return Compilation(program, reads, self.structure, None, self.warnings, by_template=True)

    def by_path(self, found: Sequence[Any]) -> dict[Path, Any]:
        """The hidden inputs and open numbers of a call by path."""
        paths = [read.path for read in self.reads if is_a(read.value, TensorMark, NumberMark)]
        return dict(zip(paths, found, strict=True))

    def hidden_sizes(self, values: Mapping[Path, Any]) -> Iterator[tuple[int, ...]]:
        """The rows of a call's sizes for the hidden inputs and numbers that may vary."""
        for path in self.hidden:
            value = values[path]
            yield (size_of_number(value),) if is_number(value) else tuple(mark_of(value).spec.shape)


def sizes_of(request: Request) -> tuple[tuple[int, ...], ...]:
    """The shapes of a request's tensors, behind them its ints, and then the bits of its floats."""
    return (
        *(tuple(spec.shape) for spec in request.inputs),
        request.integers,
        tuple([double_bits(number) for number in request.floats]),
    )


def descriptors_of(request: Request) -> Sequence[Mapping[str, Any]]:
    """The descriptors of a request's launches, which depend on its sizes."""
    _, descriptors = driver.run_stages(request.lower().module, request.options, None)
    return descriptors
