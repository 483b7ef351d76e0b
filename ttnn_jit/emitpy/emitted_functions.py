"""Functions of Python programs that a compiler wrote, and calls of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.dataclass import dataclass

_INPUTS = "create_inputs_for_"
_HELPERS = ("consteval_", "hoisted_", "_const_eval_")
PREPARATION = "prepare"
"""How the function is called that makes what a program of ours reads besides its arguments."""


@dataclass(frozen=True)
class EmittedFunction:
    """A function that a program has for a function of its module.

    Attributes:
        name: Its name.
        takes_list: Whether it takes one list of tensors, as tt-mlir writes; else a tensor for each parameter.
        makes_inputs: Whether the program has a function that makes its inputs.
        preparation: The function that makes what it reads besides its inputs; empty if it reads nothing else.
    """

    name: str
    takes_list: bool
    makes_inputs: bool
    preparation: str = ""


def functions_in(source: str, path: str) -> list[EmittedFunction]:
    """The functions of a program, in order; helpers for constants, and what makes inputs, are not listed.

    Raises:
        ArgumentError: It is no Python, or has no such function.
    """
    try:
        tree = ast.parse(source, path)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise ArgumentError(f"{path} is no Python: {error}") from None
    defined = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    preparing = {name for name, each in defined.items() if _prepares(each)}
    names = [
        name
        for name in defined
        if name != "main" and not name.startswith(_INPUTS) and not any(part in name for part in _HELPERS)
    ]
    found = [
        EmittedFunction(
            name,
            takes_list=len(defined[name].args.args) == 1 and f"{_INPUTS}{name}" in defined,
            makes_inputs=f"{_INPUTS}{name}" in defined,
            preparation=next((each for each in (f"{PREPARATION}_{name}", PREPARATION) if each in preparing), ""),
        )
        for name in names
        if name not in preparing
    ]
    makers = [each for each in found if each.makes_inputs]
    if makers or found:
        return makers or found
    raise ArgumentError(f"{path} has no function of a module", help="`ttnn-jit translate --mlir-to-python` writes one")


def _prepares(function: ast.FunctionDef) -> bool:
    parameters = function.args.args
    is_named = function.name == PREPARATION or function.name.startswith(f"{PREPARATION}_")
    return is_named and bool(parameters) and parameters[0].arg == "device"


def made_inputs(module: ModuleType, function: EmittedFunction) -> list[Any]:
    """The inputs that a program makes for a function.

    Raises:
        ArgumentError: It makes none.
    """
    if not function.makes_inputs:
        raise ArgumentError(f"the program makes no inputs for {function.name}", help="give its binary by --flatbuffer")
    return list(getattr(module, f"{_INPUTS}{function.name}")())


def called(module: ModuleType, function: EmittedFunction, inputs: Sequence[Any], device: Any = None) -> list[Any]:
    """The outputs of a function; `device` is where it prepares what it reads besides its inputs."""
    run = getattr(module, function.name)
    prepared = getattr(module, function.preparation)(device, *inputs) if function.preparation else []
    given = [*inputs, *prepared]
    if not given and not function.takes_list:
        given = [device]
    found = run(given) if function.takes_list else run(*given)
    return list(found) if isinstance(found, list | tuple) else [found]
