"""The programs that a jitted function has in memory: by key, and for each key by what their guards found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.diagnostics.changing_arguments import ChangingArguments
from ttnn_jit.diagnostics.tracebacks import warn_the_user
from ttnn_jit.dispatch.kept_programs import KeptPrograms, Key
from ttnn_jit.foreign.values import atom_key
from ttnn_jit.guards.reads import Fetch, Opaque
from ttnn_jit.process.compile_lock import compiling
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.libraries import WarmCall

if TYPE_CHECKING:
    from ttnn_jit.dispatch.arguments import Arguments
    from ttnn_jit.runtime.programs.program import Program

VARIANTS_PER_KEY = 8  # programs kept for one key while globals or closures switch between values


@dataclass(frozen=True)
class Variant:
    """A program, and the guard that says whether it still is the program of the function.

    Attributes:
        fetch: Finds the hidden inputs of a call with these tensors; None once anything that the compile read changed.
        program: The program.
        run: From the call's tensors, then the hidden inputs, to what the function returns.
        write_warm: Makes `warm`, with hidden inputs as they are for examples: at the second call, so that the first
            does not pay for it.
        hidden: Names of the hidden inputs.
        opaque: The first thing that was read whose change cannot be seen: the program serves one call.
        warnings: Texts for the user.
    """

    fetch: Fetch
    program: Program
    run: Callable[..., Any]
    write_warm: Callable[[Sequence[Any]], WarmCall | None]
    hidden: tuple[str, ...] = ()
    opaque: Opaque | None = None
    warnings: tuple[str, ...] = ()

    def warm(self, hidden: Sequence[Any]) -> WarmCall | None:
        """Guard and run in one, for a call whose metadata were compared; None where there is no such function."""
        # No cached_property: its lock, until Python 3.12 one for all objects, would be held in a forked child for ever.
        if "written" not in vars(self):
            with compiling():
                vars(self)["written"] = self.write_warm(hidden)
        written: WarmCall | None = vars(self)["written"]
        return written


class Variants:
    """The variants of one function, and what its compiles had in common, of which the user is told.

    Args:
        function: Its name.
        changing: What they were compiled for.
    """

    def __init__(self, function: str, changing: ChangingArguments) -> None:
        self._function = function
        self._by_key: KeptPrograms[tuple[Variant, ...]] = KeptPrograms(changing)
        self._changing = changing
        self._opaque_programs = 0
        self._said: set[str] = set()

    def __len__(self) -> int:
        return sum(1 for _ in self.programs())

    def programs(self) -> Iterator[Program]:
        """Every program in memory."""
        return (variant.program for variants in self._by_key.values() for variant in variants)

    @property
    def served_one_call(self) -> bool:
        """Whether no program was called again."""
        return not any("written" in vars(variant) for variants in self._by_key.values() for variant in variants)

    def find(self, key: Key, tensors: Sequence[Any]) -> tuple[Variant, tuple[Any, ...]] | None:
        """The variant of `key` whose guard holds for a call with these tensors, and its hidden inputs.

        It is counted as a hit.
        """
        for variant in self._by_key.get(key) or ():
            hidden = variant.fetch(tensors) if variant.opaque is None else None
            if hidden is not None:
                COUNTERS.memory_hits += 1
                return variant, hidden
        return None

    def add(self, key: Key, variant: Variant, arguments: Arguments, forget_calls: Callable[[], None]) -> None:
        """Keep what was compiled for a call with these `arguments`; warn of what serves too few calls.

        What the compile says is said once. `forget_calls` forgets every call that goes straight to a variant.
        """
        for text in variant.warnings:
            self.say(text)
        if variant.opaque is not None:
            self._count_opaque(variant.opaque)
        numbers = arguments.numbers()
        for name, part in arguments.keys().items():
            if name in numbers:
                self._changing.count_number(f"`{name}`", atom_key(numbers[name]))
            else:
                self._changing.count(f"`{name}`", part)
        variants = (variant, *(self._by_key.get(key) or ()))[:VARIANTS_PER_KEY]
        self._by_key.put(key, variants, forget_calls)

    def say(self, text: str) -> None:
        """Warn the user, once in the life of the function."""
        if text not in self._said:
            self._said.add(text)
            warn_the_user(text)

    def clear(self) -> None:
        """Forget every program."""
        self._by_key.clear()

    def _count_opaque(self, opaque: Opaque) -> None:
        """Warn, the second time, of a program that serves one call only."""
        self._opaque_programs += 1
        if self._opaque_programs == 2:
            location = "" if opaque.location is None else f" at {opaque.location}"
            warn_the_user(
                f"{self._function} is compiled at every call, because a change of what it reads{location} could not "
                f"be seen: {opaque.what}; compute it before the call and pass the value as an argument"
            )
