"""The protocol of conversions to TTIR: tensors, calls, and the ops that are written.

A pass implements it by writing TTIR (`dialects/text_calls/ttir_writer.py`), a program by the declarations of the ops of
TTIR (`TtirOverTexts` of dialect_conversion.py).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from ttnn_jit.ops.families.text_operation import DenseNumbers, TextCall
from ttnn_jit.process.dataclass import dataclass

Extents = Sequence[int]
BOOL = "i1"
"""The element type of flags."""


@dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor in a conversion.

    Attributes:
        shape: Its extents.
        element: Its element type, as a text spells it.
        handle: The protocol's own representation; None of a type alone.
    """

    shape: tuple[int, ...]
    element: str
    handle: Any = None

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def is_float(self) -> bool:
        """Whether its elements are floats."""
        return self.element.startswith(("f", "bf"))

    @property
    def is_bool(self) -> bool:
        """Whether its elements are flags."""
        return self.element == BOOL

    @property
    def is_unsigned(self) -> bool:
        """Whether its elements are flags, or integers without a sign."""
        return self.is_bool or self.element.startswith("ui")

    @property
    def bits(self) -> int:
        """The bits of an element."""
        return int("".join(each for each in self.element if each.isdigit()))

    @property
    def lowest(self) -> float:
        """The lowest number."""
        if self.is_float:
            return -math.inf
        return 0 if self.is_unsigned else -(1 << (self.bits - 1))

    @property
    def highest(self) -> float:
        """The highest number."""
        if self.is_float:
            return math.inf
        return (1 << (self.bits - (not self.is_unsigned))) - 1


class ConversionCall(TextCall):
    """One op of a text in a conversion: operands are `Tensor` objects, and results their types."""

    results: tuple[Tensor, ...]  # type: ignore[assignment]

    @property
    def result(self) -> Tensor:  # type: ignore[override]
        """The type of the first result."""
        return self.results[0]

    @classmethod
    def of(cls, given: Mapping[str, Any], results: Sequence[Tensor]) -> ConversionCall:
        """The call with operands and attributes by name."""
        return cls(given, results)  # type: ignore[arg-type]


class TtirOps(ABC):
    """The protocol of conversions.

    Attributes:
        mesh: The extents of the mesh.
    """

    mesh: tuple[int, ...] = (1,)

    @abstractmethod
    def results(
        self, name: str, operands: Sequence[Any], types: Sequence[Tensor], /, **attributes: Any
    ) -> list[Tensor]:
        """The results of an op of TTIR.

        Args:
            name: The op, ``ttir.add``.
            operands: A tensor, a list of tensors or None for each of its operands.
            types: The shape and element type of each result.
            **attributes: As Python values.
        """

    def op(self, name: str, operands: Sequence[Any], shape: Extents, element: str, /, **attributes: Any) -> Tensor:
        """The result of an op with one result."""
        (found,) = self.results(name, operands, [Tensor(tuple(shape), element)], **attributes)
        return found

    def same(self, name: str, /, *operands: Tensor, **attributes: Any) -> Tensor:
        """The result of an op, of the first operand's shape and element type."""
        return self.op(name, operands, operands[0].shape, operands[0].element, **attributes)

    def compared(self, name: str, x: Tensor, y: Tensor) -> Tensor:
        """The flags of a comparison."""
        return self.op(name, [x, y], x.shape, BOOL)

    def constant(self, numbers: DenseNumbers, element: str) -> Tensor:
        """A tensor of these numbers."""
        return self.op("ttir.constant", [], numbers.shape, element, value=numbers)

    def filled(self, number: float, shape: Extents, element: str) -> Tensor:
        """A tensor of one number."""
        return self.constant(DenseNumbers(tuple(shape), (number,)), element)

    def like(self, x: Tensor, number: float) -> Tensor:
        """A tensor of one number, of the shape and element type of `x`."""
        return self.filled(number, x.shape, x.element)

    def counted(self, shape: Extents, axis: int, element: str) -> Tensor:
        """The index along a dimension in every element."""
        numbers = {"start": 0, "end": shape[axis], "step": 1, "arange_dimension": axis}
        return self.op("ttir.arange", [], shape, element, **numbers)

    def cast(self, x: Tensor, element: str) -> Tensor:
        """`x` in another element type; as flags, whether it is not zero."""
        if x.element == element:
            return x
        if element == BOOL:
            return self.compared("ttir.ne", x, self.like(x, 0))
        return self.op("ttir.typecast", [x], x.shape, element)

    def reshape(self, x: Tensor, shape: Extents) -> Tensor:
        """`x` in another shape; `x` itself if it has that."""
        if x.shape == tuple(shape):
            return x
        return self.op("ttir.reshape", [x], shape, x.element, shape=tuple(shape))

    def permute(self, x: Tensor, order: Extents) -> Tensor:
        """The dimensions of `x` in another order."""
        if [*order] == [*range(x.rank)]:
            return x
        shape = [x.shape[axis] for axis in order]
        return self.op("ttir.permute", [x], shape, x.element, permutation=tuple(order))

    def expand(self, x: Tensor, shape: Extents) -> Tensor:
        """`x` repeated along dimensions of extent 1."""
        if x.shape == tuple(shape):
            return x
        counts = tuple(1 if own == wanted else wanted for own, wanted in zip(x.shape, shape, strict=True))
        return self.op("ttir.broadcast", [x], shape, x.element, broadcast_dimensions=counts)

    def along(self, x: Tensor, axes: Extents, shape: Extents) -> Tensor:
        """`x` with its dimensions at `axes` of `shape`, repeated along the others."""
        order = sorted(range(x.rank), key=lambda each: axes[each])
        x = self.permute(x, order)
        placed = [1] * len(shape)
        for own, axis in zip(x.shape, sorted(axes), strict=True):
            placed[axis] = own
        return self.expand(self.reshape(x, placed), shape)

    def spread(self, x: Tensor, shape: Extents) -> Tensor:
        """A tensor of one element in another shape."""
        return x if x.shape == tuple(shape) else self.expand(self.reshape(x, (1,) * len(shape)), shape)

    def select(self, flags: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """`x` where a flag is set, else `y`."""
        return self.op("ttir.where", [flags, x, y], x.shape, x.element)

    def slice(self, x: Tensor, begins: Extents, ends: Extents, steps: Extents | None = None) -> Tensor:
        """Every `steps`-th element from `begins` to `ends`."""
        steps = steps or (1,) * x.rank
        if (*begins,) == (0,) * x.rank and (*ends,) == x.shape and (*steps,) == (1,) * x.rank:
            return x
        shape = [len(range(*each)) for each in zip(begins, ends, steps, strict=True)]
        limits = {"begins": tuple(begins), "ends": tuple(ends), "step": tuple(steps)}
        return self.op("ttir.slice_static", [x], shape, x.element, **limits)

    def part(self, x: Tensor, axis: int, begin: int, end: int, step: int = 1) -> Tensor:
        """Every `step`-th element from `begin` to `end` along a dimension."""
        begins, ends, steps = [0] * x.rank, [*x.shape], [1] * x.rank
        begins[axis], ends[axis], steps[axis] = begin, end, step
        return self.slice(x, begins, ends, steps)

    def concat(self, parts: Sequence[Tensor], axis: int) -> Tensor:
        """The parts one after the other; the one part itself."""
        if len(parts) == 1:
            return parts[0]
        shape = [*parts[0].shape]
        shape[axis] = sum(each.shape[axis] for each in parts)
        return self.op("ttir.concat", [[*parts]], shape, parts[0].element, dim=axis)

    def padded(self, x: Tensor, low: Extents, high: Extents, number: float) -> Tensor:
        """`x` with `low` and `high` elements of one number around; where they are below 0, cut off."""
        cut = [max(0, -each) for each in low], [max(0, -each) for each in high]
        x = self.slice(x, cut[0], [extent - each for extent, each in zip(x.shape, cut[1], strict=True)])
        wide = [(max(0, first), max(0, last)) for first, last in zip(low, high, strict=True)]
        if not any(map(any, wide)):
            return x
        shape = [first + extent + last for extent, (first, last) in zip(x.shape, wide, strict=True)]
        padding = tuple(each for pair in wide for each in pair)
        if math.isfinite(number) and abs(number) < 2**24:
            return self.op("ttir.pad", [x], shape, x.element, padding=padding, value=float(number))
        ones = self.op("ttir.pad", [self.filled(1, x.shape, "i32")], shape, "i32", padding=padding, value=0.0)
        data = self.op("ttir.pad", [x], shape, x.element, padding=padding, value=0.0)
        return self.select(self.cast(ones, BOOL), data, self.filled(number, shape, x.element))

    def spaced(self, x: Tensor, axis: int, distance: int, number: float) -> Tensor:
        """`x` with `distance` - 1 elements of one number between its elements along a dimension."""
        if distance == 1 or x.shape[axis] <= 1:
            return x
        before, behind = x.shape[: axis + 1], x.shape[axis + 1 :]
        apart = self.reshape(x, (*before, 1, *behind))
        high = [0] * apart.rank
        high[axis + 1] = distance - 1
        wide = self.padded(apart, [0] * apart.rank, high, number)
        flat = self.reshape(wide, (*before[:-1], before[-1] * distance, *behind))
        return self.part(flat, axis, 0, (x.shape[axis] - 1) * distance + 1)

    def reduced(self, name: str, x: Tensor, axes: Extents, element: str | None = None) -> Tensor:
        """A reduction along dimensions, which the result has not."""
        shape = [extent for axis, extent in enumerate(x.shape) if axis not in axes]
        return self.op(name, [x], shape, element or x.element, keep_dim=False, dim_arg=tuple(axes))
