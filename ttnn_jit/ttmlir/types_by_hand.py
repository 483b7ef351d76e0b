"""Types whose calls give other values than the parameters of the type."""

from __future__ import annotations

import enum
from functools import cache
from typing import Any, ClassVar, Self

from ttnn_jit.ttmlir.dialect_attributes import DialectType, by_hand
from ttnn_jit.ttmlir.enums import enum_of
from ttnn_jit.ttmlir.mlir_contexts import Context
from ttnn_jit.ttmlir.mlir_types import Type
from ttnn_jit.ttmlir.wrapping import parsed, text_of


@by_hand("ttcore.tile")
class TileType(DialectType):
    """``!ttcore.tile<32x32, f32>``."""

    @classmethod
    def get(cls, context: Context, height: int, width: int, dtype: int) -> Self:  # noqa: ARG003
        """A tile of elements of a dtype."""
        word = next(each.keyword for each in enum_of("DataType", "ttcore") if int(each) == int(dtype))
        return cls(parsed(f"!ttcore.tile<{height}x{width}, {word}>"))

    @property
    def data_type_as_int(self) -> int:
        """The number of its dtype."""
        word = text_of(self.held).rpartition(", ")[2].rstrip(">")
        return next(int(each) for each in enum_of("DataType", "ttcore") if each.keyword == word)

    @property
    def data_type(self) -> Any:
        """Its dtype, as nanobind shows a C++ enumeration: ``DataType.Float32``."""
        return _shown_data_types()(self.data_type_as_int)

    @property
    def shape(self) -> list[int]:
        """Height and width."""
        return [int(each) for each in text_of(self.held).partition("<")[2].partition(",")[0].split("x")]


@cache
def _shown_data_types() -> Any:
    return enum.Enum("DataType", {each.name: int(each) for each in enum_of("DataType", "ttcore")}, type=_Shown)


class _Shown(int):
    __str__ = enum.Enum.__str__


@by_hand("quant.uniform")
class UniformQuantizedType(DialectType):
    """``!quant.uniform<i8:f32, 0.1:2>``."""

    FLAG_SIGNED: ClassVar[int] = 1

    @classmethod
    def get(
        cls,
        flags: int,
        storage_type: Type,
        expressed_type: Type,
        scale: float,
        zero_point: int,
        storage_type_min: int,
        storage_type_max: int,
    ) -> Self:
        """The type of quantized numbers of one scale and zero point; bounds are said where they are not the type's."""
        width = int(str(storage_type).lstrip("siu"))
        is_signed = bool(flags & cls.FLAG_SIGNED)
        least = -(1 << (width - 1)) if is_signed else 0
        bounds = (least, least + (1 << width) - 1)
        said = "" if (storage_type_min, storage_type_max) == bounds else f"<{storage_type_min}:{storage_type_max}>"
        offset = f":{zero_point}" if zero_point else ""
        storage = f"{'i' if is_signed else 'u'}{width}"
        return cls(parsed(f"!quant.uniform<{storage}{said}:{expressed_type}, {float(scale)!r}{offset}>"))

    def _quantization(self) -> tuple[float, int]:
        scale, zero_point = self._values()["quantization"][0]
        return float(scale), int(zero_point)

    @property
    def scale(self) -> float:
        """The step between two numbers."""
        return self._quantization()[0]

    @property
    def zero_point(self) -> int:
        """What stands for zero."""
        return self._quantization()[1]

    @property
    def storage_type(self) -> Any:
        """The type that numbers are stored in."""
        return Type(self._values()["storageType"])

    @property
    def expressed_type(self) -> Any:
        """The type of the numbers that are meant."""
        return Type(self._values()["expressedType"])
