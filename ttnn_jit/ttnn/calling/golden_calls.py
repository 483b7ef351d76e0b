"""A call on torch tensors: the golden of its operation, between those of the activations that the call asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.foreign.pytrees import leaves
from ttnn_jit.ops import Operation, bind
from ttnn_jit.ops.applied_unary import AppliedUnary
from ttnn_jit.ops.language.kinds import as_float32
from ttnn_jit.ops.result_options import HARDWARE_KEYWORDS, OPERAND_PARAMETERS, RESULT_KEYWORDS, bind_options
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, dtypes_of_torch
from ttnn_jit.specs.target import Numerics, SystemDesc
from ttnn_jit.specs.tensor_spec import DataType

_OUT = "out"
_OF_OPERANDS = tuple(parameter.name for parameter in OPERAND_PARAMETERS)
_ASK_ACTIVATIONS = ("activations", "program_config", *_OF_OPERANDS)
_SAY_NOTHING = frozenset({"device", _OUT, *HARDWARE_KEYWORDS, *RESULT_KEYWORDS, *_OF_OPERANDS})


@dataclass(frozen=True)
class GoldenCall:
    """A call as its golden is asked.

    Attributes:
        operation: The declaration that was called.
        operands: Torch tensors and numbers.
        attributes: Bound values.
        golden: What the declaration is in torch.
        of_operands: Activations of each operand.
        of_result: Those of the result.
    """

    operation: Operation
    operands: tuple[Any, ...]
    attributes: tuple[Any, ...]
    golden: Callable[..., Any]
    of_operands: tuple[tuple[AppliedUnary, ...], ...] = ()
    of_result: tuple[AppliedUnary, ...] = ()

    def __call__(self) -> Any:
        """What it gives."""
        import torch

        operands = list(self.operands)
        for index, applied in enumerate(self.of_operands):
            operands[index] = _activated(torch, operands[index], applied)
        return _activated(torch, self.golden(torch, *operands, *self.attributes), self.of_result)

    def on(self, target: SystemDesc, dtype: DataType) -> GoldenCall:
        """The call with its numbers as they are beside tensors of `dtype` on `target`."""
        if target.numerics is Numerics.IEEE:
            return self
        return replace(self, operands=tuple(_as_tensor_of(dtype, value) for value in self.operands))

    @property
    def has_activations(self) -> bool:
        """Whether it is more than its operation."""
        return bool(self.of_result or any(self.of_operands))


def golden_call(
    name: str,
    overloads: Iterable[Operation],
    golden_of: Callable[[Operation], Callable[..., Any]],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> GoldenCall:
    """The call of `name`, where `golden_of` is what a declaration is in torch.

    Raises:
        ArgumentError: The arguments do not fit the operation, or an activation is none.
    """
    _, options = bind_options(name, (), {key: kwargs[key] for key in _ASK_ACTIVATIONS if key in kwargs})
    bound = bind(overloads, args, {key: kwargs[key] for key in kwargs if key not in _SAY_NOTHING}, _dtype_in_torch)
    golden = golden_of(bound.operation)
    return GoldenCall(
        bound.operation, bound.operands, bound.attributes, golden, options.operand_activations, options.activations
    )


def written_to(out: Any, result: Any) -> Any:
    """`out`, torch tensors that hold the result of a golden from now on, as torch's own functions write it.

    Raises:
        ArgumentError: There are other tensors than results, or of other shapes.
    """
    outs, results = leaves(out), leaves(result)
    shapes = [[list(each.shape) for each in tensors if hasattr(each, "shape")] for tensors in (outs, results)]
    if shapes[0] != shapes[1]:
        raise ArgumentError(f"`out` has shapes {shapes[0]}, the result {shapes[1]}")
    for target, each in zip(outs, results, strict=True):
        target.copy_(each)
    return out


def _as_tensor_of(dtype: DataType, value: Any) -> Any:
    return dtype.unpacked.rounded(as_float32(value)) if type(value) is float and not dtype.is_integer else value


def _activated(torch: Any, value: Any, activations: Sequence[AppliedUnary]) -> Any:
    for activation in activations:
        bound = activation.bound(value, _dtype_in_torch(value) or COMPUTE_TYPE)
        value = bound.operation.golden(torch, *bound.operands, *bound.attributes)
    return value


def _dtype_in_torch(value: Any) -> DataType | None:
    """The element type of a torch tensor; that of computing where it has none here, and None of everything else."""
    import torch

    return dtypes_of_torch().get(value.dtype, COMPUTE_TYPE) if isinstance(value, torch.Tensor) else None
