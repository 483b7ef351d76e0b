"""Random programs: expression trees over the declared operations."""

from __future__ import annotations

from hypothesis import strategies as st

from ttnn_jit import ttnn
from ttnn_jit.ops import operations_on
from ttnn_jit.specs.dtypes import FLOATS

TENSORS = 4
MATH = [operation for operation in operations_on(FLOATS) if not operation.attributes]


def expressions():
    return expressions_of(MATH)


def expressions_of(operations):
    """Trees over these operations."""
    leaves = st.integers(0, TENSORS - 1)
    numbers = st.sampled_from([0.5, -1.0, 2.0, 0.1])

    def extend(children):
        unary = st.tuples(st.sampled_from([o for o in operations if o.arity == 1]), children)
        binary = st.tuples(
            st.sampled_from([o for o in operations if o.arity == 2]), children, st.one_of(children, numbers)
        )
        ternary = st.tuples(st.sampled_from([o for o in operations if o.arity == 3]), children, children, children)
        return st.one_of(unary, binary, binary, ternary)

    return st.recursive(leaves, extend, max_leaves=12).filter(lambda e: isinstance(e, tuple))


def evaluate(expression, tensors):
    if isinstance(expression, int):
        return tensors[expression]
    if isinstance(expression, float):
        return expression
    operation, *operands = expression
    function = getattr(ttnn, operation.name)
    return function(*[evaluate(operand, tensors) for operand in operands], **operation.fixed_keywords)
