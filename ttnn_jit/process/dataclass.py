"""Dataclasses that are cheap to define: `dataclasses.dataclass`, of whose methods only ``__init__`` is compiled.

`dataclasses` compiles the text of up to six functions per class, which takes several times as long as all else about
the class, in every process that imports it. Here the others are closures over the names of the fields, and ``__init__``
is compiled when it is first asked for, of many a class never.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "is_frozen"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, slots=False, kw_only=False):  # noqa: A002 - as there
        """As `dataclasses.dataclass` with these arguments; bases that are dataclasses must be made here too."""

        def completed(cls):
            cls.__doc__ = cls.__doc__ or cls.__name__  # or else a signature is made for it
            declared = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
            _add_methods(declared, frozen, eq, repr)
            return declared

        return completed if cls is None else completed(cls)


def is_frozen(cls: type) -> bool:
    """Whether `cls` itself, and no base of it, is a dataclass made here whose instances never change."""
    return vars(cls).get("__setattr__") is _refuse_to_set


def _add_methods(cls: type, frozen: bool, eq: bool, shown: bool) -> None:
    fields = dataclasses.fields(cls)
    methods: dict[str, Any] = {"__init__": _LateInit(cls, frozen)}
    if shown:
        methods |= _showing([field.name for field in fields if field.repr])
    if eq:
        methods |= _comparing(_getter([field.name for field in fields if field.compare]), frozen)
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
    if frozen and "__slots__" in vars(cls):
        methods |= _copied(_getter([field.name for field in fields]), [field.name for field in fields])
    for name, method in methods.items():
        if vars(cls).get(name) is None:  # a class that compares in its own way has None for __hash__, if no hash
            setattr(cls, name, method)


class _LateInit:
    """``__init__`` of a class, of which none was asked for yet."""

    def __init__(self, cls: type, frozen: bool) -> None:
        self._cls = cls
        self._frozen = frozen

    def __get__(self, instance: object, owner: type) -> Any:
        if vars(self._cls)["__init__"] is self:  # another thread may have been here
            setattr(self._cls, "__init__", _init(self._cls, dataclasses.fields(self._cls), self._frozen))  # noqa: B010
        return vars(self._cls)["__init__"].__get__(instance, owner)


def _init(cls: type, fields: Sequence[dataclasses.Field[Any]], frozen: bool) -> Any:
    """The only method whose text depends on the fields: others call it as any function."""
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


def _showing(names: Sequence[str]) -> Mapping[str, Any]:
    def __repr__(self: object) -> str:  # noqa: N807 - its name in tracebacks
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return {"__repr__": __repr__}


def _comparing(values: Callable[[object], tuple[Any, ...]], frozen: bool) -> Mapping[str, Any]:
    def __eq__(self: object, other: object) -> Any:  # noqa: N807
        return values(self) == values(other) if self.__class__ is other.__class__ else NotImplemented

    def __hash__(self: object) -> int:  # noqa: N807
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__ if frozen else None}


def _copied(values: Callable[[object], tuple[Any, ...]], names: Sequence[str]) -> Mapping[str, Any]:
    """What `copy` and pickles take for the attributes of an instance without ``__dict__``."""

    def __getstate__(self: object) -> tuple[Any, ...]:  # noqa: N807
        return values(self)

    def __setstate__(self: object, state: tuple[Any, ...]) -> None:  # noqa: N807
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": __getstate__, "__setstate__": __setstate__}


def _getter(names: Sequence[str]) -> Callable[[object], tuple[Any, ...]]:
    """What gets the tuple of an instance's attributes of these names; `attrgetter` makes none of fewer than two."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda instance: tuple(getattr(instance, name) for name in names)


def _refuse_to_set(self: object, name: str, value: object) -> None:  # noqa: ARG001 - as Python calls it
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:  # noqa: ARG001 - as Python calls it
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
