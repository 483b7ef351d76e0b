"""Attributes and types of the ttnn dialect: layouts, buffer types, shapes, the mesh, programs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DictionaryAttr, MemRefType, NoneAttr, StringAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.dialects.spelling.affine_text import affine_map_text
from ttnn_jit.dialects.ttcore import AliasedKeywordAttr, DimensionsAttr, GridAttr, KeywordAttr, parse_keyword
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.tensor_spec import BufferType, Layout, ShardOrientation, TensorMemoryLayout

MEMORY_LAYOUTS = {layout.name.lower(): layout for layout in TensorMemoryLayout}
"""MLIR spelling -> TensorMemoryLayout."""

# tt-mlir expresses a column-major shard order as a grid with swapped virtual axes.
_COLUMN_MAJOR_MAP = "(d0, d1) -> (0, d1, d0)"


@irdl_attr_definition
class DeviceType(ParametrizedAttribute, TypeAttribute):
    """``!ttnn.device``."""

    name = "ttnn.device"


@irdl_attr_definition
class BufferTypeAttr(AliasedKeywordAttr):
    """``#ttnn.buffer_type<dram>``: the memory that holds a tensor."""

    name = "ttnn.buffer_type"
    keywords = tuple(buffer_type.name.lower() for buffer_type in BufferType)

    @property
    def buffer_type(self) -> BufferType:
        """The BufferType of the keyword."""
        return BufferType[self.data.upper()]


@irdl_attr_definition
class LayoutAttr(KeywordAttr):
    """``#ttnn.layout<tile>``: the layout of a created tensor."""

    name = "ttnn.layout"
    keywords = ("row_major", "tile", "invalid")


@irdl_attr_definition
class ShapeAttr(DimensionsAttr):
    """``#ttnn.shape<32x32>``: the logical shape of a created tensor."""

    name = "ttnn.shape"
    bracketed = True


@irdl_attr_definition
class MeshOffsetAttr(DimensionsAttr, SpacedOpaqueSyntaxAttribute):
    """``#ttnn<mesh_offset 0x0>``."""

    name = "ttnn.mesh_offset"


@irdl_attr_definition
class MeshShapeAttr(DimensionsAttr, SpacedOpaqueSyntaxAttribute):
    """``#ttnn<mesh_shape 1x1>``."""

    name = "ttnn.mesh_shape"


@irdl_attr_definition
class CoreRangeAttr(Data[tuple[int, int, int, int]]):
    """``#ttnn.core_range<(0,0), (7,7)>``: x and y of the first core, then of the last."""

    name = "ttnn.core_range"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, int, int, int]:
        """``<(x,y), (x,y)>``."""
        with parser.in_angle_brackets():
            start_x, start_y = _parse_coordinate(parser)
            parser.parse_punctuation(",")
            end_x, end_y = _parse_coordinate(parser)
        return start_x, start_y, end_x, end_y

    def print_parameter(self, printer: Printer) -> None:
        """``<(x,y), (x,y)>``."""
        start_x, start_y, end_x, end_y = self.data
        printer.print_string(f"<({start_x},{start_y}), ({end_x},{end_y})>")


def _parse_coordinate(parser: AttrParser) -> tuple[int, int]:
    position = parser.pos
    numbers = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_integer)
    if len(numbers) != 2:
        parser.raise_error("a core has two coordinates, (x,y)", position)
    return numbers[0], numbers[1]


@irdl_attr_definition
class TTNNLayoutAttr(ParametrizedAttribute):
    """``#ttnn.ttnn_layout<MAP, <ROWSxCOLUMNS>, memref<...>, <interleaved>>``: the memory layout of a tensor.

    The map takes logical indices to the folded 2-D tensor, the grid counts cores, the memref is one core's shard. The
    core ranges are printed unless the grid implies them, as it does for block sharding. An ND sharded tensor prints
    its shard's shape after its core ranges; its grid is 1x1 and its memref the whole tensor.
    """

    name = "ttnn.ttnn_layout"

    linear: AffineMapAttr
    grid: GridAttr
    orientation: StringAttr
    memref: MemRefType[Attribute]
    memory_layout: StringAttr
    core_ranges: ArrayAttr[CoreRangeAttr] | NoneAttr
    nd_shard: ShapeAttr | NoneAttr

    def __hash__(self) -> int:
        """The hash, computed once: each look-up of a tensor's type needs it, and it visits the whole attribute."""
        known: int | None = vars(self).get("hash")  # IRDL takes no cached_property
        if known is None:
            known = vars(self)["hash"] = hash(self.parameters)
        return known

    def alias_stem(self) -> str:
        """``#ttnn_layout``."""
        return "ttnn_layout"

    @property
    def buffer_type(self) -> BufferType:
        """The memory that holds the tensor."""
        space = self.memref.memory_space
        if not isinstance(space, BufferTypeAttr):
            raise VerifyException(f"the memref of a layout lies in a #ttnn.buffer_type, got {space}")
        return space.buffer_type

    @property
    def tensor_memory_layout(self) -> TensorMemoryLayout:
        """How the tensor is distributed over banks or cores."""
        return MEMORY_LAYOUTS[self.memory_layout.data]

    @property
    def is_sharded(self) -> bool:
        """Whether each core of the grid holds one shard."""
        return self.tensor_memory_layout is not TensorMemoryLayout.INTERLEAVED

    @property
    def shard_orientation(self) -> ShardOrientation:
        """The order in which shards are assigned to cores."""
        return ShardOrientation[self.orientation.data.upper()]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """The parameters between angle brackets."""
        with parser.in_angle_brackets():
            linear = AffineMapAttr(parser.parse_affine_map())
            parser.parse_punctuation(",")
            grid, orientation = _parse_grid(parser)
            parser.parse_punctuation(",")
            position = parser.pos
            memref = parser.parse_type()
            if not isinstance(memref, MemRefType):
                parser.raise_error("expected the memref of one core's part", position)
            parser.parse_punctuation(",")
            with parser.in_angle_brackets():
                memory_layout = StringAttr(parse_keyword(parser, tuple(MEMORY_LAYOUTS)))
            core_ranges = _parse_core_ranges(parser)
            return linear, grid, orientation, memref, memory_layout, core_ranges, _parse_nd_shard(parser)

    def print_parameters(self, printer: Printer) -> None:
        """The parameters between angle brackets."""
        with printer.in_angle_brackets():
            printer.print_string(f"{affine_map_text(self.linear.data)}, <{'x'.join(map(str, self.grid.data))}")
            if self.shard_orientation is ShardOrientation.COL_MAJOR:
                printer.print_string(f", {_COLUMN_MAJOR_MAP}")
            printer.print_string(">, ")
            printer.print_attribute(self.memref)
            printer.print_string(f", <{self.memory_layout.data}>")
            if not isinstance(self.core_ranges, NoneAttr):
                printer.print_string(", core_ranges = <[")
                printer.print_list(self.core_ranges, printer.print_attribute)
                printer.print_string("]>")
            if isinstance(self.nd_shard, ShapeAttr):
                printer.print_string(", nd_shard = ")
                self.nd_shard.print_parameter(printer)

    def verify(self) -> None:
        """Refuses an unknown memory layout or orientation, and a memref outside the buffer types."""
        if self.memory_layout.data not in MEMORY_LAYOUTS:
            raise VerifyException(f"unknown memory layout {self.memory_layout.data}")
        if self.orientation.data.upper() not in ShardOrientation.__members__:
            raise VerifyException(f"unknown shard orientation {self.orientation.data}")
        if not isinstance(self.memref.memory_space, BufferTypeAttr):
            raise VerifyException(f"the memref of a layout lies in a #ttnn.buffer_type, got {self.memref.memory_space}")
        if len(self.grid.data) != 2:
            raise VerifyException(f"the grid of a layout has two extents, got {'x'.join(map(str, self.grid.data))}")


def _parse_grid(parser: AttrParser) -> tuple[GridAttr, StringAttr]:
    with parser.in_angle_brackets():
        grid = GridAttr(tuple(parser.parse_dimension_list()))
        if parser.parse_optional_punctuation(",") is None:
            return grid, StringAttr("row_major")
        position = parser.pos
        if affine_map_text(parser.parse_affine_map()) != _COLUMN_MAJOR_MAP:
            parser.raise_error(f"the only grid map is the column-major one, {_COLUMN_MAJOR_MAP}", position)
        return grid, StringAttr("col_major")


def _parse_core_ranges(parser: AttrParser) -> ArrayAttr[CoreRangeAttr] | NoneAttr:
    if parser.parse_optional_punctuation(",") is None:
        return NoneAttr()
    parser.parse_keyword("core_ranges")
    parser.parse_punctuation("=")
    with parser.in_angle_brackets():
        return ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_core_range(parser)))


def _parse_nd_shard(parser: AttrParser) -> ShapeAttr | NoneAttr:
    if parser.parse_optional_punctuation(",") is None:
        return NoneAttr()
    parser.parse_keyword("nd_shard")
    parser.parse_punctuation("=")
    return ShapeAttr(ShapeAttr.parse_parameter(parser))


def _parse_core_range(parser: AttrParser) -> CoreRangeAttr:
    position = parser.pos
    attribute = parser.parse_attribute()
    if not isinstance(attribute, CoreRangeAttr):
        parser.raise_error("expected a #ttnn.core_range", position)
    return attribute


@irdl_attr_definition
class ProgramAttr(ParametrizedAttribute):
    """``#ttnn.program<{...}>``: the program that a `ttnn.generic` launches, as a dictionary."""

    name = "ttnn.program"

    fields: DictionaryAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """A dictionary between angle brackets."""
        with parser.in_angle_brackets():
            return (DictionaryAttr(parser.parse_optional_dictionary_attr_dict()),)


@cache
def buffer_type_attr(buffer_type: BufferType) -> BufferTypeAttr:
    """``#ttnn.buffer_type<...>``."""
    return BufferTypeAttr(buffer_type.name.lower())


@cache
def layout_attr(layout: Layout) -> LayoutAttr:
    """``#ttnn.layout<...>``."""
    return LayoutAttr(layout.name.lower())


@memoized
def shape_attr(*extents: int) -> ShapeAttr:
    """``#ttnn.shape<...>``."""
    return ShapeAttr(extents)
