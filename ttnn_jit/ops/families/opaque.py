"""Operations of tt-mlir that are parsed and printed, and otherwise opaque."""

from __future__ import annotations

from ttnn_jit.ops.language.operation import Declaration
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Opaque(Declaration):
    """An operation that modules may contain and that no pass changes; code generation refuses it by name.

    Attributes:
        dialects: The dialects that have it: ``ttnn``, ``ttir`` or both.
    """

    dialects: tuple[str, ...]


def _opaque(name: str, summary: str, *dialects: str) -> Opaque:
    return Opaque(name=name, summary=summary, source=f"tt-mlir, {dialects[0]}.{name}", dialects=dialects)


DECLARATIONS = (
    _opaque("to_layout", "The tensor in another layout.", "ttnn", "ttir"),
    _opaque("to_memory_config", "The tensor in another memory.", "ttnn"),
    _opaque("to_device", "The tensor on a device.", "ttnn"),
    _opaque("from_device", "The tensor on the host.", "ttnn"),
)
