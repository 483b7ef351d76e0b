"""Operations of TTIR that together are a composite one: gelu, mish, heads side by side.

A composite operation computes in float32 and rounds once, so that results differ by the roundings between the
operations that it replaces. The form of gelu with tanh is another function, up to 5e-4 apart, and TTIR has no operation
for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import integers_in, shape_of, with_shape
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, owner_named
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliding_windows import reshape
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.traced_values import single
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of, number_of

COMPOSITES = Rules()

_PRECISIONS: dict[type[Attribute], int] = {BFloat16Type: 8, Float16Type: 11, Float32Type: 24}
"""Element type -> the bits of its numbers."""


def is_near(value: SSAValue, number: float) -> bool:
    """Whether all elements of a value are a number, rounded to its element type."""
    found, bits = number_of(value), _PRECISIONS.get(type(element_of(value)))
    return found is not None and bits is not None and abs(found - number) <= abs(number) * 2.0**-bits


def _others(op: Operation, number: float) -> Iterator[SSAValue]:
    """The other operand of a commutative operation, if one is near a number."""
    left, right = op.operands[:2]
    if is_near(right, number):
        yield left
    elif is_near(left, number):
        yield right


def _factors(value: SSAValue, *, is_root: bool) -> list[SSAValue]:
    """The factors of a product, also of products that only it reads."""
    product = owner_named(value, "ttir.multiply") if is_root else single(value, "ttir.multiply")
    if product is None:
        return [value]
    return [each for operand in product.operands[:2] for each in _factors(operand, is_root=False)]


@COMPOSITES.of("ttir.multiply")
def gelu(op: Operation, rewriter: Rewriter) -> bool:
    """``0.5 * x * (1 + erf(x / sqrt(2)))``, with factors in any order."""
    factors = _factors(op.results[0], is_root=True)
    halves = [each for each in factors if is_near(each, 0.5)]
    rest = [each for each in factors if not is_near(each, 0.5)]
    if len(halves) != 1 or len(rest) != 2:
        return False
    for source, other in (rest, rest[::-1]):
        if _argument_of_erf(other) is source and source.type == op.results[0].type:
            rewriter.replace(op, [rewriter.value("ttir.gelu", {"input": source}, {}, source.type, op)])
            return True
    return False


def _argument_of_erf(value: SSAValue) -> SSAValue | None:
    """The value x of ``1 + erf(x / sqrt(2))``."""
    total = single(value, "ttir.add")
    for inner in _others(total, 1.0) if total is not None else ():
        erf = single(inner, "ttir.erf")
        scaled = single(erf.operands[0], "ttir.multiply", "ttir.div") if erf is not None else None
        if scaled is None:
            continue
        if scaled.name == "ttir.div":
            return scaled.operands[0] if is_near(scaled.operands[1], math.sqrt(2)) else None
        return next(_others(scaled, math.sqrt(0.5)), None)
    return None


_THRESHOLD = 20.0
"""Above it log1p(exp(x)) is x in float32."""


@COMPOSITES.of("ttir.multiply")
def mish(op: Operation, rewriter: Rewriter) -> bool:
    """``x * tanh(log1p(exp(x)))``, with x itself in place of large logarithms."""
    if rewriter.row("ttir.mish") is None:
        return False
    for source, other in (op.operands[:2], op.operands[1::-1]):
        tanh = single(other, "ttir.tanh")
        if tanh is None or source.type != op.results[0].type:
            continue
        logarithm = tanh.operands[0]
        chosen = single(logarithm, "ttir.where")
        if chosen is not None:
            compared = owner_named(chosen.operands[0], "ttir.gt")
            if compared is None or compared.operands[0] is not source or chosen.operands[1] is not source:
                continue
            if not is_near(compared.operands[1], _THRESHOLD):
                continue
            logarithm = chosen.operands[2]
        inner = single(logarithm, "ttir.log1p")
        exp = single(inner.operands[0], "ttir.exp") if inner is not None else None
        if exp is not None and exp.operands[0] is source:
            rewriter.replace(op, [rewriter.value("ttir.mish", {"input": source}, {}, source.type, op)])
            return True
    return False


@COMPOSITES.of("ttir.reshape")
def concatenate_heads(op: Operation, rewriter: Rewriter) -> bool:
    """Heads [batch, heads, rows, size] side by side, [batch, rows, heads * size], also with the first two as one."""
    moved = single(op.operands[0], "ttir.permute")
    if moved is None or integers_in(moved.properties["permutation"]) != [0, 2, 1, 3]:
        return False
    batch, heads, rows, size = shape_of(moved.operands[0].type)
    shape, whole = shape_of(op.results[0].type), [batch, rows, heads * size]
    if [*shape] not in (whole, [batch * rows, heads * size]) or heads == 1:
        return False
    operands = {"input": moved.operands[0]}
    found = rewriter.value("ttir.concatenate_heads", operands, {}, with_shape(op.results[0].type, whole), op)
    rewriter.replace(op, [found if [*shape] == whole else reshape(found, shape, rewriter, op)])
    return True
