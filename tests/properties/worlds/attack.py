"""Runs a world and its changes, compiled and plain, and reports where they differ."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import torch

import ttnn_jit
from tests.properties.worlds.mutations import Mutation
from tests.properties.worlds.reference import Reference, same
from tests.properties.worlds.world import Loaded, World
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.diagnostics.errors import InternalError, TtnnJitError

X = 1.5
RECOMPILED = re.compile(r"is compiled at every call, because .* could not be seen: (?P<reason>.*); compute it")
"""The text of the warning about a program that serves one call."""


@dataclass(frozen=True)
class Step:
    """A step between calls.

    Attributes:
        mutation: A change of the running world; None for none.
        source: The text of main and helper module of a new process; None if the process goes on.
        calls: How often the program is called then.
        plain_first: Whether the plain copy runs first.
    """

    mutation: Mutation | None = None
    source: tuple[str, str] | None = None
    calls: int = 1


@dataclass(frozen=True)
class Failure:
    """A difference.

    Attributes:
        kind: ``stale`` where another number came, ``raw`` for an exception that is none of the compiler's,
            ``internal``, ``returned`` where plain Python raises, ``refused later`` for a refusal that a first call
            does not give, ``silent`` where each call compiles and no warning says so.
        step: The index of the step after which it was seen.
        text: What came and what should have.
        detail: The classes of the exceptions in it.
    """

    kind: str
    step: int
    text: str
    detail: str = ""


@dataclass
class Tally:
    """The counts of many attacks."""

    counts: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    opaque: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Case:
    """A world, its steps, and the frontend."""

    world: World
    steps: tuple[Step, ...]
    graph_capture: bool | None


def plain(loaded: Loaded) -> tuple[float, ...] | Exception:
    """The result of the plain function."""
    loaded.enter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = loaded.main.program(*loaded.arguments(Reference(X)))
        return tuple(result.value for result in results)
    except Exception as error:  # noqa: BLE001 - whatever a world raises is compared
        return error


class Compiled:
    """The compiled copy of a world, as a process sees it."""

    def __init__(self, loaded: Loaded, *, graph_capture: bool | None, disk: bool) -> None:
        self.loaded = loaded
        self._options = {"graph_capture": graph_capture, "enable_cache": disk}
        self.method: Any = None
        self.jitted = ttnn_jit.jit(**self._options)(loaded.main.program)
        self.reason = ""
        self.refused = False
        self.last: Any = None

    def call(self, jitted: Any = None) -> tuple[float, ...] | Exception:
        """The result of the compiled function."""
        self.loaded.enter()
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                arguments = self.loaded.arguments(torch.full((2, 2), X))
                if self.loaded.world.mode == "method":
                    jitted = (jitted or self.jitted).__get__(arguments[0], type(arguments[0]))
                    arguments = arguments[1:]
                results = (jitted or self.jitted)(*arguments)
            for warning in caught:
                found = RECOMPILED.search(str(warning.message).replace("\n", " "))
                self.reason = found["reason"] if found else self.reason
            return tuple(float(result[0, 0]) for result in results)
        except Exception as error:  # noqa: BLE001 - what may be raised is what is tested
            return error

    def fresh(self) -> tuple[float, ...] | Exception:
        """The result of a function that was never called."""
        options = {**self._options, "enable_cache": False}
        return self.call(ttnn_jit.jit(**options)(self.loaded.main.program))


def segments(case: Case) -> list[Case]:
    """The part of a case in each process."""
    starts = [0, *(index for index, step in enumerate(case.steps) if step.source is not None and index)]
    return [replace(case, steps=case.steps[one:other]) for one, other in zip(starts, [*starts[1:], None], strict=True)]


def run(case: Case, tally: Tally | None = None) -> Failure | None:
    """The first difference, if there is one. The disk cache is that of the environment, and empty at the start."""
    tally = tally or Tally()
    main, helper = case.world.main_text(), case.world.helper_text()
    process: tuple[Loaded, Compiled] | None = None
    worlds: list[Loaded] = []
    try:
        for index, step in enumerate(case.steps):
            if step.source is not None or process is None:
                main, helper = step.source or (main, helper)
                twin, own = Loaded(case.world, main, helper), Loaded(case.world, main, helper)
                worlds += [twin, own]
                process = twin, Compiled(own, graph_capture=case.graph_capture, disk=True)
            if step.mutation is not None:
                _mutate(process, step.mutation)
            hits = [COUNTERS.memory_hits]
            for _ in range(step.calls):
                failure = _compare(process, index, tally)
                if failure is not None:
                    return failure
                if process[1].refused and "next(" in case.world.text():
                    return None  # a refused call has advanced no iterator of its world, but Python has
                hits.append(COUNTERS.memory_hits)
            if step.calls > 1 and not process[1].refused:
                tally.counts["repeated"] += 1
                tally.counts["opaque"] += hits[-1] == hits[-2]
                tally.opaque[re.sub(r"\d+", "#", process[1].reason)] += hits[-1] == hits[-2]
            if len(hits) > 3 and hits[-1] == hits[-3] and not process[1].refused and not process[1].reason:
                return Failure("silent", index, "compiled at each call, and no warning says so")
    finally:
        for loaded in worlds:
            loaded.forget()
    return None


def _mutate(process: tuple[Loaded, Compiled], mutation: Mutation) -> None:
    twin, compiled = process
    for loaded in (twin, compiled.loaded):
        # A change that fails has the same partial effect in both copies.
        with contextlib.suppress(Exception):
            loaded.run(mutation)


def _compare(process: tuple[Loaded, Compiled], index: int, tally: Tally) -> Failure | None:
    twin, compiled = process
    expected = plain(twin)
    hits, compiles = COUNTERS.memory_hits, COUNTERS.compiles
    got = compiled.call()
    tally.counts["calls"] += 1
    tally.counts["memory hits"] += COUNTERS.memory_hits - hits
    tally.counts["compiles"] += COUNTERS.compiles - compiles
    compiled.refused = isinstance(got, Exception)
    tally.counts["values"] += not isinstance(expected, Exception)
    tally.counts["other values"] += None not in (compiled.last, expected) and shown(compiled.last) != shown(expected)
    compiled.last = expected
    failure = difference(expected, got)
    if isinstance(got, TtnnJitError) and not isinstance(expected, Exception):
        tally.counts["refused"] += 1
        tally.refusals[re.sub(r"[\w.]*\d+[\w.]*", "#", got.message)[:90]] += 1
        again = compiled.fresh()
        # A refused trace may have had side effects: then the second call is no first one either.
        if not isinstance(again, TtnnJitError) and isinstance(compiled.call(), TtnnJitError):
            return Failure("refused later", index, f"{shown(got)}; a new function gives {shown(again)}")
    elif isinstance(expected, Exception):
        tally.counts["raised by both"] += 1
    detail = " ".join(type(value).__name__ for value in (expected, got))
    return None if failure is None else Failure(failure[0], index, failure[1], detail)


def shown(outcome: Any) -> str:
    """The outcome of a call, as text."""
    if not isinstance(outcome, Exception):
        return str(outcome)
    try:
        return f"{type(outcome).__name__}: {outcome}"
    except Exception:  # noqa: BLE001 - the text may hold an object of the world, which answers whatever it likes
        return type(outcome).__name__


def difference(expected: Any, got: Any) -> tuple[str, str] | None:
    """The kind of difference between two outcomes."""
    if isinstance(got, Exception):
        if isinstance(got, InternalError):
            return "internal", shown(got)
        if isinstance(got, TtnnJitError) or type(got) is type(expected):
            return None
        return "raw", f"{shown(got)}; plain Python gives {shown(expected)}"
    if isinstance(expected, Exception):
        return "returned", f"{got}; plain Python raises {shown(expected)}"
    if len(got) == len(expected) and all(map(same, got, expected)):
        return None
    return "stale", f"{got}; plain Python gives {expected}"
