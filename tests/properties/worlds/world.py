"""A world as text, and its modules once it is loaded."""

from __future__ import annotations

import copy
import itertools
import linecache
import re
import sys
import types
import warnings
from dataclasses import dataclass
from typing import Any

from tests.properties.worlds.mutations import Mutation

PRELUDE = """\
import abc, argparse, builtins, collections, contextvars, copy, dataclasses, decimal, enum, fractions, functools
import itertools, math
import operator, sys, types, typing, weakref
import numpy as np
import torch
import ttnn_jit
from ttnn_jit import ttnn
__builtins__ = dict(vars(builtins))
"""
"""The first lines of each module; its functions have builtins of their own, which may change."""
_WORD = re.compile(r"\w+")
_DEFINED = re.compile(r"^(?:class |def )?(\w+)", re.MULTILINE)
COMMON = """\
class Other:
    def extra(self): return 2.0
OTHER = Other()
"""
_numbers = itertools.count()


@dataclass(frozen=True)
class Statement:
    """A statement of the program and the forms of reading in it."""

    text: str
    tags: tuple[str, ...]


@dataclass(frozen=True)
class World:
    """The text of a world.

    Attributes:
        helper: Definitions of the helper module, which the main one knows as `wh`.
        main: Definitions of the main module.
        statements: The program's body; each leaves a result.
        mode: How the program gets at `taken`: as a function does at globals, as an argument, by default, as the
            instance that it is a method of, or in its closure; its name is `a` then. An ``inner`` one is jitted itself.
        taken: An expression; of a program of the mode ``tensors``, whether its second tensor, `a`, is the first one.
    """

    helper: tuple[str, ...]
    main: tuple[str, ...]
    statements: tuple[Statement, ...]
    mode: str
    taken: str

    def reached(self) -> frozenset[str]:
        """The names that the program leads to, according to the text."""
        definitions = [(set(_DEFINED.findall(text)), set(_WORD.findall(text))) for text in (*self.helper, *self.main)]
        reached = {word for statement in self.statements for word in _WORD.findall(statement.text)}
        reached |= {"program", *_WORD.findall(self.taken)}
        for names, words in reversed(definitions):
            if names & reached:
                reached |= words | names
        return frozenset(reached)

    def text(self) -> str:
        """The whole text."""
        return self.helper_text() + self.main_text()

    def helper_text(self) -> str:
        return PRELUDE + "\n".join(self.helper) + "\n"

    def main_text(self) -> str:
        body = "\n".join(statement.text for statement in self.statements)
        results = ", ".join(_result_of(statement.text) for statement in self.statements)
        body = f"{body}\nreturn {results},"
        inside = "".join(f"    {line}\n" for line in body.splitlines())
        match self.mode:
            case "argument" | "tensors":
                program = f"def program(x, a):\n{inside}"
            case "method":
                program = f"def program(a, x):\n{inside}"
            case "default":
                program = f"def program(x, a={self.taken}):\n{inside}"
            case "keyword":
                program = f"def program(x, *, k=1.0, a={self.taken}):\n{inside}"
            case "inner":
                program = (
                    f"@ttnn_jit.jit()\ndef inner_program(x):\n{inside}def program(x):\n    return inner_program(x)\n"
                )
            case "closure":
                inside = "".join(f"    {line}\n" for line in inside.splitlines())
                made = f"program = make_program({self.taken})\n"
                program = f"def make_program(a):\n    def program(x):\n{inside}    return program\n{made}"
            case _:
                program = f"def program(x):\n{inside}"
        definitions = "\n".join(self.main)
        return f"{PRELUDE}import world_helper as wh\n{COMMON}{definitions}\n{program}"


def _result_of(text: str) -> str:
    """The name of a statement's result: the last `r<number>` that it assigns."""
    return re.findall(r"^\s*(r\d+)\b", text, re.MULTILINE)[-1]


class Loaded:
    """The modules of a world, created from its text."""

    def __init__(self, world: World, main: str, helper: str) -> None:
        self.world = world
        number = next(_numbers)
        self.files = [f"<world_helper {number}>", f"<world_main {number}>"]
        self.helper = _module("world_helper", helper, self.files[0])
        self.main = _module("world_main", main, self.files[1])

    def run(self, mutation: Mutation) -> None:
        """Executes a change."""
        self.enter()
        module = self.helper if mutation.where == "helper" else self.main
        if not mutation.known:
            exec(mutation.text, vars(module))
            return
        file = f"<change {next(_numbers)}>"
        self.files.append(file)
        _execute(module, mutation.text, file)

    def enter(self) -> None:
        """Registers these modules in `sys.modules`, instead of other copies of them."""
        sys.modules.update(world_helper=self.helper, world_main=self.main)

    def arguments(self, x: Any) -> tuple[Any, ...]:
        """The arguments of the program."""
        space = vars(self.main)
        match self.world.mode:
            case "argument":
                return x, eval(self.world.taken, space)
            case "tensors":
                return x, x if eval(self.world.taken, space) else copy.copy(x)
            case "method":
                return eval(self.world.taken, space), x
            case _:
                return (x,)

    def forget(self) -> None:
        """Removes the text from `linecache`."""
        for file in self.files:
            linecache.cache.pop(file, None)


def _module(name: str, text: str, file: str) -> types.ModuleType:
    module = sys.modules[name] = types.ModuleType(name)
    _execute(module, text, file)
    return module


def _execute(module: types.ModuleType, text: str, file: str) -> None:
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(compile(text, file, "exec"), vars(module))
