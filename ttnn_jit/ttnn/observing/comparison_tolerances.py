"""The tolerance between an eager operation's result and its golden, from the operation's declaration.

An elementwise operation declares a bound in ulp. A movement must be exact. Other operations compute in float32 from
exact operands; a result is accepted within its backward error, that is, if slightly perturbed operands give it. The
golden is evaluated on perturbed operands to measure this. A user's operation declares nothing, and is judged by
`ttnn.CONFIG.comparison_mode_pcc`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ttnn_jit.foreign.pytrees import leaves
from ttnn_jit.golden.distances import elements_at, unit_of_block
from ttnn_jit.golden.verdict import Tolerance
from ttnn_jit.ops.language.operation import OperandSpec
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.tensors.tensor import Tensor, as_torch
from ttnn_jit.specs.product_precision import multiplication
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

if TYPE_CHECKING:
    import torch

    from ttnn_jit.ops import BoundCall
    from ttnn_jit.ttnn.calling.golden_calls import GoldenCall

_SUM_ERROR = 2.0**-16
"""Relative error of float32 sums: 256 roundings of 2**-24, about the longest chains in models."""
_PRODUCT_ERROR_FACTOR = 12.0
"""Factor between the error of a sum of products and that of one product, for partly correlated errors."""
_PERTURBATIONS = 8
_PART = 2**22
"""Elements of an operand that are changed at a time."""
_FLOAT32_ERROR_FACTOR = 8.0
"""Allowed multiple of the error of torch's float32 result."""
_LARGEST = sys.float_info.max
"""The distance of a changed result that is infinite: it allows any other number."""
_SMALLEST_NORMAL = 2.0**-126  # smaller values may be flushed to zero


SelectedElements = tuple[Any, Any, DataType]
"""The elements that the indices of a result and of its golden select, and their dtype."""


@dataclass(frozen=True)
class JudgedCall:
    """A call whose results are judged.

    Attributes:
        golden: The golden call.
        bound: The call on ttnn tensors.
        specs: Specs of the operands.
        on_chip: Whether it ran with a chip's numerics, which pack block floats between the steps of an operation.
    """

    golden: GoldenCall
    bound: BoundCall
    specs: Sequence[OperandSpec]
    on_chip: bool = False

    def locally(self, result: DataType, output: int, relative: float) -> Tolerance:
        """The tolerance for a result of dtype `result`, compared with the golden of the same operands."""
        operation = self.bound.operation
        if operation.body:
            return Tolerance(relative=relative)
        noise = partial(self.noise, output, self._error())
        operand = next((spec.dtype for spec in self.specs if isinstance(spec, TensorSpec)), result)
        stated = operation.max_ulp(operand, result)
        if stated is not None and not self.golden.has_activations:
            return Tolerance(stated + result.is_block_float / 2, operation.probe.max_absolute)
        half = 1.0 if result.is_block_float else 0.5  # a block that saturates is off by a whole unit
        if operation.compared_elements is not None or operation.only_moves(self.specs, self.bound.attributes):
            return Tolerance(half)
        steps = result.is_block_float and (operation.rounds_intermediates or self.on_chip)
        return Tolerance(half + steps, noise=noise)

    def globally(self, output: int, relative: float) -> Tolerance:
        """The tolerance for a result, compared with the golden of the operands' goldens."""
        return chained_tolerance(relative, partial(self.noise, output, relative))

    @property
    def returns_indices(self) -> bool:
        """Whether the results are indices, which may differ from the golden's: ties allow any index."""
        return self.bound.operation.compared_elements is not None

    def compared_elements(
        self, output: int, results: Sequence[Tensor], goldens: Sequence[torch.Tensor]
    ) -> SelectedElements:
        """The elements that the indices of `results` and `goldens` select.

        Raises:
            ShapeError: An index of `results` is out of range or occurs twice.
        """
        import torch

        assert self.bound.operation.compared_elements is not None, "it names indices"
        given = *self.golden.operands, *self.golden.attributes
        named, right = (
            self.bound.operation.compared_elements(torch, [as_torch(each) for each in found], *given)
            for found in (results, goldens)
        )
        dtypes = [spec.dtype for spec in self.specs if isinstance(spec, TensorSpec)]
        return named[output], right[output], dtypes[0]

    def _error(self) -> float:
        index = self.bound.operation.precision_index
        if self.bound.operation.rounds_intermediates:
            dtypes = [spec.dtype.unpacked for spec in self.specs if isinstance(spec, TensorSpec)]
            return max([_SUM_ERROR, *(2.0 ** (1 - dtype.mantissa_bits) for dtype in dtypes if not dtype.is_integer)])
        if index is None or (text := self.bound.attributes[index]) is None:
            return _SUM_ERROR
        dtypes = [spec.dtype for spec in self.specs[:2] if isinstance(spec, TensorSpec)]
        found = multiplication(text, dtypes[0], dtypes[-1])
        return _SUM_ERROR if found is None else _SUM_ERROR + _PRODUCT_ERROR_FACTOR * found.error

    def noise(
        self,
        output: int,
        error: float,
        *,
        narrows: bool = True,
        exact: torch.Tensor | None = None,
        places: torch.Tensor | None = None,
    ) -> Iterator[torch.Tensor]:
        """Per element of a result, its change if operands change by the relative `error`, or in torch's float32.

        Each estimate is of one change more, and at least the one before. Without `narrows`, it is computed in float64,
        and not in float32 as well. Infinite where the changed result is not finite though the golden is, since sums and
        squares overflow in float32; on a chip also where the golden is NaN.

        Args:
            output: The result.
            error: The relative change.
            narrows: Whether the operation computes in float32.
            exact: The golden of the result; None: it is computed.
            places: The elements that are asked, by their places in row-major order; None: all of them.
        """
        import torch

        generator = torch.Generator().manual_seed(0)  # leaves torch's global generator unchanged
        exact = elements_at(self._result(self.golden, output) if exact is None else exact, places).double()
        allowed = error * exact.abs().nan_to_num(nan=0.0, posinf=0.0)
        overflows = torch.zeros_like(exact, dtype=torch.bool)
        if narrows:
            other = elements_at(self._result(self._changed(partial(_by_parts, _narrow)), output), places)
            overflows |= _is_beyond(other, exact)
            allowed.add_(_distance(other, exact, 0.0), alpha=_FLOAT32_ERROR_FACTOR)
            del other
        if narrows and self.on_chip:  # a chip turns NaN into infinity between steps
            overflows |= exact.isnan()
        blocks = [spec.dtype.traits.magnitude_bits for spec in self.specs if isinstance(spec, TensorSpec)]
        perturb = partial(_perturbed, error, generator, max(blocks) if self.on_chip else 0)
        perturb = perturb if self.on_chip else partial(_by_parts, perturb)  # elements of a block depend on each other
        spread = torch.zeros_like(exact)
        for number in range(_PERTURBATIONS):
            if narrows and number == 1:  # the first estimate suffices for most results
                overflows |= self._overflows(output, exact, places)
            moved = _distance(elements_at(self._result(self._changed(perturb), output), places), exact, _LARGEST)
            torch.maximum(spread, moved, out=spread)
            del moved
            yield (allowed + spread).masked_fill_(overflows, torch.inf)

    def _overflows(self, output: int, exact: torch.Tensor, places: torch.Tensor | None) -> torch.Tensor:
        """Where sums overflow in float32 in some order, or products of flushed operands are NaN."""
        large = self._changed(partial(_by_parts, _magnitude))
        beyond = _is_beyond(elements_at(self._result(large, output), places), exact)
        flushed = self._changed(partial(_by_parts, _flushed))
        if not all(map(_is_same, flushed.operands, self.golden.operands)):
            beyond |= _is_beyond(elements_at(self._result(flushed, output), places), exact)
        return beyond

    def _changed(self, change: Callable[[torch.Tensor], torch.Tensor]) -> GoldenCall:
        import torch

        def changed(value: Any) -> Any:
            is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
            return change(value) if is_float else value

        return replace(self.golden, operands=tuple(map(changed, self.golden.operands)))

    @staticmethod
    def _result(call: GoldenCall, output: int) -> torch.Tensor:
        found: torch.Tensor = leaves(call())[output]
        return found.double()


def _by_parts(change: Callable[[torch.Tensor], torch.Tensor], value: torch.Tensor) -> torch.Tensor:
    """`change` of each element, of many elements part by part, so that what is computed meanwhile is small."""
    import torch

    if value.numel() <= _PART:
        return change(value)
    first, *others = torch.split(value.reshape(-1), _PART)
    changed = change(first)
    found = changed.new_empty(value.numel())
    found[:_PART] = changed
    for number, part in enumerate(others, 1):
        found[number * _PART : (number + 1) * _PART] = change(part)
    return found.reshape(value.shape)


def _is_beyond(other: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    """Where a changed result is no number, or no finite one, and the golden is."""
    return exact.isfinite() & ~other.isfinite() | ~exact.isnan() & other.isnan()


def _is_same(changed: Any, value: Any) -> bool:
    """Whether an operand was not changed."""
    import torch

    return changed is value or (isinstance(value, torch.Tensor) and torch.equal(changed, value.to(changed.dtype)))


def _distance(one: torch.Tensor, exact: torch.Tensor, infinite: float) -> torch.Tensor:
    """The absolute difference, 0 where it is not defined, and `infinite` where it is infinite."""
    return (one - exact).abs_().nan_to_num_(nan=0.0, posinf=infinite)


def _perturbed(error: float, generator: torch.Generator, magnitude_bits: int, value: torch.Tensor) -> torch.Tensor:
    """`value` perturbed by `error`, and by the unit of its block, if it may be packed with so many bits."""
    import torch

    by = torch.randn(value.shape, generator=generator, dtype=torch.float64)
    unit = unit_of_block(value, magnitude_bits) if magnitude_bits else _SMALLEST_NORMAL
    if not isinstance(unit, float):
        return value * (1.0 + error * by) + unit * by
    return (by * error).add_(1.0).mul_(value).add_(by, alpha=unit)


def _narrow(value: torch.Tensor) -> torch.Tensor:
    return value.float()


def _magnitude(value: torch.Tensor) -> torch.Tensor:
    """Absolute values in float32, so that sums overflow in every order; infinities of masks stay unchanged."""
    import torch

    return torch.where(value.isfinite(), value.abs(), value).float()


def _flushed(value: torch.Tensor) -> torch.Tensor:
    """Denormal operands flushed to zero, as in bfloat16 products; this matters for products with infinity."""
    wide = value.double()
    return wide.masked_fill(wide.abs() < _SMALLEST_NORMAL, 0.0)


def chained_tolerance(relative: float, noise: Callable[[], Iterable[torch.Tensor]]) -> Tolerance:
    """The tolerance for the result of several operations."""
    return Tolerance(1.0, relative=relative, noise=noise, by_rms=True)
