"""Descriptions of values of a world, from which the generator writes expressions that read a number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Number:
    """A number, or an object that is used as one."""


@dataclass(frozen=True)
class Function:
    """A callable with a number, or no argument, whose result is a number."""


@dataclass(frozen=True)
class Choice:
    """A callable with a tensor, whose result is one."""


@dataclass(frozen=True)
class Instance:
    """An object of a class of the world."""

    of: Klass


@dataclass(frozen=True)
class Sequence:
    """A list or tuple of values of one shape."""

    item: Shape
    length: int


@dataclass(frozen=True)
class Mapping:
    """A dict from the keys, given as expressions, to values of one shape."""

    item: Shape
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Members:
    """A set of the values of the expressions."""

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
