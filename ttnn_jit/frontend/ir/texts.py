"""Files of one or several modules."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FixedBitwidthType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.text_attributes import symbol_of
from ttnn_jit.dialects.upstream.reading import pieces_of, read_upstream
from ttnn_jit.dialects.upstream.rewriting.tuples import take_apart
from ttnn_jit.dialects.verifier import InvalidModule

_COMMENT = re.compile(r"//.*")

MAX_TEXT_BYTES = 2**28
"""A larger text is refused before it is parsed."""


def parse_texts(text: str, name: str) -> list[ModuleOp]:
    """The modules of a file, in order; errors give `name` as the file.

    Raises:
        InvalidModule: The text is no MLIR of tt-mlir's dialects.
    """
    if len(text) > MAX_TEXT_BYTES:
        raise InvalidModule(f"{name} has {len(text):,} characters, and at most {MAX_TEXT_BYTES:,} are read")
    return [
        module
        for lines, piece in pieces_of(text)
        if _COMMENT.sub("", piece).strip()
        for module in _modules_in(_module("\n" * lines + piece, name))
    ]


def _module(text: str, name: str) -> ModuleOp:
    """A module with any ops, without tuples; attributes whose body has another syntax are kept as they are.

    Most attributes say how a chip computes. An op that reads one that was kept refuses it.
    """
    reading = read_upstream(text, name, allow_unregistered=True, keep_bodies=True)
    if reading.resources:
        for op in reading.module.walk():
            for held in (op.properties, op.attributes):
                held.update({key: _with_numbers(each, reading.resources, op) for key, each in held.items()})
    take_apart(reading.module)
    return reading.module


def _with_numbers(attribute: Attribute, resources: Mapping[tuple[str, str], str], op: Operation) -> Attribute:
    """``dense_resource<name>`` as the numbers that the end of the text has under that name.

    Raises:
        InvalidModule: What the end of the text has there are not the bytes of such a tensor.
    """
    if not isinstance(attribute, DenseResourceAttr):
        return attribute
    found = resources.get(("builtin", attribute.resource_handle.data))
    if found is None:
        return attribute
    assert isinstance(attribute.type, TensorType), "constants are tensors"
    element = attribute.type.get_element_type()
    wanted = math.prod(attribute.type.get_shape()) * element.size if isinstance(element, FixedBitwidthType) else None
    try:
        data = bytes.fromhex(found.removeprefix("0x"))[_ALIGNMENT_BYTES:]
    except ValueError:
        data = b""
    if len(data) != wanted:
        name = attribute.resource_handle.data
        raise InvalidModule(
            f"the resource {name!r} does not hold the elements of {attribute.type}", location=location_of(op)
        )
    return DenseIntOrFPElementsAttr(attribute.type, BytesAttr(data))


_ALIGNMENT_BYTES = 4
"""A resource begins with its alignment."""


def _modules_in(module: ModuleOp) -> Iterator[ModuleOp]:
    """The modules that stand on their own: those inside one that holds nothing else."""
    ops = [*module.body.block.ops]
    if not ops or not all(isinstance(op, ModuleOp) for op in ops):
        yield module
        return
    for each in ops:
        assert isinstance(each, ModuleOp), "all of them are modules"
        yield from _modules_in(each)


def functions_in(module: ModuleOp) -> dict[str, FuncOp]:
    """Every function with a body by name, also in the modules of a device and of the host inside `module`."""
    found: dict[str, FuncOp] = {}
    for op in module.walk():
        if isinstance(op, FuncOp) and op.body.first_block is not None:
            found.setdefault(op.sym_name.data, op)
    return found


def returned_by(function: FuncOp) -> tuple[SSAValue, ...]:
    """What a function returns.

    Raises:
        CompileError: It does not end with a return of what its type says.
    """
    last = function.body.block.last_op
    name = function.sym_name.data
    if not isinstance(last, ReturnOp):
        raise CompileError(f"the function @{name} does not end with a return", location=location_of(function))
    early = next((op for op in function.body.block.ops if isinstance(op, ReturnOp) and op is not last), None)
    if early is not None:
        raise CompileError(f"the function @{name} goes on after a return", location=location_of(early))
    given, wanted = [each.type for each in last.operands], [*function.function_type.outputs]
    if given != wanted:
        given_text, wanted_text = (", ".join(map(str, each)) or "nothing" for each in (given, wanted))
        raise CompileError(
            f"the function @{name} returns {given_text}, and its type says {wanted_text}", location=location_of(last)
        )
    return (*last.operands,)


_RUN_BY_USERS = "forward_device"


def entries_of(module: ModuleOp) -> list[str]:
    """The functions that are programs: public ones that no other one calls, in order."""
    called = {
        symbol_of(each)
        for op in module.walk()
        for each in (op.properties | op.attributes).values()
        if isinstance(each, SymbolRefAttr) and not isinstance(op, FuncOp)
    }
    return [name for name, each in functions_in(module).items() if name not in called and _is_entry(each)]


def _is_entry(function: FuncOp) -> bool:
    kind = function.attributes.get("tt.function_type")
    is_public = function.sym_visibility is None or function.sym_visibility.data == "public"
    return is_public and (kind is None or (isinstance(kind, StringAttr) and kind.data == _RUN_BY_USERS))
