"""Operations of TTNN that are read, written and lowered, and not executed: why."""

_ON_CORES = "its tensors are those of a fused kernel of tt-metal, in the order of the chip's cores; `moe_compute` runs"
UNEXECUTED = {
    "ttnn.generic": "its kernels are C++, which tt-metal compiles for the cores of a chip",
    "ttnn.load_tensor": "it reads a file of tt-metal while the program runs; give the tensor as an input",
    "ttnn.moe_gpt": _ON_CORES,
    "ttnn.selective_reduce_combine": _ON_CORES,
}
"""Operation -> the reason."""
