"""Keys of what lies on disk: what an entry depends on, contribution by contribution.

One type serves all kinds of entries, for functions of the user's and for eager operations alike, so that any two keys
can be compared (`differences`).
"""

from __future__ import annotations

import enum
import hashlib
import json
import math
import os
import struct
import sys
from collections.abc import Iterator, Mapping
from dataclasses import field, fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ttnn_jit.diagnostics.origin import is_of_this_package
from ttnn_jit.foreign.container_items import plain_parts
from ttnn_jit.foreign.values import NoStableIdentityError
from ttnn_jit.guards.fingerprints import fingerprint, read_fingerprint
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native.native import HostCpu, host_cpu, llvm_version
from ttnn_jit.runtime.plans.spec_json import spec_to_json
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class Versions:
    """The software that an entry depends on."""

    compiler: str
    llvm: str
    python: str

    @staticmethod
    @cache
    def current() -> Versions:
        """Of this process."""
        return Versions(compiler_identity(), llvm_version(), f"{sys.implementation.cache_tag} {sys.version}")


@dataclass(frozen=True)
class Key:
    """What an entry depends on, by named contributions: equal keys, equal entries.

    Attributes:
        kind: What the entry is: `MANIFEST`, `PROGRAM` or `CODE` of cache/disk.py.
        function: Name of the function, or of the eager operation; "" where the parts say it.
        parts: What is compiled, by name and in order: each a `TensorSpec`, a scalar, a container of these, or anything
            with a fingerprint.
        host: The processor that the code is for.
        versions: The software that makes the code.
        options: The decorator's; None where they change nothing.
        target: Whose rules are obeyed; None where they change nothing.
        location: Where the function is written; nothing depends on it, and `Manifest.nearest` tells functions of one
            name apart by it.
    """

    kind: str
    function: str
    parts: tuple[tuple[str, Any], ...]
    host: HostCpu
    versions: Versions
    options: CompileOptions | None = None
    target: SystemDesc | None = None
    location: str = field(default="", compare=False)

    @staticmethod
    def here(
        kind: str,
        parts: Mapping[str, Any],
        options: CompileOptions | None = None,
        target: SystemDesc | None = None,
        *,
        function: str = "",
        location: str = "",
    ) -> Key:
        """The key of what this process makes for its own processor."""
        return Key(kind, function, tuple(parts.items()), host_cpu(), Versions.current(), options, target, location)

    @property
    def entry(self) -> str:
        """The name of the entry.

        Raises:
            NoStableIdentityError: A part is of a kind that another process could not recognise.
        """
        return self.kind + self.digest

    @cached_property
    def digest(self) -> str:
        """Hash of all contributions."""
        # As a list, for the order of parts counts.
        text = repr([*self._own.items(), self._surroundings.digest])
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def contributions(self) -> Mapping[str, str]:
        """Every contribution as text, by name."""
        return {**self._own, **self._surroundings.contributions}

    @cached_property
    def _own(self) -> dict[str, str]:
        return {"function": self.function} | {name: typed_text(value) for name, value in self.parts}

    @property
    def _surroundings(self) -> _Surroundings:
        return _surroundings(self.options, self.target, self.host, self.versions)


@dataclass(frozen=True)
class _Surroundings:
    """The contributions that many keys of a process have in common, and their hash."""

    contributions: Mapping[str, str]
    digest: str


@lru_cache(maxsize=256)
def _surroundings(
    options: CompileOptions | None, target: SystemDesc | None, host: HostCpu, versions: Versions
) -> _Surroundings:
    named: dict[str, str] = {}
    if options is not None:
        named |= {f"option {field.name}": repr(getattr(options, field.name)) for field in fields(options)}
    if target is not None:
        named |= {f"target {name}": repr(value) for name, value in json.loads(target.to_json()).items()}
    named |= {"cpu": host.name, "cpu features": host.features, "triple": host.triple}
    named |= {"compiler": versions.compiler, "LLVM": versions.llvm, "Python": versions.python}
    return _Surroundings(named, hashlib.sha256(json.dumps(list(named.items())).encode()).hexdigest())


@dataclass(frozen=True)
class Difference:
    """A contribution in which two keys differ; "" where one lacks it."""

    name: str
    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.name}: {self.first or 'absent'} -> {self.second or 'absent'}"


def differences(first: Mapping[str, str], second: Mapping[str, str]) -> tuple[Difference, ...]:
    """Where the contributions of two keys differ."""
    names = dict.fromkeys((*first, *second))
    pairs = ((name, first.get(name, ""), second.get(name, "")) for name in names)
    return tuple(Difference(*pair) for pair in pairs if pair[1] != pair[2])


@lru_cache(maxsize=1024)
def _spec_text(spec: TensorSpec) -> str:
    return f"tensor {json.dumps(spec_to_json(spec))}"


def typed_text(value: Any) -> str:  # noqa: PLR0911 - one line for each kind of value
    """A text that differs for values of different type or bits: 1, True, 1.0, 0.0 and -0.0 all differ, NaN is NaN.

    Raises:
        NoStableIdentityError: A kind of value that another process could not recognise.
    """
    kind = type(value)  # and never what `__class__` says, which may be code of the user's
    if kind is TensorSpec:
        return _spec_text(value)
    if kind is float:
        return f"float nan:{struct.pack('>d', value).hex()}" if math.isnan(value) else f"float {value!r}"
    if kind is str:
        return f"str:{value!r}"
    if kind in {tuple, list}:
        return f"{kind.__name__} [{', '.join(map(typed_text, value))}]"
    if kind is dict:
        items = (f"{typed_text(name)}: {typed_text(item)}" for name, item in value.items())
        return f"dict {{{', '.join(items)}}}"
    if issubclass(kind, enum.Enum) and not is_of_this_package(value):
        return read_fingerprint(value)
    if (parts := plain_parts(value)) is not None:
        return f"{read_fingerprint(kind)} {typed_text(parts)}"
    if written := [operation for operation in getattr(value, "__ttnn_overloads__", ()) if operation.body]:
        if any(operation.is_local for operation in written):
            raise NoStableIdentityError(f"{value!r} is known to this process alone")
        return " ".join([fingerprint(value), *(operation.body for operation in written)])  # a user's tile operation
    return fingerprint(value)


@cache
def compiler_identity() -> str:
    """A hash over names, sizes and times of this package's files: an edited compiler does not find old programs."""
    package = str(Path(str(sys.modules[__name__.partition(".")[0]].__file__)).parent)
    seen = sorted((path.removeprefix(package), size, time) for path, size, time in _sources_in(package))
    return hashlib.sha256(repr(seen).encode()).hexdigest()


def _sources_in(folder: str) -> Iterator[tuple[str, int, int]]:
    # No Path for each file: every process that finds a program on disk asks.
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                found = entry.stat()
                yield entry.path, found.st_size, found.st_mtime_ns
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _sources_in(entry.path)
