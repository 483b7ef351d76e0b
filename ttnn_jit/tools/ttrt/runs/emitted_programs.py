"""Python programs that a compiler wrote: their functions, and calls of them."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.dataclass import dataclass

_INPUTS = "create_inputs_for_"
_HELPERS = ("consteval_", "hoisted_", "_const_eval_")
_IS_STARTED = "__name__ == '__main__'"
_numbers = itertools.count()


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


@contextmanager
def imported(path: str) -> Iterator[ModuleType]:
    """A block in which a program is imported; modules beside it, and `utils`, are found and forgotten afterwards."""
    from ttnn_jit.tools.ttrt.runs import emitted_utils
    from ttnn_jit.ttnn.namespace.stand_in import register_as_ttnn

    register_as_ttnn()
    folder = str(Path(path).resolve().parent)
    name = f"ttrt_emitted_{next(_numbers)}"
    before, own = set(sys.modules), sys.modules.pop("utils", None)
    sys.path.insert(0, folder)
    if not (Path(folder) / "utils.py").exists():
        sys.modules["utils"] = emitted_utils
    try:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None, path
        assert spec.loader is not None, path
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        yield module
    finally:
        emitted_utils.DeviceGetter.close()
        sys.path.remove(folder)
        for each in set(sys.modules) - before:
            file = getattr(sys.modules[each], "__file__", None)
            if each in {name, "utils"} or (file and str(Path(file).parent) == folder):
                del sys.modules[each]
        sys.modules.pop("utils", None)
        if own is not None:
            sys.modules["utils"] = own


def made_inputs(module: ModuleType, function: EmittedFunction) -> list[Any]:
    """The inputs that a program makes for a function.

    Raises:
        ArgumentError: It makes none.
    """
    if not function.makes_inputs:
        raise ArgumentError(f"the program makes no inputs for {function.name}", help="give its binary by --flatbuffer")
    return list(getattr(module, f"{_INPUTS}{function.name}")())


def called(module: ModuleType, function: EmittedFunction, inputs: Sequence[Any]) -> list[Any]:
    """The outputs of a function."""
    from ttnn_jit.tools.ttrt.runs.emitted_utils import DeviceGetter

    run = getattr(module, function.name)
    given = [*inputs]
    if function.preparation:
        given += getattr(module, function.preparation)(DeviceGetter.get_device((1, 1)), *inputs)
    found = run(given) if function.takes_list else run(*given)
    return list(found) if isinstance(found, list | tuple) else [found]
