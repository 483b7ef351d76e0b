"""Instances of dataclasses that bring code of the user's: ``__post_init__``, and what makes the default of a field."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.origin import is_of_the_standard_library, is_of_this_package
from ttnn_jit.foreign.values import has_member, member_of, python_member
from ttnn_jit.frontend.python.interpreter import Interpreter

_FROM_FACTORY = dataclasses._HAS_DEFAULT_FACTORY  # type: ignore[attr-defined]  # what `__init__` has as default then

GENERATED = "<string>"
"""The file of methods that `dataclasses` wrote."""


def has_generated_init(cls: type) -> bool:
    """Whether `dataclasses` wrote what makes an instance of `cls`, whose class makes and keeps it as `object` does."""
    maker, writer = python_member(cls, "__init__"), python_member(cls, "__setattr__")
    return (
        has_member(cls, "__dataclass_fields__")
        and maker is not None
        and maker.__code__.co_filename == GENERATED
        and (writer is None or writer.__code__.co_filename == GENERATED)
        and member_of(type(cls), "__call__") is vars(type)["__call__"]
        and member_of(cls, "__new__") is vars(object)["__new__"]
        and not (is_of_the_standard_library(cls) or is_of_this_package(cls))
    )


def dataclass_instance(interpreter: Interpreter, cls: type, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What the ``__init__`` that `dataclasses` wrote makes: field by field, then ``__post_init__``."""
    made: Any = interpreter.natively(object.__new__, cls)
    interpreter.made[id(made)] = made
    maker = interpreter.class_member(made, "__init__")
    interpreter.recorder.use_function(maker)
    try:
        bound = inspect.signature(maker).bind(made, *args, **kwargs)
    except TypeError:
        return interpreter.natively(cls, *args, **kwargs)  # it says what is wrong
    bound.apply_defaults()
    own = {field.name for field in dataclasses.fields(cls)}
    passed_on = []
    for field in cls.__dataclass_fields__.values():  # type: ignore[attr-defined]
        is_passed_on = field._field_type.name == "_FIELD_INITVAR"
        if field.name not in own and not is_passed_on:
            continue  # of the class
        value = bound.arguments.get(field.name, _FROM_FACTORY)
        if value is not _FROM_FACTORY:
            pass
        elif field.default_factory is not dataclasses.MISSING:
            value = interpreter.call_with(field.default_factory, (), {})
        elif field.default is not dataclasses.MISSING and "__slots__" in vars(cls):
            value = field.default
        else:
            continue  # what the class has, or what `__post_init__` gives it
        if is_passed_on:
            passed_on.append(value)
        else:
            object.__setattr__(made, field.name, value)
    if has_member(cls, "__post_init__"):
        interpreter.call_with(interpreter.class_member(made, "__post_init__"), (made, *passed_on), {})
    return made
