"""Arguments of functions that are key-value caches."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.rewriter import operand_named
from ttnn_jit.ops.texts import text_operations

KV_CACHE = "ttcore.kv_cache"


def cache_ops(function: FuncOp) -> Iterator[tuple[Operation, SSAValue]]:
    """Every operation that is declared to update its cache, with that."""
    for op in function.walk():
        declared = text_operations().get(op.name)
        if declared is not None and declared.updates == "cache":
            cache = operand_named(op, "cache")
            assert cache is not None, "such an operation has a cache"
            yield op, cache


def is_cache(function: FuncOp, value: SSAValue) -> bool:
    """Whether a value is an argument of a function that is marked as a cache."""
    if not isinstance(value, BlockArgument) or value.owner is not function.body.block or function.arg_attrs is None:
        return False
    return KV_CACHE in function.arg_attrs.data[value.index].data


def mark_cache(function: FuncOp, argument: BlockArgument) -> None:
    """Marks an argument as a cache."""
    given = [*(function.arg_attrs or [DictionaryAttr({})] * len(function.body.block.args))]
    given[argument.index] = DictionaryAttr({**given[argument.index].data, KV_CACHE: UnitAttr()})
    function.arg_attrs = ArrayAttr(given)
