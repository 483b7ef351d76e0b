"""A polymorphic inline cache: programs that compare all of a call with the call that they were remembered for.

An entry compares what is no tensor with constants and picks the tensors out of containers; the function behind it
compares their metadata. Each is generated, so that a comparison is an expression.
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
    """What a parameter holds that a call did not give."""

    MISSING = "missing"


def first_of(calls: Sequence[WarmCall], count: int) -> WarmCall:
    """The first of `calls` of `count` arguments that applies."""
    return calls[0] if len(calls) == 1 else _first_of(len(calls), count)(*calls)


@cache
def _first_of(calls: int, count: int) -> Callable[..., WarmCall]:
    arguments = ", ".join(f"a{i}" for i in range(count))
    lines = [f"def bind({', '.join(f'w{i}' for i in range(calls))}):", f" def call({arguments}):"]
    for i in range(calls):
        lines += [f"  result = w{i}({arguments})", "  if result is not MISS: return result"]
    return define("bind", [*lines, "  return MISS", " return call"], {"MISS": MISS})


def calls_like(arguments: Arguments) -> Callable[[WarmCall], WarmCall] | None:
    """From a `WarmCall` of tensors to one of all parameters, for calls whose other arguments are those of `arguments`.

    None where something that is no tensor is neither a plain constant nor a container of such.
    """
    pattern = _Pattern(arguments)
    for i, (name, tree) in enumerate(arguments.trees.items()):
        takes = pattern.takes_argument if name in arguments.given else pattern.takes_default
        if not takes(f"a{i}", tree.treedef):
            return None
    return pattern.bind(len(arguments.trees))


class _Pattern:
    """The expressions that tell whether a call is like another one, and that find its tensors."""

    def __init__(self, arguments: Arguments) -> None:
        self._leaves = zip(arguments.leaves, arguments.libraries, strict=True)
        self._operands: list[str] = []
        self._conditions: list[str] = []
        self._constants: list[Any] = []

    def bind(self, count: int) -> Callable[[WarmCall], WarmCall]:
        """From a `WarmCall` of the tensors to one of all `count` arguments."""
        constants = self._constants
        bind = _call_like(count, tuple(self._operands), tuple(self._conditions), len(constants))
        return lambda warm: bind(warm, *constants)

    def takes_default(self, source: str, treedef: TreeDef) -> bool:
        """Whether a default can be told by its absence: what a container holds may change."""
        self._conditions.append(f"{source} is MISSING")
        return treedef is LEAF and _is_constant("", "", next(self._leaves)[0]) is not None

    def takes_argument(self, source: str, treedef: TreeDef) -> bool:
        """Whether an argument can be told by expressions."""
        constant = f"C{len(self._constants)}"
        if treedef is not LEAF:
            same = list(treedef.names or ()) if treedef.kind is dict else treedef.kind
            found = self._add(_is_like(source, constant, treedef), same)
            found = found and self._has_no_more(source, treedef.container)
            return found and all(map(self.takes_argument, _sources(source, treedef), treedef.items))
        leaf, library = next(self._leaves)
        if library is None:
            return self._add(_is_constant(source, constant, leaf), leaf)
        self._operands.append(source)
        return True

    def _has_no_more(self, source: str, container: Any) -> bool:
        """Whether a record can be told by its fields: another attribute of its own would hide one of its class."""
        if container is None or type(container) is dict or not has_own_attributes(container):
            return True
        names = own_attributes(container).keys()
        if is_record(container) and names <= container.__dataclass_fields__.keys():
            return self._add(f"OWN({source}, '__dict__').keys() == C{len(self._constants)}", frozenset(names))
        return False

    def _add(self, condition: str | None, constant: Any) -> bool:
        if condition is None:
            return False
        self._conditions.append(condition)
        self._constants.append(constant)
        return True


def _sources(source: str, treedef: TreeDef) -> list[str]:
    """Where the items of the container at `source` are."""
    if treedef.names is None:
        return [f"{source}[{number}]" for number in range(len(treedef.items))]
    return [f"{source}[{name!r}]" if treedef.kind is dict else f"{source}.{name}" for name in treedef.names]


def _is_like(source: str, constant: str, treedef: TreeDef) -> str | None:
    """An expression that is true where `source` holds a container of that class and size, or keys; None if none is."""
    kind, names, items, container, *_ = treedef
    if kind is dict:
        plain = all(type(key) is str for key in names or ())
        return f"type({source}) is dict and [*{source}] == {constant}" if plain else None
    if kind in {list, tuple} or is_named_tuple(container):
        return f"type({source}) is {constant} and len({source}) == {len(items)}"
    if is_record(container):  # one that lacks a field is of another kind than one that has it
        return f"type({source}) is {constant}" if len(items) == len(container.__dataclass_fields__) else None
    return None


def _is_constant(source: str, constant: str, value: Any) -> str | None:
    """An expression that is true where `source` holds the same constant as `value`; None if none is."""
    kind = type(value)
    if value is None or issubclass(type(value), (bool, enum.Enum)):
        return f"{source} is {constant}"
    if kind not in {int, float, str} or value != value:  # noqa: PLR0124 - of a NaN, the bits count
        return None
    same = f"type({source}) is {kind.__name__} and {source} == {constant}"
    return same if value else f"{same} and repr({source}) == {repr(value)!r}"  # -0.0 == 0.0


@cache
def _call_like(
    count: int, operands: tuple[str, ...], conditions: tuple[str, ...], constants: int
) -> Callable[..., WarmCall]:
    """From a `WarmCall` of the tensors at `operands`, and the constants of a call, to one of all its arguments."""
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
