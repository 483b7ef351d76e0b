"""ttir-fusing: operations that together are one become that one."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.composite_calls import is_decomposition
from ttnn_jit.dialects.upstream.rewriting.greedy import merged, rewrite
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.canonical_forms import FOLDERS
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.fusions import FUSIONS, PERMUTED_PRODUCTS, TAGS
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.patterns.attention_fusions import ATTENTION
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.patterns.composite_fusions import COMPOSITES
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.patterns.repeated_heads import REPEATS
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.patterns.root_mean_squares import NORMS
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.patterns.rotary_fusions import ROTARY
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.patterns.scaled_convolutions import SCALED
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.patterns.sorted_slices import TOPK
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliced_products import SHARED, SLICED
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class TTIRFusing(TextPass):
    """Activations, softmax, norms, attention, rotations, `topk`, biases, means, repeats, products of slices.

    Arguments that are weights of convolutions get `ttcore.conv2d_weight`.

    Attributes:
        ttnn_enable_conv2d_with_multiply_pattern: Numbers that scale the channels of a convolution go into its weight,
            and a batch norm after a convolution becomes such numbers; this changes where results are rounded.
        ttnn_enable_permute_matmul_fusion: Permutes before products become their attributes.
        enable_permute_matmul_fusion: The name of the same in August 2026; both are on.
        enable_permute_slice_after_matmul_fusion: A slice of a product's rows or columns is taken of its operand.
    """

    name = "ttir-fusing"

    ttnn_enable_conv2d_with_multiply_pattern: bool = False
    ttnn_enable_permute_matmul_fusion: bool = True
    enable_permute_matmul_fusion: bool = True
    enable_permute_slice_after_matmul_fusion: bool = True

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Fuses the operations of a module."""
        rewrite(module, TAGS.by_name, rewriter, erases_dead=False)
        permuted = self.ttnn_enable_permute_matmul_fusion and self.enable_permute_matmul_fusion
        chosen = merged(
            SCALED.by_name if self.ttnn_enable_conv2d_with_multiply_pattern else {},
            FUSIONS.by_name,
            REPEATS.by_name,
            NORMS.by_name,
            COMPOSITES.by_name,
            ATTENTION.by_name,
            ROTARY.by_name,
            TOPK.by_name,
            PERMUTED_PRODUCTS.by_name if permuted else {},
            SHARED.by_name,
            SLICED.by_name if self.enable_permute_slice_after_matmul_fusion else {},
        )
        for function in functions_of(module):
            if not is_decomposition(function):
                rewrite(function, merged(FOLDERS, chosen), rewriter)
