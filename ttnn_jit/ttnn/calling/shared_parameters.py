"""Host functions whose parameters are the fields of a dataclass, which related functions share."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from ttnn_jit.ops.host_ops import OPS, HostOps
from ttnn_jit.runtime.tensors.tensor import Tensor

P = ParamSpec("P")
A = TypeVar("A")
T = TypeVar("T")

VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
"""Kinds of variadic parameters."""


class ArgumentsWithOps:
    """A base of such dataclasses for bodies that make or free tensors: it carries the `HostOps` of the call."""

    _ops: HostOps[Tensor]

    @property
    def ops(self) -> HostOps[Tensor]:
        """The operations of the call: eager ones, or those of a program."""
        return self._ops


def takes(arguments: Callable[P, A]) -> Callable[[Callable[[A], T]], Callable[P, T]]:
    """The decorator that turns a body over the dataclass `arguments` into a function over the fields.

    The function has the defaults and annotations of the fields; ``KW_ONLY`` fields are keyword-only parameters. Its
    docstring is that of the body. The ``Attributes`` of the dataclass and its bases become its ``Args``.
    """
    return lambda body: _function(arguments, body)


def _function(arguments: Any, body: Any) -> Any:
    """Copies a code object; to compile text takes 20 times as long, in every process that imports the body."""
    fields = dataclasses.fields(arguments)
    positional, keywords = [each for each in fields if not each.kw_only], [each for each in fields if each.kw_only]
    names = [each.name for each in (*positional, *keywords)]
    before = (OPS,) if issubclass(arguments, ArgumentsWithOps) else ()
    code = _call.__code__.replace(
        co_argcount=len(before) + len(positional),
        co_kwonlyargcount=len(keywords),
        co_nlocals=len(before) + len(fields),
        co_varnames=(*before, *names),
        co_name=body.__name__,
        co_filename=body.__code__.co_filename,
        co_firstlineno=body.__code__.co_firstlineno,
    )
    scope: dict[str, Any] = {}  # has every name of the annotations, for `typing.get_type_hints`
    for cls in reversed(arguments.__mro__[:-1]):
        scope |= vars(sys.modules[cls.__module__])
    scope |= body.__globals__ | {"_body": body, "_arguments": arguments, "instance_of": instance_of}
    function: Any = FunctionType(code, scope, body.__name__)
    function.__defaults__ = tuple(_defaults(positional).values())
    function.__kwdefaults__ = _defaults(keywords)
    function.__annotations__ = {each.name: each.type for each in fields} | {"return": body.__annotations__["return"]}
    function.__module__, function.__qualname__, function.__doc__ = body.__module__, body.__qualname__, body.__doc__
    if body.__doc__ is not None:  # `python -OO` removes docstrings
        function.__doc__ = _documentation(inspect.cleandoc(body.__doc__), arguments, names)
    function.__ttnn_body__, function.__ttnn_arguments__ = body, arguments
    return function


def _call() -> Any:
    """The code of every such function: its locals are the parameters, and its globals those of `_function`."""
    return _body(instance_of(_arguments, locals()))  # type: ignore[name-defined]  # noqa: F821


def instance_of(arguments: Any, values: dict[str, Any]) -> Any:
    """The instance of a dataclass with these values of its fields; the dict becomes its ``__dict__``.

    ``__init__`` would set the fields one by one, which takes a microsecond for a convolution.
    """
    made = object.__new__(arguments)
    object.__setattr__(made, "__dict__", values)
    return made


def _defaults(fields: Sequence[dataclasses.Field[Any]]) -> dict[str, Any]:
    return {each.name: each.default for each in fields if each.default is not dataclasses.MISSING}


_ATTRIBUTES_SECTION = re.compile(r"^Attributes:\n((?:    .*\n?)+)", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)
_SECTION = re.compile(r"\n\n(?=Returns:|Raises:)|$")


def _documentation(doc: str, arguments: Any, names: Sequence[str]) -> str:
    """The docstring of a body with a section ``Args`` inserted before ``Returns`` and ``Raises``."""
    texts: dict[str, str] = {}
    for cls in reversed(arguments.__mro__[:-1]):
        for block in _ATTRIBUTES_SECTION.findall(inspect.cleandoc(cls.__doc__ or "")):
            texts.update(_ATTRIBUTE.findall(block))
    if not texts:
        return doc
    section = _SECTION.search(doc).start()  # type: ignore[union-attr]  # every text ends
    entries = (f"    {name}: {texts[name]}" for name in names if name in texts)
    return doc[:section] + "\n".join(["\n\nArgs:", *entries]) + doc[section:]
