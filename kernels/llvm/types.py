"""The types of LLVM's values."""

from __future__ import annotations

from functools import cache

_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "ptr": 64}
_SUFFIXES = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "ptr": "p0"}


class Type(str):
    """A type's text, ``<16 x float>``, and what it says.

    Attributes:
        element: The type's, or of a vector its lanes'.
        lanes: Of a vector; 0 of a scalar.
        is_float: Whether arithmetic on it is that of floats.
        bits: Of an element.
        suffix: How the names of intrinsics spell it: ``v16f32``.
        scalar: The type of an element.
        mask: The type of a truth for each element.
    """

    __slots__ = ("bits", "element", "is_float", "lanes", "mask", "scalar", "suffix")
    element: str
    lanes: int
    is_float: bool
    bits: int
    suffix: str
    scalar: Type
    mask: Type

    @property
    def nbytes(self) -> int:
        """Of a value in memory."""
        return max(self.lanes, 1) * self.bits // 8

    def times(self, lanes: int) -> Type:
        """A vector of its elements; of 0, one element."""
        return type_of(self.element, lanes) if lanes else self.scalar


@cache
def type_of(element: str, lanes: int = 0) -> Type:
    """The type of a scalar, or of a vector of `lanes` of them."""
    made = Type(f"<{lanes} x {element}>" if lanes else element)
    made.element, made.lanes = element, lanes
    made.is_float = element in {"half", "bfloat", "float", "double"}
    made.bits = int(element[1:]) if element[0] == "i" else _BITS.get(element, 0)
    made.suffix = f"{f'v{lanes}' * bool(lanes)}{_SUFFIXES.get(element, element)}"
    made.scalar = type_of(element) if lanes else made
    made.mask = made if element == "i1" else type_of("i1", lanes)
    return made


def array(count: int, element: Type) -> Type:
    """The type of elements side by side in memory, which addresses are counted in."""
    return type_of(f"[{count} x {element}]")


VOID, PTR, FLOAT, BFLOAT = map(type_of, ("void", "ptr", "float", "bfloat"))
I1, I8, I16, I32, I64 = (type_of(f"i{bits}") for bits in (1, 8, 16, 32, 64))
