"""Containers: which objects are containers, their items, and the construction of a container with other items.

Containers are tuples, named tuples, lists, dicts and instances of dataclasses, of Python's own classes or the user's.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
from collections.abc import Iterable, Iterator
from typing import Any, cast

from ttnn_jit.diagnostics.origin import is_of_this_package
from ttnn_jit.foreign.numpy_scalar import is_numpy_scalar
from ttnn_jit.foreign.values import has_member, is_a, native_class, native_contents, own_attributes, plain_scalar

PYTHONS_SCALARS: frozenset[type] = frozenset({bool, int, float, str, type(None)})
PYTHONS_CONTAINERS: frozenset[type] = frozenset({tuple, list, dict})


def is_record(value: Any) -> bool:
    """Whether `value` is an instance of a dataclass of the user's, whose fields are its items."""
    kind = type(value)
    return has_member(kind, "__dataclass_fields__") and not is_of_this_package(kind)


def is_named_tuple(value: Any) -> bool:
    """Whether `value` is an instance of a NamedTuple."""
    return is_a(value, tuple) and has_member(type(value), "_fields")


def fields_of(record: Any) -> dict[str, Any]:
    """The fields of a dataclass instance that are set, by name."""
    return {
        field.name: getattr(record, field.name)
        for field in dataclasses.fields(type(record))
        if hasattr(record, field.name)
    }


def names_and_items(value: Any) -> tuple[tuple[Any, ...] | None, Iterable[Any]] | None:
    """The keys or field names of a container, if it has any, and its items in order; None for a leaf.

    The items of a subclass of list or dict are read by C, without the user's code.
    """
    kind = type(value)
    if kind is tuple or kind is list:
        return None, value
    if kind is dict:
        return tuple(value), value.values()
    if is_a(value, tuple, list, dict) and not is_a(value, enum.Enum):
        contents = native_contents(value)
        half = len(contents) // 2
        return (contents[:half], contents[half:]) if is_a(value, dict) else (None, contents)
    if not is_record(value):
        return None
    fields = fields_of(value)
    return tuple(fields), fields.values()


def items_of(value: Any) -> Iterator[Any] | None:
    """The items of a container in order; None for a leaf."""
    found = names_and_items(value)
    return None if found is None else iter(found[1])


def plain_parts(value: Any) -> tuple[Any, dict[str, Any]] | None:
    """The parts of an argument of a class of the user's: its value as Python's own class, and its own attributes.

    None if it is not a container, record or scalar of such a class. No code of the class is run.
    """
    if type(value) in PYTHONS_SCALARS | PYTHONS_CONTAINERS or is_of_this_package(type(value)):
        return None
    own = dict(own_attributes(value))
    found = names_and_items(value)
    if found is not None:
        names, items = found
        if names is not None:
            return dict(zip(names, items, strict=True)), own
        return tuple(items) if is_a(value, tuple) else [*items], own
    if is_a(value, int, float, str) and not is_numpy_scalar(value):
        return plain_scalar(value), own
    return None


def rebuilt(container: Any, names: Iterable[Any], items: list[Any]) -> Any:
    """A copy of a container of the user's with other `items`; its class and its other attributes stay.

    No code of the class is run.
    """
    if is_a(container, tuple, list, dict):
        return _rebuilt_subclass(container, names, items)
    return _rebuilt_record(container, names, items)


def _rebuilt_subclass(container: Any, names: Iterable[Any], items: list[Any]) -> Any:
    kind = type(container)
    native: Any = native_class(kind)
    if issubclass(native, tuple):
        copy = native.__new__(kind, items)
    elif issubclass(native, list):
        copy = native.__new__(kind)
        native.extend(copy, items)
    else:
        copy = native.__new__(kind)
        if native is collections.defaultdict:
            copy.default_factory = container.default_factory
        for key, item in zip(names, items, strict=True):
            native.__setitem__(copy, key, item)
    for name, held in own_attributes(container).items():
        object.__setattr__(copy, name, held)
    return copy


def _rebuilt_record(record: Any, names: Iterable[Any], items: list[Any]) -> Any:
    """A copy of `record` with other fields; the class's ``__init__``, which ran for the original, is not run again."""
    copy = object.__new__(type(record))
    cast("dict[str, Any]", own_attributes(copy)).update(own_attributes(record))
    for name, value in zip(names, items, strict=True):
        object.__setattr__(copy, name, value)
    return copy


def constructed(cls: type, fields: dict[str, Any]) -> Any:
    """An instance of a dataclass or NamedTuple of the user's, without running the class's ``__init__``."""
    if issubclass(cls, tuple):
        return cls(*fields.values())
    record = object.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(record, name, value)
    return record
