"""Which sizes of a call, extents of its tensors and ints, are symbols of a template, and which are fixed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.extents.extent import GREATEST_SYMBOL, LEAST_SYMBOL, Trace
from ttnn_jit.specs.tensor_spec import TensorSpec

Sizes = Sequence[tuple[int, ...]]
"""The shapes of the tensors of a call, and behind them its ints."""

Place = tuple[int, int]
"""A tensor of a call and its axis; behind the tensors, the place of an int."""


@dataclass(frozen=True)
class Symbols:
    """The sizes of a call that are symbols.

    Attributes:
        numbers: Per place the number of the symbol, or None for a size that is fixed.
        fixed: Per place the size that is fixed, or None.
    """

    numbers: tuple[tuple[int | None, ...], ...]
    fixed: tuple[tuple[int | None, ...], ...]

    @staticmethod
    def of(sizes: Sizes, dynamic: Callable[[Place], bool], are_equal: Callable[[Place, Place], bool]) -> Symbols:
        """A symbol for each size that is `dynamic` and may be one; sizes that `are_equal` share one."""
        found: list[Place] = []
        numbers: list[tuple[int | None, ...]] = []
        for index, shape in enumerate(sizes):
            own: list[int | None] = []
            for axis, size in enumerate(shape):
                here = index, axis
                if not LEAST_SYMBOL <= size <= GREATEST_SYMBOL or not dynamic(here):
                    own.append(None)
                    continue
                same = next((number for number, other in enumerate(found) if are_equal(here, other)), len(found))
                if same == len(found):
                    found.append(here)
                own.append(same)
            numbers.append(tuple(own))
        fixed = (
            tuple(size if number is None else None for size, number in zip(shape, own, strict=True))
            for shape, own in zip(sizes, numbers, strict=True)
        )
        return Symbols(tuple(numbers), tuple(fixed))

    @property
    def count(self) -> int:
        """The number of symbols."""
        return 1 + max((number for own in self.numbers for number in own if number is not None), default=-1)

    def values(self, sizes: Sizes) -> list[int] | None:
        """The values of the symbols for a call's sizes.

        Returns:
            None if a fixed size differs, two of one symbol do, or one is too small or too large for a symbol.
        """
        values: dict[int, int] = {}
        for shape, own, fixed in zip(sizes, self.numbers, self.fixed, strict=True):
            for size, number, wanted in zip(shape, own, fixed, strict=True):
                if number is None:
                    if size != wanted:
                        return None
                elif values.setdefault(number, size) != size or not LEAST_SYMBOL <= size <= GREATEST_SYMBOL:
                    return None
        return [values[number] for number in range(len(values))]

    def traced(
        self, specs: Sequence[TensorSpec], integers: Sequence[int], trace: Trace
    ) -> tuple[tuple[TensorSpec, ...], tuple[int, ...]]:
        """The specs and the ints of a call, with the extents of a trace."""
        hints = self.values([*(tuple(spec.shape) for spec in specs), tuple(integers)])
        assert hints is not None, "a trace begins with the sizes of its symbols"
        symbols = [trace.symbol(hint) for hint in hints]

        def of(sizes: Sequence[int], own: Sequence[int | None]) -> tuple[int, ...]:
            return tuple(size if number is None else symbols[number] for size, number in zip(sizes, own, strict=True))

        *of_tensors, of_integers = self.numbers
        made = (
            TensorSpec(of(spec.shape, own), spec.dtype, spec.layout, spec.memory_config)
            if any(number is not None for number in own)
            else spec
            for spec, own in zip(specs, of_tensors, strict=True)
        )
        return tuple(made), of(integers, of_integers)
