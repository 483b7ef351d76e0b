"""Pytrees: nested containers with tensors and scalars at their leaves, as arguments and results of functions.

Containers are tuples, named tuples, lists, dicts, and instances of dataclasses. `flatten` splits a pytree into its
leaves and its structure, a `TreeDef`. `TreeDef.unflatten` builds a pytree of this structure, with the same classes of
containers, from other leaves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.foreign.container_items import (
    PYTHONS_CONTAINERS,
    PYTHONS_SCALARS,
    constructed,
    fields_of,
    is_named_tuple,
    is_record,
    names_and_items,
    rebuilt,
)
from ttnn_jit.foreign.values import is_a, member_of, own_attributes

MAX_DEPTH = 100  # nested containers: pytrees are walked recursively
MAX_LEAVES = 1 << 20  # a small pytree may have many, if one container occurs many times


class TreeDef(NamedTuple):
    """The structure of a pytree: `LEAF`, or a container of structures.

    Attributes:
        kind: The class of the container; None: a leaf.
        names: The keys of a dict, or the field names of a record; None for other containers.
        items: The structures of the items, in order.
        container: The container that was flattened, if its class is the user's: it has attributes beside its items.
        num_leaves: The number of leaves.
        depth: The depth of nested containers, this one included.
    """

    kind: type | None
    names: tuple[Any, ...] | None
    items: tuple[TreeDef, ...]
    container: Any
    num_leaves: int
    depth: int

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """A pytree of this structure with these leaves, in new containers."""
        return _unflatten(self, iter(leaves))


LEAF = TreeDef(None, None, (), None, 1, 0)


class PyTree(NamedTuple):
    """A flattened pytree: its leaves in order, and its structure."""

    leaves: list[Any]
    treedef: TreeDef

    def unflatten(self) -> Any:
        """The pytree, in new containers."""
        return self.treedef.unflatten(self.leaves)


def flatten(value: Any, name: str | None = None) -> PyTree:
    """The leaves and the structure of a pytree. No code of the user's is run except for fields of records.

    Args:
        value: The pytree.
        name: The name of the pytree in errors; None: the pytree was checked before, and is not checked again.

    Raises:
        ArgumentError: It contains itself, is more than `MAX_DEPTH` containers deep, or has over `MAX_LEAVES` leaves.
    """
    found = None if type(value) in PYTHONS_SCALARS else names_and_items(value)
    if found is None:
        return PyTree([value], LEAF)
    return (_Flattening() if name is None else _CheckedFlattening(name)).tree(value, *found)


class _Flattening:
    """One traversal of a pytree."""

    def __init__(self) -> None:
        self.leaves: list[Any] = []

    def tree(self, value: Any, names: tuple[Any, ...] | None, items: Iterable[Any]) -> PyTree:
        """The leaves and the structure of a container with these `items`."""
        treedef = self.container(value, names, items)
        return PyTree(self.leaves, treedef)

    def visit(self, value: Any) -> TreeDef:
        """The structure of `value`; its leaves are appended."""
        found = None if type(value) in PYTHONS_SCALARS else names_and_items(value)
        if found is None:
            self.leaves.append(value)
            return LEAF
        return self.container(value, *found)

    def container(self, value: Any, names: tuple[Any, ...] | None, items: Iterable[Any]) -> TreeDef:
        """The structure of a container with these `items`."""
        kind = type(value)
        inside = tuple(map(self.visit, items))
        own = None if kind in PYTHONS_CONTAINERS else value
        leaves = sum([item.num_leaves for item in inside])
        return TreeDef(kind, names, inside, own, leaves, 1 + max([item.depth for item in inside], default=0))


class _CheckedFlattening(_Flattening):
    """A traversal of a pytree that may contain itself, or one container so often that it has too many leaves."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._enclosing: set[int] = set()
        # By the id of a container: the container, its structure, and the slice of its leaves.
        self._known: dict[int, tuple[Any, TreeDef, slice]] = {}

    def tree(self, value: Any, names: tuple[Any, ...] | None, items: Iterable[Any]) -> PyTree:
        tree = super().tree(value, names, items)
        count = tree.treedef.num_leaves
        if count > MAX_LEAVES:
            raise ArgumentError(f"{self._name} holds {count:,} values, and {MAX_LEAVES:,} are the most")
        return tree

    def container(self, value: Any, names: tuple[Any, ...] | None, items: Iterable[Any]) -> TreeDef:
        if id(value) in self._enclosing:
            raise ArgumentError(f"{self._name} holds a {type_name(value)} that contains itself", help=_DEPTH_HELP)
        if id(value) in self._known:
            return self._repeated(*self._known[id(value)][1:])
        self._require_depth(1)
        start = len(self.leaves)
        self._enclosing.add(id(value))
        treedef = super().container(value, names, items)
        self._enclosing.remove(id(value))
        self._known[id(value)] = value, treedef, slice(start, len(self.leaves))
        return treedef

    def _repeated(self, treedef: TreeDef, leaves: slice) -> TreeDef:
        self._require_depth(treedef.depth)
        if len(self.leaves) <= MAX_LEAVES:  # else the pytree is refused at the end
            self.leaves += self.leaves[leaves]
        return treedef

    def _require_depth(self, depth: int) -> None:
        if len(self._enclosing) + depth > MAX_DEPTH:
            text = f"{self._name} is nested more than {MAX_DEPTH} containers deep"
            raise ArgumentError(text, help=_DEPTH_HELP)


_DEPTH_HELP = "pass tensors and scalars in containers that are a few levels deep"


NOTHING = "nothing"
"""The structure of the results of a function that returns nothing."""


def leaves(value: Any) -> list[Any]:
    """The leaves of a pytree, in order."""
    return flatten(value).leaves


def map_leaves(value: Any, function: Callable[[Any], Any]) -> Any:
    """A pytree of the same containers with ``function(leaf)`` in place of every leaf."""
    tree = flatten(value)
    return tree.treedef.unflatten(map(function, tree.leaves))


def parts_of(value: Any) -> list[Any]:
    """All parts of a pytree in order: the classes, keys and attributes of containers, and the leaves.

    The values of a `functools.cached_property` are no parts.
    """
    found = None if type(value) in PYTHONS_SCALARS else names_and_items(value)
    if found is None:
        return [value]
    kind, (names, items) = type(value), found
    own = {name: held for name, held in own_attributes(value).items() if not _is_cached(kind, name)}
    inside = [part for item in items for part in parts_of(item)]
    return [kind, *(names or ()), *own, *own.values(), *inside, _END_MARK]


_END_MARK = object()


def _is_cached(kind: type, name: str) -> bool:
    return is_a(member_of(kind, name), functools.cached_property)


def join(trees: Iterable[PyTree], names: tuple[Any, ...] | None = None) -> PyTree:
    """The pytree of a tuple of `trees`, or of a dict with the keys `names`."""
    trees = list(trees)
    inside = tuple(tree.treedef for tree in trees)
    count, depth = sum(item.num_leaves for item in inside), max((item.depth for item in inside), default=0)
    kind = tuple if names is None else dict
    return PyTree(
        [leaf for tree in trees for leaf in tree.leaves], TreeDef(kind, names, inside, None, count, 1 + depth)
    )


def _unflatten(treedef: TreeDef, leaves: Iterator[Any]) -> Any:
    if treedef is LEAF:
        return next(leaves)
    items = [_unflatten(item, leaves) for item in treedef.items]
    kind = treedef.kind
    if kind is list:
        return items
    if kind is tuple:
        return tuple(items)
    names = treedef.names or ()
    return dict(zip(names, items, strict=True)) if kind is dict else rebuilt(treedef.container, names, items)


_PLAIN: dict[str, type] = {"tuple": tuple, "list": list}


def to_json(value: Any, name_of: Callable[[type], str]) -> Any:
    """A pytree as JSON values; `name_of` names the user's classes in it. `from_json` is the inverse.

    Raises:
        TypeError: A value or a key of a dict would not survive the round trip.
    """
    kind = type(value)
    if kind in PYTHONS_SCALARS:
        return value
    if kind in _PLAIN.values():
        return {kind.__name__: [to_json(item, name_of) for item in value]}
    if kind is dict:
        return {"dict": [[to_json(key, name_of), to_json(item, name_of)] for key, item in value.items()]}
    fields = value._asdict() if is_named_tuple(value) else fields_of(value) if is_record(value) else None
    if fields is None or own_attributes(value).keys() - fields:
        raise TypeError(f"a {kind.__name__} cannot be serialized")
    return {"class": [name_of(kind), [[key, to_json(item, name_of)] for key, item in fields.items()]]}


def from_json(value: Any, class_of: Callable[[str], Any]) -> Any:
    """The pytree that `to_json` serialized; `class_of` finds the user's classes by their names."""
    if not is_a(value, dict):
        return value
    ((kind, items),) = value.items()
    if kind == "dict":
        return {from_json(key, class_of): from_json(item, class_of) for key, item in items}
    if kind == "class":
        name, fields = items
        return constructed(class_of(name), {key: from_json(item, class_of) for key, item in fields})
    return _PLAIN[kind](from_json(item, class_of) for item in items)
