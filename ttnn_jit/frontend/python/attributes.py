"""Attribute access in the interpreter, and the reads of the user's world that it records.

The steps are those of Python's look-up. A property or descriptor of the user's is interpreted, so that its reads are
guarded. Any other attribute is looked up natively, and the guard looks it up again.
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.diagnostics.origin import is_of_a_library
from ttnn_jit.foreign.torch_modules import table_of_attribute
from ttnn_jit.foreign.values import (
    ABSENT,
    is_a,
    is_atom,
    is_identity,
    is_implemented_in_c,
    is_python_class,
    member_of,
    own_attribute,
    python_member,
    same_value,
)
from ttnn_jit.frontend.plain_numbers import SymbolicSize, of_same_class, plain
from ttnn_jit.frontend.python.interpreter import Interpreter
from ttnn_jit.frontend.python.language import lacks_name
from ttnn_jit.frontend.python.side_effects import getter_has_effects
from ttnn_jit.frontend.python.special_methods import NATIVE
from ttnn_jit.frontend.python.tensor_attributes import attribute_of_object, class_of, object_has
from ttnn_jit.frontend.python.wrapped_functions import wrapped_attribute
from ttnn_jit.frontend.reads.function_source import is_within_the_language
from ttnn_jit.frontend.tensors.program_device import ProgramDevice
from ttnn_jit.frontend.tensors.proxy import ProxyTensor
from ttnn_jit.frontend.unsupported import unsupported_function
from ttnn_jit.guards.reads import ATTRIBUTE_STEP, ITEM_STEP, MEMBER_STEP, OWN_STEP, TYPE_STEP, Path, Step
from ttnn_jit.runtime.libraries import is_library_tensor
from ttnn_jit.specs.extents.extent import is_of_trace


def evaluate_attribute(interpreter: Interpreter, node: ast.Attribute) -> Any:
    """The value of ``base.name``; only the last value of a chain ``a.b.c`` is recorded as read."""
    value, path = _follow_chain(interpreter, node)
    interpreter.recorder.use(value, path)
    return interpreter.opened(value, path)


def _follow_chain(interpreter: Interpreter, node: ast.expr) -> tuple[Any, Path | None]:
    if isinstance(node, ast.Attribute):
        base, path = _follow_chain(interpreter, node.value)
        interpreter.at = node
        return read_attribute(interpreter, base, path, attribute_name(interpreter, node))
    if isinstance(node, ast.Name):
        value, path = interpreter.lookup(node)
    else:
        value, path = interpreter.evaluate(node), None
    return value, path or interpreter.recorder.path_of(value)


def attribute_name(interpreter: Interpreter, node: ast.Attribute) -> str:
    """The attribute name of `node`, mangled if it is private to the class around the function."""
    function, name = interpreter.frame.function, node.attr
    if not name.startswith("__") or name.endswith("__"):
        return name
    parts = function.__qualname__.split(".")
    classes = [part for part, after in pairwise(parts) if "<locals>" not in {part, after}]
    return f"_{classes[-1].lstrip('_')}{name}" if classes else name


def attribute_value(interpreter: Interpreter, base: Any, name: str) -> Any:
    """The attribute `name` of any value, recorded as read; see `read_attribute`."""
    value, path = read_attribute(interpreter, base, interpreter.recorder.path_of(base), name)
    interpreter.recorder.use(value, path)
    return interpreter.opened(value, path)


def attribute_by_name(interpreter: Interpreter, base: Any, name: Any, *default: Any) -> Any:
    """``getattr(base, name)``."""
    if not is_a(name, str) or len(default) > 1:
        return NATIVE
    if default and not has_attribute(interpreter, base, name):
        return default[0]
    return attribute_value(interpreter, base, name)


def has_attribute(interpreter: Interpreter, base: Any, name: Any, /) -> Any:
    """``hasattr(base, name)``; the type of the attribute, or its absence, is recorded as read."""
    if not is_a(name, str):
        return NATIVE
    base = of_same_class(base)
    interpreter.recorder.bind_path(base, path := interpreter.recorder.path_of(base))
    if path is not None and type(base) not in _PROGRAM_CLASSES:
        interpreter.recorder.record_class(base, path)
    if type(base) is ProxyTensor:
        return object_has(interpreter, base, name)
    return _has(interpreter, base, path, name)


def _has(interpreter: Interpreter, base: Any, path: Path | None, name: str) -> bool:
    value = _attribute(base, name)
    if type(base) in _PROGRAM_CLASSES:
        return value is not ABSENT
    if value is not ABSENT:
        if path is not None:
            interpreter.recorder.use(type(value), (*path, (ATTRIBUTE_STEP, name), (TYPE_STEP, None)))
        elif is_python_class(type(base)):
            interpreter.class_member(base, name)
        return True
    if path is not None:
        interpreter.recorder.record_absence((*path, (ATTRIBUTE_STEP, name)))
    elif is_python_class(type(base)):
        interpreter.class_member(base, name)
        interpreter.class_member(base, "__getattr__")
        if not is_implemented_in_c(member_of(type(base), "__getattr__")):
            interpreter.mark_opaque(f"the class {type(base).__name__} looks up `{name}` by code of its own")
    return False


def _attribute(base: Any, name: str) -> Any:
    try:
        return getattr(base, name)
    except AttributeError:
        return ABSENT


def read_attribute(interpreter: Interpreter, base: Any, path: Path | None, name: str) -> tuple[Any, Path | None]:
    """The attribute `name` of `base`, found at `path`, and its path if it is part of the user's world.

    Raises:
        CompileError: There is no such attribute.
    """
    if is_of_trace(base) or (type(base) is SymbolicSize and not hasattr(SymbolicSize, name)):
        base = plain(base)
    if is_library_tensor(base):
        if path is not None:
            interpreter.recorder.record_alias(base, path)
        base = interpreter.program_value(base)
        path = None if type(base) is ProxyTensor else path
    kind = type(base)
    if kind is SuperProxy:
        through: SuperProxy = base
        return through.attribute(interpreter, name)
    if path is not None:
        interpreter.recorder.record_alias(base, path)
        return _world_attribute(interpreter, base, path, name)
    if lacks_name(base, name):
        raise unsupported_function(name, interpreter.location())
    if kind in _PROGRAM_CLASSES or not (is_python_class(kind) or is_identity(base)) or is_atom(base):
        found = _tensor_attribute(interpreter, base, name) if kind is ProxyTensor else None
        return found or (interpreter.natively(getattr, base, name), None)
    if is_a(base, type, types.ModuleType, types.FunctionType) and not _is_constant(base):
        interpreter.mark_opaque(f"`{name}` of {base.__name__}, which no guard can find again")
        return interpreter.natively(getattr, base, name), None
    if is_identity(base) or not is_python_class(kind):
        return interpreter.natively(getattr, base, name), None
    return _instance_attribute(interpreter, base, name), None


def _tensor_attribute(interpreter: Interpreter, tensor: ProxyTensor, name: str) -> tuple[Any, Path | None] | None:
    """The class or an own attribute of a tensor as an object; None if its proxy answers."""
    return (
        (class_of(interpreter, tensor), None) if name == "__class__" else attribute_of_object(interpreter, tensor, name)
    )


_PROGRAM_CLASSES = (ProxyTensor, ProgramDevice)


def _is_constant(base: Any) -> bool:
    """Whether the attributes of a class cannot be set: a class that is written in C."""
    return is_a(base, type) and not is_python_class(base)


# --- Objects of the user's world ------------------------------------------------------------------------------------


def _world_attribute(interpreter: Interpreter, base: Any, path: Path, name: str) -> tuple[Any, Path | None]:
    kind = type(base)
    if lacks_name(base, name):
        raise unsupported_function(name, interpreter.location())
    if not is_a(base, type, types.ModuleType) and is_python_class(kind):
        getter = _getter(kind, base, name)
        if getter is not None:
            return _call_attribute_getter(interpreter, base, (*path, (TYPE_STEP, None)), name, getter), None
        if getter_has_effects(kind, name):
            interpreter.mark_opaque(f"`{name}` of a {kind.__name__} is computed by code with side effects")
            return interpreter.natively(getattr, base, name), None
    interpreter.recorder.record_class(base, path)
    table = table_of_attribute(base, name)
    at = (*path, (ATTRIBUTE_STEP, name)) if table is None else _within_module(interpreter, base, path, table, name)
    if _attribute(base, name) is ABSENT:
        interpreter.recorder.record_absence((*path, (ATTRIBUTE_STEP, name)))  # the program may catch that
    value = interpreter.natively(getattr, base, name)
    if type(value) is types.MethodType and value.__self__ is base:
        interpreter.recorder.use(value.__func__, (*at, (ATTRIBUTE_STEP, "__func__")))
        return value, None
    if not _is_stable(base, name, value):
        interpreter.mark_opaque(f"`{name}` of a {kind.__name__} is a new object at each look-up")
        return value, None
    return value, at


def _within_module(interpreter: Interpreter, module: Any, path: Path, table: str, name: str) -> Path:
    """The path of an attribute in a table of a torch module; records that nothing earlier in the look-up hides it."""
    interpreter.recorder.record_absence((*path, (TYPE_STEP, None), (ATTRIBUTE_STEP, name)))
    interpreter.recorder.record_missing_key((*path, (ATTRIBUTE_STEP, "__dict__")), name)
    interpreter.recorder.record_class(own_attribute(module, table), (*path, (ATTRIBUTE_STEP, table)))
    return *path, (ATTRIBUTE_STEP, table), (ITEM_STEP, name)


def _is_stable(base: Any, name: str, value: Any) -> bool:
    """Whether a guard that reads the attribute again can compare the value."""
    return is_atom(value) or is_a(value, types.MethodType, *_BOUND) or same_value(getattr(base, name), value)


_BOUND = (types.BuiltinFunctionType, types.MethodWrapperType)


def _getter(kind: type, base: Any, name: str) -> tuple[tuple[str, ...], Any] | None:
    """The Python function within the language that computes the attribute, and the steps to it from the class.

    None if there is none: the attribute is looked up natively.
    """
    if not is_implemented_in_c(member_of(kind, "__getattribute__")):
        return None
    found = member_of(kind, name)
    if is_a(found, property):
        return _if_interpretable((name, "fget"), found.fget)
    if is_a(found, functools.cached_property):
        return None  # its value stays cached in the object, where other code finds it
    getter = None if type(found) is types.FunctionType else python_member(type(found), "__get__")
    if getter is not None and (own_attribute(base, name) is ABSENT or _is_data_descriptor(found)):
        return _if_interpretable((name, "", "__get__"), getter)
    if found is ABSENT and own_attribute(base, name) is ABSENT:
        return _if_interpretable(("__getattr__",), python_member(kind, "__getattr__"))
    return None


def _is_data_descriptor(descriptor: Any) -> bool:
    return any(member_of(type(descriptor), name) is not ABSENT for name in ("__set__", "__delete__"))


def _if_interpretable(steps: tuple[str, ...], function: Any) -> tuple[tuple[str, ...], Any] | None:
    plain = type(function) is types.FunctionType and not is_of_a_library(function)
    return (steps, function) if plain and is_within_the_language(function) else None


_DESCRIPTOR_STEPS: dict[str, Step] = {"": (TYPE_STEP, None), "__get__": (MEMBER_STEP, "__get__")}


def _call_attribute_getter(
    interpreter: Interpreter, base: Any, class_path: Path, name: str, getter: tuple[tuple[str, ...], Any]
) -> Any:
    """The value of an attribute that a function of the user's computes."""
    recorder = interpreter.recorder
    (first, *rest), function = getter
    kind, path = type(base), recorder.path_of(base)
    at = recorder.record_member(class_path, kind, first, member_of(kind, first))
    if first == "__getattr__":
        recorder.record_member(class_path, kind, name, ABSENT)
        if path is not None:
            recorder.record_absence((*path, (OWN_STEP, name)))
        recorder.use(function, at)
        return interpreter.call_with(function, (base, name), {})
    if rest[-1] == "__get__" and path is not None and own_attribute(base, name) is ABSENT:
        recorder.record_absence((*path, (OWN_STEP, name)))  # an instance attribute would hide a non-data descriptor
    for step in rest:
        at = (*at, _DESCRIPTOR_STEPS.get(step, (ATTRIBUTE_STEP, step)))
    recorder.use(function, at)
    if rest[-1] == "fget":
        return interpreter.call_with(function, (base,), {})
    return interpreter.call_with(function, (member_of(kind, first), base, kind), {})


# --- Objects that the call's key covers, or that the program made ---------------------------------------------------


def _instance_attribute(interpreter: Interpreter, base: Any, name: str) -> Any:
    """The attribute of an object of known state; members of its class are recorded as read."""
    found = interpreter.class_member(base, name)
    kind = type(base)
    if not is_implemented_in_c(member_of(kind, "__getattribute__")):
        interpreter.mark_opaque(f"the class {kind.__name__} looks up attributes by code of its own")
        return interpreter.natively(getattr, base, name)
    class_path = interpreter.recorder.class_path_of(base)
    getter = _getter(kind, base, name)
    if getter is not None and class_path is not None:
        return _call_attribute_getter(interpreter, base, class_path, name, getter)
    if is_a(found, functools.cached_property) and own_attribute(base, name) is ABSENT:
        path = interpreter.recorder.path_of(found)
        interpreter.recorder.use(found.func, None if path is None else (*path, (ATTRIBUTE_STEP, "func")))
        return interpreter.call_with(found.func, (base,), {})
    if found is ABSENT and own_attribute(base, name) is ABSENT:
        interpreter.class_member(base, "__getattr__")
    if _runs_python(kind, found) and own_attribute(base, name) is ABSENT:
        interpreter.mark_opaque(f"`{name}` of a {kind.__name__} is computed by code that cannot be followed")
    return interpreter.natively(getattr, base, name)


def _runs_python(kind: type, found: Any) -> bool:
    if found is ABSENT:
        return not is_implemented_in_c(member_of(kind, "__getattr__"))
    if is_a(found, property):
        return True
    if is_a(found, classmethod):  # it calls `__get__` of the descriptor that it wraps
        return type(found.__func__) is not types.FunctionType
    return type(found) is not types.FunctionType and not is_implemented_in_c(member_of(type(found), "__get__"))


# --- super() --------------------------------------------------------------------------------------------------------


class SuperProxy:
    """The value of ``super()`` in a method: the classes after `cls` in the method resolution order of `instance`."""

    def __init__(self, cls: type, instance: Any) -> None:
        self._cls = cls
        self._instance = instance

    def attribute(self, interpreter: Interpreter, name: str) -> tuple[Any, Path | None]:
        """The attribute `name` of the first class that has it, bound to the instance.

        Raises:
            CompileError: No class has it.
        """
        instance = self._instance
        of_class = is_a(instance, type)
        kind = instance if of_class else type(instance)
        recorder = interpreter.recorder
        class_path = recorder.path_of(instance) if of_class else recorder.class_path_of(instance)
        if class_path is None:
            interpreter.mark_opaque(
                f"`{kind.__name__}`, the class of an object, was not found by a name or an attribute"
            )
        for index, holder in self._classes_after(kind):
            member = vars(holder).get(name, ABSENT)
            at = None if class_path is None else (*class_path, (ATTRIBUTE_STEP, "__mro__"), (ITEM_STEP, index))
            if member is not ABSENT:
                return self._bound(interpreter, member, name, None if at is None else (*at, (OWN_STEP, name))), None
            if is_python_class(holder) and at is not None:
                recorder.record_absence((*at, (OWN_STEP, name)))
        raise CompileError(f"AttributeError: 'super' object has no attribute '{name}'", location=interpreter.location())

    def _classes_after(self, kind: type) -> Iterator[tuple[int, type]]:
        order = kind.__mro__
        first = order.index(self._cls) + 1
        return ((index, order[index]) for index in range(first, len(order)))

    def _bound(self, interpreter: Interpreter, member: Any, name: str, at: Path | None) -> Any:
        interpreter.recorder.use(member, at)
        if isinstance(member, types.FunctionType) or wrapped_attribute(member) is not None:
            return member if is_a(self._instance, type) else types.MethodType(member, self._instance)
        if isinstance(member, property) and isinstance(member.fget, types.FunctionType):
            interpreter.recorder.use(member.fget, None if at is None else (*at, (ATTRIBUTE_STEP, "fget")))
            return interpreter.call_with(member.fget, (self._instance,), {})
        value = interpreter.natively(getattr, super(self._cls, self._instance), name)
        if is_a(member, classmethod) and type(value) is types.MethodType and at is not None:
            interpreter.recorder.use(value.__func__, (*at, (ATTRIBUTE_STEP, "__func__")))
        return value
