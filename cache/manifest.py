"""Two-level look-up of a program on disk.

The key of a *manifest* is made of the arguments of a compile, so the look-up does not load the compiler. The entry
lists candidates: everything else that a compile under that key read (globals, helpers, closure values), each with a
fingerprint, and the *content key* of the resulting program, which is made of the parsed program without locations. A
changed global is then another candidate of the same entry, and a function that moved down a line finds its program.

A *template* (compiler/template.py) is a program that serves many sizes. Its key has no sizes, and an entry of its own
kind; its content key is the hash of its bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import starmap

from ttnn_jit.cache.disk import CODE, MANIFEST, PROGRAM, DiskStore
from ttnn_jit.cache.key import Difference, Key, differences
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.plans.spec_json import text_of

CANDIDATES_PER_KEY = 16  # the latest; a global that takes more values than this causes recompiles

Reads = Iterable[tuple[str, str]]
"""Path and fingerprint of every user object that a compile read."""


@dataclass(frozen=True)
class CachedProgram:
    """The bytes of a program, the paths of everything that its compile read, and the digest of its entry."""

    program: bytes
    reads: tuple[str, ...]
    digest: str


class Manifest:
    """Programs in a disk store, found by the arguments of their compiles and by content."""

    def __init__(self, store: DiskStore) -> None:
        self._store = store

    def lookup(self, key: Key, current_fingerprint: Callable[[str], str | None]) -> CachedProgram | None:
        """The program compiled under `key` whose reads all have unchanged fingerprints; None if there is none.

        Args:
            key: The key of the arguments of the compile.
            current_fingerprint: From the path of a read to its current fingerprint; None if nothing is at the path or
                it has no stable identity.
        """
        return next(self.matching(key, current_fingerprint), None)

    def matching(
        self,
        key: Key,
        current_fingerprint: Callable[[str], str | None],
        without: Container[str] = (),
    ) -> Iterator[CachedProgram]:
        """The programs under `key` whose reads all have unchanged fingerprints, latest first.

        Programs whose digest is in `without` are not read.
        """
        known: dict[str, str | None] = {}

        def is_unchanged(path: str, recorded: str) -> bool:
            if path not in known:
                known[path] = current_fingerprint(path)
            return known[path] == recorded

        for candidate in self._candidates(key):
            if candidate.content not in without and all(starmap(is_unchanged, candidate.reads)):
                program = self._store.get(PROGRAM + candidate.content)
                if program is not None:
                    yield CachedProgram(program, tuple(path for path, _ in candidate.reads), candidate.content)

    def program(self, content: Key) -> bytes | None:
        """The program with this content key."""
        return self._store.get(content.entry)

    def store(self, key: Key, reads: Reads, content: Key, program: bytes | None) -> None:
        """Record the `program` of a compile under `key` that read `reads`; None if `content` is already stored."""
        record = _Candidate(tuple(reads), content.digest)
        programs = {} if program is None else {content.entry: program}
        self._record(key, record, programs, lambda other: other.reads == record.reads)

    def store_template(self, key: Key, reads: Reads, template: bytes) -> str:
        """Record one of the templates of `key`, several of which may have the same reads; its digest."""
        digest = hashlib.sha256(template).hexdigest()
        record = _Candidate(tuple(reads), digest)
        self._record(key, record, {PROGRAM + digest: template}, record.__eq__)
        return digest

    def _record(
        self, key: Key, record: _Candidate, programs: Mapping[str, bytes], is_replaced: Callable[[_Candidate], bool]
    ) -> None:
        def with_record(data: bytes | None) -> bytes:
            others = (candidate for candidate in _candidates(data) if not is_replaced(candidate))
            return _serialized(key, (record, *others)[:CANDIDATES_PER_KEY])

        # One transaction: a manifest must not name a missing program, and a transaction costs more than its writes.
        self._store.update(key.entry, with_record, also_store=programs)

    def native_code(self, code: str, assemble: Callable[[], bytes], is_sound: Callable[[bytes], bool]) -> bytes:
        """The native code of `assemble`, shared by all programs; assembled only if no sound code is stored.

        The key consists of `code`, this compiler and this processor.
        """
        name = Key.for_this_host(CODE, {"code": code}).entry
        found = self._store.get(name)
        if found is None or not is_sound(found):
            found = assemble()
            self._store.set(name, found)
        return found

    def reads_of(self, key: Key) -> list[tuple[tuple[str, str], ...]]:
        """The reads of the compiles under `key`, latest first; empty if there were none."""
        return [candidate.reads for candidate in self._candidates(key)]

    def nearest(self, key: Key) -> tuple[Difference, ...] | None:
        """The differences from `key` of the most similar stored key of the same function; None if none is stored.

        Two keys are of the same function if they have the same name, and the same location or the same code.
        """
        best: tuple[Difference, ...] | None = None
        for name in self._store.names(MANIFEST):
            location, stored = _recorded(self._store.get(name))
            if stored.get("function") == key.function:
                found = differences(stored, key.contributions)
                same_code = all(each.name != "code" for each in found)
                if (location == key.location or same_code) and (best is None or len(found) < len(best)):
                    best = found
        return best

    def is_empty(self) -> bool:
        """Whether no program is stored."""
        return not self._store.names(MANIFEST)

    def _candidates(self, key: Key) -> tuple[_Candidate, ...]:
        return _candidates(self._store.get(key.entry))


@dataclass(frozen=True)
class _Candidate:
    """The reads of a compile, each a path and a fingerprint, and the digest of its content key."""

    reads: tuple[tuple[str, str], ...]
    content: str


def _serialized(key: Key, candidates: Iterable[_Candidate]) -> bytes:
    """A manifest on disk: a line with the candidates, latest first, and a line with the key.

    A look-up reads the first line only. The second explains misses: the location of the function and the contributions
    of the key.
    """
    records = [[candidate.reads, candidate.content] for candidate in candidates]
    return b"\n".join(json.dumps(part).encode() for part in (records, [key.location, dict(key.contributions)]))


# A valid checksum does not prove that `_serialized` made the entry. An entry of any other form counts as absent.
_MALFORMED = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


def _candidates(data: bytes | None) -> tuple[_Candidate, ...]:
    """The candidates of a manifest, latest first; none if the manifest is absent or malformed."""
    try:
        return tuple(
            _Candidate(tuple((text_of(path), text_of(recorded)) for path, recorded in reads), text_of(content))
            for reads, content in json.loads((data or b"").partition(b"\n")[0])
        )
    except _MALFORMED:
        return ()


def _recorded(data: bytes | None) -> tuple[str, Mapping[str, str]]:
    """The location and the contributions of a manifest's key; empty if the manifest is absent or malformed."""
    try:
        location, contributions = json.loads((data or b"").partition(b"\n")[2])
        return text_of(location), {text_of(name): text_of(value) for name, value in contributions.items()}
    except _MALFORMED:
        return "", {}
