# Written by `make docs` from the declarations in ttnn_jit/ops; a test proves it current.
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalAttnMatmul
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalConcatenateHeads
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalCreateQkvHeads
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalCreateQkvHeadsFromSeparateTensors
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalGroupAttnMatmul
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalNlpConcatHeads
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalNlpConcatHeadsDecode
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalNlpCreateQkvHeads
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalNlpCreateQkvHeadsDecode
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalNlpCreateQkvHeadsFalcon7B
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalPagedFillCache
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalPagedUpdateCache
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalRotaryEmbedding
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalRotaryEmbeddingHf
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalRotaryEmbeddingLlama
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalRotaryEmbeddingLlamaFusedQk
from ttnn_jit.ttnn.calling.eager_functions import _ExperimentalSplitQueryKeyValueAndSplitHeads
from ttnn_jit.ttnn.meshes.asynchronous_collectives import all_gather_async as all_gather_async
from ttnn_jit.ttnn.meshes.asynchronous_collectives import all_gather_async_reversed as all_gather_async_reversed
from ttnn_jit.ttnn.meshes.fused_collectives import all_gather_concat as all_gather_concat
from ttnn_jit.ttnn.meshes.fused_collectives import all_gather_matmul_async as all_gather_matmul_async
from ttnn_jit.ttnn.meshes.asynchronous_collectives import all_reduce_async as all_reduce_async
from ttnn_jit.ttnn.meshes.fused_collectives import all_reduce_create_qkv_heads as all_reduce_create_qkv_heads
from ttnn_jit.ttnn.meshes.asynchronous_collectives import all_to_all_async as all_to_all_async
from ttnn_jit.ttnn.meshes.asynchronous_collectives import all_to_all_async_generic as all_to_all_async_generic
from ttnn_jit.ttnn.functions.convolutions_3d import conv3d as conv3d
from ttnn_jit.ttnn.tensors.channel_orders import convert_to_chw as convert_to_chw
from ttnn_jit.ttnn.tensors.channel_orders import convert_to_hwc as convert_to_hwc
from ttnn_jit.ttnn.meshes.minimal_collectives import deepseek_minimal_all_reduce as deepseek_minimal_all_reduce
from ttnn_jit.ttnn.meshes.minimal_collectives import deepseek_minimal_broadcast as deepseek_minimal_broadcast
from ttnn_jit.ttnn.meshes.expert_routing import deepseek_moe_fast_reduce_nc as deepseek_moe_fast_reduce_nc
from ttnn_jit.ttnn.meshes.expert_routing import deepseek_moe_reduce_scatter as deepseek_moe_reduce_scatter
from ttnn_jit.ttnn.meshes.distributed_norms import dit_layernorm_post_allgather as dit_layernorm_post_allgather
from ttnn_jit.ttnn.meshes.distributed_norms import dit_layernorm_pre_allgather as dit_layernorm_pre_allgather
from ttnn_jit.ttnn.tensors.random_tensors import dropout as dropout
from ttnn_jit.ttnn.functions.fast_reduce import fast_reduce_nc as fast_reduce_nc
from ttnn_jit.ttnn.meshes.fused_collectives import llama_all_gather_matmul_async as llama_all_gather_matmul_async
from ttnn_jit.ttnn.meshes.fused_collectives import llama_reduce_scatter as llama_reduce_scatter
from ttnn_jit.ttnn.meshes.fused_collectives import llama_rs_create_heads as llama_rs_create_heads
from ttnn_jit.ttnn.meshes.fused_collectives import llama_rs_matmul as llama_rs_matmul
from ttnn_jit.ttnn.meshes.fused_collectives import matmul_reduce_scatter_async as matmul_reduce_scatter_async
from ttnn_jit.ttnn.functions.minimal_products import minimal_matmul as minimal_matmul
from ttnn_jit.ttnn.meshes.neighbour_collectives import neighbor_pad_async as neighbor_pad_async
from ttnn_jit.ttnn.functions.fused_caches import paged_fused_update_cache as paged_fused_update_cache
from ttnn_jit.ttnn.functions.convolutions_3d import prepare_conv3d_weights as prepare_conv3d_weights
from ttnn_jit.ttnn.meshes.sockets import recv_async as recv_async
from ttnn_jit.ttnn.meshes.asynchronous_collectives import reduce_scatter_minimal_async as reduce_scatter_minimal_async
from ttnn_jit.ttnn.meshes.fused_collectives import ring_attention_all_gather_async as ring_attention_all_gather_async
from ttnn_jit.ttnn.meshes.sockets import send_async as send_async
from ttnn_jit.ttnn.meshes.neighbour_collectives import slice_reshard_async as slice_reshard_async
from ttnn_jit.ttnn.meshes.asynchronous_collectives import strided_all_gather_async as strided_all_gather_async
from ttnn_jit.ttnn.meshes.minimal_collectives import strided_all_gather_minimal_matmul_async as strided_all_gather_minimal_matmul_async
from ttnn_jit.ttnn.tensors.transfers import typecast as typecast
from ttnn_jit.ttnn.calling.eager_functions import view as view
from ttnn_jit.ttnn.meshes.distributed_norms import wan_fused_rmsnorm_post_allgather as wan_fused_rmsnorm_post_allgather
from ttnn_jit.ttnn.meshes.distributed_norms import wan_fused_rmsnorm_pre_allgather as wan_fused_rmsnorm_pre_allgather

__all__ = [
    "all_gather_async",
    "all_gather_async_reversed",
    "all_gather_concat",
    "all_gather_matmul_async",
    "all_reduce_async",
    "all_reduce_create_qkv_heads",
    "all_to_all_async",
    "all_to_all_async_generic",
    "attn_matmul",
    "concatenate_heads",
    "conv3d",
    "convert_to_chw",
    "convert_to_hwc",
    "create_qkv_heads",
    "create_qkv_heads_from_separate_tensors",
    "deepseek_minimal_all_reduce",
    "deepseek_minimal_broadcast",
    "deepseek_moe_fast_reduce_nc",
    "deepseek_moe_reduce_scatter",
    "dit_layernorm_post_allgather",
    "dit_layernorm_pre_allgather",
    "dropout",
    "fast_reduce_nc",
    "group_attn_matmul",
    "llama_all_gather_matmul_async",
    "llama_reduce_scatter",
    "llama_rs_create_heads",
    "llama_rs_matmul",
    "matmul_reduce_scatter_async",
    "minimal_matmul",
    "neighbor_pad_async",
    "nlp_concat_heads",
    "nlp_concat_heads_decode",
    "nlp_create_qkv_heads",
    "nlp_create_qkv_heads_decode",
    "nlp_create_qkv_heads_falcon7b",
    "paged_fill_cache",
    "paged_fused_update_cache",
    "paged_update_cache",
    "prepare_conv3d_weights",
    "recv_async",
    "reduce_scatter_minimal_async",
    "ring_attention_all_gather_async",
    "rotary_embedding",
    "rotary_embedding_hf",
    "rotary_embedding_llama",
    "rotary_embedding_llama_fused_qk",
    "send_async",
    "slice_reshard_async",
    "split_query_key_value_and_split_heads",
    "strided_all_gather_async",
    "strided_all_gather_minimal_matmul_async",
    "typecast",
    "view",
    "wan_fused_rmsnorm_post_allgather",
    "wan_fused_rmsnorm_pre_allgather",
]

attn_matmul: _ExperimentalAttnMatmul
concatenate_heads: _ExperimentalConcatenateHeads
create_qkv_heads: _ExperimentalCreateQkvHeads
create_qkv_heads_from_separate_tensors: _ExperimentalCreateQkvHeadsFromSeparateTensors
group_attn_matmul: _ExperimentalGroupAttnMatmul
nlp_concat_heads: _ExperimentalNlpConcatHeads
nlp_concat_heads_decode: _ExperimentalNlpConcatHeadsDecode
nlp_create_qkv_heads: _ExperimentalNlpCreateQkvHeads
nlp_create_qkv_heads_decode: _ExperimentalNlpCreateQkvHeadsDecode
nlp_create_qkv_heads_falcon7b: _ExperimentalNlpCreateQkvHeadsFalcon7B
paged_fill_cache: _ExperimentalPagedFillCache
paged_update_cache: _ExperimentalPagedUpdateCache
rotary_embedding: _ExperimentalRotaryEmbedding
rotary_embedding_hf: _ExperimentalRotaryEmbeddingHf
rotary_embedding_llama: _ExperimentalRotaryEmbeddingLlama
rotary_embedding_llama_fused_qk: _ExperimentalRotaryEmbeddingLlamaFusedQk
split_query_key_value_and_split_heads: _ExperimentalSplitQueryKeyValueAndSplitHeads
