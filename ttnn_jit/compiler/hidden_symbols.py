"""Extents of hidden inputs that are symbols, of a cache that grows or of weights that are replaced; hidden numbers.

A compile finds its hidden inputs, and numbers such as globals, while it runs. So their symbols are made where one is
found, after those of the call's sizes, and only for extents and numbers that had another value at an earlier call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ttnn_jit.compiler.symbols import Sizes, Symbols, is_symbol
from ttnn_jit.foreign.values import atom_key, is_a
from ttnn_jit.guards.reads import (
    ATTRIBUTE_STEP,
    CLOSURE_STEP,
    GLOBAL_STEP,
    ITEM_STEP,
    NATIVE_ITEM_STEP,
    STATE_STEP,
    NumberMark,
    Path,
    Read,
)
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.runtime.libraries import LibraryMark, mark_of
from ttnn_jit.specs.extents.float_functions import double_bits
from ttnn_jit.specs.extents.trace import Trace
from ttnn_jit.specs.spec_forms import sizes_in, with_sizes
from ttnn_jit.specs.tensor_spec import TensorSpec

HiddenSizes = Mapping[Path, tuple[int, ...]]
"""The sizes of the hidden inputs of one call (specs/spec_forms.py), by path."""


def sizes_of_reads(reads: Sequence[Read]) -> dict[Path, tuple[int, ...]]:
    """The sizes of the hidden inputs among the reads of a compile."""
    marked = (read for read in reads if is_a(read.value, LibraryMark) and read.path[0][0] != STATE_STEP)
    return {read.path: sizes_in(read.value.spec) for read in marked}


Numbers = Mapping[Path, float]
"""The ints and floats that one call read, by path."""

_STEPS_TO_NUMBERS = frozenset({GLOBAL_STEP, CLOSURE_STEP, ATTRIBUTE_STEP, ITEM_STEP, NATIVE_ITEM_STEP})


def is_number(value: object) -> bool:
    """Whether a value is an int or a float of Python's."""
    return type(value) in {int, float}


def may_be_open(path: Path, value: Any) -> bool:
    """Whether a value that is read may be a symbol: an int or float that a path of plain look-ups leads to."""
    return is_number(value) and all(kind in _STEPS_TO_NUMBERS for kind, _ in path)


def numbers_of_reads(reads: Sequence[Read]) -> dict[Path, float]:
    """The ints and floats among the reads of a compile that may be symbols."""
    return {read.path: read.value for read in reads if may_be_open(read.path, read.value)}


def with_forms(reads: Sequence[Read], paths: Sequence[Path]) -> tuple[Read, ...]:
    """The reads with the forms of the tensors and the classes of the numbers at `paths` in place of their values."""

    def form(value: Any) -> Any:
        return NumberMark(type(value)) if is_number(value) else value.form

    return tuple(replace(read, value=form(read.value)) if read.path in paths else read for read in reads)


def mark_in(value: Any) -> LibraryMark:
    """The metadata of a tensor, which may be given in its place."""
    return value if type(value) is LibraryMark else mark_of(value)


def with_values(reads: Sequence[Read], found: Mapping[Path, Any]) -> tuple[Read, ...]:
    """The reads with the metadata of these tensors, and with these numbers, by path."""

    def value(given: Any) -> Any:
        return given if is_number(given) else mark_in(given)

    return tuple(replace(read, value=value(found[read.path])) if read.path in found else read for read in reads)


@dataclass
class SeenCall:
    """The sizes of a call that was compiled.

    Attributes:
        sizes: Its sizes.
        hidden: The sizes of its hidden inputs.
        numbers: The numbers that it read.
    """

    sizes: Sizes
    hidden: HiddenSizes
    numbers: Numbers


def size_of_number(value: float) -> int:
    """A number among the sizes of a call: of a float its bits."""
    return double_bits(value) if isinstance(value, float) else value


class HiddenSymbols:
    """The symbols of a compile's hidden inputs and hidden numbers.

    Args:
        seen: The earlier calls, and this one without hidden inputs.
        symbols: The symbols of the call's sizes.
        sizes: The call's sizes.
        opens_floats: Whether floats may be symbols.

    Attributes:
        trace: The trace of the compile.
        own: The numbers of the trace for `symbols`.
    """

    def __init__(self, seen: Sequence[SeenCall], symbols: Symbols, sizes: Sizes, *, opens_floats: bool) -> None:
        self.trace = Trace()
        self.own = symbols.traced_symbols(sizes, self.trace)
        self._seen = seen
        self._symbols = symbols
        self._extents = [*self.own]
        self._opens_floats = opens_floats
        self._specs: dict[Path, TensorSpec] = {}
        self._rows: dict[Path, tuple[int | None, ...]] = {}
        self._sizes: dict[Path, tuple[int, ...]] = {}
        self._numbers_found: dict[Path, tuple[float, int | None]] = {}

    def spec(self, path: Path, spec: TensorSpec) -> TensorSpec:
        """The spec of the hidden input at `path`, with an extent of the trace for each that has varied."""
        if path not in self._specs:
            numbers = self._numbers(path, spec)
            self._specs[path] = spec
            if any(number is not None for number in numbers):
                self._rows[path], self._sizes[path] = numbers, sizes_in(spec)
                self._specs[path] = with_sizes(spec, self._with_extents(sizes_in(spec), numbers))
        return self._specs[path]

    def _with_extents(self, sizes: Sequence[int], numbers: Sequence[int | None]) -> list[Any]:
        return [
            extent if number is None else self._extents[number] for extent, number in zip(sizes, numbers, strict=True)
        ]

    def number(self, path: Path, value: float) -> float:
        """The number that was read at `path`; one of the trace if it has varied."""
        if path not in self._numbers_found:
            self._numbers_found[path] = value, self._symbol_of_number(path, value)
        _, symbol = self._numbers_found[path]
        return value if symbol is None else self._extents[symbol]

    def _symbol_of_number(self, path: Path, value: float) -> int | None:
        earlier = [seen.numbers[path] for seen in self._seen if path in seen.numbers]
        if not may_be_open(path, value) or all(atom_key(other) == atom_key(value) for other in earlier):
            return None
        if not (is_symbol(abs(value)) if type(value) is int else self._opens_floats):
            return None
        return self._new_symbol(value)

    def _new_symbol(self, value: float) -> int:
        """The number of a new symbol with the value of an extent or of a hidden number."""
        trace, bits = self.trace, size_of_number(value)
        self._extents.append(trace.float_symbol(bits) if isinstance(value, float) else trace.symbol(bits))
        return len(self._extents) - 1

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths of the hidden inputs with symbols, and behind them those of the numbers that are symbols."""
        return *self._rows, *self._open_numbers

    @property
    def _open_numbers(self) -> dict[Path, tuple[float, int]]:
        return {path: (value, own) for path, (value, own) in self._numbers_found.items() if own is not None}

    @property
    def sizes(self) -> tuple[tuple[int, ...], ...]:
        """The sizes of these inputs in this call, and behind them these numbers, each in a row of its own."""
        return *self._sizes.values(), *((size_of_number(value),) for value, _ in self._open_numbers.values())

    def completed(self) -> Symbols:
        """The symbols of the call's sizes, and behind them those of hidden inputs, then those of hidden numbers."""
        found = self._open_numbers.values()
        numbers = (*self._rows.values(), *((symbol,) for _, symbol in found))
        fixed = tuple(
            tuple(extent if number is None else None for extent, number in zip(sizes, own, strict=True))
            for sizes, own in zip(self.sizes, numbers, strict=True)
        )
        first = len(self._symbols.numbers) + len(self._rows)
        floats = (row for row, (value, _) in enumerate(found, first) if type(value) is float)
        integers = (row for row, (value, _) in enumerate(found, first) if type(value) is int)
        return Symbols(
            (*self._symbols.numbers, *numbers),
            (*self._symbols.fixed, *fixed),
            (*self._symbols.floats, *floats),
            (*self._symbols.integers, *integers),
        )

    def _numbers(self, path: Path, spec: TensorSpec) -> tuple[int | None, ...]:
        sizes = sizes_in(spec)
        earlier = [seen for seen in self._seen if len(seen.hidden.get(path, ())) == len(sizes)]
        return tuple(self._number(path, axis, extent, earlier) for axis, extent in enumerate(sizes))

    def _number(self, path: Path, axis: int, extent: int, earlier: Sequence[SeenCall]) -> int | None:
        varies = any(seen.hidden[path][axis] != extent for seen in earlier)
        if not varies or not is_symbol(extent):
            return None
        same = self._equal_size(path, axis, extent, earlier)
        return self._new_symbol(extent) if same is None else same

    def _equal_size(self, path: Path, axis: int, extent: int, earlier: Sequence[SeenCall]) -> int | None:
        """The number of a symbol of the call's sizes that was equal at every call."""
        now = self._seen[-1].sizes
        for index, own in enumerate(self._symbols.numbers):
            for place, number in enumerate(own):
                equal = number is not None and index not in self._symbols.floats and now[index][place] == extent
                if equal and all(seen.sizes[index][place] == seen.hidden[path][axis] for seen in earlier):
                    return number
        return None


class ReopenedSymbols(HiddenSymbols):
    """The symbols of another compile of a template: those that the template has.

    Args:
        complete: The symbols of the template.
        paths: Its paths.
        sizes: The sizes of the call that is compiled now.
    """

    def __init__(self, complete: Symbols, paths: Sequence[Path], sizes: Sizes) -> None:
        super().__init__((), complete.first_rows(len(sizes)), sizes, opens_floats=True)
        self._known = dict(zip(paths, complete.numbers[len(sizes) :], strict=True))

    @property
    def symbols(self) -> Symbols:
        """The symbols of the call's sizes."""
        return self._symbols

    def _numbers(self, path: Path, spec: TensorSpec) -> tuple[int | None, ...]:
        sizes = sizes_in(spec)
        known = self._known.get(path, (None,) * len(sizes))
        return tuple(self._reopened(number, size) for number, size in zip(known, sizes, strict=True))

    def _symbol_of_number(self, path: Path, value: float) -> int | None:
        (known,) = self._known.get(path, (None,))
        return self._reopened(known, value)

    def _reopened(self, number: int | None, value: float) -> int | None:
        return number if number is None or number < len(self._extents) else self._new_symbol(value)
