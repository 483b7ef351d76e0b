"""Values of Python as attributes of the kinds that the tables name."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Attribute

from ttnn_jit.dialects.upstream.rewriting.attributes_of_values import attribute_of_value, default_of
from ttnn_jit.ttmlir.dialect_attributes import attribute_wrapper
from ttnn_jit.ttmlir.enums import DialectEnum
from ttnn_jit.ttmlir.mlir_affine import AffineMap, AffineMapAttr
from ttnn_jit.ttmlir.wrapping import Wrapper


def attribute_from(value: Any, kind: str) -> Attribute:
    """The attribute of xDSL of a value.

    Args:
        value: An attribute, or what MLIR converts: a number, a text, a list of numbers, a truth.
        kind: The kind of attribute by the tables.

    Raises:
        TypeError: The kind takes no such value.
    """
    if isinstance(value, DialectEnum | str) and kind.startswith("#") and kind != "#builtin.string":
        wrapper = attribute_wrapper(kind.removeprefix("#"), is_type=False)
        assert wrapper is not None, "kinds of the tables are attributes of the tables"
        held: Attribute = wrapper.get(value).held
        return held
    return attribute_of_value(_held(value), kind)


def _held(value: Any) -> Any:
    if isinstance(value, AffineMap):
        return AffineMapAttr.get(value).held
    if isinstance(value, Wrapper):
        return value.held
    return [*map(_held, value)] if isinstance(value, list | tuple) else value


__all__ = ["attribute_from", "default_of"]
