"""Calls of functions of the host API, written as text when they are first made.

A call looks at the classes of its arguments, and goes to the body where none of them needs binding.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ttnn_jit.ops.created_tensors import CREATOR
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.generated import STALE, define
from ttnn_jit.ttnn.shared_parameters import made_of

if TYPE_CHECKING:
    from ttnn_jit.ttnn.host_function import HostFunction


@dataclass(frozen=True)
class _Text:
    """The parts of a call's text.

    Attributes:
        heads: The parameters, and what takes all that they do not.
        stale: Whether an argument needs binding, is missing or unknown.
        places: The names of parameters that may be given by place.
        by_name: Those of the others.
        listed: The names of those that may be several whole numbers: bodies take tuples of them.
        are_one: Whether the body takes them all as one dataclass.
    """

    heads: str
    stale: str
    places: tuple[str, ...]
    by_name: tuple[str, ...]
    listed: tuple[str, ...]
    are_one: bool

    @property
    def in_tuples(self) -> list[str]:
        """Statements that leave no lists."""
        return [line for name in self.listed for line in (f"if _type({name}) is _list:", f"    {name} = (*{name},)")]

    @property
    def passed(self) -> str:
        """The arguments of the body."""
        if self.are_one:
            return f"_made_of(_arguments, {self._values})"
        return ", ".join([*self.places, *(f"{name}={name}" for name in self.by_name)])

    @property
    def given(self) -> str:
        """A call of `_given`."""
        return f"_given(_declared, {self._values}, _rest, _others)"

    @property
    def _values(self) -> str:
        """A dict of all by their names."""
        return f"{{{', '.join(f'{name!r}: {name}' for name in (*self.places, *self.by_name))}}}"


def direct(declared: HostFunction) -> Callable[..., Any]:
    """What gives STALE where an argument needs binding, is missing or unknown, else what the body gives."""
    scope: dict[str, Any] = {"_STALE": STALE}
    text = _text(declared, scope)
    lines = [
        f"def direct({text.heads}):",
        f"    if {text.stale}:",
        "        return _STALE",
        *(f"    {line}" for line in text.in_tuples),
        f"    return _function({text.passed})",
    ]
    return define("direct", lines, scope, declared.name)


def write(declared: HostFunction, call: Any, scope: dict[str, Any]) -> None:
    """Has `call`, whose globals are `scope`, run that text itself: nobody is told of its calls as they are written."""
    scope.update(_given=_given, _declared=declared, _creator=CREATOR.get, _call=call)
    text = _text(declared, scope)
    taken = ["        if _creator() is not None:", f"            return _creator()(_call, *{text.given})"]
    lines = [
        f"def written({text.heads}):",
        "    try:",
        *(taken if declared.in_programs else ()),
        f"        if {text.stale}:",
        f"            return _declared.run(_call, *{text.given})",
        *(f"        {line}" for line in text.in_tuples),
        f"        return _function({text.passed})",
        "    except BaseException as _error:",
        f"        _declared.tell_as_called(*{text.given}, _error)",
        "        raise",
    ]
    written = define("written", lines, scope, declared.name)
    call.__defaults__, call.__kwdefaults__ = written.__defaults__, written.__kwdefaults__
    call.__code__ = written.__code__


def _text(declared: HostFunction, scope: dict[str, Any]) -> _Text:
    """The parts of the text, and in `scope` what they name."""
    function: Any = declared.function
    arguments = vars(function).get("arguments")
    body = function if arguments is None else function.body
    scope.update(_function=body, _arguments=arguments, _made_of=made_of, _type=type, _list=list)
    scope["_are_whole"] = _are_whole
    heads: list[str] = []
    stale = ["_rest", "_others"]
    own = [each for each in declared.signature.parameters.values() if each.kind not in _OF_ANY]
    taken = declared.taken_as_they_are
    for each in own:
        name, classes = each.name, taken[each.name]
        if each.kind is each.KEYWORD_ONLY and "*_rest" not in heads:
            heads.append("*_rest")
        heads.append(f"{name}=_{name}")
        scope[f"_{name}"], scope[f"_classes_of_{name}"] = each.default, classes
        is_other = f"{name} is _{name}" if classes is None else f"_type({name}) not in _classes_of_{name}"
        if name in declared.listed:
            is_other = f"({is_other} and not _are_whole({name}))"
        if each.default is each.empty or (classes is not None and type(each.default) in classes):
            stale.append(is_other)
        elif classes is not None:
            stale.append(f"({name} is not _{name} and {is_other})")
    heads += ["**_others"] if "*_rest" in heads else ["*_rest", "**_others"]
    by_name = tuple(each.name for each in own if each.kind is each.KEYWORD_ONLY)
    places = tuple(each.name for each in own if each.kind is not each.KEYWORD_ONLY)
    return _Text(", ".join(heads), " or ".join(stale), places, by_name, declared.listed, arguments is not None)


_SEQUENCES, _WHOLE = frozenset({tuple, list}), frozenset({int})


def _are_whole(value: Any) -> bool:
    """Whether it is a tuple or list of Python's own whole numbers, which need no binding."""
    return type(value) in _SEQUENCES and _WHOLE.issuperset(map(type, value))


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
