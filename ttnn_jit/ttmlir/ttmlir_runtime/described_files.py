"""What every file of tt-mlir says of itself, by the names of its runtime."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ttnn_jit.schemas.binary_file import version_text
from ttnn_jit.schemas.schema import schema


class DescribedFile(ABC):
    """A binary, or the description of a system."""

    @property
    @abstractmethod
    def _tree(self) -> dict[str, Any]:
        """Its root table, as `schemas` reads it."""

    @property
    def version(self) -> str:
        """Its version."""
        return version_text(self._tree)

    @property
    def schema_hash(self) -> str:
        """The hash of its schema's facts here; it is not that of tt-mlir's builds."""
        return str(self._tree.get("schema_hash", ""))

    @property
    def ttmlir_git_hash(self) -> str:
        """What wrote it."""
        return str(self._tree.get("ttmlir_git_hash", ""))

    def check_schema_hash(self) -> bool:
        """Whether its schema is the one that is written here."""
        return self.schema_hash == schema().hash
