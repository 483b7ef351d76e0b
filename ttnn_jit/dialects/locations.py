"""Places in the user's file on ops, and a `replace` that carries them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttnn_jit.diagnostics.source import Location

UNKNOWN = UnknownLoc()


@cache
def location_attribute(location: Location) -> FileLineColLoc:
    """``loc("file":line:column)``; MLIR keeps no end."""
    return FileLineColLoc(StringAttr(location.file), IntAttr(location.line), IntAttr(location.column))


def call_chain_attribute(location: Location | None) -> LocationAttr:
    """The same with the calls that led there; of None the unknown one."""
    return UNKNOWN if location is None else _call_chain(location)


@cache
def _call_chain(location: Location) -> LocationAttr:
    place = location_attribute(Location(location.file, location.line, location.column))
    return place if location.called_from is None else CallSiteLoc(place, _call_chain(location.called_from))


def location_of(op: Operation) -> Location | None:
    """The first place in the user's file that `op` comes from; None if it has none."""
    return next(iter(_places(op.location)), None)


def locations_of(op: Operation) -> tuple[Location, ...]:
    """Every place in the user's file that `op` comes from: a fused op has several."""
    return tuple(_places(op.location))


def fused_location(locations: Iterable[Attribute]) -> LocationAttr:
    """One location that names all of `locations`, each once, in order; the unknown ones are left out."""
    leaves: dict[Attribute, None] = {}
    # Most repetitions are one object, which `location_attribute` remembers: to hash a place is to walk through it.
    for location in {id(location): location for location in locations}.values():
        leaves.update(dict.fromkeys(_leaves(location)))
    match [leaf for leaf in leaves if isinstance(leaf, LocationAttr)]:
        case []:
            return UNKNOWN
        case [single]:
            return single
        case several:
            return FusedLoc(ArrayAttr(several), NoneAttr())


def replace(
    op: Operation | Sequence[Operation],
    new_ops: Operation | Sequence[Operation],
    new_results: Sequence[SSAValue] | None = None,
) -> None:
    """Puts `new_ops` in the place of `op` and erases it, or the last and all of several.

    New ops without a location get that of the replaced, fused if there are several.

    Args:
        op: What is replaced, in program order; the results of the last stand for the replaced value.
        new_ops: What takes its place, in program order; may be empty.
        new_results: Values for the results of the last replaced op; by default those of the last new op.
    """
    old_ops = [op] if isinstance(op, Operation) else list(op)
    inserted = [new_ops] if isinstance(new_ops, Operation) else list(new_ops)
    last = old_ops[-1]
    location = fused_location(old.location for old in old_ops)
    for new_op in inserted:
        for unplaced in new_op.walk():
            if isinstance(unplaced.location, UnknownLoc):
                unplaced.location = location
    block = _block_of(last)
    block.insert_ops_before(inserted, last)
    if new_results is None:
        new_results = inserted[-1].results if inserted else ()
    for old_result, new_result in zip(last.results, new_results, strict=True):
        old_result.replace_all_uses_with(new_result)
    for old in reversed(old_ops):
        _block_of(old).erase_op(old)


def _block_of(op: Operation) -> Block:
    block = op.parent_block()
    if block is None:
        raise ValueError(f"{op.name} stands in no block")
    return block


def _leaves(location: Attribute) -> Iterable[Attribute]:
    match location:
        case UnknownLoc():
            return
        case FusedLoc(locations=ArrayAttr() as nested):
            for inner in nested:
                yield from _leaves(inner)
        case _:
            yield location


def _places(location: Attribute) -> Iterable[Location]:
    match location:
        case FileLineColLoc():
            yield Location(location.filename.data, location.line.data, location.column.data)
        case FusedLoc(locations=ArrayAttr() as nested):
            for inner in nested:
                yield from _places(inner)
        case NameLoc():
            yield from _places(location.location)
        case CallSiteLoc():
            yield from _places(location.callee)
            yield from _places(location.caller)
        case _:
            return
