"""Makes a failing case small, and writes it down as a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.properties.worlds.attack import Case, Failure, Step
from tests.properties.worlds.cases import loads, starts

Attempt = Callable[[Case], Failure | None]


def reduced(case: Case, failure: Failure, attempt: Attempt, budget: int = 120) -> tuple[Case, Failure]:
    """A smaller case that fails in the same way."""
    case = replace(case, steps=case.steps[: failure.step + 1])
    found = True
    while found and budget > 0:
        found = False
        for smaller in _smaller(case):
            budget -= 1
            if budget <= 0:
                break
            again = _failure_of(smaller, attempt)
            if again is not None and (again.kind, again.detail) == (failure.kind, failure.detail):
                case, failure, found = smaller, again, True
                break
    return case, failure


def _failure_of(case: Case, attempt: Attempt) -> Failure | None:
    try:
        return attempt(case) if loads(case) and starts(case.world) else None
    except Exception:  # noqa: BLE001 - what was left out was needed
        return None


def _smaller(case: Case) -> Iterator[Case]:
    world = case.world
    for i in range(len(world.statements)):
        if len(world.statements) > 1:
            yield from _with(case, statements=_without(world.statements, i))
    for i in range(1, len(case.steps)):
        yield replace(case, steps=_without(case.steps, i))
    for i in range(len(world.main)):
        yield from _with(case, main=_without(world.main, i))
    for i in range(len(world.helper)):
        yield from _with(case, helper=_without(world.helper, i))
    if world.mode != "function" and not any("a" in statement.text.split() for statement in world.statements):
        yield from _with(case, mode="function")
    for i, step in enumerate(case.steps):
        if step.calls > 1:
            yield replace(case, steps=(*case.steps[:i], replace(step, calls=1), *case.steps[i + 1 :]))
    for i, text in enumerate(world.main):
        lines = text.splitlines()
        for j in range(1, len(lines)):
            shorter = "\n".join(lines[:j] + lines[j + 1 :])
            yield from _with(case, main=(*world.main[:i], shorter, *world.main[i + 1 :]))


def _with(case: Case, **changes: object) -> Iterator[Case]:
    """The case with another world; texts of later processes lose what the world loses, as far as lines tell."""
    world = replace(case.world, **changes)  # type: ignore[arg-type]
    gone = _lines(case.world.main_text()) - _lines(world.main_text())
    new = _lines(world.main_text()) - _lines(case.world.main_text())
    gone_helper = _lines(case.world.helper_text()) - _lines(world.helper_text())
    steps = [_follow(step, gone, gone_helper, case.world.main_text(), world.main_text()) for step in case.steps]
    _ = new
    yield replace(case, world=world, steps=tuple(steps))


def _follow(step: Step, gone: set[str], gone_helper: set[str], before: str, after: str) -> Step:
    if step.source is None:
        return step
    main, helper = step.source
    old, now = before.splitlines(), main.splitlines()
    if len(old) == len(now):  # an edit keeps the lines: those that differ are put into the new text
        edits = {one: other for one, other in zip(old, now, strict=True) if one != other}
        main = "\n".join(edits.get(line, line) for line in after.splitlines()) + "\n"
    helper = "\n".join(line for line in helper.splitlines() if line not in gone_helper) + "\n"
    _ = gone
    return replace(step, source=(main, helper))


def _lines(text: str) -> set[str]:
    return set(text.splitlines())


def _without(items: tuple, index: int) -> tuple:  # type: ignore[type-arg]
    return items[:index] + items[index + 1 :]


def script(case: Case) -> str:
    """A case as a script that raises where it fails."""
    return f"""\
from tests.properties.worlds.__main__ import attempt
from tests.properties.worlds.attack import Case, Step
from tests.properties.worlds.mutations import Mutation
from tests.properties.worlds.world import Form, World

MAIN = '''
{chr(10).join(case.world.main)}
'''
HELPER = '''
{chr(10).join(case.world.helper)}
'''
# {case.world.mode} {case.world.taken}
PROGRAM = '''
{chr(10).join(statement.text for statement in case.world.statements)}
'''
STEPS = '''
{chr(10).join(_shown(case, step) for step in case.steps)}
'''
CASE = Case({case.world!r}, {case.steps!r}, {case.graph_capture!r})
print(attempt(CASE))
"""


def _shown(case: Case, step: Step) -> str:
    if step.source is not None:
        before = case.world.main_text().splitlines() + case.world.helper_text().splitlines()
        after = step.source[0].splitlines() + step.source[1].splitlines()
        edits = [
            f"{one.strip()}  =>  {other.strip()}" for one, other in zip(before, after, strict=False) if one != other
        ]
        return f"a new process: {edits}, {step.calls} calls"
    change = f"{step.mutation.where}: {step.mutation.text}" if step.mutation else "nothing changed"
    return f"{change}, {step.calls} calls"
