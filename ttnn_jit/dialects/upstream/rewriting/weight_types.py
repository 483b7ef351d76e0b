"""Weights of products in another data type, which users ask for: of all, or of an argument by `ttcore.weight_dtype`."""

from __future__ import annotations

from collections.abc import Set

from xdsl.dialects.builtin import BFloat16Type, Float32Type, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed_type
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, operand_named
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import LayoutView, data_type_attribute, has_layout, laid_out

WEIGHT_DTYPE = "ttcore.weight_dtype"
BLOCK_TYPES = {"bfp_bf8": 8, "bfp_bf4": 4}
"""Data types that all weights may have -> the bits of an element."""
_OF_ARGUMENTS = {**BLOCK_TYPES, "bf16": 16}

_SAME_WEIGHT = {
    "ttir.all_gather", "ttir.broadcast", "ttir.mesh_partition", "ttir.mesh_shard", "ttir.permute", "ttir.rearrange",
    "ttir.repeat_interleave", "ttir.reshape", "ttir.slice_static", "ttir.squeeze", "ttir.transpose", "ttir.typecast",
    "ttir.unsqueeze",
}  # fmt: skip
"""Operations whose result is the weight that their first operand is."""
_PRODUCTS = {"matmul", "linear", "sparse_matmul"}


def is_product(op: Operation) -> bool:
    """Whether an operation of TTIR or TTNN is a product with a weight."""
    return op.name.partition(".")[2] in _PRODUCTS


def weight_of(op: Operation) -> SSAValue:
    """The right operand of a product."""
    found = operand_named(op, "b")
    assert found is not None, "a product has two operands"
    return found


def stated_type(value: SSAValue) -> str:
    """The data type that arguments say of a weight, of several side by side the widest; "" if none does.

    Raises:
        CompileError: An argument states a type that no weight has.
    """
    owner = value.owner
    if isinstance(owner, Operation):
        if owner.name == "ttir.concat":
            found = [stated_type(each) for each in owner.operands]
            return max(found, key=lambda each: _OF_ARGUMENTS.get(each, 0))
        return stated_type(owner.operands[0]) if owner.name in _SAME_WEIGHT else ""
    function = owner.parent_op()
    if not isinstance(value, BlockArgument) or not isinstance(function, FuncOp) or function.arg_attrs is None:
        return ""
    stated = function.arg_attrs.data[value.index].data.get(WEIGHT_DTYPE)
    return _checked(stated, function) if isinstance(stated, StringAttr) else ""


def _checked(stated: StringAttr, at: Operation) -> str:
    if stated.data not in _OF_ARGUMENTS:
        known = ", ".join(_OF_ARGUMENTS)
        raise CompileError(
            f"`{WEIGHT_DTYPE}` is {stated.data!r}", location=location_of(at), help=f"a weight may be {known}"
        )
    return stated.data


def narrow_weight(op: Operation, general: str, known: Set[SSAValue], rewriter: Rewriter) -> bool:
    """Casts the weight of a product of TTNN; whether it did.

    Args:
        op: The product.
        general: The type of weights that state none; "" to leave them.
        known: The arguments that are parameters or constants, on which weights stand.
        rewriter: Writes the casts.
    """
    weight, stated = weight_of(op), op.attributes.get(WEIGHT_DTYPE)
    wanted = _checked(stated, op) if isinstance(stated, StringAttr) else general
    type_ = weight.type
    if not wanted or not has_layout(type_) or not _stands_on(weight, known):
        return False
    assert isinstance(type_, TensorType)
    element = type_.get_element_type()
    target = BFloat16Type() if wanted == "bf16" else parsed_type(f"!ttcore.tile<32x32, {wanted}>")
    view = LayoutView(type_)
    if not isinstance(element, BFloat16Type | Float32Type) or element == target or not view.tiled:
        return False
    bare = TensorType(target, type_.get_shape())
    result, cast = laid_out(bare, memory=view.memory), {"dtype": data_type_attribute(target)}
    if wanted == "bfp_bf4":  # the host packs it more exactly
        host = laid_out(TensorType(element, type_.get_shape()), memory="system_memory")
        value = rewriter.value("ttnn.from_device", {"input": weight}, {}, host, op)
        value = rewriter.value("ttnn.typecast", {"input": value}, cast, laid_out(bare, memory="system_memory"), op)
        operands = {"input": value, "device": rewriter.device(op)}
        memory = {"memory_config": LayoutView(result).memory_config()}
        value = rewriter.value("ttnn.to_device", operands, memory, result, op)
    else:
        value = rewriter.value("ttnn.typecast", {"input": weight}, cast, result, op)
    op.operands[[*op.operands].index(weight, 1)] = value
    rewriter.changes += 1
    return True


def _stands_on(value: SSAValue, known: Set[SSAValue]) -> bool:
    """Whether a value depends on known arguments alone."""
    open_, seen = [value], {value}
    while open_:
        each = open_.pop()
        if isinstance(each, BlockArgument):
            if each not in known:
                return False
            continue
        assert isinstance(each.owner, Operation)
        fresh = [operand for operand in each.owner.operands if operand not in seen]
        seen.update(fresh)
        open_ += fresh
    return True
