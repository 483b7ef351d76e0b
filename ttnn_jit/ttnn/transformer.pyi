# Written by `make docs` from the declarations in ttnn_jit/ops; a test proves it current.
from ttnn_jit.ttnn.calling.eager_functions import _TransformerAttentionSoftmax
from ttnn_jit.ttnn.calling.eager_functions import _TransformerChunkedScaledDotProductAttention
from ttnn_jit.ttnn.calling.eager_functions import _TransformerConcatenateHeads
from ttnn_jit.ttnn.calling.eager_functions import _TransformerJointScaledDotProductAttention
from ttnn_jit.ttnn.calling.eager_functions import _TransformerPagedScaledDotProductAttentionDecode
from ttnn_jit.ttnn.calling.eager_functions import _TransformerScaledDotProductAttention
from ttnn_jit.ttnn.calling.eager_functions import _TransformerScaledDotProductAttentionDecode
from ttnn_jit.ttnn.calling.eager_functions import _TransformerSplitQueryKeyValueAndSplitHeads
from ttnn_jit.ttnn.meshes.ring_attention import ring_joint_scaled_dot_product_attention as ring_joint_scaled_dot_product_attention

__all__ = [
    "attention_softmax",
    "attention_softmax_",
    "chunked_scaled_dot_product_attention",
    "concatenate_heads",
    "joint_scaled_dot_product_attention",
    "paged_scaled_dot_product_attention_decode",
    "ring_joint_scaled_dot_product_attention",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_decode",
    "split_query_key_value_and_split_heads",
]

attention_softmax: _TransformerAttentionSoftmax
attention_softmax_: _TransformerAttentionSoftmax
chunked_scaled_dot_product_attention: _TransformerChunkedScaledDotProductAttention
concatenate_heads: _TransformerConcatenateHeads
joint_scaled_dot_product_attention: _TransformerJointScaledDotProductAttention
paged_scaled_dot_product_attention_decode: _TransformerPagedScaledDotProductAttentionDecode
scaled_dot_product_attention: _TransformerScaledDotProductAttention
scaled_dot_product_attention_decode: _TransformerScaledDotProductAttentionDecode
split_query_key_value_and_split_heads: _TransformerSplitQueryKeyValueAndSplitHeads
