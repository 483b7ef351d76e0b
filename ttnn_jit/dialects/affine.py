"""`affine.load` and `affine.store` as MLIR prints them; xDSL's own ops parse indices as symbols.

An index is a value or a constant: ``%dst[0, %arg3, %arg4]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Self

from xdsl.dialects.affine import ApplyOp, ForOp, IfOp, MinOp, YieldOp
from xdsl.dialects.builtin import AffineMapAttr, IndexType, LocationAttr, MemRefType
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap
from xdsl.irdl import IRDLOperation, operand_def, prop_def, result_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.dialects.spelling.affine_text import affine_map_text
from ttnn_jit.dialects.writing.creation import QuickOperation
from ttnn_jit.dialects.writing.direct_access import op_definition

INDEX = IndexType()
Index = SSAValue | int


@op_definition
class LoadOp(QuickOperation, IRDLOperation):
    """``%2 = affine.load %memref[%i, 0] : memref<...>``."""

    name = "affine.load"

    memref = operand_def(MemRefType)
    index_values = var_operand_def(INDEX)
    map = prop_def(AffineMapAttr)
    result = result_def()

    @staticmethod
    def make(memref: SSAValue, indices: Sequence[Index], location: LocationAttr | None = None) -> LoadOp:
        """The element of `memref` at `indices`."""
        values, index_map = split_indices(indices)
        return LoadOp.create(
            operands=(memref, *values),
            result_types=(_element_type(memref),),
            properties={"map": index_map},
            location=location,
        )

    @property
    def indices(self) -> tuple[Index, ...]:
        """One value or constant per dimension of the memref."""
        return join_indices(self.map, self.index_values)

    @property
    def is_printed_generic(self) -> bool:
        """Whether its map computes indices, which its assembly does not show."""
        return _computes(self.map)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """``%memref[indices] attr-dict : memref-type``."""
        operands, index_map, attributes = _parse_access(parser)
        return cls.create(
            operands=operands,
            result_types=(_element_type(operands[0]),),
            properties={"map": index_map},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """``%memref[indices] attr-dict : memref-type``."""
        printer.print_string(" ")
        _print_access(printer, self.memref, self.indices, self.attributes)

    def verify_(self) -> None:
        """Refuses a wrong number of indices and a result that is not the memref's element."""
        _verify_access(self.name, self.memref, self.map, len(self.operands) - 1)
        if self.result.type != _element_type(self.memref):
            raise VerifyException(f"{self.name} results in {_element_type(self.memref)}, got {self.result.type}")


@op_definition
class StoreOp(QuickOperation, IRDLOperation):
    """``affine.store %2, %memref[%i, 0] : memref<...>``."""

    name = "affine.store"

    value = operand_def()
    memref = operand_def(MemRefType)
    index_values = var_operand_def(INDEX)
    map = prop_def(AffineMapAttr)

    @staticmethod
    def make(
        value: SSAValue, memref: SSAValue, indices: Sequence[Index], location: LocationAttr | None = None
    ) -> StoreOp:
        """Stores `value` to `memref` at `indices`."""
        values, index_map = split_indices(indices)
        return StoreOp.create(operands=(value, memref, *values), properties={"map": index_map}, location=location)

    @property
    def indices(self) -> tuple[Index, ...]:
        """One value or constant per dimension of the memref."""
        return join_indices(self.map, self.index_values)

    @property
    def is_printed_generic(self) -> bool:
        """Whether its map computes indices, which its assembly does not show."""
        return _computes(self.map)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """``%value, %memref[indices] attr-dict : memref-type``."""
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        operands, index_map, attributes = _parse_access(parser)
        stored = parser.resolve_operand(value, _element_type(operands[0]))
        return cls.create(operands=(stored, *operands), properties={"map": index_map}, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """``%value, %memref[indices] attr-dict : memref-type``."""
        printer.print_string(" ")
        printer.print_operand(self.value)
        printer.print_string(", ")
        _print_access(printer, self.memref, self.indices, self.attributes)

    def verify_(self) -> None:
        """Refuses a wrong number of indices and a value that is not the memref's element."""
        _verify_access(self.name, self.memref, self.map, len(self.operands) - 2)
        if self.value.type != _element_type(self.memref):
            raise VerifyException(f"{self.name} stores {_element_type(self.memref)}, got {self.value.type}")


def split_indices(indices: Sequence[Index]) -> tuple[list[SSAValue], AffineMapAttr]:
    """The values among `indices`, and the map from them to all indices."""
    values: list[SSAValue] = []
    constants: list[int | None] = []
    for index in indices:
        if isinstance(index, int):
            constants.append(index)
        else:
            values.append(index)
            constants.append(None)
    return values, _index_map(tuple(constants))


@cache
def _index_map(constants: tuple[int | None, ...]) -> AffineMapAttr:
    results: list[AffineDimExpr | AffineConstantExpr] = []
    dims = 0
    for constant in constants:
        if constant is None:
            results.append(AffineDimExpr(dims))
            dims += 1
        else:
            results.append(AffineConstantExpr(constant))
    index_map = AffineMapAttr(AffineMap(dims, 0, tuple(results)))
    _CONSTANTS[id(index_map)] = constants
    return index_map


_CONSTANTS: dict[int, tuple[int | None, ...]] = {}
"""id of a map that `_index_map` made, and its cache keeps alive -> the constants of that map."""


def join_indices(index_map: AffineMapAttr, values: Sequence[SSAValue]) -> tuple[Index, ...]:
    """The inverse of `split_indices`.

    Raises:
        VerifyException: A result of the map is neither a dimension nor a constant.
    """
    constants = _CONSTANTS.get(id(index_map))
    if constants is not None:
        following = iter(values)
        return tuple([next(following) if constant is None else constant for constant in constants])
    indices: list[Index] = []
    for result in index_map.data.results:
        match result:
            case AffineDimExpr():
                indices.append(values[result.position])
            case AffineConstantExpr():
                indices.append(result.value)
            case _:
                raise VerifyException(f"an index is a value or a constant, got {result}")
    return tuple(indices)


def _computes(index_map: AffineMapAttr) -> bool:
    return any(not isinstance(result, AffineDimExpr | AffineConstantExpr) for result in index_map.data.results)


def _element_type(memref: SSAValue) -> Attribute:
    memref_type = memref.type
    if not isinstance(memref_type, MemRefType):
        raise VerifyException(f"expected a memref, got {memref_type}")
    element: Attribute = memref_type.element_type
    return element


def _parse_access(parser: Parser) -> tuple[list[SSAValue], AffineMapAttr, dict[str, Attribute]]:
    memref = parser.parse_unresolved_operand()
    constants: list[int | None] = []
    values: list[SSAValue] = []

    def parse_index() -> None:
        value = parser.parse_optional_operand(INDEX)
        if value is None:
            constants.append(parser.parse_integer(allow_boolean=False))
        else:
            constants.append(None)
            values.append(value)

    parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_index)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    position = parser.pos
    memref_type = parser.parse_type()
    if not isinstance(memref_type, MemRefType):
        parser.raise_error("expected a memref type", position)
    return [parser.resolve_operand(memref, memref_type), *values], _index_map(tuple(constants)), attributes


def _print_access(
    printer: Printer, memref: SSAValue, indices: Sequence[Index], attributes: dict[str, Attribute]
) -> None:
    def print_index(index: Index) -> None:
        if isinstance(index, int):
            printer.print_int(index)
        else:
            printer.print_operand(index)

    printer.print_operand(memref)
    with printer.in_square_brackets():
        printer.print_list(indices, print_index)
    printer.print_op_attributes(attributes)
    printer.print_string(" : ")
    printer.print_attribute(memref.type)


def _verify_access(name: str, memref: SSAValue, index_map: AffineMapAttr, values: int) -> None:
    memref_type = memref.type
    rank = memref_type.get_num_dims() if isinstance(memref_type, MemRefType) else 0
    if len(index_map.data.results) != rank or index_map.data.num_dims != values:
        raise VerifyException(f"{name} needs one index per dimension of {memref_type}")
    if _computes(index_map):
        raise VerifyException(f"{name} takes values and constants as indices, got {affine_map_text(index_map.data)}")


Affine = Dialect("affine", [ApplyOp, ForOp, IfOp, LoadOp, MinOp, StoreOp, YieldOp], [])
