"""Affine expressions and maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from xdsl.dialects import builtin
from xdsl.ir import Attribute as HeldAttribute
from xdsl.ir import affine

from ttnn_jit.dialects.spelling.affine_text import affine_map_text
from ttnn_jit.ttmlir.mlir_attributes import Attribute
from ttnn_jit.ttmlir.mlir_contexts import Context
from ttnn_jit.ttmlir.wrapping import stands_for


class AffineExpr:
    """An affine expression.

    Args:
        held: That of xDSL.
    """

    def __init__(self, held: affine.AffineExpr) -> None:
        self.held = held

    def __add__(self, other: AffineExpr | int) -> AffineExpr:
        return AffineExpr(self.held + _held(other))

    __radd__ = __add__

    def __sub__(self, other: AffineExpr | int) -> AffineExpr:
        return AffineExpr(self.held - _held(other))

    def __rsub__(self, other: AffineExpr | int) -> AffineExpr:
        return AffineExpr(_held(other) - self.held)

    def __mul__(self, other: AffineExpr | int) -> AffineExpr:
        return AffineExpr(self.held * _held(other))

    __rmul__ = __mul__

    def __mod__(self, other: AffineExpr | int) -> AffineExpr:
        return AffineExpr(self.held % _held(other))

    @staticmethod
    def get_dim(position: int, context: Context | None = None) -> AffineDimExpr:  # noqa: ARG004
        """``d0``."""
        return AffineDimExpr.get(position)

    @staticmethod
    def get_constant(value: int, context: Context | None = None) -> AffineConstantExpr:  # noqa: ARG004
        """A number."""
        return AffineConstantExpr.get(value)

    @staticmethod
    def get_floor_div(lhs: AffineExpr, rhs: AffineExpr | int) -> AffineExpr:
        """The quotient, rounded down."""
        return AffineExpr(lhs.held // _held(rhs))

    @staticmethod
    def get_mod(lhs: AffineExpr, rhs: AffineExpr | int) -> AffineExpr:
        """The remainder."""
        return lhs % rhs

    @staticmethod
    def get_add(lhs: AffineExpr, rhs: AffineExpr | int) -> AffineExpr:
        """The sum."""
        return lhs + rhs

    @staticmethod
    def get_mul(lhs: AffineExpr, rhs: AffineExpr | int) -> AffineExpr:
        """The product."""
        return lhs * rhs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffineExpr) and bool(self.held == other.held)

    def __hash__(self) -> int:
        return hash(self.held)

    def __str__(self) -> str:
        return str(self.held)


def _held(expression: AffineExpr | int) -> affine.AffineExpr:
    return affine.AffineExpr.constant(expression) if isinstance(expression, int) else expression.held


class AffineDimExpr(AffineExpr):
    """A dimension."""

    @classmethod
    def get(cls, position: int, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """``d<position>``."""
        return cls(affine.AffineExpr.dimension(position))

    @property
    def position(self) -> int:
        """Its number."""
        return int(self.held.position)  # type: ignore[attr-defined]


class AffineSymbolExpr(AffineExpr):
    """A symbol."""

    @classmethod
    def get(cls, position: int, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """``s<position>``."""
        return cls(affine.AffineExpr.symbol(position))


class AffineConstantExpr(AffineExpr):
    """A number."""

    @classmethod
    def get(cls, value: int, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """The number."""
        return cls(affine.AffineExpr.constant(value))

    @property
    def value(self) -> int:
        """The number."""
        return int(self.held.value)  # type: ignore[attr-defined]


class AffineMap:
    """A map of dimensions and symbols to expressions.

    Args:
        held: That of xDSL.
    """

    def __init__(self, held: affine.AffineMap) -> None:
        self.held = held

    @classmethod
    def get(
        cls,
        dim_count: int,
        symbol_count: int,
        exprs: Sequence[AffineExpr],
        context: Context | None = None,  # noqa: ARG003 - there is one context
    ) -> Self:
        """The map to expressions."""
        return cls(affine.AffineMap(dim_count, symbol_count, tuple(each.held for each in exprs)))

    @classmethod
    def get_identity(cls, n_dims: int, context: Context | None = None) -> Self:  # noqa: ARG003
        """The map of each dimension to itself."""
        return cls(affine.AffineMap.identity(n_dims))

    @classmethod
    def get_permutation(cls, permutation: Sequence[int], context: Context | None = None) -> Self:  # noqa: ARG003
        """The map that permutes dimensions."""
        exprs = tuple(affine.AffineExpr.dimension(each) for each in permutation)
        return cls(affine.AffineMap(len(permutation), 0, exprs))

    @property
    def n_dims(self) -> int:
        """The number of dimensions."""
        return self.held.num_dims

    @property
    def n_symbols(self) -> int:
        """The number of symbols."""
        return self.held.num_symbols

    @property
    def results(self) -> list[AffineExpr]:
        """The expressions."""
        return [_expression(each) for each in self.held.results]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffineMap) and self.held == other.held

    def __hash__(self) -> int:
        return hash(self.held)

    def __str__(self) -> str:
        return affine_map_text(self.held)


def _expression(held: affine.AffineExpr) -> AffineExpr:
    match held:
        case affine.AffineDimExpr():
            return AffineDimExpr(held)
        case affine.AffineConstantExpr():
            return AffineConstantExpr(held)
        case affine.AffineSymExpr():
            return AffineSymbolExpr(held)
        case _:
            return AffineExpr(held)


class AffineMapAttr(Attribute):
    """A map where an attribute stands."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether it is a map."""
        return isinstance(held, builtin.AffineMapAttr)

    @classmethod
    def get(cls, affine_map: AffineMap) -> Self:
        """The attribute of a map."""
        return cls(builtin.AffineMapAttr(affine_map.held))

    @property
    def value(self) -> Any:
        """The map."""
        return AffineMap(self.held.data)


stands_for(AffineMapAttr)
