"""Bodies of kernels: steps over one element of each stream, and how they are written, for LLVM and for numba."""
