"""Types of the builtin dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from xdsl.dialects import builtin
from xdsl.ir import Attribute as HeldAttribute
from xdsl.ir import TypeAttribute

from ttnn_jit.ttmlir.mlir_contexts import Context
from ttnn_jit.ttmlir.wrapping import Wrapper, parsed, stands_for, wrapped


class Type(Wrapper[HeldAttribute]):
    """A type."""

    @staticmethod
    def parse(text: str, context: Context | None = None) -> Any:  # noqa: ARG004 - there is one context
        """The type of a text, of its own class.

        Raises:
            ValueError: It has another syntax.
        """
        return wrapped(parsed(text))

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, TypeAttribute)


class _SimpleType(Type):
    """A type without parameters."""

    one: ClassVar[Any]

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return bool(held == cls.one)

    @classmethod
    def get(cls, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """The type."""
        return cls(cls.one)


class FloatType(Type):
    """A type of floats."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.AnyFloat)

    @property
    def width(self) -> int:
        """Its bits."""
        return int(self.held.bitwidth)


class F16Type(_SimpleType, FloatType):
    """``f16``."""

    one = builtin.f16


class BF16Type(_SimpleType, FloatType):
    """``bf16``."""

    one = builtin.bf16


class F32Type(_SimpleType, FloatType):
    """``f32``."""

    one = builtin.f32


class F64Type(_SimpleType, FloatType):
    """``f64``."""

    one = builtin.f64


class IndexType(_SimpleType):
    """``index``."""

    one = builtin.IndexType()


class NoneType(_SimpleType):
    """``none``."""

    one = builtin.NoneType()


class IntegerType(Type):
    """A type of integers, with or without a sign."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.IntegerType)

    @classmethod
    def get_signless(cls, width: int, context: Context | None = None) -> Self:  # noqa: ARG003
        """``i32``."""
        return cls(builtin.IntegerType(width))

    @classmethod
    def get_signed(cls, width: int, context: Context | None = None) -> Self:  # noqa: ARG003
        """``si32``."""
        return cls(builtin.IntegerType(width, builtin.Signedness.SIGNED))

    @classmethod
    def get_unsigned(cls, width: int, context: Context | None = None) -> Self:  # noqa: ARG003
        """``ui32``."""
        return cls(builtin.IntegerType(width, builtin.Signedness.UNSIGNED))

    @property
    def width(self) -> int:
        """Its bits."""
        return int(self.held.width.data)

    @property
    def is_signless(self) -> bool:
        """Whether it is ``i32``."""
        return bool(self.held.signedness.data == builtin.Signedness.SIGNLESS)

    @property
    def is_signed(self) -> bool:
        """Whether it is ``si32``."""
        return bool(self.held.signedness.data == builtin.Signedness.SIGNED)

    @property
    def is_unsigned(self) -> bool:
        """Whether it is ``ui32``."""
        return bool(self.held.signedness.data == builtin.Signedness.UNSIGNED)


class ShapedType(Type):
    """A type of several elements."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.TensorType | builtin.MemRefType | builtin.VectorType)

    @property
    def shape(self) -> list[int]:
        """Its extents."""
        return [int(extent) for extent in self.held.get_shape()]

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def element_type(self) -> Any:
        """The type of an element."""
        return wrapped(self.held.element_type)

    @property
    def has_static_shape(self) -> bool:
        """Whether all extents are known."""
        return all(extent >= 0 for extent in self.shape)

    @property
    def has_rank(self) -> bool:
        """Whether the number of dimensions is known."""
        return True

    def get_dim_size(self, dim: int) -> int:
        """The extent of a dimension."""
        return self.shape[dim]

    @staticmethod
    def get_dynamic_size() -> int:
        """What stands for an unknown extent."""
        return int(builtin.DYNAMIC_INDEX)


class RankedTensorType(ShapedType):
    """A tensor."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.TensorType)

    @classmethod
    def get(
        cls,
        shape: Sequence[int],
        element_type: Type,
        encoding: Wrapper[Any] | None = None,
        loc: Any = None,  # noqa: ARG003 - locations are of errors
    ) -> Self:
        """The type of a tensor."""
        layout = builtin.NoneAttr() if encoding is None else encoding.held
        return cls(builtin.TensorType(element_type.held, [int(extent) for extent in shape], layout))

    @property
    def encoding(self) -> Any:
        """Its layout; None if it has none."""
        return None if isinstance(self.held.encoding, builtin.NoneAttr) else wrapped(self.held.encoding)


class MemRefType(ShapedType):
    """A buffer."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.MemRefType)

    @classmethod
    def get(
        cls,
        shape: Sequence[int],
        element_type: Type,
        layout: Wrapper[Any] | None = None,
        memory_space: Wrapper[Any] | None = None,
        loc: Any = None,  # noqa: ARG003 - locations are of errors
    ) -> Self:
        """The type of a buffer."""
        parts = [builtin.NoneAttr() if each is None else each.held for each in (layout, memory_space)]
        return cls(builtin.MemRefType(element_type.held, list(shape), *parts))

    @property
    def layout(self) -> Any:
        """Where its elements lie."""
        return wrapped(self.held.layout)

    @property
    def memory_space(self) -> Any:
        """Which memory it lies in; None if that is not said."""
        space = self.held.memory_space
        return None if isinstance(space, builtin.NoneAttr) else wrapped(space)


class FunctionType(Type):
    """The type of a function."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.FunctionType)

    @classmethod
    def get(
        cls,
        inputs: Sequence[Type],
        results: Sequence[Type],
        context: Context | None = None,  # noqa: ARG003 - there is one context
    ) -> Self:
        """The type of a function from inputs to results."""
        lists = [[each.held for each in types] for types in (inputs, results)]
        return cls(builtin.FunctionType.from_lists(*lists))

    @property
    def inputs(self) -> list[Any]:
        """The types of its arguments."""
        return [wrapped(each) for each in self.held.inputs]

    @property
    def results(self) -> list[Any]:
        """The types of its results."""
        return [wrapped(each) for each in self.held.outputs]


class ComplexType(Type):
    """A type of complex numbers."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether the class stands for it."""
        return isinstance(held, builtin.ComplexType)

    @property
    def element_type(self) -> Any:
        """The type of a part."""
        return wrapped(self.held.element_type)


stands_for(Type, fallback=True)
stands_for(
    FloatType,
    F16Type,
    BF16Type,
    F32Type,
    F64Type,
    IndexType,
    NoneType,
    IntegerType,
    RankedTensorType,
    MemRefType,
    FunctionType,
    ComplexType,
)
