"""Heads, rotary embeddings, latent attention, norms in two steps, products of sparse experts."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BFloat16Type
from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rules.view import View, fail, joined, require

_TILE = 32


def verify_concat_heads(op: Operation) -> None:
    """Heads side by side in the last dimension."""
    view = View(op)
    source, result = view.shape("input"), [*view.result().get_shape()]
    require(len(result) == 4, "output tensor must be a 4D tensor")
    require(len(source) == 4, "input tensor must be a 4D tensor")
    wanted = [source[0], 1, source[2], source[1] * source[3]]
    require(result == wanted, f"expected output shape ({joined(wanted, ', ')}), got ({joined(result, ', ')})")


def verify_concat_heads_of_decode(op: Operation) -> None:
    """Heads side by side; there may be more of them than are kept."""
    view = View(op)
    source, result = view.shape("input"), [*view.result().get_shape()]
    require(len(source) == 4, "input tensor must be a 4D tensor")
    require(len(result) == 4, "output tensor must be a 4D tensor")
    heads = view.integer("num_heads")
    require(result[1] == 1, f"output dimension 1 must be 1, got {result[1]}")
    require(
        source[2] >= heads,
        f"num_heads attribute must be less than or equal to input num_heads dimension, got num_heads = {heads}, "
        f"input num_heads dimension = {source[2]}",
    )
    require(
        source[0] == result[0],
        f"input sequence dimension must match output sequence dimension, got input sequence size = {source[0]}, "
        f"output sequence size = {result[0]}",
    )
    wanted = heads * source[3]
    require(
        wanted == result[3],
        f"Output hidden dimension must equal num_heads * head_size, got num_heads = {source[2]}, head_size = {heads}, "
        f"expected hidden size = {wanted}, actual output hidden size = {result[3]}",
    )


def verify_rotary_embedding(op: Operation) -> None:
    """Tables of cosines and sines of one form."""
    view = View(op)
    cos, sin = view.type("cos_cache"), view.type("sin_cache")
    require(cos.element_type == sin.element_type, "cos and sin tensor dtypes must match.")
    require([*cos.get_shape()] == [*sin.get_shape()], "cos and sin tensor shapes must match.")
    ranks = {len(each.get_shape()) for each in (view.type("input"), cos, sin, view.result())}
    require(ranks == {4}, "all input and output tensors must be 4D tensors.")


def verify_rotary_embedding_of_llama(op: Operation) -> None:
    """Element types and shapes; layouts are not looked at."""
    view = View(op)
    types = [view.type(name) for name in ("input", "cos_cache", "sin_cache", "trans_mat")]
    source, cos, sin, matrix = ([*each.get_shape()] for each in types)
    require(
        all(isinstance(each.element_type, BFloat16Type) for each in types), "all input tensors must be bfloat16 type."
    )
    require(cos == sin, "cos and sin tensors must have the same shape.")
    require(source[-1] <= 256, f"head dimension must be ≤ 256, got {source[-1]}.")
    require(len(matrix) == 4, "transformation matrix must be at least 4D tensor.")
    wanted = [1, 1, _TILE, _TILE]
    require(matrix == wanted, f"transformation matrix must have shape ({joined(wanted)}) but got ({joined(matrix)}).")
    require([*view.result().get_shape()] == source, "output shape must match input shape.")


def verify_paged_latent_attention(op: Operation) -> None:
    """A query, and caches of one head in blocks."""
    view = View(op)
    require(len(view.shape("query")) == 4, "Query must be a 4D tensor.")
    require(len(view.shape("key")) == 4, "Key tensor must be a 4D tensor.")
    require(len(view.shape("page_table")) == 2, "Page table tensor must be a 2D tensor.")
    query = view.type("query").element_type
    require(query == view.type("key").element_type, "Query and key must have the same element type.")
    heads = view.shape("key")[1]
    require(heads == 1, f"Key num KV heads (nkv) must be 1, got {heads}.")
    if view.has("value"):
        value = view.shape("value")
        require(len(value) == 4, "Value tensor must be a 4D tensor.")
        require(query == view.type("value").element_type, "Query and value must have the same element type.")
        require(value[1] == 1, f"Value num KV heads (nkv) must be 1, got {value[1]}.")
    require(view.integer("head_dim_v") != 0, "head_dim_v must be greater than 0.")


def verify_latent_attention(op: Operation) -> None:
    """A query, its keys, and values that may be a part of the keys."""
    view = View(op)
    query, key, result = view.shape("query"), view.shape("key"), [*view.result().get_shape()]
    require(len(query) == 4, "Query must be a 4D tensor")
    require(len(key) == 4, "Key must be a 4D tensor")
    require(len(result) == 4, "Output must be a 4D tensor")
    element = view.type("query").element_type
    require(element == view.result().element_type, "Query and result must have the same element type")
    require(element == view.type("key").element_type, "Query and key must have the same element type")
    require(key[0] == query[0], "Key batch size must match query batch size")
    require(key[3] == query[3], "Key head size must match query head size")
    require(key[2] == query[2], "Query and key must have the same sequence length")
    require(key[1] != 0 and query[1] % key[1] == 0, "Query num heads must be divisible by key num heads (GQA/MQA/MLA)")
    _verify_latent_values(view, query, key)
    _verify_mask(view, query)
    wanted = [*query[:3], view.integer("head_dim_v")]
    require(result == wanted, "Result shape must be [batch, num_query_heads, seq_len, head_dim_v]")


def _verify_latent_values(view: View, query: Sequence[int], key: Sequence[int]) -> None:
    size = view.integer("head_dim_v")
    if view.has("value"):
        value = view.shape("value")
        require(len(value) == 4, "Value must be a 4D tensor")
        same = view.type("query").element_type == view.type("value").element_type
        require(same, "Query and value must have the same element type")
        require(value[0] == query[0], "Value batch size must match query batch size")
        require(value[1] == key[1], "Value num heads must match key num heads")
        require(value[2] == query[2], "Value sequence length must match query/key sequence length")
        require(value[3] == size, "Value head size must equal head_dim_v")
    else:
        require(size <= query[3], "head_dim_v cannot exceed key's head dim when value is not provided")
    require(size > 0, "head_dim_v must be greater than 0")


def _verify_mask(view: View, query: Sequence[int]) -> None:
    if not view.has("attention_mask"):
        return
    require(not view.integer("is_causal"), "Attention mask is not allowed when is_causal is true")
    mask = view.shape("attention_mask")
    require(len(mask) == 4, "Attention mask must be a 4D tensor")
    require(mask[0] in {1, query[0]}, "Attention mask batch size must be 1 (broadcast) or match query batch size")
    require(mask[1] in {1, query[1]}, "Attention mask dim 1 must be 1 (broadcast) or match query num heads")
    require(mask[2] == query[2], "Attention mask at dim 2 must match query sequence length")
    require(mask[3] == query[2], "Attention mask at dim 3 must match key sequence length")


def verify_indexer_score(op: Operation) -> None:
    """Scores of keys of one head by weighted queries."""
    view = View(op)
    query, key, weights = (view.shape(name) for name in ("query", "key", "weights"))
    result = [*view.result().get_shape()]
    require(len(query) == 4, "Query must be a 4D tensor [B, Hi, Sq, D]")
    require(len(key) == 4, "Key must be a 4D tensor [B, 1, T, D]")
    require(len(weights) == 4, "Weights must be a 4D tensor [B, Hi, Sq, 1]")
    require(len(result) == 4, "Result must be a 4D tensor [B, 1, Sq, T]")
    require(query[0] == 1, f"Query batch size (dim 0) must be 1, got {query[0]}")
    require(key[0] == query[0], "Key batch size must match query batch size")
    require(key[1] == 1, "Key must have a single head (dim 1 must be 1)")
    require(key[3] == query[3], "Key head dim must match query head dim")
    require(weights == [*query[:3], 1], "Weights shape must be [batch, num_heads, query_seq_len, 1]")
    require(result == [query[0], 1, query[2], key[2]], "Result shape must be [batch, 1, query_seq_len, key_seq_len]")
    same = view.type("query").element_type == view.type("key").element_type
    require(same, "Query and key must have the same element type")


def verify_layer_norm_statistics(op: Operation) -> None:
    """Sums and sums of squares of rows, a tile each."""
    view = View(op)
    source, result = view.shape("input"), [*view.result().get_shape()]
    require(len(source) >= 2, "input tensor must have rank >= 2")
    if view.has("residual_input"):
        require(view.shape("residual_input") == source, "residual_input shape must match input shape")
    require(len(source) == len(result), "input and output must have the same rank")
    _verify_rows(source, result)
    wanted = 2 * _TILE
    require(
        result[-1] == wanted,
        f"output last dimension must be {wanted} (2 * TILE_WIDTH) for layernorm partial statistics, got {result[-1]}",
    )


def verify_rms_norm_statistics(op: Operation) -> None:
    """Sums of squares of rows."""
    view = View(op)
    source, result = view.shape("input"), [*view.result().get_shape()]
    require(len(source) >= 2, "input tensor must have rank greater than 1")
    require(len(source) == len(result), "input rank must match the output rank")
    _verify_rows(source, result)
    if view.has("residual"):
        require(view.shape("residual") == source, "residual tensor shape must match the input tensor shape")


def _verify_rows(source: Sequence[int], result: Sequence[int]) -> None:
    for index, (given, made) in enumerate(zip(source[:-1], result[:-1], strict=True)):
        require(given == made, f"output dimension {index} ({made}) must match input dimension ({given})")


def verify_layer_norm_by_statistics(op: Operation) -> None:
    """A norm whose statistics are given."""
    view = View(op)
    source = view.shape("input")
    require(len(source) >= 2, "input must have rank >= 2")
    require(len(view.shape("stats")) >= 2, "stats must have rank >= 2")
    require(source == [*view.result().get_shape()], "input and output must have the same shape")
    for name in ("weight", "bias"):
        if view.has(name):
            require(
                view.shape(name) == source[-1:],
                f"{name} tensor must be 1D with size matching the last dimension of input",
            )


def verify_sparse_matmul(op: Operation) -> None:
    """Products of the experts that a mask chooses."""
    view = View(op)
    first, second, mask = (view.shape(name) for name in ("a", "b", "sparsity"))
    result = [*view.result().get_shape()]
    if view.attribute("nnz") is not None:
        require(view.integer("nnz") > 0, "nnz must be greater than 0 when set")
    require(len(first) >= 4, "Input A must be at least a 4D tensor")
    require(len(second) == 4, "Input B must be a 4D tensor [1, E, K, N]")
    require(len(mask) == 4, "Sparsity tensor must be a 4D tensor")
    is_sparse = bool(view.integer("is_input_a_sparse")), bool(view.integer("is_input_b_sparse", 1))
    require(any(is_sparse), "At least one of is_input_a_sparse or is_input_b_sparse must be true")
    require(second[0] == 1, "Input B first dimension must be 1")
    require(first[-1] == second[2], "Input A inner dimension must match Input B K dimension")
    require(mask[-1] == second[1], "Sparsity tensor last dimension must match number of experts in Input B")
    experts, rows, columns = second[1], first[-2], second[3]
    match is_sparse:
        case True, True:
            form, mode, wanted = "[1, E, M, N]", "sparse-sparse", [1, experts, rows, columns]
        case False, True:
            form, mode = "[A, B, 1, E, M, N]", "dense-sparse"
            wanted = [first[0], first[1], 1, experts, rows, columns]
        case _:
            form, mode, wanted = "[A, E, M, N]", "sparse-dense", [first[0], experts, rows, columns]
    require(len(result) == len(wanted), f"Output must be {len(wanted)}D for {mode} mode")
    require(result == wanted, f"Output shape must be {form} for {mode} mode")


def verify_argmax(op: Operation) -> None:
    """The dimension exists, and the result lacks it or keeps it as 1."""
    view = View(op)
    shape, result = view.shape("input"), [*view.result().get_shape()]
    given = view.integers("dim")
    wanted: list[int] = [1] * len(shape) if view.integer("keep_dim") else []
    if given:
        dim, rank = given[0], len(shape)
        if not -rank <= dim < rank:
            fail(
                f"dim attribute value {dim} is out of range for input tensor of rank {rank}, expected value in range "
                f"[{-rank}, {rank - 1}]"
            )
        at = dim % rank
        wanted = [*shape[:at], *([1] if view.integer("keep_dim") else []), *shape[at + 1 :]]
    # In December 2025 the dimension of 1 may be there or not.
    agrees = [each for each in result if each != 1] == [each for each in wanted if each != 1]
    require(agrees, f"expected output shape ({joined(wanted, ', ')}), got ({joined(result, ', ')})")


TRANSFORMERS = {
    "ttir.paged_flash_multi_latent_attention_decode": (verify_paged_latent_attention,),
    "ttir.sparse_matmul": (verify_sparse_matmul,),
    "ttnn.argmax": (verify_argmax,),
    "ttnn.flash_mla_prefill": (verify_latent_attention,),
    "ttnn.indexer_score_dsa": (verify_indexer_score,),
    "ttnn.layer_norm_post_all_gather": (verify_layer_norm_by_statistics,),
    "ttnn.layer_norm_pre_all_gather": (verify_layer_norm_statistics,),
    "ttnn.nlp_concat_heads": (verify_concat_heads,),
    "ttnn.nlp_concat_heads_decode": (verify_concat_heads_of_decode,),
    "ttnn.paged_flash_multi_latent_attention_decode": (verify_paged_latent_attention,),
    "ttnn.rms_norm_pre_all_gather": (verify_rms_norm_statistics,),
    "ttnn.rotary_embedding": (verify_rotary_embedding,),
    "ttnn.rotary_embedding_llama": (verify_rotary_embedding_of_llama,),
    "ttnn.sparse_matmul": (verify_sparse_matmul,),
}
"""Name of an operation -> its rules."""
