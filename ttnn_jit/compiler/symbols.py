"""Which sizes of a call are symbols of a template, and which are fixed: extents of its tensors, ints, and floats."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ttnn_jit.foreign.container_items import is_record, names_and_items
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.extents.trace import GREATEST_SYMBOL, LEAST_SYMBOL, Trace
from ttnn_jit.specs.spec_forms import names_of_sizes_in, sizes_in, with_sizes
from ttnn_jit.specs.tensor_spec import TensorSpec

Sizes = Sequence[tuple[int, ...]]
"""The sizes of the tensors of a call (specs/spec_forms.py), behind them its ints, and then the bits of its floats."""

SizeNames = Sequence[Sequence[str]]
"""The names of the sizes of a call: per tensor those of its sizes, such as ``x.shape[0]``, then those of its ints and
of its floats."""

Place = tuple[int, int]
"""A tensor of a call and the number of its size; behind the tensors, the row of ints or that of floats, and a place
there."""


@dataclass(frozen=True)
class Symbols:
    """The sizes of a call that are symbols.

    Attributes:
        numbers: Per place the number of the symbol, or None for a size that is fixed.
        fixed: Per place the size that is fixed, or None.
        floats: The rows of floats: that of the call, and behind the hidden inputs those of hidden numbers.
        integers: The rows of ints, likewise, which may be negative.
    """

    numbers: tuple[tuple[int | None, ...], ...]
    fixed: tuple[tuple[int | None, ...], ...]
    floats: tuple[int, ...]
    integers: tuple[int, ...]

    @staticmethod
    def of(sizes: Sizes, dynamic: Callable[[Place], bool], are_equal: Callable[[Place, Place], bool]) -> Symbols:
        """A symbol for each size that is `dynamic` and may be one; sizes that `are_equal` share one.

        There are no hidden inputs yet.
        """
        found: list[Place] = []
        integers, floats = len(sizes) - 2, len(sizes) - 1
        numbers: list[tuple[int | None, ...]] = []
        for index, shape in enumerate(sizes):
            own: list[int | None] = []
            for axis, size in enumerate(shape):
                here = index, axis
                may_vary = index == floats or is_symbol(abs(size) if index == integers else size)
                if not may_vary or not dynamic(here):
                    own.append(None)
                    continue
                alike = (
                    number
                    for number, other in enumerate(found)
                    if (other[0] == floats) == (index == floats) and are_equal(here, other)
                )
                same = next(alike, len(found))
                if same == len(found):
                    found.append(here)
                own.append(same)
            numbers.append(tuple(own))
        fixed = (
            tuple(size if number is None else None for size, number in zip(shape, own, strict=True))
            for shape, own in zip(sizes, numbers, strict=True)
        )
        return Symbols(tuple(numbers), tuple(fixed), (floats,), (integers,))

    @cached_property
    def _fixed_shapes(self) -> list[tuple[int, tuple[int | None, ...]]]:
        """The shapes without symbols, by the number of the tensor."""
        each = enumerate(zip(self.numbers, self.fixed, strict=True))
        return [(index, fixed) for index, (own, fixed) in each if not _has_symbols(own)]

    @cached_property
    def _varying(self) -> list[tuple[int, tuple[int | None, ...], tuple[int | None, ...]]]:
        """The number of each other tensor, and its symbols and fixed extents."""
        each = enumerate(zip(self.numbers, self.fixed, strict=True))
        return [(index, own, fixed) for index, (own, fixed) in each if _has_symbols(own)]

    @cached_property
    def count(self) -> int:
        """The number of symbols."""
        return 1 + max((number for own in self.numbers for number in own if number is not None), default=-1)

    def values(self, sizes: Sizes) -> list[int] | None:
        """The values of the symbols for a call's sizes, for floats their bits.

        Returns:
            None if a fixed size differs, two of one symbol do, or one is too small or too large for a symbol.
        """
        if any(tuple.__ne__(sizes[index], wanted) for index, wanted in self._fixed_shapes):
            return None
        values: dict[int, int] = {}
        for index, own, fixed in self._varying:
            for size, number, wanted in zip(sizes[index], own, fixed, strict=True):
                if number is None:
                    if size != wanted:
                        return None
                elif values.setdefault(number, size) != size or not self.may_be(index, size):
                    return None
        return [values[number] for number in range(len(values))]

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        hidden = {"floats": self.floats[1:], "integers": self.integers[1:]}
        return {"numbers": self.numbers, "fixed": self.fixed, "hidden": hidden}

    @staticmethod
    def from_json(fields: Any, ranks: Sequence[int], own: int | None = None) -> Symbols:
        """The inverse of `to_json`, for sizes of these ranks; those of the call are the `own` first ones, or all.

        Raises:
            LookupError, TypeError, ValueError: The fields do not describe symbols of such sizes.
        """
        numbers, fixed = (tuple(map(tuple, fields[name])) for name in ("numbers", "fixed"))
        both = [[*zip(own, others, strict=True)] for own, others in zip(numbers, fixed, strict=True)]
        pairs = [pair for own in both for pair in own]
        if [*map(len, both)] != [*ranks] or any((one is None) == (other is None) for one, other in pairs):
            raise ValueError("every size is a symbol, or fixed")
        if not {*map(type, itertools.chain(*pairs))} <= {int, type(None)}:
            raise TypeError("sizes are whole numbers")
        used = sorted({number for number, _ in pairs if number is not None})
        if used != [*range(len(used))]:
            raise ValueError("symbols are numbered from 0")
        count = len(ranks) if own is None else own
        floats, integers = (tuple(map(operator.index, fields["hidden"][kind])) for kind in ("floats", "integers"))
        if not {*floats, *integers} <= {row for row in range(count, len(ranks)) if ranks[row] == 1}:
            raise ValueError("a hidden number has a row of its own behind those of the call")
        return Symbols(numbers, fixed, (count - 1, *floats), (count - 2, *integers))

    def first_rows(self, count: int) -> Symbols:
        """The symbols of the first rows."""
        floats, integers = ([row for row in rows if row < count] for rows in (self.floats, self.integers))
        return Symbols(self.numbers[:count], self.fixed[:count], tuple(floats), tuple(integers))

    def may_be(self, row: int, size: int) -> bool:
        """Whether a symbol of this row may have the value of a size."""
        return row in self.floats or is_symbol(abs(size) if row in self.integers else size)

    def traced_symbols(self, sizes: Sizes, trace: Trace) -> list[Any]:
        """The symbols as extents and floats of a trace that begins with a call's sizes."""
        hints = self.values(sizes)
        assert hints is not None, "a trace begins with the sizes of its symbols"
        of_floats = {number for row in self.floats for number in self.numbers[row]}
        made = []
        for number, hint in enumerate(hints):
            made.append(trace.float_symbol(hint) if number in of_floats else trace.symbol(hint))
        return made

    def traced(
        self, specs: Sequence[TensorSpec], numbers: Sequence[Sequence[float]], symbols: Sequence[Any]
    ) -> tuple[tuple[TensorSpec, ...], list[Sequence[float]]]:
        """The specs of a call, and its ints and floats, with numbers of a trace in place of the symbols."""

        def of(sizes: Sequence[Any], own: Sequence[int | None]) -> tuple[Any, ...]:
            return tuple(size if number is None else symbols[number] for size, number in zip(sizes, own, strict=True))

        *of_tensors, of_integers, of_floats = self.numbers
        made = (
            with_sizes(spec, of(sizes_in(spec), own)) if _has_symbols(own) else spec
            for spec, own in zip(specs, of_tensors, strict=True)
        )
        return tuple(made), [*map(of, numbers, (of_integers, of_floats))]


def is_symbol(size: int) -> bool:
    """Whether a symbol may have the value of an extent, or the magnitude of an int."""
    return LEAST_SYMBOL <= size <= GREATEST_SYMBOL


def _has_symbols(numbers: Sequence[int | None]) -> bool:
    return any(number is not None for number in numbers)


def names_of_sizes(arguments: Mapping[str, Any]) -> SizeNames:
    """The names of the sizes of arguments, which have specs in place of tensors."""
    found = [leaf for name, value in arguments.items() for leaf in _leaves(value, name)]
    tensors = [(name, leaf) for name, leaf in found if isinstance(leaf, TensorSpec)]
    sizes = [names_of_sizes_in(spec, name) for name, spec in tensors]
    return [*sizes, *([name for name, leaf in found if type(leaf) is kind] for kind in (int, float))]


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    container = names_and_items(value)
    if container is None:
        yield name, value
        return
    keys, items = container
    for index, item in enumerate(items):
        inner = f"[{index}]" if keys is None else f".{keys[index]}" if is_record(value) else f"[{keys[index]!r}]"
        yield from _leaves(item, name + inner)
