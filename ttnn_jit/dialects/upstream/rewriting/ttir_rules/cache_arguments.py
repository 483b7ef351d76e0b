"""Arguments that are caches of keys and values: those that operations with a `cache` write."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, operand_named, owner_named

KV_CACHE = "ttcore.kv_cache"


def cache_writes(function: FuncOp, dialect: str) -> Iterator[tuple[Operation, SSAValue]]:
    """The operations of a dialect that write a cache, each with it."""
    for op in function.walk():
        cache = operand_named(op, "cache") if op.name.startswith(f"{dialect}.") else None
        if cache is not None:
            yield op, cache


def is_cache(function: FuncOp, index: int) -> bool:
    """Whether an argument is marked as a cache."""
    return function.arg_attrs is not None and KV_CACHE in function.arg_attrs.data[index].data


def mark_caches(function: FuncOp, rewriter: Rewriter) -> None:
    """Marks the arguments that are written as caches, also in parts of a mesh."""
    block = function.body.block
    found = set()
    for _, cache in cache_writes(function, "ttir"):
        part = owner_named(cache, "ttir.mesh_shard")
        value = cache if part is None else part.operands[0]
        if isinstance(value, BlockArgument) and value.block is block:
            found.add(value.index)
    given = [*(function.arg_attrs or [DictionaryAttr({})] * len(block.args))]
    for index in sorted(found):
        if KV_CACHE not in given[index].data:
            given[index] = DictionaryAttr({**given[index].data, KV_CACHE: UnitAttr()})
            rewriter.changes += 1
    if found:
        function.arg_attrs = ArrayAttr(given)
