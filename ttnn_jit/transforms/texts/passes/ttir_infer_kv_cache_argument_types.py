"""ttir-infer-kv-cache-argument-types: arguments that are caches say so."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.cache_arguments import mark_caches
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class TTIRInferKVCacheArgumentTypes(TextPass):
    """Arguments that operations write as caches of keys and values get `ttcore.kv_cache`."""

    name = "ttir-infer-kv-cache-argument-types"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Marks the caches of a module's functions."""
        for function in functions_of(module):
            mark_caches(function, rewriter)
