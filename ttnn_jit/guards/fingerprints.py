"""Fingerprints of values and code: names that are equal in every process."""

from __future__ import annotations

import dataclasses
import enum
import operator
import reprlib
import struct
import sys
import types
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator
from functools import _lru_cache_wrapper, lru_cache, partial
from typing import Any, TypeAlias

from ttnn_jit.diagnostics.origin import THIS_PACKAGE, is_of_this_package, library_of
from ttnn_jit.foreign.container_items import is_named_tuple
from ttnn_jit.foreign.numpy_scalar import is_numpy_function, is_numpy_scalar
from ttnn_jit.foreign.values import (
    ABSENT,
    NoStableIdentityError,
    has_member,
    is_a,
    is_atom,
    is_operation,
    member_of,
    own_attribute,
    plain_scalar,
)


def code_identity(code: types.CodeType) -> tuple[Any, ...]:
    """All parts of a code object that determine its behaviour, nested code included; not its file name and lines."""
    return (
        code.co_code,
        code.co_exceptiontable,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        code.co_name,
        tuple(_constant_identity(constant) for constant in code.co_consts),
    )


def _constant_identity(constant: Any) -> tuple[Any, ...]:
    match constant:
        case types.CodeType():
            return ("code", *code_identity(constant))
        case tuple():
            return ("tuple", *map(_constant_identity, constant))
        case frozenset():
            return ("frozenset", *sorted(map(_constant_identity, constant), key=repr))
        case float():
            return ("float", struct.pack("<d", constant))
        case complex():
            return ("complex", struct.pack("<dd", constant.real, constant.imag))
        case _:
            # With the name of the type: 1, True and 1.0 are equal and not the same.
            return (type(constant).__name__, repr(constant))


@lru_cache(maxsize=1024)
def fingerprint_code(code: types.CodeType) -> str:
    """A hash of the behaviour of a code object: equal in every process of one Python version, for any file and line.

    The cache is sound because code objects are equal only if all parts of `code_identity` are.
    """
    import hashlib

    return hashlib.sha256(repr(code_identity(code)).encode()).hexdigest()


# --- Fingerprints ---------------------------------------------------------------------------------------------------


def fingerprint(value: Any) -> str:
    """A text that identifies `value` in every process.

    It consists of the code and defaults of functions, recursively; the names of operations and modules; the types and
    bits of scalars; the items of containers; the class and fields of enum members and frozen dataclasses.

    Raises:
        NoStableIdentityError: The value is of a kind that has no identity in another process.
    """
    return "".join(_pieces(value, frozenset()))


def read_fingerprint(value: Any) -> str:
    """A text that identifies a value that a compile read, without what it read through that value.

    An object is identified by its class and a function by its name: reads of their attributes and code have
    fingerprints of their own.

    Raises:
        NoStableIdentityError: The value contains an atom of a kind that has no identity in another process.
    """
    return _leaf(value, _object_name) or "".join(_pieces(value, frozenset(), _object_name))


def _object_name(value: Any) -> str | None:  # noqa: PLR0911 - one line for each kind of object
    """The name of an object of which only the identity was read; None for a value that `fingerprint` identifies."""
    kind = type(value)
    if is_operation(value) or is_numpy_function(value):
        return None  # the fingerprint is its public name
    if is_a(value, *_NAMED):
        return f"{kind.__name__}:{getattr(value, '__module__', '')}.{value.__qualname__}"
    if is_a(value, types.ModuleType):
        return f"module:{value.__name__}"
    if is_atom(value) or kind in {list, dict, set, tuple, frozenset, types.CodeType}:
        return None
    if issubclass(kind, enum.Enum):
        held = own_attribute(value, "_value_")
        member_value = fingerprint(held) if is_atom(held) else ""
        return f"member:{_class_name(kind)}.{own_attribute(value, '_name_')}={member_value}"
    if kind in _IDENTIFIED_BY_ARGUMENTS:
        return f"{_class_name(kind)}:{read_fingerprint(value.__reduce__()[1:])}"
    if issubclass(kind, (int, float, str)) and kind not in {int, float, str, bool}:
        return f"{_class_name(kind)}:{fingerprint(plain_scalar(value))}"
    if issubclass(kind, type):
        return f"class:{type.__dict__['__module__'].__get__(value)}.{value.__qualname__}"
    return f"object:{_class_name(kind)}"


_IDENTIFIED_BY_ARGUMENTS = frozenset({
    operator.attrgetter, operator.itemgetter, operator.methodcaller, type(vars(namedtuple("_One", "field"))["field"]),
})  # fmt: skip
"""Callable objects implemented in C whose ``__reduce__`` gives their arguments."""

_NAMED = (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)


def _pieces(
    value: Any, above: frozenset[int], object_name: Callable[[Any], str | None] = lambda _: None
) -> Iterator[str]:
    if id(value) in above:
        yield "<cycle>"
        return
    leaf = _leaf(value, object_name)
    if leaf is not None:
        yield leaf
        return
    label, parts = next((split(value) for belongs, split in _COMPOUNDS if belongs(value)), (None, ()))
    if label is None:
        raise NoStableIdentityError(f"{_class_name(type(value))} has no identity that another process could recognise")
    yield f"{label}("
    for part in parts:
        yield from _pieces(part, above | {id(value)}, object_name)
        yield ","
    yield ")"


def _leaf(value: Any, object_name: Callable[[Any], str | None]) -> str | None:
    """The fingerprint of a value without parts."""
    by_type = _NAME_BY_TYPE.get(type(value))
    if by_type is not None:
        return by_type(value)
    return object_name(value) or next((name(value) for belongs, name in _LEAVES if belongs(value)), None)


def _class_name(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _is_exactly(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: type(value) in kinds


def _is_a(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: is_a(value, *kinds)


def _has_own(attribute: str) -> Callable[[Any], bool]:
    return lambda value: not is_a(value, type) and own_attribute(value, attribute) is not ABSENT


def _is_module_function(value: Any) -> bool:
    return type(value) is types.BuiltinFunctionType and is_a(value.__self__, types.ModuleType)


_LIBRARIES = (sys.stdlib_module_names | {THIS_PACKAGE}) - {"__main__"}


def _is_library_class(value: Any) -> bool:
    """Whether a class belongs to Python or this package; a user may edit a class and keep its name."""
    return is_a(value, type) and library_of(value) in _LIBRARIES


def _is_named_tuple(value: Any) -> bool:
    return is_a(value, type) and value.__bases__ == (tuple,) and has_member(value, "_field_defaults")


def is_plain_dataclass(cls: Any) -> bool:
    """Whether instances of `cls` are made by generated code of `dataclasses` alone."""
    made_by_python = has_member(cls, "__dataclass_fields__") and not has_member(cls, "__post_init__")
    if not made_by_python or cls.__new__ is not object.__new__:
        return False
    generated = [cls.__init__] + ([cls.__setattr__] if cls.__setattr__ is not object.__setattr__ else [])
    factories: set[Any] = {field.default_factory for field in dataclasses.fields(cls)} - {dataclasses.MISSING}
    return all(
        isinstance(method, types.FunctionType) and method.__code__.co_filename == "<string>" for method in generated
    ) and factories <= {list, dict, set}


_WRITTEN_BY_DATACLASSES = {"<string>", dataclasses.__file__, reprlib.__file__}


def _is_plain_dataclass_type(value: Any) -> bool:
    """Whether a class is a dataclass without code of the user's, which could change under the same name."""
    if not is_a(value, type) or not is_plain_dataclass(value):
        return False
    members = [member for cls in value.__mro__[:-1] for member in vars(cls).values()]
    functions = [member for member in members if isinstance(member, types.FunctionType)]
    return not any(isinstance(member, (property, classmethod, staticmethod)) for member in members) and all(
        function.__code__.co_filename in _WRITTEN_BY_DATACLASSES for function in functions
    )


def _dataclass_parts(cls: Any) -> list[Any]:
    """All that determines the fields of an instance of a plain dataclass."""
    parts: list[Any] = [repr(cls.__dataclass_params__)]
    for field in dataclasses.fields(cls):
        default = "no default" if field.default is dataclasses.MISSING else field.default
        factory = "no factory" if field.default_factory is dataclasses.MISSING else field.default_factory
        parts += [field.name, field.init, default, factory]
    return parts


def _is_frozen_dataclass(value: Any) -> bool:
    parameters: Any = member_of(type(value), "__dataclass_params__")
    return parameters is not ABSENT and bool(parameters.frozen)


_Predicate: TypeAlias = Callable[[Any], bool]

_NAME_BY_TYPE: dict[type, Callable[[Any], str]] = {
    **dict.fromkeys((type(None), bool, type(ABSENT), range, type(...), type(NotImplemented)), repr),
    **dict.fromkeys((int, str, bytes), lambda value: f"{type(value).__name__}:{value!r}"),
    float: lambda value: f"float:{struct.pack('>d', value).hex()}",
    complex: lambda value: f"complex:{struct.pack('>dd', value.real, value.imag).hex()}",
    types.CodeType: lambda value: f"code:{fingerprint_code(value)}",
}
"""The fingerprint of an instance of exactly that type."""

_LEAVES: tuple[tuple[_Predicate, Callable[[Any], str]], ...] = (
    (is_numpy_scalar, lambda value: f"{_class_name(type(value))}:{value.tobytes().hex()}"),
    (is_numpy_function, lambda value: f"function:numpy.{value.__name__}"),
    (_is_a(types.ModuleType), lambda value: f"module:{value.__name__}"),
    (_is_library_class, lambda value: f"type:{_class_name(value)}"),
    (_is_module_function, lambda value: f"function:{_class_name(value)}"),
    (_has_own("__ttnn_overloads__"), lambda value: f"operation:{value.__name__}"),
)
"""The fingerprint of any other value without parts."""

_COMPOUNDS: tuple[tuple[_Predicate, Callable[[Any], tuple[str, Iterable[Any]]]], ...] = (
    (_is_a(enum.Enum), lambda value: (f"{_class_name(type(value))}.{value.name}", (value.value,))),
    (_is_a(enum.EnumMeta), lambda value: (f"type:{_class_name(value)}", list(value))),
    (_is_named_tuple, lambda value: (f"type:{_class_name(value)}", (value._fields, value._field_defaults))),
    (_is_plain_dataclass_type, lambda value: (f"type:{_class_name(value)}", _dataclass_parts(value))),
    (is_named_tuple, lambda value: (_class_name(type(value)), (type(value)._fields, tuple(value)))),
    (_is_exactly(slice), lambda value: ("slice", (value.start, value.stop, value.step))),
    (_is_exactly(tuple, list), lambda value: (type(value).__name__, value)),
    (_is_exactly(set, frozenset), lambda value: (type(value).__name__, sorted(map(fingerprint, value)))),
    (_is_exactly(dict), lambda value: ("dict", [part for pair in value.items() for part in pair])),
    (_is_a(types.FunctionType), lambda f: ("function", (f.__code__, f.__defaults__, f.__kwdefaults__))),
    (_is_a(types.MethodType), lambda value: ("method", (value.__func__, value.__self__))),
    (_is_a(partial), lambda value: ("partial", (value.func, value.args, value.keywords))),
    (_has_own("__ttnn_jit_wrapped__"), lambda value: ("jit", (value.__ttnn_jit_wrapped__,))),
    (_is_a(_lru_cache_wrapper), lambda value: ("cached", (value.__wrapped__,))),
    # The value types of the host API have a complete and deterministic repr.
    (is_of_this_package, lambda value: (_class_name(type(value)), (repr(value),))),
    (
        _is_frozen_dataclass,
        lambda value: (_class_name(type(value)), [getattr(value, f.name) for f in dataclasses.fields(type(value))]),
    ),
)
"""The label and the parts of a value that has parts."""
