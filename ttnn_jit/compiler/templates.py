"""The templates of a function (compiler/template.py): which one serves a call, and when one is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import field
from typing import Any

from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.compiler import driver
from ttnn_jit.compiler.found import FetchHidden, Found, GuardedReads, GuardOf
from ttnn_jit.compiler.hidden_symbols import SeenCall, is_number, numbers_of_reads, sizes_of_reads, with_forms
from ttnn_jit.compiler.l1_requirement import ExceedsL1Error
from ttnn_jit.compiler.request import Compilation, Request
from ttnn_jit.compiler.siblings import Siblings
from ttnn_jit.compiler.stored_programs import StoredPrograms
from ttnn_jit.compiler.stored_templates import keep_template, read_template
from ttnn_jit.compiler.symbols import Place, Symbols, names_of_sizes
from ttnn_jit.compiler.template import (
    CompiledTemplate,
    Template,
    compile_template,
    is_eligible,
    marked_places,
    sizes_of,
)
from ttnn_jit.compiler.template_check import check_by_another_compile
from ttnn_jit.compiler.template_misses import SizedTemplate, explained, most_frequent_failures
from ttnn_jit.diagnostics.debugging import debugging
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.diagnostics.tracebacks import warn_user
from ttnn_jit.foreign.values import same_value
from ttnn_jit.guards.reads import Read, path_text
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.runtime.libraries import mark_of
from ttnn_jit.specs.extents.float_functions import double
from ttnn_jit.specs.extents.trace import ServesOneCallError


@dataclass
class _Guarded:
    """A template of a process.

    Attributes:
        compiled: The template.
        guard: The guard of its compilation.
        digest: The digest of its entry on disk; None if it has none.
        is_read: Whether it was read from disk.
        is_shared: Whether it has served a second size.
    """

    compiled: CompiledTemplate
    guard: GuardedReads
    digest: str | None
    is_read: bool
    is_shared: bool = False

    @staticmethod
    def of(compiled: CompiledTemplate, guard: GuardedReads, digest: str | None, *, is_read: bool) -> _Guarded:
        """The template with the reads of its guard, which keep no tensor alive."""
        return _Guarded(replace(compiled, reads=tuple(guard.reads)), guard, digest, is_read)


@dataclass
class _Family:
    """The calls of a function that differ in sizes alone.

    Attributes:
        seen: The calls that were compiled.
        marked: The sizes that the user marked as open.
        templates: The templates of these calls.
        fixed: How many templates have fixed a number among the arguments, each to another value, before one left it
            open.
        is_warned_of: The user was warned that templates run out.
        serves_one_call: A program of these calls served one call only, so that no template is tried again.
    """

    seen: list[SeenCall] = field(default_factory=list)
    marked: set[Place] = field(default_factory=set)
    templates: list[_Guarded] = field(default_factory=list)
    fixed: Counter[Place] = field(default_factory=Counter)
    is_warned_of: bool = False
    serves_one_call: bool = False

    def varies(self, place: Place) -> bool:
        """Whether a size was not the same at every call, or is marked."""
        index, axis = place
        first = self.seen[0].sizes
        return place in self.marked or any(seen.sizes[index][axis] != first[index][axis] for seen in self.seen)

    def note_fixed_numbers(self, template: Template, tensors: int) -> None:
        """Count the numbers of a call with so many tensors that its new template fixes, unless their value folds."""
        values = template.values_of_fixed_symbols
        for row, own in enumerate(template.symbols.numbers[tensors : tensors + 2], tensors):
            shown = double if row in template.symbols.floats else int
            for axis, symbol in enumerate(own):
                if symbol is None:
                    continue
                if symbol not in values:
                    self.fixed[row, axis] = -MAX_TEMPLATES
                elif not _folds(shown(values[symbol])):
                    self.fixed[row, axis] += 1

    def are_equal(self, one: Place, other: Place) -> bool:
        """Whether two sizes were equal at every call."""
        return all(seen.sizes[one[0]][one[1]] == seen.sizes[other[0]][other[1]] for seen in self.seen)

    @property
    def digests(self) -> set[str]:
        """The digests of the templates that are on disk too."""
        return {each.digest for each in self.templates if each.digest is not None}

    @property
    def has_other_hidden_inputs(self) -> bool:
        """Whether the last call had the sizes of an earlier one, with hidden inputs."""
        *earlier, last = self.seen
        return any(seen.hidden and seen.sizes == last.sizes for seen in earlier)

    def has_other_numbers(self, request: Request) -> bool:
        """Whether a path at which an earlier call read a number leads to another number now."""
        earlier = {path: number for seen in self.seen for path, number in seen.numbers.items()}
        now = ((request.plain_value_at(path), number) for path, number in earlier.items())
        return any(is_number(found) and not same_value(found, number) for found, number in now)

    def find(self, request: Request, fetch: FetchHidden, guard_of: GuardOf) -> Found | None:
        """The compilation of a request by a template whose guard holds; None if there is none.

        A template from disk whose plan for these sizes is refused is damaged, and forgotten.
        """
        for each in tuple(self.templates):
            hidden = fetch(each.guard)
            if hidden is None:
                continue
            try:
                found = each.compiled.compilation_for(request, hidden)
            except InternalError:
                if not each.is_read:
                    raise
                self.templates.remove(each)
                continue
            if found is not None:
                if not each.is_shared and debugging():
                    check_by_another_compile(each.compiled, request, found.program.plan)
                COUNTERS.template_hits += 1
                each.is_shared = True
                return Found(found, guard_of(found)) if each.compiled.hidden else Found(found, each.guard, hidden)
        return None


def _folds(number: float) -> bool:
    """Whether a number may be fixed for its value, while the function leaves others open."""
    return abs(number) in {0, 1} or not _LEAST_ORDINARY <= abs(number) <= _GREATEST_ORDINARY


_LEAST_ORDINARY, _GREATEST_ORDINARY = 2.0**-126, 3e38
"""Between these a float32 is neither denormal nor the largest, which stands for infinity."""

MAX_FIXED = 4
"""After so many templates that fix a number among the arguments, the function is taken to need its value.

Fewer would take a function that treats its first steps in another way for one that needs the number of every step.
"""

MAX_TEMPLATES = 16
"""The most templates of calls that differ in sizes alone; beyond it, every size is compiled by itself."""

MAX_UNSHARED = 6
"""The most of these that have served one size: as long as there are more, templates would not pay for their compile."""

_MAX_SEEN = 64


class Templates:
    """The templates of one function.

    Args:
        dynamic: True: every extent of an argument may vary from the first call on. None: those that have varied.
            False: none.
        guard_of: See `GuardOf`.
        warn: Warns the user that calls that differ in sizes alone need too many templates.
        siblings: The programs of other copies of the function; None: there are none.
    """

    def __init__(
        self,
        dynamic: bool | None,
        guard_of: GuardOf,
        warn: Callable[[str], None] = warn_user,
        siblings: Siblings | None = None,
    ) -> None:
        self._dynamic = dynamic
        self._guard_of = guard_of
        self._warn = warn
        self._siblings = siblings
        self._families: dict[Hashable, _Family] = {}

    def clear(self) -> None:
        """Forget every template."""
        self._families.clear()

    def compilation(
        self,
        key: tuple[Hashable, ...],
        request: Request,
        fetch: FetchHidden,
        *,
        use_disk: bool,
        searched: StoredPrograms | None = None,
    ) -> Found:
        """The compilation of a request.

        It is looked up by the templates in memory, those of other copies of the function included, then on disk by the
        request, then by the templates on disk. What is not found is compiled, as a template if an extent has varied.

        Args:
            key: The key of the call without its sizes: `key_without_sizes`.
            request: The request.
            fetch: The hidden inputs of the call by the guard of a template.
            use_disk: Whether programs are looked up on disk, and stored there.
            searched: The stored programs, if the request was not found there.

        Raises:
            CompileError, ArgumentError, GridError: As `driver.compile_program`.
        """
        try:
            return self._compilation(key, request, fetch, use_disk=use_disk, searched=searched)
        except ExceedsL1Error:  # a compile of this size says what does not fit
            compilation = driver.compile_anew(request, StoredPrograms.of(request, use_disk=use_disk))
            return Found(compilation, self._guard_of(compilation))

    def _compilation(
        self,
        key: tuple[Hashable, ...],
        request: Request,
        fetch: FetchHidden,
        *,
        use_disk: bool,
        searched: StoredPrograms | None,
    ) -> Found:
        family = self._family(key, request)
        if family is not None and (found := family.find(request, fetch, self._guard_of)) is not None:
            return found
        if family is not None and (found := self._of_siblings(key, family, request, fetch)) is not None:
            return found
        stored = searched or StoredPrograms.of(request, use_disk=use_disk)
        compilation = None if searched else stored.find()
        if family is None:
            compilation = compilation or driver.compile_anew(request, stored)
            return Found(compilation, self._guard_of(compilation))
        family.marked |= marked_places(request.marked_axes, request.inputs)
        if self._siblings is not None:
            family.seen = [*self._siblings.seen_beside(key, family.seen), *family.seen]
        seen = SeenCall(sizes_of(request), {}, {})
        family.seen = [*family.seen[: _MAX_SEEN - 1], seen]
        made = None
        if compilation is None:
            made = self._from_disk(family, request, stored) or self._compiled(key, family, request, stored, fetch)
        if made is None:
            compilation = compilation or driver.compile_anew(request, stored)
            made = Found(compilation, self._guard_of(compilation))
            if self._siblings is not None:
                self._siblings.add(key, seen.sizes, replace(compilation, reads=tuple(made.guard.reads)))
        reads = made.compilation.reads
        seen.hidden, seen.numbers = sizes_of_reads(reads), numbers_of_reads(reads)
        if self._siblings is not None:
            self._siblings.add_seen(key, seen)
        return made

    def note(
        self,
        key: tuple[Hashable, ...],
        request: Request,
        marked_axes: Sequence[Collection[int]],
        reads: Sequence[Read],
    ) -> None:
        """Note a call whose program was found on disk before the templates were loaded."""
        family = self._family(key, request)
        if family is not None:
            family.marked |= marked_places(marked_axes, request.inputs)
            seen = SeenCall(sizes_of(request), sizes_of_reads(reads), numbers_of_reads(reads))
            family.seen.append(seen)
            if self._siblings is not None:
                self._siblings.add_seen(key, seen)

    def _family(self, key: tuple[Hashable, ...], request: Request) -> _Family | None:
        if self._dynamic is False or not is_eligible(request):
            return None
        family = self._families.get(key)
        if family is None:
            family = self._families[key] = _Family()
        return family

    def _of_siblings(self, key: Hashable, family: _Family, request: Request, fetch: FetchHidden) -> Found | None:
        """The compilation of a request by a program of another copy of the function."""
        if self._siblings is None:
            return None
        for compiled in self._siblings.templates(key, [each.compiled for each in family.templates]):
            guard = self._guard_of(Compilation(compiled.program, compiled.reads, compiled.structure))
            if fetch(guard) is not None:
                own = _Guarded.of(compiled, guard, None, is_read=False)
                adopted = _Family(templates=[own]).find(request, fetch, self._guard_of)
                if adopted is not None:
                    family.templates.append(own)
                    return adopted
        for compilation in self._siblings.compilations(key, sizes_of(request)):
            guard = self._guard_of(compilation)
            hidden = fetch(guard)
            if hidden is not None:
                reads = compilation.reads
                family.seen.append(SeenCall(sizes_of(request), sizes_of_reads(reads), numbers_of_reads(reads)))
                COUNTERS.memory_hits += 1
                return Found(compilation, guard, hidden)
        return None

    def _from_disk(self, family: _Family, request: Request, stored: StoredPrograms) -> Found | None:
        """The compilation of a request by a template on disk that is not in memory yet."""
        found = read_template(request, stored, family.digests)
        if found is None:
            return None
        compiled, compilation, digest = found
        COUNTERS.disk_hits += 1
        exact = self._guard_of(compilation)
        family.templates.append(
            _Guarded.of(compiled, self._open_guard(compiled, compilation, exact), digest, is_read=True)
        )
        return Found(compilation, exact)

    def _open_guard(self, compiled: CompiledTemplate, compilation: Compilation, exact: Any) -> Any:
        """The guard of a template: that of one of its compilations, but for what it leaves open."""
        if not compiled.hidden:
            return exact
        return self._guard_of(replace(compilation, reads=with_forms(compilation.reads, compiled.hidden)))

    def _compiled(
        self, key: Hashable, family: _Family, request: Request, stored: StoredPrograms, fetch: FetchHidden
    ) -> Found | None:
        """The compilation of a request by a template that is made for it."""
        if family.serves_one_call or not self._has_room(family, request, fetch):
            return None
        symbols = Symbols.of(sizes_of(request), self._is_dynamic(family, len(request.inputs)), family.are_equal)
        opens = symbols.count or family.has_other_hidden_inputs
        if not opens and not (request.options.opens_floats and family.has_other_numbers(request)):
            return None
        try:
            made = compile_template(request, symbols, stored, family.seen)
        except ServesOneCallError:
            family.serves_one_call = True
            return None
        if made is None:
            return None
        family.note_fixed_numbers(made.template, len(request.inputs))
        compilation = Compilation(made.program, made.reads, made.structure, None, made.warnings, by_template=True)
        exact = self._guard_of(compilation)
        digest = keep_template(made, request, stored)
        family.templates.append(_Guarded.of(made, self._open_guard(made, compilation, exact), digest, is_read=False))
        if self._siblings is not None:
            self._siblings.add_template(key, family.templates[-1].compiled)
        if not made.fits_l1:  # the template is for other sizes
            raise ExceedsL1Error
        return Found(compilation, exact)

    def _has_room(self, family: _Family, request: Request, fetch: FetchHidden) -> bool:
        """Whether a further template may be made; those whose reads have changed make room."""
        if len(family.templates) >= MAX_TEMPLATES:
            family.templates = [each for each in family.templates if fetch(each.guard) is not None]
        unshared = sum(not each.is_shared for each in family.templates)
        if len(family.templates) < MAX_TEMPLATES and unshared < MAX_UNSHARED:
            return True
        if len(family.seen) >= MAX_TEMPLATES and not family.is_warned_of:
            self._warn_of_too_many(family, request, fetch)
        return False

    def misses(self, key: Hashable, request: Request, fetch: FetchHidden) -> list[str] | None:
        """Why no template serves a request: their failing conditions. None if one serves it; empty if there is none."""
        family = self._families.get(key)
        if family is None or not family.templates:
            return []
        return explained([self._sized(each, request, fetch) for each in family.templates]) or None

    @staticmethod
    def _sized(each: _Guarded, request: Request, fetch: FetchHidden) -> SizedTemplate:
        compiled, found = each.compiled, fetch(each.guard)
        names = [*request.names_of_sizes]
        own = compiled.template
        if found is None:
            return SizedTemplate(own.symbols, own.formulas, own.specialized, None, names)
        values = compiled.by_path(found)
        for path in compiled.hidden:
            name = path_text(path)
            is_open = is_number(values[path])
            names += [[name]] if is_open else names_of_sizes({name: mark_of(values[path]).spec})[:-2]
        sizes = (*sizes_of(request), *compiled.hidden_sizes(values))
        return SizedTemplate(own.symbols, own.formulas, own.specialized, sizes, names)

    def _warn_of_too_many(self, family: _Family, request: Request, fetch: FetchHidden) -> None:
        family.is_warned_of = True
        failures = most_frequent_failures([self._sized(each, request, fetch) for each in family.templates])
        self._warn(
            f"{request.name} compiles every size by itself that none of its {len(family.templates)} programs for many "
            f"sizes serves: it was compiled for {len(family.seen)} sizes; what keeps failing: {failures} "
            "(docs/dynamic_shapes.md)"
        )

    def _is_dynamic(self, family: _Family, tensors: int) -> Callable[[Place], bool]:
        """Whether a size is open: one that has varied; with `dynamic`, every extent of a tensor."""

        def is_dynamic(place: Place) -> bool:
            opened = bool(self._dynamic) and place[0] < tensors
            return opened or (family.varies(place) and family.fixed[place] < MAX_FIXED)

        return is_dynamic
