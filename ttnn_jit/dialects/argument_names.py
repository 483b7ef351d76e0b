"""Names on the arguments of a function: where a tensor stands in the user's world that is no argument of the call."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.dialects.func import FuncOp

from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.specs.tensor_spec import TensorSpec

_NAME = "ttir.name"


def argument_attributes(names: Iterable[str | None]) -> ArrayAttr[DictionaryAttr]:
    """What a function says of its arguments, by their names; None of one that has none."""
    return ArrayAttr([DictionaryAttr({} if name is None else {_NAME: StringAttr(name)}) for name in names])


def argument_names(function: FuncOp) -> list[str | None]:
    """The names of a function's arguments; the inverse of `argument_attributes`."""
    attributes = function.arg_attrs
    if attributes is None:
        return [None] * len(function.args)
    return [name.data if isinstance(name := each.data.get(_NAME), StringAttr) else None for each in attributes]


def hidden_inputs_of(function: FuncOp) -> tuple[tuple[str, TensorSpec], ...]:
    """The arguments that have names, with what they are."""
    named = zip(argument_names(function), function.args, strict=True)
    return tuple((name, spec_of(argument.type)) for name, argument in named if name is not None)
