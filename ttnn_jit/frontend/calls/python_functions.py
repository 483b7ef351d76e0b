"""The table of Python's functions that a compiled function may call, with the rule by which each is computed.

Functions outside the table are refused, or interpreted if they are written in Python. `compute` computes those in it. A
handler, if the row has one, calls the methods of values that Python would call, so that the user's code is interpreted.
Otherwise C computes, and guards cover what it reads: the items of native containers. If C would call operators of the
user's objects, the guard repeats the computation and compares; if a guard cannot, the program is opaque.
"""

from __future__ import annotations

import cmath
import collections
import copy
import enum
import functools
import itertools
import math
import operator
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ttnn_jit.foreign.library_values import is_library_value_class
from ttnn_jit.foreign.numpy_scalar import is_numpy_scalar_class
from ttnn_jit.foreign.values import has_member, is_a, is_atom, native_class, native_contents
from ttnn_jit.frontend.calls import builtin_functions, generator_methods, object_copies
from ttnn_jit.frontend.plain_numbers import is_traced
from ttnn_jit.frontend.python import attributes, containers, special_methods
from ttnn_jit.frontend.python.assignment import object_setattr, set_attribute
from ttnn_jit.frontend.python.containers import Purity, materialised
from ttnn_jit.frontend.python.extents_in_calls import arguments_for, arguments_of_method, implementation_of
from ttnn_jit.frontend.python.interpreter import Interpreter
from ttnn_jit.frontend.python.language import VALUE_MODULES
from ttnn_jit.frontend.python.side_effects import special_methods_have_effects
from ttnn_jit.frontend.python.special_methods import ARITHMETIC, COMPARISONS, NATIVE, Handler, may_compute
from ttnn_jit.frontend.reads.read_recorder import is_bound_builtin
from ttnn_jit.frontend.tensors.proxy import ProxyTensor
from ttnn_jit.guards.fingerprints import is_plain_dataclass
from ttnn_jit.process.dataclass import dataclass, replace


@dataclass(frozen=True)
class BuiltinRule:
    """The rule by which a builtin, a function written in C, is computed.

    Attributes:
        handler: Its implementation in the interpreter, which may return NATIVE to leave the call to C; None: C only.
        forwards: C forwards items and calls no method of them; callbacks among the arguments are interpreted.
        concatenates: C forwards items if the operands are native containers.
        changes: It is a method that changes its container.
    """

    handler: Handler | None = None
    forwards: bool = False
    concatenates: bool = False
    changes: bool = False


_C = BuiltinRule()
_FORWARDS = BuiltinRule(forwards=True)


# --- The table ------------------------------------------------------------------------------------------------------


def _functions() -> dict[Any, BuiltinRule]:
    table: dict[Any, BuiltinRule] = dict.fromkeys((*_public(math), *_public(cmath), *_public(operator)), _C)
    table |= dict.fromkeys((bin, bytes, chr, hex, oct, ord, range, type), _C)
    table |= dict.fromkeys((collections.OrderedDict, collections.defaultdict, collections.deque), _FORWARDS)
    table |= dict.fromkeys(_FORWARDING, _FORWARDS)
    for function, handler in _handlers().items():
        table[function] = replace(table.get(function, _C), handler=handler)
    for function in (operator.add, operator.mul, operator.iadd, operator.imul):
        table[function] = replace(table[function], concatenates=True)
    return table


def _public(module: types.ModuleType) -> Iterator[Any]:
    return (value for name, value in vars(module).items() if callable(value) and not name.startswith("_"))


_FORWARDING = (
    bool, operator.truth, list, tuple, enumerate, zip, map, filter, reversed, iter, len, slice, callable,
    functools.reduce, operator.delitem, itertools.accumulate, itertools.chain,
    itertools.combinations, itertools.compress, itertools.dropwhile, itertools.filterfalse, itertools.islice,
    itertools.pairwise, itertools.permutations, itertools.product, itertools.starmap, itertools.takewhile,
    itertools.zip_longest,
)  # fmt: skip


_PREDICATES = (filter, itertools.filterfalse, itertools.takewhile, itertools.dropwhile)
"""Functions whose first argument is a predicate."""


def _handlers() -> dict[Any, Handler]:
    return _named_handlers() | _of_special_methods() | _of_operators() | _of_iterables()


def _named_handlers() -> dict[Any, Handler]:
    of, text = builtin_functions, special_methods.text
    return {
        getattr: attributes.attribute_by_name, hasattr: attributes.has_attribute, setattr: set_attribute,
        type: containers.type_of,
        isinstance: of.class_check(isinstance, "__instancecheck__"),
        issubclass: of.class_check(issubclass, "__subclasscheck__"),
        bool: special_methods.truth, operator.truth: special_methods.truth, operator.not_: special_methods.negation,
        operator.is_: special_methods.same, operator.is_not: special_methods.not_same,
        operator.getitem: containers.get_item, operator.setitem: containers.set_item,
        operator.delitem: containers.del_item,
        operator.contains: containers.contains, operator.index: special_methods.index,
        iter: containers.iterator, next: containers.next_item,
        sum: of.total, any: of.any_or_all(True), all: of.any_or_all(False), sorted: of.sorted_items,
        max: of.min_or_max(operator.gt), min: of.min_or_max(operator.lt),
        functools.partial: of.made_partial, dict: of.dict_of, set: of.set_of(set), frozenset: of.set_of(frozenset),
        format: text(format, "__format__", "__str__", "__repr__"), str: text(str, "__str__", "__repr__"),
        repr: text(repr, "__repr__"),
        copy.copy: object_copies.shallow_copy, copy.deepcopy: object_copies.deep_copy,
        pow: special_methods.power, divmod: special_methods.binary("__divmod__", "__rdivmod__", "divmod()"),
        **{function: of.with_predicate(function) for function in _PREDICATES}, itertools.compress: of.selected,
        itertools.starmap: of.starmapped, itertools.accumulate: of.accumulated, itertools.groupby: of.grouped,
    }  # fmt: skip


def _of_special_methods() -> dict[Any, Handler]:
    names: dict[Callable[..., Any], list[str]] = {
        len: ["__len__"], abs: ["__abs__"], round: ["__round__"], reversed: ["__reversed__"],
        float: ["__float__", "__index__"], int: ["__int__", "__index__", "__trunc__"],
        complex: ["__complex__", "__float__", "__index__"],
        operator.neg: ["__neg__"], operator.pos: ["__pos__"], operator.invert: ["__invert__"],
        math.floor: ["__floor__", "__float__", "__index__"], math.ceil: ["__ceil__", "__float__", "__index__"],
        math.trunc: ["__trunc__"],
    }  # fmt: skip
    return {function: special_methods.unary(function, *methods) for function, methods in names.items()}


def _of_operators() -> dict[Any, Handler]:
    table: dict[Any, Handler] = {}
    for name, symbol in ARITHMETIC.items():
        plain, in_place = getattr(operator, name), f"__i{name[2:]}"
        updating = getattr(operator, in_place)
        table[plain] = special_methods.binary(name, f"__r{name[2:]}", symbol)
        table[updating] = special_methods.in_place(in_place, updating, plain)
    for name, (swapped, symbol) in COMPARISONS.items():
        table[getattr(operator, name)] = special_methods.binary(name, swapped, symbol)
    return table


def _of_iterables() -> dict[Any, Handler]:
    callbacks = (map, functools.reduce)
    iterables = (
        list,
        tuple,
        collections.deque,
        enumerate,
        zip,
        itertools.chain,
        itertools.islice,
        itertools.pairwise,
        itertools.product,
    )
    table: dict[Any, Handler] = {function: builtin_functions.with_callback(function) for function in callbacks}
    return table | {function: builtin_functions.iterating(function) for function in iterables}


FUNCTIONS = _functions()
"""The rules of builtin functions and classes, by the objects themselves."""

_IDS = frozenset(map(id, FUNCTIONS))

_CHANGES = BuiltinRule(changes=True)
_CHANGING = ("__init__", "clear", "extend", "extendleft", "pop", "popitem", "popleft", "reverse", "rotate")
METHODS: dict[str, BuiltinRule] = {
    **dict.fromkeys(("__iter__", "__len__", "__reversed__", "copy", "items", "keys", "values"), _FORWARDS),
    **dict.fromkeys(_CHANGING, BuiltinRule(forwards=True, changes=True)),
    **dict.fromkeys(("__delitem__", "__iadd__", "__iand__", "__imul__", "__ior__", "__isub__", "__ixor__"), _CHANGES),
    **dict.fromkeys(("__missing__", "add", "difference_update", "discard", "move_to_end"), _CHANGES),
    **dict.fromkeys(("intersection_update", "remove", "setdefault", "symmetric_difference_update"), _CHANGES),
    "__contains__": BuiltinRule(containers.native_contains),
    "__getitem__": BuiltinRule(containers.get_native_item),
    "__setattr__": BuiltinRule(object_setattr),
    "__setitem__": BuiltinRule(containers.set_item, changes=True),
    "append": BuiltinRule(builtin_functions.append_method("append"), changes=True),
    "appendleft": BuiltinRule(builtin_functions.append_method("appendleft"), changes=True),
    "count": BuiltinRule(containers.count),
    "get": BuiltinRule(containers.get),
    "index": BuiltinRule(containers.index),
    "close": BuiltinRule(generator_methods.close),
    "send": BuiltinRule(generator_methods.send),
    "throw": BuiltinRule(generator_methods.throw),
    "insert": BuiltinRule(builtin_functions.insert, changes=True),
    "sort": BuiltinRule(builtin_functions.sort, changes=True),
    "update": BuiltinRule(builtin_functions.update, changes=True),
}
"""The rules of methods of native values, by name; a handler gets the object first."""

_VALUES = (
    bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, collections.deque, range, slice,
    types.GeneratorType,
)  # fmt: skip
"""Types whose methods may all be called."""


def is_pure(function: Any) -> bool:
    """Whether `function`, a part of Python or a value type of this package, may be called at compile time."""
    if is_a(function, type):
        return _is_pure_class(function)
    if type(function) is types.FunctionType:
        return function.__module__ in VALUE_MODULES or id(function) in _IDS
    if is_a(function, types.BuiltinFunctionType, types.MethodWrapperType):
        owner = getattr(function, "__self__", None)
        if owner is None or is_a(owner, types.ModuleType):
            return function in FUNCTIONS
        return (
            is_a(owner, *_VALUES) or id(owner) in _IDS
        )  # by id, because the metaclass of a class may define comparisons
    if is_a(function, types.MethodDescriptorType, types.WrapperDescriptorType):
        return function.__objclass__ in _VALUES or function is object.__setattr__
    return False


def _is_pure_class(cls: type) -> bool:
    """Whether making an instance of `cls` runs no code of the user's."""
    if id(cls) in _IDS or cls.__module__ in VALUE_MODULES or is_numpy_scalar_class(cls):
        return True
    if is_library_value_class(cls):
        return True
    named_tuple = issubclass(cls, tuple) and has_member(cls, "_fields") and cls.__bases__ == (tuple,)
    return named_tuple or is_plain_dataclass(cls) or issubclass(cls, (enum.Enum, BaseException))


# --- Calls ----------------------------------------------------------------------------------------------------------

_QUERIES = frozenset({operator.is_, operator.is_not, type, hasattr, getattr})
"""Functions that C would answer for the proxy instead of the tensor."""

_SIMPLE = frozenset({ProxyTensor, bool, int, float, str, type(None)})


def compute(
    interpreter: Interpreter, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """The result of `function`, a part of Python.

    Raises:
        CompileError: The function raised; the text is Python's.
    """
    bound = is_bound_builtin(function)
    if is_traced() and not bound:
        args, kwargs = arguments_for(function, args, kwargs)
        if (implementation := implementation_of(function, args)) is not function:
            return interpreter.natively(implementation, *args)
    if not (bound or kwargs) and _SIMPLE.issuperset(map(type, args)) and function not in _QUERIES:
        return interpreter.natively(function, *args)
    if bound:
        return _method(interpreter, function, (function.__self__, *args), kwargs)  # type: ignore[attr-defined]
    if is_a(function, types.MethodDescriptorType, types.WrapperDescriptorType):
        return _method(interpreter, function, args, kwargs)
    value = _handled(FUNCTIONS.get(function, _C), interpreter, args, kwargs)
    return compute_in_c(interpreter, function, args, kwargs) if value is NATIVE else value


def _handled(rule: BuiltinRule, interpreter: Interpreter, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    if rule.handler is None:
        return NATIVE
    try:
        return rule.handler(interpreter, *args, **kwargs)
    except TypeError as error:
        called = error.__traceback__ is not None and error.__traceback__.tb_next is not None
        if called:
            raise
        return NATIVE  # the arguments do not fit the signature: C raises the error


def _method(interpreter: Interpreter, method: Any, values: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of a builtin method on the first of `values`, regardless of overrides in that object's class."""
    if is_traced():
        values, kwargs = arguments_of_method(method.__name__, values, kwargs)
    rule = METHODS.get(method.__name__, _C)
    if (
        rule.changes
        and values
        and is_a(values[0], list, dict, set, collections.deque)
        and interpreter.recorder.is_foreign(values[0])
    ):
        interpreter.refuse_change(
            f"`{method.__name__}` would change a {type(values[0]).__name__} from outside the function",
            "make a copy of it first, or return the new value",
        )
    value = _handled(rule, interpreter, values, kwargs) if values else NATIVE
    if value is not NATIVE:
        return value
    owner, others = values[:1], values[1:]
    if not rule.forwards:
        others = [materialised(interpreter, value) for value in others]
    args = others if is_bound_builtin(method) else [*owner, *others]
    others = [*others, *kwargs.values()]
    if any(map(may_compute, owner)) and _dispatches_on_class(method):
        interpreter.mark_opaque(
            f"`{method.__name__}` of a {type(values[0]).__name__} runs code that cannot be followed"
        )
        return interpreter.natively(method, *args, **kwargs)
    purity = Purity(interpreter)
    allowed = purity.is_pure_to_iterate if rule.forwards else purity.is_pure
    pure = all(map(purity.is_pure_receiver, owner)) and all(map(allowed, others))
    if pure and (rule.forwards or all(map(purity.is_pure, _items(owner)))):
        purity.record_containers(forwards=rule.forwards and not rule.changes)
    else:
        interpreter.mark_opaque(f"`{method.__name__}` runs code that cannot be followed")
    return interpreter.natively(method, *args, **kwargs)


def _dispatches_on_class(method: Any) -> bool:
    """Whether a builtin method calls other special methods of its object, as methods of `object` do."""
    return getattr(method, "__objclass__", None) is object or method.__name__ in _DISPATCHING_METHODS


_DISPATCHING_METHODS = frozenset(
    {"__getattribute__", "__format__", "__reduce__", "__reduce_ex__", "__dir__", "__getstate__"}
)


def _items(owner: Sequence[Any]) -> Iterator[Any]:
    return (item for value in owner if native_class(type(value)) for item in native_contents(value))


def compute_in_c(
    interpreter: Interpreter, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """The result of a function computed in C; what C reads is recorded, or the guard repeats the call."""
    if is_traced():
        args, kwargs = arguments_for(function, args, kwargs)
    rule = FUNCTIONS.get(function, _C)
    forwards = rule.forwards or (rule.concatenates and not any(map(may_compute, args)))
    if not forwards:
        args = [materialised(interpreter, value) for value in args]
    purity = Purity(interpreter)
    values = [*args, *kwargs.values()]
    allowed = purity.is_pure_to_iterate if forwards else purity.is_pure
    if all(map(allowed, values)):
        purity.record_containers(forwards=forwards)
        return interpreter.natively(function, *args, **kwargs)
    blamed = next(value for value in values if not Purity(interpreter).is_pure(value))
    name = getattr(function, "__name__", type(function).__name__)
    what = f"`{name}` of a {type(blamed).__name__} runs code that cannot be followed"
    if kwargs or not interpreter.recorder.can_call(function, args) or any(map(special_methods_have_effects, values)):
        interpreter.mark_opaque(what)
        return interpreter.natively(function, *args, **kwargs)
    result = interpreter.natively(function, *args)
    if not (is_atom(result) or interpreter.natively(function, *args) is result):
        interpreter.mark_opaque(f"{what}, and returns a new object at each call")
    else:
        interpreter.recorder.record_call(function, args, result)
    return result
