"""Which extents of a call's tensors are symbols of a template, and which are fixed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.extents.extent import LEAST_SYMBOL, Trace
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

    def values(self, shapes: Shapes) -> list[int] | None:
        """The values of the symbols for a call's shapes; None if a fixed extent differs, or two of one symbol."""
        if any(tuple.__ne__(shapes[index], wanted) for index, wanted in self._fixed_shapes):
            return None
        values: list[int] = [0] * self.count
        for index, own, fixed in self._varying:
            for extent, number, wanted in zip(shapes[index], own, fixed, strict=True):
                if number is None:
                    if extent != wanted:
                        return None
                elif values[number] == 0:
                    values[number] = extent
                elif values[number] != extent:
                    return None
        return values

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {"numbers": self.numbers, "fixed": self.fixed}

    @staticmethod
    def from_json(fields: Any, ranks: Sequence[int]) -> Symbols:
        """The inverse of `to_json`, for tensors of these ranks.

        Raises:
            LookupError, TypeError, ValueError: The fields do not describe symbols of such tensors.
        """
        numbers, fixed = (tuple(map(tuple, fields[name])) for name in ("numbers", "fixed"))
        both = [[*zip(own, others, strict=True)] for own, others in zip(numbers, fixed, strict=True)]
        pairs = [pair for own in both for pair in own]
        if [*map(len, both)] != [*ranks] or any((one is None) == (other is None) for one, other in pairs):
            raise ValueError("every extent is a symbol, or fixed")
        if not {*map(type, itertools.chain(*pairs))} <= {int, type(None)}:
            raise TypeError("extents are whole numbers")
        used = sorted({number for number, _ in pairs if number is not None})
        if used != [*range(len(used))]:
            raise ValueError("symbols are numbered from 0")
        return Symbols(numbers, fixed)

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
            if _has_symbols(own)
            else spec
            for spec, own in zip(specs, self.numbers, strict=True)
        )


def _has_symbols(numbers: Sequence[int | None]) -> bool:
    return any(number is not None for number in numbers)
