"""Affine maps of coordinates, in the syntax of `#ttcore.layout` and `#ttcore.device`: ``(d0, d1) -> (0, d1 mod 8)``.

Their results are the expressions of `index_expressions.py`: sums, multiples, quotients and remainders by constants.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import LayoutError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.access.index_expressions import (
    Add,
    Const,
    Dim,
    Expr,
    FloorDiv,
    Mod,
    Mul,
    dims_of,
    divided,
    evaluated,
    remainder,
    substitute,
    times,
    total,
)


@dataclass(frozen=True)
class AffineMap:
    """An affine map of `dims` coordinates to `results`.

    Raises:
        LayoutError: A result uses a dimension that the map does not have.
    """

    dims: int
    results: tuple[Expr, ...]

    def __post_init__(self) -> None:
        for result in self.results:
            if beyond := sorted(dim for dim in dims_of(result) if dim >= self.dims):
                raise LayoutError(f"`{expression_text(result)}` names d{beyond[0]}, and the map has {self.dims} dims")

    @staticmethod
    def identity(dims: int) -> AffineMap:
        """The identity of `dims` coordinates."""
        return AffineMap(dims, tuple(map(Dim, range(dims))))

    @staticmethod
    def parse(text: str) -> AffineMap:
        """The map of a text such as ``(d0, d1) -> (d0 floordiv 8, d1)``.

        Raises:
            LayoutError: The text is no such map: other operators, signs, dims that are not d0, d1 and so on.
        """
        matched = re.fullmatch(r"\s*\(([^()]*)\)\s*->\s*\((.*)\)\s*", text, flags=re.DOTALL)
        if matched is None:
            raise _parse_error(text)
        names = [name.strip() for name in matched[1].split(",")] if matched[1].strip() else []
        if names != [f"d{dim}" for dim in range(len(names))]:
            raise _parse_error(text)
        return AffineMap(len(names), tuple(_parsed(node, text) for node in _results(matched[2], text)))

    def evaluate(self, indices: Sequence[Any]) -> tuple[Any, ...]:
        """The results at these coordinates, which are ints or arrays of ints."""
        return tuple(evaluated(result, indices) for result in self.results)

    def compose(self, inner: AffineMap) -> AffineMap:
        """The composition of this map with `inner`, which is applied first.

        Raises:
            LayoutError: The number of results of `inner` is not that of this map's coordinates.
        """
        if len(inner.results) != self.dims:
            raise LayoutError(f"`{self}` takes {self.dims} coordinates, and `{inner}` gives {len(inner.results)}")
        return AffineMap(inner.dims, tuple(substitute(result, inner.results) for result in self.results))

    def __str__(self) -> str:
        names = ", ".join(f"d{dim}" for dim in range(self.dims))
        return f"({names}) -> ({', '.join(map(expression_text, self.results))})"


def expression_text(expr: Expr, *, tight: bool = False) -> str:
    """The text of a result in MLIR's syntax; `tight`: it is an operand of an operator other than ``+``."""
    match expr:
        case Dim(position):
            return f"d{position}"
        case Const(value):
            return str(value)
        case Add(left, right):
            text = f"{expression_text(left)} + {expression_text(right)}"
        case Mul(left, number) | FloorDiv(left, number) | Mod(left, number):
            operator = {Mul: "*", FloorDiv: "floordiv", Mod: "mod"}[type(expr)]
            text = f"{expression_text(left, tight=True)} {operator} {number}"
    return f"({text})" if tight else text


def _results(text: str, whole: str) -> list[ast.expr]:
    """Python's syntax trees of the results: with two operators replaced, the text is a Python expression."""
    if "//" in text or "%" in text:
        raise _parse_error(whole)
    source = re.sub(r"\bmod\b", "%", re.sub(r"\bfloordiv\b", "//", text)).replace("\n", " ").strip()
    try:
        body = ast.parse(f"[{source}]", mode="eval").body
    except SyntaxError:
        raise _parse_error(whole) from None
    assert isinstance(body, ast.List)
    return body.elts


def _parsed(node: ast.expr, whole: str) -> Expr:
    match node:
        case ast.Name(id=name) if re.fullmatch(r"d\d+", name):
            return Dim(int(name[1:]))
        case ast.Constant(value=int(value)) if type(value) is int:
            return Const(value)
        case ast.BinOp(left, ast.Add(), right):
            return total((_parsed(left, whole), _parsed(right, whole)))
        case ast.BinOp(left, operator, ast.Constant(value=int(number))) if type(number) is int and number > 0:
            for kind, made in ((ast.Mult, times), (ast.FloorDiv, divided), (ast.Mod, remainder)):
                if isinstance(operator, kind):
                    return made(_parsed(left, whole), number)
    raise _parse_error(whole)


def _parse_error(text: str) -> LayoutError:
    return LayoutError(
        f"`{' '.join(text.split())}` is not an affine map of coordinates",
        help="write `(d0, d1) -> (d0 * 8 + d1 floordiv 8, d1 mod 8)`: sums, and `*`, `floordiv` and `mod` by a number "
        "above 0",
    )
