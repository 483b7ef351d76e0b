"""Goldens that binaries hold, by the names of tt-mlir's runtime."""

from __future__ import annotations

from ttnn_jit.binaries.debug_information import Golden
from ttnn_jit.ttmlir.ttmlir_runtime.data_types import DataType


class GoldenTensor:
    """A tensor that a binary holds, to which a result is compared.

    Args:
        held: What the binary holds.
    """

    def __init__(self, held: Golden) -> None:
        self._held = held

    def __eq__(self, other: object) -> bool:
        return self._held == (other._held if isinstance(other, GoldenTensor) else other)

    def __hash__(self) -> int:
        return hash(self._held)

    @property
    def name(self) -> str:
        """The location of the operation."""
        return self._held.name

    @property
    def shape(self) -> list[int]:
        """Its extents."""
        return [*self._held.shape]

    @property
    def stride(self) -> list[int]:
        """Its strides, in elements."""
        return [*self._held.stride]

    @property
    def dtype(self) -> DataType:
        """Its dtype."""
        return DataType[self._held.dtype]

    def get_data_buffer(self) -> bytes:
        """The bytes of its elements, in order."""
        return self._held.data
