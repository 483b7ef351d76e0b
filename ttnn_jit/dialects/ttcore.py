"""The ttcore dialect: tiles, memory spaces, core grids, data types and the system description."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cache
from typing import ClassVar

from xdsl.dialects import builtin
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Data, Dialect, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.diagnostics.errors import DTypeError
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.dtypes import ALL_DTYPES
from ttnn_jit.specs.stored_formats import FORMATS, StoredFormat
from ttnn_jit.specs.target import PRESETS, TILE_HEIGHT, TILE_WIDTH, Numerics, SystemDesc
from ttnn_jit.specs.tensor_spec import DataType

SYSTEM_DESC = "ttcore.system_desc"
DEFAULT_TARGET = PRESETS["wormhole_b0"]


def parse_keyword(parser: AttrParser, allowed: Sequence[str]) -> str:
    """The keyword at the parser's position, which must be one of `allowed`."""
    position = parser.pos
    word = parser.parse_identifier()
    if word not in allowed:
        parser.raise_error(f"expected one of {', '.join(allowed)}, got {word!r}", position)
    return word


class KeywordAttr(Data[str]):
    """Base of attributes that hold one keyword, printed ``#dialect.name<keyword>``."""

    keywords: ClassVar[tuple[str, ...]]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """The keyword between angle brackets."""
        with parser.in_angle_brackets():
            return parse_keyword(parser, cls.keywords)

    def print_parameter(self, printer: Printer) -> None:
        """The keyword between angle brackets."""
        with printer.in_angle_brackets():
            printer.print_string(self.data)

    def verify(self) -> None:
        """Refuses a keyword that the attribute does not know."""
        if self.data not in self.keywords:
            raise VerifyException(f"{self.name} must be one of {', '.join(self.keywords)}, got {self.data!r}")


class BareKeywordAttr(KeywordAttr, SpacedOpaqueSyntaxAttribute):
    """Base of attributes that are printed ``#dialect<name keyword>``."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """The bare keyword."""
        return parse_keyword(parser, cls.keywords)

    def print_parameter(self, printer: Printer) -> None:
        """The bare keyword."""
        printer.print_string(self.data)


class AliasedKeywordAttr(KeywordAttr):
    """Base of attributes that are printed as an alias."""

    def alias_stem(self) -> str:
        """The keyword."""
        return self.data


@irdl_attr_definition
class DataTypeAttr(KeywordAttr):
    """``#ttcore.supportedDataTypes<bf16>``: an element type as a property."""

    name = "ttcore.supportedDataTypes"
    keywords = tuple(FORMATS)

    @property
    def dtype(self) -> DataType:
        """The DataType of the keyword.

        Raises:
            DTypeError: The keyword is a storage format, which is no DataType.
        """
        found = FORMATS[self.data]
        if isinstance(found, DataType):
            return found
        raise DTypeError(
            f"{self.data} is a format of memory: nothing computes with it, and ttnn has no name for it",
            help="convert it to float32 (ttnn_jit.kernels.block_floats.stored_elements)",
        )

    @property
    def format(self) -> DataType | StoredFormat:
        """The DataType or storage format of the keyword."""
        return FORMATS[self.data]


@irdl_attr_definition
class MemorySpaceAttr(AliasedKeywordAttr):
    """``#ttcore.memory_space<l1>``: the memory of a memref on a core."""

    name = "ttcore.memory_space"
    keywords = ("system", "mmio", "dram", "l1", "dst")


@irdl_attr_definition
class IteratorTypeAttr(AliasedKeywordAttr):
    """``#ttcore.iterator_type<parallel>``: a dimension of a generic's iteration space."""

    name = "ttcore.iterator_type"
    keywords = ("parallel", "reduction")


@irdl_attr_definition
class BufferAccessAttr(KeywordAttr):
    """``#ttcore.buffer_access<stream>``: whether a circular buffer aliases a tensor's L1 or is streamed through."""

    name = "ttcore.buffer_access"
    keywords = ("alias", "stream")


class DimensionsAttr(Data[tuple[int, ...]]):
    """Base of attributes that hold extents, ``32x32``; with `bracketed` inside angle brackets of their own."""

    bracketed: ClassVar[bool] = False

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, ...]:
        """The extents."""
        if not cls.bracketed:
            return tuple(parser.parse_dimension_list())
        with parser.in_angle_brackets():
            return tuple(parser.parse_dimension_list())

    def print_parameter(self, printer: Printer) -> None:
        """The extents."""
        text = "x".join(map(str, self.data))
        printer.print_string(f"<{text}>" if self.bracketed else text)


@irdl_attr_definition
class GridAttr(DimensionsAttr):
    """``#ttcore.grid<8x8>``: rows x columns of cores."""

    name = "ttcore.grid"
    bracketed = True

    def verify(self) -> None:
        """Refuses an empty grid."""
        if not self.data or any(extent < 1 for extent in self.data):
            raise VerifyException(f"a grid needs at least one core, got {'x'.join(map(str, self.data))}")


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute):
    """``!ttcore.tile<32x32, bf16>``: a tile of elements, the unit of a core's arithmetic."""

    name = "ttcore.tile"

    height: IntAttr
    width: IntAttr
    data_type: DataTypeAttr

    @property
    def dtype(self) -> DataType:
        """The element type."""
        return self.data_type.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of one tile."""
        return self.data_type.format.nbytes(self.height.data * self.width.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """``<32x32, bf16>``; spaces around the x are allowed."""
        with parser.in_angle_brackets():
            position = parser.pos
            shape = parser.parse_dimension_list()
            if len(shape) != 2:
                parser.raise_error("a tile has two extents", position)
            parser.parse_punctuation(",")
            return IntAttr(shape[0]), IntAttr(shape[1]), DataTypeAttr(parse_keyword(parser, DataTypeAttr.keywords))

    def print_parameters(self, printer: Printer) -> None:
        """``<32x32, bf16>``."""
        printer.print_string(f"<{self.height.data}x{self.width.data}, {self.data_type.data}>")

    def verify(self) -> None:
        """Refuses extents other than 32x32."""
        if (self.height.data, self.width.data) != (TILE_HEIGHT, TILE_WIDTH):
            raise VerifyException(f"a tile is {TILE_HEIGHT}x{TILE_WIDTH}, got {self.height.data}x{self.width.data}")


@irdl_attr_definition
class SystemDescAttr(ParametrizedAttribute):
    """``#ttcore.system_desc<{arch = "cpu", ...}>``: the fields of a SystemDesc; an absent limit means none."""

    name = "ttcore.system_desc"

    fields: DictionaryAttr

    def alias_stem(self) -> str:
        """``#system_desc``."""
        return "system_desc"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """A dictionary between angle brackets; the chip lists of tt-mlir's specification are refused."""
        with parser.in_angle_brackets():
            if parser.parse_optional_punctuation("[") is not None:
                parser.raise_error(
                    "a system description is a dictionary here, no lists of chips: `ttnn-jit query` prints its fields"
                )
            return (DictionaryAttr(parser.parse_optional_dictionary_attr_dict()),)

    @property
    def desc(self) -> SystemDesc:
        """The SystemDesc of the fields.

        Raises:
            VerifyException: The fields are not those of a SystemDesc.
        """
        known: SystemDesc | None = vars(self).get("desc")  # IRDL takes no cached_property
        if known is None:
            known = vars(self)["desc"] = _desc_of_fields(self.fields.data)
        return known

    def verify(self) -> None:
        """Refuses a dictionary that is not a SystemDesc."""
        _ = self.desc


@cache
def data_type_attr(dtype: DataType) -> DataTypeAttr:
    """``#ttcore.supportedDataTypes<dtype>``."""
    return DataTypeAttr(dtype.traits.ttcore)


@cache
def tile_type(dtype: DataType) -> TileType:
    """``!ttcore.tile<32x32, dtype>``."""
    return TileType(IntAttr(TILE_HEIGHT), IntAttr(TILE_WIDTH), data_type_attr(dtype))


def _element_type(dtype: DataType) -> Attribute:
    if dtype.is_block_float:
        return tile_type(dtype)
    if not dtype.is_integer:
        element: Attribute = getattr(builtin, dtype.mlir)
        return element
    if dtype.compute.is_bool:
        return builtin.i1
    return IntegerType(8 * dtype.itemsize, Signedness.SIGNED if dtype.compute.is_signed else Signedness.UNSIGNED)


ELEMENT_TYPES = {dtype: _element_type(dtype) for dtype in ALL_DTYPES}
"""DataType -> the element type of a tensor: a builtin type; for block floats a tile type."""


memory_space = cache(MemorySpaceAttr)
"""``#ttcore.memory_space<name>``, made once."""

iterator_type = cache(IteratorTypeAttr)
"""``#ttcore.iterator_type<name>``, made once."""


@memoized
def grid_attr(*extents: int) -> GridAttr:
    """``#ttcore.grid<rowsxcolumns>``."""
    return GridAttr(extents)


def system_desc_of(module: ModuleOp) -> SystemDesc:
    """The target of `module`; an untagged module means the preset ``wormhole_b0``.

    Raises:
        VerifyException: The module's attribute is not a system description.
    """
    attribute = module.attributes.get(SYSTEM_DESC)
    if attribute is None:
        return DEFAULT_TARGET
    if not isinstance(attribute, SystemDescAttr):
        raise VerifyException(f"{SYSTEM_DESC} must be a #ttcore.system_desc, got {attribute}")
    return attribute.desc


def set_system_desc(module: ModuleOp, target: SystemDesc) -> None:
    """Makes `target` the target of `module`; ``wormhole_b0`` leaves it untagged."""
    module.attributes.pop(SYSTEM_DESC, None)
    if target != DEFAULT_TARGET:
        module.attributes[SYSTEM_DESC] = _system_desc_attr(target)


_CHIP_FIELDS = {field.name for field in dataclasses.fields(SystemDesc)} - {"mesh"}
"""The fields of a chip: a program runs on one."""


@cache
def _system_desc_attr(target: SystemDesc) -> SystemDescAttr:
    values = {name: getattr(target, name) for name in _CHIP_FIELDS}
    return SystemDescAttr(
        DictionaryAttr({name: _field_attr(value) for name, value in sorted(values.items()) if value is not None})
    )


def _field_attr(value: str | bool | int | tuple[int, ...] | Numerics) -> Attribute:
    match value:
        case bool():
            return IntegerAttr(int(value), i1)
        case int():
            return IntegerAttr(value, i64)
        case str():
            return StringAttr(value)
        case Numerics():
            return StringAttr(value.value)
        case _:
            return ArrayAttr([IntegerAttr(extent, i64) for extent in value])


def _field_value(attribute: Attribute) -> str | bool | int | tuple[int, ...]:
    match attribute:
        case StringAttr():
            return attribute.data
        case IntegerAttr():
            return bool(attribute.value.data) if attribute.type == i1 else attribute.value.data
        case ArrayAttr():
            return tuple(element.value.data for element in attribute.data if isinstance(element, IntegerAttr))
        case _:
            raise VerifyException(f"a system description has no {attribute}")


def _desc_of_fields(fields: Mapping[str, Attribute]) -> SystemDesc:
    values: dict[str, object] = {"max_circular_buffers": None, "max_wide_inputs": None, "dram_bytes": None}
    values.update({name: _field_value(attribute) for name, attribute in fields.items()})
    if values.keys() != _CHIP_FIELDS:
        wrong = ", ".join(sorted(values.keys() ^ _CHIP_FIELDS))
        raise VerifyException(f"a system description has exactly the fields of SystemDesc; look at {wrong}")
    try:
        values["numerics"] = Numerics(values["numerics"])
    except ValueError as error:
        raise VerifyException(str(error)) from error
    return SystemDesc(**values)  # type: ignore[arg-type]  # the names were compared just above


TTCore = Dialect(
    "ttcore",
    [],
    [DataTypeAttr, MemorySpaceAttr, IteratorTypeAttr, BufferAccessAttr, GridAttr, TileType, SystemDescAttr],
)
