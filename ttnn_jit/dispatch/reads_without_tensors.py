"""The reads of a compile for guards that keep no hidden input alive.

An object on the path to a tensor (a layer, a list of layers, a function whose closure holds it) is compared by its
class, not by identity. Other reads through the object have paths and guards of their own, as on disk.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from ttnn_jit.foreign.values import ANYTHING, is_a, is_atom, is_identity, native_class, native_contents
from ttnn_jit.guards.reads import ATTRIBUTE_STEP, CALL_STEP, CONTENTS_STEP, ITEM_STEP, TYPE_STEP, Path, Read
from ttnn_jit.guards.tensor_mark import TensorMark
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.libraries import is_library_tensor


def without_tensors(reads: Sequence[Read]) -> tuple[Read, ...]:
    """The reads for a guard that keeps alive no tensor, and no object on the path to one."""
    inputs = [read.path for read in reads if is_a(read.value, TensorMark)]
    leading = {prefix for path in inputs for prefix in _prefixes(path)}
    hidden = _HiddenInputPaths(
        leading, {id(read.value) for read in reads if read.path in leading and _is_replaceable(read.value)}
    )
    return tuple({part.path: part for read in reads for part in _without_tensors(read, hidden)}.values())


@dataclass(frozen=True)
class _HiddenInputPaths:
    """The prefixes of paths to hidden inputs, and the ids of the objects there, which other paths may reach too."""

    paths: Collection[Path]
    objects: Collection[int]


def _prefixes(path: Path) -> Iterator[Path]:
    """The prefixes of the path to a tensor, those of operands of calls included."""
    for length in range(1, len(path)):
        yield path[:length]
    if path[0][0] == CALL_STEP:
        for which, *operand in path[0][1][1]:
            if which == "path":
                yield operand[0]
                yield from _prefixes(operand[0])


def _without_tensors(read: Read, hidden: _HiddenInputPaths) -> Iterator[Read]:
    if read.path[-1][0] == CONTENTS_STEP:
        yield from _contents(read, hidden)
    elif (
        (read.path in hidden.paths or _holds_tensor(read.value)) and _is_replaceable(read.value) and not read.is_in_key
    ):
        yield Read((*read.path, _CLASS), type(read.value))
        if read.path[-1] in _DEFAULTS:
            yield from _contents(Read((*read.path, (CONTENTS_STEP, None)), native_contents(read.value)), hidden)
    else:
        yield read


_CLASS = (TYPE_STEP, None)
_DEFAULTS = frozenset({(ATTRIBUTE_STEP, "__defaults__"), (ATTRIBUTE_STEP, "__kwdefaults__")})


def _is_replaceable(value: Any) -> bool:
    """Whether an object may be replaced by another one: all that was read through it has reads of its own."""
    return is_a(value, types.FunctionType) or not (is_atom(value) or is_identity(value))


def _holds_tensor(value: Any) -> bool:
    return native_class(type(value)) is not None and any(map(is_library_tensor, native_contents(value)))


def _contents(read: Read, hidden: _HiddenInputPaths) -> Iterator[Read]:
    """The read of a container's items, with ANYTHING for tensors and for objects on the path to one."""
    items = list(read.value)
    for index, item in enumerate(items):
        if not _is_replaceable(item):
            continue
        at = next((path for path in _paths_of_item(read, index) if path in hidden.paths), None)
        if at is not None:
            yield Read((*at, _CLASS), type(item))
        if at is not None or id(item) in hidden.objects or is_library_tensor(item):
            items[index] = ANYTHING
    yield Read(read.path, tuple(items))


def _paths_of_item(read: Read, index: int) -> Iterator[Path]:
    """The possible paths of the item at an index of a container's contents."""
    container, (half, odd) = read.path[:-1], divmod(len(read.value), 2)
    yield *container, (ITEM_STEP, index)
    yield *read.path, (ITEM_STEP, index)
    if not odd and index >= half and type(key := read.value[index - half]) in {str, int}:  # a dict's, after its keys
        yield *container, (ITEM_STEP, key)
