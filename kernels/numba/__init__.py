"""The numba backend: tile bodies, routines and user functions as Python source, and their compilation to LLVM text."""
