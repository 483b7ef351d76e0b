"""Slices of a program's tensors, and writes: a write gives the tensor a new value, which later reads return.

A write into an argument or a hidden input updates it after the program has run.

Slices of torch's and numpy's tensors are views (views.py). Slices of ttnn's tensors are copies.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from ttnn_jit.diagnostics.errors import CompileError, ShapeError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.foreign.pytrees import leaves
from ttnn_jit.frontend.tensors.program_tensor import AbstractEmitter, ProgramTensor, View, root_of
from ttnn_jit.frontend.tensors.views import is_number, note_view, updated_base, write_through
from ttnn_jit.frontend.unsupported import UnseenInTraceError
from ttnn_jit.frontend.writing.module_builder import TensorOperand
from ttnn_jit.ops import (
    COPY,
    FILL,
    IN_PLACE,
    OPERATOR_METHODS,
    RESHAPE,
    TYPECAST,
    Number,
    Operation,
    indexed,
)
from ttnn_jit.ops.families.movement import CanonicalCall
from ttnn_jit.ops.foreign_movements import MASKED_FILL
from ttnn_jit.ops.movement.part_writes import fits
from ttnn_jit.ops.result_options import NO_OPTIONS, Outputs, ResultOptions
from ttnn_jit.process.dataclass import replace
from ttnn_jit.runtime.libraries import NUMPY, TORCH
from ttnn_jit.specs.dtypes import BOOLS, FLOATS


def get_item(emitter: AbstractEmitter, tensor: ProgramTensor, index: object) -> ProgramTensor:
    """``tensor[index]``; an index that selects everything is a copy.

    Raises:
        CompileError: The index is invalid.
    """
    chain = _indexing_chain(emitter, tensor, index)
    part = _part(emitter, tensor, chain) if chain else emitter.emit((COPY,), (tensor,), {})
    part.view_of = None  # not a view of an intermediate part
    if emitter.library is TORCH or (
        emitter.library is NUMPY and not (_selects_scalar(index, part) or is_number(tensor))
    ):
        note_view(emitter, tensor, chain, part)
    return part


def _selects_scalar(index: object, part: ProgramTensor) -> bool:
    """Whether an index has an integer for every dimension and no ellipsis: numpy returns a scalar for it."""
    parts = index if isinstance(index, tuple) else (index,)
    return not part.spec.shape and not any(each is ... for each in parts)


def is_mask(index: Any, emitter: AbstractEmitter) -> TypeGuard[ProgramTensor]:
    """Whether `index` is a mask, which selects element by element: a comparison, or torch's tensor of bools.

    A tensor of integers is no mask: it would select by index.
    """
    if not is_proxy(index) or emitter.library not in {TORCH, NUMPY}:
        return False
    dtype = index.spec.dtype
    return dtype in FLOATS | BOOLS


def _mask_filled(emitter: AbstractEmitter, target: ProgramTensor, mask: ProgramTensor, value: Any) -> TensorOperand:
    """`target` with `value` where the mask, over its leading dimensions, is true."""
    extents = tuple(mask.spec.shape)
    if extents != tuple(target.spec.shape)[: len(extents)]:
        target.refuse(f"a mask of shape {list(extents)} does not fit a tensor of {list(target.spec.shape)}")
    if is_proxy(value) and value.spec.volume != 1:
        target.refuse(
            f"a tensor of shape {list(value.spec.shape)} cannot be written where a mask is true: the number of these "
            "elements is not known before the call",
            "choose element by element: `ttnn.where(mask, value, x)`",
        )
    if len(extents) < len(target.spec.shape):
        ones = (1,) * (len(target.spec.shape) - len(extents))
        mask = emitter.emit((RESHAPE,), (mask, extents + ones), {})
    return _broadcast(emitter, target, emitter.emit((MASKED_FILL,), (target, mask, value), {}))


def _indexing_chain(emitter: AbstractEmitter, tensor: ProgramTensor, index: object) -> tuple[CanonicalCall, ...]:
    if is_mask(index, emitter):
        tensor.refuse(
            "the number of elements that a mask selects is not known before the call",
            "choose element by element: `ttnn.where(mask, x, 0.0)`; writing `x[mask] = 0.0` is compiled",
        )
    if any(map(is_proxy, leaves([index]))):
        tensor.refuse("a tensor is no index of a tensor", "index by whole numbers, slices, None and ...")
    try:
        return tuple(indexed(tuple(tensor.spec.shape), index))
    except ShapeError as error:
        raise CompileError(error.message, location=emitter.location(), help=error.help) from None


def _part(emitter: AbstractEmitter, tensor: ProgramTensor, chain: Iterable[CanonicalCall]) -> ProgramTensor:
    for operation, statics in chain:
        tensor = emitter.emit((operation,), (tensor, *statics), {})
    return tensor


def write(
    emitter: AbstractEmitter, target: ProgramTensor, value: TensorOperand, what: str, *, in_place: bool = True
) -> ProgramTensor:
    """Set the value of `target` to `value`, in the target's dtype and memory; `what` names the operation in errors.

    Raises:
        CompileError: The shapes or layouts differ, the target was deallocated, or `in_place` floats become integers.
    """
    location = emitter.location()
    if target.deallocated_at is not None:
        target.refuse(f"{what} writes into a tensor that was deallocated at {target.deallocated_at}")
    if tuple(value[1].shape) != tuple(target.spec.shape):
        target.refuse(
            f"{what} has a result of shape {list(value[1].shape)}, and writes into a tensor of {list(target.shape)}",
            "the tensor that is written must have the shape of the result",
        )
    store = emitter.builder.updated if in_place else emitter.builder.stored
    write_through(emitter, target, store(value, target.cached_operand[1].with_(), location), location)
    return target


def refuse_untracked_write(emitter: AbstractEmitter, target: ProgramTensor) -> None:
    """Refuse a write by numpy into a hidden input, which a trace cannot observe.

    Raises:
        UnseenInTraceError: A traced program does that.
    """
    root = root_of(target)
    if emitter.observes and emitter.library is NUMPY and emitter.is_hidden(root):
        raise UnseenInTraceError(
            "a trace does not see numpy write into an array that is no argument",
            location=emitter.location(),
            help="pass the array as an argument, or leave `graph_capture=True` out",
        )


def set_item(emitter: AbstractEmitter, target: ProgramTensor, index: object, value: Any) -> None:
    """``target[index] = value``: a number, or a tensor that broadcasts to the part.

    Raises:
        CompileError: The value does not broadcast, or the index is invalid.
    """
    refuse_untracked_write(emitter, target)
    if is_mask(index, emitter):
        write_through(emitter, target, _mask_filled(emitter, target, index, emitter.operand(value)), emitter.location())
        return
    chain = _indexing_chain(emitter, target, index)
    value = emitter.operand(value)
    if is_proxy(value) and value.view_of is not None and value.view_of.base is target and value.view_of.chain == chain:
        return  # `x[i] += y` has written the part before it assigns it to itself
    if not is_proxy(value) and not isinstance(value, Number):
        target.refuse(f"a tensor takes numbers and tensors, got {type_name(value)}")
    part, location = _part(emitter, target, chain), emitter.location()
    new = _broadcast(emitter, part, value)
    if chain:
        new = updated_base(emitter, View(target, chain, location, 0), new, location)
    write_through(emitter, target, new, location)


def _broadcast(emitter: AbstractEmitter, part: ProgramTensor, value: Any) -> TensorOperand:
    """`value` in the shape and the dtype of `part`."""
    location = emitter.location()
    if is_proxy(value):
        value = emitter.live_operand(value, "an assignment")
        extra = len(value[1].shape) - len(part.spec.shape)
        if extra > 0 and all(extent == 1 for extent in value[1].shape[:extra]):
            value = emitter.builder.operation(RESHAPE, [value], (tuple(value[1].shape[extra:]),), location)
        if value[1].dtype is not part.spec.dtype:
            value = emitter.builder.operation(TYPECAST, [value], (part.spec.dtype,), location)
        if tuple(value[1].shape) == tuple(part.spec.shape):
            return emitter.builder.stored(value, part.cached_operand[1].with_(), location)
        if not fits(value[1].shape, part.spec.shape):
            part.refuse(
                f"a tensor of shape {list(value[1].shape)} does not broadcast to a part of {list(part.spec.shape)}"
            )
        filled = emitter.builder.operation(FILL, [part.operand, value], (), location)
    else:
        filled = emitter.emit((FILL,), (part, value), {}).operand
    return filled


def is_proxy(value: Any) -> bool:
    """Whether `value` is a proxy tensor."""
    return hasattr(type(value), "__ttnn_call__")


def update_in_place(
    emitter: AbstractEmitter,
    name: str,
    overloads: Sequence[Operation],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    options: ResultOptions = NO_OPTIONS,
) -> Any:
    """The call of an in-place operation, which writes its result into an operand and returns that operand.

    Raises:
        CompileError: The operand is no tensor, or the result does not fit into it.
    """
    target: Any = emitter.operand(overloads[0].written_argument(args, kwargs))
    if not is_proxy(target):
        argument = overloads[0].operands[overloads[0].written_operand].name
        raise CompileError(
            f"`{name}` writes into its argument `{argument}`, which is {type_name(target)}",
            location=emitter.location(),
            help="it must be a tensor",
        )
    options = emitter.locate_errors(options.into, f"ttnn.{name}", target)
    # The operation computes in its own dtype; the store converts.
    result = emitter.emit(overloads, args, kwargs, replace(options, dtype=None, output_tensor=None))
    return write(emitter, target, result.operand, f"`{name}`")


def write_output(
    emitter: AbstractEmitter,
    overloads: Sequence[Operation],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    options: ResultOptions,
) -> Any:
    """The call of an operation that writes its result into the `output_tensor` of its options and returns that tensor.

    Raises:
        CompileError: The `output_tensor` is no tensor, there are several results, or the result does not fit.
    """
    result = emitter.emit(overloads, args, kwargs, options)
    return write(emitter, options.output_tensor, result.operand, f"`{overloads[0].name}`", in_place=False)


def write_outputs(
    emitter: AbstractEmitter,
    outputs: Outputs,
    overloads: Sequence[Operation],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    options: ResultOptions,
) -> list[Any]:
    """The call of an operation with several results; `outputs` selects results and the tensors that hold them.

    Raises:
        CompileError: A result does not fit into its tensor, or there are fewer results.
    """
    name = f"`{overloads[0].name}`"

    def written(target: ProgramTensor, each: ProgramTensor) -> ProgramTensor:
        if target.spec.dtype is not each.spec.dtype:
            target.refuse(f"{name} has a gradient of {each.spec.dtype}, and writes into one of {target.spec.dtype}")
        return write(emitter, target, each.operand, name, in_place=False)

    found = emitter.emit(overloads, args, kwargs, options)
    return emitter.locate_errors(outputs.selected, f"ttnn.{overloads[0].name}", found, written)


def in_place_operator(operation: Operation) -> Callable[[ProgramTensor, Any], Any]:
    """The method of an augmented assignment, ``x += y``: a write into a tensor of torch's or an array of numpy's.

    It returns NotImplemented, so that Python rebinds `x`, for tensors of ttnn and scalars of numpy.
    """
    compute = getattr(operator, OPERATOR_METHODS[operation.operator])

    def method(self: ProgramTensor, other: Any) -> Any:
        if self.emitter.library not in {TORCH, NUMPY} or is_number(self):
            return NotImplemented
        refuse_untracked_write(self.emitter, self)
        return write(self.emitter, self, compute(self, other).operand, f"`{operation.operator}=`")

    return method


def masked_fill_(self: ProgramTensor, mask: Any, value: Any) -> Any:
    """``tensor.masked_fill_(mask, value)`` of torch's tensors."""
    filled = self.emitter.emit((MASKED_FILL,), (self, mask, value), {})
    return write(self.emitter, self, filled.operand, "`masked_fill_`")


def in_place_method(name: str) -> Callable[..., Any]:
    """The in-place method `name` of torch's tensors."""

    def method(self: ProgramTensor, *args: Any, **kwargs: Any) -> Any:
        return update_in_place(self.emitter, name, IN_PLACE[name], (self, *args), kwargs)

    return method
