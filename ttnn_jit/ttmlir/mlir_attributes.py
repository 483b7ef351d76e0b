"""Attributes of the builtin dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from xdsl.dialects import builtin
from xdsl.ir import Attribute as HeldAttribute
from xdsl.ir import TypeAttribute

from ttnn_jit.dialects.upstream.upstream_parser import SplatElementsAttr
from ttnn_jit.ttmlir.mlir_contexts import Context
from ttnn_jit.ttmlir.mlir_types import Type
from ttnn_jit.ttmlir.wrapping import Wrapper, parsed, stands_for, wrapped


class Attribute(Wrapper[HeldAttribute]):
    """An attribute."""

    @staticmethod
    def parse(text: str, context: Context | None = None) -> Any:  # noqa: ARG004 - there is one context
        """The attribute of a text, of its own class.

        Raises:
            ValueError: It has another syntax.
        """
        return wrapped(parsed(text))

    @property
    def type(self) -> Any:
        """The type of an attribute that has one; else `none`."""
        return wrapped(getattr(self.held, "type", builtin.NoneType()))

    def get_named(self, name: str) -> NamedAttribute:
        """The attribute with a name."""
        return NamedAttribute(name, self)


class NamedAttribute:
    """A name and its attribute."""

    def __init__(self, name: str, attribute: Attribute) -> None:
        self.name = name
        self.attr = attribute


class StringAttr(Attribute):
    """A text."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.StringAttr)

    @classmethod
    def get(cls, value: str, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """The attribute of a text."""
        return cls(builtin.StringAttr(value))

    @property
    def value(self) -> str:
        """The text."""
        return str(self.held.data)


class IntegerAttr(Attribute):
    """A number of an integer type or of `index`."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.IntegerAttr)

    @classmethod
    def get(cls, kind: Type, value: int) -> Self:
        """The number of a type."""
        return cls(builtin.IntegerAttr(int(value), kind.held))

    @property
    def value(self) -> int:
        """The number."""
        return int(self.held.value.data)

    def __int__(self) -> int:
        return self.value


class BoolAttr(Attribute):
    """``true`` or ``false``."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.IntegerAttr) and held.type == builtin.i1

    @classmethod
    def get(cls, value: bool, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """The attribute of a truth."""
        return cls(builtin.IntegerAttr(-1 if value else 0, builtin.i1))

    @property
    def value(self) -> bool:
        """The truth."""
        return bool(self.held.value.data)

    def __bool__(self) -> bool:
        return self.value


class FloatAttr(Attribute):
    """A number of a float type."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.FloatAttr)

    @classmethod
    def get(cls, kind: Type, value: float, loc: Any = None) -> Self:  # noqa: ARG003 - locations are of errors
        """The number of a type."""
        return cls(builtin.FloatAttr(float(value), kind.held))

    @classmethod
    def get_f32(cls, value: float, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """The float32."""
        return cls(builtin.FloatAttr(float(value), builtin.f32))

    @classmethod
    def get_f64(cls, value: float, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """The float64."""
        return cls(builtin.FloatAttr(float(value), builtin.f64))

    @property
    def value(self) -> float:
        """The number."""
        return float(self.held.value.data)

    def __float__(self) -> float:
        return self.value


class UnitAttr(Attribute):
    """An attribute that says all by being there."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.UnitAttr)

    @classmethod
    def get(cls, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """The attribute."""
        return cls(builtin.UnitAttr())


class TypeAttr(Attribute):
    """A type where an attribute stands."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, TypeAttribute)

    @classmethod
    def get(cls, kind: Type, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """The attribute of a type."""
        return cls(kind.held)

    @property
    def value(self) -> Any:
        """The type."""
        return wrapped(self.held)


class ArrayAttr(Attribute):
    """Several attributes."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.ArrayAttr)

    @classmethod
    def get(cls, attributes: Sequence[Attribute], context: Context | None = None) -> Self:  # noqa: ARG003
        """The array of attributes."""
        return cls(builtin.ArrayAttr([each.held for each in attributes]))

    def __len__(self) -> int:
        return len(self.held.data)

    def __getitem__(self, index: int) -> Any:
        return wrapped(self.held.data[index])

    def __iter__(self) -> Iterator[Any]:
        return map(wrapped, self.held.data)


class DictAttr(Attribute):
    """Attributes by name."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.DictionaryAttr)

    @classmethod
    def get(
        cls,
        value: Mapping[str, Attribute] | None = None,
        context: Context | None = None,  # noqa: ARG003 - there is one context
    ) -> Self:
        """The dictionary of attributes."""
        return cls(builtin.DictionaryAttr({name: each.held for name, each in (value or {}).items()}))

    def __len__(self) -> int:
        return len(self.held.data)

    def __contains__(self, name: str) -> bool:
        return name in self.held.data

    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, str):
            return wrapped(self.held.data[key])
        name = sorted(self.held.data)[key]
        return NamedAttribute(name, wrapped(self.held.data[name]))

    def __iter__(self) -> Iterator[NamedAttribute]:
        return (self[index] for index in range(len(self)))


class SymbolRefAttr(Attribute):
    """The name of an operation, with the names of the symbol tables around it."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.SymbolRefAttr)

    @classmethod
    def get(cls, symbols: Sequence[str], context: Context | None = None) -> Self:  # noqa: ARG003
        """The reference by names, the outermost first."""
        return cls(builtin.SymbolRefAttr(symbols[0], list(symbols[1:])))

    @property
    def value(self) -> list[str]:
        """The names."""
        return [self.held.root_reference.data, *(each.data for each in self.held.nested_references)]


class FlatSymbolRefAttr(Attribute):
    """The name of an operation of the same symbol table."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.SymbolRefAttr) and not held.nested_references.data

    @classmethod
    def get(cls, value: str, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """The reference by name."""
        return cls(builtin.SymbolRefAttr(value))

    @property
    def value(self) -> str:
        """The name."""
        return str(self.held.root_reference.data)


class _DenseArrayAttr(Attribute):
    """An array of numbers of one type."""

    element: Any = None

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.DenseArrayBase) and held.elt_type == cls.element

    @classmethod
    def get(cls, values: Sequence[Any], context: Context | None = None) -> Self:  # noqa: ARG003
        """The array of numbers."""
        numbers = [*values]
        if cls.element == builtin.i1:
            numbers = [-1 if each else 0 for each in numbers]
        return cls(builtin.DenseArrayBase.from_list(cls.element, numbers))

    def __len__(self) -> int:
        return len(self.held.get_values())

    def __getitem__(self, index: int) -> Any:
        return [*self][index]

    def __iter__(self) -> Iterator[Any]:
        kind = bool if self.element == builtin.i1 else float if isinstance(self.element, builtin.AnyFloat) else int
        return map(kind, self.held.get_values())


class DenseBoolArrayAttr(_DenseArrayAttr):
    """An array of truths."""

    element = builtin.i1


class DenseI8ArrayAttr(_DenseArrayAttr):
    """An array of i8."""

    element = builtin.i8


class DenseI16ArrayAttr(_DenseArrayAttr):
    """An array of i16."""

    element = builtin.i16


class DenseI32ArrayAttr(_DenseArrayAttr):
    """An array of i32."""

    element = builtin.i32


class DenseI64ArrayAttr(_DenseArrayAttr):
    """An array of i64."""

    element = builtin.i64


class DenseF32ArrayAttr(_DenseArrayAttr):
    """An array of f32."""

    element = builtin.f32


class DenseF64ArrayAttr(_DenseArrayAttr):
    """An array of f64."""

    element = builtin.f64


class DenseElementsAttr(Attribute):
    """The elements of a tensor."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.DenseIntOrFPElementsAttr | SplatElementsAttr)

    @classmethod
    def get(
        cls,
        array: Any,
        signless: bool = True,
        type: Type | None = None,  # noqa: A002 - MLIR's name
        shape: Sequence[int] | None = None,
        context: Context | None = None,  # noqa: ARG003 - there is one context
    ) -> Self:
        """The elements of an array, or of a list of attributes.

        Args:
            array: Anything that numpy takes; or attributes, whose tensor `type` gives.
            signless: Whether integers are signless where no type is given.
            type: The element type; for a list of attributes, the tensor type.
            shape: The shape, if it is not that of the array.
            context: There is one.

        Raises:
            ValueError: The dtype of the array has no type here.
        """
        if isinstance(array, list | tuple) and array and isinstance(array[0], Attribute):
            kind = type.held if type is not None else builtin.TensorType(array[0].held.type, [len(array)])
            return cls(builtin.DenseIntOrFPElementsAttr.from_list(kind, [wrapped(each.held).value for each in array]))
        numbers = np.asarray(array)
        element = type.held if type is not None else _element_type(numbers.dtype, signless=signless)
        if isinstance(element, builtin.TensorType):
            element = element.element_type
        extents = list(shape) if shape is not None else list(numbers.shape)
        kind = builtin.TensorType(element, extents)
        if numbers.size == 1 and extents != list(numbers.shape):
            return cls(_splat(kind, numbers.reshape(()).item()))
        if numbers.dtype == np.bool_ and element != builtin.i1:
            numbers = numbers.astype(np.int64)
        return cls(builtin.DenseIntOrFPElementsAttr.from_list(kind, _numbers(element, numbers)))

    @classmethod
    def get_splat(cls, kind: Type, element: Attribute) -> Self:
        """One element for all places."""
        return cls(SplatElementsAttr(kind.held, element.held))

    @property
    def is_splat(self) -> bool:
        """Whether all elements are one."""
        return isinstance(self.held, SplatElementsAttr) or bool(self.held.is_splat())

    def get_splat_value(self) -> Any:
        """The one element, as an attribute."""
        if isinstance(self.held, SplatElementsAttr):
            return wrapped(self.held.element)
        first = self.held.get_values()[0]
        element = self.held.get_element_type()
        kind = builtin.FloatAttr if isinstance(element, builtin.AnyFloat) else builtin.IntegerAttr
        return wrapped(kind(first, element))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        shape = self.held.type.get_shape()
        if isinstance(self.held, SplatElementsAttr):
            element: Any = self.held.element
            return np.full(shape, element.value.data, dtype)
        return np.array(list(self.held.get_values()), dtype).reshape(shape)

    def __len__(self) -> int:
        return int(np.prod(self.held.type.get_shape(), dtype=np.int64))

    def __getitem__(self, index: int) -> Any:
        return np.asarray(self).reshape(-1)[index].item()

    def __iter__(self) -> Iterator[Any]:
        return iter(np.asarray(self).reshape(-1).tolist())


class DenseIntElementsAttr(DenseElementsAttr):
    """The integers of a tensor."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return super().isinstance_of(held) and not isinstance(held.type.element_type, builtin.AnyFloat)  # type: ignore[attr-defined]


class DenseFPElementsAttr(DenseElementsAttr):
    """The floats of a tensor."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return super().isinstance_of(held) and isinstance(held.type.element_type, builtin.AnyFloat)  # type: ignore[attr-defined]


def _splat(kind: Any, number: Any) -> SplatElementsAttr:
    element = kind.element_type
    if isinstance(element, builtin.AnyFloat):
        return SplatElementsAttr(kind, builtin.FloatAttr(float(number), element))
    return SplatElementsAttr(kind, builtin.IntegerAttr(int(number), element))


def _numbers(element: Any, numbers: np.ndarray[Any, Any]) -> list[Any]:
    if isinstance(element, builtin.AnyFloat):
        return numbers.astype(np.float64).reshape(-1).tolist()
    return numbers.reshape(-1).tolist()


_FLOATS = {"f": {2: builtin.f16, 4: builtin.f32, 8: builtin.f64}}


def _element_type(dtype: np.dtype[Any], *, signless: bool) -> Any:
    """The element type of a dtype of numpy.

    Raises:
        ValueError: There is none.
    """
    if dtype.kind == "f":
        return _FLOATS["f"][dtype.itemsize]
    if dtype.kind == "b":
        return builtin.i1
    if dtype.kind in {"i", "u"}:
        signed = builtin.Signedness.UNSIGNED if dtype.kind == "u" else builtin.Signedness.SIGNED
        return builtin.IntegerType(dtype.itemsize * 8, builtin.Signedness.SIGNLESS if signless else signed)
    raise ValueError(f"unimplemented array format conversion from format: {dtype}")


stands_for(Attribute, fallback=True)
stands_for(
    StringAttr,
    IntegerAttr,
    BoolAttr,
    FloatAttr,
    UnitAttr,
    ArrayAttr,
    DictAttr,
    SymbolRefAttr,
    FlatSymbolRefAttr,
    DenseBoolArrayAttr,
    DenseI8ArrayAttr,
    DenseI16ArrayAttr,
    DenseI32ArrayAttr,
    DenseI64ArrayAttr,
    DenseF32ArrayAttr,
    DenseF64ArrayAttr,
    DenseIntElementsAttr,
    DenseFPElementsAttr,
)
