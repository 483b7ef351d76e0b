# Written by `make docs` from the declarations in ttnn_jit/ops; a test proves it current.
from ttnn_jit.ttnn.eager_functions import _TransformerAttentionSoftmax
from ttnn_jit.ttnn.eager_functions import _TransformerConcatenateHeads
from ttnn_jit.ttnn.eager_functions import _TransformerSplitQueryKeyValueAndSplitHeads

__all__ = [
    "attention_softmax",
    "attention_softmax_",
    "concatenate_heads",
    "split_query_key_value_and_split_heads",
]

attention_softmax: _TransformerAttentionSoftmax
attention_softmax_: _TransformerAttentionSoftmax
concatenate_heads: _TransformerConcatenateHeads
split_query_key_value_and_split_heads: _TransformerSplitQueryKeyValueAndSplitHeads
