"""Calls of functions of the host API, written as text when they are first made.

A call looks at the classes of its arguments, and goes to the body where none of them needs binding.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from ttnn_jit.ops.traced_calls import TRACERS
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.generated import define
from ttnn_jit.ttnn.host_function import HostFunction, written_types


@dataclass(frozen=True)
class _Text:
    """The parts of a call's text.

    Attributes:
        heads: The parameters, and what takes all that they do not.
        stale: Whether an argument needs binding, is missing or unknown, or somebody traces.
        first: What the body takes before.
        places: The names of parameters that may be given by place.
        by_name: Those of the others.
    """

    heads: str
    stale: str
    first: tuple[str, ...]
    places: tuple[str, ...]
    by_name: tuple[str, ...]

    @property
    def passed(self) -> str:
        """The arguments of the body."""
        return ", ".join([*self.first, *self.places, *(f"{name}={name}" for name in self.by_name)])

    @property
    def given(self) -> str:
        """A call of `_given`."""
        named = (f"{name!r}: {name}" for name in (*self.places, *self.by_name))
        return f"_given(_declared, {{{', '.join(named)}}}, _rest, _others)"


def write(declared: HostFunction, call: Callable[..., Any], scope: dict[str, Any]) -> FunctionType:
    """The text of `call`, whose globals are `scope`, as long as nobody observes."""
    scope.update(_given=_given, _call=call)
    text = _text(declared, scope)
    lines = [
        f"def _written({text.heads}):",
        "    try:",
        f"        if {text.stale}:",
        f"            return _declared.run(_call, *{text.given})",
        f"        return _function({text.passed})",
        "    except BaseException as _error:",
        f"        _declared.tell_as_called(*{text.given}, _error)",
        "        raise",
    ]
    return define("_written", lines, scope, declared.name)


def _text(declared: HostFunction, scope: dict[str, Any]) -> _Text:
    """The parts of the text, and in `scope` what they name."""
    from ttnn_jit.ttnn.eager_ops import EAGER

    scope.update(_function=declared.function, _type=type, _are_ints=_are_ints, _tracers=TRACERS, _ops=EAGER)
    heads: list[str] = []
    stale = ["_rest", "_others", *(["_tracers"] if declared.in_programs else [])]
    own = [each for each in declared.signature.parameters.values() if each.kind not in _OF_ANY]
    taken = declared.taken_as_they_are
    for each in own:
        name, classes = each.name, taken[each.name]
        if each.kind is each.KEYWORD_ONLY and "*_rest" not in heads:
            heads.append("*_rest")
        heads.append(f"{name}=_{name}")
        scope[f"_{name}"] = each.default
        if classes is not None:
            is_other = _is_of_others(name, classes, scope)
            if "Sequence[int]" in written_types(each.annotation):
                is_other += f" and not _are_ints({name})"
            stale.append(is_other if each.default is each.empty else f"({name} is not _{name} and {is_other})")
        elif each.default is each.empty:
            stale.append(f"{name} is _{name}")
    heads += ["**_others"] if "*_rest" in heads else ["*_rest", "**_others"]
    by_name = tuple(each.name for each in own if each.kind is each.KEYWORD_ONLY)
    places = tuple(each.name for each in own if each.kind is not each.KEYWORD_ONLY)
    return _Text(", ".join(heads), " or ".join(stale), ("_ops",) if declared.takes_ops else (), places, by_name)


def _is_of_others(name: str, classes: frozenset[type], scope: dict[str, Any]) -> str:
    """The text of whether an argument is of none of these classes."""
    if len(classes) == 1:
        (scope[f"_class_of_{name}"],) = classes
        return f"_type({name}) is not _class_of_{name}"
    scope[f"_classes_of_{name}"] = classes
    return f"_type({name}) not in _classes_of_{name}"


_INT = frozenset({int})


def _are_ints(value: Any) -> bool:
    """Whether a tuple needs no binding as one of ints."""
    return type(value) is tuple and _INT.issuperset(map(type, value))


_OF_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _given(
    declared: HostFunction, values: Mapping[str, Any], rest: tuple[Any, ...], others: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call by what its parameters have: those that are as they are when omitted are left out."""
    parameters = declared.signature.parameters
    own = {name: value for name, value in values.items() if value is not parameters[name].default}
    if not rest:
        return (), {**own, **others}
    places = [values[name] for name in values if parameters[name].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    by_name = {name: own[name] for name in own if parameters[name].kind is inspect.Parameter.KEYWORD_ONLY}
    return (*places, *rest), {**by_name, **others}
