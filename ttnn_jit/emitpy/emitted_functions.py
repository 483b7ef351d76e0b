"""Functions of Python programs that a compiler wrote, and calls of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.dataclass import dataclass

_INPUTS = "create_inputs_for_"
_HELPERS = ("consteval_", "hoisted_", "_const_eval_")
_IS_STARTED = "__name__ == '__main__'"


@dataclass(frozen=True)
class EmittedFunction:
    """A function that a program has for a function of its module.

    Attributes:
        name: Its name.
        takes_list: Whether it takes one list of tensors, as tt-mlir writes; else a tensor for each parameter.
        makes_inputs: Whether the program has a function that makes its inputs.
        preparation: The function that makes what it takes behind its inputs, of a device and them; empty if none does.
    """

    name: str
    takes_list: bool
    makes_inputs: bool
    preparation: str = ""


def functions_in(source: str, path: str) -> list[EmittedFunction]:
    """The functions of a program, in order; helpers for constants, and what makes inputs, are not listed.

    tt-mlir writes a function that makes the inputs of each. Another program is read from where it starts: what it calls
    there stands for a function of its module, as `ttnn-jit translate --mlir-to-python` writes it.

    Raises:
        ArgumentError: It is no Python, or has no such function.
    """
    try:
        tree = ast.parse(source, path)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise ArgumentError(f"{path} is no Python: {error}") from None
    defined = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    makers = [
        EmittedFunction(name, takes_list=len(each.args.args) == 1, makes_inputs=True)
        for name, each in defined.items()
        if f"{_INPUTS}{name}" in defined and name != "main"
    ]
    found = (
        makers
        or _called_at_the_start(tree, defined)
        or [
            EmittedFunction(name, takes_list=False, makes_inputs=False)
            for name in defined
            if name != "main" and not name.startswith(_INPUTS) and not any(part in name for part in _HELPERS)
        ]
    )
    if found:
        return found
    raise ArgumentError(f"{path} has no function of a module", help="`ttnn-jit translate --mlir-to-python` writes one")


def _called_at_the_start(tree: ast.Module, defined: Mapping[str, ast.FunctionDef]) -> list[EmittedFunction]:
    """What a program calls where it starts; a call whose result is unpacked into another is its preparation."""
    guarded = [each for each in tree.body if isinstance(each, ast.If) and ast.unparse(each.test) == _IS_STARTED]
    found: list[EmittedFunction] = []
    for start in {call: None for each in guarded for call, _ in _calls(each, defined)}:
        assigned: dict[str, str] = {}
        for each in defined[start].body:
            for name, call in _calls(each, defined):
                if isinstance(each, ast.Assign):
                    assigned[ast.unparse(each.targets[0])] = name
                else:
                    unpacked = [ast.unparse(one.value) for one in call.args if isinstance(one, ast.Starred)]
                    preparation = next((assigned[one] for one in unpacked if one in assigned), "")
                    found.append(EmittedFunction(name, takes_list=False, makes_inputs=False, preparation=preparation))
    return found


def _calls(tree: ast.AST, defined: Mapping[str, ast.FunctionDef]) -> Iterator[tuple[str, ast.Call]]:
    for each in ast.walk(tree):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id in defined:
            yield each.func.id, each


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
