"""Dataclasses that are cheap to define: `dataclasses.dataclass` without compiling methods at import.

`dataclasses` compiles the text of up to six functions per class, in every process that imports it; that takes several
times as long as the rest of the class definition. Here ``__init__`` is compiled at its first use, for many classes
never, and the other methods are closures over the names of the fields. `replace` does what `dataclasses.replace` does,
which asks every field what it is, at every call.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "is_frozen", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:

    def replace(instance, /, **changes):
        """As `dataclasses.replace`, for classes whose ``__init__`` takes every field."""
        names, values = _fields_of(type(instance))
        return type(instance)(**{**dict(zip(names, values(instance), strict=True)), **changes})

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, slots=False, kw_only=False):  # noqa: A002 - as there
        """As `dataclasses.dataclass` with these arguments; bases that are dataclasses must be made here too."""

        def completed(cls):
            cls.__doc__ = cls.__doc__ or cls.__name__  # else `dataclasses` computes a signature for it
            declared = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
            _add_methods(declared, frozen, eq, repr)
            return declared

        return completed if cls is None else completed(cls)


def is_frozen(cls: type) -> bool:
    """Whether `cls` itself, not a base, is a frozen dataclass of this decorator."""
    return vars(cls).get("__setattr__") is _refuse_to_set


def _add_methods(cls: type, frozen: bool, eq: bool, shown: bool) -> None:
    fields = dataclasses.fields(cls)
    methods: dict[str, Any] = {"__init__": _LateInit(cls, frozen)}
    if shown:
        methods |= _repr_method([field.name for field in fields if field.repr])
    if eq:
        methods |= _comparison_methods(_values_getter([field.name for field in fields if field.compare]), frozen)
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
    if frozen and "__slots__" in vars(cls):
        methods |= _state_methods(_values_getter([field.name for field in fields]), [field.name for field in fields])
    for name, method in methods.items():
        if vars(cls).get(name) is None:  # a class with its own __eq__ and no __hash__ has None for __hash__
            setattr(cls, name, method)


class _LateInit:
    """The descriptor of ``__init__`` until its first use, which compiles it."""

    def __init__(self, cls: type, frozen: bool) -> None:
        self._cls = cls
        self._frozen = frozen

    def __get__(self, instance: object, owner: type) -> Any:
        if vars(self._cls)["__init__"] is self:  # else another thread was first
            setattr(self._cls, "__init__", _init(self._cls, dataclasses.fields(self._cls), self._frozen))  # noqa: B010
        return vars(self._cls)["__init__"].__get__(instance, owner)


def _init(cls: type, fields: Sequence[dataclasses.Field[Any]], frozen: bool) -> Any:
    """The compiled ``__init__`` of a class."""
    assign = "set_(self, {0!r}, {1})" if frozen else "self.{0} = {1}"
    body = [assign.format(field.name, _value(field)) for field in fields]
    body += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    positional = [_parameter(field) for field in fields if not field.kw_only]
    keywords = [_parameter(field) for field in fields if field.kw_only]
    parameters = ", ".join(["self", *positional, *(["*", *keywords] if keywords else [])])
    function = f" def __init__({parameters}):\n  {'; '.join(body) or 'pass'}\n"
    made: dict[str, Any] = {}
    exec(f"def make(set_, field, made_anew):\n{function} return __init__", vars(sys.modules[cls.__module__]), made)
    init = made["make"](object.__setattr__, {field.name: field for field in fields}, _MADE_ANEW)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {**{field.name: field.type for field in fields}, "return": None}
    return init


class _MadeAnew:
    """The default of a parameter whose field has a factory."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE_ANEW = _MadeAnew()


def _parameter(field: dataclasses.Field[Any]) -> str:
    if field.default_factory is not dataclasses.MISSING:
        return f"{field.name}=made_anew"
    return field.name if field.default is dataclasses.MISSING else f"{field.name}=field[{field.name!r}].default"


def _value(field: dataclasses.Field[Any]) -> str:
    name = field.name
    made = field.default_factory is not dataclasses.MISSING
    return f"field[{name!r}].default_factory() if {name} is made_anew else {name}" if made else name


def _repr_method(names: Sequence[str]) -> Mapping[str, Any]:
    def __repr__(self: object) -> str:  # noqa: N807 - its name in tracebacks
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return {"__repr__": __repr__}


def _comparison_methods(values: Callable[[object], tuple[Any, ...]], frozen: bool) -> Mapping[str, Any]:
    def __eq__(self: object, other: object) -> Any:  # noqa: N807
        return values(self) == values(other) if self.__class__ is other.__class__ else NotImplemented

    def __hash__(self: object) -> int:  # noqa: N807
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__ if frozen else None}


def _state_methods(values: Callable[[object], tuple[Any, ...]], names: Sequence[str]) -> Mapping[str, Any]:
    """The methods with which `copy` and pickle save and restore an instance without ``__dict__``."""

    def __getstate__(self: object) -> tuple[Any, ...]:  # noqa: N807
        return values(self)

    def __setstate__(self: object, state: tuple[Any, ...]) -> None:  # noqa: N807
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": __getstate__, "__setstate__": __setstate__}


def _values_getter(names: Sequence[str]) -> Callable[[object], tuple[Any, ...]]:
    """A function from an instance to the tuple of its attributes `names`; `attrgetter` returns tuples from two on."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda instance: tuple(getattr(instance, name) for name in names)


@cache
def _fields_of(cls: type) -> tuple[Sequence[str], Callable[[object], tuple[Any, ...]]]:
    """The names of a class's fields, and a function from an instance to their values."""
    names = [field.name for field in dataclasses.fields(cls)]
    return names, _values_getter(names)


def _refuse_to_set(self: object, name: str, value: object) -> None:  # noqa: ARG001 - as Python calls it
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:  # noqa: ARG001 - as Python calls it
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
