"""Views: tensors in the memory of others. A write into a base or a view changes both.

Movements of torch's and numpy's tensors may give views, and so may `reshape` of ttnn's tensors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ttnn_jit.diagnostics.source import Location
from ttnn_jit.frontend.tensors.program_tensor import AbstractEmitter, ProgramTensor, View, root_of
from ttnn_jit.frontend.writing.module_builder import TensorOperand
from ttnn_jit.ops import RESHAPE, Operation
from ttnn_jit.ops.families.movement import CanonicalCall
from ttnn_jit.ops.movement.view_rules import (
    Strides,
    are_dense,
    base_update,
    is_view_on_device,
    only_adds_ones,
    strides_of_view,
    view_chains,
)
from ttnn_jit.runtime.libraries import NUMPY, TTNN
from ttnn_jit.specs.cores.sharding import dense_strides


def is_number(tensor: ProgramTensor) -> bool:
    """Whether numpy returns a scalar instead of an array: the result of an operator on arrays without dimensions.

    Arguments, views and copies without dimensions are arrays.
    """
    is_array = tensor.is_argument or tensor.is_copy or tensor.view_of is not None
    return tensor.emitter.library is NUMPY and not (tensor.spec.shape or is_array)


# --- Making views -------------------------------------------------------------------------------------------------


def note_views(emitter: AbstractEmitter, operation: Operation, given: Any, statics: Sequence[Any], made: Any) -> None:
    """Mark the results `made` of an operation on the tensor `given` as its views, if they are."""
    for result, chain in zip(made, view_chains(operation, given.spec, statics), strict=True):
        note_view(emitter, given, chain, result)


def note_view(
    emitter: AbstractEmitter, base: ProgramTensor, chain: tuple[CanonicalCall, ...], made: ProgramTensor
) -> None:
    """Mark `made`, the result of the movements `chain` on `base`, as its view if it is one in its library."""
    if emitter.library is TTNN:
        if is_view_on_device(base.spec, chain):
            made.view_of = View(base, chain, emitter.location(), root_of(base).writes)
        return
    strides, is_certain = _strides(base, chain)
    if is_certain and strides is None and base.strides_in_elements is not None:
        made.strides_in_elements = dense_strides(made.spec.shape)  # the library copies
        return
    made.strides_in_elements = strides
    made.view_of = View(base, chain, emitter.location(), root_of(base).writes, is_certain)


def _strides(base: ProgramTensor, chain: Iterable[CanonicalCall]) -> tuple[Strides, bool]:
    """The strides of the result of these movements, and whether it is certain that it is a view or a copy."""
    shape, strides, is_certain = tuple(base.spec.shape), base.strides_in_elements, True
    for operation, statics in chain:
        if operation is RESHAPE and strides is None:
            is_certain = is_certain and only_adds_ones(shape, *statics)
        strides = strides_of_view((operation, statics), shape, strides)
        shape = operation.extents((shape,), statics)
    return strides, is_certain


def strides_of_result(shape: Sequence[int], operands: Iterable[ProgramTensor]) -> Strides:
    """The strides of a computed result: dense if all operands are; else unknown, as libraries follow the operands."""
    dense = all(are_dense(tuple(tensor.spec.shape), tensor.strides_in_elements) for tensor in operands)
    return dense_strides(shape) if dense else None


# --- Writing through views --------------------------------------------------------------------------------------------


def write_through(emitter: AbstractEmitter, target: ProgramTensor, value: TensorOperand, location: Location) -> None:
    """Set the value of `target`, and update its base if it is a view.

    Raises:
        CompileError: It is a view that cannot be written, or may be a copy.
    """
    if target.view_of is not None:
        target.view_of.require_certain(target, "writes into")
        write_through(emitter, target.view_of.base, updated_base(emitter, target.view_of, value, location), location)
        target.view_of.seen_writes = root_of(target).writes
    else:
        target.writes += 1
    target.rebind(value)


def updated_base(emitter: AbstractEmitter, view: View, part: TensorOperand, location: Location) -> TensorOperand:
    """The new value of a view's base, with `part` in place of the view.

    Raises:
        CompileError: Several elements of the view share an element of the base.
    """
    base = view.base.operand
    shapes = [tuple(base[1].shape)]
    for operation, statics in view.chain[:-1]:
        shapes.append(operation.extents((shapes[-1],), statics))
    for index, movement in reversed([*enumerate(view.chain)]):
        back = base_update(movement, shapes[index])
        if back is None:
            view.base.refuse(
                "this writes into an expanded tensor: several elements lie at one address",
                "write into a copy, `.clone()` in torch and `.copy()` in numpy, or into the tensor that was expanded",
            )
        operation, statics = back
        wholes = [view.apply(base, view.chain[:index])] if operation.arity == 2 else []
        part = emitter.builder.operation(operation, [*wholes, part], statics, location)
    return emitter.builder.stored(part, base[1].with_(), location)
