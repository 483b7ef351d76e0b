"""Reduces a failing case, and writes it as a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from tests.properties.worlds.attack import Case, Failure, Step
from tests.properties.worlds.cases import loads, starts
from tests.properties.worlds.world import World

Attempt = Callable[[Case], Failure | None]
T = TypeVar("T")


def reduced(case: Case, failure: Failure, attempt: Attempt, budget: int = 120) -> tuple[Case, Failure]:
    """A smaller case that fails in the same way, found with at most `budget` attempts."""
    case = replace(case, steps=case.steps[: failure.step + 1])
    found = True
    while found:
        found = False
        for smaller in _smaller(case):
            budget -= 1
            if budget < 0:
                return case, failure
            again = attempt(smaller) if loads(smaller) and starts(smaller.world) else None
            if again is not None and (again.kind, again.detail) == (failure.kind, failure.detail):
                case, failure, found = smaller, again, True
                break
    return case, failure


def _smaller(case: Case) -> Iterator[Case]:
    if len(case.world.statements) > 1:
        yield from (_with(case, replace(case.world, statements=rest)) for rest in _shorter(case.world.statements))
    yield from (replace(case, steps=(case.steps[0], *rest)) for rest in _shorter(case.steps[1:]))
    yield from (_with(case, replace(case.world, main=rest)) for rest in _shorter(case.world.main))
    yield from (_with(case, replace(case.world, helper=rest)) for rest in _shorter(case.world.helper))
    for index, step in enumerate(case.steps):
        if step.calls > 1:
            yield replace(case, steps=_put(case.steps, index, replace(step, calls=1)))
    for index, text in enumerate(case.world.main):
        first, *lines = text.splitlines()
        for rest in _shorter(tuple(lines)):
            yield _with(case, replace(case.world, main=_put(case.world.main, index, "\n".join([first, *rest]))))


def _shorter(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    return (items[:index] + items[index + 1 :] for index in range(len(items)))


def _put(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    return (*items[:index], item, *items[index + 1 :])


def _with(case: Case, world: World) -> Case:
    """The case with another world; the edits of later processes are applied to its text."""
    texts = [(case.world.main_text(), world.main_text()), (case.world.helper_text(), world.helper_text())]
    return replace(case, world=world, steps=tuple(_follow(step, texts) for step in case.steps))


def _follow(step: Step, texts: list[tuple[str, str]]) -> Step:
    if step.source is None:
        return step
    main, helper = (_edit(*pair, edited) for pair, edited in zip(texts, step.source, strict=True))
    return replace(step, source=(main, helper))


def _edit(before: str, after: str, edited: str) -> str:
    """`after` with the lines changed that `edited` changes in `before`."""
    changed = dict(edits(before, edited))
    return "".join(f"{changed.get(line, line)}\n" for line in after.splitlines())


def edits(before: str, after: str) -> list[tuple[str, str]]:
    """The lines that differ; an edit keeps their number."""
    return [pair for pair in zip(before.splitlines(), after.splitlines(), strict=False) if pair[0] != pair[1]]


def script(case: Case) -> str:
    """A case as a script that prints its failure; run it from the root of the repository."""
    world = case.world
    return f"""\
from tests.properties.worlds.__main__ import attempt
from tests.properties.worlds.attack import Case, Step
from tests.properties.worlds.mutations import Mutation
from tests.properties.worlds.world import Statement, World

MAIN = '''
{chr(10).join(world.main)}
'''
HELPER = '''
{chr(10).join(world.helper)}
'''
PROGRAM = '''
# {world.mode}{"" if world.mode in {"function", "inner"} else f" of a = {world.taken}"}
{chr(10).join(statement.text for statement in world.statements)}
'''
STEPS = '''
{chr(10).join(_shown(case, step) for step in case.steps)}
'''
CASE = Case({world!r}, {case.steps!r}, {case.graph_capture!r})
print(attempt(CASE))
"""


def _shown(case: Case, step: Step) -> str:
    calls = f"{step.calls} calls"
    if step.source is not None:
        main, helper = edits(case.world.main_text(), step.source[0]), edits(case.world.helper_text(), step.source[1])
        return "\n".join(["a new process", *(f"  {old}  =>  {new}" for old, new in [*main, *helper]), calls])
    if step.mutation is None:
        return calls
    known = "" if step.mutation.known else ", without a source"
    return f"{step.mutation.where}: {step.mutation.text}{known}; {calls}"
