"""Pictures of boxes and arrows as inline SVG, in the page's colours, with boxes that are links."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

CHARACTER, LINE, GAP = 7.9, 34, 22
"""The width of a character, the height of a box, and the gap between boxes; in pixels."""


@dataclass(frozen=True)
class Box:
    """A box: its text, its centre, and its link."""

    text: str
    x: float
    y: float
    target: str = ""

    @property
    def width(self) -> float:
        """The width of the text and a margin."""
        return CHARACTER * len(self.text) + 20

    def svg(self) -> str:
        """The box, with its link if it has one."""
        shape = (
            f'<rect x="{self.x - self.width / 2:.1f}" y="{self.y - LINE / 2 + 4:.1f}" width="{self.width:.1f}" '
            f'height="{LINE - 8}" rx="4"/><text x="{self.x:.1f}" y="{self.y + 4.5:.1f}" text-anchor="middle">'
            f"{escape(self.text)}</text>"
        )
        return f'<a href="{escape(self.target)}">{shape}</a>' if self.target else shape


def svg(width: float, height: float, parts: Iterable[str], title: str) -> str:
    """A picture of these parts, as one line of HTML."""
    marker = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    )
    marker += '<path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>'
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    drawn = f'<svg class="picture" role="img" {size}><title>{escape(title)}</title>{marker}{"".join(parts)}</svg>'
    return f'<div class="frame">{drawn}</div>'


def layered(arrows: Mapping[str, Iterable[str]], targets: Mapping[str, str], title: str) -> str:
    """A layered graph: boxes in rows, with an arrow from each box to those that it needs directly.

    Args:
        arrows: Box -> the boxes that it needs; redundant arrows are left out.
        targets: Box -> its link.
        title: The title of the picture.
    """
    needed = reduced(arrows)
    rows, chains = _rows_of(needed)
    _order(rows, chains)
    width = max(sum(_width(name) + GAP for name in row) for row in rows) + GAP
    pitch = LINE + 26
    at = {}
    for number, row in enumerate(rows):
        space = (width - sum(map(_width, row))) / (len(row) + 1)
        x = space
        for name in row:
            at[name] = x + _width(name) / 2, number * pitch + LINE / 2 + 4
            x += _width(name) + space
    lines = (_curve([at[name] for name in chain]) for chain in chains)
    boxes = (Box(name, *at[name], targets.get(name, "")).svg() for name in needed)
    return svg(width, (len(rows) - 1) * pitch + LINE + 8, [*lines, *boxes], title)


def reduced(arrows: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """The transitive reduction; boxes in a cycle are one box, which names them all."""
    arrows = {name: {*others} - {name} for name, others in arrows.items()}
    for others in [*arrows.values()]:
        arrows |= {name: set() for name in others - {*arrows}}
    reached = {name: _reached(arrows, name) for name in arrows}
    group = {
        name: " + ".join(sorted({name, *(each for each in below if name in reached[each])}))
        for name, below in reached.items()
    }
    needed: dict[str, set[str]] = {}
    for name, others in arrows.items():
        needed.setdefault(group[name], set()).update(group[each] for each in others if group[each] != group[name])
    below = {name: _reached(needed, name) for name in needed}
    return {
        name: {each for each in others if not any(each in below[other] for other in others - {each})}
        for name, others in needed.items()
    }


def _reached(arrows: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    ahead = [*arrows[start]]
    while ahead:
        if (name := ahead.pop()) not in found:
            found.add(name)
            ahead += arrows[name]
    return found


def _rows_of(needed: Mapping[str, set[str]]) -> tuple[list[list[str]], list[list[str]]]:
    """Rows of names, and per arrow the names on its path: both boxes, and a dummy for each row between them."""
    depth: dict[str, int] = {}

    def below(name: str) -> int:
        if name not in depth:
            depth[name] = 1 + max(map(below, needed[name]), default=-1)
        return depth[name]

    last = max(map(below, needed))
    rows: list[list[str]] = [[] for _ in range(last + 1)]
    for name in needed:
        rows[last - depth[name]].append(name)
    chains = []
    for name, others in needed.items():
        for other in sorted(others):
            between = range(last - depth[name] + 1, last - depth[other])
            chains.append([name, *(f"\0{name} {other} {row}" for row in between), other])
            for row, passed in zip(between, chains[-1][1:-1], strict=True):
                rows[row].append(passed)
    return rows, chains


def _order(rows: Sequence[list[str]], chains: Sequence[Sequence[str]]) -> None:
    """Orders every row by its neighbours, so that few arrows cross (Sugiyama's barycenters)."""
    joined: dict[str, list[str]] = {name: [] for row in rows for name in row}
    for chain in chains:
        for one, other in itertools.pairwise(chain):
            joined[one].append(other)
            joined[other].append(one)
    for sweep in range(24):
        position_of = {name: (number + 0.5) / len(row) for row in rows for number, name in enumerate(row)}
        for row in rows if sweep % 2 else reversed(rows):
            row.sort(key=lambda name: sum(position_of[each] for each in joined[name]) / max(1, len(joined[name])))
            position_of |= {name: (number + 0.5) / len(row) for number, name in enumerate(row)}


def _width(name: str) -> float:
    return 8 if name.startswith("\0") else Box(name, 0, 0).width


def _curve(points: Sequence[tuple[float, float]]) -> str:
    """A curve from below the first point to above the last."""
    half = LINE / 2 - 4
    path = f"M{points[0][0]:.1f} {points[0][1] + half:.1f}"
    for number, ((x, y), (to_x, to_y)) in enumerate(itertools.pairwise(points)):
        start = y + half
        end = to_y - half - (2 if number == len(points) - 2 else 0)
        middle = (start + end) / 2
        path += f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {end:.1f}"
        if number < len(points) - 2:
            path += f"L{to_x:.1f} {to_y + half:.1f}"
    return f'<path d="{path}" marker-end="url(#tip)"/>'


def sequence(columns: Sequence[str], steps: Sequence[tuple[str, str, str]], title: str) -> str:
    """A sequence diagram: a line for each step, with its text and an arrow from one column to another."""
    pitch, apart = 24, 27
    left = CHARACTER * max(len(text) for *_, text in steps) + 16
    top = CHARACTER * max(map(len, columns)) * 0.87 + 18
    xs = {name: left + apart * (number + 0.5) for number, name in enumerate(columns)}
    width = left + apart * len(columns) + CHARACTER * len(columns[-1]) / 2
    height = top + pitch * len(steps)
    parts = []
    for name, x in xs.items():
        parts.append(f'<line x1="{x:.1f}" y1="{top - 8:.1f}" x2="{x:.1f}" y2="{height:.1f}" stroke-dasharray="2 4"/>')
        parts.append(f'<text transform="translate({x:.1f} {top - 12:.1f}) rotate(-60)">{escape(name)}</text>')
    for number, (caller, callee, text) in enumerate(steps):
        y = top + pitch * (number + 0.5)
        tip = xs[callee] + (1 if xs[callee] < xs[caller] else -1)
        parts.append(f'<line x1="{xs[caller]:.1f}" y1="{y:.1f}" x2="{tip:.1f}" y2="{y:.1f}" marker-end="url(#tip)"/>')
        parts.append(f'<text x="{left - 8:.1f}" text-anchor="end" y="{y + 4:.1f}">{escape(text)}</text>')
    return svg(width, height, parts, title)
