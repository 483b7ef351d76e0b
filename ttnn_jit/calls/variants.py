"""The programs of a jitted function in memory: by cache key, and for one key several with different guards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.diagnostics.changing_arguments import ChangingArguments
from ttnn_jit.diagnostics.tracebacks import warn_user
from ttnn_jit.dispatch.lru_programs import Key, LruPrograms
from ttnn_jit.foreign.values import atom_key
from ttnn_jit.guards.reads import Fetch, Opaque
from ttnn_jit.process.compile_lock import compiling
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.libraries import WarmCall

if TYPE_CHECKING:
    from ttnn_jit.dispatch.arguments import Arguments
    from ttnn_jit.runtime.programs.program import Program

_SERVED_AGAIN = "served again"
"""The entry of a variant's ``__dict__`` that says that a later call found it."""
VARIANTS_PER_KEY = 8  # programs of one key, for globals or closures that switch between values


@dataclass(frozen=True)
class Variant:
    """A program and its guard.

    Attributes:
        fetch: The guard: from the tensors of a call to the hidden inputs; None if a value that was read has changed.
        program: The program.
        run: From the call's tensors and the hidden inputs to the results of the function.
        make_warm: Makes `warm`, given examples of the hidden inputs. It is called at the second call, so that the first
            does not pay for it, and only where later calls can be remembered.
        hidden: The names of the hidden inputs.
        opaque: The first value that was read and cannot be guarded: the program serves one call.
        warnings: Warnings for the user.
        by_template: Whether a template made the program, so that other sizes and ints need no compile.
    """

    fetch: Fetch
    program: Program
    run: Callable[..., Any]
    make_warm: Callable[[Sequence[Any]], WarmCall | None]
    hidden: tuple[str, ...] = ()
    opaque: Opaque | None = None
    warnings: tuple[str, ...] = ()
    by_template: bool = False

    def warm(self, hidden: Sequence[Any]) -> WarmCall | None:
        """The function that checks the guard and runs, for a call with equal metadata; None if there is none."""
        # Not a cached_property: its lock, until Python 3.12 one for all objects, may stay held in a forked child.
        if "written" not in vars(self):
            with compiling():
                vars(self)["written"] = self.make_warm(hidden)
        written: WarmCall | None = vars(self)["written"]
        return written


class Variants:
    """The variants of one function, and the warnings of its compiles.

    Args:
        function: The name of the function.
        changing: The values for which its programs were compiled.
    """

    def __init__(self, function: str, changing: ChangingArguments) -> None:
        self._function = function
        self._by_key: LruPrograms[tuple[Variant, ...]] = LruPrograms(changing)
        self._changing = changing
        self._opaque_programs = 0
        self._warned: set[str] = set()

    def __len__(self) -> int:
        return sum(1 for _ in self.programs())

    def programs(self) -> Iterator[Program]:
        """Every program in memory."""
        return (variant.program for variants in self._by_key.values() for variant in variants)

    @property
    def served_one_call(self) -> bool:
        """Whether every program was called once."""
        return not any(_SERVED_AGAIN in vars(variant) for variants in self._by_key.values() for variant in variants)

    def find(self, key: Key, tensors: Sequence[Any]) -> tuple[Variant, tuple[Any, ...]] | None:
        """The variant of `key` whose guard holds for a call with these tensors, and its hidden inputs.

        Counts a memory hit.
        """
        for variant in self._by_key.get(key) or ():
            hidden = variant.fetch(tensors) if variant.opaque is None else None
            if hidden is not None:
                COUNTERS.memory_hits += 1
                vars(variant)[_SERVED_AGAIN] = True
                return variant, hidden
        return None

    def add(self, key: Key, variant: Variant, arguments: Arguments, forget_calls: Callable[[], None]) -> None:
        """Keep the variant of a call with these `arguments`, and issue the warnings of its compile, each once.

        `forget_calls` clears the remembered calls, which bypass the variants.
        """
        for text in variant.warnings:
            self.warn_once(text)
        if variant.opaque is not None:
            self._count_opaque(variant.opaque)
        if not variant.by_template:
            self._count(arguments)
        variants = (variant, *(self._by_key.get(key) or ()))[:VARIANTS_PER_KEY]
        self._by_key.put(key, variants, forget_calls, warns=not variant.by_template)

    def _count(self, arguments: Arguments) -> None:
        """Count the values that a program was compiled for."""
        numbers = arguments.numbers()
        for name, part in arguments.keys_by_parameter().items():
            if name in numbers:
                self._changing.count_number(f"`{name}`", atom_key(numbers[name]))
            else:
                self._changing.count(f"`{name}`", part)

    def warn_once(self, text: str) -> None:
        """Warn the user, once in the life of the function."""
        if text not in self._warned:
            self._warned.add(text)
            warn_user(text)

    def clear(self) -> None:
        """Forget every program."""
        self._by_key.clear()

    def _count_opaque(self, opaque: Opaque) -> None:
        """Warn at the second program that serves one call only."""
        self._opaque_programs += 1
        if self._opaque_programs == 2:
            location = "" if opaque.location is None else f" at {opaque.location}"
            warn_user(
                f"{self._function} is compiled at every call, because a change of what it reads{location} could not "
                f"be seen: {opaque.what}; compute it before the call and pass the value as an argument"
            )
