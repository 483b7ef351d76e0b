"""The d2m dialect: generics over circular buffers, the DST register file, and tile ops."""

from __future__ import annotations

from abc import ABC
from functools import cache
from typing import Self

from xdsl.dialects.builtin import AffineMapAttr, LocationAttr, MemRefType, StringAttr, TensorType, UnitAttr, f32, i32
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ttnn_jit import ops
from ttnn_jit.dialects.access_maps import access_of, map_of
from ttnn_jit.dialects.d2m_generic import CBType, GenericOp, ThreadAttr
from ttnn_jit.dialects.d2m_reductions import (
    AccumulatingOp,
    FillValueAttr,
    MaskOp,
    ReduceDimAttr,
    TileContractOp,
    TileFillOp,
    TileReduceOp,
)
from ttnn_jit.dialects.declared_ops import DeclaredOp, ElementwiseOp
from ttnn_jit.dialects.derive import derive
from ttnn_jit.dialects.spelling.affine_text import affine_map_text
from ttnn_jit.dialects.ttcore import BareKeywordAttr, TileType
from ttnn_jit.dialects.writing.creation import QuickOperation
from ttnn_jit.dialects.writing.direct_access import op_definition
from ttnn_jit.dialects.writing.nullary import NullaryOp
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.access.access import Access

__all__ = [
    "BCAST_TYPES",
    "D2M",
    "TILE_OP_OF",
    "AccumulatingOp",
    "AcquireDstOp",
    "CBType",
    "EmptyOp",
    "GenericOp",
    "MaskOp",
    "ReserveOp",
    "ThreadAttr",
    "TileBcastOp",
    "TileBcastTypeAttr",
    "TileContractOp",
    "TileElementwiseOp",
    "TileFillOp",
    "TileInitOp",
    "TileReduceOp",
    "TileTypecastOp",
    "ViewLayoutOp",
    "WaitOp",
    "bcast_type_attr",
    "cb_type",
]

BCAST_TYPES = ("row", "col", "scalar")


@irdl_attr_definition
class TileBcastTypeAttr(BareKeywordAttr):
    """``#d2m<tile_bcast_type row>``: the part of a tile (first row, column or element) that is broadcast over it."""

    name = "d2m.tile_bcast_type"
    keywords = BCAST_TYPES


@op_definition
class EmptyOp(NullaryOp):
    """``d2m.empty() : tensor<...>``: a tensor for a generic to write into."""

    name = "d2m.empty"

    result = result_def(TensorType)
    traits = traits_def(Pure())


@op_definition
class AcquireDstOp(NullaryOp):
    """``%dst = d2m.acquire_dst() : memref<...>``: slots of the DST register file, each of ``rows x columns`` tiles."""

    name = "d2m.acquire_dst"
    result = result_def(MemRefType)

    def result_stem(self) -> str:
        """The stem of the result's name."""
        return "dst"


class CBAccessOp(QuickOperation, IRDLOperation, ABC):
    """``d2m.name %cb attr-dict : cb-type -> memref-type``: the memref of a circular buffer."""

    cb = operand_def(CBType)
    result = result_def(MemRefType)

    @classmethod
    def make(cls, cb: SSAValue, location: LocationAttr | None = None) -> Self:
        """The memref in `cb`."""
        return cls.create(operands=(cb,), result_types=(_underlying(cb),), location=location)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """``%cb attr-dict : cb-type -> memref-type``."""
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        cb = parser.resolve_operand(operand, _parse_buffer(parser))
        parser.parse_punctuation("->")
        return cls.create(operands=(cb,), result_types=(parser.parse_type(),), attributes=attributes)

    def print(self, printer: Printer) -> None:
        """``%cb attr-dict : cb-type -> memref-type``."""
        printer.print_string(" ")
        printer.print_operand(self.cb)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : <")
        printer.print_attribute(_underlying(self.cb))
        printer.print_string("> -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        """Refuses a result that is not the buffer's memref."""
        if self.result.type != _underlying(self.cb):
            raise VerifyException(f"{self.name} results in {_underlying(self.cb)}, got {self.result.type}")


@op_definition
class WaitOp(CBAccessOp):
    """``d2m.wait %cb0 : <memref<...>> -> memref<...>``: the data of an input buffer."""

    name = "d2m.wait"


@op_definition
class ReserveOp(CBAccessOp):
    """``d2m.reserve %cb2 : <memref<...>> -> memref<...>``: free space of an output buffer."""

    name = "d2m.reserve"


class TileElementwiseOp(ElementwiseOp):
    """An elementwise op of tiles; all operands but one may be scalars: f32, or i32 beside tiles of integers."""

    def verify_types(self) -> None:
        """Refuses operands that are neither tiles nor scalars of the matching type, and a result that is no tile."""
        types = [value.type for value in self.operands]
        dtypes = [operand_type.dtype for operand_type in types if isinstance(operand_type, TileType)]
        scalar = i32 if any(dtype.is_integer for dtype in dtypes) else f32
        for operand_type in types:
            if not isinstance(operand_type, TileType) and operand_type != scalar:
                raise VerifyException(f"{self.name} takes tiles and {scalar} scalars, got {operand_type}")
        if not dtypes:
            raise VerifyException(f"{self.name} needs a tile among its operands")
        result = self.results[0].type
        if not isinstance(result, TileType):
            raise VerifyException(f"{self.name} results in a tile, got {result}")
        self.verify_dtypes([*dtypes, result.dtype])


@op_definition
class ViewLayoutOp(QuickOperation, IRDLOperation):
    """``"d2m.view_layout"(%tensor) <{remapping = affine_map<...>}>``: a view of the tensor.

    The remapping maps logical indices of the result to logical indices of the operand. No element is moved: a kernel
    that reads the view reads the operand.
    """

    name = "d2m.view_layout"

    input = operand_def(TensorType)
    remapping = prop_def(AffineMapAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @staticmethod
    def make(
        tensor: SSAValue, access: Access, result_type: Attribute, location: LocationAttr | None = None
    ) -> ViewLayoutOp:
        """The view of `tensor` by `access`."""
        return ViewLayoutOp.create(
            operands=(tensor,),
            result_types=(result_type,),
            properties={"remapping": AffineMapAttr(map_of(access))},
            location=location,
        )

    @property
    def access(self) -> Access:
        """The access from indices of the result to indices of the operand."""
        result = self.result.type
        assert isinstance(result, TensorType)
        return access_of(self.remapping.data, result.get_shape())

    def verify_(self) -> None:
        """Refuses a remapping of another rank, another element type, and indices outside the operand."""
        source, result = self.input.type, self.result.type
        assert isinstance(source, TensorType)
        assert isinstance(result, TensorType)
        indices = self.remapping.data
        if indices.num_dims != result.get_num_dims() or indices.num_symbols:
            raise VerifyException(f"the remapping takes the {result.get_num_dims()} indices of {result}")
        if len(indices.results) != source.get_num_dims():
            raise VerifyException(f"the remapping gives the {source.get_num_dims()} indices of {source}")
        if source.element_type != result.element_type:
            raise VerifyException(f"a view has the elements of {source}, got {result}")
        if not self.access.stays_inside(source.get_shape()):
            raise VerifyException(f"the remapping {affine_map_text(indices)} leaves {source}")


@op_definition
class TileBcastOp(QuickOperation, IRDLOperation):
    """``"d2m.tile_bcast"(%tile) <{bcast_type = #d2m<tile_bcast_type row>}>``: broadcasts a part of a tile over it."""

    name = "d2m.tile_bcast"

    operand = operand_def(TileType)
    bcast_type = prop_def(TileBcastTypeAttr)
    result = result_def(TileType)
    traits = traits_def(Pure())

    @staticmethod
    def make(operand: SSAValue, bcast_type: str, location: LocationAttr | None = None) -> TileBcastOp:
        """`operand` with its first row, column or element broadcast over it."""
        return TileBcastOp.create(
            operands=(operand,),
            result_types=(operand.type,),
            properties={"bcast_type": bcast_type_attr(bcast_type)},
            location=location,
        )


@op_definition
class TileTypecastOp(QuickOperation, IRDLOperation):
    """``"d2m.tile_typecast"(%tile) <{called}>``: the tile with its elements rounded or widened to the result's type.

    A cast marked ``called`` stems from the program and always rounds. A cast that passes insert between two ops may be
    elided inside a kernel.
    """

    name = "d2m.tile_typecast"

    operand = operand_def(TileType)
    called = opt_prop_def(UnitAttr)
    result = result_def(TileType)
    traits = traits_def(Pure())

    @staticmethod
    def make(
        operand: SSAValue, result_type: TileType, location: LocationAttr | None = None, *, called: bool = False
    ) -> TileTypecastOp:
        """`operand` as a tile of `result_type`."""
        properties = {"called": UnitAttr()} if called else {}
        return TileTypecastOp.create(
            operands=(operand,), result_types=(result_type,), properties=properties, location=location
        )

    @property
    def is_called(self) -> bool:
        """Whether it stems from the program: passes insert no casts from or to integers."""
        types = (self.operand.type, self.result.type)
        of_integers = any(isinstance(type_, TileType) and type_.dtype.is_integer for type_ in types)
        return of_integers or self.called is not None


def source_operation(op: Operation) -> str | None:
    """The name of the operation that a tile op computes; None for an op that passes insert."""
    if isinstance(op, DeclaredOp):
        return op.operation.name
    return ops.TYPECAST.name if isinstance(op, TileTypecastOp) and op.is_called else None


@op_definition
class TileInitOp(QuickOperation, IRDLOperation):
    """``"d2m.tile_init"() <{tile_op = "tile_exp"}>``: sets up the core's engines for a tile op."""

    name = "d2m.tile_init"

    tile_op = prop_def(StringAttr)

    @staticmethod
    def make(tile_op: str, location: LocationAttr | None = None) -> TileInitOp:
        """The set-up of the op ``d2m.<tile_op>``."""
        return TileInitOp.create(properties=_init_properties(tile_op), location=location)


@cache
def _init_properties(tile_op: str) -> dict[str, Attribute]:
    return {"tile_op": StringAttr(tile_op)}


bcast_type_attr = cache(TileBcastTypeAttr)
"""``#d2m<tile_bcast_type ...>``, made once."""

cb_type = memoized(CBType)
"""``!d2m.cb<memref>``, made once."""


def _underlying(cb: SSAValue) -> MemRefType[Attribute]:
    assert isinstance(cb.type, CBType)
    return cb.type.underlying


def _parse_buffer(parser: Parser) -> Attribute:
    """A circular buffer's type: a memref between angle brackets, or the type in full."""
    if parser.parse_optional_punctuation("<") is None:
        return parser.parse_type()
    position = parser.pos
    memref = parser.parse_type()
    if not isinstance(memref, MemRefType):
        parser.raise_error("a circular buffer holds a memref", position)
    parser.parse_punctuation(">")
    return cb_type(memref)


TILE_OP_OF = derive(
    "d2m",
    "tile_name",
    {ops.Elementwise: TileElementwiseOp, ops.Reduction: TileReduceOp, ops.Contraction: TileContractOp},
)
"""Declared operation -> its tile op class."""

D2M = Dialect(
    "d2m",
    [
        AcquireDstOp,
        EmptyOp,
        GenericOp,
        MaskOp,
        ReserveOp,
        TileBcastOp,
        TileFillOp,
        TileInitOp,
        TileTypecastOp,
        ViewLayoutOp,
        WaitOp,
        *TILE_OP_OF.classes(),
    ],
    [CBType, FillValueAttr, ReduceDimAttr, ThreadAttr, TileBcastTypeAttr],
)
