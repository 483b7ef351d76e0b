"""What a value was before casts and movements, and which operation made it for one reader."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.made_attributes import boolean, shape_of, with_shape
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, has_one_user, owner_named
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliding_windows import reshape
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of, is_float

CAST = "ttir.typecast"
RESHAPE = "ttir.reshape"
BROADCAST = "ttir.broadcast"


def traced(value: SSAValue, *names: str) -> SSAValue:
    """A value before operations of some names; casts from or to integers are not passed."""
    while (made := owner_named(value, *names)) is not None and is_float_cast(made):
        value = made.operands[0]
    return value


def is_float_cast(op: Operation) -> bool:
    """Whether an operation is no cast, or one between floats."""
    return op.name != CAST or (is_float(element_of(op.operands[0])) and is_float(element_of(op.results[0])))


def before_cast(value: SSAValue) -> SSAValue:
    """A value before one cast between floats."""
    made = owner_named(value, CAST)
    return made.operands[0] if made is not None and is_float_cast(made) else value


def single(value: SSAValue, *names: str) -> Operation | None:
    """The operation that makes a value for one reader, if it has one of these names."""
    made = owner_named(value, *names)
    return made if made is not None and has_one_user(value) else None


def pairs(op: Operation) -> tuple[tuple[SSAValue, SSAValue], tuple[SSAValue, SSAValue]]:
    """The two operands of a commutative operation in both orders."""
    left, right = op.operands[:2]
    return (left, right), (right, left)


def cast_to(value: SSAValue, element: object, rewriter: Rewriter, at: Operation) -> SSAValue:
    """A value cast to an element type; itself if it has it."""
    if element_of(value) == element:
        return value
    type_ = with_shape(value.type, shape_of(value.type))
    type_ = type(type_)(element, type_.shape)
    return rewriter.value(CAST, {"input": value}, {"conservative_folding": boolean(False)}, type_, at)


def shaped(value: SSAValue, shape: Sequence[int], rewriter: Rewriter, at: Operation) -> SSAValue:
    """A value reshaped; itself if it has the shape."""
    return value if shape_of(value.type) == tuple(shape) else reshape(value, shape, rewriter, at)
