"""A program as bytes: magic, version, checksum, a JSON header, object code.

    offset 0  b"TTJP"             8  u64 length of the header        48  header, JSON
           4  u32 version        16  sha256 of everything from 48           object code, one after the other

The format does not use pickle, so reading the bytes runs no code. Running the program runs its machine code. The
checksum detects damage, not tampering, so the bytes deserve as much trust as their source.
"""

from __future__ import annotations

import hashlib
import json
import struct
from itertools import accumulate
from typing import Any

from ttnn_jit.diagnostics.errors import ProgramFormatError

MAGIC = b"TTJP"
VERSION = 15
_PREFIX = struct.Struct("<4sIQ32s")


def pack(header: dict[str, Any], blobs: dict[str, bytes]) -> bytes:
    """The bytes of a header, JSON values only, and named blobs."""
    listed = {name: len(blob) for name, blob in blobs.items()}
    text = json.dumps({"header": header, "blobs": listed}, separators=(",", ":")).encode()
    body = b"".join((text, *blobs.values()))
    length = struct.pack("<Q", len(text))
    return _PREFIX.pack(MAGIC, VERSION, len(text), hashlib.sha256(length + body).digest()) + body


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The inverse of `pack`.

    Raises:
        ProgramFormatError: Not a program, one of another version, or damaged anywhere.
    """
    if len(data) < _PREFIX.size or data[:4] != MAGIC:
        raise ProgramFormatError("these bytes are not a ttnn_jit program", help="a program starts with the bytes TTJP")
    _, version, length, digest = _PREFIX.unpack_from(data)
    if version != VERSION:
        raise ProgramFormatError(
            f"the program has format version {version}; this ttnn_jit reads {VERSION}", help="compile it again"
        )
    body = memoryview(data)[_PREFIX.size :]
    if hashlib.sha256(struct.pack("<Q", length) + body).digest() != digest:
        raise ProgramFormatError("the program is damaged: its checksum does not match", help="compile it again")
    try:
        fields = json.loads(str(body[:length], "utf-8"))
        header: dict[str, Any] = fields["header"]
        sizes: dict[str, int] = fields["blobs"]
        if any(type(size) is not int or size < 0 for size in sizes.values()) or length + sum(sizes.values()) != len(
            body
        ):
            raise ValueError("its object code has another length")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ProgramFormatError(f"the program's header cannot be read: {error!r}") from error
    ends = accumulate(sizes.values(), initial=length)
    return header, {name: bytes(body[start : start + sizes[name]]) for name, start in zip(sizes, ends, strict=False)}
