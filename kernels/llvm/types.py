"""LLVM types."""

from __future__ import annotations

from functools import cache

_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "ptr": 64}
_SUFFIXES = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "ptr": "p0"}


class Type(str):
    """The text of a type, ``<16 x float>``, and its properties.

    Attributes:
        element: Text of the scalar type, or of a vector's element type.
        lanes: Lanes of a vector; 0 for a scalar.
        is_float: Whether it is a floating-point type.
        bits: Bits of an element.
        suffix: Its spelling in names of intrinsics: ``v16f32``.
        scalar: The element type.
        mask: The type of a comparison of two such values.
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
        """Bytes of a value in memory."""
        return max(self.lanes, 1) * self.bits // 8

    def times(self, lanes: int) -> Type:
        """The vector of `lanes` of its elements; for 0, the element type."""
        return type_of(self.element, lanes) if lanes else self.scalar


@cache
def type_of(element: str, lanes: int = 0) -> Type:
    """The type of a scalar, or of a vector of `lanes` scalars."""
    made = Type(f"<{lanes} x {element}>" if lanes else element)
    made.element, made.lanes = element, lanes
    made.is_float = element in {"half", "bfloat", "float", "double"}
    made.bits = int(element[1:]) if element[0] == "i" else _BITS.get(element, 0)
    made.suffix = f"{f'v{lanes}' * bool(lanes)}{_SUFFIXES.get(element, element)}"
    made.scalar = type_of(element) if lanes else made
    made.mask = made if element == "i1" else type_of("i1", lanes)
    return made


def array(count: int, element: Type) -> Type:
    """The type of an array; `element` steps over whole arrays with it."""
    return type_of(f"[{count} x {element}]")


def struct(*members: Type) -> Type:
    """The type of a struct, whose members are aligned."""
    return type_of(f"{{ {', '.join(members)} }}")


VOID, PTR, FLOAT, BFLOAT, DOUBLE = map(type_of, ("void", "ptr", "float", "bfloat", "double"))
I1, I8, I16, I32, I64 = (type_of(f"i{bits}") for bits in (1, 8, 16, 32, 64))
