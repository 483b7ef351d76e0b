"""Locations of the user's file as location attributes of ops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

from ttnn_jit.diagnostics.source import Location

UNKNOWN = UnknownLoc()

_PLACE = "place_in_text"


def note_place(op: Operation, place: Callable[[], Location]) -> None:
    """Note the place of an op in its text, for errors: in dumps of tt-xla ``loc("convolution.3")`` names no file."""
    setattr(op, _PLACE, place)


@cache
def location_attribute(location: Location) -> FileLineColLoc:
    """``loc("file":line:column)``; MLIR's locations have no end."""
    return FileLineColLoc(StringAttr(location.file), IntAttr(location.line), IntAttr(location.column))


def call_chain_attribute(location: Location | None) -> LocationAttr:
    """The location with its call stack; None gives the unknown location."""
    return UNKNOWN if location is None else _call_chain(location)


@cache
def _call_chain(location: Location) -> LocationAttr:
    own = location_attribute(Location(location.file, location.line, location.column))
    return own if location.called_from is None else CallSiteLoc(own, _call_chain(location.called_from))


def location_of(op: Operation) -> Location | None:
    """The first location in the user's file that `op` comes from, else its place in its text; None if it has none."""
    found = next(iter(_locations(op.location)), None)
    if found is None and (place := getattr(op, _PLACE, None)) is not None:
        written: Location = place()
        return written
    return found


def locations_of(op: Operation) -> tuple[Location, ...]:
    """Every location in the user's file that `op` comes from: a fused op has several."""
    return tuple(_locations(op.location))


def fused_location(locations: Iterable[Attribute]) -> LocationAttr:
    """One location of all `locations`, in order, without duplicates and unknown ones."""
    leaves: dict[Attribute, None] = {}
    # Most duplicates are one object, for `location_attribute` is cached; locations are slow to hash.
    for location in {id(location): location for location in locations}.values():
        leaves.update(dict.fromkeys(_leaves(location)))
    match [leaf for leaf in leaves if isinstance(leaf, LocationAttr)]:
        case []:
            return UNKNOWN
        case [single]:
            return single
        case several:
            return FusedLoc(ArrayAttr(several), NoneAttr())


def _leaves(location: Attribute) -> Iterable[Attribute]:
    match location:
        case UnknownLoc():
            return
        case FusedLoc(locations=ArrayAttr() as nested):
            for inner in nested:
                yield from _leaves(inner)
        case _:
            yield location


def _locations(location: Attribute) -> Iterable[Location]:
    match location:
        case FileLineColLoc():
            yield Location(location.filename.data, location.line.data, location.column.data)
        case FusedLoc(locations=ArrayAttr() as nested):
            for inner in nested:
                yield from _locations(inner)
        case NameLoc():
            yield from _locations(location.location)
        case CallSiteLoc():
            yield from _locations(location.callee)
            yield from _locations(location.caller)
        case _:
            return
