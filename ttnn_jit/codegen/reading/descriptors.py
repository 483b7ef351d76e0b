"""Program descriptors as plain values, from the host program of ``convert-d2m-to-ttnn``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from ttnn_jit.dialects.argument_notes import argument_notes
from ttnn_jit.dialects.functions import functions_of
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.ttcore import BufferAccessAttr, DataTypeAttr, GridAttr
from ttnn_jit.dialects.ttnn import GenericOp


def program_descriptors(module: ModuleOp, *, with_source: bool = False) -> list[dict[str, Any]]:
    """Per kernel launch: circular buffers (access, dtype, page size in bytes, count), kernel symbol, arguments.

    Args:
        module: A module behind ``convert-d2m-to-ttnn``.
        with_source: Whether to add the text of the kernels.
    """
    # The top level alone: kernel functions hold most of the module's ops and no launch.
    functions = functions_of(module)
    descriptors = [each for function in functions for each in _of_function(function)]
    if with_source:
        kernels = {function.sym_name.data: function for function in functions}
        return [{**fields, "kernel_source": op_text(kernels[fields["kernel"]])} for fields in descriptors]
    return descriptors


def _of_function(function: FuncOp) -> Iterator[dict[str, Any]]:
    pairs = zip(function.args, argument_notes(function), strict=True)
    names: dict[SSAValue, str] = {value: notes.name for value, notes in pairs if notes.name is not None}
    for op in function.body.block.ops:
        if isinstance(op, GenericOp):
            yield _plain(op.program.fields) | _hidden_inputs(op, names)


def _hidden_inputs(launch: GenericOp, names: Mapping[SSAValue, str]) -> dict[str, dict[str, str]]:
    """Under ``hidden_inputs``, the names of a launch's tensors that are not call arguments, by index."""
    hidden = {str(index): names[value] for index, value in enumerate(launch.operands) if value in names}
    return {"hidden_inputs": hidden} if hidden else {}


def _plain(attribute: Attribute) -> Any:
    plain = _PLAIN.get(type(attribute))
    if plain is None:
        raise TypeError(f"a program descriptor holds no {attribute}")
    return plain(attribute)


def _text(attribute: Any) -> str:
    return str(attribute.data)


_PLAIN: dict[type[Attribute], Callable[[Any], Any]] = {
    DictionaryAttr: lambda attribute: {name: _plain(value) for name, value in attribute.data.items()},
    ArrayAttr: lambda attribute: [_plain(value) for value in attribute.data],
    UnitAttr: lambda _: True,
    IntegerAttr: lambda attribute: attribute.value.data,
    SymbolRefAttr: lambda attribute: attribute.root_reference.data,
    StringAttr: _text,
    DataTypeAttr: _text,
    BufferAccessAttr: _text,
    GridAttr: lambda attribute: list(attribute.data),
}
