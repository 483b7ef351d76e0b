"""Extents of hidden inputs that are symbols: of a cache that grows, or of weights that are replaced.

A compile finds its hidden inputs while it runs. So the symbols of their extents are made where an input is found, after
those of the call's sizes, and only for extents that had another value at an earlier call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ttnn_jit.compiler.symbols import Sizes, Symbols
from ttnn_jit.foreign.values import is_a
from ttnn_jit.guards.reads import STATE_STEP, Path, Read
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.libraries import LibraryMark, mark_of
from ttnn_jit.specs.extents.extent import GREATEST_SYMBOL, LEAST_SYMBOL, Trace
from ttnn_jit.specs.spec_forms import sizes_in, with_sizes
from ttnn_jit.specs.tensor_spec import TensorSpec

HiddenSizes = Mapping[Path, tuple[int, ...]]
"""The sizes of the hidden inputs of one call (specs/spec_forms.py), by path."""


def sizes_of_reads(reads: Sequence[Read]) -> dict[Path, tuple[int, ...]]:
    """The sizes of the hidden inputs among the reads of a compile."""
    marked = (read for read in reads if is_a(read.value, LibraryMark) and read.path[0][0] != STATE_STEP)
    return {read.path: sizes_in(read.value.spec) for read in marked}


def with_forms(reads: Sequence[Read], paths: Sequence[Path]) -> tuple[Read, ...]:
    """The reads with the forms of the tensors at `paths` in place of their metadata."""
    return tuple(replace(read, value=read.value.form) if read.path in paths else read for read in reads)


def with_metadata(reads: Sequence[Read], tensors: Mapping[Path, Any]) -> tuple[Read, ...]:
    """The reads with the metadata of these tensors, by path."""
    return tuple(replace(read, value=mark_of(tensors[read.path])) if read.path in tensors else read for read in reads)


@dataclass
class SeenCall:
    """The sizes of a call that was compiled.

    Attributes:
        sizes: Its sizes.
        hidden: The sizes of its hidden inputs.
    """

    sizes: Sizes
    hidden: HiddenSizes


class HiddenSymbols:
    """The symbols of a compile's hidden inputs.

    Args:
        seen: The earlier calls, and this one without hidden inputs.
        symbols: The symbols of the call's sizes.
        extents: Their extents.
        trace: The trace.
    """

    def __init__(self, seen: Sequence[SeenCall], symbols: Symbols, extents: Sequence[Any], trace: Trace) -> None:
        self._seen = seen
        self._symbols = symbols
        self._extents = [*extents]
        self._trace = trace
        self._specs: dict[Path, TensorSpec] = {}
        self._rows: dict[Path, tuple[int | None, ...]] = {}
        self._sizes: dict[Path, tuple[int, ...]] = {}

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

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths of the hidden inputs with symbols."""
        return tuple(self._rows)

    @property
    def sizes(self) -> tuple[tuple[int, ...], ...]:
        """Their sizes in this call."""
        return tuple(self._sizes.values())

    def completed(self) -> Symbols:
        """The symbols of the call's sizes, and behind them those of the hidden inputs with symbols."""
        numbers = tuple(self._rows.values())
        fixed = tuple(
            tuple(extent if number is None else None for extent, number in zip(sizes, own, strict=True))
            for sizes, own in zip(self.sizes, numbers, strict=True)
        )
        return Symbols((*self._symbols.numbers, *numbers), (*self._symbols.fixed, *fixed))

    def _numbers(self, path: Path, spec: TensorSpec) -> tuple[int | None, ...]:
        sizes = sizes_in(spec)
        earlier = [seen for seen in self._seen if len(seen.hidden.get(path, ())) == len(sizes)]
        return tuple(self._number(path, axis, extent, earlier) for axis, extent in enumerate(sizes))

    def _number(self, path: Path, axis: int, extent: int, earlier: Sequence[SeenCall]) -> int | None:
        varies = any(seen.hidden[path][axis] != extent for seen in earlier)
        if not varies or not LEAST_SYMBOL <= extent <= GREATEST_SYMBOL:
            return None
        same = self._equal_size(path, axis, extent, earlier)
        if same is None:
            self._extents.append(self._trace.symbol(extent))
            return len(self._extents) - 1
        return same

    def _equal_size(self, path: Path, axis: int, extent: int, earlier: Sequence[SeenCall]) -> int | None:
        """The number of a symbol of the call's sizes that was equal at every call."""
        now = self._seen[-1].sizes
        for index, own in enumerate(self._symbols.numbers):
            for place, number in enumerate(own):
                equal = number is not None and now[index][place] == extent
                if equal and all(seen.sizes[index][place] == seen.hidden[path][axis] for seen in earlier):
                    return number
        return None
