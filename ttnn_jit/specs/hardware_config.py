"""Classes of settings that choose how a chip computes: keyword arguments that are checked, printed and compared.

A class is its annotated fields. An annotation carries the rule of its field, which refuses a value or gives it in the
form that is kept:

    @hardware_config
    class Blocks(HardwareConfig):
        height: Annotated[int, count]
        cores: Annotated[CoreCoord, grid]
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, dataclass_transform, get_args, get_type_hints

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.checks import check_kind
from ttnn_jit.specs.cores import CoreCoord, CoreGrid, CoreRangeSet
from ttnn_jit.specs.target import TILE_HEIGHT

Rule = Callable[[Any, str], Any]
"""From a value, and what errors call it, to the value that is kept."""

C = TypeVar("C", bound="HardwareConfig")


class FieldError(ArgumentError, TypeError):
    """A config was given a field that it lacks, or misses one (a TypeError in ttnn)."""


class FrozenConfigError(ArgumentError, AttributeError):
    """A field of a config was assigned."""


class HardwareConfig:
    """Settings of a chip, told apart by their fields alone. They do not change: programs are known by them."""

    def __repr__(self) -> str:
        kind: Any = type(self)
        return f"{kind.__name__}({', '.join(f'{name}={getattr(self, name)}' for name in rules_of(kind))})"


def _refuse_assignment(config: HardwareConfig, name: str, _: Any = None) -> None:
    kind: Any = type(config)
    if name not in rules_of(kind):
        raise _no_field(kind, name)
    raise FrozenConfigError(
        f"a {kind.__name__} does not change once it is made: programs are known by it",
        help=f"make another: `dataclasses.replace(config, {name}=...)`",
    )


@dataclass_transform(kw_only_default=True)
def hardware_config(cls: type[C]) -> type[C]:
    """`cls`, annotated fields, as a class whose fields are keyword arguments; those without a default are needed."""
    made: Any = dataclass(frozen=True, kw_only=True, repr=False)(cls)
    required = {field.name for field in dataclasses.fields(made) if field.default is dataclasses.MISSING}
    initialise: Callable[..., None] = made.__init__

    @functools.wraps(initialise)
    def __init__(self: C, **given: Any) -> None:  # noqa: N807 - it becomes the class's
        rules = rules_of(made)
        for name in given:
            if name not in rules:
                raise _no_field(made, name)
        for name in rules:
            if name in required and name not in given:
                raise FieldError(f"{made.__name__} misses its field `{name}`", help=_fields(made))
        checked = {name: rules[name](value, f"`{name}` of {made.__name__}") for name, value in given.items()}
        initialise(self, **checked)

    made.__init__ = __init__
    made.__setattr__ = made.__delattr__ = _refuse_assignment
    return cls


class OpenConfig(HardwareConfig):
    """Settings whose fields may be assigned until an operation has taken them: from then on programs are known by them.

    A subclass is made by `hardware_config`, and then by `assignable`.
    """

    def close(self) -> None:
        """Refuse assignments from here on."""
        self.__dict__["_is_closed"] = True

    def __copy__(self: C) -> C:
        return dataclasses.replace(self)  # type: ignore[type-var]  # it is a dataclass

    def __deepcopy__(self: C, _: object) -> C:
        return dataclasses.replace(self)  # type: ignore[type-var]


def assignable(cls: type[C]) -> type[C]:
    """`cls`, a subclass of `OpenConfig`, with fields that may be assigned; they obey the rules of their annotations."""
    made: Any = cls

    def assign(config: Any, name: str, value: Any) -> None:
        if name not in rules_of(made) or "_is_closed" in config.__dict__:
            _refuse_assignment(config, name)
        config.__dict__[name] = rules_of(made)[name](value, f"`{name}` of {made.__name__}")

    made.__setattr__ = assign
    return cls


@functools.cache
def rules_of(cls: Any) -> Mapping[str, Rule]:
    """Field of a config -> its rule, in the order of printing."""
    hints = get_type_hints(cls, include_extras=True)
    return {name: parts[1] for name, hint in hints.items() if len(parts := get_args(hint)) > 1}


def _no_field(cls: type, name: str) -> FieldError:
    return FieldError(f"{cls.__name__} has no field `{name}`", help=_fields(cls))


def _fields(cls: type) -> str:
    names = ", ".join(f"`{name}`" for name in rules_of(cls))
    return f"its fields are {names}" if names else "it has none"


# --- Rules ----------------------------------------------------------------------------------------------------------


def _whole_from(least: int) -> Rule:
    def rule(value: Any, what: str) -> int:
        is_whole = hasattr(value, "__index__") and not isinstance(value, bool)
        if not is_whole or operator.index(value) < least:
            raise ArgumentError(f"{what} must be a whole number of at least {least}, got {value!r}")
        return operator.index(value)

    return rule


count = _whole_from(1)
"""A whole number of at least 1."""

whole = _whole_from(0)
"""A whole number of at least 0."""


def tile_multiple(value: Any, what: str) -> int:
    """A whole number of elements that makes whole tiles; 0 leaves the choice to the operation."""
    extent: int = whole(value, what)
    if extent % TILE_HEIGHT:
        raise ArgumentError(f"{what} must be a multiple of {TILE_HEIGHT}, the side of a tile, got {extent}")
    return extent


def flag(value: Any, what: str) -> bool:
    """True or False; 0 and 1 stand for them."""
    if isinstance(value, (str, type(None))) or value not in (0, 1):
        raise ArgumentError(f"{what} must be True or False, got {value!r}")
    return bool(value)


def grid(value: Any, what: str) -> CoreCoord:
    """Columns and rows of cores: at least one each."""
    pair = (value.x, value.y) if isinstance(value, (CoreCoord, CoreGrid)) else value
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ArgumentError(f"{what} must be a ttnn.CoreCoord or a pair (x, y), got {type_name(value)}")
    return CoreCoord(*(count(extent, f"an extent of {what}") for extent in pair))


def core_set(value: Any, what: str) -> CoreRangeSet:
    """Core ranges."""
    check_kind(value, CoreRangeSet, what)
    found: CoreRangeSet = value
    return found


def one_of(kind: type) -> Rule:
    """An object of `kind`; of a class of members, one of them."""

    def rule(value: Any, what: str) -> Any:
        check_kind(value, kind, what)
        return value

    return rule


def optional(rule: Rule) -> Rule:
    """What `rule` takes, or None."""
    return lambda value, what: None if value is None else rule(value, what)


def check_divides(config: HardwareConfig, part: str, into: str) -> None:
    """Refuse a `config` whose field `part` does not divide its field `into`.

    Raises:
        ArgumentError: It does not; the text has both.
    """
    small, large = getattr(config, part), getattr(config, into)
    if large % small:
        raise ArgumentError(f"{type(config).__name__}: `{part}` is {small}, which does not divide `{into}`, {large}")
