"""What a collective moves over links at least, by its declaration.

Every element of a result is an element of one device's tensor, or a fold of elements of several. Cut the devices into
two parts: what one part needs of the other's elements crosses the links between them once, and of a fold one partial
result. Besides, an element needs a transfer for every device that gets it from another, and a fold one for every term
but one. Over the links between the devices of a group no algorithm moves less; those of rings move no more.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ttnn_jit.ops.families.collective import (
    Extents,
    Fill,
    Fold,
    Join,
    Received,
    Results,
    Shard,
    Slice,
    Source,
    devices_read_by,
    shape_of,
)
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.meshes.machine import Link, Machine
from ttnn_jit.specs.meshes.mesh_shape import MeshShape

Box = tuple[tuple[int, int], ...]
"""A part of a tensor: the elements [begin, end) along each dimension."""


@dataclass(frozen=True)
class LinkTraffic:
    """What a collective moves over the busiest links.

    Attributes:
        devices: The most devices that exchange with each other.
        nbytes: The least bytes that a link moves in one direction, whatever the algorithm.
    """

    devices: int
    nbytes: float


class _Moved(NamedTuple):
    """Elements that some devices have and others need.

    Attributes:
        number: The number of elements.
        sources: The devices that have them, or terms of them.
        receivers: The devices that need them.
    """

    number: int
    sources: frozenset[int]
    receivers: frozenset[int]

    def transfers(self) -> int:
        """The least number of transfers of an element between two devices."""
        is_kept = bool(self.sources & self.receivers)
        return len(self.sources) - 1 + len(self.receivers) - is_kept


def link_traffic(
    results: Mapping[int, Results], shapes: Sequence[Extents], element_bytes: float, mesh: MeshShape, machine: Machine
) -> LinkTraffic:
    """The traffic of a call.

    Args:
        results: For each device, its results as expressions over operands of these shapes.
        shapes: The extents of the operands on each device.
        element_bytes: Bytes of an element, with its part of the padding.
        mesh: The shape of the program's mesh.
        machine: The machine whose chips the devices are.

    Raises:
        ArgumentError: The mesh does not fit the machine.
    """
    moved = _moved(results, shapes)
    groups = _connected(moved)
    elements = 0.0
    for group in groups:
        own = [each for each in moved if each.receivers & group]
        elements = max(elements, _elements_per_link(own, sorted(group), mesh, machine))
    return LinkTraffic(max(map(len, groups), default=1), elements * element_bytes)


def _elements_per_link(moved: Sequence[_Moved], group: Sequence[int], mesh: MeshShape, machine: Machine) -> float:
    """The least elements that a link of a group moves in one direction."""
    links = machine.links_between(mesh, group)
    if not _joins_all(links, group):
        links = machine.links_between(mesh, range(mesh.mesh_size()))
    whole = sum(each.number * each.transfers() for each in moved) / sum(2 * link.count for link in links)
    crossing = (_crossing(moved, frozenset(part), links) for part in _cuts(group))
    return max(whole, *crossing)


def _cuts(group: Sequence[int]) -> Iterator[Sequence[int]]:
    """Parts of a group: each device, and the first ones."""
    yield from ((device,) for device in group)
    yield from (group[:count] for count in range(2, len(group) - 1))


def _crossing(moved: Sequence[_Moved], part: frozenset[int], links: Sequence[Link]) -> float:
    """The elements that cross each link between a part and the others, in the busier direction."""
    into = sum(each.number for each in moved if each.sources - part and each.receivers & part)
    out = sum(each.number for each in moved if each.sources & part and each.receivers - part)
    count = sum(link.count for link in links if len(part.intersection(link.devices)) == 1)
    return max(into, out) / count


def _joins_all(links: Sequence[Link], group: Sequence[int]) -> bool:
    reached = {group[0]}
    while more := {end for link in links if reached.intersection(link.devices) for end in link.devices} - reached:
        reached |= more
    return reached >= {*group}


def _connected(moved: Sequence[_Moved]) -> list[frozenset[int]]:
    """The sets of devices that exchange with each other."""
    groups: list[frozenset[int]] = []
    for each in moved:
        own = each.sources | each.receivers
        own = own.union(*(group for group in groups if group & own))
        groups = [group for group in groups if not group & own] + [own]
    return groups


# --- Elements ---------------------------------------------------------------------------------------------------------


def _moved(results: Mapping[int, Results], shapes: Sequence[Extents]) -> list[_Moved]:
    """The elements that devices need of others', each once."""
    read: defaultdict[Source, defaultdict[Box, set[int]]] = defaultdict(lambda: defaultdict(set))
    for device, each in results.items():
        for source in each:
            extents = shape_of(source, shapes)
            for base, box in _read(source, tuple((0, extent) for extent in extents), shapes):
                read[base][box].add(device)
    found = []
    for base, boxes in read.items():
        sources = frozenset(devices_read_by(base))
        for count, receivers in _disjoint(boxes):
            if len(sources | receivers) > 1:
                found.append(_Moved(count, sources, receivers))
    return found


def _read(source: Source, box: Box, shapes: Sequence[Extents]) -> Iterator[tuple[Source, Box]]:
    """The parts of shards and folds that a part of an expression reads."""
    if any(begin >= end for begin, end in box):
        return
    match source:
        case Shard() | Fold():
            yield source, box
        case Received(_, of):
            yield from _read(of, box, shapes)
        case Slice(of, dim, first, _):
            begin, end = box[dim]
            yield from _read(of, (*box[:dim], (begin + first, end + first), *box[dim + 1 :]), shapes)
        case Join(dim, parts):
            first = 0
            for part in parts:
                last = first + shape_of(part, shapes)[dim]
                begin, end = max(box[dim][0], first) - first, min(box[dim][1], last) - first
                yield from _read(part, (*box[:dim], (begin, end), *box[dim + 1 :]), shapes)
                first = last
        case Fill():
            return


def _disjoint(boxes: Mapping[Box, Collection[int]]) -> Iterator[tuple[int, frozenset[int]]]:
    """The number of elements of the cells that boxes cut each other into, and the devices that need them."""
    if len(boxes) == 1:
        ((box, devices),) = boxes.items()
        yield math.prod(end - begin for begin, end in box), frozenset(devices)
        return
    bounds = [sorted({bound for each in along for bound in each}) for along in zip(*boxes, strict=True)]
    for cell in itertools.product(*(itertools.pairwise(each) for each in bounds)):
        own = [
            devices
            for box, devices in boxes.items()
            if all(begin <= low and high <= end for (begin, end), (low, high) in zip(box, cell, strict=True))
        ]
        if own:
            yield math.prod(high - low for low, high in cell), frozenset().union(*own)
