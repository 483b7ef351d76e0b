"""Constants beside elementwise operations: reshapes move to them, movements are folded, one element stands for all."""

from __future__ import annotations

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.greedy import erase_dead
from ttnn_jit.dialects.upstream.rewriting.made_attributes import dense_i32, shape_of, splat_number, with_shape
from ttnn_jit.dialects.upstream.rewriting.rewriter import (
    DECEMBER,
    Rewriter,
    has_one_user,
    operation_kind,
    owner_named,
    users_of,
)
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.broadcasts import broadcast_after, joint_shape
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.operation_groups import elementwise_names
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliding_windows import reshape
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import fill_of, filled, is_float
from ttnn_jit.dialects.upstream.upstream_parser import SplatElementsAttr
from ttnn_jit.dialects.writing.editing import insert_before

_MOVEMENTS = ("ttir.reshape", "ttir.broadcast")
_FILLED = ("ttir.full", "ttir.zeros", "ttir.ones")
_NUMBERS = {"ttir.zeros": 0, "ttir.ones": 1}
_TAKES_A_RESHAPED_CONSTANT = {
    "ttir.add", "ttir.subtract", "ttir.multiply", "ttir.div", "ttir.pow", "ttir.broadcast",
}  # fmt: skip


def _unmoved(value: SSAValue) -> SSAValue:
    """A value before it was reshaped and broadcast."""
    while (moved := owner_named(value, *_MOVEMENTS)) is not None:
        value = moved.operands[0]
    return value


def _number_in(value: SSAValue, *names: str) -> float | int | None:
    """The number of all elements of what an operation of these names makes; None if it makes several."""
    made = owner_named(value, *names)
    if made is None:
        return None
    return _NUMBERS.get(made.name, splat_number(made.properties.get("fill_value", made.properties.get("value"))))


def _uniform(number: float, type_: Attribute, rewriter: Rewriter, at: Operation) -> SSAValue | None:
    """A tensor of one number, as tt-mlir folds it: in August 2026 zeros, ones or full, before it a constant."""
    if rewriter.version == DECEMBER:
        return _constant(number, type_, rewriter, at)
    shape = {"shape": dense_i32(shape_of(type_))}
    if number == 0 and not str(number).startswith("-"):
        return rewriter.value("ttir.zeros", {}, shape, type_, at)
    if number == 1:
        return rewriter.value("ttir.ones", {}, shape, type_, at)
    fill = fill_of(number, type_)
    return None if fill is None else filled(rewriter, fill, type_, at)


def _constant(number: float, type_: Attribute, rewriter: Rewriter, at: Operation) -> SSAValue | None:
    """A `ttir.constant` of one number; None if its element type is neither a float nor an integer."""
    element = type_.get_element_type()  # type: ignore[attr-defined]  # a tensor type
    if is_float(element):
        held: Attribute = FloatAttr(float(number), element)
    elif isinstance(element, IntegerType):
        held = IntegerAttr(int(number), element)
    else:
        return None
    return rewriter.value("ttir.constant", {}, {"value": SplatElementsAttr(type_, held)}, type_, at)


# --- Reshapes move from what is computed to constants -----------------------------------------------------------------


def reshape_moves_to_constant(op: Operation, rewriter: Rewriter) -> bool:
    """``f(reshape(x), c)`` is ``reshape(f(x, reshape(c)))``."""
    if op.name not in elementwise_names() or len(op.operands) != 2 or len(op.results) != 1:
        return False
    index = next((each for each in (0, 1) if _is_moved(op.operands[each], op.operands[1 - each])), None)
    if index is None:
        return False
    moved, constant = op.operands[index], op.operands[1 - index]
    result = shape_of(op.results[0].type)
    if not has_one_user(moved) or not shape_of(moved.type) == shape_of(constant.type) == result:
        return False
    source = moved.owner.operands[0]  # type: ignore[union-attr]  # a reshape makes it
    shape = shape_of(source.type)
    operands = [source, _reshaped(constant, shape, rewriter, op)]
    made = operation_kind(op.name).create(
        operands=operands if index == 0 else operands[::-1],
        result_types=[with_shape(op.results[0].type, shape)],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    made.location = op.location
    insert_before(made, op)
    rewriter.replace(op, [reshape(made.results[0], result, rewriter, op)])
    return True


def _is_moved(value: SSAValue, other: SSAValue) -> bool:
    """Whether a value is reshaped and computed, and the other operand is constant."""
    constant = "ttir.constant"
    return (
        owner_named(value, "ttir.reshape") is not None
        and owner_named(_unmoved(value), constant) is None
        and owner_named(_unmoved(other), constant) is not None
    )


def _reshaped(constant: SSAValue, shape: tuple[int, ...], rewriter: Rewriter, at: Operation) -> SSAValue:
    """A constant in another shape: that from which it was reshaped, a tensor of one number, or a reshape of it."""
    inner = owner_named(constant, "ttir.reshape")
    if inner is not None and shape_of(inner.operands[0].type) == shape:
        return inner.operands[0]
    number = _number_in(_unmoved(constant), "ttir.constant")
    found = None if number is None else _uniform(number, with_shape(constant.type, shape), rewriter, at)
    return reshape(constant, shape, rewriter, at) if found is None else found


MOVED_TO_CONSTANTS = {"*": [reshape_moves_to_constant]}


# --- Movements of constants are constants -----------------------------------------------------------------------------


def fold_moved_constants(root: Operation, rewriter: Rewriter) -> None:
    """Reshapes and broadcasts of one number are constants, the last of several first."""
    for op in reversed([*root.walk()]):
        if op.name in _MOVEMENTS:
            _fold_moved_constant(op, rewriter)
    rewriter.changes += erase_dead(root)


def _fold_moved_constant(op: Operation, rewriter: Rewriter) -> None:
    type_ = op.results[0].type
    number = _number_in(op.operands[0], "ttir.constant", *_FILLED)
    if number is not None:
        found = _uniform(number, type_, rewriter, op)
    else:
        readers = users_of(op.results[0])
        if op.name == "ttir.reshape" and not (
            readers and {each.name for each in readers} <= _TAKES_A_RESHAPED_CONSTANT
        ):
            return
        number = _number_in(_unmoved(op.operands[0]), "ttir.constant")
        found = None if number is None else _constant(number, type_, rewriter, op)
    if found is not None:
        rewriter.replace(op, [found])


# --- Tensors of one number hold one element ---------------------------------------------------------------------------


def filled_is_one_element(op: Operation, rewriter: Rewriter) -> bool:
    """A tensor of one number that only elementwise operations read has one element, which they broadcast."""
    value, rank = op.results[0], len(shape_of(op.results[0].type))
    readers = users_of(value)
    if {*shape_of(value.type)} <= {1} or 0 in shape_of(value.type):
        return False
    if not all(each.name in elementwise_names() and len(each.results) == 1 for each in readers):
        return False
    others = [[operand for operand in each.operands if operand is not value] for each in readers]
    small = with_shape(value.type, [1] * rank)
    if any(joint_shape([*map(_shape, each), (1,) * rank]) is None for each in others):
        return False
    properties = {**op.properties, "shape": dense_i32([1] * rank)}
    rewriter.replace(op, [rewriter.value(op.name, {}, properties, small, op)])
    for each in readers:
        broadcast_after(each, rewriter)
    return True


def _shape(value: SSAValue) -> tuple[int, ...]:
    return shape_of(value.type)


ONE_ELEMENT = {name: [filled_is_one_element] for name in _FILLED}
