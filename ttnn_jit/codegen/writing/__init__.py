"""Kernels as text: of LLVM, and of Python, which numba compiles."""
