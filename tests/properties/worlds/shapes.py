"""Descriptions of values of a world, from which the generator writes expressions that read a number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Number:
    """A number, or something that is used as one."""


@dataclass(frozen=True)
class Function:
    """Something that is called with a number, or with nothing, and gives a number."""


@dataclass(frozen=True)
class Choice:
    """Something that is called with a tensor and gives one."""


@dataclass(frozen=True)
class Instance:
    """An object of a class of the world."""

    of: Klass


@dataclass(frozen=True)
class Sequence:
    """A list or tuple of things of one shape."""

    item: Shape
    length: int


@dataclass(frozen=True)
class Mapping:
    """A dict from the keys, given as expressions, to things of one shape."""

    item: Shape
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Members:
    """A set of the things that the expressions name."""

    items: tuple[str, ...]


Shape: TypeAlias = Number | Function | Choice | Instance | Sequence | Mapping | Members


@dataclass(eq=False)
class Klass:
    """A class of the world.

    Attributes:
        name: How it is called from the main module.
        kind: Its base's name.
        makes: Expressions that make an instance; ``{n}`` stands for a number.
        own: What a method reads of its own instance, as a number.
        subclassable: Whether other classes may derive from it.
        readings: Expressions over an instance ``{e}`` and the class ``{c}`` that give a number.
        class_readings: Those over the class alone.
    """

    name: str
    kind: str
    makes: tuple[str, ...]
    own: str
    subclassable: bool = False
    readings: list[str] = field(default_factory=list)
    class_readings: list[str] = field(default_factory=list)
