"""`ttnn.Tile`."""

from __future__ import annotations

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.checks import check_kind, whole_numbers
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH


@dataclass(frozen=True)
class Tile:
    """The shape of a tile, always 32x32 elements."""

    shape: tuple[int, int] = (TILE_HEIGHT, TILE_WIDTH)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", whole_numbers(self.shape, "a tile"))
        if self.shape != (TILE_HEIGHT, TILE_WIDTH):
            raise ShapeError(f"a tile is {TILE_HEIGHT}x{TILE_WIDTH} elements, got {'x'.join(map(str, self.shape))}")

    @property
    def tile_shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.shape

    def get_tile_size(self, dtype: DataType) -> int:
        """Bytes of a tile of this element type."""
        check_kind(dtype, DataType, "`dtype`")
        return dtype.nbytes(self.shape[0] * self.shape[1])
