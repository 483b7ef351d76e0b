"""Nests of containers with tensors at their leaves, as functions take and return them.

Containers are tuples, named tuples, lists, dicts, and instances of dataclasses, which keep their class.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import is_of_this_package, type_name
from ttnn_jit.foreign.numpy_scalar import is_numpy_scalar
from ttnn_jit.foreign.values import has_member, is_a, native_class, native_contents, own_attributes, plain_scalar

MOST_DEEP = 100  # containers inside each other: nests are walked by functions that call themselves
MOST_LEAVES = 1 << 20  # one container may stand in many places


def is_record(value: Any) -> bool:
    """Whether `value` is an instance of a dataclass of the user's: its fields are items of the nest."""
    kind = type(value)
    return has_member(kind, "__dataclass_fields__") and not is_of_this_package(kind)


def is_named_tuple(value: Any) -> bool:
    """Whether `value` is an instance of a NamedTuple."""
    return is_a(value, tuple) and has_member(type(value), "_fields")


def fields_of(record: Any) -> dict[str, Any]:
    """The fields of a dataclass instance that are set, by name."""
    return {
        field.name: getattr(record, field.name) for field in dataclasses.fields(record) if hasattr(record, field.name)
    }


def items_of(value: Any) -> Iterator[Any] | None:
    """The items of a container in order; None for a leaf. Those of a list or dict of the user's are what C finds."""
    kind = type(value)
    if kind is tuple or kind is list or kind is dict:
        items: Iterable[Any] = value.values() if kind is dict else value
        return iter(items)
    if is_a(value, tuple, list, dict) and not is_a(value, enum.Enum):
        contents = native_contents(value)
        return iter(contents[len(contents) // 2 :] if is_a(value, dict) else contents)
    return iter(fields_of(value).values()) if is_record(value) else None


_PYTHONS_OWN = frozenset({bool, int, float, str, tuple, list, dict, type(None)})


def plain_parts(value: Any) -> tuple[Any, dict[str, Any]] | None:
    """What an argument of a class of the user's is made of: its value as Python's own class, and its own attributes.

    None for everything that is no container, record or scalar of such a class. None of its code is run.
    """
    if type(value) in _PYTHONS_OWN or is_of_this_package(type(value)):
        return None
    own = dict(own_attributes(value))
    if is_a(value, tuple, list):
        contents = native_contents(value)
        return contents if is_a(value, tuple) else [*contents], own
    if is_a(value, dict):
        contents = native_contents(value)
        return dict(zip(contents[: len(contents) // 2], contents[len(contents) // 2 :], strict=True)), own
    if is_a(value, int, float, str) and not is_numpy_scalar(value):
        return plain_scalar(value), own
    return (fields_of(value), own) if is_record(value) else None


def check_nest(value: Any, name: str) -> None:
    """Refuse containers that contain themselves, are too deep, or hold too much; `name` is what the text calls them.

    Raises:
        ArgumentError: They cannot be walked.
    """
    if items_of(value) is not None:
        _, count = _measured(value, name, (), {})
        if count > MOST_LEAVES:
            raise ArgumentError(f"{name} holds {count:,} values, and {MOST_LEAVES:,} are the most")


def _measured(value: Any, name: str, around: tuple[int, ...], known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Levels and leaves of what stands inside of the containers `around`; `known` has them by identity."""
    items = items_of(value)
    if items is None:
        return 0, 1
    if id(value) in around:
        raise ArgumentError(f"{name} holds a {type_name(value)} that contains itself", help=_NEST_HELP)
    found = known.get(id(value))
    if found is None:
        _require_depth(len(around) + 1, name)
        inside = [_measured(item, name, (*around, id(value)), known) for item in items]
        found = known[id(value)] = 1 + max((depth for depth, _ in inside), default=0), sum(n for _, n in inside)
    _require_depth(len(around) + found[0], name)
    return found


def _require_depth(depth: int, name: str) -> None:
    if depth > MOST_DEEP:
        raise ArgumentError(f"{name} is nested more than {MOST_DEEP} containers deep", help=_NEST_HELP)


_NEST_HELP = "pass tensors and scalars in containers that are a few levels deep"


def leaves(value: Any) -> Iterator[Any]:
    """Everything in a nest that is no container, in order."""
    items = items_of(value)
    if items is None:
        yield value
        return
    for item in items:
        yield from leaves(item)


def map_leaves(value: Any, function: Callable[[Any], Any]) -> Any:
    """A nest of the same containers with ``function(leaf)`` in place of every leaf."""
    kind = type(value)
    if kind in {tuple, list}:
        return kind(map_leaves(item, function) for item in value)
    if kind is dict:
        return {key: map_leaves(item, function) for key, item in value.items()}
    if is_a(value, tuple, list, dict) and not is_a(value, enum.Enum):
        return _map_subclass(value, function)
    return _map_record(value, function) if is_record(value) else function(value)


def _map_subclass(container: Any, function: Callable[[Any], Any]) -> Any:
    """A copy of a container of the user's, with what it holds beside its items; none of its own code is run."""
    kind, contents = type(container), native_contents(container)
    native: Any = native_class(kind)
    if issubclass(native, tuple):
        copy = native.__new__(kind, [map_leaves(item, function) for item in contents])
    elif issubclass(native, list):
        copy = native.__new__(kind)
        native.extend(copy, [map_leaves(item, function) for item in contents])
    else:
        copy = native.__new__(kind)
        if native is collections.defaultdict:
            copy.default_factory = container.default_factory
        count = len(contents) // 2
        for key, item in zip(contents[:count], contents[count:], strict=True):
            native.__setitem__(copy, key, map_leaves(item, function))
    for name, held in own_attributes(container).items():
        object.__setattr__(copy, name, held)
    return copy


def _map_record(record: Any, function: Callable[[Any], Any]) -> Any:
    """A copy made without the class's ``__init__``, which has run for the original."""
    copy = object.__new__(type(record))
    if hasattr(record, "__dict__"):
        vars(copy).update(vars(record))
    for name, value in fields_of(record).items():
        object.__setattr__(copy, name, map_leaves(value, function))
    return copy


def made_of(cls: type, fields: dict[str, Any]) -> Any:
    """An instance of a dataclass or NamedTuple of the user's, without running the class's ``__init__``."""
    if issubclass(cls, tuple):
        return cls(*fields.values())
    record = object.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(record, name, value)
    return record


_WRITTEN: frozenset[type] = frozenset({bool, int, float, str, type(None)})
_PLAIN: dict[str, type] = {"tuple": tuple, "list": list}


def to_json(value: Any, name_of: Callable[[type], str]) -> Any:
    """A nest as JSON values; `name_of` names the classes of the user's in it. `from_json` is the inverse.

    Raises:
        TypeError: Something in it, or a key of a dict, would come back as something else.
    """
    kind = type(value)
    if kind in _WRITTEN:
        return value
    if kind in _PLAIN.values():
        return {kind.__name__: [to_json(item, name_of) for item in value]}
    if kind is dict:
        return {"dict": [[to_json(key, name_of), to_json(item, name_of)] for key, item in value.items()]}
    fields = value._asdict() if is_named_tuple(value) else fields_of(value) if is_record(value) else None
    if fields is None or getattr(value, "__dict__", fields).keys() - fields:
        raise TypeError(f"a {kind.__name__} cannot be written down")
    return {"class": [name_of(kind), [[key, to_json(item, name_of)] for key, item in fields.items()]]}


def from_json(value: Any, class_of: Callable[[str], Any]) -> Any:
    """The nest that `to_json` wrote down; `class_of` finds the user's classes by their names."""
    if not is_a(value, dict):
        return value
    ((kind, items),) = value.items()
    if kind == "dict":
        return {from_json(key, class_of): from_json(item, class_of) for key, item in items}
    if kind == "class":
        name, fields = items
        return made_of(class_of(name), {key: from_json(item, class_of) for key, item in fields})
    return _PLAIN[kind](from_json(item, class_of) for item in items)
