"""The programs of a function, whose compiler and templates are loaded when one of them is not found on disk.

A process that finds its programs on disk loads neither. What it found is told to the templates when they are loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import TYPE_CHECKING

from ttnn_jit.compiler.found import FetchHidden, Found, GuardOf
from ttnn_jit.compiler.request import Request
from ttnn_jit.compiler.shared_programs import SharedPrograms
from ttnn_jit.compiler.stored_programs import StoredPrograms
from ttnn_jit.guards.reads import Read

if TYPE_CHECKING:
    from ttnn_jit.compiler.templates import Templates


class TemplatesOnDemand:
    """The programs of one function.

    Args:
        dynamic: See `Templates`.
        guard_of: See `GuardOf`.
        warn: See `Templates`.
        shared: The programs of other copies of the function, which are looked up before those on disk; None: there are
            no copies.
    """

    def __init__(
        self,
        dynamic: bool | None,
        guard_of: GuardOf,
        warn: Callable[[str], None],
        shared: SharedPrograms | None = None,
    ) -> None:
        self._dynamic = dynamic
        self._guard_of = guard_of
        self._warn = warn
        self._shared = shared
        self._templates: Templates | None = None
        self._found: list[tuple[tuple[Hashable, ...], Request, Sequence[Collection[int]], Sequence[Read]]] = []

    def clear(self) -> None:
        """Forget every program."""
        self._templates = None
        self._found.clear()

    def compilation(self, key: tuple[Hashable, ...], request: Request, fetch: FetchHidden, *, use_disk: bool) -> Found:
        """The compilation of a request; arguments and errors as for `Templates.compilation`."""
        if self._templates is not None or not use_disk or self._has_siblings():
            return self._loaded().compilation(key, request, fetch, use_disk=use_disk)
        stored = StoredPrograms.of(request, use_disk=True)
        compilation = stored.find()
        if compilation is None:
            return self._loaded().compilation(key, request, fetch, use_disk=True, searched=stored)
        self._found.append((key, request.without_tensors(), request.marked_axes, compilation.reads))
        return Found(compilation, self._guard_of(compilation))

    def misses(self, key: Hashable, request: Request, fetch: FetchHidden) -> list[str] | None:
        """Why no template serves a request: see `Templates.misses`."""
        return [] if self._templates is None else self._templates.misses(key, request, fetch)

    def _has_siblings(self) -> bool:
        if self._shared is None:
            return False
        found, self._shared.are_used = self._shared.are_used, True
        return found

    def _loaded(self) -> Templates:
        if self._templates is None:
            from ttnn_jit.compiler.templates import Templates

            siblings = None if self._shared is None else self._shared.siblings
            self._templates = Templates(self._dynamic, self._guard_of, self._warn, siblings)
            for each in self._found:
                self._templates.note(*each)
            self._found.clear()
        return self._templates
