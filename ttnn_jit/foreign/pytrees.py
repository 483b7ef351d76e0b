"""Pytrees: containers with tensors and scalars at their leaves, as functions take and return them.

Containers are tuples, named tuples, lists, dicts, and instances of dataclasses, which keep their class. `flatten` takes
one apart into its leaves and its structure, a `TreeDef`, which puts other leaves together the same way.
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
    fields_of,
    is_named_tuple,
    is_record,
    like,
    made_of,
    names_and_items,
)
from ttnn_jit.foreign.values import is_a, member_of, own_attributes

MOST_DEEP = 100  # containers inside each other: pytrees are walked by functions that call themselves
MOST_LEAVES = 1 << 20  # one container may occur many times


class TreeDef(NamedTuple):
    """The structure of a pytree: `LEAF`, or a container of structures.

    Attributes:
        kind: Class of the container; None: a leaf.
        names: Keys of a dict, or names of the fields of a record; None of other containers.
        items: The structures of its items, in order.
        container: The container that was flattened, if its class is the user's: for what it holds beside its items.
        num_leaves: Leaves in it.
        depth: Containers inside each other, itself among them.
    """

    kind: type | None
    names: tuple[Any, ...] | None
    items: tuple[TreeDef, ...]
    container: Any
    num_leaves: int
    depth: int

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The pytree of this structure with these leaves, in new containers."""
        return _unflatten(self, iter(leaves))


LEAF = TreeDef(None, None, (), None, 1, 0)


class PyTree(NamedTuple):
    """A pytree taken apart: what is no container in it, in order, and the containers around that."""

    leaves: list[Any]
    treedef: TreeDef

    def unflatten(self) -> Any:
        """The pytree again, in new containers."""
        return self.treedef.unflatten(self.leaves)


def flatten(value: Any, name: str | None = None) -> PyTree:
    """Leaves and structure of a pytree. None of the user's code is run but that behind fields of records.

    Args:
        value: The pytree.
        name: What errors call it; None: it ends, for it was made of one that does.

    Raises:
        ArgumentError: It contains itself, is more than `MOST_DEEP` containers deep, or has over `MOST_LEAVES` leaves.
    """
    found = None if type(value) in PYTHONS_SCALARS else names_and_items(value)
    if found is None:
        return PyTree([value], LEAF)
    return (_Flattening() if name is None else _CheckedFlattening(name)).tree(value, *found)


class _Flattening:
    """One walk through a pytree."""

    def __init__(self) -> None:
        self.leaves: list[Any] = []

    def tree(self, value: Any, names: tuple[Any, ...] | None, items: Iterable[Any]) -> PyTree:
        """Leaves and structure of a container with these `items`."""
        treedef = self.container(value, names, items)
        return PyTree(self.leaves, treedef)

    def visit(self, value: Any) -> TreeDef:
        """The structure of `value`, whose leaves are added."""
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
    """A walk through what may contain itself, or one container so often that its leaves are too many to be listed."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._around: set[int] = set()
        # By identity: the container, its structure, and where its leaves are.
        self._known: dict[int, tuple[Any, TreeDef, slice]] = {}

    def tree(self, value: Any, names: tuple[Any, ...] | None, items: Iterable[Any]) -> PyTree:
        tree = super().tree(value, names, items)
        count = tree.treedef.num_leaves
        if count > MOST_LEAVES:
            raise ArgumentError(f"{self._name} holds {count:,} values, and {MOST_LEAVES:,} are the most")
        return tree

    def container(self, value: Any, names: tuple[Any, ...] | None, items: Iterable[Any]) -> TreeDef:
        if id(value) in self._around:
            raise ArgumentError(f"{self._name} holds a {type_name(value)} that contains itself", help=_DEPTH_HELP)
        if id(value) in self._known:
            return self._again(*self._known[id(value)][1:])
        self._require_depth(1)
        start = len(self.leaves)
        self._around.add(id(value))
        treedef = super().container(value, names, items)
        self._around.remove(id(value))
        self._known[id(value)] = value, treedef, slice(start, len(self.leaves))
        return treedef

    def _again(self, treedef: TreeDef, leaves: slice) -> TreeDef:
        self._require_depth(treedef.depth)
        if len(self.leaves) <= MOST_LEAVES:  # or the call is refused at the end
            self.leaves += self.leaves[leaves]
        return treedef

    def _require_depth(self, depth: int) -> None:
        if len(self._around) + depth > MOST_DEEP:
            text = f"{self._name} is nested more than {MOST_DEEP} containers deep"
            raise ArgumentError(text, help=_DEPTH_HELP)


_DEPTH_HELP = "pass tensors and scalars in containers that are a few levels deep"


NOTHING = "nothing"
"""Stands for the pytree of a function that returns nothing."""


def leaves(value: Any) -> list[Any]:
    """Everything in a pytree that is no container, in order."""
    return flatten(value).leaves


def map_leaves(value: Any, function: Callable[[Any], Any]) -> Any:
    """A pytree of the same containers with ``function(leaf)`` in place of every leaf."""
    tree = flatten(value)
    return tree.treedef.unflatten(map(function, tree.leaves))


def parts_of(value: Any) -> list[Any]:
    """Everything that a pytree is made of, in order: classes, keys and attributes of containers, and the leaves.

    What a `cached_property` has left in an object is none of it.
    """
    found = None if type(value) in PYTHONS_SCALARS else names_and_items(value)
    if found is None:
        return [value]
    kind, (names, items) = type(value), found
    own = {name: held for name, held in own_attributes(value).items() if not _is_cached(kind, name)}
    inside = [part for item in items for part in parts_of(item)]
    return [kind, *(names or ()), *own, *own.values(), *inside, _END]


_END = object()


def _is_cached(kind: type, name: str) -> bool:
    return is_a(member_of(kind, name), functools.cached_property)


def join(trees: Iterable[PyTree], names: tuple[Any, ...] | None = None) -> PyTree:
    """The pytree of a tuple of these, or of a dict with these `names` for keys."""
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
    return dict(zip(names, items, strict=True)) if kind is dict else like(treedef.container, names, items)


_PLAIN: dict[str, type] = {"tuple": tuple, "list": list}


def to_json(value: Any, name_of: Callable[[type], str]) -> Any:
    """A pytree as JSON values; `name_of` names the classes of the user's in it. `from_json` is the inverse.

    Raises:
        TypeError: Something in it, or a key of a dict, would come back as something else.
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
        raise TypeError(f"a {kind.__name__} cannot be written down")
    return {"class": [name_of(kind), [[key, to_json(item, name_of)] for key, item in fields.items()]]}


def from_json(value: Any, class_of: Callable[[str], Any]) -> Any:
    """The pytree that `to_json` wrote down; `class_of` finds the user's classes by their names."""
    if not is_a(value, dict):
        return value
    ((kind, items),) = value.items()
    if kind == "dict":
        return {from_json(key, class_of): from_json(item, class_of) for key, item in items}
    if kind == "class":
        name, fields = items
        return made_of(class_of(name), {key: from_json(item, class_of) for key, item in fields})
    return _PLAIN[kind](from_json(item, class_of) for item in items)
