"""Kernel bodies: steps over one element of each stream, and their emission for LLVM and for numba."""
