"""Which op of ttkernel computes an operation on tiles of DST, and which op has to prepare it.

A declaration gives the stem of the names, its `kernel_name`; the tables say which forms exist:

- ``exp_tile(slot)``, ``add_binary_tile(slot, slot, result)``, ``where_tile(slot, slot, slot, result)``: on tiles;
- ``add_unary_tile(slot, bits)``: a tile and a number;
- ``clamp_tile(slot, bits, bits)``: a tile, and the numbers of the operation's attributes.

Integers have forms of their own (``abs_tile_int32``, ``add_int_tile``), or an attribute ``dtype``.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cache

from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.tables import OperationRow
from ttnn_jit.ops import Elementwise
from ttnn_jit.ops.declared import DECLARED
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType

AUGUST = "2"
"""The version whose ops are written, as rows of the tables name it."""


REDUCE_TYPES = ("reduce_sum", "reduce_max")
"""The reductions of `ttkernel.reduce_tile`, as the `kernel_name` of their operations."""


class Form(Enum):
    """What an op takes besides its result's slot."""

    TILES = "tiles"
    NUMBER = "a tile and a number"
    ATTRIBUTES = "a tile, and the operation's attributes"


@dataclass(frozen=True)
class TileFunction:
    """An op of ttkernel on tiles of DST.

    Attributes:
        name: Its name, with the dialect.
        operation: What it computes.
        form: Its operands.
        is_integer: Whether its tiles hold integers.
        has_dtype: Whether the attribute ``dtype`` names their element type.
    """

    name: str
    operation: Elementwise
    form: Form
    is_integer: bool
    has_dtype: bool

    @property
    def is_in_place(self) -> bool:
        """Whether the result replaces the operand."""
        return self.form is not Form.TILES or self.operation.arity == 1


def tile_function(operation: Elementwise, dtype: DataType, form: Form) -> TileFunction | None:
    """The op that computes `operation` on tiles of `dtype`; None if ttkernel has none."""
    for name, has_dtype in _names(operation, form, is_integer=dtype.is_integer):
        if not dtype.is_integer or has_dtype or (dtype.compute.is_signed and dtype.itemsize == 4):
            return TileFunction(name, operation, form, dtype.is_integer, has_dtype)
    return None


@cache
def functions_by_name() -> dict[str, tuple[TileFunction, ...]]:
    """Name of an op -> what it may compute: on floats, on integers, or on both if it has the attribute ``dtype``."""
    found: dict[str, list[TileFunction]] = {}
    for operation in DECLARED:
        if not isinstance(operation, Elementwise):
            continue
        for form in Form:
            for is_integer in (False, True):
                for name, has_dtype in _names(operation, form, is_integer=is_integer):
                    made = TileFunction(name, operation, form, is_integer, has_dtype)
                    known = found.setdefault(name, [])
                    if all(each.is_integer != is_integer for each in known):
                        known.append(made)
    return {name: tuple(functions) for name, functions in found.items()}


_GROUPS = {
    "binop_with_scalar_tile_init": ("add_unary", "sub_unary", "mul_unary", "div_unary"),
    "rounding_op_tile_init": ("ceil", "floor", "trunc", "frac"),
    "binary_bitwise_tile_init": ("bitwise_and", "bitwise_or", "bitwise_xor"),
    "binary_shift_tile_init": ("binary_left_shift", "binary_right_shift", "binary_logical_right_shift"),
}
"""An op that prepares several -> how their names begin."""


@cache
def tile_functions_of_engine() -> dict[str, Elementwise]:
    """Stem of an op's name -> what the matrix engine computes on tiles of two circular buffers: ``add_tiles``."""
    return {
        each.kernel_name: each
        for each in DECLARED
        if isinstance(each, Elementwise) and each.arity == 2 and _row(f"ttkernel.{each.kernel_name}_tiles")
    }


@cache
def preparing(name: str) -> str | None:
    """The op that has to run before an op of this name; None if none has to."""
    own = name.partition(".")[2]
    for init, stems in _GROUPS.items():
        if own.startswith(stems):
            return f"ttkernel.{init}"
    candidates = (f"{own}_init", f"{own.removesuffix('_int32')}_init", _UNUSUAL.get(own, ""))
    return next((f"ttkernel.{each}" for each in candidates if each and _row(f"ttkernel.{each}")), None)


_UNUSUAL = {
    "matmul_tiles": "mm_init",
    "reduce_tile": "reduce_init",
    "fill_tile_int": "fill_tile_init",
    "transpose_wh_tile": "transpose_wh_init",
    "tilize_block": "tilize_init",
    "untilize_block": "untilize_init",
    "experimental.tilize_block": "tilize_init",
    "experimental.untilize_block": "untilize_init",
}


def _names(operation: Elementwise, form: Form, *, is_integer: bool) -> Iterator[tuple[str, bool]]:
    """The names of ops that compute an operation in one form, each with whether it has the attribute ``dtype``."""
    if form is not Form.TILES and operation.arity != (2 if form is Form.NUMBER else 1):
        return
    if (form is Form.ATTRIBUTES) != bool(operation.attributes):
        return
    for own in _candidates(operation, form, is_integer=is_integer):
        row = _row(f"ttkernel.{own}")
        if row is None or _operands(row) != _wanted(operation, form):
            continue
        has_dtype = any(each.name == "dtype" for each in row.attributes)
        if not is_integer or has_dtype or own.endswith(("_int32", "_int_tile", "_int32_tile")) or own in _BITWISE:
            yield row.name, has_dtype


_BITWISE = {"bitwise_not_tile"}
"""Ops on integers whose name does not say so."""


def _candidates(operation: Elementwise, form: Form, *, is_integer: bool) -> tuple[str, ...]:
    stem, several = operation.kernel_name, operation.arity == 2
    match form:
        case Form.NUMBER if is_integer:
            return (f"{stem}_unary_tile_int32", f"{stem}_tile_int32")
        case Form.NUMBER:
            return (f"{stem}_unary_tile", f"{stem}_tile")
        case Form.TILES if several and is_integer:
            return (f"{stem}_int_tile", f"binary_{stem}_int32_tile", f"{stem}_binary_tile", f"binary_{stem}_tile")
        case Form.TILES if several:
            return (f"{stem}_binary_tile", f"binary_{stem}_tile")
        case _:
            return (f"{stem}_tile_int32", f"{stem}_tile") if is_integer else (f"{stem}_tile",)


def _wanted(operation: Elementwise, form: Form) -> tuple[int, int]:
    """The numbers of slots and of 32-bit numbers that a form takes."""
    if form is Form.TILES:
        return (1 if operation.arity == 1 else operation.arity + 1), 0
    return 1, 1 if form is Form.NUMBER else len(operation.attributes)


def _operands(row: OperationRow) -> tuple[int, int]:
    slots = sum(each.constraint == "IndexLike" for each in row.operands)
    return slots, len(row.operands) - slots


@cache
def _row(name: str) -> OperationRow | None:
    rows = tables.operation_rows(name)
    return next((row for row in rows if AUGUST in row.versions), rows[0] if rows else None)
