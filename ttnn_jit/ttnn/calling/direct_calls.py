"""Calls of functions of the host API, written as text when they are first made.

A call looks at the classes of its arguments, and goes to the body where none of them needs binding.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType
from typing import Any, Protocol

from ttnn_jit.ops.host_ops import OPS
from ttnn_jit.ops.traced_calls import TRACERS
from ttnn_jit.runtime.native.generated import define
from ttnn_jit.ttnn.calling.eager_ops import EAGER
from ttnn_jit.ttnn.calling.shared_parameters import OF_ANY, made_of


class CalledFunction(Protocol):
    """What the text of a call depends on, of the declaration of its function."""

    @property
    def function(self) -> Callable[..., Any]:
        """Its body."""

    @property
    def name(self) -> str:
        """As users write it."""

    @property
    def in_programs(self) -> bool:
        """Whether jitted functions may call it."""

    @property
    def takes_ops(self) -> bool:
        """Whether the body has a first parameter that users do not see."""

    @property
    def signature(self) -> inspect.Signature:
        """As users see it."""

    @property
    def taken_as_they_are(self) -> Mapping[str, frozenset[type] | None]:
        """Parameter -> the classes of whose instances its values need no binding; None: of any."""

    @property
    def listed(self) -> tuple[str, ...]:
        """The parameters that may be several whole numbers."""


def write(declared: CalledFunction, call: Callable[..., Any], scope: dict[str, Any]) -> FunctionType:
    """The text of `call`, whose globals are `scope`, as long as nobody observes."""
    function: Any = declared.function
    arguments = vars(function).get("__ttnn_arguments__")  # of a body that takes them as one dataclass
    scope.update(
        _given=_given, _call=call, _function=function if arguments is None else function.__ttnn_body__, _ops=EAGER
    )
    scope.update(_made_of=made_of, _arguments=arguments, _tracers=TRACERS)
    scope.update(_type=type, _list=list, _are_whole=_are_whole)
    own = [each for each in declared.signature.parameters.values() if each.kind not in OF_ANY]
    by_name = [each.name for each in own if each.kind is each.KEYWORD_ONLY]
    positional = [each.name for each in own if each.name not in by_name]
    heads = ", ".join([*map(_omissible, positional), "*_rest", *map(_omissible, by_name), "**_others"])
    misses = ["_rest", "_others", *(["_tracers"] if declared.in_programs else []), *_misses(declared, own, scope)]
    before = [OPS] if declared.takes_ops else []
    passed = ", ".join([*before, *positional, *(f"{name}={name}" for name in by_name)])
    if arguments is not None:
        passed = f"_made_of(_arguments, {_dict_of(*before, *positional, *by_name)})"
    given = f"_given(_declared, {_dict_of(*positional, *by_name)}, _rest, _others)"
    in_tuples = [
        line for name in declared.listed for line in (f"if _type({name}) is _list:", f"    {name} = (*{name},)")
    ]
    lines = [
        f"def _written({heads}):",
        "    try:",
        f"        if {' or '.join(misses)}:",
        f"            return _declared.run(_call, *{given})",
        *(f"        {line}" for line in in_tuples),
        f"        return _function({passed})",
        "    except BaseException as _error:",
        f"        _declared.tell_as_called(*{given}, _error)",
        "        raise",
    ]
    return define("_written", lines, scope, declared.name)


def _dict_of(*names: str) -> str:
    """The text of a dict of these by their names."""
    return f"{{{', '.join(f'{name!r}: {name}' for name in names)}}}"


def _omissible(name: str) -> str:
    return f"{name}=_default_{name}"


def _misses(declared: CalledFunction, own: Iterable[inspect.Parameter], scope: dict[str, Any]) -> Iterator[str]:
    """For each parameter the text of whether it is missing, or its argument needs binding."""
    for each in own:
        name, classes = each.name, declared.taken_as_they_are[each.name]
        scope[f"_default_{name}"] = each.default
        if classes is not None:
            is_other = _is_of_others(name, classes, scope)
            if name in declared.listed:
                is_other += f" and not _are_whole({name})"
            yield is_other if each.default is each.empty else f"({name} is not _default_{name} and {is_other})"
        elif each.default is each.empty:
            yield f"{name} is _default_{name}"


def _is_of_others(name: str, classes: frozenset[type], scope: dict[str, Any]) -> str:
    """The text of whether an argument is of none of these classes."""
    if len(classes) == 1:
        (scope[f"_class_of_{name}"],) = classes
        return f"_type({name}) is not _class_of_{name}"
    scope[f"_classes_of_{name}"] = classes
    return f"_type({name}) not in _classes_of_{name}"


_SEQUENCES, _WHOLE = frozenset({tuple, list}), frozenset({int})


def _are_whole(value: Any) -> bool:
    """Whether it is a tuple or list of Python's own whole numbers, which need no binding."""
    return type(value) in _SEQUENCES and _WHOLE.issuperset(map(type, value))


def _given(
    declared: CalledFunction, values: Mapping[str, Any], rest: tuple[Any, ...], others: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call by what its parameters have: those that are as they are when omitted are left out."""
    parameters = declared.signature.parameters
    own = {name: value for name, value in values.items() if value is not parameters[name].default}
    if not rest:
        return (), {**own, **others}
    positional = [values[name] for name in values if parameters[name].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    by_name = {name: own[name] for name in own if parameters[name].kind is inspect.Parameter.KEYWORD_ONLY}
    return (*positional, *rest), {**by_name, **others}
