"""Ordinary model code is compiled once, for all calls and processes, and changes are detected."""

from __future__ import annotations

import importlib.util
import itertools
import linecache
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

import ttnn_jit
from tests.end_to_end.python.ordinary_models import MODELS, PRELUDE
from tests.properties.worlds.reference import Reference, same
from ttnn_jit import frontend

X = 1.5
_numbers = itertools.count()
BOTH = pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])
EVERY_MODEL = pytest.mark.parametrize("name", MODELS)


class Process:
    """The module of a model, loaded as by another process, with a function that was never called."""

    def __init__(self, folder: Path, name: str, *, graph_capture: bool) -> None:
        file = folder / "ordinary_model.py"
        if not file.exists():
            file.write_text(PRELUDE + MODELS[name].text)
        spec: Any = importlib.util.spec_from_file_location("ordinary_model", file)
        self.module = sys.modules["ordinary_model"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        owner = getattr(self.module, "Model", None)
        self._plain = self.module.program if owner is None else owner.forward
        self._jitted = ttnn_jit.jit(graph_capture=graph_capture)(self._plain)
        if owner is not None:
            owner.jitted_forward = self._jitted

    def compiled(self) -> float:
        """The result of the compiled function."""
        x = torch.full((4, 4), X)
        model = getattr(self.module, "model", None)
        return float((self._jitted(x) if model is None else model.jitted_forward(x))[0, 0])

    def plain(self) -> float:
        """The result of Python."""
        model = getattr(self.module, "model", None)
        return self._plain(*(() if model is None else (model,)), Reference(X)).value

    def change(self, statement: str) -> None:
        """Executes a statement whose source is known, like that of a notebook cell."""
        file = f"<change {next(_numbers)}>"
        linecache.cache[file] = (len(statement), None, [f"{statement}\n"], file)
        exec(compile(statement, file, "exec"), vars(self.module))


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Any]:
    """Makes a `Process`; all of a test share a disk cache."""
    yield lambda name, graph_capture: Process(tmp_path, name, graph_capture=graph_capture)
    sys.modules.pop("ordinary_model", None)


@contextmanager
def nothing_is_compiled() -> Iterator[None]:
    """Fails if a frontend runs, or anything is compiled."""
    before = ttnn_jit.cache_info().compiles
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frontend, "lower", _refuse)
        yield
    assert ttnn_jit.cache_info().compiles == before


def _refuse(function: types.FunctionType, *_: Any, **__: Any) -> None:
    raise AssertionError(f"{function.__qualname__} is compiled again")


@BOTH
@EVERY_MODEL
def test_ordinary_model_code_compiles_once(process, name, graph_capture):
    first = process(name, graph_capture)
    assert same(first.compiled(), first.plain())
    for _ in range(4):
        with nothing_is_compiled():
            assert same(first.compiled(), first.plain())


@BOTH
@EVERY_MODEL
def test_ordinary_model_code_is_not_compiled_by_the_next_process(process, name, graph_capture):
    process(name, graph_capture).compiled()
    second = process(name, graph_capture)
    with nothing_is_compiled():
        assert same(second.compiled(), second.plain())
        assert same(second.compiled(), second.plain())


@BOTH
@EVERY_MODEL
def test_a_change_of_ordinary_model_code_is_detected(process, name, graph_capture):
    first = process(name, graph_capture)
    before = first.compiled()
    first.compiled()
    for statement in MODELS[name].changes:
        first.change(statement)
        assert same(first.compiled(), first.plain()), statement
        assert not same(first.compiled(), before), statement
        with nothing_is_compiled():
            first.compiled()
        before = first.compiled()
    changed = process(name, graph_capture)
    for statement in MODELS[name].changes:
        changed.change(statement)
    assert same(changed.compiled(), changed.plain())
