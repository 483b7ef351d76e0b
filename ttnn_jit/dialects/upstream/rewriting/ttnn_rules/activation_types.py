"""Activations between devices in block floats: products whose results go through collectives to a residual."""

from __future__ import annotations

from collections.abc import Set

from xdsl.dialects.builtin import BFloat16Type, Float32Type
from xdsl.ir import Operation, SSAValue, Use

from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed_type
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, has_one_user, users_of
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import (
    LayoutView,
    data_type_attribute,
    has_layout,
    with_data_type,
)

_PRODUCT = "ttnn.matmul"
_COLLECTIVES = {"ttnn.all_gather", "ttnn.reduce_scatter", "ttnn.all_reduce"}
_ON_THE_WAY = {"ttnn.reshape", "ttnn.slice_static", "ttnn.to_memory_config"} | _COLLECTIVES
"""Operations whose result has the data type of their operand."""


def narrow_activations(root: Operation, rewriter: Rewriter) -> None:
    """Gives products before collectives, and what follows them up to a residual, the data type bfp_bf8.

    Two forms are known: a product, collectives, and the sum with a residual; and the two products of a gated network,
    whose gate feeds a product of the first form. The residual's sum keeps its type.
    """
    for product in [op for op in root.walk() if op.name == _PRODUCT]:
        chain = _to_residual(product) or _to_gate(product) or []
        for op in chain:
            _narrow(op, rewriter)


def _to_residual(product: Operation) -> list[Operation] | None:
    """The product and what its result goes through to a sum with a residual; None if it does not end there."""
    found = _chain(product, _ON_THE_WAY)
    if found is None or found[1].operation.name != "ttnn.add":
        return None
    chain, use = found
    return chain if _is_wide(use.operation.operands[1 - use.index]) else None


def _to_gate(product: Operation) -> list[Operation] | None:
    """The product, what its result goes through, and the gate before a product of the first form."""
    found = _chain(product, {*_ON_THE_WAY, "ttnn.silu"})
    if found is None or found[1].operation.name != "ttnn.multiply":
        return None
    chain, gate = found[0], found[1].operation
    if not has_one_user(gate.results[0]):
        return None
    (reader,) = users_of(gate.results[0])
    return [*chain, gate] if reader.name == _PRODUCT and _to_residual(reader) is not None else None


def _chain(product: Operation, names: Set[str]) -> tuple[list[Operation], Use] | None:
    """A product and the operations that read each other's only result, with the first reader of another kind.

    None if a result has several readers, no collective is among them, or the product is narrow already.
    """
    chain, value = [product], product.results[0]
    if not _is_wide(value):
        return None
    while has_one_user(value):
        use = next(iter(value.uses))
        reader = use.operation
        if reader.name not in names or len(reader.results) != 1:
            return (chain, use) if any(each.name in _COLLECTIVES for each in chain) else None
        chain.append(reader)
        value = reader.results[0]
    return None


def _is_wide(value: SSAValue) -> bool:
    return has_layout(value.type) and isinstance(element_of(value), BFloat16Type | Float32Type)


def _narrow(op: Operation, rewriter: Rewriter) -> None:
    result = op.results[0]
    if not _is_wide(result) or not LayoutView(result.type).tiled:
        return
    element = parsed_type("!ttcore.tile<32x32, bfp_bf8>")
    result._type = with_data_type(result.type, element)
    if "dtype" in op.properties:
        op.properties["dtype"] = data_type_attribute(element)
    rewriter.changes += 1
