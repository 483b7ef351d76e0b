"""How a program is found on disk, in two levels.

The *manifest* is found without the compiler: its key is what a compile is told. Its entry lists what compiles under
that key read besides (globals, helpers, closure values), each with a fingerprint, and the *content key* of the program
that came out: the hash of what the program says, locations aside. So a changed global is another candidate of the same
entry, and a function that moved down a line finds the program that it had.
"""

from __future__ import annotations

import enum
import hashlib
import json
import math
import os
import struct
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ttnn_jit.cache.disk import CODE, MANIFEST, PROGRAM, DiskStore
from ttnn_jit.diagnostics.origin import is_of_this_package
from ttnn_jit.foreign.container_items import plain_parts
from ttnn_jit.foreign.values import NoStableIdentityError
from ttnn_jit.guards.fingerprints import fingerprint, read_fingerprint
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.runtime.native import HostCpu, host_cpu, llvm_version
from ttnn_jit.runtime.spec_json import spec_to_json
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

CANDIDATES_PER_KEY = 16  # the latest; a global that takes more values than this is compiled again now and then

Reads = Iterable[tuple[str, str]]
"""Path and fingerprint of everything that a compile read of the user's world."""


@dataclass(frozen=True)
class Versions:
    """The software that a program depends on."""

    compiler: str
    llvm: str
    python: str

    @staticmethod
    def current() -> Versions:
        """Of this process."""
        return _current_versions()


@dataclass(frozen=True)
class ManifestKey:
    """What a compile is told, by named contributions: equal keys and equal reads, equal programs.

    Attributes:
        function: Name of the function.
        code: Fingerprint of its code object.
        arguments: By parameter name: a `TensorSpec`, a scalar, a container of these, or anything with a fingerprint.
        options: The decorator's.
        target: Whose rules are obeyed.
        host: The processor that the code is for.
        versions: The software that makes the code.
    """

    function: str
    code: str
    arguments: tuple[tuple[str, Any], ...]
    options: CompileOptions
    target: SystemDesc
    host: HostCpu
    versions: Versions

    @property
    def contributions(self) -> Mapping[str, str]:
        """Every contribution as text, by name.

        Raises:
            NoStableIdentityError: An argument is of a kind that another process could not recognise.
        """
        return {**self._own, **self._surroundings.contributions}

    @cached_property
    def digest(self) -> str:
        """Hash of all contributions."""
        # As a list, for the order of arguments counts.
        text = json.dumps([*self._own.items(), self._surroundings.digest])
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def _own(self) -> dict[str, str]:
        named = {"function": self.function, "code": self.code}
        return named | {f"argument {name}": typed_text(value) for name, value in self.arguments}

    @property
    def _surroundings(self) -> _Surroundings:
        return _surroundings(self.options, self.target, self.host, self.versions)


@dataclass(frozen=True)
class _Surroundings:
    """The contributions that many keys of a process have in common, and their hash."""

    contributions: Mapping[str, str]
    digest: str


@lru_cache(maxsize=256)
def _surroundings(options: CompileOptions, target: SystemDesc, host: HostCpu, versions: Versions) -> _Surroundings:
    named = {f"option {field.name}": repr(getattr(options, field.name)) for field in fields(options)}
    named |= {f"target {name}": repr(value) for name, value in json.loads(target.to_json()).items()}
    named |= {"cpu": host.name, "cpu features": host.features, "triple": host.triple}
    named |= {"compiler": versions.compiler, "LLVM": versions.llvm, "Python": versions.python}
    return _Surroundings(named, hashlib.sha256(json.dumps(list(named.items())).encode()).hexdigest())


@dataclass(frozen=True)
class Found:
    """A program's bytes, and the paths of what its compile read."""

    program: bytes
    reads: tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """A contribution in which two keys differ; "" where one lacks it."""

    name: str
    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.name}: {self.first or 'absent'} -> {self.second or 'absent'}"


def manifest_key(
    function: str, code: str, arguments: Mapping[str, Any], options: CompileOptions, target: SystemDesc, host: HostCpu
) -> ManifestKey:
    """The key of a compile in this process."""
    return ManifestKey(function, code, tuple(arguments.items()), options, target, host, Versions.current())


def content_key(text: str, host: HostCpu) -> str:
    """The name of the program that `text`, the program without locations, becomes on `host`."""
    versions = Versions.current()
    parts = [text, host.triple, host.name, host.features, versions.compiler, versions.llvm]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def explain(first: ManifestKey, second: ManifestKey) -> tuple[Difference, ...]:
    """Where two keys differ, contribution by contribution."""
    return _differences(first.contributions, second.contributions)


class Manifest:
    """Programs in a disk store, found by `ManifestKey` and by content."""

    def __init__(self, store: DiskStore) -> None:
        self._store = store

    def lookup(self, key: ManifestKey, current_fingerprint: Callable[[str], str | None]) -> Found | None:
        """The program compiled under `key` while everything it read was as it is now; None if there is none.

        Args:
            key: What the compile is told.
            current_fingerprint: From the path of a read to the fingerprint of what is there now, None if nothing is
                or it has no stable identity.
        """
        known = cache(current_fingerprint)
        for candidate in _candidates(self._store.get(MANIFEST + key.digest)):
            if all(known(path) == then for path, then in candidate["reads"]):
                program = self.program(candidate["content"])
                if program is not None:
                    return Found(program, tuple(path for path, _ in candidate["reads"]))
        return None

    def program(self, content: str) -> bytes | None:
        """The program with this content key."""
        return self._store.get(PROGRAM + content)

    def store(self, key: ManifestKey, reads: Reads, content: str, program: bytes | None) -> None:
        """Record that a compile under `key` that read `reads` gave `program`; None if `content` is stored already."""
        record = {"reads": [list(read) for read in reads], "content": content}

        def with_record(entry: bytes | None) -> bytes:
            others = [candidate for candidate in _candidates(entry) if candidate["reads"] != record["reads"]]
            candidates = [record, *others][:CANDIDATES_PER_KEY]
            return json.dumps({"contributions": dict(key.contributions), "candidates": candidates}).encode()

        # Together, for no manifest may name what is not there; and a transaction costs more than what it writes.
        programs = {} if program is None else {PROGRAM + content: program}
        self._store.update(MANIFEST + key.digest, with_record, beside=programs)

    def native_code(self, text: str, assemble: Callable[[], bytes]) -> bytes:
        """What `assemble` makes of `text`, which no program has for itself; assembled only if it is not stored."""
        name = CODE + content_key(text, host_cpu())
        found = self._store.get(name)
        if found is None:
            found = assemble()
            self._store.set(name, found)
        return found

    def reads_of(self, key: ManifestKey) -> list[list[tuple[str, str]]]:
        """What the compiles under `key` read, latest first; empty if there were none."""
        candidates = _candidates(self._store.get(MANIFEST + key.digest))
        return [[(path, then) for path, then in candidate["reads"]] for candidate in candidates]

    def nearest(self, key: ManifestKey) -> tuple[Difference, ...] | None:
        """How the stored key most like `key`, of the same function if there is one, differs; None if none is stored."""
        best: tuple[bool, int, tuple[Difference, ...]] | None = None
        for name in self._store.names(MANIFEST):
            stored = _contributions(self._store.get(name))
            if stored is not None:
                found = _differences(stored, key.contributions)
                rank = (stored.get("function") != key.function, len(found), found)
                best = rank if best is None or rank[:2] < best[:2] else best
        return None if best is None else best[2]


def typed_text(value: Any) -> str:  # noqa: PLR0911 - one line for each kind of value
    """A text that differs for values of different type or bits: 1, True, 1.0, 0.0 and -0.0 all differ, NaN is NaN.

    Raises:
        NoStableIdentityError: A kind of value that another process could not recognise.
    """
    match value:
        case TensorSpec():
            return f"tensor {json.dumps(spec_to_json(value))}"
        case float() if type(value) is float:
            return f"float nan:{struct.pack('>d', value).hex()}" if math.isnan(value) else f"float {value!r}"
        case tuple() | list() if type(value) in {tuple, list}:
            return f"{type(value).__name__} [{', '.join(map(typed_text, value))}]"
        case dict() if type(value) is dict:
            items = (f"{typed_text(name)}: {typed_text(item)}" for name, item in value.items())
            return f"dict {{{', '.join(items)}}}"
        case enum.Enum() if not is_of_this_package(value):
            return read_fingerprint(value)
        case _ if (parts := plain_parts(value)) is not None:
            return f"{read_fingerprint(type(value))} {typed_text(parts)}"
        case _ if bodies := [
            operation.body for operation in getattr(value, "__ttnn_overloads__", ()) if operation.body
        ]:
            from ttnn_jit.ops.tile_body import LOCAL_BODY

            if any(LOCAL_BODY in body for body in bodies):
                raise NoStableIdentityError(f"{value!r} is known to this process alone")
            return " ".join([fingerprint(value), *bodies])  # a user's tile operation
        case _:
            return fingerprint(value)


@cache
def _current_versions() -> Versions:
    return Versions(compiler_identity(), llvm_version(), f"{sys.implementation.cache_tag} {sys.version}")


@cache
def compiler_identity() -> str:
    """A hash over names, sizes and times of this package's files: an edited compiler does not find old programs."""
    package = Path(str(sys.modules[__name__.partition(".")[0]].__file__)).parent
    seen = []
    for folder, _, names in os.walk(package, followlinks=True):
        for name in names:
            if name.endswith(".py"):
                found = Path(folder, name).stat()
                seen.append((os.path.relpath(Path(folder, name), package), found.st_size, found.st_mtime_ns))
    return hashlib.sha256(repr(sorted(seen)).encode()).hexdigest()


def _differences(first: Mapping[str, str], second: Mapping[str, str]) -> tuple[Difference, ...]:
    names = dict.fromkeys((*first, *second))
    pairs = ((name, first.get(name, ""), second.get(name, "")) for name in names)
    return tuple(Difference(*pair) for pair in pairs if pair[1] != pair[2])


def _candidates(entry: bytes | None) -> list[dict[str, Any]]:
    candidates: list[dict[str, Any]] = _entry(entry).get("candidates", [])
    return candidates


def _contributions(entry: bytes | None) -> Mapping[str, str] | None:
    return _entry(entry).get("contributions")


def _entry(entry: bytes | None) -> dict[str, Any]:
    # The store has checked the bytes, so this is what `store` wrote.
    found: dict[str, Any] = {} if entry is None else json.loads(entry)
    return found
