"""What numba compiles: bodies, routines and users' functions as Python source, and the way from that to LLVM text."""
