"""Shardings of Shardy that XLA carries as text in attributes of a frontend: `xla.sdy.meshes` and `xla.sdy.sharding`."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import ParseError

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.rewriting.rewriter import operation_kind
from ttnn_jit.dialects.writing.editing import insert_before

_FRONTEND = "mhlo.frontend_attributes"
_SHARDING, _MESHES = "xla.sdy.sharding", "xla.sdy.meshes"


def state_shardings(module: ModuleOp) -> None:
    """Makes the module's meshes and the shardings of arguments, results and ops those of Shardy.

    Raises:
        CompileError: The text of one is no attribute of Shardy.
    """
    stated = _text_in(module.attributes, _MESHES)
    first = module.body.block.first_op
    if stated is not None and first is not None:
        meshes = _spelled(stated, module)
        for name, mesh in meshes.data.items() if isinstance(meshes, DictionaryAttr) else ():
            made = operation_kind("sdy.mesh").create(properties={"sym_name": StringAttr(name), "mesh": mesh})
            made.location = module.location
            insert_before(made, first)
    for op in module.walk():
        if isinstance(op, FuncOp):
            op.arg_attrs, op.res_attrs = (_restated(each, op) for each in (op.arg_attrs, op.res_attrs))
        elif op is not module:
            _restate_op(op)


def _restate_op(op: Operation) -> None:
    found = _text_in(op.attributes, _SHARDING)
    if found is not None:
        kept = _without_sharding(op.attributes)
        op.attributes.clear()
        op.attributes |= {**kept, "sdy.sharding": _spelled(found, op)}


def _restated(attributes: ArrayAttr[DictionaryAttr] | None, function: FuncOp) -> ArrayAttr[DictionaryAttr] | None:
    """The attributes of arguments or results."""
    if attributes is None:
        return None
    found = []
    for each in attributes.data:
        text = _text_in(each.data, _SHARDING)
        found.append(
            each
            if text is None
            else DictionaryAttr({**_without_sharding(each.data), "sdy.sharding": _spelled(text, function)})
        )
    return ArrayAttr(found)


def _spelled(text: str, op: Operation) -> Attribute:
    """The attribute of Shardy that a text spells."""
    try:
        return parsed(text)
    except ParseError as error:
        raise CompileError(
            f"an attribute of a frontend spells none of Shardy: {text}", location=location_of(op)
        ) from error


def _text_in(attributes: Mapping[str, Attribute], name: str) -> str | None:
    """The text of an attribute of a frontend."""
    frontend = attributes.get(_FRONTEND)
    found = frontend.data.get(name) if isinstance(frontend, DictionaryAttr) else None
    return found.data.replace("\\22", '"') if isinstance(found, StringAttr) else None


def _without_sharding(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """The attributes without XLA's own form of the sharding, and its text."""
    kept = {name: each for name, each in attributes.items() if name not in {_FRONTEND, "mhlo.sharding"}}
    frontend = attributes[_FRONTEND]
    assert isinstance(frontend, DictionaryAttr), "it holds the text"
    rest = {name: each for name, each in frontend.data.items() if name != _SHARDING}
    return {**kept, _FRONTEND: DictionaryAttr(rest)} if rest else kept
