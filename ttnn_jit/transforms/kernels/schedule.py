"""Schedules a kernel's ops so that the fewest DST tiles are live.

Sethi and Ullman, "The Generation of Optimal Code for Arithmetic Expressions" (1970), for ops with any number of
operands whose inputs are loaded right before the op that reads them: the operand whose subtree needs most tiles is
computed first. The order is optimal for trees and a heuristic for graphs with shared values; the source order is kept
unless the new one needs fewer tiles.
"""

from __future__ import annotations

from collections.abc import Iterable

from ttnn_jit.transforms.kernels.slots import assign_slots
from ttnn_jit.transforms.kernels.tile_graph import TileGraph


def tiles_needed(operand_needs: Iterable[int], tiles_read: int) -> int:
    """DST tiles that the subtree of an op needs in the best order.

    Args:
        operand_needs: For each operand that an op of the kernel computes, the tiles that its subtree needs.
        tiles_read: Distinct tiles that the op itself reads, loaded inputs included.
    """
    held = [need + before for before, need in enumerate(sorted(operand_needs, reverse=True))]
    # The result of an op that reads one tile overwrites that tile.
    own = tiles_read + 1 if tiles_read > 1 else tiles_read
    return max(own, *held) if held else own


def schedule(graph: TileGraph) -> tuple[int, ...]:
    """The ops of `graph` in the order that needs the fewest DST tiles; source order if nothing is gained."""
    source = graph.source_order
    source_peak = assign_slots(graph, source).peak
    if source_peak <= _least_possible(graph):
        return source
    candidate = _largest_need_first(graph)
    return candidate if assign_slots(graph, candidate).peak < source_peak else source


def _least_possible(graph: TileGraph) -> int:
    return max((tiles_needed((), len(set(operands))) for operands in graph.operands), default=1)


def _largest_need_first(graph: TileGraph) -> tuple[int, ...]:
    needs: list[int] = []
    visit_order: list[list[int]] = []
    for operands in graph.operands:
        distinct = tuple(dict.fromkeys(operands))
        computed = [value - graph.inputs for value in distinct if value >= graph.inputs]
        needs.append(tiles_needed((needs[op] for op in computed), len(distinct)))
        computed.sort(key=lambda op: needs[op], reverse=True)
        visit_order.append(computed)
    return _postorder(visit_order, graph.result - graph.inputs)


def _postorder(visit_order: list[list[int]], root: int) -> tuple[int, ...]:
    """Every op after its operands, the root's subtree first; iterative, for trees may be thousands of ops deep."""
    order: list[int] = []
    entered = [False] * len(visit_order)
    # Dead ops, which a hand-edited body may have, keep their order after the root's subtree.
    stack = [(op, False) for op in reversed(range(len(visit_order))) if op != root]
    if root >= 0:
        stack.append((root, False))
    while stack:
        op, operands_done = stack.pop()
        if operands_done:
            order.append(op)
        elif not entered[op]:
            entered[op] = True
            stack.append((op, True))
            stack.extend((operand, False) for operand in reversed(visit_order[op]))
    return tuple(order)
