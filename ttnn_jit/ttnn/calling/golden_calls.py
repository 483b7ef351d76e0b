"""Golden calls on torch tensors: the golden of an operation, with the goldens of its activations around it."""

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
_OPERAND_ACTIVATION_KEYWORDS = tuple(parameter.name for parameter in OPERAND_PARAMETERS)
_ACTIVATION_KEYWORDS = ("activations", "program_config", *_OPERAND_ACTIVATION_KEYWORDS)
_IGNORED_KEYWORDS = frozenset({"device", _OUT, *HARDWARE_KEYWORDS, *RESULT_KEYWORDS, *_OPERAND_ACTIVATION_KEYWORDS})


@dataclass(frozen=True)
class GoldenCall:
    """A bound call of a golden.

    Attributes:
        operation: The declaration that is called.
        operands: Torch tensors and numbers.
        attributes: Bound attributes.
        golden: The golden of the declaration.
        operand_activations: The activations of each operand.
        result_activations: The activations of the result.
    """

    operation: Operation
    operands: tuple[Any, ...]
    attributes: tuple[Any, ...]
    golden: Callable[..., Any]
    operand_activations: tuple[tuple[AppliedUnary, ...], ...] = ()
    result_activations: tuple[AppliedUnary, ...] = ()

    def __call__(self) -> Any:
        """The result, in torch."""
        import torch

        operands = list(self.operands)
        for index, applied in enumerate(self.operand_activations):
            operands[index] = _activated(torch, operands[index], applied)
        return _activated(torch, self.golden(torch, *operands, *self.attributes), self.result_activations)

    def rounded_for(self, target: SystemDesc, dtype: DataType) -> GoldenCall:
        """The call with its numbers rounded to `dtype`, as `target` rounds scalar operands."""
        if target.numerics is Numerics.IEEE:
            return self
        return replace(self, operands=tuple(_rounded_number(dtype, value) for value in self.operands))

    @property
    def has_activations(self) -> bool:
        """Whether an operand or the result has activations."""
        return bool(self.result_activations or any(self.operand_activations))


def golden_call(
    name: str,
    overloads: Iterable[Operation],
    golden_of: Callable[[Operation], Callable[..., Any]],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> GoldenCall:
    """The golden call of `name`, where `golden_of` maps a declaration to its golden.

    Raises:
        ArgumentError: The arguments do not fit the operation, or an activation is unknown.
    """
    _, options = bind_options(name, (), {key: kwargs[key] for key in _ACTIVATION_KEYWORDS if key in kwargs})
    bound = bind(overloads, args, {key: kwargs[key] for key in kwargs if key not in _IGNORED_KEYWORDS}, _dtype_in_torch)
    golden = golden_of(bound.operation)
    return GoldenCall(
        bound.operation, bound.operands, bound.attributes, golden, options.operand_activations, options.activations
    )


def copied_into(out: Any, result: Any) -> Any:
    """`out`, torch tensors, after the results of a golden were copied into them.

    Raises:
        ArgumentError: The number or the shapes of the tensors differ from those of the results.
    """
    outs, results = leaves(out), leaves(result)
    shapes = [[list(each.shape) for each in tensors if hasattr(each, "shape")] for tensors in (outs, results)]
    if shapes[0] != shapes[1]:
        raise ArgumentError(f"`out` has shapes {shapes[0]}, the result {shapes[1]}")
    for target, each in zip(outs, results, strict=True):
        target.copy_(each)
    return out


def _rounded_number(dtype: DataType, value: Any) -> Any:
    return dtype.unpacked.rounded(as_float32(value)) if type(value) is float and not dtype.is_integer else value


def _activated(torch: Any, value: Any, activations: Sequence[AppliedUnary]) -> Any:
    for activation in activations:
        bound = activation.bound(value, _dtype_in_torch(value) or COMPUTE_TYPE)
        value = bound.operation.golden(torch, *bound.operands, *bound.attributes)
    return value


def _dtype_in_torch(value: Any) -> DataType | None:
    """The dtype of a torch tensor, `COMPUTE_TYPE` if ttnn has no such dtype; None for other values."""
    import torch

    return dtypes_of_torch().get(value.dtype, COMPUTE_TYPE) if isinstance(value, torch.Tensor) else None
