"""A call on torch tensors: the golden of its operation, between those of the activations that the call asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ttnn_jit.ops import HARDWARE_KEYWORDS, RESULT_KEYWORDS, Operation, bind
from ttnn_jit.ops.applied_unary import AppliedUnary
from ttnn_jit.ops.operation import OPERAND_PARAMETERS
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, dtypes_of_torch
from ttnn_jit.specs.tensor_spec import DataType
from ttnn_jit.ttnn.result_keywords import result_keywords

_OF_OPERANDS = tuple(parameter.name for parameter in OPERAND_PARAMETERS)
_ASK_ACTIVATIONS = ("activations", "program_config", *_OF_OPERANDS)
_SAY_NOTHING = frozenset({"device", *HARDWARE_KEYWORDS, *RESULT_KEYWORDS, *_OF_OPERANDS})


def golden_of_call(
    name: str,
    overloads: Iterable[Operation],
    golden_of: Callable[[Operation], Callable[..., Any]],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    """What the call of `name` gives, where `golden_of` is what a declaration is in torch.

    Raises:
        ArgumentError: The arguments do not fit the operation, or an activation is none.
    """
    import torch

    _, wanted = result_keywords(name, {key: kwargs[key] for key in _ASK_ACTIVATIONS if key in kwargs}, ())
    bound = bind(overloads, args, {key: kwargs[key] for key in kwargs if key not in _SAY_NOTHING}, _dtype_in_torch)
    operands = list(bound.operands)
    for place, applied in enumerate(wanted.operand_activations if wanted else ()):
        operands[place] = _activated(torch, operands[place], applied)
    result = golden_of(bound.operation)(torch, *operands, *bound.attributes)
    return _activated(torch, result, wanted.activations) if wanted else result


def _activated(torch: Any, value: Any, activations: Sequence[AppliedUnary]) -> Any:
    for activation in activations:
        bound = activation.bound(value, _dtype_in_torch(value) or COMPUTE_TYPE)
        value = bound.operation.golden(torch, *bound.operands, *bound.attributes)
    return value


def _dtype_in_torch(value: Any) -> DataType | None:
    """The element type of a torch tensor; that of computing where it has none here, and None of everything else."""
    import torch

    return dtypes_of_torch().get(value.dtype, COMPUTE_TYPE) if isinstance(value, torch.Tensor) else None
