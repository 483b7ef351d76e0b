"""Reductions of texts, where their attributes or results are not those of a call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.spelling import Spelling
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall, text
from ttnn_jit.ops.language.axes import axis_of, axis_within
from ttnn_jit.ops.reduction.moments import MEAN
from ttnn_jit.specs.dtypes import BOOLS
from ttnn_jit.specs.tensor_spec import DataType


def _axes(call: TextCall) -> tuple[int, ...]:
    rank = len(call.input.shape)
    given = getattr(call, "dim_arg", None)
    if given is None and vars(call).get("dim") is not None:
        given = (call.dim,)
    return tuple(axis_within(axis, rank) for axis in given) if given else tuple(range(rank))


def _truth(name: str) -> Callable[[Ops, TextCall], Value]:
    def write(ops: Ops, call: TextCall) -> Value:
        x = call.input
        flags = x if x.spec.dtype in BOOLS else ops.ne(x, 0)
        numbers = ops.typecast(flags, DataType.FLOAT32)
        return ops.ne(getattr(ops, name)(numbers, _axes(call), call.keep_dim), 0.0)

    return write


def _truth_in_torch(name: str) -> Callable[[Any, TextCall], Any]:
    def golden(torch: Any, call: TextCall) -> Any:
        return getattr(torch, name)(call.input != 0, dim=_axes(call), keepdim=call.keep_dim).double()

    return golden


ANY = text("ttir.reduce_or", "input", _truth("max"), _truth_in_torch("any"), dim_arg=None, keep_dim=REQUIRED)
ALL = text("ttir.reduce_and", "input", _truth("min"), _truth_in_torch("all"), dim_arg=None, keep_dim=REQUIRED)


def _argmax(ops: Ops, call: TextCall) -> Value:
    """The index along one dimension, or into the flattened ones."""
    axes, x = _axes(call), call.input
    if len(axes) == 1:
        found = ops.argmax(x, axes[0], call.keep_dim)
    else:
        rest = [axis for axis in range(len(x.shape)) if axis not in axes]
        moved = ops.permute(x, (*rest, *axes))
        kept = tuple(x.shape[axis] for axis in rest)
        found = ops.argmax(ops.reshape(moved, (*kept, math.prod(x.shape[axis] for axis in axes))), len(kept), False)
    return ops.reshaped(found, call.result.shape)


def _argmax_in_torch(torch: Any, call: TextCall) -> Any:
    axes, x = _axes(call), call.input
    rest = [axis for axis in range(x.dim()) if axis not in axes]
    moved = x.permute(*rest, *axes).reshape([x.shape[axis] for axis in rest] + [-1])
    kept = [1 if axis in axes else extent for axis, extent in enumerate(x.shape) if call.keep_dim or axis not in axes]
    return call.in_result_shape(torch.argmax(moved, -1).reshape(kept))


def _at_indices(torch: Any, call: TextCall, results: Any) -> Any:
    axes, x = _axes(call), call.input
    rest = [axis for axis in range(x.dim()) if axis not in axes]
    moved = x.permute(*rest, *axes).reshape([x.shape[axis] for axis in rest] + [-1])
    index = results[0].long().reshape([x.shape[axis] for axis in rest] + [1])
    return [torch.gather(moved, -1, index)]


ARGMAX = text(
    "ttir.argmax ttnn.argmax",
    "input",
    _argmax,
    _argmax_in_torch,
    compared_elements=_at_indices,
    dim_arg=None,
    dim=None,
    keep_dim=False,
)


def _topk_in_torch(torch: Any, call: TextCall) -> Any:
    return torch.topk(call.input_tensor, call.k, call.dim, call.largest, True)


def _gathered(torch: Any, call: TextCall, results: Any) -> Any:
    """The values, and the elements at the indices."""
    values, index = results
    x = vars(call).get("input_tensor", vars(call).get("input"))
    return values, torch.gather(x, call.dim, index.long())


TOPK = text(
    "ttir.topk ttnn.topk",
    "input_tensor",
    lambda ops, call: ops.topk(call.input_tensor, call.k, call.dim, call.largest, True),
    _topk_in_torch,
    compared_elements=_gathered,
    k=REQUIRED,
    dim=-1,
    largest=True,
    sorted=False,
)


def _prod_axes(call: TextCall) -> tuple[int, ...]:
    rank = len(call.input.shape)
    return tuple(range(rank)) if call.dim_arg is None else (axis_of(call.dim_arg, rank),)


def _prod_in_torch(torch: Any, call: TextCall) -> Any:
    found = call.input
    for axis in sorted(_prod_axes(call), reverse=True):
        found = torch.prod(found, axis, keepdim=call.keep_dim)
    return call.in_result_shape(found)


PROD = text(
    "ttnn.prod",
    "input",
    lambda ops, call: ops.reshaped(ops.prod(call.input, _prod_axes(call), call.keep_dim), call.result.shape),
    _prod_in_torch,
    dim_arg=None,
    keep_dim=REQUIRED,
)


CUMSUM = text(
    "ttnn.moreh_cumsum",
    "input",
    lambda ops, call: ops.cumsum(call.input, call.dim),
    lambda torch, call: torch.cumsum(call.input, call.dim),
    dim=REQUIRED,
)


class _Mean(Spelling):
    """The mean of floats as it is declared; of integers in float64, cut toward zero."""

    def _written(self, ops: Ops, call: TextCall) -> Any:
        x = getattr(call, MEAN.operands[0].name)
        if not x.spec.dtype.is_integer:
            return super()._written(ops, call)
        given = self.keywords(call)
        axes, kept = (given.get(each.name, each.default) for each in MEAN.attributes[:2])
        return ops.mean(ops.typecast(x, DataType.FLOAT64), axes, kept)


TEXTS = (ANY, ALL, ARGMAX, TOPK, PROD, CUMSUM, _Mean("ttir.mean", (MEAN,)), _Mean("ttnn.mean", (MEAN,)))
