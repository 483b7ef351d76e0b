"""The passes from the TTNN dialect to scheduled kernels, and the algorithms that they wire."""
