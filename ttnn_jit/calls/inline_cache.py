"""A polymorphic inline cache: each entry compares a call with the call that it was made for, and runs its program.

An entry compares arguments that are not tensors with constants, and extracts the tensors from containers. Then it calls
a function that compares the metadata of tensors. Entries are generated code, in which a comparison is an expression.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ttnn_jit.dispatch.arguments import Arguments
from ttnn_jit.foreign.container_items import is_named_tuple, is_record
from ttnn_jit.foreign.pytrees import LEAF, TreeDef
from ttnn_jit.foreign.values import has_own_attributes, own_attributes
from ttnn_jit.runtime.libraries import WarmCall
from ttnn_jit.runtime.native.generated import MISS, define


class Missing(enum.Enum):
    """The value of a parameter that a call did not pass."""

    MISSING = "missing"


def try_in_order(calls: Sequence[WarmCall], count: int) -> WarmCall:
    """A `WarmCall` of `count` arguments that tries `calls` in order."""
    return calls[0] if len(calls) == 1 else _try_in_order(len(calls), count)(*calls)


@cache
def _try_in_order(calls: int, count: int) -> Callable[..., WarmCall]:
    arguments = ", ".join(f"a{i}" for i in range(count))
    lines = [f"def bind({', '.join(f'w{i}' for i in range(calls))}):", f" def call({arguments}):"]
    for i in range(calls):
        lines += [f"  result = w{i}({arguments})", "  if result is not MISS: return result"]
    return define("bind", [*lines, "  return MISS", " return call"], {"MISS": MISS})


def call_matcher(arguments: Arguments) -> Callable[[WarmCall], WarmCall] | None:
    """A function from a `WarmCall` of tensors to one of all parameters, which checks that other arguments are equal.

    None if an argument in `arguments` is neither a tensor, a plain constant, nor a container of these.
    """
    pattern = _Pattern(arguments)
    for i, (name, tree) in enumerate(arguments.trees.items()):
        takes = pattern.takes_argument if name in arguments.given else pattern.takes_default
        if not takes(f"a{i}", tree.treedef):
            return None
    return pattern.bind(len(arguments.trees))


class _Pattern:
    """The expressions that compare a call with another one, and that extract its tensors."""

    def __init__(self, arguments: Arguments) -> None:
        self._leaves = zip(arguments.leaves, arguments.libraries, strict=True)
        self._operands: list[str] = []
        self._conditions: list[str] = []
        self._constants: list[Any] = []

    def bind(self, count: int) -> Callable[[WarmCall], WarmCall]:
        """The function from a `WarmCall` of the tensors to one of all `count` arguments."""
        constants = self._constants
        bind = _matching_call(count, tuple(self._operands), tuple(self._conditions), len(constants))
        return lambda warm: bind(warm, *constants)

    def takes_default(self, expression: str, treedef: TreeDef) -> bool:
        """Add the condition that an argument is missing; whether its default is immutable."""
        self._conditions.append(f"{expression} is MISSING")
        return treedef is LEAF and _constant_condition("", "", next(self._leaves)[0]) is not None

    def takes_argument(self, expression: str, treedef: TreeDef) -> bool:
        """Add the conditions of an argument; whether expressions can compare it."""
        constant = f"C{len(self._constants)}"
        if treedef is not LEAF:
            same = list(treedef.names or ()) if treedef.kind is dict else treedef.kind
            found = self._add(_container_condition(expression, constant, treedef), same)
            found = found and self._has_only_fields(expression, treedef.container)
            return found and all(map(self.takes_argument, _item_expressions(expression, treedef), treedef.items))
        leaf, library = next(self._leaves)
        if library is None:
            return self._add(_constant_condition(expression, constant, leaf), leaf)
        self._operands.append(expression)
        return True

    def _has_only_fields(self, expression: str, container: Any) -> bool:
        """Whether a container has no attributes beside its items or fields; adds the condition for a record."""
        if container is None or type(container) is dict or not has_own_attributes(container):
            return True
        names = own_attributes(container).keys()
        if is_record(container) and names <= container.__dataclass_fields__.keys():
            return self._add(f"OWN({expression}, '__dict__').keys() == C{len(self._constants)}", frozenset(names))
        return False

    def _add(self, condition: str | None, constant: Any) -> bool:
        if condition is None:
            return False
        self._conditions.append(condition)
        self._constants.append(constant)
        return True


def _item_expressions(expression: str, treedef: TreeDef) -> list[str]:
    """The expressions of the items of a container."""
    if treedef.names is None:
        return [f"{expression}[{number}]" for number in range(len(treedef.items))]
    return [f"{expression}[{name!r}]" if treedef.kind is dict else f"{expression}.{name}" for name in treedef.names]


def _container_condition(expression: str, constant: str, treedef: TreeDef) -> str | None:
    """The condition that `expression` is a container of this class and size, or keys; None if there is no such one."""
    kind, names, items, container, *_ = treedef
    if kind is dict:
        plain = all(type(key) is str for key in names or ())
        return f"type({expression}) is dict and [*{expression}] == {constant}" if plain else None
    if kind in {list, tuple} or is_named_tuple(container):
        return f"type({expression}) is {constant} and len({expression}) == {len(items)}"
    if is_record(container):  # a record that lacks a field cannot be compared by its class
        return f"type({expression}) is {constant}" if len(items) == len(container.__dataclass_fields__) else None
    return None


def _constant_condition(expression: str, constant: str, value: Any) -> str | None:
    """The condition that `expression` is the same constant as `value`; None if there is no such one."""
    kind = type(value)
    if value is None or issubclass(type(value), (bool, enum.Enum)):
        return f"{expression} is {constant}"
    if kind not in {int, float, str} or value != value:  # noqa: PLR0124 - of a NaN, the bits count
        return None
    same = f"type({expression}) is {kind.__name__} and {expression} == {constant}"
    return same if value else f"{same} and repr({expression}) == {repr(value)!r}"  # -0.0 == 0.0


@cache
def _matching_call(
    count: int, operands: tuple[str, ...], conditions: tuple[str, ...], constants: int
) -> Callable[..., WarmCall]:
    """From a `WarmCall` of the tensors `operands`, and the constants of a call, to a `WarmCall` of all arguments."""
    if not conditions:
        return lambda warm, *_: warm
    tensors = ", ".join(f"t{i}" for i in range(len(operands)))
    lines = [
        f"def bind(warm, {', '.join(f'C{i}' for i in range(constants))}):",
        f" def call({', '.join(f'a{i}' for i in range(count))}):",
        "  try:",
        f"   if not ({' and '.join(conditions)}): return MISS",
        f"   {tensors} = {', '.join(operands)}",
        "  except AttributeError:",  # a record that lacks a field
        "   return MISS",
        f"  return warm({tensors})",
        " return call",
    ]
    return define("bind", lines, {"MISS": MISS, "MISSING": Missing.MISSING, "OWN": object.__getattribute__})
