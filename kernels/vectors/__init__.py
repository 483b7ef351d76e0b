"""The backends of vector math: LLVM vector instructions, and numpy arrays."""
