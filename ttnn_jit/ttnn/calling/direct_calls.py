"""The fast path of host functions: a wrapper per function, generated at its first call.

The wrapper checks the classes of the arguments, and calls the body directly if no argument needs binding.
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
from ttnn_jit.ttnn.calling.shared_parameters import VARIADIC, instance_of


class CalledFunction(Protocol):
    """The part of a declaration that the generated wrapper depends on."""

    @property
    def function(self) -> Callable[..., Any]:
        """The body."""

    @property
    def name(self) -> str:
        """The qualified name, ``ttnn.<name>``."""

    @property
    def in_programs(self) -> bool:
        """Whether jitted functions may call the function."""

    @property
    def takes_ops(self) -> bool:
        """Whether the body has the hidden first parameter `_ops`."""

    @property
    def signature(self) -> inspect.Signature:
        """The signature without the hidden parameter."""

    @property
    def classes_without_binding(self) -> Mapping[str, frozenset[type] | None]:
        """Parameter -> the classes whose instances need no binding; None: every class."""

    @property
    def integer_sequences(self) -> tuple[str, ...]:
        """The parameters that may be sequences of integers."""


def make_direct_call(declared: CalledFunction, call: Callable[..., Any], scope: dict[str, Any]) -> FunctionType:
    """The wrapper that replaces `call`, whose globals are `scope`, while there is no observer."""
    function: Any = declared.function
    arguments = vars(function).get("__ttnn_arguments__")  # the dataclass that the body takes, if it takes one
    scope.update(
        _explicit_arguments=_explicit_arguments,
        _call=call,
        _function=function if arguments is None else function.__ttnn_body__,
        _ops=EAGER,
    )
    scope.update(_instance_of=instance_of, _arguments=arguments, _tracers=TRACERS)
    scope.update(_type=type, _list=list, _are_whole=_are_whole)
    own = [each for each in declared.signature.parameters.values() if each.kind not in VARIADIC]
    by_name = [each.name for each in own if each.kind is each.KEYWORD_ONLY]
    positional = [each.name for each in own if each.name not in by_name]
    parameter_texts = ", ".join([*map(_with_default, positional), "*_rest", *map(_with_default, by_name), "**_others"])
    conditions = [
        "_rest",
        "_others",
        *(["_tracers"] if declared.in_programs else []),
        *_binding_conditions(declared, own, scope),
    ]
    before = [OPS] if declared.takes_ops else []
    passed = ", ".join([*before, *positional, *(f"{name}={name}" for name in by_name)])
    if arguments is not None:
        passed = f"_instance_of(_arguments, {_dict_of(*before, *positional, *by_name)})"
    given = f"_explicit_arguments(_declared, {_dict_of(*positional, *by_name)}, _rest, _others)"
    in_tuples = [
        line
        for name in declared.integer_sequences
        for line in (f"if _type({name}) is _list:", f"    {name} = (*{name},)")
    ]
    lines = [
        f"def _direct_call({parameter_texts}):",
        "    try:",
        f"        if {' or '.join(conditions)}:",
        f"            return _declared.run(_call, *{given})",
        *(f"        {line}" for line in in_tuples),
        f"        return _function({passed})",
        "    except BaseException as _error:",
        f"        _declared.report_at_call_site(*{given}, _error)",
        "        raise",
    ]
    return define("_direct_call", lines, scope, declared.name)


def _dict_of(*names: str) -> str:
    """The text of a dict display that maps each name to its variable."""
    return f"{{{', '.join(f'{name!r}: {name}' for name in names)}}}"


def _with_default(name: str) -> str:
    return f"{name}=_default_{name}"


def _binding_conditions(
    declared: CalledFunction, own: Iterable[inspect.Parameter], scope: dict[str, Any]
) -> Iterator[str]:
    """For each parameter the text of a condition: it is missing, or its argument needs binding."""
    for each in own:
        name, classes = each.name, declared.classes_without_binding[each.name]
        scope[f"_default_{name}"] = each.default
        if classes is not None:
            is_other = _is_none_of_classes(name, classes, scope)
            if name in declared.integer_sequences:
                is_other += f" and not _are_whole({name})"
            yield is_other if each.default is each.empty else f"({name} is not _default_{name} and {is_other})"
        elif each.default is each.empty:
            yield f"{name} is _default_{name}"


def _is_none_of_classes(name: str, classes: frozenset[type], scope: dict[str, Any]) -> str:
    """The text of a condition: the class of an argument is none of these."""
    if len(classes) == 1:
        (scope[f"_class_of_{name}"],) = classes
        return f"_type({name}) is not _class_of_{name}"
    scope[f"_classes_of_{name}"] = classes
    return f"_type({name}) not in _classes_of_{name}"


_SEQUENCES, _WHOLE = frozenset({tuple, list}), frozenset({int})


def _are_whole(value: Any) -> bool:
    """Whether a value is a tuple or list of Python ints, which need no binding."""
    return type(value) in _SEQUENCES and _WHOLE.issuperset(map(type, value))


def _explicit_arguments(
    declared: CalledFunction, values: Mapping[str, Any], rest: tuple[Any, ...], others: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and keyword arguments of a call from the values of its parameters, without defaults."""
    parameters = declared.signature.parameters
    own = {name: value for name, value in values.items() if value is not parameters[name].default}
    if not rest:
        return (), {**own, **others}
    positional = [values[name] for name in values if parameters[name].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    by_name = {name: own[name] for name in own if parameters[name].kind is inspect.Parameter.KEYWORD_ONLY}
    return (*positional, *rest), {**by_name, **others}
