"""Ops of kernels with a reduction loop: tile ops with an accumulator, its initial fill, and masking of padding."""

from __future__ import annotations

import math
from functools import cache

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, LocationAttr, TensorType, f32, i64
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ttnn_jit import ops
from ttnn_jit.dialects.declared_ops import DeclaredOp
from ttnn_jit.dialects.layout import dense_type
from ttnn_jit.dialects.properties import read_precision
from ttnn_jit.dialects.ttcore import BareKeywordAttr, KeywordAttr, TileType
from ttnn_jit.dialects.writing.creation import QuickOperation
from ttnn_jit.dialects.writing.direct_access import op_definition
from ttnn_jit.dialects.writing.quick_attributes import integer_attr, quick_attribute
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.product_precision import names_fidelity

REDUCE_DIMS = ("R", "C")
FILL_VALUES = {"zero": 0.0, "one": 1.0, "inf": math.inf, "neginf": -math.inf}
"""Name in the text -> the number that padding is filled with."""


@irdl_attr_definition
class ReduceDimAttr(BareKeywordAttr):
    """``#d2m<reduce_dim R>``: R reduces the elements of each row of a tile, C those of each column."""

    name = "d2m.reduce_dim"
    keywords = REDUCE_DIMS


@irdl_attr_definition
class FillValueAttr(KeywordAttr, SpacedOpaqueSyntaxAttribute):
    """``#d2m<fill_value zero>``: the number that padding is filled with."""

    name = "d2m.fill_value"
    keywords = tuple(FILL_VALUES)

    @property
    def number(self) -> float:
        """The number."""
        return FILL_VALUES[self.data]


PRECISION = "compute_config"
"""The property of tile ops that holds the precision of a chip's products."""


class AccumulatingOp(DeclaredOp):
    """A tile op whose last operand is its accumulator: the tile with the partial results of the reduction loop.

    The accumulator is not rounded between steps, whatever its tile type: only the stored result is rounded. In a
    ``linalg.generic`` it is the output's tile, and is initialized anew for each output tile.
    """

    @property
    def accumulator(self) -> SSAValue:
        """The last operand."""
        return self.operands[-1]

    @property
    def identity(self) -> float:
        """The initial value of the accumulator."""
        raise NotImplementedError

    def verify_(self) -> None:
        """Requires three operands, the first and the last of them tiles of floats, and an f32 tile as result."""
        if len(self.operands) != 3 or len(self.results) != 1:
            raise VerifyException(f"{self.name} takes 3 operands and has one result")
        first, second, last = (value.type for value in self.operands)
        for type_ in (first, last):
            if not isinstance(type_, TileType) or type_.dtype not in self.operation.dtypes:
                raise VerifyException(f"{self.name} takes tiles of floats, got {type_}")
        self.verify_second_operand(second)
        result = self.results[0].type
        if not isinstance(result, TileType) or not result.dtype.is_compute_type:
            raise VerifyException(f"{self.name} results in a tile of f32, got {result}")

    def verify_second_operand(self, type_: Attribute) -> None:
        """Refuses a second operand of a wrong type."""
        raise NotImplementedError


class TileReduceOp(AccumulatingOp):
    """``"d2m.tile_reduce_sum"(%tile, %one, %acc) <{reduce_dim = #d2m<reduce_dim R>}>``.

    It reduces the elements of each row, or column, into the accumulator; without ``reduce_dim`` it accumulates
    elementwise. ops/families/reduction.py defines the order of accumulation over all tiles of the reduction loop. The
    second operand scales the elements; it is 1.
    """

    operation: ops.Reduction

    @property
    def identity(self) -> float:
        """The identity of the declaration."""
        return self.operation.identity

    @property
    def reduce_dim(self) -> str | None:
        """``R``, ``C``, or None."""
        attribute = self.properties.get("reduce_dim")
        return attribute.data if isinstance(attribute, ReduceDimAttr) else None

    def verify_second_operand(self, type_: Attribute) -> None:
        """Requires an f32, and a valid ``reduce_dim``."""
        if type_ != f32:
            raise VerifyException(f"{self.name} takes an f32 between the tiles, got {type_}")
        if unknown := self.properties.keys() - {"reduce_dim"}:
            raise VerifyException(f"{self.name} has no property `{min(unknown)}`")
        if "reduce_dim" in self.properties and self.reduce_dim is None:
            raise VerifyException(f"{self.name} takes a #d2m<reduce_dim ...>, got {self.properties['reduce_dim']}")


class TileContractOp(AccumulatingOp):
    """``"d2m.tile_matmul"(%a, %b, %acc)``: adds the products of a's rows and b's columns to the accumulator.

    ops/families/contraction.py defines the order of accumulation; ``compute_config`` gives the precision.
    """

    operation: ops.Contraction

    @property
    def identity(self) -> float:
        """Zero, the identity of addition."""
        return 0.0

    def verify_second_operand(self, type_: Attribute) -> None:
        """Requires a tile of floats, and a valid ``compute_config``."""
        if not isinstance(type_, TileType) or type_.dtype not in self.operation.dtypes:
            raise VerifyException(f"{self.name} takes tiles of floats, got {type_}")
        if unknown := self.properties.keys() - {PRECISION}:
            raise VerifyException(f"{self.name} has no property `{min(unknown)}`")
        if PRECISION in self.properties and not names_fidelity(self.precision):
            raise VerifyException(f"{self.name} takes no precision {self.properties[PRECISION]}")

    @property
    def precision(self) -> str | None:
        """The precision of a chip's products; None: exact products, summed in float32."""
        return read_precision(self.properties.get(PRECISION))


@op_definition
class TileFillOp(QuickOperation, IRDLOperation):
    """``"d2m.tile_fill"(%cst) : (f32) -> !ttcore.tile<32x32, f32>``: a tile of one number."""

    name = "d2m.tile_fill"

    value = operand_def(f32)
    result = result_def(TileType)
    traits = traits_def(Pure())

    @staticmethod
    def make(value: SSAValue, result_type: TileType, location: LocationAttr | None = None) -> TileFillOp:
        """A tile of `value`."""
        return TileFillOp.create(operands=(value,), result_types=(result_type,), location=location)


@op_definition
class MaskOp(QuickOperation, IRDLOperation):
    """``d2m.mask %x, %out logical_shape = [50, 50] fill_value = <zero> : T into T -> T``.

    The tensor with its padding filled with a number, for kernels that read whole tiles.
    """

    name = "d2m.mask"
    assembly_format = (
        "$input `,` $output `logical_shape` `=` $logical_shape `fill_value` `=` $fill_value attr-dict "
        "`:` type($input) `into` type($output) `->` type($result)"
    )

    input = operand_def(TensorType)
    output = operand_def(TensorType)
    logical_shape = prop_def(ArrayAttr[IntegerAttr])
    fill_value = prop_def(FillValueAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @staticmethod
    def make(tensor: SSAValue, output: SSAValue, fill: str, location: LocationAttr | None = None) -> MaskOp:
        """`tensor` with all its padding filled."""
        assert isinstance(tensor.type, TensorType)
        return MaskOp.create(
            operands=(tensor, output),
            result_types=(output.type,),
            properties={"logical_shape": _shape(tensor.type.get_shape()), "fill_value": fill_value(fill)},
            location=location,
        )

    def verify_(self) -> None:
        """Requires the tensor's shape, and as result type the tensor's type without strides."""
        assert isinstance(self.input.type, TensorType)
        dense = dense_type(self.input.type)
        if not dense == self.output.type == self.result.type:
            raise VerifyException(f"{self.name} makes one of {dense}, got {self.output.type}, {self.result.type}")
        if self.logical_shape != _shape(self.input.type.get_shape()):
            raise VerifyException(f"{self.name} fills what lies beyond {list(self.input.type.get_shape())}, not less")


reduce_dim = cache(ReduceDimAttr)
"""``#d2m<reduce_dim ...>``, made once."""

fill_value = cache(FillValueAttr)
"""``#d2m<fill_value ...>``, made once."""


@memoized(maxsize=1024)
def _shape(extents: tuple[int, ...]) -> ArrayAttr[IntegerAttr]:
    return quick_attribute(ArrayAttr, data=tuple([integer_attr(extent, i64) for extent in extents]))
