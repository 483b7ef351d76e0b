"""Which class of this package stands for an attribute or a type of xDSL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar

from xdsl.ir import Attribute as HeldAttribute

from ttnn_jit.dialects.spelling.naming import Names
from ttnn_jit.dialects.text.parsing import SourceText
from ttnn_jit.dialects.text.printer import MLIRPrinter
from ttnn_jit.dialects.upstream.context import UpstreamContext
from ttnn_jit.dialects.upstream.upstream_parser import UpstreamParser
from ttnn_jit.ttmlir.mlir_contexts import Context

Held = TypeVar("Held", bound=HeldAttribute)


class Wrapper(Generic[Held]):
    """An attribute or a type; equal ones hold equal ones of xDSL.

    Args:
        held: What xDSL has, or a wrapper of it, which is cast.

    Attributes:
        held: What xDSL has.

    Raises:
        ValueError: It is none of this class.
    """

    def __init__(self, held: Held | Wrapper[Any]) -> None:
        self.held: Any = held.held if isinstance(held, Wrapper) else held
        if not self.isinstance_of(self.held):
            raise ValueError(f"Cannot cast from {text_of(self.held)} to {type(self).__name__}")

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether this class stands for it."""
        return isinstance(held, HeldAttribute)

    @classmethod
    def isinstance(cls, other: Wrapper[Any]) -> bool:
        """Whether this class stands for what `other` holds."""
        return cls.isinstance_of(other.held)

    @classmethod
    def maybe_downcast(cls, other: Wrapper[Any]) -> Self | None:
        """`other` as this class; None if this class does not stand for it."""
        return cls(other) if cls.isinstance_of(other.held) else None

    @property
    def context(self) -> Context:
        """The context, of which there is one for all."""
        return Context()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Wrapper) and bool(self.held == other.held)

    def __hash__(self) -> int:
        return hash(self.held)

    def __str__(self) -> str:
        return text_of(self.held)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


_KINDS: list[type[Wrapper[Any]]] = []
_FALLBACKS: list[type[Wrapper[Any]]] = []
_MAKERS: list[Callable[[HeldAttribute], type[Wrapper[Any]] | None]] = []


def stands_for(*kinds: type[Wrapper[Any]], fallback: bool = False) -> None:
    """Registers classes; what is registered later comes first, fallbacks last."""
    for kind in kinds:
        (_FALLBACKS if fallback else _KINDS).insert(0, kind)


def makes_wrappers(maker: Callable[[HeldAttribute], type[Wrapper[Any]] | None]) -> None:
    """Registers what makes the class of an attribute or type that has none yet."""
    _MAKERS.append(maker)


def wrapped(held: HeldAttribute) -> Any:
    """The wrapper of an attribute or type, of its own class."""
    for maker in _MAKERS:
        if (made := maker(held)) is not None:
            return made(held)
    return next(kind(held) for kind in (*_KINDS, *_FALLBACKS) if kind.isinstance_of(held))


def text_of(held: HeldAttribute) -> str:
    """The text of an attribute or type as mlir-opt prints it."""
    printer = MLIRPrinter(Names(), {}, locations=False)
    printer.print_attribute(held)
    return printer.text()


def parsed(text: str) -> HeldAttribute:
    """The attribute or type of a text.

    Raises:
        ValueError: The text has another syntax, or more than one.
    """
    parser = UpstreamParser(UpstreamContext.make(), SourceText(text, "<attribute>"), keep_bodies=False)
    try:
        found = parser.parse_attribute()
    except Exception as error:
        raise ValueError(f"Unable to parse attribute: {text!r}: {error}") from error
    return found
