"""How a program is found on disk, in two levels.

The *manifest* is found without the compiler: its key is what a compile is told. Its entry lists what compiles under
that key read besides (globals, helpers, closure values), each with a fingerprint, and the *content key* of the program
that came out: what the program says, locations aside. So a changed global is another candidate of the same entry, and
a function that moved down a line finds the program that it had.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import starmap

from ttnn_jit.cache.disk import CODE, MANIFEST, PROGRAM, DiskStore
from ttnn_jit.cache.key import Difference, Key, differences
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.plans.spec_json import text_of

CANDIDATES_PER_KEY = 16  # the latest; a global that takes more values than this is compiled again now and then

Reads = Iterable[tuple[str, str]]
"""Path and fingerprint of everything that a compile read of the user's world."""


@dataclass(frozen=True)
class Found:
    """A program's bytes, and the paths of what its compile read."""

    program: bytes
    reads: tuple[str, ...]


class Manifest:
    """Programs in a disk store, found by what their compiles were told and by content."""

    def __init__(self, store: DiskStore) -> None:
        self._store = store

    def lookup(self, key: Key, current_fingerprint: Callable[[str], str | None]) -> Found | None:
        """The program compiled under `key` while everything it read was as it is now; None if there is none.

        Args:
            key: What the compile is told.
            current_fingerprint: From the path of a read to the fingerprint of what is there now, None if nothing is
                or it has no stable identity.
        """
        known: dict[str, str | None] = {}

        def stands(path: str, then: str) -> bool:
            if path not in known:
                known[path] = current_fingerprint(path)
            return known[path] == then

        for candidate in self._candidates(key):
            if all(starmap(stands, candidate.reads)):
                program = self._store.get(PROGRAM + candidate.content)
                if program is not None:
                    return Found(program, tuple(path for path, _ in candidate.reads))
        return None

    def program(self, content: Key) -> bytes | None:
        """The program with this content key."""
        return self._store.get(content.entry)

    def store(self, key: Key, reads: Reads, content: Key, program: bytes | None) -> None:
        """Record that a compile under `key` that read `reads` gave `program`; None if `content` is stored already."""
        record = _Candidate(tuple(reads), content.digest)

        def with_record(data: bytes | None) -> bytes:
            others = (candidate for candidate in _candidates(data) if candidate.reads != record.reads)
            return _written(key, (record, *others)[:CANDIDATES_PER_KEY])

        # Together, for no manifest may name what is not there; and a transaction costs more than what it writes.
        programs = {} if program is None else {content.entry: program}
        self._store.update(key.entry, with_record, beside=programs)

    def native_code(self, code: str, assemble: Callable[[], bytes], is_sound: Callable[[bytes], bool]) -> bytes:
        """What `assemble` makes, for the use of all programs; assembled only if none `is_sound` is stored.

        `code` names what it makes, besides this compiler and processor.
        """
        name = Key.here(CODE, {"code": code}).entry
        found = self._store.get(name)
        if found is None or not is_sound(found):
            found = assemble()
            self._store.set(name, found)
        return found

    def reads_of(self, key: Key) -> list[tuple[tuple[str, str], ...]]:
        """What the compiles under `key` read, latest first; empty if there were none."""
        return [candidate.reads for candidate in self._candidates(key)]

    def nearest(self, key: Key) -> tuple[Difference, ...] | None:
        """How the stored key of the same function most like `key` differs; None if none is stored.

        It is the same if it has its name, and its location or its code.
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
    """What a compile read, path and fingerprint, and the digest of its content key."""

    reads: tuple[tuple[str, str], ...]
    content: str


def _written(key: Key, candidates: Iterable[_Candidate]) -> bytes:
    """A manifest as it lies on disk: a line with what came of compiles under its key, latest first, and one with that.

    A look-up reads the first line, the second is for people: the location of the function and the key's contributions.
    """
    records = [[candidate.reads, candidate.content] for candidate in candidates]
    return b"\n".join(json.dumps(part).encode() for part in (records, [key.location, dict(key.contributions)]))


# A checksum says that an entry was stored, not that it was stored by `_written`: one that says something else says
# nothing.
_NOT_WRITTEN = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


def _candidates(data: bytes | None) -> tuple[_Candidate, ...]:
    """What came of compiles, latest first; nothing where there is no manifest, or a damaged one."""
    try:
        return tuple(
            _Candidate(tuple((text_of(path), text_of(then)) for path, then in reads), text_of(content))
            for reads, content in json.loads((data or b"").partition(b"\n")[0])
        )
    except _NOT_WRITTEN:
        return ()


def _recorded(data: bytes | None) -> tuple[str, Mapping[str, str]]:
    """The location and the contributions of a key; nothing where there is no manifest, or a damaged one."""
    try:
        location, contributions = json.loads((data or b"").partition(b"\n")[2])
        return text_of(location), {text_of(name): text_of(value) for name, value in contributions.items()}
    except _NOT_WRITTEN:
        return "", {}
