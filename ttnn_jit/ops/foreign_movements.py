"""Methods and functions of torch and numpy that move or fill elements, as operations of ttnn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.elementwise.ternary import WHERE
from ttnn_jit.ops.families.decomposition import MacroOperation, Ops, Value
from ttnn_jit.ops.families.movement import OPERAND, Extents
from ttnn_jit.ops.language.parameter import TENSOR, TENSOR_OR_NUMBER, Parameter
from ttnn_jit.ops.movement.data_movement import PERMUTE, RESHAPE, SQUEEZE, TRANSPOSE, UNSQUEEZE
from ttnn_jit.ops.movement.padding_methods import CanonicalCall, padded, padded_to_tile, unpadded, unpadded_from_tile
from ttnn_jit.ops.movement.part_writes import fits
from ttnn_jit.ops.movement.rearrangements import EXPAND
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class ForeignMovement:
    """A method or function that moves elements.

    Attributes:
        canonicalize: ``canonicalize(shape, *arguments)``: the operation; None if no element moves.
        starts_contiguous: It first copies an operand that is not contiguous.
        must_be_view: It raises an error where a copy would be necessary.
        copies: It always copies, in the memory order of the operand.
        copies_densely: It always copies, in row-major order.
    """

    canonicalize: Callable[..., CanonicalCall] | None = None
    starts_contiguous: bool = False
    must_be_view: bool = False
    copies: bool = False
    copies_densely: bool = False


def _listed(values: Sequence[Any]) -> tuple[Any, ...]:
    """The numbers of ``f(1, 2)`` or of ``f((1, 2))``."""
    return tuple(values[0]) if len(values) == 1 and isinstance(values[0], tuple | list) else tuple(values)


def _flatten(shape: Extents, start_dim: int = 0, end_dim: int = -1) -> CanonicalCall:
    shape = shape or (1,)
    first, last = start_dim % len(shape), end_dim % len(shape)
    return RESHAPE, ((*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]),)


def _reversed(shape: Extents) -> CanonicalCall:
    return PERMUTE, (tuple(reversed(range(len(shape)))),)


def _permute_axes(shape: Extents, axes: Any = None) -> CanonicalCall:
    return _reversed(shape) if axes is None else (PERMUTE, (axes,))


def _permute_all(shape: Extents, *axes: Any) -> CanonicalCall:
    return _permute_axes(shape, None if axes in {(), (None,)} else _listed(axes))


def _exchange(_: Extents, first: int, second: int) -> CanonicalCall:
    return TRANSPOSE, (first, second)


def _reshaped(_: Extents, *shape: int | Sequence[int]) -> CanonicalCall:
    return RESHAPE, (_listed(shape),)


_RAVEL = ForeignMovement(lambda _: (RESHAPE, ((-1,),)), starts_contiguous=True)
_RESHAPE = ForeignMovement(_reshaped)
_EXCHANGE = ForeignMovement(_exchange)


def _masked_fill(ops: Ops, x: Value, mask: Value, value: Value | float) -> Value:
    extents = (1,) * (len(x.shape) - len(mask.shape)) + mask.shape
    if not fits(extents, x.shape):
        raise ShapeError(f"a mask of shape {list(mask.shape)} does not broadcast to a tensor of {list(x.shape)}")
    if isinstance(value, Value) and math.prod(value.shape) != 1:
        raise ShapeError(f"`value` must have one element, got a tensor of {list(value.shape)}")
    return ops.call(WHERE, [mask, value, x])


MASKED_FILL = MacroOperation(
    name="masked_fill",
    parameters=(OPERAND, Parameter("mask", TENSOR), Parameter("value", TENSOR_OR_NUMBER)),
    summary="`value`, of one element, where the mask is not zero, else the tensor's own elements.",
    source="torch.Tensor.masked_fill",
    decompose=_masked_fill,
    golden=lambda torch, x, mask, value: torch.masked_fill(x, mask != 0, value),
    examples=((((3, 40), (3, 40)), (1.0,)),),
)
_MASKED_FILL = ForeignMovement(lambda _, mask, value: (MASKED_FILL, (mask, value)))

PROPERTIES = {"T": ForeignMovement(_reversed), "mT": ForeignMovement(lambda shape: _exchange(shape, -2, -1))}
"""Property of torch's tensors and numpy's arrays -> its movement."""

METHODS_OF_TORCH = {
    "ravel": _RAVEL,
    "reshape": _RESHAPE,
    "view": replace(_RESHAPE, must_be_view=True),
    "flatten": ForeignMovement(_flatten),
    "unsqueeze": ForeignMovement(lambda _, dim: (UNSQUEEZE, (dim,))),
    "squeeze": ForeignMovement(lambda _, dim=None: (SQUEEZE, (dim,))),
    "expand": ForeignMovement(lambda _, *sizes: (EXPAND, (_listed(sizes),))),
    "permute": ForeignMovement(lambda _, *dims: (PERMUTE, (_listed(dims),))),
    "transpose": ForeignMovement(lambda _, dim0, dim1: (TRANSPOSE, (dim0, dim1))),
    "swapaxes": _EXCHANGE,
    "swapdims": _EXCHANGE,
    "t": ForeignMovement(_reversed),
    "clone": ForeignMovement(copies=True),
    "contiguous": ForeignMovement(starts_contiguous=True),
    "detach": ForeignMovement(),
    "cpu": ForeignMovement(),
    "masked_fill": _MASKED_FILL,
}
METHODS_OF_NUMPY = {
    "ravel": _RAVEL,
    "reshape": _RESHAPE,
    "squeeze": ForeignMovement(lambda _, axis=None: (SQUEEZE, (axis,))),
    "transpose": ForeignMovement(_permute_all),
    "swapaxes": _EXCHANGE,
    "flatten": replace(_RAVEL, copies_densely=True),
    "copy": ForeignMovement(copies_densely=True),
}
_METHODS_ALONE = {"view", "expand", "contiguous", "cpu"}
FUNCTIONS = {
    "torch": {name: found for name, found in METHODS_OF_TORCH.items() if name not in _METHODS_ALONE},
    "numpy": {
        **{name: METHODS_OF_NUMPY[name] for name in ("ravel", "reshape", "squeeze", "swapaxes")},
        "transpose": ForeignMovement(_permute_axes),
        "expand_dims": ForeignMovement(lambda _, axis: (UNSQUEEZE, (axis,))),
        "copy": ForeignMovement(copies=True),
    },
}
"""Library -> name of a function -> its movement."""

METHODS_OF_TTNN = {
    "reshape": _RESHAPE,
    "pad": ForeignMovement(padded),
    "unpad": ForeignMovement(unpadded),
    "pad_to_tile": ForeignMovement(padded_to_tile),
    "unpad_from_tile": ForeignMovement(unpadded_from_tile),
}
"""Method of ttnn's tensors, eager and in programs -> its movement."""
