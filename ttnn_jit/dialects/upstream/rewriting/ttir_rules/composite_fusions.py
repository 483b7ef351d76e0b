"""Operations of TTIR that together are a composite one: gelu, mish, heads side by side, attention.

A composite operation computes in float32 and rounds once, so that results differ by the roundings between the
operations that it replaces. The form of gelu with tanh is another function, up to 5e-4 apart, and TTIR has no operation
for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, FloatAttr, f32
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import boolean, integers_in, shape_of, with_shape
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, has_one_user, owner_named
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.fusions import without_broadcast
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliding_windows import reshape
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


def _single(value: SSAValue, *names: str) -> Operation | None:
    """The operation that makes a value for one reader, if it has one of these names."""
    made = owner_named(value, *names)
    return made if made is not None and has_one_user(value) else None


def _factors(value: SSAValue, *, is_root: bool) -> list[SSAValue]:
    """The factors of a product, also of products that only it reads."""
    product = owner_named(value, "ttir.multiply") if is_root else _single(value, "ttir.multiply")
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
    total = _single(value, "ttir.add")
    for inner in _others(total, 1.0) if total is not None else ():
        erf = _single(inner, "ttir.erf")
        scaled = _single(erf.operands[0], "ttir.multiply", "ttir.div") if erf is not None else None
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
        tanh = _single(other, "ttir.tanh")
        if tanh is None or source.type != op.results[0].type:
            continue
        logarithm = tanh.operands[0]
        chosen = _single(logarithm, "ttir.where")
        if chosen is not None:
            compared = owner_named(chosen.operands[0], "ttir.gt")
            if compared is None or compared.operands[0] is not source or chosen.operands[1] is not source:
                continue
            if not is_near(compared.operands[1], _THRESHOLD):
                continue
            logarithm = chosen.operands[2]
        inner = _single(logarithm, "ttir.log1p")
        exp = _single(inner.operands[0], "ttir.exp") if inner is not None else None
        if exp is not None and exp.operands[0] is source:
            rewriter.replace(op, [rewriter.value("ttir.mish", {"input": source}, {}, source.type, op)])
            return True
    return False


@COMPOSITES.of("ttir.reshape")
def concatenate_heads(op: Operation, rewriter: Rewriter) -> bool:
    """Heads [batch, heads, rows, size] side by side, [batch, rows, heads * size], also with the first two as one."""
    moved = _single(op.operands[0], "ttir.permute")
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


@COMPOSITES.of("ttir.matmul")
def attention(op: Operation, rewriter: Rewriter) -> bool:
    """``softmax(query @ key.T * scale + mask) @ value`` of tensors [batch, heads, rows, size]."""
    softmax = _single(op.operands[0], "ttir.softmax")
    if (
        rewriter.row("ttir.scaled_dot_product_attention") is None
        or softmax is None
        or _transposes(op) != (False, False)
    ):
        return False
    rank = len(shape_of(softmax.results[0].type))
    if rank != 4 or integers_in(softmax.properties["dimension"])[0] % rank != 3:
        return False
    scores, mask = softmax.operands[0], None
    total = _single(scores, "ttir.add")
    if total is not None:
        scores, mask = total.operands[:2]
        if _product(scores) is None:
            scores, mask = mask, scores
        mask = without_broadcast(mask)
    found = _product(scores)
    if found is None:
        return False
    product, scale = found
    query, key, value = _query_and_key(product, op.operands[1])
    if query is None or key is None or not _fit(query, key, value, mask, op):
        return False
    operands = {"query": query, "key": key, "value": value, "attention_mask": mask}
    properties = {"is_causal": boolean(False), "scale": FloatAttr(scale, f32)}
    type_ = op.results[0].type
    rewriter.replace(op, [rewriter.value("ttir.scaled_dot_product_attention", operands, properties, type_, op)])
    return True


def _transposes(op: Operation) -> tuple[bool, bool]:
    first, second = (op.properties.get(f"transpose_{each}") == boolean(True) for each in "ab")
    return first, second


def _product(scores: SSAValue) -> tuple[Operation, float] | None:
    """The product of query and key in the scores, and the number that scales it."""
    product = _single(scores, "ttir.matmul")
    if product is not None:
        return product, 1.0
    scaled = _single(scores, "ttir.multiply", "ttir.div")
    if scaled is None:
        return None
    pairs = [scaled.operands[:2]] if scaled.name == "ttir.div" else [scaled.operands[:2], scaled.operands[1::-1]]
    for value, by in pairs:
        product, number = _single(value, "ttir.matmul"), number_of(by)
        if product is not None and number is not None and (number or scaled.name == "ttir.multiply"):
            return product, float(number if scaled.name == "ttir.multiply" else 1 / number)
    return None


def _query_and_key(product: Operation, value: SSAValue) -> tuple[SSAValue | None, SSAValue | None, SSAValue]:
    """The query and the key of a product that transposes the key, by its attribute or before it."""
    query, key = product.operands[:2]
    match _transposes(product):
        case (False, True):
            return query, key, value
        case (False, False):
            moved = owner_named(key, "ttir.permute")
            is_transpose = moved is not None and integers_in(moved.properties["permutation"]) == [0, 1, 3, 2]
            return query, moved.operands[0] if is_transpose and moved is not None else None, value
    return None, None, value


def _fit(query: SSAValue, key: SSAValue, value: SSAValue, mask: SSAValue | None, op: Operation) -> bool:
    """Whether attention takes tensors of these types, which its verifier and ours check."""
    shapes = [[*shape_of(each.type)] for each in (query, key, value)]
    if any(len(each) != 4 for each in shapes) or shapes[1] != shapes[2]:
        return False
    (batch, heads, rows, size), keys = shapes[0], shapes[1]
    types = {element_of(each) for each in (query, key, value, op.results[0])}
    if [batch, heads, size] != [keys[0], keys[1], keys[3]] or len(types) != 1:
        return False
    if mask is None:
        return True
    extents = [*shape_of(mask.type)]
    return (
        len(extents) == 4
        and extents[2:] == [rows, keys[2]]
        and extents[0] in {1, batch}
        and extents[1] in {1, heads}
        and element_of(mask) in types
    )
