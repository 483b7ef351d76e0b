"""Affine maps as MLIR prints them: no redundant parentheses, ``a - b`` for ``a + b * -1``."""

from __future__ import annotations

from functools import cache

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

_TIGHT_OPERATORS = {
    AffineBinaryOpKind.Mul: " * ",
    AffineBinaryOpKind.FloorDiv: " floordiv ",
    AffineBinaryOpKind.CeilDiv: " ceildiv ",
    AffineBinaryOpKind.Mod: " mod ",
}


@cache
def affine_map_text(affine_map: AffineMap) -> str:
    """``(d0, d1)[s0] -> (d0 * 32 + d1, s0)``."""
    dims = ", ".join(f"d{index}" for index in range(affine_map.num_dims))
    symbols = ", ".join(f"s{index}" for index in range(affine_map.num_symbols))
    results = ", ".join(affine_expression_text(result) for result in affine_map.results)
    return f"({dims}){f'[{symbols}]' if symbols else ''} -> ({results})"


def affine_expression_text(expression: AffineExpr, *, tight: bool = False) -> str:
    """The text of one result; `tight` marks an operand of ``*``, ``floordiv``, ``ceildiv`` or ``mod``."""
    match expression:
        case AffineDimExpr():
            return f"d{expression.position}"
        case AffineSymExpr():
            return f"s{expression.position}"
        case AffineConstantExpr():
            return str(expression.value)
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
            text = _sum_text(expression)
        case AffineBinaryOpExpr():
            text = _product_text(expression)
        case _:
            raise TypeError(f"no affine expression: {expression!r}")
    return f"({text})" if tight else text


def _product_text(expression: AffineBinaryOpExpr) -> str:
    right = expression.rhs
    left = affine_expression_text(expression.lhs, tight=True)
    if expression.kind is AffineBinaryOpKind.Mul and right == AffineConstantExpr(-1):
        return f"-{left}"
    return f"{left}{_TIGHT_OPERATORS[expression.kind]}{affine_expression_text(right, tight=True)}"


def _sum_text(expression: AffineBinaryOpExpr) -> str:
    left = affine_expression_text(expression.lhs)
    right = expression.rhs
    if isinstance(right, AffineBinaryOpExpr) and right.kind is AffineBinaryOpKind.Mul:
        factor = right.rhs
        if isinstance(factor, AffineConstantExpr) and factor.value < 0:
            subtracted_sum = isinstance(right.lhs, AffineBinaryOpExpr) and right.lhs.kind is AffineBinaryOpKind.Add
            if factor.value == -1:
                return f"{left} - {affine_expression_text(right.lhs, tight=subtracted_sum)}"
            return f"{left} - {affine_expression_text(right.lhs, tight=True)} * {-factor.value}"
    if isinstance(right, AffineConstantExpr) and right.value < 0:
        return f"{left} - {-right.value}"
    return f"{left} + {affine_expression_text(right)}"
