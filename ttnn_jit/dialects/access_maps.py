"""Conversion between accesses and affine maps."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.dialects.spelling.affine_text import affine_expression_text
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import (
    Add,
    Const,
    Dim,
    Expr,
    FloorDiv,
    Mod,
    Mul,
    divided,
    remainder,
    times,
    total,
)


def map_of(access: Access) -> AffineMap:
    """``(d0, d1) -> (d1, d0 floordiv 4)``: maps indices of the domain to indices of the source."""
    return AffineMap(len(access.extents), 0, tuple(map(_affine, access.coordinates)))


def access_of(indices: AffineMap, extents: Sequence[int]) -> Access:
    """The inverse of `map_of`, over a domain of these extents.

    Raises:
        VerifyException: A result of the map cannot be a coordinate of an access.
    """
    return Access(tuple(extents), tuple(map(_expr, indices.results)))


def _affine(expr: Expr) -> AffineExpr:
    match expr:
        case Dim(position):
            return AffineDimExpr(position)
        case Const(value):
            return AffineConstantExpr(value)
        case Add(left, right):
            return AffineBinaryOpExpr(AffineBinaryOpKind.Add, _affine(left), _affine(right))
        case Mul(left, number) | FloorDiv(left, number) | Mod(left, number):
            return AffineBinaryOpExpr(_KIND_OF[type(expr)], _affine(left), AffineConstantExpr(number))


_KIND_OF: dict[type[Expr], AffineBinaryOpKind] = {
    Mul: AffineBinaryOpKind.Mul,
    FloorDiv: AffineBinaryOpKind.FloorDiv,
    Mod: AffineBinaryOpKind.Mod,
}


def _expr(affine: AffineExpr) -> Expr:
    match affine:
        case AffineDimExpr():
            return Dim(affine.position)
        case AffineConstantExpr():
            return Const(affine.value)
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
            return total((_expr(affine.lhs), _expr(affine.rhs)))
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=left, rhs=AffineConstantExpr(value=factor)):
            return times(_expr(left), factor)
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.FloorDiv, lhs=left, rhs=AffineConstantExpr(value=divisor)):
            if divisor >= 1:
                return divided(_expr(left), divisor)
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mod, lhs=left, rhs=AffineConstantExpr(value=divisor)):
            if divisor >= 1:
                return remainder(_expr(left), divisor)
    raise VerifyException(f"`{affine_expression_text(affine)}` is no index of a view")
