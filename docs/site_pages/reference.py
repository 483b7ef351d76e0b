"""The reference of the API, from signatures and docstrings."""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterable, Iterator
from typing import Any

from sphinx.ext.napoleon import Config, GoogleDocstring

import ttnn_jit
from ttnn_jit import testing, ttnn
from ttnn_jit.calls.jit_function import JitFunction
from ttnn_jit.compiler.report import Report
from ttnn_jit.ops import OVERLOADS
from ttnn_jit.runtime.programs.program import Program

COMMON = "Every operation takes these keywords too"
"""How what is said of every operation begins."""
NAPOLEON = Config(napoleon_use_ivar=True, napoleon_use_param=False, napoleon_use_rtype=False)


def pages() -> Iterator[tuple[str, str]]:
    """The pages of the reference, by their names."""
    yield "jit", "\n".join(_jit())
    groups = _grouped()
    for name, members in groups.items():
        yield name, "\n".join(_page(name.replace("_", " "), members))


def _jit() -> Iterator[str]:
    yield from _title("ttnn_jit", ttnn_jit.__doc__)
    functions = ((f"ttnn_jit.{name}", getattr(ttnn_jit, name)) for name in ttnn_jit.__all__)
    for name, value in functions:
        if callable(value):
            yield from _object(name, value)
    for cls in (JitFunction, Program, Report):
        yield from _object(cls.__name__, cls, members=True)
    for name, value in inspect.getmembers(testing, inspect.isfunction):
        if value.__module__ == testing.__name__ and not name.startswith("_"):
            yield from _object(f"ttnn_jit.testing.{name}", value)


def _grouped() -> dict[str, dict[str, Any]]:
    """Group -> name -> what ttnn has there: operations by family, functions of the host, classes."""
    groups: dict[str, dict[str, Any]] = {}
    for name, value in _names():
        if (overloads := OVERLOADS.get(name.removeprefix("ttnn.").removesuffix("_"))) and not isinstance(value, type):
            group = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(overloads[0]).__name__).lower()
        elif isinstance(value, type):
            group = "classes"
        elif inspect.isfunction(value):
            group = "host_functions"
        elif callable(value):
            group = "gradients"
        else:
            continue
        groups.setdefault(group, {})[name] = value
    return dict(sorted(groups.items()))


def _names() -> Iterator[tuple[str, Any]]:
    """Every name of ttnn, and of its submodules of operations."""
    for name in ttnn.__all__:
        value = getattr(ttnn, name)
        if inspect.ismodule(value):
            for inner in getattr(value, "__all__", ()):
                yield f"ttnn.{name}.{inner}", getattr(value, inner)
        else:
            yield f"ttnn.{name}", value


def _page(title: str, members: dict[str, Any]) -> Iterator[str]:
    common = next((text for value in members.values() if COMMON in (text := inspect.getdoc(value) or "")), "")
    yield from _title(f"ttnn: {title}", COMMON + common.partition(COMMON)[2] if common else "")
    for name, value in members.items():
        yield from _object(name, value, members=isinstance(value, type))


def _title(title: str, text: str | None) -> Iterator[str]:
    yield f"{title}\n{'=' * len(title)}\n"
    yield from _docstring("\n".join(_listed((text or "").replace("Raises:", "Errors:"))), "")


def _listed(text: str) -> Iterator[str]:
    """What stands outside of an entry, with its lists of names as lists: napoleon makes them parts of an entry."""
    was_item = False
    for line in text.splitlines():
        item = re.match(r"    (\w[\w, ]*): (?=\S)", line)
        if bool(item) != was_item:
            yield ""
        yield f"- ``{item[1]}``: {line[item.end() :]}" if item else line
        was_item = bool(item)


def _object(name: str, value: Any, *, members: bool = False) -> Iterator[str]:
    kind = "class" if isinstance(value, type) else "function"
    text = (inspect.getdoc(value) or "").partition(COMMON)[0]
    own = re.match(r"``(?P<call>[\w.]+\(.*?\))``: ", text)  # an operation says its call without what all take
    signature = own["call"].partition("(")[2] if own else _signature(value)
    yield f".. py:{kind}:: {name}({signature.rstrip(')')})\n"
    yield from _docstring(text[own.end() :] if own else text, "   ")
    if isinstance(value, type) and issubclass(value, enum.Enum):
        yield f"   {', '.join(f'``{each}``' for each in value.__members__)}\n"
    if members:
        for inner, function in inspect.getmembers(value):
            if not inner.startswith("_") and inspect.getdoc(function) and inner in vars(value):
                yield from _member(inner, function)


def _member(name: str, function: Any) -> Iterator[str]:
    is_method = inspect.isfunction(function)
    head = (
        f"method:: {name}({_signature(function).removeprefix('self').lstrip(', ')}"
        if is_method
        else f"attribute:: {name}"
    )
    yield f"   .. py:{head}\n"
    yield from _docstring(inspect.getdoc(function) or "", "      ")


def _signature(value: Any) -> str:
    """The parameters and the closing bracket, on one line; types are for type checkers."""
    if isinstance(value, type) and issubclass(value, enum.Enum):
        return ")"
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):  # of a class that is built in
        return "...)"
    shown = inspect.Signature([each.replace(annotation=inspect.Parameter.empty) for each in parameters])
    return re.sub(r"<(\w+\.\w+): [^>]*>", r"\1", f"{str(shown)[1:-1]})")


def _docstring(text: str, indent: str) -> Iterator[str]:
    text = re.sub(r"^(\S.*)\n\n(?=    \S)", r"\1\n\n.. code-block:: python\n\n", text, flags=re.MULTILINE)  # code
    text = re.sub(r"^( .*)\n(?=\S)", r"\1\n\n", text, flags=re.MULTILINE)  # the end of a list
    lines: Iterable[str] = GoogleDocstring(_escaped(text), NAPOLEON).lines() if text else ()
    for line in lines:
        yield f"{indent}{line}".rstrip()
    yield ""


def _escaped(text: str) -> str:
    """Docstrings have code between backticks, and elsewhere no markup."""
    parts = re.split(r"(``.+?``|`[^`]+`)", text)
    for number, part in enumerate(parts):
        if number % 2:
            parts[number] = f"``{part.strip('`')}``"
        else:
            parts[number] = re.sub(r"([*|\\])|(?<=\w)(_)(?=\W|$)", r"\\\1\2", part)
    return "".join(parts)
