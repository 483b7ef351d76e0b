"""The base of config classes: annotated fields as keyword arguments that are checked, printed and compared.

The annotation of a field has its rule, which converts a value when it is assigned, and checks it when the config is
used:

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
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.checks import check_kind
from ttnn_jit.specs.cores.cores import CoreCoord, CoreGrid, CoreRangeSet
from ttnn_jit.specs.mutable_values import MutableValue
from ttnn_jit.specs.target import TILE_HEIGHT

C = TypeVar("C", bound="HardwareConfig")


def _accepted(_: Any, __: str) -> None:
    """Accepts every value."""


@dataclass(frozen=True)
class Rule:
    """The rule of a field.

    Attributes:
        convert: Converts an assigned value, given its name in errors; raises for a wrong type.
        check: Raises for an invalid value when the config is used.
    """

    convert: Callable[[Any, str], Any]
    check: Callable[[Any, str], None] = _accepted


class FieldError(ArgumentError, TypeError):
    """A config has an unknown field, or a required one is missing (a TypeError in ttnn)."""


class HardwareConfig(MutableValue):
    """A mutable config, compared by its fields.

    Contradictory fields are refused when the config is used, as by ttnn: fields are assigned one after the other.
    """

    def check(self) -> None:
        """Checks the fields against each other."""

    def __reduce__(self) -> tuple[Any, ...]:
        return object.__new__, (type(self),), vars(self.mutable_copy())

    def __repr__(self) -> str:
        kind: Any = type(self)
        return f"{kind.__name__}({', '.join(f'{name}={getattr(self, name)}' for name in rules_of(kind))})"


def check_config(config: HardwareConfig, kind: type, what: str) -> None:
    """Checks a config before a call uses it; errors call it `what`.

    Raises:
        ArgumentError: It is no `kind`, a field is invalid, or fields contradict each other.
    """
    check_kind(config, kind, what)
    own: Any = type(config)
    for field, rule in rules_of(own).items():
        rule.check(getattr(config, field), f"`{field}` of {own.__name__}")
    config.check()


def _assign(config: HardwareConfig, name: str, value: Any) -> None:
    kind: Any = type(config)
    if name not in rules_of(kind):
        raise _no_field(kind, name)
    config._assign(name, rules_of(kind)[name].convert(value, f"`{name}` of {kind.__name__}"))


def _refuse_deletion(config: HardwareConfig, name: str) -> None:
    raise FieldError(f"`{name}` of {type(config).__name__} cannot be deleted", help="assign its default")


@dataclass_transform(kw_only_default=True)
def hardware_config(cls: type[C]) -> type[C]:
    """Makes the annotated fields of `cls` keyword arguments; those without a default are required."""
    made: Any = dataclass(frozen=True, kw_only=True, repr=False)(cls)
    required = {field.name for field in dataclasses.fields(made) if field.default is dataclasses.MISSING}
    initialise: Callable[..., None] = made.__init__

    @functools.wraps(initialise)
    def __init__(self: C, **given: Any) -> None:  # noqa: N807 - it becomes a method
        rules = rules_of(made)
        for name in given:
            if name not in rules:
                raise _no_field(made, name)
        for name in rules:
            if name in required and name not in given:
                raise FieldError(f"{made.__name__} misses its field `{name}`", help=_fields(made))
        converted = {name: rules[name].convert(value, f"`{name}` of {made.__name__}") for name, value in given.items()}
        initialise(self, **converted)

    made.__init__ = __init__
    made.__setattr__, made.__delattr__ = _assign, _refuse_deletion
    return cls


@memoized
def rules_of(cls: Any) -> Mapping[str, Rule]:
    """Field of a config -> its rule, in printing order."""
    hints = get_type_hints(cls, include_extras=True)
    return {name: parts[1] for name, hint in hints.items() if len(parts := get_args(hint)) > 1}


def _no_field(cls: type, name: str) -> FieldError:
    return FieldError(f"{cls.__name__} has no field `{name}`", help=_fields(cls))


def _fields(cls: type) -> str:
    names = ", ".join(f"`{name}`" for name in rules_of(cls))
    return f"its fields are {names}" if names else "it has none"


# --- Rules ----------------------------------------------------------------------------------------------------------


def _whole_number(value: Any, what: str) -> int:
    if not hasattr(value, "__index__") or isinstance(value, bool) or operator.index(value) < 0:
        raise ArgumentError(f"{what} must be a whole number of at least 0, got {value!r}")
    return operator.index(value)


def _is_counted(value: int, what: str) -> None:
    if value < 1:
        raise ArgumentError(f"{what} must be a whole number of at least 1, got {value!r}")


def _is_of_tiles(extent: int, what: str) -> None:
    if extent % TILE_HEIGHT:
        raise ArgumentError(f"{what} must be a multiple of {TILE_HEIGHT}, the side of a tile, got {extent}")


whole = Rule(_whole_number)
"""A whole number of at least 0."""

count = Rule(_whole_number, _is_counted)
"""A whole number of at least 1."""

tile_multiple = Rule(_whole_number, _is_of_tiles)
"""A whole number of elements that is a multiple of a tile's side; 0 leaves the choice to the operation."""


def _truth(value: Any, what: str) -> bool:
    if isinstance(value, (str, type(None))) or value not in (0, 1):
        raise ArgumentError(f"{what} must be True or False, got {value!r}")
    return bool(value)


flag = Rule(_truth)
"""True or False; 0 and 1 are accepted."""


def _core_coord(value: Any, what: str) -> CoreCoord:
    pair = (value.x, value.y) if isinstance(value, (CoreCoord, CoreGrid)) else value
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ArgumentError(f"{what} must be a ttnn.CoreCoord or a pair (x, y), got {type_name(value)}")
    return CoreCoord(*(_whole_number(extent, f"an extent of {what}") for extent in pair))


def _has_cores(value: CoreCoord, what: str) -> None:
    for extent in (value.x, value.y):
        _is_counted(extent, f"an extent of {what}")


grid = Rule(_core_coord, _has_cores)
"""Columns and rows of cores, at least one each."""


def one_of(kind: type) -> Rule:
    """An instance of `kind`; of an enumeration, a member."""
    return Rule(lambda value, what: check_kind(value, kind, what))


core_set = one_of(CoreRangeSet)
"""Core ranges."""


def optional(rule: Rule) -> Rule:
    """Accepts what `rule` accepts, and None."""
    return Rule(
        lambda value, what: None if value is None else rule.convert(value, what),
        lambda value, what: None if value is None else rule.check(value, what),
    )


def check_divides(config: HardwareConfig, part: str, into: str) -> None:
    """Checks that the field `part` of `config` divides the field `into`.

    Raises:
        ArgumentError: It does not.
    """
    small, large = getattr(config, part), getattr(config, into)
    if large % small:
        raise ArgumentError(f"{type(config).__name__}: `{part}` is {small}, which does not divide `{into}`, {large}")
