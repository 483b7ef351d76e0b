"""What the parameters of a function of the host API may be, read from its signature: the kinds of its annotations."""

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

NOT_TAKEN = object()
"""What binding gives for a value that is none of an alternative."""


class Alternative(NamedTuple):
    """One of the types that an annotation names.

    Attributes:
        wanted: What a value must be, as errors say it.
        bind: From a value and what errors call it to what the body gets, or `NOT_TAKEN`.
        help: What an error about a value adds.
    """

    wanted: str
    bind: Callable[[Any, str], Any]
    help: Callable[[Any], str | None] = lambda _: None


@dataclass(frozen=True)
class HostKind(Kind):
    """What an annotation says: one of several alternatives, in the order in which they are tried.

    Attributes:
        alternatives: Without None, which `accepts_none` says.
    """

    alternatives: tuple[Alternative, ...] = ()

    def bind(self, value: Any, dtype: object, what: str) -> Any:  # noqa: ARG002 - of tensors too it is the value's
        """The value as the function's body takes it.

        Raises:
            ArgumentError: It is none of the alternatives.
        """
        if value is None and self.accepts_none:
            return None
        for alternative in self.alternatives:
            if (bound := alternative.bind(value, what)) is not NOT_TAKEN:
                return bound
        helps = (each.help(value) for each in self.alternatives)
        raise ArgumentError(f"{what} must be {self.wanted}, got {shown(value)}", help=next(filter(None, helps), None))


@dataclass(frozen=True)
class HostParameter(Parameter):
    """One parameter of a function of the host API.

    Attributes:
        is_required: Whether a call must give it.
        is_positional: Whether it may be given without its name.
        takes_other_names: Whether it is ``**``: every keyword that no other parameter has.
        without_effect: Why no result depends on it; empty of one that is honoured.
    """

    is_required: bool = False  # a signature says it, whatever the default
    is_positional: bool = True
    takes_other_names: bool = False
    without_effect: str = ""


# --- Alternatives -----------------------------------------------------------------------------------------------------


def _tensor(value: Any, _: str) -> Any:
    """What stands for a tensor in a program says itself who calls, whatever its library."""
    return value if isinstance(value, Tensor) or hasattr(type(value), "__ttnn_call__") else NOT_TAKEN


def _each(element: HostKind) -> Callable[[Any, str], Any]:
    """Several, in a tuple."""

    def bind(value: Any, what: str) -> Any:
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            return NOT_TAKEN
        return tuple(element.bind(each, None, what) for each in value)

    return bind


def _any(value: Any, _: str) -> Any:
    return value


def _only_if(holds: Callable[[Any], bool]) -> Callable[[Any, str], Any]:
    return lambda value, _: value if holds(value) else NOT_TAKEN


def _number_if(holds: Callable[[Any], bool]) -> Callable[[Any, str], Any]:
    """A number of Python or a scalar of numpy, as Python's own."""
    taken = _only_if(holds)
    return lambda value, what: taken(python_number(value), what)


_ALTERNATIVES = {
    "int": Alternative("a whole number", _number_if(lambda number: type(number) is int)),
    "PositiveInt": Alternative(
        "a whole number of at least 1", _number_if(lambda number: type(number) is int and number > 0)
    ),
    "float": Alternative("a number", _number_if(lambda number: isinstance(number, Number))),
    "bool": Alternative("True or False", _number_if(lambda number: type(number) is bool)),
    "str": Alternative("a text", _only_if(lambda value: isinstance(value, str))),
    "Tensor": Alternative("a ttnn.Tensor", _tensor, foreign_tensor_help),
    "Device": Alternative("a ttnn.Device", _only_if(lambda value: isinstance(value, Device))),
    **dict.fromkeys(("Any", "object", "Iterable", "SystemDesc"), Alternative("", _any)),
}
"""The text of a type -> what it means; what bodies check themselves is any."""

_OR = re.compile(r" \| (?![^\[]*\])")


@cache
def kind_of(annotation: str, module: str) -> HostKind:
    """The kind of an annotation, whose classes are those of a module of that name, or of ttnn."""
    texts = _OR.split(annotation)
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
        return Alternative(f"{several}a list or tuple", _each(element))
    return _instance(_class_named(name, module))


def _class_named(name: str, module: str) -> Any:
    """What a name stands for: in the module, or where only type checkers import it, in ttnn."""
    homes = (vars(sys.modules[module]), vars(builtins))
    found = next((home[name] for home in homes if name in home), None)
    return get_origin(found) or found or getattr(import_module("ttnn_jit.ttnn"), name)


def _instance(cls: Any) -> Alternative:
    named = f"a {'ttnn.' if cls.__module__.startswith('ttnn_jit.') else ''}{cls.__name__}"
    if issubclass(cls, HardwareConfig):
        return Alternative(named, lambda value, what: _checked(value, cls, what))
    return Alternative(named, _only_if(lambda value: isinstance(value, cls)), lambda _: members_of(cls))


def _checked(config: Any, cls: Any, what: str) -> Any:
    if not isinstance(config, cls):
        return NOT_TAKEN
    check_config(config, cls, what)
    return config
