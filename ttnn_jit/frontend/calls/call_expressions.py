"""Calls in the interpreter: a call writes an operation, inlines a function, or computes with Python."""

from __future__ import annotations

import ast
import enum
import functools
import operator
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError, UnsupportedFunction
from ttnn_jit.diagnostics.origin import is_of_a_library, is_of_the_standard_library, is_of_this_package
from ttnn_jit.foreign.numpy_scalar import is_numpy_function, is_numpy_scalar, is_numpy_scalar_class
from ttnn_jit.foreign.torch_modules import is_called_by_torch
from ttnn_jit.foreign.values import ABSENT, is_atom, is_implemented_in_c, member_of, own_attribute, python_member
from ttnn_jit.frontend.calls.cached_functions import call_cached, may_be_cached
from ttnn_jit.frontend.calls.code_scan import scan_value
from ttnn_jit.frontend.calls.dataclass_instances import GENERATED, dataclass_instance, has_generated_init
from ttnn_jit.frontend.calls.messages import is_message, show
from ttnn_jit.frontend.calls.python_functions import is_pure
from ttnn_jit.frontend.plain_numbers import plain
from ttnn_jit.frontend.python.attributes import SuperProxy
from ttnn_jit.frontend.python.contexts import GeneratorContext, is_context_function
from ttnn_jit.frontend.python.frame import Frame, local_names_of, parameter_names
from ttnn_jit.frontend.python.interpreter import Interpreter
from ttnn_jit.frontend.python.language import is_namespace_function
from ttnn_jit.frontend.python.parameters import bind_parameters
from ttnn_jit.frontend.python.wrapped_functions import TILE_FUNCTION, wrapped_attribute
from ttnn_jit.frontend.reads.function_source import SourceError, function_source
from ttnn_jit.frontend.reads.read_recorder import is_bound_builtin
from ttnn_jit.frontend.tensors.movement_methods import movement_function
from ttnn_jit.frontend.tensors.program_device import ProgramDevice
from ttnn_jit.frontend.tensors.proxy import ProxyTensor
from ttnn_jit.frontend.unsupported import foreign_function_help, unsupported_function
from ttnn_jit.guards.reads import ATTRIBUTE_STEP
from ttnn_jit.ops import SYNONYMS, Number, overloads_of
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True, eq=False)
class InterpretedFunction:
    """A function or lambda that the program itself defines: its syntax tree, and the enclosing activation."""

    interpreter: Interpreter
    node: ast.FunctionDef | ast.Lambda
    frame: Frame
    defaults: tuple[Any, ...]
    keyword_defaults: Mapping[str, Any]
    __name__: str

    @staticmethod
    def define(interpreter: Interpreter, node: ast.FunctionDef | ast.Lambda, name: str) -> InterpretedFunction:
        """The function that `node` defines; its defaults are evaluated now, as in Python."""
        defaults = tuple(interpreter.evaluate(default) for default in node.args.defaults)
        named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        keyword = {p.arg: interpreter.evaluate(default) for p, default in named if default is not None}
        return InterpretedFunction(interpreter, node, interpreter.frame, defaults, keyword, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Interpret the call at the current location; builtins call their callbacks so."""
        variables = self.interpreter.natively(
            bind_parameters, self.__name__, self.node.args, args, kwargs, self.defaults, self.keyword_defaults
        )
        outer = self.frame
        frame = Frame(
            self.__name__,
            outer.source,
            outer.function,
            outer.path,
            local_names_of(self.node),
            {name: self.interpreter.program_value(value) for name, value in variables.items()},
            outer,
            self.interpreter.location(),
        )
        return self.interpreter.run_frame(frame, self.node, self)


def evaluate_call(interpreter: Interpreter, node: ast.Call) -> Any:
    """The value of a call expression."""
    function = interpreter.evaluate(node.func)
    args = evaluate_items(interpreter, node.args)
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        value = interpreter.evaluate(keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
            continue
        interpreter.at = keyword.value
        for name, item in interpreter.python(dict, value).items():
            if name in kwargs:
                interpreter.refuse(f"TypeError: got multiple values for keyword argument '{name}'")
            kwargs[name] = item
    interpreter.at = node
    _refuse_synonym(interpreter, node.func, function)
    return call_value(interpreter, function, args, kwargs)


_NAMESPACE = "ttnn_jit.ttnn"


def _refuse_synonym(interpreter: Interpreter, node: ast.expr, function: Any) -> None:
    """Refuse synonyms such as ``ttnn.mul`` for `ttnn.multiply` (ttnn.jit document, FAQ)."""
    if not isinstance(node, ast.Attribute) or node.attr not in SYNONYMS or not isinstance(node.value, ast.Name):
        return
    home = interpreter.evaluate(node.value)
    if isinstance(home, types.ModuleType) and home.__name__ == _NAMESPACE and overloads_of(function):
        raise unsupported_function(node.attr, interpreter.callee_location())


def evaluate_items(interpreter: Interpreter, nodes: list[ast.expr]) -> list[Any]:
    """The values of `nodes`, with starred ones unpacked."""
    items: list[Any] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            value = interpreter.evaluate(node.value)
            interpreter.at = node
            items += interpreter.python(list, value)
        else:
            items.append(interpreter.evaluate(node))
    return items


def call_value(  # noqa: C901, PLR0911, PLR0912 - one line for each kind of callee
    interpreter: Interpreter, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """The result of calling any value.

    Raises:
        UnsupportedFunction: The call can be neither written as an operation, nor inlined, nor computed now.
    """
    match function:
        case _ if overloads_of(function) is not None or is_namespace_function(function):
            if _record_tile_function(interpreter, function):
                args, kwargs = [*map(plain, args)], {name: plain(value) for name, value in kwargs.items()}
            return interpreter.call(function, args, kwargs)
        case _ if may_be_cached(interpreter, function, args, kwargs):
            return call_cached(interpreter, function, [*map(plain, args)], {n: plain(v) for n, v in kwargs.items()})
        case _ if (name := wrapped_attribute(function)) is not None:
            return _call_wrapped(interpreter, function, name, args, kwargs)
        case _ if (moved := movement_function(function, args)) is not None:
            return interpreter.natively(moved, *args, **kwargs)
        case _ if is_context_function(function):
            return GeneratorContext(_call_wrapped(interpreter, function, "__wrapped__", args, kwargs))
        case InterpretedFunction() | _Callback() | _IdentityDecorator():
            return function(*args, **kwargs)
        case _ if is_message(function):
            return show(interpreter, function, args, kwargs)
        case functools.partial() if is_implemented_in_c(member_of(type(function), "__call__")):
            interpreter.recorder.record_partial(function)
            return call_value(interpreter, function.func, (*function.args, *args), {**function.keywords, **kwargs})
        case types.MethodType(__self__=ProxyTensor() | ProgramDevice()):
            return interpreter.natively(function, *args, **kwargs)
        case types.MethodType():
            return call_value(interpreter, function.__func__, (function.__self__, *args), kwargs)
        case _ if function is functools.wraps:
            return _IdentityDecorator()  # names and docstrings are no part of a program
        case _ if function is super:
            return _call_super(interpreter, args)
        case operator.attrgetter() | operator.itemgetter() | operator.methodcaller():
            return _call_getter(interpreter, function, args)
        case type() if is_pure(function) and function.__flags__ & _WRITTEN_IN_PYTHON:
            return _call_class(interpreter, function, args, kwargs)
        case _ if is_pure(function) or (is_numpy_function(function) and all(map(_is_number, args))):
            return _call_python(interpreter, function, args, kwargs)
        case types.FunctionType(__module__="torch.nn.functional"):
            raise _unsupported(interpreter, function, function.__name__)
        case types.FunctionType():
            return inline(interpreter, function, args, kwargs)
        case type() if has_generated_init(function):
            return dataclass_instance(interpreter, function, args, kwargs)
        case type() if _has_python_init(function):
            return _new_object(interpreter, function, args, kwargs)
        case _:
            return _call_instance(interpreter, function, args, kwargs)


_WRITTEN_IN_PYTHON = 1 << 9  # CPython's Py_TPFLAGS_HEAPTYPE


def _record_tile_function(interpreter: Interpreter, function: Any) -> bool:
    """Record the reads of the Python function of a user's tile operation, which is traced, not interpreted.

    Returns whether `function` is such an operation.
    """
    if own_attribute(function, TILE_FUNCTION) is ABSENT:
        return False
    path = interpreter.recorder.operation_path(function)
    if path is not None:
        scan_value(function, path, interpreter.recorder)
    elif not interpreter.recorder.is_keyed(function):
        interpreter.mark_opaque(f"`{function.__name__}` was not found by a name or an attribute")
    return True


def inline(
    interpreter: Interpreter, function: types.FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """The result of a helper of the user's, whose body is interpreted inline."""
    path = interpreter.recorder.use_function(function)
    if path is None:
        interpreter.mark_opaque(f"`{function.__name__}` was not found by a name or an attribute")
    try:
        source = function_source(function)
    except SourceError as error:
        raise SourceError(error.message, location=interpreter.callee_location(), help=error.help) from None
    variables = interpreter.natively(
        bind_parameters,
        function.__name__,
        source.node.args,
        args,
        kwargs,
        function.__defaults__ or (),
        function.__kwdefaults__ or {},
    )
    return interpreter.run_function(source, function, path, variables, interpreter.location())


def _call_wrapped(
    interpreter: Interpreter, wrapper: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    wrapped = getattr(wrapper, name)
    path = interpreter.recorder.path_of(wrapper)
    interpreter.recorder.use(wrapped, None if path is None else (*path, (ATTRIBUTE_STEP, name)))
    return call_value(interpreter, wrapped, args, kwargs)


def _call_super(interpreter: Interpreter, args: Sequence[Any]) -> SuperProxy:
    if len(args) == 2:
        return SuperProxy(*args)
    frame = interpreter.frame
    while frame.outer is not None:
        frame = frame.outer
    cls, path = interpreter.recorder.closure_or_global(frame.function, frame.path, "__class__")
    first = next(parameter_names(frame.source.node.args), None)
    if args or not isinstance(cls, type) or first is None:
        interpreter.refuse("RuntimeError: super(): no arguments", "name the class: `Base.method(self, x)`")
    interpreter.recorder.use(cls, path)
    return SuperProxy(cls, frame.variables[first])


def _call_getter(interpreter: Interpreter, getter: Any, args: Sequence[Any]) -> Any:
    """The result of an `operator.attrgetter`, `itemgetter` or `methodcaller`: its look-ups, interpreted."""
    kind, parts, *keywords = getter.__reduce__()
    if kind is functools.partial:  # of a methodcaller with keywords
        kind, parts, keywords = operator.methodcaller, getter.__reduce__()[0].args, [getter.__reduce__()[0].keywords]
    if len(args) != 1:
        interpreter.refuse(f"TypeError: {kind.__name__} expected 1 argument, got {len(args)}")
    (base,) = args
    if kind is operator.methodcaller:
        name, *values = parts
        return call_value(interpreter, interpreter.attribute(base, name), values, keywords[0] if keywords else {})
    one = _attribute_chain if kind is operator.attrgetter else _item
    found = tuple(one(interpreter, base, part) for part in parts)
    return found[0] if len(found) == 1 else found


def _attribute_chain(interpreter: Interpreter, base: Any, names: str) -> Any:
    return functools.reduce(interpreter.attribute, names.split("."), base)


def _item(interpreter: Interpreter, base: Any, key: Any) -> Any:
    return interpreter.python(operator.getitem, base, key)


@dataclass(frozen=True, eq=False)
class _Callback:
    """A callback of a builtin; the call is interpreted."""

    interpreter: Interpreter
    function: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call_value(self.interpreter, self.function, args, kwargs)


class _IdentityDecorator:
    """A decorator that returns its function."""

    def __call__(self, function: Any) -> Any:
        return function


def callback(interpreter: Interpreter, function: Any) -> Any:
    """A callable by which C calls `function` in the interpreter."""
    return function if isinstance(function, InterpretedFunction) else _Callback(interpreter, function)


def _call_python(interpreter: Interpreter, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    name = getattr(function, "__name__", "")
    if getattr(function, "__module__", None) == "math" and any(isinstance(value, ProxyTensor) for value in args):
        raise _unsupported(interpreter, function, name)
    if is_bound_builtin(function):
        path = interpreter.recorder.path_of(function)
        owner = function.__self__
        interpreter.recorder.bind_path(owner, None if path is None else (*path, (ATTRIBUTE_STEP, "__self__")))
    return interpreter.python(function, *args, **kwargs)


def _is_number(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_number, value))
    return isinstance(value, Number) or is_numpy_scalar(value)


# --- Classes and objects --------------------------------------------------------------------------------------------


def _call_class(interpreter: Interpreter, cls: type, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """An instance of a class without a constructor of the user's."""
    if isinstance(cls, enum.EnumMeta) and len(args) == 1 and not kwargs:
        return _enum_member(interpreter, cls, args[0])
    if is_of_this_package(cls) or is_numpy_scalar_class(cls) or is_of_the_standard_library(cls):
        return interpreter.python(cls, *args, **kwargs)
    maker = interpreter.attribute(cls, "__new__" if issubclass(cls, tuple) else "__init__")
    if isinstance(maker, types.FunctionType):
        interpreter.recorder.use_function(maker)
    made = interpreter.natively(cls, *args, **kwargs)
    interpreter.made_objects[id(made)] = made
    return made


def _has_python_init(cls: type) -> bool:
    """Whether a call of `cls` makes an empty object and passes it to an ``__init__`` of the user's."""
    maker = python_member(cls, "__init__")
    makes = member_of(type(cls), "__call__") is vars(type)["__call__"]
    bases = (makes, *(member_of(cls, name) is vars(object)[name] for name in ("__new__", "__setattr__")))
    written = maker is not None and maker.__code__.co_filename != GENERATED and not is_of_a_library(maker)
    return all(bases) and written


def _new_object(interpreter: Interpreter, cls: type, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """An instance of a class of the user's; the program may assign its attributes."""
    made: Any = interpreter.natively(object.__new__, cls)
    interpreter.made_objects[id(made)] = made
    maker = interpreter.class_member(made, "__init__")
    call_value(interpreter, maker, (made, *args), kwargs)
    return made


def _enum_member(interpreter: Interpreter, cls: Any, value: Any) -> Any:
    if not is_atom(value):
        return value if type(value) is cls else interpreter.python(cls, value)
    member = cls._value2member_map_.get(value)
    if member is not None:
        found = interpreter.attribute(cls, member._name_)
        interpreter.attribute(found, "_value_")
        return found
    missing = interpreter.attribute(cls, "_missing_")
    function = missing.__func__ if isinstance(missing, types.MethodType) else None
    if isinstance(function, types.FunctionType) and not is_of_a_library(function):
        return call_value(interpreter, missing, (value,), {})
    return interpreter.natively(cls, value)


def _call_instance(interpreter: Interpreter, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call an object through the ``__call__`` of its class; anything else is refused."""
    if is_called_by_torch(function):
        raise UnsupportedFunction(
            f"a call of the torch module `{type(function).__name__}` is not supported: torch runs hooks around it",
            location=interpreter.callee_location(),
            help="call its `forward` if that is written with ttnn's operations; otherwise call ttnn's operation with "
            "the module's weights, such as `ttnn.linear(x, layer.weight, bias=layer.bias, transpose_b=True)`",
        )
    if not isinstance(function, type) and python_member(type(function), "__call__") is not None:
        return inline(interpreter, interpreter.class_member(function, "__call__"), (function, *args), kwargs)
    name = getattr(function, "__name__", None)
    if name is None or not callable(function):
        raise CompileError(f"a {type(function).__name__} cannot be called", location=interpreter.callee_location())
    raise _unsupported(interpreter, function, str(name).rpartition(".")[2])


def _unsupported(interpreter: Interpreter, function: Callable[..., Any], name: str) -> UnsupportedFunction:
    """The error for a call that no program supports."""
    if isinstance(function, type):
        help_text = "make the object outside the function and pass it in, or use tuples, lists and dicts"
    elif function is id:
        help_text = "`is` tells whether two tensors are one object, and a tensor may be a key of a dict"
    elif getattr(function, "__module__", None) == "builtins":
        help_text = f"`{name}` would run once, when the function is compiled, and not at each call"
    else:
        help_text = foreign_function_help(function, name)
    return UnsupportedFunction(f"Function {name} not supported", location=interpreter.callee_location(), help=help_text)
