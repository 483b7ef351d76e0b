"""``ttmlir.util``: locations, and the dtypes of types."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import builtin

from ttnn_jit.dialects.text_calls.op_calls import updated_operands
from ttnn_jit.ttmlir.enums import enum_of
from ttnn_jit.ttmlir.mlir_locations import Location
from ttnn_jit.ttmlir.wrapping import text_of


def debug_print_module(module: Any) -> str:
    """The text of a module with locations."""
    return str(module.operation.get_asm(enable_debug_info=True))


def is_name_loc(loc: Location) -> bool:
    """Whether a location is a name."""
    return isinstance(loc.held, builtin.NameLoc)


def get_loc_name(loc: Location) -> str | None:
    """The name of a location that is one."""
    return loc.name_str if is_name_loc(loc) else None


def get_loc_full(loc: Location) -> str:
    """The text of a location."""
    return str(loc)


def is_file_line_col_loc(loc: Location) -> bool:
    """Whether a location is a place in a file."""
    return isinstance(loc.held, builtin.FileLineColLoc)


def is_fused_loc(loc: Location) -> bool:
    """Whether a location has several parts."""
    return isinstance(loc.held, builtin.FusedLoc)


def get_fused_locations(loc: Location) -> list[Location]:
    """The parts of a location."""
    match loc.held:
        case builtin.FusedLoc(locations=builtin.ArrayAttr() as parts):
            return [Location(each) for each in parts]
        case _:
            return []


def is_dps(op: Any) -> bool:
    """Whether an operation takes the tensor of its result."""
    from ttnn_jit.dialects.upstream import tables

    return any(row.has("DestinationStyleOpInterface") for row in tables.operation_rows(op.operation.name))


def get_write_effect_operand_indices(op: Any) -> list[int]:
    """The indices of the operands that an operation writes to."""
    return updated_operands(op.held)


def element_type_to_data_type(kind: Any) -> Any:
    """The dtype of an element type."""
    types = enum_of("DataType", "ttcore")
    word = text_of(kind.held)
    words = {"f64": "f32", "i64": "si32", "i32": "si32", "si32": "si32", "ui32": "u32", "i16": "u16", "ui16": "u16",
             "i8": "u8", "ui8": "u8", "i1": "bf16"}  # fmt: skip
    found = words.get(word, word)
    return next(each for each in types if each.keyword == found)
