"""Loads names of the namespace on first access, and explains missing ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

from ttnn_jit.process.compile_lock import alone, compiling
from ttnn_jit.ttnn.namespace.host_functions import HOST_FUNCTIONS
from ttnn_jit.ttnn.namespace.lazy_names import MODULE_OF, SUBMODULES
from ttnn_jit.ttnn.namespace.mirrored_modules import MIRRORED, mirrored

_DECLARED = re.compile(r"^@host_function\(((?s:.*?))\)\n(?:@.*\n)*def (\w+)\(", re.MULTILINE)
_NAME = re.compile(r'\bname="([\w.]+)"')


_PACKAGE = Path(__file__).parents[1]


@cache
def declared_functions() -> dict[str, str]:
    """Host function, as an attribute of ``ttnn`` -> its module, found by a search of the source text.

    Importing all modules would take longer than most programs run.
    """
    return {
        (named[1] if (named := _NAME.search(said)) else name): _module_of(file)
        for file in sorted(_PACKAGE.rglob("*.py"))
        for said, name in _DECLARED.findall(file.read_text(encoding="utf-8"))
    }


def host_function_names(submodule: str) -> list[str]:
    """The names of the host functions in a submodule of ttnn."""
    split = (name.rpartition(".") for name in HOST_FUNCTIONS)
    return [name for home, _, name in split if home == submodule]


def _module_of(file: Path) -> str:
    return ".".join(["ttnn_jit.ttnn", *file.relative_to(_PACKAGE).with_suffix("").parts])


def host_functions_of(submodule: str) -> dict[str, Any]:
    """The host functions in a submodule of ttnn, by their names in it."""
    names = host_function_names(submodule)
    return {name: getattr(import_module(HOST_FUNCTIONS[f"{submodule}.{name}"]), name) for name in names}


@alone
def loaded(name: str) -> Any:
    """The value of a lazy name; imports its module.

    Raises:
        LookupError: There is no such name.
    """
    if name in MIRRORED:
        return mirrored(name)
    if name in SUBMODULES:
        return import_module(f"ttnn_jit.ttnn.{name}")
    return with_qualified_name(name, getattr(import_module(MODULE_OF.get(name) or declared_functions()[name]), name))


def with_qualified_name(name: str, value: Any) -> Any:
    """`value`; sets the `python_fully_qualified_name` of a function without one to ``ttnn.<name>``."""
    if isinstance(value, FunctionType) and not hasattr(value, "python_fully_qualified_name"):
        vars(value)["python_fully_qualified_name"] = f"ttnn.{name}"
    return value


def is_declared_in_source(name: str) -> bool:
    """Whether a host function of this name was declared after `make docs` wrote the table."""
    return name in declared_functions()


def construct(*args: Any, **keywords: Any) -> Any:
    """The implementation of `Tensor.parts_of`, ttnn's constructor, whose module loads at the first call."""
    with compiling():
        from ttnn_jit.ttnn.tensors.tensor_constructor import parts_of
    return parts_of(*args, **keywords)


def unknown_name(name: str, known: Iterable[str], submodule: str = "") -> AttributeError:
    """The error for a missing name: names the right module, the reason of its absence, or similar names.

    Similar names differ by one edit.
    """
    from ttnn_jit.ops.public_names import did_you_mean, why_absent

    module = f"ttnn_jit.ttnn.{submodule}" if submodule else "ttnn_jit.ttnn"
    missing = f"module {module!r} has no attribute {name!r}"
    if submodule and name in import_module("ttnn_jit.ttnn").__all__:
        return AttributeError(f"{missing}: it is `ttnn.{name}`", name=name)
    if reason := why_absent(name, submodule):
        return AttributeError(f"{missing}: {reason}", name=name)
    return AttributeError(f"{missing}{did_you_mean(name, known)}", name=name)


def submodule_getattr(submodule: str, known: Collection[str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a submodule with the names `known`, and host functions that were declared since.

    Names of `known` that the submodule does not define are looked up in `ttnn`.
    """

    def lookup(name: str) -> Any:
        if name in known:
            return getattr(import_module("ttnn_jit.ttnn"), name)
        if (module := declared_functions().get(f"{submodule}.{name}")) is not None:
            return getattr(import_module(module), name)
        raise unknown_name(name, known, submodule)

    return lookup
