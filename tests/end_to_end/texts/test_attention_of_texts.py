"""Attention of texts: sinks, tensors without a batch, latent caches, positions that a text leaves out."""

import math

import pytest
import torch

from tests.end_to_end.texts.test_ops_of_texts import checked, loaded, module_of, module_of_several

SINK = "operandSegmentSizes = array<i32: 1, 1, 1, {mask}, 1>, is_causal = {causal}{scale}"


@pytest.mark.parametrize("scale", [None, 0.5, 0.0], ids=["default", "half", "zero"])
@pytest.mark.parametrize("causal", [True, False], ids=["causal", "masked"])
def test_a_sink_of_ttir_is_no_factor_of_the_scale(scale, causal):
    stated = "" if scale is None else f", scale = {scale} : f32"
    mask = "" if causal else ", 2x1x5x5xf32"
    attributes = SINK.format(mask=int(not causal), causal=str(causal).lower(), scale=stated)
    op = (
        f"ttir.scaled_dot_product_attention {{{attributes}}} : 2x4x5x8xf32, 2x2x5x8xf32, 2x2x5x8xf32{mask},"
        " 1x4x1x1xf32 -> 2x4x5x8xf32"
    )
    module = loaded(module_of(op))
    checked(module)
    query, key, value = (torch.randn(2, heads, 5, 8) for heads in (4, 2, 2))
    own, sink = [] if causal else [torch.randn(2, 1, 5, 5)], torch.randn(1, 4, 1, 1)
    (found,) = module.program("main")(query, key, value, *own, sink)
    for head in range(4):
        factor = 1 / math.sqrt(8) if scale is None else scale
        scores = query[1, head].double() @ key[1, head // 2].double().T * factor
        scores = scores.masked_fill(torch.ones(5, 5, dtype=torch.bool).triu(1), -math.inf) if causal else scores
        scores = scores if causal else scores + own[0][1, 0].double()
        weights = scores.exp() / (scores.exp().sum(-1, keepdim=True) + sink[0, head].double().exp())
        torch.testing.assert_close(
            found[1, head].double(), weights @ value[1, head // 2].double(), rtol=1e-4, atol=1e-5
        )


def test_attention_of_training_takes_heads_without_a_batch():
    mask, causal = (f"mask_type = #ttcore.attention_mask_type<{kind}>" for kind in ("arbitrary", "causal"))
    shapes = ["4x5x8xf32", "2x5x8xf32", "2x5x8xf32"]
    forward = f"{mask}, return_intermediates = true"
    checked(loaded(module_of_several("ttir.sdpa_fw", forward, [*shapes, "1x1x5x5xf32"], ["4x5x8xf32", "4x5x32xf32"])))
    given = ["4x5x8xf32", "4x5x8xf32", *shapes, "4x5x32xf32"]
    checked(loaded(module_of_several("ttir.sdpa_bw", causal, given, shapes)))


OPS = {
    "latent cache of pages": (
        "ttir.paged_flash_multi_latent_attention_decode {head_dim_v = 3 : ui32, is_causal = true, operandSegmentSizes ="
        " array<i32: 1, 1, 0, 1, 0, 1, 0>} : 1x2x4x8xbf16, 5x1x4x8xbf16, 2x3xi32, 2xi32 -> 1x2x4x3xbf16"
    ),
    "latent cache of pages, with values": (
        "ttnn.paged_flash_multi_latent_attention_decode {head_dim_v = 5 : ui32, is_causal = true, scale = 0.5 : f32,"
        " operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0>}"
        " : 1x2x4x8xf32, 5x1x4x8xf32, 5x1x4x5xf32, 2x3xi32, 2xi32 -> 1x2x4x5xf32"
    ),
    "a masked cache of pages": (
        "ttnn.paged_scaled_dot_product_attention_decode {is_causal = false, operandSegmentSizes ="
        " array<i32: 1, 1, 1, 1, 1, 1, 0>} : 1x2x4x8xf32, 5x2x4x8xf32, 5x2x4x8xf32, 2x3xi32, 2x1x4x12xf32, 2xi32"
        " -> 1x2x4x8xf32"
    ),
    **{
        f"no positions, {title}": (
            f"ttnn.scaled_dot_product_attention_decode {{is_causal = {causal}{window}, operandSegmentSizes ="
            " array<i32: 1, 1, 1, 0, 0, 0>} : 1x2x4x8xf32, 2x2x6x8xf32, 2x2x6x8xf32 -> 1x2x4x8xf32"
        )
        for title, causal, window in (
            ("causal", "true", ""),
            ("in a window", "true", ", sliding_window_size = 3 : ui32"),
            ("in a window of all", "false", ", sliding_window_size = 3 : ui32"),
        )
    },
}


@pytest.mark.parametrize("op", OPS.values(), ids=OPS.keys())
def test_a_decoded_position_agrees_with_its_golden(op):
    checked(loaded(module_of(op)))


def test_heads_are_made_of_the_users_from_an_offset_on():
    name, attributes = "ttnn.nlp_create_qkv_heads_decode", "num_heads = 2 : ui32, num_kv_heads = 1 : ui32"
    text = module_of_several(
        name, f"{attributes}, slice_size = 3 : ui32", ["1x1x8x20xf32", "1xui32"], ["1x3x2x5xf32", *["1x3x1x5xf32"] * 2]
    )
    checked(loaded(text))
    x = torch.randn(1, 1, 8, 20)
    query, key, value = loaded(text).program("main")(x, torch.tensor([4], dtype=torch.uint32))
    rows = x[0, 0, 4:7]
    assert torch.equal(query[0].flatten(1), rows[:, :10])
    assert torch.equal(key[0, :, 0], rows[:, 10:15])
    assert torch.equal(value[0, :, 0], rows[:, 15:])
