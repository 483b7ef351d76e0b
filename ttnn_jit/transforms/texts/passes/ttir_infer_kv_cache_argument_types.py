"""ttir-infer-kv-cache-argument-types: arguments that are updated as caches say so."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation

from ttnn_jit.dialects.upstream.rewriting.cache_arguments import cache_ops, mark_cache
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class TTIRInferKVCacheArgumentTypes(TextPass):
    """`ttcore.kv_cache` marks arguments that operations update as caches, also those that the mesh cuts first."""

    name = "ttir-infer-kv-cache-argument-types"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:  # noqa: ARG002 - it writes no operation
        """Marks the arguments of a module's functions."""
        for function in functions_of(module):
            for _, cache in cache_ops(function):
                owner = cache.owner
                is_shard = isinstance(owner, Operation) and owner.name == "ttir.mesh_shard"
                whole = owner.operands[0] if is_shard and isinstance(owner, Operation) else cache
                if isinstance(whole, BlockArgument) and whole.owner is function.body.block:
                    mark_cache(function, whole)
