"""Operations of TTNN that are read, written and lowered, and not executed: why."""

_OWN_ORDER = "the order that it prepares is that of tt-metal's kernel; convolutions run with weights as they are"
_FUSED = "it is a fused kernel of tt-metal, and what it computes is not declared here"
UNEXECUTED = {
    "ttnn.dit_rms_norm_unary_fused": "what it computes is not declared here; `ttnn.rms_norm` is",
    "ttnn.generic": "its kernels are C++, which tt-metal compiles for the cores of a chip",
    "ttnn.load_tensor": "it reads a file of tt-metal while the program runs; give the tensor as an input",
    "ttnn.moe_gpt": _FUSED,
    "ttnn.prepare_conv3d_weights": _OWN_ORDER,
    "ttnn.prepare_conv_transpose2d_weights": _OWN_ORDER,
    "ttnn.selective_reduce_combine": _FUSED,
}
"""Operation -> the reason."""
