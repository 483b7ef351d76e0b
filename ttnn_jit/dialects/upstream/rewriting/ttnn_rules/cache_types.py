"""Caches of keys and values in block floats, which users ask for."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed_type, with_element
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, operand_named
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.cache_arguments import cache_writes, is_cache
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import (
    LayoutView,
    data_type_attribute,
    has_layout,
    with_data_type,
)
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute

_CONVERTS_ITSELF = "ttnn.paged_update_cache"
"""The operation that takes bf16 and f32 for every cache."""

_LOCAL_SHAPE = "ttcore.local_shape"


def narrow_caches(function: FuncOp, dtype: str, rewriter: Rewriter) -> bool:
    """Gives the arguments that are caches a data type, and casts what is written into them; whether it did.

    A function that writes something else than an argument marked as a cache stays as it is.

    Args:
        function: The function.
        dtype: The data type: `bfp_bf8`, `bfp_bf4`.
        rewriter: Writes the casts.
    """
    element = parsed_type(f"!ttcore.tile<32x32, {dtype}>")
    writes = [*cache_writes(function, "ttnn")]
    block = function.body.block
    if not all(isinstance(cache, BlockArgument) and is_cache(function, cache.index) for _, cache in writes):
        return False
    caches = [each for each in block.args if is_cache(function, each.index) and _is_tiled(each)]
    for cache in caches:
        cache._type = with_data_type(cache.type, element)
        rewriter.changes += 1
    for op, written in writes:
        if op.name != _CONVERTS_ITSELF and written in caches:
            _cast_input(op, element, rewriter)
    _renew_signature(function, caches, element)
    return bool(caches)


def _is_tiled(value: SSAValue) -> bool:
    return has_layout(value.type) and LayoutView(value.type).tiled


def _cast_input(op: Operation, element: Attribute, rewriter: Rewriter) -> None:
    value = operand_named(op, "input")
    assert value is not None, "it writes something"
    if element_of(value) == element or not _is_tiled(value):
        return
    dtype = {"dtype": data_type_attribute(element)}
    cast = rewriter.value("ttnn.typecast", {"input": value}, dtype, with_data_type(value.type, element), op)
    op.operands[[*op.operands].index(value, 1)] = cast


def _renew_signature(function: FuncOp, caches: list[BlockArgument], element: Attribute) -> None:
    """The types of the function, and of the parts of caches that its attributes state."""
    block = function.body.block
    ending = block.last_op
    assert isinstance(ending, ReturnOp)
    inputs, outputs = [each.type for each in block.args], [each.type for each in ending.operands]
    function.function_type = FunctionType.from_lists(inputs, outputs)
    indices = {each.index for each in caches}
    returned = {index for index, value in enumerate(ending.operands) if value in caches}
    function.arg_attrs = _with_element(function.arg_attrs, indices, element)
    function.res_attrs = _with_element(function.res_attrs, returned, element)


def _with_element(
    given: ArrayAttr[DictionaryAttr] | None, indices: set[int], element: Attribute
) -> ArrayAttr[DictionaryAttr] | None:
    if given is None:
        return None
    found = []
    for index, attributes in enumerate(given.data):
        stated = attributes.data.get(_LOCAL_SHAPE)
        if index not in indices or not isinstance(stated, TableAttribute):
            found.append(attributes)
            continue
        parts = ((name, with_element(v, element) if isinstance(v, TensorType) else v) for name, v in stated.data)
        found.append(DictionaryAttr({**attributes.data, _LOCAL_SHAPE: type(stated)(tuple(parts))}))
    return ArrayAttr(found)
