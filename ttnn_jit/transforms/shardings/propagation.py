"""Shardings of the values that a text states none of.

Until nothing changes, every op gives the axes of a factor to its operands and results, as its rule says. A value that a
text states a sharding of keeps it; others begin whole. An axis cuts one dimension of a tensor. Where two values of an
op are cut in different ways, nothing is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue

from ttnn_jit.ops.families.sharding_rule import Dimensions, ShardingRule
from ttnn_jit.transforms.shardings.mesh_axes import Axes, Mesh, Sharding, common_axes, is_prefix


class RuledOp(NamedTuple):
    """An op with its rule.

    Attributes:
        rule: The rule.
        operands: Its operands.
        results: Its results.
    """

    rule: ShardingRule
    operands: tuple[SSAValue, ...]
    results: tuple[SSAValue, ...]

    def cut_values(self) -> list[tuple[SSAValue, Dimensions]]:
        """Its results and operands with the factors of their dimensions."""
        results = [*zip(self.results, self.rule.results, strict=True)]
        return [*results, *zip(self.operands, self.rule.operands, strict=True)]


class Stated(NamedTuple):
    """What a text says of a value.

    Attributes:
        sharding: The axes of each dimension.
        is_open: Whether a dimension may be cut along further axes.
    """

    sharding: Sharding
    is_open: tuple[bool, ...]


def propagate(
    ops: Sequence[RuledOp], stated: Mapping[SSAValue, Stated], shapes: Mapping[SSAValue, tuple[int, ...]], mesh: Mesh
) -> dict[SSAValue, Sharding]:
    """The sharding of each value of a function.

    Args:
        ops: The ops that have a rule, in order.
        stated: What the text says.
        shapes: Value -> shape, of every value.
        mesh: The mesh.
    """
    found = {
        value: stated[value].sharding if value in stated else ((),) * len(shape) for value, shape in shapes.items()
    }
    closed = {value: [not each for each in own.is_open] for value, own in stated.items()}
    is_changed = True
    while is_changed:
        is_changed = False
        for ordered in (ops, reversed(ops)):
            for op in ordered:
                is_changed |= _give(op, found, closed, shapes, mesh)
    return found


def _give(
    op: RuledOp,
    found: dict[SSAValue, Sharding],
    closed: Mapping[SSAValue, Sequence[bool]],
    shapes: Mapping[SSAValue, tuple[int, ...]],
    mesh: Mesh,
) -> bool:
    """Gives the axes of the factors of an op to its values; whether one of them changed."""
    candidates: dict[int, list[Axes]] = {}
    for value, dimensions in op.cut_values():
        for factor, axes in mesh.projected(op.rule, dimensions, found[value]).items():
            candidates.setdefault(factor, []).append(axes)
    factors = {factor: common_axes(each) for factor, each in candidates.items()}
    is_changed = False
    for value, dimensions in op.cut_values():
        wanted = mesh.composed(op.rule, dimensions, factors)
        new = _extended(found[value], wanted, closed.get(value))
        if new != found[value] and mesh.divides(shapes[value], new):
            found[value] = new
            is_changed = True
    return is_changed


def _extended(own: Sharding, wanted: Sharding, closed: Sequence[bool] | None) -> Sharding:
    """`own` with the further axes of `wanted` that cut no other dimension."""
    used = {axis for axes in own for axis in axes}
    result = []
    for index, (before, after) in enumerate(zip(own, wanted, strict=True)):
        added = after[len(before) :]
        is_kept = (closed is not None and closed[index]) or not is_prefix(before, after) or used & {*added}
        result.append(before if is_kept else after)
        used |= {*result[-1]}
    return tuple(result)
