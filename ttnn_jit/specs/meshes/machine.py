"""Machines of several chips as planning sees them: the chips' mesh, and the links between neighbours."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.meshes.mesh_shape import MeshCoordinate, MeshShape

ETHERNET_OF_WORMHOLE = 12.5e9
"""Bytes per second of a link of a Wormhole in one direction: 100 Gbit/s (tt-metal, BasicEthernetGuide.md)."""


@dataclass(frozen=True)
class Link:
    """The links between two neighbouring devices.

    Attributes:
        devices: The numbers of the devices in the mesh of a program.
        count: The number of links, each of which moves data in both directions at once.
    """

    devices: tuple[int, int]
    count: int


@dataclass(frozen=True)
class Machine:
    """A machine of several chips.

    Attributes:
        name: Its name.
        mesh: The shape of the mesh of its chips.
        links: The number of links between two neighbours.
        rings: Per axis, whether its last chip is linked to its first.
        bytes_per_second: The physical rate of a link in one direction.
    """

    name: str
    mesh: tuple[int, ...]
    links: int
    rings: tuple[bool, ...]
    bytes_per_second: float

    def links_between(self, mesh: MeshShape, devices: Sequence[int]) -> tuple[Link, ...]:
        """The links between these devices of a program's mesh.

        Where the mesh fits along the machine's axes, in any order of the axes, it lies at the machine's origin, along
        as many whole axes as can be. A row of devices that does not fit runs through the machine's rows, every second
        one backwards.

        Raises:
            ArgumentError: The mesh does not fit the machine.
        """
        places = self._places(mesh)
        numbers = {places[number]: number for number in devices}
        found = (
            (number, numbers[place])
            for at, number in numbers.items()
            for place in self._next_to(at)
            if place in numbers
        )
        return tuple(Link(ends, self.links) for ends in dict.fromkeys(found))

    def _next_to(self, at: MeshCoordinate) -> Iterator[MeshCoordinate]:
        """The next place along each axis."""
        for axis, extent in enumerate(self.mesh):
            after = at[axis] + 1
            if after < extent or (self.rings[axis] and extent > 2):
                yield MeshCoordinate((*at[:axis], after % extent, *at[axis + 1 :]))

    def _places(self, mesh: MeshShape) -> list[MeshCoordinate]:
        """The chip of each device of a mesh."""
        own = MeshShape(self.mesh)
        shape = [extent for extent in mesh if extent > 1]
        fitting = [
            axes
            for axes in itertools.permutations(range(len(own)), len(shape))
            if all(extent <= own[axis] for extent, axis in zip(shape, axes, strict=True))
        ]
        if fitting:
            axes = max(fitting, key=lambda each: sum(map(int.__eq__, shape, map(own.__getitem__, each))))
            return [_placed(at, axes, len(own)) for at in itertools.product(*map(range, shape))]
        if len(shape) > 1 or mesh.mesh_size() > own.mesh_size():
            raise ArgumentError(
                f"a mesh of shape {tuple(mesh)} does not fit {self.name}, which is {' x '.join(map(str, self.mesh))}"
            )
        return sorted(own.coordinates(), key=_along_rows)[: mesh.mesh_size()]

    @staticmethod
    def from_json(text: str, source: str = "this") -> Machine:
        """A machine from JSON: an object of the attributes of this class.

        Args:
            text: JSON.
            source: The name of the text in errors.

        Raises:
            ArgumentError: The text is no such object.
        """
        try:
            values = json.loads(text)
        except ValueError:
            values = None
        names = [field.name for field in fields(Machine)]
        if not isinstance(values, dict) or sorted(values) != sorted(names):
            raise ArgumentError(f"{source} describes no machine", help=f"it is a JSON object of {', '.join(names)}")
        for name, value in values.items():
            if not _fits(name, value):
                raise ArgumentError(f"{source} describes no machine: `{name}` is {value!r}")
        if len(values["rings"]) != len(values["mesh"]):
            raise ArgumentError(f"{source} describes no machine: `rings` has a value for each axis of `mesh`")
        return Machine(**(values | {name: tuple(values[name]) for name in ("mesh", "rings")}))


def _placed(at: Sequence[int], axes: Sequence[int], rank: int) -> MeshCoordinate:
    place = [0] * rank
    for index, axis in zip(at, axes, strict=True):
        place[axis] = index
    return MeshCoordinate(place)


def _along_rows(at: MeshCoordinate) -> tuple[int, ...]:
    """Orders places so that each is next to the one before: the sum of the axes before says which way an axis runs."""
    order: list[int] = []
    for index in at:
        order.append(-index if sum(map(abs, order)) % 2 else index)
    return tuple(order)


def _fits(name: str, value: Any) -> bool:
    """Whether a value is one of this attribute."""
    match name:
        case "name":
            return isinstance(value, str)
        case "mesh":
            return isinstance(value, list) and 1 <= len(value) <= 3 and all(_is_count(each) for each in value)
        case "rings":
            return isinstance(value, list) and all(isinstance(each, bool) for each in value)
        case "links":
            return _is_count(value)
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def _is_count(value: object) -> bool:
    return type(value) is int and value > 0


MACHINES = {
    machine.name: machine
    for machine in (
        # The links of tt-metal's mesh graph descriptors; a Galaxy is the one whose lines of chips are closed.
        Machine("n300", (1, 2), 2, (False, False), ETHERNET_OF_WORMHOLE),
        Machine("t3000", (2, 4), 2, (False, False), ETHERNET_OF_WORMHOLE),
        Machine("galaxy", (8, 4), 4, (True, True), ETHERNET_OF_WORMHOLE),
    )
}

MachineLike: TypeAlias = "Machine | str"


def resolve_machine(machine: MachineLike) -> Machine:
    """A machine by its name, by a JSON object, or by a file that has one.

    Raises:
        ArgumentError: There is no machine of that name, or the JSON describes none.
    """
    if isinstance(machine, Machine):
        return machine
    if not isinstance(machine, str):
        raise ArgumentError(f"a machine is a name or JSON, got {type(machine).__name__}")
    if machine in MACHINES:
        return MACHINES[machine]
    if machine.lstrip().startswith("{"):
        return Machine.from_json(machine)
    try:
        return Machine.from_json(Path(machine).read_text(encoding="utf-8"), machine)
    except (OSError, UnicodeDecodeError):
        raise ArgumentError(
            f"unknown machine {machine!r}", help=f"it is one of {', '.join(MACHINES)}, JSON, or a file of JSON"
        ) from None
