"""Products of which a slice is read, and products of one left operand: fewer elements, or one product, by movements.

Each element of a product is a row of one operand times a column of the other. A slice of rows or columns is then the
product of a slice, and products that share their left operand are slices of one; no sum changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    boolean,
    integer,
    integers_in,
    listed,
    shape_of,
    si32,
    with_shape,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import (
    Rewriter,
    has_one_user,
    is_pure,
    operand_named,
    operands_by_name,
    owner_named,
    users_of,
)
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.commuting import slice_below_move
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliding_windows import permute
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of
from ttnn_jit.dialects.writing.editing import detach, insert_before

SLICED = Rules()
SHARED = Rules()

_PRODUCTS = ("ttir.matmul", "ttir.linear")
_FEWEST = 3
"""How many products of one operand become one."""
_MOST_COLUMNS = 262_144
"""tt-mlir's bound on the columns of the product that several become."""


@dataclass(frozen=True)
class Range:
    """What a slice reads along a dimension."""

    begin: int
    end: int
    step: int


def _narrowed(op: Operation) -> tuple[int, Range] | None:
    """The only dimension that a slice with steps forward narrows."""
    shape, found = shape_of(op.operands[0].type), []
    begins, ends, steps = (integers_in(op.properties[name]) for name in ("begins", "ends", "step"))
    for dim, extent in enumerate(shape):
        begin, end = (each + extent if each < 0 else each for each in (begins[dim], ends[dim]))
        if steps[dim] < 1:
            return None
        if (begin, end, steps[dim]) != (0, extent, 1):
            found.append((dim, Range(begin, end, steps[dim])))
    return found[0] if len(found) == 1 else None


def sliced(value: SSAValue, dim: int, read: Range, rewriter: Rewriter, at: Operation) -> SSAValue:
    """A ``ttir.slice_static`` along one dimension."""
    shape = [*shape_of(value.type)]
    begins, ends, steps = [0] * len(shape), [*shape], [1] * len(shape)
    begins[dim], ends[dim], steps[dim] = read.begin, read.end, read.step
    shape[dim] = len(range(read.begin, read.end, read.step))
    properties = {"begins": listed(begins), "ends": listed(ends), "step": listed(steps)}
    return rewriter.value("ttir.slice_static", {"input": value}, properties, with_shape(value.type, shape), at)


def _is_transposed(op: Operation, name: str) -> bool:
    return op.properties.get(f"transpose_{name}") == boolean(True)


def _producer(product: Operation, dim: int) -> tuple[str, int] | None:
    """The operand that has a dimension of a product's result, and which dimension of it that is."""
    a, b = (len(shape_of(operand.type)) for operand in product.operands[:2])
    rank = len(shape_of(product.results[0].type))
    column = rank - 1 if b > 1 else None
    row = (rank if column is None else rank - 1) - 1 if a > 1 else None
    if dim == row:
        return "a", a - 1 if _is_transposed(product, "a") else a - 2
    return ("b", b - 2 if _is_transposed(product, "b") else b - 1) if dim == column else None


@SLICED.of("ttir.slice_static")
def slice_of_product(op: Operation, rewriter: Rewriter) -> bool:
    """A slice of rows or columns is taken of the operand that has them, and of the bias."""
    product = owner_named(op.operands[0], *_PRODUCTS)
    narrowed = _narrowed(op)
    if product is None or narrowed is None or not has_one_user(op.operands[0]) or 0 in shape_of(op.results[0].type):
        return False
    dim, read = narrowed
    producer, shape = _producer(product, dim), shape_of(product.results[0].type)
    operands = operands_by_name(product)
    if producer is None:
        return False
    name, place = producer
    source = operand_named(product, name)
    assert source is not None
    if shape_of(source.type)[place] != shape[dim]:  # a bias broadcast it
        return False
    operands[name] = sliced(source, place, read, rewriter, op)
    bias = operand_named(product, "bias") if "bias" in operands else None
    if bias is not None:
        own = dim - (len(shape) - len(shape_of(bias.type)))
        if own >= 0 and shape_of(bias.type)[own] != 1:
            operands["bias"] = sliced(bias, own, read, rewriter, op)
    rewriter.replace(op, [rewriter.value(product.name, operands, product.properties, op.results[0].type, op)])
    return True


@SLICED.of("ttir.slice_static")
def slice_of_reshaped_product(op: Operation, rewriter: Rewriter) -> bool:
    """A slice of a reshaped product is the reshape of a slice, if the reshape keeps the dimension."""
    moved = owner_named(op.operands[0], "ttir.reshape")
    product = owner_named(moved.operands[0], *_PRODUCTS) if moved is not None else None
    if moved is None or product is None or not has_one_user(op.operands[0]) or not has_one_user(moved.operands[0]):
        return False
    return _narrowed(op) is not None and slice_below_move(op, rewriter)


@SHARED.of(*_PRODUCTS)
def products_of_one_operand(op: Operation, rewriter: Rewriter) -> bool:
    """Products of one left operand with several others are slices of the product with all of these side by side."""
    alike = [each for each in _in_order(users_of(op.operands[0])) if each.name == op.name and _fit(op, each)]
    biases = [operand_named(each, "bias") if op.name == "ttir.linear" else None for each in alike]
    columns = [shape_of(each.results[0].type)[-1] for each in alike]
    if len(alike) < _FEWEST or sum(columns) > _MOST_COLUMNS or alike[0] is not op or not _join(biases, columns):
        return False
    moved = _late_operations([value for each in alike for value in each.operands[1:]], alike[0])
    if moved is None:
        return False
    for each in moved:
        detach(each)
        insert_before(each, alike[0])
    whole = _joined(alike, biases, rewriter)
    begin = 0
    for each, count in zip(alike, columns, strict=True):
        last = len(shape_of(whole.type)) - 1
        value = sliced(whole, last, Range(begin, begin + count, 1), rewriter, alike[0])
        begin += count
        if each is alike[0]:
            first = value
        else:
            rewriter.replace(each, [value])
    rewriter.replace(alike[0], [first])
    return True


def _in_order(ops: Sequence[Operation]) -> list[Operation]:
    """The operations of one block, in its order; none if they lie in several."""
    blocks = {op.parent for op in ops}
    block = blocks.pop() if len(blocks) == 1 else None
    if not isinstance(block, Block):
        return []
    wanted = {*ops}
    return [op for op in block.ops if op in wanted]


def _fit(op: Operation, other: Operation) -> bool:
    """Whether two products of the same left operand become one."""
    if other.operands[0] is not op.operands[0] or _is_transposed(op, "a") != _is_transposed(other, "a"):
        return False
    shapes = [shape_of(each.operands[1].type) for each in (op, other)]
    if len(shapes[0]) != len(shapes[1]) or len(shapes[0]) < 2 or shapes[0][:-2] != shapes[1][:-2]:
        return False
    results = [each.results[0] for each in (op, other)]
    if len(shape_of(op.operands[0].type)) < 2 or shape_of(results[0].type)[:-1] != shape_of(results[1].type)[:-1]:
        return False
    values = [*results, op.operands[1], other.operands[1]]
    return len({element_of(value) for value in values}) == 1 and other.operands[1] is not op.operands[0]


def _join(biases: Sequence[SSAValue | None], columns: Sequence[int]) -> bool:
    """Whether biases may lie side by side: all are there, with an element for each column, or none is."""
    given = [each for each in biases if each is not None]
    if not given:
        return True
    if len(given) != len(biases):
        return False
    shapes = [shape_of(each.type) for each in given]
    wide = all(shape[-1:] == (count,) for shape, count in zip(shapes, columns, strict=True))
    return wide and len({shape[:-1] for shape in shapes}) == 1 and len({element_of(each) for each in given}) == 1


def _late_operations(values: Sequence[SSAValue], first: Operation) -> list[Operation] | None:
    """The operations behind `first` that values stand on, in order; None if they stand on more than movements."""
    block = first.parent
    assert block is not None
    late: dict[Operation, None] = {}
    is_late = False
    behind: set[Operation] = set()
    for op in block.ops:
        is_late = is_late or op is first
        if is_late:
            behind.add(op)
    for value in values:
        chain, at = [], value
        while isinstance(at.owner, Operation) and at.owner in behind:
            if len(at.owner.operands) != 1 or not is_pure(at.owner):
                return None
            chain.append(at.owner)
            at = at.owner.operands[0]
        late.update(dict.fromkeys(reversed(chain)))
    return [*late]


def _joined(products: Sequence[Operation], biases: Sequence[SSAValue | None], rewriter: Rewriter) -> SSAValue:
    """The product with the right operands of all, side by side."""
    first = products[0]
    flips = [_is_transposed(each, "b") for each in products]
    transposed = all(flips)
    rights = []
    for each, flip in zip(products, flips, strict=True):
        rank = len(shape_of(each.operands[1].type))
        order = [*range(rank - 2), rank - 1, rank - 2]
        right = each.operands[1]
        rights.append(permute(right, order, rewriter, first) if flip and not transposed else right)
    rank = len(shape_of(rights[0].type))
    operands = {"a": first.operands[0], "b": _beside(rights, rank - 2 if transposed else rank - 1, rewriter, first)}
    given = [each for each in biases if each is not None]
    if given:
        operands["bias"] = _beside(given, len(shape_of(given[0].type)) - 1, rewriter, first)
    shape = [*shape_of(first.results[0].type)]
    shape[-1] = sum(shape_of(each.results[0].type)[-1] for each in products)
    properties = {**first.properties, "transpose_b": boolean(transposed)}
    return rewriter.value(first.name, operands, properties, with_shape(first.results[0].type, shape), first)


def _beside(values: Sequence[SSAValue], dim: int, rewriter: Rewriter, at: Operation) -> SSAValue:
    shape = [*shape_of(values[0].type)]
    shape[dim] = sum(shape_of(each.type)[dim] for each in values)
    operands = {"inputs": [*values]}
    return rewriter.value("ttir.concat", operands, {"dim": integer(dim, si32)}, with_shape(values[0].type, shape), at)
