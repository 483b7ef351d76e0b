"""Runs a model and its changes, compiled and plain, and reports where they differ."""

from __future__ import annotations

import itertools
import linecache
import random
import sys
import types
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import torch

import ttnn_jit
from tests.properties.tensor_worlds.text import Writer
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import InternalError, TtnnJitError

NAME = "tensor_world"
_files = itertools.count()


@dataclass(frozen=True)
class Case:
    """A model, the steps of its test, and the frontend.

    Attributes:
        text: Of its module.
        steps: A change, and how often the program is called then; None in place of a change starts a new process.
        graph_capture: The frontend.
        library: Of the tensors.
    """

    text: str
    steps: tuple[tuple[str | None, int], ...]
    graph_capture: bool
    library: str


@dataclass
class Tally:
    """The counts of many attacks."""

    counts: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)


def case_of(seed: int, library: str, *, graph_capture: bool, steps: int = 8) -> Case:
    """A random case."""
    draw = random.Random(seed)
    writer = Writer(draw, library)
    text = writer.text(seed)
    drawn = ((None if draw.random() < 0.1 else writer.change(), draw.choice([1, 1, 2, 3])) for _ in range(steps))
    return Case(text, (("pass", 2), *drawn), graph_capture, library)


class Loaded:
    """A model as a process sees it: its module, and a jitted method that was never called."""

    def __init__(self, case: Case, device: Any) -> None:
        self.case = case
        self.file = f"<{NAME} {next(_files)}>"
        linecache.cache[self.file] = (len(case.text), None, case.text.splitlines(keepends=True), self.file)
        self.module = types.ModuleType(NAME)
        self.module.__dict__["DEVICE"] = device
        sys.modules[NAME] = self.module
        exec(compile(case.text, self.file, "exec"), vars(self.module))
        self.model_class = self.module.Model
        self.model_class.jitted = ttnn_jit.jit(graph_capture=case.graph_capture)(self.model_class.forward)
        self.module.__dict__["model"] = self.model_class()

    def change(self, text: str) -> None:
        """Executes a statement, up to its first error."""
        with suppress(Exception):
            exec(text, vars(self.module))

    def call(self, name: str) -> Any:
        """The result of the method, as a torch tensor; or the exception that it raises."""
        space = vars(self.module)
        try:
            result = getattr(space["model"], name)(space["X"], space["Y"], space["ITEMS"], space["NAMED"])
            return ttnn.to_torch(result) if type(result) is ttnn.Tensor else torch.as_tensor(result).clone()
        except Exception as error:  # noqa: BLE001 - what may be raised is what is tested
            return error

    def held(self) -> list[Any]:
        """The state that calls must not change: keys of dicts, lengths of lists, and identities of objects."""
        return [*_parts(vars(self.module)["model"], {}), *_parts(vars(self.module)["TABLE"], {})]

    def forget(self) -> None:
        """Removes the module from `sys.modules` and its source from `linecache`."""
        linecache.cache.pop(self.file, None)
        sys.modules.pop(NAME, None)


def _parts(value: Any, seen: dict[int, Any]) -> Iterator[Any]:
    if id(value) in seen or isinstance(value, torch.Tensor):
        return
    seen[id(value)] = value
    if isinstance(value, dict):
        yield from (id(value), *map(id, dict.keys(value)), *map(id, dict.values(value)))
        inner = list(dict.values(value))
    elif isinstance(value, (list, tuple)):
        yield from map(id, list(value))
        inner = list(value)
    else:
        inner = [vars(value)] if hasattr(value, "__dict__") else []
    for part in inner:
        if not isinstance(part, (str, float, int, type(None))):
            yield from _parts(part, seen)


def run(case: Case, device: Any = None, tally: Tally | None = None) -> str | None:
    """The first difference, if there is one. The disk cache is that of the environment."""
    tally = tally or Tally()
    loaded, changes = Loaded(case, device), list[str]()
    rng = random.Random(case.text)
    try:
        for number, (change, calls) in enumerate(case.steps):
            if change is None:
                loaded.forget()
                loaded = Loaded(case, device)
            changes += [] if change is None else [change]
            for each in changes if change is None else [change]:
                loaded.change(each)
            for _ in range(calls):
                found = _compared(loaded, rng, tally)
                if found is not None:
                    return f"step {number} ({change}): {found}"
    finally:
        loaded.forget()
    return None


def _compared(loaded: Loaded, rng: random.Random, tally: Tally) -> str | None:
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        plain_first = rng.random() < 0.5
        expected = loaded.call("forward") if plain_first else None
        before = loaded.held()
        got = loaded.call("jitted")
        changed = loaded.held() != before
        expected = expected if plain_first else loaded.call("forward")
    tally.counts["calls"] += 1
    if changed:
        return "the call changed what the model holds"
    if isinstance(got, TtnnJitError) and not isinstance(got, InternalError):
        tally.counts["refused"] += not isinstance(expected, Exception)
        tally.refusals[got.message[:70]] += not isinstance(expected, Exception)
        return None
    if isinstance(got, Exception):
        return None if type(got) is type(expected) else f"raw: {got!r}; plain Python gives {expected!r}"
    tally.counts["values"] += 1
    if isinstance(expected, Exception):
        return f"{got}; plain Python raises {expected!r}"
    return None if torch.equal(got, expected) else f"{got}; plain Python gives {expected}"
