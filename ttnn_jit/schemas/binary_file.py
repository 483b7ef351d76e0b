"""Files of binaries: what kind of file it is, its version and schema, and the errors of one that is not read."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from ttnn_jit.diagnostics.errors import ProgramFormatError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.schemas.flatbuffer_reader import DamagedBufferError, FlatbufferReader
from ttnn_jit.schemas.flatbuffer_writer import FlatbufferWriter
from ttnn_jit.schemas.schema import VERSIONS, Schema, schema

VERSION = {"major": 0, "minor": 1, "patch": 0}
"""The version that is written; others are read by `ignore_version` alone."""
KINDS = {"TTNN": "a binary of ttnn", "TTSY": "a system description", "TTM0": "a binary of ttmetal"}
"""Identifier of a file -> what it is."""
MAX_BYTES = 2**31
_HEAD = struct.Struct("<II4s")
_IGNORE = "`--ignore-version`, in Python `ignore_version=True`, reads it as far as its tables fit"


@dataclass(frozen=True)
class FileContents:
    """What a file holds.

    Attributes:
        identifier: That of its kind, of `KINDS`.
        schema: The schema that it was read by.
        tree: The root table.
    """

    identifier: str
    schema: Schema
    tree: dict[str, Any]


def identifier_of(data: bytes) -> str | None:
    """The identifier of a file of `KINDS`; None of any other."""
    if len(data) < _HEAD.size:
        return None
    identifier = _HEAD.unpack_from(data)[2].decode("latin-1")
    return identifier if identifier in KINDS else None


def read_file(data: bytes, name: str, identifier: str, *, ignore_version: bool = False) -> FileContents:
    """The contents of a file.

    Args:
        data: Its bytes.
        name: Its name, for errors.
        identifier: The kind that it has to be.
        ignore_version: Whether a file of another version or schema is read as far as its tables fit.

    Raises:
        ProgramFormatError: It is of another kind, version or schema, or damaged.
    """
    found = identifier_of(data)
    if found != identifier:
        what = KINDS[found] if found else "no flatbuffer of tt-mlir"
        raise ProgramFormatError(f"{name} is {what}, and {KINDS[identifier]} is read")
    size = _HEAD.unpack_from(data)[0]
    if size + 4 != len(data) or len(data) > MAX_BYTES:
        raise ProgramFormatError(f"{name} is damaged: it says that it has {size + 4:,} bytes, and has {len(data):,}")
    failures = []
    for version in VERSIONS:
        try:
            tree = FlatbufferReader(schema(version), data).read(identifier)
        except DamagedBufferError as error:
            failures.append(str(error))
            continue
        chosen = _chosen_by_hash(tree)
        if chosen == version:
            _check_version(tree, name, ignore_version=ignore_version)
            return FileContents(identifier, schema(version), tree)
        if chosen is None and ignore_version:
            if version == _version_of_chips(tree, version):
                return FileContents(identifier, schema(version), tree)
            failures.append("its chips are not those of August 2026")
        elif chosen is None:
            raise ProgramFormatError(f"{name} {_origin(tree)}, a schema that is not known here", help=_IGNORE)
    raise ProgramFormatError(f"{name} is damaged: {failures[0]}")


def _chosen_by_hash(tree: Mapping[str, Any]) -> str | None:
    """The version of the schema whose hash a file has; None if it is not known."""
    found = tree.get("schema_hash")
    return next((version for version in VERSIONS if schema(version).hash == found), None)


def _version_of_chips(tree: Mapping[str, Any], version: str) -> str:
    """The version that the chips of a file are of, read by `version`: those of December say no grid of DRAM.

    The numbers of architectures differ between the two.
    """
    chips = tree.get("system_desc", {}).get("chip_descs", [])
    return "1" if any("dram_grid_size" not in chip for chip in chips) else version


def version_text(tree: Mapping[str, Any]) -> str:
    """``0.1.0``."""
    version = tree.get("version", {"major": 0, "minor": 0, "patch": 0})
    return f"{version['major']}.{version['minor']}.{version['patch']}"


def _origin(tree: Mapping[str, Any]) -> str:
    git_hash, schema_hash = str(tree.get("ttmlir_git_hash", "")), str(tree.get("schema_hash", ""))
    return (
        f"is of version {version_text(tree)}, of {git_hash[:40] or 'unknown origin'}, of the schema {schema_hash[:16]}"
    )


def _check_version(tree: Mapping[str, Any], name: str, *, ignore_version: bool) -> None:
    if not ignore_version and tree.get("version") != VERSION:
        wanted = version_text({"version": VERSION})
        raise ProgramFormatError(f"{name} {_origin(tree)}, and version {wanted} is read", help=_IGNORE)


def file_head() -> dict[str, Any]:
    """Version and hashes of files that are written here."""
    return {"version": VERSION, "schema_hash": schema().hash, "ttmlir_git_hash": "ttnn_jit"}


def write_file(tree: Mapping[str, Any], identifier: str) -> bytes:
    """The bytes of a file in the newest schema, with its version and hashes."""
    return FlatbufferWriter(schema()).write(dict(tree) | file_head(), identifier)
