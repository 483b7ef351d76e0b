"""Stored programs: in memory by content, on disk by request and by content.

Functions of the user's and eager operations are stored and looked up alike.
"""

from __future__ import annotations

import hashlib
import json
import weakref
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ttnn_jit.cache.disk import MANIFEST, PROGRAM, TEMPLATES, store_of
from ttnn_jit.cache.key import Key
from ttnn_jit.cache.manifest import CachedProgram, Manifest
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.compiler.request import Compilation, Request
from ttnn_jit.diagnostics.errors import ProgramFormatError
from ttnn_jit.foreign import pytrees
from ttnn_jit.foreign.values import NoStableIdentityError
from ttnn_jit.guards.fingerprints import read_fingerprint
from ttnn_jit.guards.path_json import path_from_json, path_to_json
from ttnn_jit.guards.reads import Path, Read
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.runtime.libraries import MESH, TTNN, LibraryMark, is_library_tensor, mark_of
from ttnn_jit.runtime.native.native import load_launch_code
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.runtime.programs.run_log import ops_text
from ttnn_jit.specs.options import Environment
from ttnn_jit.specs.spec_forms import without_sizes
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.frontend import FrontendResult

IN_MEMORY: weakref.WeakValueDictionary[str, Program] = weakref.WeakValueDictionary()
"""Content -> program, as long as some function refers to it."""


class StoredPrograms:
    """The lookup and storage of the program of a request.

    Args:
        request: The input of the compile.
        in_memory: Content -> program.
        manifest: The programs on disk; None if the disk is not used.
    """

    def __init__(
        self, request: Request, in_memory: MutableMapping[str, Program], manifest: Manifest | None = None
    ) -> None:
        self._request = request
        self._in_memory = in_memory
        self._manifest = manifest
        self._key = request_key(request) if manifest else None

    @staticmethod
    def of(request: Request, *, use_disk: bool) -> StoredPrograms:
        """The programs of this process and, with `use_disk`, of the cache folder; none for a user's passes.

        The code of a user's pass is no part of keys, and may change from process to process.
        """
        if request.options.extra_pipeline_options:
            return StoredPrograms.none(request)
        return StoredPrograms(request, IN_MEMORY, manifest_on_disk() if use_disk else None)

    @staticmethod
    def none(request: Request) -> StoredPrograms:
        """No stored programs, and nothing is stored."""
        return StoredPrograms(request, {})

    @property
    def are_on_disk(self) -> bool:
        """Whether programs are looked up and stored on disk."""
        return self._manifest is not None and self._key is not None

    def find(self) -> Compilation | None:
        """The compilation of an equal request whose reads have their current values; None if there is none."""
        if self._manifest is None:
            return None
        load_launch_code(self._manifest.native_code)
        if self._key is None:
            return None
        values: dict[str, Any] = {}
        found = self._manifest.lookup(self._key, lambda path: current_fingerprint(self._request, path, values))
        if found is None:
            return None
        reads = _reads(found, values)
        program = Program.if_sound(found.program, self._inputs(reads))
        if program is None or not self._takes(reads):
            return None
        compilation = _compilation(program, reads, values)
        if compilation is not None:
            COUNTERS.disk_hits += 1
        return compilation

    def _inputs(self, reads: Iterable[Read]) -> tuple[TensorSpec, ...]:
        """The specs of the arguments, then of the tensors among the reads."""
        return *self._request.inputs, *(read.value.spec for read in reads if type(read.value) is LibraryMark)

    def _takes(self, reads: Iterable[Read]) -> bool:
        """Whether the tensors among the reads are of the arguments' library; otherwise a compile raises the error."""
        titles = {read.value.title for read in reads if type(read.value) is LibraryMark}
        own = self._request.library
        state = {TTNN.title} if own is MESH else set()  # the state of the random generator
        return titles <= {own and own.title} | state

    def templates(self, of_any_size: Request, known: Container[str]) -> Iterator[StoredTemplate]:
        """The sound templates on disk whose reads have their current values, besides those `known` by digest.

        Args:
            of_any_size: The request without its sizes, which is their key.
            known: The digests of templates that are not wanted.
        """
        key = None if self._manifest is None else request_key(of_any_size, TEMPLATES)
        if self._manifest is None or key is None:
            return
        values: dict[str, Any] = {}
        matching = self._manifest.matching(key, lambda path: current_fingerprint(self._request, path, values), known)
        for found in matching:
            reads = _reads(found, values)
            try:
                program = Program.from_bytes(found.program)
            except ProgramFormatError:
                continue
            compilation = _compilation(program, reads, values) if self._takes(reads) else None
            if compilation is not None:
                yield StoredTemplate(compilation, self._inputs(reads)[len(self._request.inputs) :], found.digest)

    def keep_template(
        self, of_any_size: Request, reads: Sequence[Read], example: Program, hidden: Sequence[Path] = ()
    ) -> str | None:
        """Stores a template, the notes of its `example`, for other processes that can check its reads.

        Args:
            of_any_size: The request without its sizes, which is their key.
            reads: Its reads.
            example: The program of one size.
            hidden: The paths of the reads that it leaves open.

        Returns:
            The digest of its entry; None if it is not stored.
        """
        key = None if self._manifest is None or self._key is None else request_key(of_any_size, TEMPLATES)
        if self._manifest is None or key is None or example.notes["structure"] == NOT_STORABLE:
            return None
        fingerprints = _fingerprints(reads, hidden)
        return None if fingerprints is None else self._manifest.store_template(key, fingerprints, example.to_bytes())

    def find_content(self, content: Key, reads: Iterable[Read]) -> Program | None:
        """A program with this content, of any request, that takes the tensors of `reads`."""
        if (known := self._in_memory.get(content.digest)) is not None:
            return known
        data = self._manifest.program(content) if self._manifest else None
        program = None if data is None else Program.if_sound(data, self._inputs(reads))
        if program is not None:
            COUNTERS.disk_hits += 1
            self._in_memory[content.digest] = program
        return program

    def numba_disk_cache(self) -> AbstractContextManager[None]:
        """A context in which numba's compiles are looked up and stored on disk."""
        from ttnn_jit.codegen.writing.numba_module import texts_kept_by

        return texts_kept_by(self._manifest.native_code if self._manifest and self._key else None)

    def keep(self, lowered: FrontendResult, content: Key, program: Program, *, is_new: bool) -> None:
        """Stores `program` for later compiles; on disk only if another process can check its reads."""
        self._in_memory[content.digest] = program
        if self._manifest is None or self._key is None or lowered.opaque is not None:
            return
        if program.notes["structure"] == NOT_STORABLE:
            return
        reads = _fingerprints(lowered.reads)
        if reads is None:
            return
        known = not is_new and self._manifest.program(content) is not None
        self._manifest.store(self._key, reads, content, None if known else program.to_bytes())


@dataclass(frozen=True)
class StoredTemplate:
    """A template on disk.

    Attributes:
        compilation: The compilation of its example, whose notes hold the template.
        hidden: The specs of the tensors among its reads.
        digest: The digest of its entry.
    """

    compilation: Compilation
    hidden: tuple[TensorSpec, ...]
    digest: str


def _reads(found: CachedProgram, values: Mapping[str, Any]) -> tuple[Read, ...]:
    """The reads of a stored program; `values` maps paths to values."""
    return tuple(Read(path_from_json(path.removeprefix(_OPEN)), values[path]) for path in found.reads)


_OPEN = "open: "
"""Precedes the path of a read that a template leaves open; the read's fingerprint is that of its form."""


def _fingerprints(reads: Iterable[Read], hidden: Collection[Path] = ()) -> list[tuple[str, str]] | None:
    """Path and fingerprint of each read, of those at `hidden` of their form; None if one has no stable identity."""
    try:
        return [
            (_OPEN + path_to_json(read.path), _form_fingerprint(read.value))
            if read.path in hidden
            else (path_to_json(read.path), read_fingerprint(read.value))
            for read in reads
        ]
    except NoStableIdentityError:
        return None


def _form_fingerprint(value: Any) -> str:
    """The fingerprint of tensors that differ from one in their sizes alone, or of the numbers of a class."""
    if type(value) is LibraryMark:
        return read_fingerprint(replace(value, spec=without_sizes(value.spec)))
    return f"of {type(value).__name__}"


def manifest_on_disk() -> Manifest | None:
    """The programs on disk; None if the disk cache is turned off."""
    store = store_of(Environment.read())
    return Manifest(store) if store else None


def request_key(request: Request, kind: str = MANIFEST) -> Key | None:
    """The key of a request's entry of this kind; None if an argument has no stable identity across processes."""
    parts, options, target = request.parts, request.options, request.target
    key = Key.for_this_host(kind, parts, options, target, function=request.name, location=request.location)
    try:
        _ = key.digest
    except NoStableIdentityError:
        return None
    return key


def content_key(request: Request, lowered: FrontendResult, notes: Mapping[str, Any]) -> Key:
    """The key of a program's content without locations; `notes` are stored with the program."""
    from ttnn_jit.dialects.text.content import content_of

    module = hashlib.sha256(json.dumps(content_of(lowered.module)).encode()).hexdigest()
    return Key.for_this_host(PROGRAM, {"module": module, **notes}, request.options, request.target)


def current_fingerprint(request: Request, path: str, values: dict[str, Any]) -> str | None:
    """The fingerprint of the current value at a path that a compile read; None if there is none.

    The value is also entered into `values`. Reading it may call code of the user's, which may raise anything.
    """
    try:
        found = request.value_at(path_from_json(path.removeprefix(_OPEN)))
        values[path] = mark_of(found) if is_library_tensor(found) else found
        return _form_fingerprint(values[path]) if path.startswith(_OPEN) else read_fingerprint(values[path])
    except Exception:  # noqa: BLE001 - the compile will read it again, and raise
        return None


# --- Notes of a program on disk -------------------------------------------------------------------------------------

NOT_STORABLE = "not storable"
"""The note in place of a result structure that contains objects without a stable identity."""


def notes_of(request: Request, lowered: FrontendResult) -> dict[str, Any]:
    """The data, as JSON values, that is stored with a program besides its code."""
    from ttnn_jit.dialects.text.content import operation_names

    placed: dict[str, Any] = {}
    if request.devices is not None:
        from ttnn_jit.compiler.result_topologies import result_topologies

        marks = (read.value for read in lowered.reads)
        hidden = [mark.placement for mark in marks if type(mark) is LibraryMark]
        placements = (*request.placements, *hidden)
        placed["topologies"] = result_topologies(lowered.module, request.devices, placements)
    return placed | {
        "structure": _storable_structure(lowered),
        "warnings": list(lowered.warnings),
        "ops": ops_text(operation_names(lowered.module)),
    }


def _storable_structure(lowered: FrontendResult) -> Any:
    try:
        return pytrees.to_json(lowered.output_structure, _class_name(lowered.reads))
    except TypeError:
        return NOT_STORABLE


def _class_name(reads: Sequence[Read]) -> Callable[[type], str]:
    """The name of a class of the user's in notes: the path by which the compile read it."""
    found = {read.value: read.path for read in reads if issubclass(type(read.value), type)}

    def name(cls: type) -> str:
        if cls not in found:
            raise NoStableIdentityError(f"{cls.__qualname__} was not found in the user's world")
        return path_to_json(found[cls])

    return name


def _compilation(program: Program, reads: tuple[Read, ...], values: Mapping[str, Any]) -> Compilation | None:
    """The compilation of a stored program; None if its notes are damaged. `values` maps paths of reads to values."""
    try:
        structure = pytrees.from_json(program.notes["structure"], values.__getitem__)
        warned = tuple(map(str, program.notes["warnings"]))
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
    results = range(len(program.plan.results))
    if any(type(leaf) is int and leaf not in results for leaf in pytrees.leaves(structure)):
        return None
    return Compilation(program, reads, structure, warnings=warned)
