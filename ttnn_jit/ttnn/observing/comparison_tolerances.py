"""What may lie between an eager operation's result and its golden, by what its declaration states.

An elementwise operation states a bound. What moves elements changes none. All else is computed in float32 from operands
that are exact, and is right if it is what operands a little off would give: the golden says how far that is (a backward
error). A user's operation states nothing, and is judged by `ttnn.CONFIG.comparison_mode_pcc`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ttnn_jit.foreign.pytrees import leaves
from ttnn_jit.golden.distances import unit_of_block
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

_SUMMED = 2.0**-16
"""Of float32 sums: 256 roundings of 2**-24, which the longest chains of models come near to."""
_MULTIPLIED = 12.0
"""Errors of products fall out one way at worst, and add up as their square root at best: so many times one of them."""
_DRAWS = 8
_WITNESSED = 8.0
"""How many times as far as torch's own float32 a result may be."""
_SMALLEST = 2.0**-126  # what is smaller may be flushed


Elements = tuple[Any, Any, DataType]
"""What a result and its golden are judged by in their place, the elements that indices name, and their type."""


@dataclass(frozen=True)
class JudgedCall:
    """A call whose results are judged.

    Attributes:
        golden: What it is in torch.
        bound: What it was on tensors of ttnn.
        specs: Of the operands.
        on_chip: Whether it ran on a chip's numerics, which pack block floats between the parts of an operation.
    """

    golden: GoldenCall
    bound: BoundCall
    specs: Sequence[OperandSpec]
    on_chip: bool = False

    def locally(self, result: DataType, output: int, relative: float) -> Tolerance:
        """For a result of the type `result`, beside the golden of what the operation got."""
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
        """For a result beside the golden of goldens."""
        return in_a_chain(relative, partial(self.noise, output, relative))

    @property
    def names_indices(self) -> bool:
        """Whether its results may be other ones than the golden's and right: of equal elements any index is."""
        return self.bound.operation.compared_elements is not None

    def compared_elements(self, output: int, results: Sequence[Tensor], goldens: Sequence[torch.Tensor]) -> Elements:
        """What it is judged by where it names indices.

        Raises:
            ShapeError: An index of `results` names no element, or one twice.
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
            return max([_SUMMED, *(2.0 ** (1 - dtype.mantissa_bits) for dtype in dtypes if not dtype.is_integer)])
        if index is None or (text := self.bound.attributes[index]) is None:
            return _SUMMED
        dtypes = [spec.dtype for spec in self.specs[:2] if isinstance(spec, TensorSpec)]
        found = multiplication(text, dtypes[0], dtypes[-1])
        return _SUMMED if found is None else _SUMMED + _MULTIPLIED * found.error

    def noise(self, output: int, error: float) -> torch.Tensor:
        """Per element of a result, how far it moves if the operands do by `error`, or if torch has it in float32.

        Infinite where that gives no number though the golden is one: sums and squares overflow in float32; and on a
        chip where there is none.
        """
        import torch

        generator = torch.Generator().manual_seed(0)  # the user's own draws stay as they are
        exact = self._result(self.golden, output)
        blocks = [spec.dtype.traits.magnitude_bits for spec in self.specs if isinstance(spec, TensorSpec)]
        move = partial(_moved, error, generator, max(blocks) if self.on_chip else 0)
        moved = [self._result(self._changed(move), output) for _ in range(_DRAWS)]
        spread = (torch.stack(moved) - exact).nan_to_num(nan=0.0).abs().amax(0)
        others = [self._result(self._changed(change), output) for change in (_narrow, _magnitude, _flushed)]
        away = _WITNESSED * (others[0] - exact).abs().nan_to_num(nan=0.0, posinf=0.0)
        allowed = spread.nan_to_num(posinf=0.0) + away + error * exact.abs().nan_to_num(nan=0.0, posinf=0.0)
        numbers, undefined = (torch.stack([test(each) for each in others]) for test in (torch.isfinite, torch.isnan))
        overflows = exact.isfinite() & ~numbers.all(0) | ~exact.isnan() & undefined.any(0)
        if self.on_chip:  # which has made an infinity of a NaN on the way
            overflows |= exact.isnan()
        return allowed.masked_fill(overflows, torch.inf)

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


def _moved(error: float, generator: torch.Generator, magnitude_bits: int, value: torch.Tensor) -> torch.Tensor:
    """`value` off by `error`, and by the unit of its block, where it may be packed with so many bits."""
    import torch

    by = torch.randn(value.shape, generator=generator, dtype=torch.float64)
    unit = unit_of_block(value, magnitude_bits) if magnitude_bits else _SMALLEST
    return value * (1.0 + error * by) + unit * by


def _narrow(value: torch.Tensor) -> torch.Tensor:
    return value.float()


def _magnitude(value: torch.Tensor) -> torch.Tensor:
    """In float32, of one sign, so that sums overflow whatever their order is; a mask's infinities stay."""
    import torch

    return torch.where(value.isfinite(), value.abs(), value).float()


def _flushed(value: torch.Tensor) -> torch.Tensor:
    """Denormal operands are zeros where bfloat16 is multiplied: beside an infinity that matters."""
    return value.masked_fill(value.abs() < _SMALLEST, 0.0)


def in_a_chain(relative: float, noise: Callable[[], torch.Tensor]) -> Tolerance:
    """For what several operations gave."""
    return Tolerance(1.0, relative=relative, noise=noise, of_all=True)
