"""Permutes and reshapes that move above or below other operations, until two of them meet and cancel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.greedy import Rule, RuleSet, merged
from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    boolean,
    dense_i64,
    integer,
    integers_in,
    listed,
    shape_of,
    si32,
    with_shape,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, operation_kind, owner_named, users_of
from ttnn_jit.dialects.upstream.rewriting.ttir_rules import movement_folds
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.operation_groups import elementwise_names, reduction_names
from ttnn_jit.dialects.writing.editing import insert_before

MOVES = ("ttir.permute", "ttir.reshape")
"""Operations that only move elements."""


def is_move(op: object) -> bool:
    """Whether an operation only moves elements."""
    return isinstance(op, Operation) and op.name in MOVES


def _order(move: Operation) -> list[int] | None:
    """The permutation of a permute; None of a reshape."""
    return integers_in(move.properties["permutation"]) if move.name == "ttir.permute" else None


def _moved(move: Operation, value: SSAValue, shape: Sequence[int], rewriter: Rewriter, at: Operation) -> SSAValue:
    """`value` moved as `move` moves its operand; `shape` is that of the result."""
    properties = dict(move.properties)
    if move.name == "ttir.reshape":
        properties["shape"] = listed(shape)
    return rewriter.value(move.name, {"input": value}, properties, with_shape(value.type, shape), at)


def _readers(op: Operation) -> list[Operation] | None:
    """The moves that read the result of `op`; None if not all readers are equal moves."""
    if len(op.results) != 1:
        return None
    readers = users_of(op.results[0])
    if not readers or not all(map(is_move, readers)):
        return None
    first = readers[0]
    same = all(
        each.name == first.name
        and each.properties == first.properties
        and each.results[0].type == first.results[0].type
        for each in readers
    )
    return readers if same else None


def _again(
    op: Operation, operands: Sequence[SSAValue], shape: Sequence[int], rewriter: Rewriter, **properties: object
) -> SSAValue:
    """`op` on other operands, with a result of another shape."""
    given = {**op.properties, **{name: value for name, value in properties.items() if value is not None}}
    made = operation_kind(op.name).create(
        operands=[*operands],
        result_types=[with_shape(op.results[0].type, shape)],
        properties=given,  # type: ignore[arg-type]  # attributes
        attributes=dict(op.attributes),
    )
    made.location = op.location
    insert_before(made, op)
    rewriter.changes += 1
    return made.results[0]


def _replace_readers(op: Operation, readers: Sequence[Operation], value: SSAValue, rewriter: Rewriter) -> bool:
    for reader in readers:
        rewriter.replace(reader, [value])
    del op
    return True


def _elementwise_up(op: Operation, rewriter: Rewriter) -> bool:
    """``move(f(x, y))`` is ``f(move(x), move(y))``."""
    if op.name not in elementwise_names() or (readers := _readers(op)) is None:
        return False
    shape = shape_of(op.results[0].type)
    if any(shape_of(value.type) != shape for value in op.operands):
        return False
    target = shape_of(readers[0].results[0].type)
    seen: dict[SSAValue, SSAValue] = {}
    for value in op.operands:
        if value not in seen:
            seen[value] = _moved(readers[0], value, target, rewriter, op)
    value = _again(op, [seen[each] for each in op.operands], target, rewriter)
    return _replace_readers(op, readers, value, rewriter)


def _elementwise_down(op: Operation, rewriter: Rewriter) -> bool:
    """``f(move(x), move(y))`` is ``move(f(x, y))``."""
    if op.name not in elementwise_names() or not op.operands or len(op.results) != 1:
        return False
    moves = _equal_moves(op.operands)
    if moves is None or shape_of(op.results[0].type) != shape_of(moves[0].results[0].type):
        return False
    source = shape_of(moves[0].operands[0].type)
    inner = _again(op, [each.operands[0] for each in moves], source, rewriter)
    rewriter.replace(op, [_moved(moves[0], inner, shape_of(op.results[0].type), rewriter, op)])
    return True


def _equal_moves(values: Sequence[SSAValue]) -> list[Operation] | None:
    """The moves that make all values, if they are alike and move tensors of one shape."""
    moves = [owner for value in values if is_move(owner := value.owner) and isinstance(owner, Operation)]
    if len(moves) != len(values):
        return None
    first = moves[0]
    alike = all(
        each.name == first.name
        and each.properties == first.properties
        and shape_of(each.operands[0].type) == shape_of(first.operands[0].type)
        for each in moves
    )
    return moves if alike else None


def _broadcast_up(op: Operation, rewriter: Rewriter) -> bool:
    """A permute, or a reshape that adds or drops dimensions of 1, before a broadcast."""
    readers = _readers(op)
    if readers is None:
        return False
    counts = integers_in(op.properties["broadcast_dimensions"])
    wide, narrow = shape_of(op.results[0].type), shape_of(op.operands[0].type)
    target = shape_of(readers[0].results[0].type)
    order = _order(readers[0])
    if order is None:
        order_or_ones = _dropped_ones(wide, target)
        if order_or_ones is None:
            return False
        small = [narrow[dim] if dim is not None else 1 for dim in order_or_ones]
        repeats = [counts[dim] if dim is not None else 1 for dim in order_or_ones]
    else:
        small, repeats = [narrow[dim] for dim in order], [counts[dim] for dim in order]
    source = _moved(readers[0], op.operands[0], small, rewriter, op)
    value = _again(op, [source], target, rewriter, broadcast_dimensions=dense_i64(repeats))
    return _replace_readers(op, readers, value, rewriter)


def _dropped_ones(source: Sequence[int], target: Sequence[int]) -> list[int | None] | None:
    """For each dimension of a reshaped tensor the one it was, None for a new 1; None if more than ones change."""
    rest = [index for index, extent in enumerate(source) if extent != 1]
    found: list[int | None] = []
    for extent in target:
        if extent == 1:
            found.append(None)
        elif rest and source[rest[0]] == extent:
            found.append(rest.pop(0))
        else:
            return None
    return None if rest else found


def _concat_up(op: Operation, rewriter: Rewriter) -> bool:
    """A move of a concatenation is one of each part."""
    readers = _readers(op)
    if readers is None:
        return False
    dim = integers_in(op.properties["dim"])[0] % len(shape_of(op.results[0].type))
    target, order = shape_of(readers[0].results[0].type), _order(readers[0])
    parts = [shape_of(value.type) for value in op.operands]
    if order is not None:
        place = order.index(dim)
        shapes = [[part[each] for each in order] for part in parts]
    else:
        kept = _dim_kept(shape_of(op.results[0].type), target, dim)
        if kept is None:
            return False
        place = kept
        shapes = [[part[dim] if index == place else extent for index, extent in enumerate(target)] for part in parts]
    moved = [_moved(readers[0], value, shape, rewriter, op) for value, shape in zip(op.operands, shapes, strict=True)]
    value = _again(op, moved, target, rewriter, dim=integer(place, si32))
    return _replace_readers(op, readers, value, rewriter)


def _dim_kept(source: Sequence[int], target: Sequence[int], dim: int) -> int | None:
    """The dimension of a reshaped tensor that is dimension `dim` of the tensor; None if it is split or merged."""
    before = after = 1
    for extent in source[:dim]:
        before *= extent
    for place, extent in enumerate(target):
        if after == before and extent == source[dim]:
            return place
        after *= extent
    return None


def _concat_down(op: Operation, rewriter: Rewriter) -> bool:
    """A concatenation of permuted parts is permuted."""
    owners = [owner_named(value, "ttir.permute") for value in op.operands]
    if not owners or any(each is None or each.properties != owners[0].properties for each in owners):  # type: ignore[union-attr]
        return False
    first = owners[0]
    assert first is not None
    order = integers_in(first.properties["permutation"])
    place = order[integers_in(op.properties["dim"])[0] % len(order)]
    sources = [each.operands[0] for each in owners if each is not None]
    shape = [*shape_of(sources[0].type)]
    shape[place] = sum(shape_of(value.type)[place] for value in sources)
    inner = _again(op, sources, shape, rewriter, dim=integer(place, si32))
    rewriter.replace(op, [_moved(first, inner, shape_of(op.results[0].type), rewriter, op)])
    return True


def _slice_up(op: Operation, rewriter: Rewriter) -> bool:
    """A move of a slice is a slice of what is moved."""
    readers = _readers(op)
    if readers is None:
        return False
    target, order = shape_of(readers[0].results[0].type), _order(readers[0])
    whole, part = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    bounds = {name: integers_in(op.properties[name]) for name in ("begins", "ends", "step")}
    if order is not None:
        shape = [whole[each] for each in order]
        moved_bounds = {name: listed([values[each] for each in order]) for name, values in bounds.items()}
    else:
        cut = [dim for dim, (a, b) in enumerate(zip(whole, part, strict=True)) if a != b]
        if len(cut) != 1 or (place := _dim_kept(part, target, cut[0])) is None:
            return False
        shape = [whole[cut[0]] if index == place else extent for index, extent in enumerate(target)]
        fresh = {"begins": [0] * len(shape), "ends": [*shape], "step": [1] * len(shape)}
        for name, values in fresh.items():
            values[place] = bounds[name][cut[0]]
        moved_bounds = {name: listed(values) for name, values in fresh.items()}
    source = _moved(readers[0], op.operands[0], shape, rewriter, op)
    value = _again(op, [source], target, rewriter, **moved_bounds)
    return _replace_readers(op, readers, value, rewriter)


def slice_below_move(op: Operation, rewriter: Rewriter) -> bool:
    """A slice of what is moved is moved."""
    move = owner_named(op.operands[0], *MOVES)
    if move is None:
        return False
    bounds = {name: integers_in(op.properties[name]) for name in ("begins", "ends", "step")}
    source, result = shape_of(move.operands[0].type), shape_of(op.results[0].type)
    order = _order(move)
    if order is not None:
        back = [order.index(index) for index in range(len(order))]
        inner_bounds = {name: listed([values[each] for each in back]) for name, values in bounds.items()}
        shape = [result[each] for each in back]
    else:
        whole = shape_of(move.results[0].type)
        cut = [dim for dim, (a, b) in enumerate(zip(whole, result, strict=True)) if a != b]
        if len(cut) != 1 or (place := _dim_kept(whole, source, cut[0])) is None:
            return False
        shape = [result[cut[0]] if index == place else extent for index, extent in enumerate(source)]
        fresh = {"begins": [0] * len(source), "ends": [*source], "step": [1] * len(source)}
        for name, values in fresh.items():
            values[place] = bounds[name][cut[0]]
        inner_bounds = {name: listed(values) for name, values in fresh.items()}
    inner = _again(op, [move.operands[0]], shape, rewriter, **inner_bounds)
    rewriter.replace(op, [_moved(move, inner, result, rewriter, op)])
    return True


def _reduced_dims(op: Operation) -> list[int]:
    rank = len(shape_of(op.operands[0].type))
    given = integers_in(op.properties.get("dim_arg"))
    return sorted(dim % rank for dim in given) if given else [*range(rank)]


def _keeps_dims(op: Operation) -> bool:
    return op.properties.get("keep_dim") == boolean(True)


def _reduce_up(op: Operation, rewriter: Rewriter) -> bool:
    """A permute of a reduction that keeps its dimensions is a reduction of what is permuted."""
    readers = _readers(op)
    if readers is None or not _keeps_dims(op) or (order := _order(readers[0])) is None:
        return False
    source = op.operands[0]
    shape = shape_of(source.type)
    moved = _moved(readers[0], source, [shape[dim] for dim in order], rewriter, op)
    dims = listed(sorted(order.index(dim) for dim in _reduced_dims(op)))
    value = _again(op, [moved], shape_of(readers[0].results[0].type), rewriter, dim_arg=dims)
    return _replace_readers(op, readers, value, rewriter)


def _reduce_down(op: Operation, rewriter: Rewriter) -> bool:
    """A reduction of what is permuted is a reduction, permuted if it keeps its dimensions."""
    move = owner_named(op.operands[0], "ttir.permute")
    if move is None or (not _keeps_dims(op) and not _stays_in_order(move, op)):
        return False
    order = integers_in(move.properties["permutation"])
    source = move.operands[0]
    dims = sorted(order[dim] for dim in _reduced_dims(op))
    result = shape_of(op.results[0].type)
    if not _keeps_dims(op):
        value = _again(op, [source], result, rewriter, dim_arg=listed(dims))
    else:
        shape = [1 if dim in dims else extent for dim, extent in enumerate(shape_of(source.type))]
        inner = _again(op, [source], shape, rewriter, dim_arg=listed(dims))
        value = _moved(move, inner, result, rewriter, op)
    rewriter.replace(op, [value])
    return True


def _stays_in_order(move: Operation, op: Operation) -> bool:
    """Whether the dimensions that a reduction leaves are in the order of the tensor before the permute."""
    order = integers_in(move.properties["permutation"])
    rest = [dim for index, dim in enumerate(order) if index not in _reduced_dims(op)]
    return rest == sorted(rest)


def _rules(general: Rule, of_names: dict[str, Rule]) -> RuleSet:
    folded = {name: movement_folds.FOLDS.by_name[name] for name in MOVES}
    return merged({"*": [general]}, {name: [rule] for name, rule in of_names.items()}, folded)


def _for_reductions(rule: Callable[[Operation, Rewriter], bool]) -> dict[str, Rule]:
    return dict.fromkeys(reduction_names(), rule)


UPWARDS = _rules(
    _elementwise_up,
    {
        "ttir.broadcast": _broadcast_up,
        "ttir.concat": _concat_up,
        "ttir.slice_static": _slice_up,
        **_for_reductions(_reduce_up),
    },
)
DOWNWARDS = _rules(
    _elementwise_down,
    {"ttir.concat": _concat_down, "ttir.slice_static": slice_below_move, **_for_reductions(_reduce_down)},
)
