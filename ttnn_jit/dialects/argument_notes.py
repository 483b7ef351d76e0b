"""Attributes of a function's arguments.

``ttir.name`` is the Python path of a tensor that the function reads and that is no argument of the call.
``ttcore.updated_by`` marks an in-place update: the index of the result that is stored to the argument.
``ttcore.shard_status`` marks an argument of a program for a mesh that is one tensor for all devices;
``ttcore.shard_blocks`` one whose parts on several devices have the same memory, and so the same elements.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.meshes import ShardStatusAttr
from ttnn_jit.specs.tensor_spec import TensorSpec

_NAME = "ttir.name"
_UPDATED_BY = "ttcore.updated_by"
_SHARD_STATUS = "ttcore.shard_status"
_SHARD_BLOCKS = "ttcore.shard_blocks"
_WHOLE = ShardStatusAttr("unsharded")


class ArgumentNotes(NamedTuple):
    """Attributes of one argument.

    Attributes:
        name: Its Python path.
        updated_by: The index of the result that is stored to it.
        is_whole: Whether it is one tensor for the whole mesh.
        blocks: Per device of a mesh, the first one whose part has the same memory; () if each has its own.
    """

    name: str | None = None
    updated_by: int | None = None
    is_whole: bool = False
    blocks: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return self != ArgumentNotes()


def argument_attributes(notes: Iterable[ArgumentNotes]) -> ArrayAttr[DictionaryAttr]:
    """The ``arg_attrs`` of a function."""
    return ArrayAttr([DictionaryAttr(_attributes(each)) for each in notes])


def _attributes(notes: ArgumentNotes) -> dict[str, Attribute]:
    said: dict[str, Attribute] = {} if notes.name is None else {_NAME: StringAttr(notes.name)}
    said |= {_SHARD_STATUS: _WHOLE} if notes.is_whole else {}
    said |= {_SHARD_BLOCKS: DenseArrayBase.from_list(i64, notes.blocks)} if notes.blocks else {}
    return said if notes.updated_by is None else said | {_UPDATED_BY: IntegerAttr(notes.updated_by, i64)}


def argument_notes(function: FuncOp) -> list[ArgumentNotes]:
    """The inverse of `argument_attributes`."""
    attributes = function.arg_attrs
    if attributes is None:
        return [ArgumentNotes()] * len(function.function_type.inputs)
    return [
        ArgumentNotes(
            _name(each.data.get(_NAME)),
            _index(each.data.get(_UPDATED_BY)),
            each.data.get(_SHARD_STATUS) == _WHOLE,
            _numbers(each.data.get(_SHARD_BLOCKS)),
        )
        for each in attributes
    ]


def _name(attribute: Attribute | None) -> str | None:
    return attribute.data if isinstance(attribute, StringAttr) else None


def _index(attribute: Attribute | None) -> int | None:
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


def _numbers(attribute: Attribute | None) -> tuple[int, ...]:
    return tuple(map(int, attribute.get_values())) if isinstance(attribute, DenseArrayBase) else ()


def hidden_inputs_of(function: FuncOp) -> tuple[tuple[str, TensorSpec], ...]:
    """The names and specs of the arguments that have names."""
    named = zip(argument_notes(function), function.args, strict=True)
    return tuple((notes.name, spec_of(argument.type)) for notes, argument in named if notes.name is not None)


def updates_of(function: FuncOp) -> tuple[tuple[int, int], ...]:
    """Per argument that the function updates: its index, and the index of the result that is stored to it."""
    updates = ((index, notes.updated_by) for index, notes in enumerate(argument_notes(function)))
    return tuple((index, result) for index, result in updates if result is not None)


def whole_arguments_of(function: FuncOp) -> tuple[int, ...]:
    """The indices of the arguments that are one tensor for the whole mesh."""
    return tuple(index for index, notes in enumerate(argument_notes(function)) if notes.is_whole)


def shared_blocks_of(function: FuncOp) -> dict[int, tuple[int, ...]]:
    """Argument index -> its `ArgumentNotes.blocks`, for those of which several devices have the same."""
    return {index: notes.blocks for index, notes in enumerate(argument_notes(function)) if notes.blocks}


def verify_updates(function: FuncOp) -> None:
    """Verifies that each updated argument names a result of its shape and element type.

    Raises:
        VerifyException: An index is no result, two arguments name one result, or the types differ.
    """
    outputs = function.function_type.outputs.data
    for each in function.arg_attrs or ():
        if _UPDATED_BY in each.data and _index(each.data[_UPDATED_BY]) is None:
            raise VerifyException(f"{_UPDATED_BY} is the index of a result, got {each.data[_UPDATED_BY]}")
    updates = updates_of(function)
    for argument, result in updates:
        if not 0 <= result < len(outputs):
            raise VerifyException(f"{_UPDATED_BY} of argument #{argument} names result #{result} of {len(outputs)}")
        old, new = spec_of(function.function_type.inputs.data[argument]), spec_of(outputs[result])
        if (tuple(old.shape), old.dtype) != (tuple(new.shape), new.dtype):
            raise VerifyException(f"argument #{argument} is {old}, and is updated by result #{result}, {new}")
    if len({result for _, result in updates}) < len(updates):
        raise VerifyException(f"{_UPDATED_BY} names one result for several arguments")
