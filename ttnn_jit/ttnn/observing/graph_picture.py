"""The picture of a graph of operations: boxes in rows, repetitions drawn once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from textwrap import wrap
from typing import NamedTuple

from ttnn_jit.ttnn.observing.graph_nodes import Node, folded

_LINE_WIDTH = 48
"""Characters in a line of arguments."""
_MAX_LINES = 4
"""Lines of arguments in a box; JSON has all arguments."""


def lines_of(node: Node) -> list[str]:
    """The lines of text in a node's box."""
    remark = [node.remark] if node.remark else []
    return [
        node.name,
        *wrap(", ".join(node.arguments), _LINE_WIDTH, max_lines=_MAX_LINES, placeholder=" ..."),
        *node.outputs,
        *remark,
    ]


_LINE, _LETTER, _GAP, _ROW_GAP = 16, 7, 28, 36  # pixels: a line's height, a letter's width, between boxes, rows
_COLUMN_HEIGHT = 1400
"""Height of a column in pixels, about that of a screen."""
_FOLD_ABOVE = 40
"""Nodes in a graph that is drawn without folding."""
Box = tuple[float, float, float, float]
"""Left, top, width and height."""


def picture(nodes: Sequence[Node]) -> str:
    """An SVG with boxes in rows: a node is below its inputs, and a row is ordered like its inputs.

    An edge that spans several rows has a lane between the boxes of each row that it crosses. A graph that is taller
    than a screen continues in a column to the right.
    """
    nodes = folded(nodes) if len(nodes) > _FOLD_ABOVE else list(nodes)
    depth = _depths(nodes)
    boxes, columns = _layout(_rows(nodes, depth), depth)
    edges = {(source, node.number) for node in nodes for source, _ in node.inputs}
    parts = [
        _edge([boxes[s, row] for row in range(depth[s], depth[n])], boxes[n, depth[n]], columns)
        for s, n in sorted(edges)
    ]
    parts += [_box(node, *boxes[node.number, depth[node.number]]) for node in nodes]
    right = columns[-1].right if columns else _GAP
    bottom = max((column.bottom for column in columns), default=0.0) + _GAP
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right:.0f}" height="{bottom:.0f}" '
        f'viewBox="0 0 {right:.0f} {bottom:.0f}" font-family="monospace">'
    )
    return "\n".join([head, _ARROW, *parts, "</svg>\n"])


class _Column(NamedTuple):
    """A column of rows: its left and right edges, and the bottom of its last row."""

    left: float
    right: float
    bottom: float


def _layout(rows: Sequence[Sequence[Node]], depth: Sequence[int]) -> tuple[dict[tuple[int, int], Box], list[_Column]]:
    """The box per (node, row), a lane in rows that an edge of the node crosses; and the columns."""
    boxes: dict[tuple[int, int], Box] = {}
    columns: list[_Column] = []
    top, start, widest = float(_GAP), float(_GAP), 0.0
    for row, found in enumerate(rows):
        own = [node for node in found if depth[node.number] == row]
        height = max(len(lines_of(node)) for node in own) * _LINE + 12
        if top > _GAP and top + height > _COLUMN_HEIGHT:
            columns.append(_Column(start, widest + _GAP, top - _ROW_GAP))
            top, start, widest = float(_GAP), widest + 2 * _GAP, 0.0
        left = start
        for node in sorted(found, key=lambda node: _mean(boxes[s, row - 1][0] for s in _anchors(node, row, depth))):
            width = max(map(len, lines_of(node))) * _LETTER + 16 if depth[node.number] == row else 0
            boxes[node.number, row] = left, top, width, height
            left += width + _GAP
        widest = max(widest, left - _GAP)
        top += height + _ROW_GAP
    if rows:
        columns.append(_Column(start, widest + _GAP, top - _ROW_GAP))
    return boxes, columns


def _depths(nodes: Sequence[Node]) -> list[int]:
    """The row of each node: below its inputs, and as close as possible to its users."""
    depth: list[int] = []
    for node in nodes:
        depth.append(max((depth[source] + 1 for source, _ in node.inputs), default=0))
    above_users: dict[int, int] = {}
    for node in reversed(nodes):
        depth[node.number] = above_users.get(node.number, depth[node.number])
        for source, _ in node.inputs:
            above_users[source] = min(above_users.get(source, depth[node.number]), depth[node.number] - 1)
    return depth


def _rows(nodes: Sequence[Node], depth: Sequence[int]) -> list[list[Node]]:
    """The nodes in each row, and the nodes whose edges cross it."""
    last = list(depth)
    for node in nodes:
        for source, _ in node.inputs:
            last[source] = max(last[source], depth[node.number] - 1)
    rows: list[list[Node]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for node in nodes:
        for row in range(depth[node.number], last[node.number] + 1):
            rows[row].append(node)
    return rows


def _anchors(node: Node, row: int, depth: Sequence[int]) -> list[int]:
    """The nodes that determine a node's position in a row: its inputs, or its own lane in the row above."""
    return [source for source, _ in node.inputs] if depth[node.number] == row else [node.number]


def _mean(numbers: Iterable[float]) -> float:
    values = list(numbers)
    return sum(values) / max(1, len(values))


def _box(node: Node, left: float, top: float, width: float, height: float) -> str:
    fill = "#e4f0e4" if node.remark else "#f4f4f8"
    rect = f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}" fill="{fill}" stroke="#556"/>'
    texts = [
        f'<text x="{left + 8:.0f}" y="{top + _LINE * (index + 1):.0f}" font-size="11">{escape(line)}</text>'
        for index, line in enumerate(lines_of(node))
    ]
    return "\n".join([rect, *texts])


_ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" fill="#99a"/></marker></defs>'
)


_Point = tuple[float, float]


def _edge(passed: Sequence[Box], target: Box, columns: Sequence[_Column]) -> str:
    """A line from the bottom of the first box through the lanes of the others to the top of the target."""
    (left, top, width, height), *lanes = passed
    points = [(left + width / 2, top + height)]
    for left, top, _, height in lanes:
        points += _detour(points[-1], (left, top), columns)
        points += [(left, top), (left, top + height)]
    end = target[0] + target[2] / 2, target[1]
    points += [*_detour(points[-1], end, columns), end]
    line = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
    return f'<polyline points="{line}" fill="none" stroke="#99a" marker-end="url(#arrow)"/>'


def _detour(start: _Point, end: _Point, columns: Sequence[_Column]) -> list[_Point]:
    """The points from the bottom of a column, around it, to the top of another; none within one column."""
    column, other = (next(each for each in columns if x <= each.right) for x, _ in (start, end))
    if column is other:
        return []
    below, above = column.bottom + _GAP / 2, _GAP / 2
    return [(start[0], below), (column.right, below), (column.right, above), (end[0], above)]
