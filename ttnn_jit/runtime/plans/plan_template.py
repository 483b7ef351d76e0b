"""Plans for many sizes: the plan of one size, and which of its numbers are polynomials of the sizes.

All other parts of a plan are the same for every size, so that a plan for another size costs its numbers and the checks
of its launches. Equal numbers, tuples of numbers and specs are evaluated once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, TypeAlias

from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.runtime.plans.launches import Launch, Repeat
from ttnn_jit.runtime.plans.plan import PlanConstant, ProgramPlan
from ttnn_jit.specs.extents.extent import is_extent, is_symbolic, specialized
from ttnn_jit.specs.extents.polynomials import Terms, terms_from_json, terms_to_json, value_of
from ttnn_jit.specs.spec_forms import form_of, sizes_in, with_sizes
from ttnn_jit.specs.tensor_spec import TensorSpec

Places: TypeAlias = tuple["int | None", ...]
"""Per number of a tuple: the index of its polynomial, or None if the number is fixed; () if all are."""

LAUNCH_FIELDS = ("params", "offsets", "steps", "growth")
"""The fields of a launch that may depend on sizes: the first two are tuples of numbers, the others tuples of these."""

LaunchPlaces: TypeAlias = "tuple[Any, ...]"
"""Of a launch: the places of `LAUNCH_FIELDS`; of a repeat: the place of its count, and the launches'. () if all of its
numbers are fixed."""

_SPECS = ("outputs", "intermediates", "elided")


@dataclass(frozen=True)
class PlanTemplate:
    """A plan for many sizes.

    Attributes:
        example: The plan of one size.
        numbers: The polynomials of the numbers that depend on sizes.
        inputs: Per input the places of its sizes (specs/spec_forms.py). The specs of a call give these numbers; the
            places are here because other specs may equal them.
        specs: Per group of other specs, and per spec: the places of its sizes.
        launches: The places of every launch and repeat.
        constants: The places of the bits of the constants.
        exchanges: Per exchange with other ranks the places of its numbers.
    """

    example: ProgramPlan
    numbers: tuple[Terms, ...]
    inputs: tuple[Places, ...]
    specs: tuple[tuple[Places, ...], ...]
    launches: tuple[LaunchPlaces, ...]
    constants: Places
    exchanges: tuple[Places, ...]

    @staticmethod
    def of(plan: ProgramPlan, atoms: Sequence[int]) -> PlanTemplate:
        """The template of a plan with extents, whose example is the plan for these values of the atoms.

        Extents in other places than a template has are fixed, by guards of their trace.
        """
        found: dict[Terms, int] = {}

        def place(number: Any) -> int | None:
            return found.setdefault(number.terms, len(found)) if is_extent(number) else None

        def places(numbers: Sequence[Any]) -> Places:
            return tuple(map(place, numbers)) if is_symbolic(numbers) else ()

        def of_launch(each: Launch | Repeat) -> LaunchPlaces:
            if isinstance(each, Repeat):
                count, launches = place(each.count), tuple(map(of_launch, each.launches))
                return (count, launches) if count is not None or any(launches) else ()
            flat = places(each.params), places(each.offsets)
            nested = [tuple(map(places, numbers)) for numbers in (each.steps, each.growth)]
            own = *flat, *(numbers if any(numbers) else () for numbers in nested)
            return own if any(own) else ()

        def of_spec(spec: TensorSpec) -> Places:
            return places(sizes_in(spec))

        inputs = tuple(map(of_spec, plan.inputs))
        specs = tuple(tuple(map(of_spec, getattr(plan, group))) for group in _SPECS)
        launches = tuple(map(of_launch, plan.launches))
        constants = places([each.bits for each in plan.constants])
        exchanges = tuple(places(each.numbers) for each in plan.exchanges)
        return PlanTemplate(_valued(plan, atoms), tuple(found), inputs, specs, launches, constants, exchanges)

    def plan_for(self, given: Sequence[TensorSpec], atoms: Sequence[int]) -> ProgramPlan:
        """The plan for the specs of a call's tensors, and values of the atoms. Further inputs are those of the example.

        Raises:
            InternalError: A launch would leave its operands.
            ShapeError: A result would be too large.
        """
        arguments = zip(self.example.arguments, given, strict=False)
        inputs = [spec for indices, spec in arguments for _ in indices]
        return self._maker.plan(inputs, [value_of(terms, atoms) for terms in self.numbers])

    @cached_property
    def _maker(self) -> _Maker:
        return _Maker(self)

    def to_json(self) -> dict[str, Any]:
        """JSON values, besides those of the example."""
        return {
            "numbers": [*map(terms_to_json, self.numbers)],
            "inputs": self.inputs,
            "specs": self.specs,
            "launches": self.launches,
            "constants": self.constants,
            "exchanges": self.exchanges,
        }

    @staticmethod
    def from_json(fields: Any, example: ProgramPlan, atoms: Container[int]) -> PlanTemplate:
        """The inverse of `to_json`, for a plan whose numbers consist of these atoms.

        Raises:
            LookupError, TypeError, ValueError: The fields do not describe a template of the example.
        """
        numbers = tuple(terms_from_json(terms) for terms in fields["numbers"])
        if any(atom not in atoms for terms in numbers for monomial, _ in terms for atom in monomial):
            raise ValueError("a number has an atom that does not exist")
        reader = _Reader(len(numbers))
        groups = [getattr(example, group) for group in _SPECS]
        return PlanTemplate(
            example,
            numbers,
            reader.of_specs(fields["inputs"], example.inputs),
            tuple(map(reader.of_specs, *_of_one_length(fields["specs"], groups))),
            tuple(map(reader.of_launch, *_of_one_length(fields["launches"], example.launches))),
            reader.places(fields["constants"], example.constants),
            reader.of_rows(fields["exchanges"], [each.numbers for each in example.exchanges]),
        )


class _Reader:
    """Reads the JSON values of places among so many numbers; every method raises TypeError or ValueError."""

    def __init__(self, count: int) -> None:
        self._count = count

    def of_specs(self, values: Any, specs: Sequence[TensorSpec]) -> tuple[Places, ...]:
        return self.of_rows(values, [*map(sizes_in, specs)])

    def of_rows(self, values: Any, rows: Sequence[Sequence[int]]) -> tuple[Places, ...]:
        return tuple(map(self.places, *_of_one_length(values, rows)))

    def of_launch(self, value: Any, each: Launch | Repeat) -> LaunchPlaces:
        if not value:
            return ()
        if isinstance(each, Repeat):
            count, launches = value
            return self._place(count), tuple(map(self.of_launch, *_of_one_length(launches, each.launches)))
        params, offsets, steps, growth = value
        flat = self.places(params, each.params), self.places(offsets, each.offsets)
        return *flat, self._nested(steps, each.steps), self._nested(growth, each.growth)

    def _nested(self, value: Any, numbers: Sequence[Sequence[int]]) -> tuple[Places, ...]:
        return tuple(map(self.places, *_of_one_length(value, numbers))) if value else ()

    def places(self, value: Any, numbers: Sequence[object]) -> Places:
        return tuple(map(self._place, _of_one_length(value, numbers)[0])) if value else ()

    def _place(self, value: Any) -> int | None:
        if value is not None and (type(value) is not int or value not in range(self._count)):
            raise ValueError(f"{value!r} is no place")
        return value


def _of_one_length(values: Any, others: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    if type(values) is not list or len(values) != len(others):
        raise ValueError(f"{values!r} has not the length of {others!r}")
    return values, others


def _valued(plan: ProgramPlan, atoms: Sequence[int]) -> ProgramPlan:
    """A plan with extents for these values of the atoms; numbers that templates do not take are fixed."""

    def number(value: Any) -> Any:
        return value_of(value.terms, atoms) if is_extent(value) else value

    def numbers(values: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(map(number, values))

    def spec_of(spec: TensorSpec) -> TensorSpec:
        sizes = sizes_in(spec)
        return with_sizes(spec, numbers(sizes)) if is_symbolic(sizes) else spec

    def launch_of(each: Launch | Repeat) -> Launch | Repeat:
        if isinstance(each, Repeat):
            return Repeat(number(each.count), tuple(map(launch_of, each.launches)))
        return replace(
            each,
            picoseconds=specialized(each.picoseconds),
            panels=tuple(map(specialized, each.panels)),
            params=numbers(each.params),
            offsets=numbers(each.offsets),
            steps=tuple(map(numbers, each.steps)),
            growth=tuple(map(numbers, each.growth)),
        )

    groups: dict[str, Any] = {group: tuple(map(spec_of, getattr(plan, group))) for group in ("inputs", *_SPECS)}
    constants = tuple(PlanConstant(each.dtype, number(each.bits)) for each in plan.constants)
    exchanges = tuple(each.with_numbers(numbers(each.numbers)) for each in plan.exchanges)
    launches = tuple(map(launch_of, plan.launches))
    return replace(plan, **groups, launches=launches, constants=constants, exchanges=exchanges)


class _Maker:
    """Makes the plans of a template: its numbers, then tuples of these, specs, and launches, are made once each.

    A plan's numbers are one list, the evaluated ones and then those that are fixed; tuples are taken from it by index.
    """

    def __init__(self, template: PlanTemplate) -> None:
        self._example = example = template.example
        self._evaluated = len(template.numbers)
        self._fixed: dict[int, int] = {}
        self._rows: dict[tuple[int, ...], int] = {}
        self._inputs = {
            (self._row(sizes_in(spec), own), form_of(spec)): index
            for index, (spec, own) in reversed([*enumerate(zip(example.inputs, template.inputs, strict=True))])
        }
        self._made: dict[Any, tuple[int, TensorSpec]] = {}  # specs that equal no input, in order
        self._specs = [
            [self._spec(spec, own) for spec, own in zip(getattr(example, group), places, strict=True)]
            for group, places in zip(_SPECS, template.specs, strict=True)
        ]
        self._launches = [*map(self._launch, example.launches, template.launches)]
        self._constants: int | None = None
        if template.constants:
            self._constants = self._row([each.bits for each in example.constants], template.constants)
        each_exchange = zip(example.exchanges, template.exchanges, strict=True)
        self._exchanges = [(each, self._row(each.numbers, own) if own else None) for each, own in each_exchange]
        self._take = [*map(_taker, self._rows)]
        of_sizes = (template.inputs, *template.specs, template.launches, template.exchanges)
        self._has_one_size = not any(map(any, of_sizes))

    def _row(self, numbers: Sequence[int], places: Places) -> int:
        """The number of a tuple among those of a plan."""
        indices = tuple(
            self._evaluated + self._fixed.setdefault(number, len(self._fixed)) if place is None else place
            for number, place in zip(numbers, places or (None,) * len(numbers), strict=True)
        )
        return self._rows.setdefault(indices, len(self._rows))

    def _spec(self, spec: TensorSpec, places: Places) -> TensorSpec | tuple[bool, int]:
        """A fixed spec; or whether it is one of the inputs, and its number among those or among the others."""
        if not any(place is not None for place in places):
            return spec
        key = self._row(sizes_in(spec), places), form_of(spec)
        found = self._inputs.get(key)
        return (False, self._made.setdefault(key, (len(self._made), spec))[0]) if found is None else (True, found)

    def _launch(self, each: Launch | Repeat, places: LaunchPlaces) -> Any:
        """A launch without such numbers; or what makes it of the tuples of a plan."""
        if not places:
            return each
        if isinstance(each, Repeat):
            count, launches = places
            return self._row((each.count,), (count,)), [*map(self._launch, each.launches, launches)]
        params, offsets, *nested = places
        flat = {"params": self._row(each.params, params), "offsets": self._row(each.offsets, offsets)}
        several = {}
        for name, own in zip(LAUNCH_FIELDS[2:], nested, strict=True):
            if own:
                several[name] = [*map(self._row, getattr(each, name), own)]
        return vars(each), flat, several

    def plan(self, given: Sequence[TensorSpec], evaluated: Sequence[int]) -> ProgramPlan:
        numbers = [*evaluated, *self._fixed]
        rows = [take(numbers) for take in self._take]
        if self._has_one_size:
            return self._example.with_constants(self._constants_of(rows))
        inputs = (*given, *self._example.inputs[len(given) :])
        others = [with_sizes(spec, rows[row]) for (row, _), (_, spec) in self._made.items()]

        def specs_of(group: Sequence[Any]) -> tuple[TensorSpec, ...]:
            return tuple(
                [each if type(each) is TensorSpec else (inputs if each[0] else others)[each[1]] for each in group]
            )

        outputs, intermediates, elided = map(specs_of, self._specs)
        launches = tuple(_launches(self._launches, rows))
        exchanges = tuple([each if row is None else each.with_numbers(rows[row]) for each, row in self._exchanges])
        constants = self._constants_of(rows)
        return self._example.resized(inputs, outputs, intermediates, elided, launches, constants, exchanges)

    def _constants_of(self, rows: Sequence[tuple[int, ...]]) -> tuple[PlanConstant, ...]:
        constants = self._example.constants
        if self._constants is None:
            return constants
        return tuple(
            [PlanConstant(each.dtype, bits) for each, bits in zip(constants, rows[self._constants], strict=True)]
        )


def _taker(indices: tuple[int, ...]) -> Callable[[Sequence[int]], tuple[int, ...]]:
    """The function from numbers to the tuple of those at `indices`."""
    if len(indices) > 1:
        return operator.itemgetter(*indices)
    return lambda numbers: tuple([numbers[index] for index in indices])


def _launches(prepared: Sequence[Any], rows: Sequence[tuple[int, ...]]) -> list[Launch | Repeat]:
    made: list[Launch | Repeat] = []
    for each in prepared:
        if type(each) is not tuple:
            made.append(each)
            continue
        if len(each) == 2:
            ((count,), launches) = rows[each[0]], each[1]
            made.append(Repeat(count, tuple(_launches(launches, rows))))
            continue
        fields, flat, several = each
        launch = object.__new__(Launch)  # `replace` costs several times as much
        own = vars(launch)
        own.update(fields)
        for name, row in flat.items():
            own[name] = rows[row]
        for name, each_row in several.items():
            own[name] = tuple([rows[row] for row in each_row])
        made.append(launch)
    return made
