"""What kernels with a reduction loop are made of: tile ops with an accumulator, what fills it, and masked padding."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
from ttnn_jit.specs.product_precision import names_fidelity

REDUCE_DIMS = ("R", "C")
FILLS = {"zero": 0.0, "one": 1.0, "inf": math.inf, "neginf": -math.inf}
"""What padding may be filled with, by its name in the text."""


@irdl_attr_definition
class ReduceDimAttr(BareKeywordAttr):
    """``#d2m<reduce_dim R>``: whether the elements of a tile's rows are reduced, or those of its columns, C."""

    name = "d2m.reduce_dim"
    keywords = REDUCE_DIMS


@irdl_attr_definition
class FillValueAttr(KeywordAttr, SpacedOpaqueSyntaxAttribute):
    """``#d2m<fill_value zero>``: what padding is filled with."""

    name = "d2m.fill_value"
    keywords = tuple(FILLS)

    @property
    def number(self) -> float:
        """The number."""
        return FILLS[self.data]


PRECISION = "compute_config"
"""The property of tile ops that says how exactly a chip multiplies."""


class AccumulatingOp(DeclaredOp):
    """A tile op whose last operand is its accumulator: the tile that holds what the reduction loop has made so far.

    The accumulator is exact, whatever the type of the tile that stands for it: it is rounded where it is stored, and
    goes on unrounded. In a ``linalg.generic`` it is the output's tile, and begins anew with every output tile.
    """

    @property
    def accumulator(self) -> SSAValue:
        """The last operand."""
        return self.operands[-1]

    @property
    def identity(self) -> float:
        """What it begins with."""
        raise NotImplementedError

    def verify_(self) -> None:
        """Refuses other than three operands, the first and the last of them tiles of floats, and a tile of f32."""
        if len(self.operands) != 3 or len(self.results) != 1:
            raise VerifyException(f"{self.name} takes 3 operands and has one result")
        first, second, last = (value.type for value in self.operands)
        for type_ in (first, last):
            if not isinstance(type_, TileType) or type_.dtype not in self.operation.dtypes:
                raise VerifyException(f"{self.name} takes tiles of floats, got {type_}")
        self.verify_second(second)
        result = self.results[0].type
        if not isinstance(result, TileType) or not result.dtype.is_compute_type:
            raise VerifyException(f"{self.name} results in a tile of f32, got {result}")

    def verify_second(self, type_: Attribute) -> None:
        """Refuses another second operand than the op takes."""
        raise NotImplementedError


class TileReduceOp(AccumulatingOp):
    """``"d2m.tile_reduce_sum"(%tile, %one, %acc) <{reduce_dim = #d2m<reduce_dim R>}>``.

    The elements of a row, or of a column, join the accumulator's; without ``reduce_dim`` each joins that in its own
    place. The order in which they do is that of ops/families/reduction.py, over all tiles of the reduction loop. The
    second operand, by which elements are multiplied, is 1.
    """

    operation: ops.Reduction

    @property
    def identity(self) -> float:
        """That of its declaration."""
        return self.operation.identity

    @property
    def reduce_dim(self) -> str | None:
        """``R``, ``C``, or None."""
        attribute = self.properties.get("reduce_dim")
        return attribute.data if isinstance(attribute, ReduceDimAttr) else None

    def verify_second(self, type_: Attribute) -> None:
        """Refuses what is no f32, and a ``reduce_dim`` that is none."""
        if type_ != f32:
            raise VerifyException(f"{self.name} takes an f32 between the tiles, got {type_}")
        if unknown := self.properties.keys() - {"reduce_dim"}:
            raise VerifyException(f"{self.name} has no property `{min(unknown)}`")
        if "reduce_dim" in self.properties and self.reduce_dim is None:
            raise VerifyException(f"{self.name} takes a #d2m<reduce_dim ...>, got {self.properties['reduce_dim']}")


class TileContractOp(AccumulatingOp):
    """``"d2m.tile_matmul"(%a, %b, %acc)``: the products of a's rows and b's columns join the accumulator.

    The order in which they do is that of ops/families/contraction.py; ``compute_config`` says how exactly.
    """

    operation: ops.Contraction

    @property
    def identity(self) -> float:
        """Nothing was added yet."""
        return 0.0

    def verify_second(self, type_: Attribute) -> None:
        """Refuses what is no tile of floats, and a ``compute_config`` that is none."""
        if not isinstance(type_, TileType) or type_.dtype not in self.operation.dtypes:
            raise VerifyException(f"{self.name} takes tiles of floats, got {type_}")
        if unknown := self.properties.keys() - {PRECISION}:
            raise VerifyException(f"{self.name} has no property `{min(unknown)}`")
        if PRECISION in self.properties and not names_fidelity(self.precision):
            raise VerifyException(f"{self.name} takes no precision {self.properties[PRECISION]}")

    @property
    def precision(self) -> str | None:
        """How exactly a chip multiplies; None: exactly, and in float32."""
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

    The tensor, its padding beyond the logical extents filled with a number: for kernels whose tiles reach into it.
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
        """Refuses another shape than the tensor's, and other types, but that the result has no strides of its own."""
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


def _shape(extents: Sequence[int]) -> ArrayAttr[IntegerAttr]:
    return ArrayAttr([IntegerAttr(extent, i64) for extent in extents])
