"""The kinds of the parameters of host functions, parsed from their annotations."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, get_origin

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.foreign.numpy_scalar import python_number
from ttnn_jit.ops.language.kinds import Kind, Number
from ttnn_jit.ops.language.parameter import Parameter
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors.tensor import Tensor, foreign_tensor_help
from ttnn_jit.specs.checks import members_of, shown
from ttnn_jit.specs.configs.hardware_config import HardwareConfig, check_config
from ttnn_jit.specs.extents.extent import specialized

NO_MATCH = object()
"""The result of binding a value that does not match an alternative."""


class Alternative(NamedTuple):
    """One of the types that an annotation names.

    Attributes:
        wanted: Description of matching values, for errors.
        bind: Maps a value and its description for errors to the bound value, or to `NO_MATCH`.
        help: Maps a value to the help of its error.
    """

    wanted: str
    bind: Callable[[Any, str], Any]
    help: Callable[[Any], str | None] = lambda _: None


@dataclass(frozen=True)
class HostKind(Kind):
    """The kind of an annotation: a union of alternatives, which are tried in order.

    Attributes:
        alternatives: The members of the union except None, for which `accepts_none` is set.
    """

    alternatives: tuple[Alternative, ...] = ()

    def bind(self, value: Any, dtype: object, what: str) -> Any:  # noqa: ARG002 - of tensors too it is the value's
        """The value as the body takes it.

        Raises:
            ArgumentError: The value matches no alternative.
        """
        if value is None and self.accepts_none:
            return None
        for alternative in self.alternatives:
            if (bound := alternative.bind(value, what)) is not NO_MATCH:
                return bound
        helps = (each.help(value) for each in self.alternatives)
        raise ArgumentError(f"{what} must be {self.wanted}, got {shown(value)}", help=next(filter(None, helps), None))


@dataclass(frozen=True)
class HostParameter(Parameter):
    """One parameter of a host function.

    Attributes:
        is_required: Whether a call must pass it.
        is_positional: Whether it may be passed by position.
        is_keyword_variadic: Whether it is the variadic parameter of keywords, ``**``.
        without_effect: Why no result depends on it; empty for a parameter with an effect.
    """

    is_required: bool = False  # a required parameter has the default None too
    is_positional: bool = True
    is_keyword_variadic: bool = False
    without_effect: str = ""


# --- Alternatives -----------------------------------------------------------------------------------------------------


def _tensor(value: Any, _: str) -> Any:
    """A tensor, or a value with the hook ``__ttnn_call__``, such as a tracer."""
    return value if isinstance(value, Tensor) or hasattr(type(value), "__ttnn_call__") else NO_MATCH


def _sequence(element: HostKind) -> Callable[[Any, str], Any]:
    """Binds an iterable to a tuple, element by element."""

    def bind(value: Any, what: str) -> Any:
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            return NO_MATCH
        return tuple(element.bind(each, None, what) for each in value)

    return bind


def _any(value: Any, _: str) -> Any:
    return value


def _matching(holds: Callable[[Any], bool]) -> Callable[[Any, str], Any]:
    return lambda value, _: value if holds(value) else NO_MATCH


def _number_matching(holds: Callable[[Any], bool]) -> Callable[[Any, str], Any]:
    """Binds a Python number, a numpy scalar or an extent of a trace, which this fixes, to a Python number."""
    taken = _matching(holds)
    return lambda value, what: taken(specialized(python_number(value)), what)


def _open_number_matching(holds: Callable[[Any], bool]) -> Callable[[Any, str], Any]:
    """Binds a Python number or a numpy scalar to a Python number, and a number of a trace to itself."""
    taken = _matching(holds)
    return lambda value, what: taken(python_number(value), what)


_ALTERNATIVES = {
    "int": Alternative("a whole number", _number_matching(lambda number: type(number) is int)),
    "PositiveInt": Alternative(
        "a whole number of at least 1", _number_matching(lambda number: type(number) is int and number > 0)
    ),
    "Seed": Alternative(
        "a whole number",
        _open_number_matching(lambda number: isinstance(number, int) and not isinstance(number, bool)),
    ),
    "float": Alternative("a number", _open_number_matching(lambda number: isinstance(number, Number))),
    "bool": Alternative("True or False", _number_matching(lambda number: type(number) is bool)),
    "str": Alternative("a text", _matching(lambda value: isinstance(value, str))),
    "Tensor": Alternative("a ttnn.Tensor", _tensor, foreign_tensor_help),
    "Device": Alternative("a ttnn.Device", _matching(lambda value: isinstance(value, Device))),
    **dict.fromkeys(("Any", "object", "Iterable", "SystemDesc"), Alternative("", _any)),
}
"""The text of a type -> its alternative; a type that bodies check themselves accepts every value."""

_UNION = re.compile(r" \| (?![^\[]*\])")


@cache
def kind_of(annotation: str, module: str) -> HostKind:
    """The kind of an annotation, whose classes are looked up in `module`, then in ttnn."""
    texts = _UNION.split(annotation)
    alternatives = tuple(_alternative(text, module) for text in texts if text != "None")
    wanted = " or ".join(each.wanted for each in alternatives)
    return HostKind(annotation, wanted, accepts_none="None" in texts, alternatives=alternatives)


def _alternative(text: str, module: str) -> Alternative:
    name, _, inner = text.removesuffix("]").partition("[")
    if name in _ALTERNATIVES:
        return _ALTERNATIVES[name]
    if name.startswith("torch."):
        return Alternative("", _any)
    if name == "Sequence":
        element = kind_of(inner, module)
        several = f"{element.wanted.removeprefix('a ')}s in " if element.wanted else ""
        return Alternative(f"{several}a list or tuple", _sequence(element))
    return _instance_of(_class_named(name, module))


def _class_named(name: str, module: str) -> Any:
    """The class of a name in a module; in ttnn, if the module imports it for type checkers only."""
    homes = (vars(sys.modules[module]), vars(builtins))
    found = next((home[name] for home in homes if name in home), None)
    return get_origin(found) or found or getattr(import_module("ttnn_jit.ttnn"), name)


def _instance_of(cls: Any) -> Alternative:
    named = f"a {'ttnn.' if cls.__module__.startswith('ttnn_jit.') else ''}{cls.__name__}"
    if issubclass(cls, HardwareConfig):
        return Alternative(named, lambda value, what: _checked_config(value, cls, what))
    return Alternative(named, _matching(lambda value: isinstance(value, cls)), lambda _: members_of(cls))


def _checked_config(config: Any, cls: Any, what: str) -> Any:
    if not isinstance(config, cls):
        return NO_MATCH
    check_config(config, cls, what)
    return config
