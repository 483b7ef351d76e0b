"""Vector math and tile loops: what native kernels are written with, as LLVM IR text."""
