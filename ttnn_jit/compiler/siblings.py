"""The programs of the bound copies of one function, such as those of a method for each instance of a module's class.

A copy serves a call by the program of another copy if all that its compile read has the same value from this copy: then
a compile for this copy would make the same program.
"""

from __future__ import annotations

import types
import weakref
from collections import defaultdict, deque
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from ttnn_jit.compiler.hidden_symbols import SeenCall
from ttnn_jit.compiler.request import Compilation
from ttnn_jit.compiler.symbols import Sizes
from ttnn_jit.compiler.template import CompiledTemplate
from ttnn_jit.foreign.values import is_a, is_atom, is_operation
from ttnn_jit.guards.reads import NumberMark, Read
from ttnn_jit.guards.tensor_mark import TensorMark
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.programs.program import Program

MOST_SHARED = 16
"""The most templates, and the most programs of one size, of calls that differ in sizes alone."""

_OF_NO_INSTANCE = (
    TensorMark,
    NumberMark,
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    types.CodeType,
)
"""Values of reads that other copies may have too, and that no instance owns."""


@dataclass(frozen=True)
class _Exact:
    """A program of one size, which is kept as long as a copy has it.

    Attributes:
        sizes: The sizes of its call.
        program: The program.
        reads: See `Compilation`.
        structure: See `Compilation`.
        warnings: See `Compilation`.
    """

    sizes: Sizes
    program: weakref.ref[Program]
    reads: tuple[Read, ...]
    structure: Any
    warnings: tuple[str, ...]


class Siblings:
    """The programs that copies share, by the key of calls without their sizes."""

    def __init__(self) -> None:
        self._templates: defaultdict[Hashable, deque[CompiledTemplate]] = defaultdict(lambda: deque(maxlen=MOST_SHARED))
        self._exact: defaultdict[Hashable, deque[_Exact]] = defaultdict(lambda: deque(maxlen=MOST_SHARED))
        self._seen: defaultdict[Hashable, deque[SeenCall]] = defaultdict(lambda: deque(maxlen=MOST_SHARED))

    def add_seen(self, key: Hashable, seen: SeenCall) -> None:
        """Note a call that was compiled: its sizes and the numbers that it read.

        A copy that has another number is compiled with the number open. Its hidden tensors are its own.
        """
        self._seen[key].append(SeenCall(seen.sizes, {}, seen.numbers))

    def seen_beside(self, key: Hashable, known: Sequence[SeenCall]) -> list[SeenCall]:
        """The latest calls that were compiled, besides those that are `known`."""
        own = {*map(id, known)}
        return [each for each in self._seen.get(key, ()) if id(each) not in own]

    def add_template(self, key: Hashable, made: CompiledTemplate) -> None:
        """Share a template, unless it depends on what only its instance has."""
        if _may_be_of_another(made.reads):
            self._templates[key].appendleft(made)

    def add(self, key: Hashable, sizes: Sizes, made: Compilation) -> None:
        """Share the program of one size, likewise."""
        if made.opaque is None and _may_be_of_another(made.reads):
            own = made.reads, made.structure, made.warnings
            self._exact[key].appendleft(_Exact(sizes, weakref.ref(made.program), *own))

    def templates(self, key: Hashable, known: Sequence[CompiledTemplate]) -> Iterator[CompiledTemplate]:
        """The templates besides those that are `known`."""
        programs = {id(each.program) for each in known}
        return (each for each in tuple(self._templates.get(key, ())) if id(each.program) not in programs)

    def compilations(self, key: Hashable, sizes: Sizes) -> Iterator[Compilation]:
        """The programs for these sizes."""
        for each in tuple(self._exact.get(key, ())):
            program = each.program()
            if program is not None and each.sizes == sizes:
                yield Compilation(program, each.reads, each.structure, None, each.warnings)


def _may_be_of_another(reads: Sequence[Read]) -> bool:
    """Whether another copy may have all the values; others would keep objects of an instance alive."""
    values = (read.value for read in reads)
    return all(is_a(value, *_OF_NO_INSTANCE) or is_atom(value) or is_operation(value) for value in values)
