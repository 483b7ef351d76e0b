"""What a call does in the interpreter: write an operation, inline a function, or compute with Python."""

from __future__ import annotations

import ast
import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ttnn_jit.errors import CompileError, UnsupportedFunction
from ttnn_jit.frontend.attributes import read_attribute
from ttnn_jit.frontend.frame import Frame, local_names_of
from ttnn_jit.frontend.function_source import function_source
from ttnn_jit.frontend.interpreter import Interpreter
from ttnn_jit.frontend.language import MUTATING_METHODS, is_namespace_function, is_pure
from ttnn_jit.frontend.parameters import bind_parameters
from ttnn_jit.frontend.proxy import ProxyTensor, foreign_function_help
from ttnn_jit.numpy_scalar import is_numpy_function, is_numpy_scalar
from ttnn_jit.ops import Number, overloads_of
from ttnn_jit.reads import ATTRIBUTE_STEP


@dataclass(frozen=True, eq=False)
class InterpretedFunction:
    """A function or lambda that the program itself defines: its tree, and the activation around it."""

    interpreter: Interpreter
    node: ast.FunctionDef | ast.Lambda
    frame: Frame
    defaults: tuple[Any, ...]
    keyword_defaults: Mapping[str, Any]
    __name__: str

    @staticmethod
    def define(interpreter: Interpreter, node: ast.FunctionDef | ast.Lambda, name: str) -> InterpretedFunction:
        """The function that `node` defines here and now; defaults are evaluated now, as Python does."""
        defaults = tuple(interpreter.evaluate(default) for default in node.args.defaults)
        named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        keyword = {p.arg: interpreter.evaluate(default) for p, default in named if default is not None}
        return InterpretedFunction(interpreter, node, interpreter.frame, defaults, keyword, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it where the program stands; builtins that take functions call it so."""
        variables = self.interpreter.python(
            bind_parameters, self.__name__, self.node.args, args, kwargs, self.defaults, self.keyword_defaults
        )
        outer = self.frame
        frame = Frame(
            self.__name__,
            outer.source,
            outer.function,
            outer.path,
            local_names_of(self.node),
            variables,
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
    return call_value(interpreter, function, args, kwargs)


def evaluate_items(interpreter: Interpreter, nodes: list[ast.expr]) -> list[Any]:
    """The values of `nodes`, those with a star unpacked."""
    items: list[Any] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            value = interpreter.evaluate(node.value)
            interpreter.at = node
            items += interpreter.python(list, value)
        else:
            items.append(interpreter.evaluate(node))
    return items


def call_value(  # noqa: PLR0911 - one line for each kind of callee
    interpreter: Interpreter, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """The result of calling `function`, whatever it is.

    Raises:
        UnsupportedFunction: It can be neither written as an operation, nor inlined, nor computed now.
    """
    match function:
        case _ if overloads_of(function) is not None or is_namespace_function(function):
            _record_tile_function(interpreter, function)
            return interpreter.call(function, args, kwargs)
        case _ if (name := wrapped_attribute(function)) is not None:
            return _call_wrapped(interpreter, function, name, args, kwargs)
        case InterpretedFunction() | _Callback():
            return function(*args, **kwargs)
        case functools.partial():
            return call_value(interpreter, function.func, (*function.args, *args), {**function.keywords, **kwargs})
        case types.MethodType(__self__=ProxyTensor()):
            return interpreter.python(function, *args, **kwargs)
        case types.MethodType():
            return _call_method(interpreter, function, args, kwargs)
        case _ if function is getattr or function is hasattr:
            return _call_getattr(interpreter, function, args)
        case _ if is_pure(function) or (is_numpy_function(function) and all(map(_is_number, args))):
            return _call_python(interpreter, function, args, kwargs)
        case types.FunctionType():
            return inline(interpreter, function, args, kwargs)
        case _:
            return _call_instance(interpreter, function, args, kwargs)


def _record_tile_function(interpreter: Interpreter, function: Any) -> None:
    """A user's tile operation reads what its Python function reads; the function is traced, not interpreted."""
    from ttnn_jit.frontend.code_scan import TILE_FUNCTION, scan_value

    if not hasattr(function, TILE_FUNCTION):
        return
    path = interpreter.recorder.path_of(function)
    if path is not None:
        scan_value(function, path, interpreter.recorder)
    elif not interpreter.recorder.is_known_by_key(function):
        interpreter.recorder.unguardable = True


def inline(
    interpreter: Interpreter, function: types.FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """What a helper of the user's returns, its body carried out here."""
    path = interpreter.recorder.use_function(function)
    source = function_source(function)
    variables = interpreter.python(
        bind_parameters,
        function.__name__,
        source.node.args,
        args,
        kwargs,
        function.__defaults__ or (),
        function.__kwdefaults__ or {},
    )
    return interpreter.run_function(source, function, path, variables, interpreter.location())


def wrapped_attribute(function: Any) -> str | None:
    """The attribute that holds the function inside a jitted or cached one; None for everything else."""
    if hasattr(function, "__ttnn_jit_wrapped__") and not isinstance(function, types.MethodType):
        return "__ttnn_jit_wrapped__"
    return "__wrapped__" if isinstance(function, functools._lru_cache_wrapper) else None


def _call_wrapped(
    interpreter: Interpreter, wrapper: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    wrapped = getattr(wrapper, name)
    path = interpreter.recorder.path_of(wrapper)
    if path is not None:
        interpreter.recorder.use(wrapped, (*path, (ATTRIBUTE_STEP, name)))
    return call_value(interpreter, wrapped, args, kwargs)


def _call_method(
    interpreter: Interpreter, method: types.MethodType, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    return call_value(interpreter, method.__func__, (method.__self__, *args), kwargs)


def _call_getattr(interpreter: Interpreter, function: Any, args: Sequence[Any]) -> Any:
    base, name, *default = args if 2 <= len(args) <= 3 else (None, None)
    if not isinstance(name, str):
        interpreter.refuse(f"`{function.__name__}` takes an object and a name")
    has_default = bool(default) or function is hasattr
    if has_default and not hasattr(base, name):
        # That something is absent is not guarded.
        interpreter.recorder.unguardable = True
        return default[0] if default else False
    value, path = read_attribute(interpreter, base, interpreter.recorder.path_of(base), name)
    if path is not None:
        interpreter.recorder.use(value, path)
    return True if function is hasattr else value


@dataclass(frozen=True, eq=False)
class _Callback:
    """A function of the user's, handed to a builtin that will call it: it is inlined then."""

    interpreter: Interpreter
    function: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call_value(self.interpreter, self.function, args, kwargs)


def _call_python(interpreter: Interpreter, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if getattr(function, "__module__", None) == "math" and any(isinstance(value, ProxyTensor) for value in args):
        raise _unsupported(interpreter, function, name)
    if name in MUTATING_METHODS and isinstance(owner, (list, dict, set)) and interpreter.recorder.is_foreign(owner):
        interpreter.refuse(
            f"`{name}` would change a {type(owner).__name__} from outside the function",
            "make a copy of it first, or return the new value",
        )
    return interpreter.python(
        function,
        *(_callback(interpreter, value) for value in args),
        **{key: _callback(interpreter, value) for key, value in kwargs.items()},
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, Number) or is_numpy_scalar(value)


def _callback(interpreter: Interpreter, value: Any) -> Any:
    inlined = isinstance(value, (types.FunctionType, functools.partial)) or wrapped_attribute(value) is not None
    bound = isinstance(value, types.MethodType) and not isinstance(value.__self__, ProxyTensor)
    return _Callback(interpreter, value) if inlined or bound else value


def _call_instance(interpreter: Interpreter, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Calls an object through its class's ``__call__``; everything that cannot be called so is refused."""
    call = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(call, types.FunctionType) and not isinstance(function, type):
        path = interpreter.recorder.path_of(function)
        if path is not None:
            steps = ((ATTRIBUTE_STEP, "__class__"), (ATTRIBUTE_STEP, "__call__"))
            interpreter.recorder.use(call, (*path, *steps))
        return inline(interpreter, call, (function, *args), kwargs)
    name = getattr(function, "__name__", None)
    if name is None or not callable(function):
        raise CompileError(f"a {type(function).__name__} cannot be called", location=interpreter.callee_location())
    raise _unsupported(interpreter, function, str(name).rpartition(".")[2])


def _unsupported(interpreter: Interpreter, function: Callable[..., Any], name: str) -> UnsupportedFunction:
    location = interpreter.callee_location()
    if function is super:
        help_text = "name the class: `Base.method(self, x)`"
    elif isinstance(function, type):
        help_text = "make the object outside the function and pass it in, or use tuples, lists and dicts"
    elif getattr(function, "__module__", None) == "builtins":
        help_text = f"`{name}` would act once, when the function is compiled, and not at each call"
    else:
        help_text = foreign_function_help(function, name)
    return UnsupportedFunction(f"Function {name} not supported", location=location, help=help_text)
