"""Rotary embeddings: channels i and i + n/2 of [batch, heads, rows, n], rotated by angles of cosines and sines."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.composite_calls import Body, composite
from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import integer, integers_in, shape_of, si32, with_shape
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, owner_named
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.fusions import without_broadcast
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliced_products import Range, sliced
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.traced_values import CAST, pairs, single, traced
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of, is_float
from ttnn_jit.dialects.upstream.rules.view import broadcast
from ttnn_jit.process.dataclass import dataclass

ROTARY = Rules()

_NAME = "rotary_embedding"
_RANK = 4
_LAST = _RANK - 1


@dataclass(frozen=True)
class Half:
    """A half of the channels of a value.

    Attributes:
        source: The value.
        begin: The first channel.
    """

    source: SSAValue
    begin: int


def _half(value: SSAValue) -> Half | None:
    """The half of the channels that a slice is."""
    made = owner_named(value, "ttir.slice_static")
    if made is None:
        return None
    source, shape = made.operands[0], [*shape_of(made.operands[0].type)]
    begins, ends, steps = (integers_in(made.properties[name]) for name in ("begins", "ends", "step"))
    if len(shape) != _RANK or shape[_LAST] % 2 or {*steps} != {1}:
        return None
    if any((begins[dim], ends[dim]) != (0, shape[dim]) for dim in range(_LAST)):
        return None
    middle = shape[_LAST] // 2
    halves = ((0, middle), (middle, shape[_LAST]))
    return Half(source, begins[_LAST]) if (begins[_LAST], ends[_LAST]) in halves else None


@ROTARY.of("ttir.add")
def rotated_half(op: Operation, rewriter: Rewriter) -> bool:
    """``x * cos + concat(-x[n/2:], x[:n/2]) * sin``."""
    for straight, crossed in pairs(op):
        products = [single(each, "ttir.multiply") for each in (straight, crossed)]
        if products[0] is None or products[1] is None:
            continue
        for other, sin in pairs(products[1]):
            source = _exchanged(other)
            cos = _other_factor(products[0], source) if source is not None else None
            if source is not None and cos is not None:
                angles = _angles(source, cos, sin, op)
                return angles is not None and _replace(op, source, angles, rewriter)
    return False


def _exchanged(value: SSAValue) -> SSAValue | None:
    """The value whose halves are exchanged, the first of them negated."""
    joined = single(value, "ttir.concat")
    if joined is None or len(joined.operands) != 2 or integers_in(joined.properties["dim"])[0] % _RANK != _LAST:
        return None
    negated = single(joined.operands[0], "ttir.neg")
    high = _half(negated.operands[0]) if negated is not None else None
    low = _half(joined.operands[1])
    if high is None or low is None or high.source is not low.source or low.begin != 0 or high.begin == 0:
        return None
    return high.source


def _other_factor(product: Operation, source: SSAValue) -> SSAValue | None:
    """The factor of a product that is not a value, cast or not."""
    return next((other for own, other in pairs(product) if traced(own, CAST) is traced(source, CAST)), None)


@ROTARY.of("ttir.concat")
def rotated_complex(op: Operation, rewriter: Rewriter) -> bool:
    """``concat(a * cos - b * sin, b * cos + a * sin)`` of the halves a and b of x."""
    if len(op.operands) != 2 or integers_in(op.properties["dim"])[0] % _RANK != _LAST:
        return False
    real, imaginary = single(op.operands[0], "ttir.subtract"), single(op.operands[1], "ttir.add")
    if real is None or imaginary is None:
        return False
    first, second = (_term(each) for each in real.operands)
    for one, other in pairs(imaginary):
        terms = [first, second, _term(one), _term(other)]
        if any(each is None for each in terms):
            continue
        halves, factors = zip(*(each for each in terms if each is not None), strict=True)
        begins = [each.begin > 0 for each in halves]
        same = len({each.source for each in halves}) == 1 and factors[0] is factors[2] and factors[1] is factors[3]
        if same and begins == [False, True, True, False]:
            return _replace_complex(op, halves[0].source, factors[0], factors[1], rewriter)
    return False


def _term(value: SSAValue) -> tuple[Half, SSAValue] | None:
    """A half of the channels and the angles that it is multiplied with, before these are broadcast."""
    product = single(value, "ttir.multiply")
    for own, other in pairs(product) if product is not None else ():
        if (half := _half(own)) is not None:
            return half, without_broadcast(other)
    return None


def _replace_complex(op: Operation, source: SSAValue, cos: SSAValue, sin: SSAValue, rewriter: Rewriter) -> bool:
    width = shape_of(source.type)[_LAST]
    if any(len(shape_of(each.type)) != _RANK or shape_of(each.type)[_LAST] != width // 2 for each in (cos, sin)):
        return False
    if not _fit(source, [cos, sin], op):
        return False
    doubled = [_side_by_side([each, each], rewriter, op) for each in (cos, sin)]
    return _replace(op, source, (doubled[0], doubled[1]), rewriter)


def _angles(source: SSAValue, cos: SSAValue, sin: SSAValue, op: Operation) -> tuple[SSAValue, SSAValue] | None:
    """Cosines and sines of one shape with a number for each channel, before they are broadcast if they may be."""
    width = shape_of(source.type)[-1:]
    for one, other in ((without_broadcast(cos), without_broadcast(sin)), (cos, sin)):
        shapes = [shape_of(each.type) for each in (one, other)]
        fit = shapes[0] == shapes[1] and len(shapes[0]) == _RANK and shapes[0][-1:] == width
        if fit and _fit(source, [one, other], op):
            return one, other
    return None


def _fit(source: SSAValue, angles: Sequence[SSAValue], op: Operation) -> bool:
    """Whether tensors of these types are rotated: one float type, and angles that broadcast to rows of the source."""
    result = op.results[0]
    elements = {element_of(each) for each in (source, *angles, result)}
    shape = shape_of(source.type)
    if len(shape) != _RANK or shape_of(result.type) != shape or len(elements) != 1 or not is_float(elements.pop()):
        return False
    rows = [broadcast(shape_of(each.type)[:-1], shape[:-1]) for each in angles]
    return all(each is not None and tuple(each) == shape[:-1] for each in rows) and shape[_LAST] % 2 == 0


def _replace(op: Operation, source: SSAValue, angles: tuple[SSAValue, SSAValue], rewriter: Rewriter) -> bool:
    body: Body = lambda values, at: _decomposed(values, at, rewriter, halved=all(map(_is_doubled, angles)))  # noqa: E731
    result = with_shape(op.results[0].type, shape_of(op.results[0].type))
    rewriter.replace(op, [composite(_NAME, [source, *angles], result, body, rewriter, op)])
    return True


def _is_doubled(value: SSAValue) -> bool:
    made = owner_named(value, "ttir.concat")
    return (
        made is not None
        and len(made.operands) == 2
        and made.operands[0] is made.operands[1]
        and integers_in(made.properties["dim"])[0] % _RANK == _LAST
    )


def _decomposed(values: Sequence[SSAValue], at: Operation, rewriter: Rewriter, *, halved: bool) -> SSAValue:
    """The operations of a rotary embedding; with half of the angles if the other half is equal."""
    x, cos, sin = values
    width = shape_of(x.type)[_LAST]
    low, high = (sliced(x, _LAST, Range(begin, begin + width // 2, 1), rewriter, at) for begin in (0, width // 2))

    def computed(name: str, left: SSAValue, right: SSAValue) -> SSAValue:
        return rewriter.value(f"ttir.{name}", {"lhs": left, "rhs": right}, {}, left.type, at)

    if halved:
        cos, sin = (sliced(each, _LAST, Range(0, width // 2, 1), rewriter, at) for each in (cos, sin))
        real = computed("subtract", computed("multiply", low, cos), computed("multiply", high, sin))
        imaginary = computed("add", computed("multiply", high, cos), computed("multiply", low, sin))
        return _side_by_side([real, imaginary], rewriter, at)
    negated = rewriter.value("ttir.neg", {"input": high}, {}, high.type, at)
    exchanged = _side_by_side([negated, low], rewriter, at)
    return computed("add", computed("multiply", x, cos), computed("multiply", exchanged, sin))


def _side_by_side(values: Sequence[SSAValue], rewriter: Rewriter, at: Operation) -> SSAValue:
    shape = [*shape_of(values[0].type)]
    shape[_LAST] = sum(shape_of(each.type)[_LAST] for each in values)
    type_ = with_shape(values[0].type, shape)
    return rewriter.value("ttir.concat", {"inputs": [*values]}, {"dim": integer(_LAST, si32)}, type_, at)
