"""Why a template does not hold for the sizes of a call, in the user's words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any

from ttnn_jit.compiler.symbols import SizeNames, Sizes, Symbols
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.extents.float_functions import COMPARISONS, double
from ttnn_jit.specs.extents.formulas import Formulas, Guard
from ttnn_jit.specs.extents.polynomials import Applied, Atom, text_of, value_of
from ttnn_jit.specs.extents.trace import LEAST_SYMBOL, Specialization

SHOWN = 3
"""The number of conditions that the warning of too many templates names."""


def _failing(symbols: Symbols, formulas: Formulas, sizes: Sizes, names: SizeNames) -> list[str]:
    """The conditions of a template that the sizes of a call do not meet; none if it holds for them."""
    mismatches = [*_mismatches(symbols, sizes, names)]
    if mismatches:
        return mismatches
    values = symbols.values(sizes)
    atoms = None if values is None else formulas.atom_values(values)
    if atoms is None:
        return ["a divisor is 0"]
    of_symbols = _names_of_symbols(symbols, names)
    floats = {number for row in symbols.floats for number in symbols.numbers[row]}
    return [
        _condition(guard, formulas.atoms, atoms, of_symbols, floats)
        for guard in formulas.guards
        if not guard.holds(atoms)
    ]


def _condition(
    guard: Guard, atoms: Sequence[Atom], values: Sequence[Any], names: Sequence[str], floats: Container[int | None]
) -> str:
    """A condition that does not hold; of floats their values are shown, not their bits."""
    name, value = text_of(guard.terms, atoms, names), value_of(guard.terms, values)
    number = guard.terms[0][0][0]
    match atoms[number]:
        case Applied(function) if function in COMPARISONS:
            return f"not {name}" if value else name
        case Applied("double_bits"):
            return f"{name} == {double(guard.least or 0)!r}: {name} is {double(value)!r}"
        case None if number in floats:
            return f"{name} == {double(guard.least or 0)!r}: {name} is {double(value)!r}"
    return f"{guard.text(atoms, names)}: {name} is {value}"


def _mismatches(symbols: Symbols, sizes: Sizes, names: SizeNames) -> Iterator[str]:
    """The sizes that differ from those that a template fixes, or from another that shares its symbol."""
    first: dict[int, tuple[str, int]] = {}
    for index, (shape, own, fixed) in enumerate(zip(sizes, symbols.numbers, symbols.fixed, strict=True)):
        shown: Callable[[int], float] = double if index in symbols.floats else int
        for axis, (size, number, wanted) in enumerate(zip(shape, own, fixed, strict=True)):
            name = names[index][axis]
            if number is None:
                if wanted is not None and size != wanted:
                    yield f"{name} == {shown(wanted)}: it is {shown(size)}"
                continue
            other, expected = first.setdefault(number, (name, size))
            if size != expected:
                yield f"{name} == {other}, as in the calls before: they are {shown(size)} and {shown(expected)}"
            elif not symbols.may_be(index, size):
                yield f"{name} >= {LEAST_SYMBOL}: it is {size}"


def _names_of_symbols(symbols: Symbols, names: SizeNames) -> list[str]:
    found: dict[int, str] = {}
    for of_place, own in zip(names, symbols.numbers, strict=True):
        for name, number in zip(of_place, own, strict=True):
            if number is not None:
                found.setdefault(number, name)
    return [found[number] for number in range(len(found))]


@dataclass(frozen=True)
class SizedTemplate:
    """A template, and a call.

    Attributes:
        symbols: The symbols of the template.
        formulas: Its guards.
        specialized: The uses that fixed an extent in it.
        sizes: The sizes of the call; None if the call finds another value than the compile read.
        names: The names of the sizes.
    """

    symbols: Symbols
    formulas: Formulas
    specialized: Sequence[Specialization]
    sizes: Sizes | None
    names: SizeNames

    @property
    def failing(self) -> list[str]:
        """The conditions that the call does not meet; none if the template serves it."""
        if self.sizes is None:
            return ["the values that the function read when it was compiled"]
        return _failing(self.symbols, self.formulas, self.sizes, self.names)


def explained(templates: Sequence[SizedTemplate]) -> list[str]:
    """Per template its failing conditions, and the uses that fix sizes in it; none if one serves the call."""
    lines: list[str] = []
    for index, each in enumerate(templates):
        conditions = each.failing
        if not conditions:
            return []
        lines += (f"template {index + 1} of {len(templates)} needs {condition}" for condition in conditions)
        lines += (f"    specialised on {use.value}: {use.use}" for use in each.specialized)
    return lines


def most_frequent_failures(templates: Iterable[SizedTemplate]) -> str:
    """The uses that fix sizes, or else the conditions, that keep most templates from serving the sizes of a call."""
    found: Counter[str] = Counter()
    for each in templates:
        uses = {use.use for use in each.specialized}
        found.update(uses or set(each.failing))
    return "; ".join(text for text, _ in found.most_common(SHOWN))
