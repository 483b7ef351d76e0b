"""Makes random cases: a world, and changes and edits that mostly affect the result of its program."""

from __future__ import annotations

import io
import random
import tokenize
import warnings
from typing import Any

from tests.properties.worlds.attack import Case, Step, plain, shown
from tests.properties.worlds.mutations import Mutation, Mutator
from tests.properties.worlds.world import Loaded, World
from tests.properties.worlds.writer import Writer

_TRIES = 6
_TAKEN_UNCHANGED, _TAKEN_FAILING = 0.1, 0.15


def case_of(seed: int, *, graph_capture: bool | None, steps: int = 5) -> Case | None:
    """A random case; None if the world cannot be loaded, or its program fails from the start."""
    draw = random.Random(seed)
    world = Writer(draw).world()
    if not starts(world):
        return None
    story = _Story(draw, world)
    story.steps.append(Step(calls=draw.choice([1, 1, 2, 3, 4])))
    for _ in range(draw.randint(1, steps)):
        if draw.random() < 0.35:
            story.start_process()
        else:
            story.change()
    return Case(world, tuple(story.steps), graph_capture)


def starts(world: World) -> bool:
    """Whether the world can be loaded and its program runs."""
    outcome = _outcome(world, (world.main_text(), world.helper_text()), [])[1]
    return outcome is not None and not isinstance(outcome, Exception)


def loads(case: Case) -> bool:
    """Whether every text of the case can be loaded."""
    return all(step.source is None or _outcome(case.world, step.source, [])[0] is not None for step in case.steps)


def _outcome(world: World, source: tuple[str, str], mutations: list[Mutation]) -> tuple[Loaded | None, Any]:
    """A world after changes, and the result of its program; None if it cannot be loaded."""
    try:
        loaded = Loaded(world, *source)
    except Exception:  # noqa: BLE001 - a world that is no Python
        return None, None
    try:
        for mutation in mutations:
            loaded.run(mutation)
        return loaded, plain(loaded)
    except Exception:  # noqa: BLE001 - not every change can be made
        return None, None
    finally:
        loaded.forget()


class _Story:
    """The steps of a case, and the final state."""

    def __init__(self, draw: random.Random, world: World) -> None:
        self.steps: list[Step] = []
        self._draw = draw
        self._world = world
        self._source = self._first = world.main_text(), world.helper_text()
        self._mutations: list[Mutation] = []
        self._now = shown(_outcome(world, self._source, [])[1])

    def start_process(self) -> None:
        """Continues in a new process, mostly with an edited source."""
        for _ in range(_TRIES):
            source = self._first if self._draw.random() < 0.2 else edited(self._draw, self._first)
            if self._is_taken(source, []):
                self._source, self._mutations = source, []
                self.steps.append(Step(source=source, calls=self._draw.choice([1, 2])))
                return

    def change(self) -> None:
        """Changes the running process."""
        for _ in range(_TRIES):
            model, _ = _outcome(self._world, self._source, self._mutations)
            if model is None:
                return
            try:
                mutation = Mutator(self._draw, vars(model.main), vars(model.helper), self._world.reached()).mutation()
            except Exception:  # noqa: BLE001 - a world whose objects do not let themselves be looked at
                continue
            if self._is_taken(self._source, [*self._mutations, mutation]):
                self._mutations.append(mutation)
                self.steps.append(Step(mutation, calls=self._draw.choice([1, 1, 1, 2, 3])))
                return

    def _is_taken(self, source: tuple[str, str], mutations: list[Mutation]) -> bool:
        """Whether to continue from here: if nothing has changed, or the program fails, only rarely."""
        model, outcome = _outcome(self._world, source, mutations)
        if model is None:
            return False
        now = shown(outcome)
        chance = _TAKEN_FAILING if isinstance(outcome, Exception) else 1.0
        if self._draw.random() >= (_TAKEN_UNCHANGED if now == self._now else chance):
            return False
        self._now = now
        return True


# --- edits of the source --------------------------------------------------------------------------------------------

_NUMBERS = ("2.0", "3.0", "0.5", "4.0", "5", "1")
_OPERATORS = {"+": "-", "*": "+", "<": ">", ">": "<", "==": "!=", "-": "+"}
_NAMES = {"relu": "neg", "neg": "relu", "max": "min", "min": "max", "True": "False", "False": "True"}


def edited(draw: random.Random, source: tuple[str, str]) -> tuple[str, str]:
    """The same modules with a number, a name or an operator changed in the text."""
    made = list(source)
    which = 1 if draw.random() < 0.2 else 0
    for _ in range(draw.choice([1, 1, 2])):
        made[which] = _edited(draw, made[which])
    return made[0], made[1]


def _edited(draw: random.Random, text: str) -> str:
    changes = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NUMBER:
            changes += [(token, draw.choice(_NUMBERS))] * 3
        elif token.type == tokenize.OP and token.string in _OPERATORS and "*args" not in token.line:
            changes.append((token, _OPERATORS[token.string]))
        elif token.type == tokenize.NAME and token.string in _NAMES:
            changes.append((token, _NAMES[token.string]))
        elif token.string == "'relu'":
            changes.append((token, "'neg'"))
    if not changes:
        return text
    token, other = draw.choice(changes)
    lines = text.splitlines(keepends=True)
    line = lines[token.start[0] - 1]
    lines[token.start[0] - 1] = line[: token.start[1]] + other + line[token.end[1] :]
    made = "".join(lines)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(made, "<edited>", "exec")
    except SyntaxError:
        return text
    return made
