"""What the namespace answers for a name that it has not loaded: the name's own module, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

from ttnn_jit.process.compile_lock import compiles, compiling
from ttnn_jit.ttnn.namespace.host_functions import HOST_FUNCTIONS
from ttnn_jit.ttnn.namespace.lazy_names import MODULE_OF, SUBMODULES
from ttnn_jit.ttnn.namespace.mirrored_modules import MIRRORED, mirrored

_DECLARED = re.compile(r"^@host_function\(((?s:.*?))\)\n(?:@.*\n)*def (\w+)\(", re.MULTILINE)
_NAME = re.compile(r'\bname="([\w.]+)"')


_ROOM = Path(__file__).parents[1]


@cache
def declared_functions() -> dict[str, str]:
    """Function of the host API, as users write it behind ``ttnn.`` -> its module, found in the text of the files.

    Importing them all would take longer than most programs run.
    """
    return {
        (named[1] if (named := _NAME.search(said)) else name): _module_of(file)
        for file in sorted(_ROOM.rglob("*.py"))
        for said, name in _DECLARED.findall(file.read_text(encoding="utf-8"))
    }


def declared_names_of(submodule: str) -> list[str]:
    """The names of the functions of the host API that a submodule of ttnn has."""
    split = (name.rpartition(".") for name in HOST_FUNCTIONS)
    return [name for home, _, name in split if home == submodule]


def _module_of(file: Path) -> str:
    return ".".join(["ttnn_jit.ttnn", *file.relative_to(_ROOM).with_suffix("").parts])


def host_functions_of(submodule: str) -> dict[str, Any]:
    """The functions of the host API that a submodule of ttnn has, by their names in it."""
    names = declared_names_of(submodule)
    return {name: getattr(import_module(HOST_FUNCTIONS[f"{submodule}.{name}"]), name) for name in names}


@compiles
def loaded(name: str) -> Any:
    """What a lazy `name` stands for; its module is imported if it was not.

    Raises:
        LookupError: The name is none of them.
    """
    if name in MIRRORED:
        return mirrored(name)
    if name in SUBMODULES:
        return import_module(f"ttnn_jit.ttnn.{name}")
    return knowing_its_name(name, getattr(import_module(MODULE_OF.get(name) or declared_functions()[name]), name))


def knowing_its_name(name: str, value: Any) -> Any:
    """`value`, which ``ttnn.<name>`` is: a function has that for a `python_fully_qualified_name`, unless it has one."""
    if isinstance(value, FunctionType) and not hasattr(value, "python_fully_qualified_name"):
        vars(value)["python_fully_qualified_name"] = f"ttnn.{name}"
    return value


def is_newly_declared(name: str) -> bool:
    """Whether it is a function of the host API that was declared after `make docs` made the table of them."""
    return name in declared_functions()


def construct(*args: Any, **keywords: Any) -> Any:
    """What `Tensor.parts_of` is: ttnn's constructor, which loads when it is called."""
    with compiling():
        from ttnn_jit.ttnn.tensors.tensor_constructor import parts_of
    return parts_of(*args, **keywords)


def unknown_name(name: str, known: Iterable[str], submodule: str = "") -> AttributeError:
    """The error for a name that the namespace or a submodule lacks: where it is, why it is not here, or names near it.

    Names are near that differ by one slip.
    """
    from ttnn_jit.ops.public_names import names_within_one_edit, why_absent

    module = f"ttnn_jit.ttnn.{submodule}" if submodule else "ttnn_jit.ttnn"
    missing = f"module {module!r} has no attribute {name!r}"
    if submodule and name in import_module("ttnn_jit.ttnn").__all__:
        return AttributeError(f"{missing}: it is `ttnn.{name}`", name=name)
    if reason := why_absent(name, submodule):
        return AttributeError(f"{missing}: {reason}", name=name)
    near = names_within_one_edit(name, known)
    hint = f"; did you mean {' or '.join(f'`{n}`' for n in near)}?" if near else ""
    return AttributeError(f"{missing}{hint}", name=name)


def names_of(submodule: str, known: Collection[str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a submodule, which has no more names than `known`, and what was declared since.

    Names of `known` that it does not define are those of `ttnn`.
    """

    def lacks(name: str) -> Any:
        if name in known:
            return getattr(import_module("ttnn_jit.ttnn"), name)
        if (module := declared_functions().get(f"{submodule}.{name}")) is not None:
            return getattr(import_module(module), name)
        raise unknown_name(name, known, submodule)

    return lacks
