"""Binding values to targets, and iteration in loops and unpackings."""

from __future__ import annotations

import ast
import operator
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ttnn_jit.foreign.pytrees import leaves
from ttnn_jit.foreign.torch_modules import is_default_setattr
from ttnn_jit.foreign.values import ABSENT, member_of, own_attribute
from ttnn_jit.frontend.plain_numbers import plain
from ttnn_jit.frontend.python.attributes import attribute_name, attribute_value
from ttnn_jit.frontend.python.interpreter import Interpreter
from ttnn_jit.frontend.tensors.proxy import ProxyTensor
from ttnn_jit.specs.mutable_values import MutableValue


def assign(interpreter: Interpreter, target: ast.expr, value: Any) -> None:
    """Bind the names of `target`, or write the value into its container or object."""
    value = interpreter.program_value(value)
    match target:
        case ast.Name():
            interpreter.frame.bind(target.id, value)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            _unpack(interpreter, target, targets, value)
        case ast.Subscript():
            container = interpreter.evaluate(target.value)
            index = interpreter.evaluate(target.slice)
            interpreter.at = target
            interpreter.python(operator.setitem, container, index, value)
        case ast.Attribute():
            owner = interpreter.evaluate(target.value)
            if interpreter.recorder.is_foreign(owner):
                value = plain(value)
            if not _already_holds(interpreter, owner, attribute_name(interpreter, target), value):
                _write(interpreter, target, owner, value)
        case _:
            interpreter.refuse("this cannot be assigned to in a compiled function", node=target)


def assign_attribute(interpreter: Interpreter, target: ast.Attribute, value_of: Callable[[Any], Any]) -> None:
    """Write ``value_of(owner)`` into an attribute of an object that the program made.

    Raises:
        CompileError: The object is from outside the program.
    """
    owner, name = interpreter.evaluate(target.value), attribute_name(interpreter, target)
    if not interpreter.observes:
        _check_is_own(interpreter, owner, name, leaves_tensor=False, node=target)
    _write(interpreter, target, owner, value_of(owner))


def _write(interpreter: Interpreter, target: ast.Attribute, owner: Any, value: Any) -> None:
    name = attribute_name(interpreter, target)
    tensor = interpreter.recorder.is_foreign(owner) and any(type(leaf) is ProxyTensor for leaf in leaves(value))
    _check_is_own(interpreter, owner, name, leaves_tensor=tensor, node=target)
    interpreter.at = target
    interpreter.natively(setattr, owner, name, value)


def _already_holds(interpreter: Interpreter, owner: Any, name: str, value: Any) -> bool:
    """Whether an object from outside the program already has `value` as the attribute, and a write runs no user code.

    False under `observes`: in a trace, an operation returns a proxy even if it returns an operand unchanged.
    """
    if interpreter.observes or not interpreter.recorder.is_foreign(owner) or own_attribute(owner, name) is ABSENT:
        return False
    members = interpreter.class_member(owner, name), interpreter.class_member(owner, "__setattr__")
    plain = member_of(type(members[0]), "__set__") is ABSENT and is_default_setattr(members[1])
    return plain and interpreter.program_value(attribute_value(interpreter, owner, name)) is value


def set_attribute(interpreter: Interpreter, owner: Any, name: Any, value: Any) -> None:
    """``setattr(owner, name, value)``."""
    _check_is_own(interpreter, owner, name, leaves_tensor=interpreter.recorder.is_foreign(owner), node=interpreter.at)
    interpreter.natively(setattr, owner, name, value)


def object_setattr(interpreter: Interpreter, owner: Any, name: Any, value: Any) -> None:
    """``object.__setattr__(owner, name, value)``, which sets fields of frozen dataclasses."""
    _check_is_own(interpreter, owner, name, leaves_tensor=interpreter.recorder.is_foreign(owner), node=interpreter.at)
    interpreter.natively(object.__setattr__, owner, name, value)


def _check_is_own(interpreter: Interpreter, owner: Any, name: Any, *, leaves_tensor: bool, node: ast.AST) -> None:
    """Refuse a write to an object from outside the program; `leaves_tensor` refuses it in a trace too."""
    if type(name) is str and not _is_own(interpreter, owner, name):
        refuse = interpreter.refuse_change if leaves_tensor else interpreter.refuse
        refuse(
            "assigning to an attribute cannot be compiled: it would change the world outside the program",
            "keep the value in a local variable, or return it",
            node,
        )


def _is_own(interpreter: Interpreter, value: Any, name: str) -> bool:
    """Whether the program made the object `value`, and no user code runs when the attribute is written."""
    if id(value) in interpreter.made_objects:
        member = interpreter.class_member(value, name)
        return type(member) is types.MemberDescriptorType or member_of(type(member), "__set__") is ABSENT
    if not issubclass(type(value), MutableValue):
        return False
    return interpreter.recorder.path_of(value) is None and not value.is_frozen


def _unpack(interpreter: Interpreter, target: ast.expr, targets: list[ast.expr], value: Any) -> None:
    interpreter.at = target
    items = interpreter.python(list, value)
    if not fit(items, targets, ast.Starred):
        interpreter.fail(ValueError(f"cannot unpack {len(items)} values into {len(targets)} names"), target)
    for part, item in zip(targets, items, strict=True):
        assign(interpreter, part.value if isinstance(part, ast.Starred) else part, item)


def fit(items: list[Any], targets: Sequence[ast.AST], star: type[ast.AST]) -> bool:
    """Whether there is an item for each target; the items for a starred one, of class `star`, become one list."""
    starred = [index for index, part in enumerate(targets) if isinstance(part, star)]
    needed = len(targets) - len(starred)
    if len(items) < needed or (not starred and len(items) > needed):
        return False
    if starred:
        first, end = starred[0], len(items) - (needed - starred[0])
        items[first:end] = [items[first:end]]
    return True


_END = object()


def iterate(interpreter: Interpreter, node: ast.AST, items: Iterator[Any]) -> Iterator[Any]:
    """The items of a loop, counted as iterations; errors of the iterator are located at `node`."""
    while True:
        interpreter.at = node
        item = interpreter.python(next, items, _END)
        if item is _END:
            return
        interpreter.count_iteration(node)
        yield item
