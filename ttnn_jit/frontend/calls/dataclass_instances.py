"""Instances of dataclasses with code of the user's: ``__post_init__`` and default factories."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.origin import is_of_the_standard_library, is_of_this_package
from ttnn_jit.foreign.values import has_member, member_of, python_member
from ttnn_jit.frontend.python.interpreter import Interpreter

_FROM_FACTORY = dataclasses._HAS_DEFAULT_FACTORY  # type: ignore[attr-defined]  # the default of the parameter in `__init__`

GENERATED = "<string>"
"""The file name of methods that `dataclasses` generates."""


def has_generated_init(cls: type) -> bool:
    """Whether `dataclasses` generated the ``__init__`` of `cls`, and its other construction is that of `object`."""
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
    """A new instance by the generated ``__init__``: field by field, then ``__post_init__``."""
    made: Any = interpreter.natively(object.__new__, cls)
    interpreter.made_objects[id(made)] = made
    maker = interpreter.class_member(made, "__init__")
    interpreter.recorder.use_function(maker)
    try:
        bound = inspect.signature(maker).bind(made, *args, **kwargs)
    except TypeError:
        return interpreter.natively(cls, *args, **kwargs)  # raises Python's TypeError
    bound.apply_defaults()
    own = {field.name for field in dataclasses.fields(cls)}
    init_only = []
    for field in cls.__dataclass_fields__.values():  # type: ignore[attr-defined]
        is_init_only = field._field_type.name == "_FIELD_INITVAR"
        if field.name not in own and not is_init_only:
            continue  # a class variable
        value = bound.arguments.get(field.name, _FROM_FACTORY)
        if value is not _FROM_FACTORY:
            pass
        elif field.default_factory is not dataclasses.MISSING:
            value = interpreter.call_with(field.default_factory, (), {})
        elif field.default is not dataclasses.MISSING and "__slots__" in vars(cls):
            value = field.default
        else:
            continue  # the class has the default, or `__post_init__` sets it
        if is_init_only:
            init_only.append(value)
        else:
            object.__setattr__(made, field.name, value)
    if has_member(cls, "__post_init__"):
        interpreter.call_with(interpreter.class_member(made, "__post_init__"), (made, *init_only), {})
    return made
